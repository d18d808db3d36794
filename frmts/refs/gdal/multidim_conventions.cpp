/* multidim_conventions.cpp -- see multidim_conventions.h. */
#include "multidim_conventions.h"

#include "gdal.h"
#include "refs/cf.h"

std::string RefsAttributeText(const refs_json *attributes, const char *name) {
    const refs_str text = refs_cf_attribute_text(attributes, name);
    return text.data != nullptr ? std::string(text.data, text.size) : std::string();
}

RefsIntegers RefsIntegersOf(const refs_array_meta *array) {
    return refs_cf_is_marked_unsigned(array) ? RefsIntegers::Unsigned : RefsIntegers::AsStored;
}

static const char *typeOf(refs_cf_axis_kind kind) {
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

RefsAxis RefsAxisOf(const refs_array_meta *variable) {
    return {typeOf(refs_cf_axis_kind_of(variable)), refs_cf_axis_direction_of(variable)};
}
