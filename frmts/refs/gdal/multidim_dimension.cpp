/* multidim_dimension.cpp -- dimensions, see multidim.h. */
#include "guard.h"
#include "multidim.h"

namespace {

/* A dimension of a single array is in no group. */
std::string parentName(const refs_dimension &dim) {
    if (!dim.is_shared) return "";
    return *dim.group == '\0' ? "/" : dim.group;
}

/** GDAL's name of a type; "" if unknown. */
const char *typeOf(refs_cf_axis_kind kind) {
    switch (kind) {
    case REFS_CF_AXIS_X:
        return GDAL_DIM_TYPE_HORIZONTAL_X;
    case REFS_CF_AXIS_Y:
        return GDAL_DIM_TYPE_HORIZONTAL_Y;
    case REFS_CF_AXIS_Z:
        return GDAL_DIM_TYPE_VERTICAL;
    case REFS_CF_AXIS_TIME:
        return GDAL_DIM_TYPE_TEMPORAL;
    case REFS_CF_AXIS_OTHER:
        return "";
    }
    return "";
}

} // namespace

std::shared_ptr<GDALDimension> RefsDimension::create(const RefsMultidimSetPtr &set,
                                                     const refs_dimension &dim) {
    return std::make_shared<RefsDimension>(set, dim);
}

RefsDimension::RefsDimension(const RefsMultidimSetPtr &set, const refs_dimension &dim)
    : GDALDimension(parentName(dim), dim.name, typeOf(refs_cf_axis_kind_of(dim.variable)),
                    refs_cf_axis_direction_of(dim.variable), dim.size),
      set_(set), variable_(dim.variable) {}

std::shared_ptr<GDALMDArray> RefsDimension::GetIndexingVariable() const {
    return variable_ != nullptr ? RefsMDArray::create(set_, variable_, nullptr) : nullptr;
}
