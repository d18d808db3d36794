/* multidim_dimension.cpp -- dimensions, see multidim.h. */
#include "guard.h"
#include "multidim.h"
#include "multidim_conventions.h"

namespace {

/* Those of one array alone are in no group. */
std::string parentName(const RefsDimensionId &id) {
    if (!id.shared) return "";
    return id.group.empty() ? "/" : id.group;
}

} // namespace

std::shared_ptr<GDALDimension> RefsDimension::create(const RefsMultidimSetPtr &set,
                                                     const RefsDimensionId &id) {
    return std::make_shared<RefsDimension>(set, id, set->dimensions.variable(id));
}

RefsDimension::RefsDimension(const RefsMultidimSetPtr &set, const RefsDimensionId &id,
                             const refs_array_meta *variable)
    : GDALDimension(parentName(id), id.name, RefsAxisOf(variable).type,
                    RefsAxisOf(variable).direction, id.size),
      set_(set), variable_(variable) {}

std::shared_ptr<GDALMDArray> RefsDimension::GetIndexingVariable() const {
    return variable_ != nullptr ? RefsMDArray::create(set_, variable_, nullptr) : nullptr;
}
