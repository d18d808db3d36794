/* multidim_conventions.cpp -- see multidim_conventions.h. */
#include "multidim_conventions.h"

#include <array>
#include <cstring>

#include "cpl_string.h"
#include "gdal.h"

namespace {

/** An attribute and a value of it, in any case. */
struct Sign {
    const char *attribute;
    const char *value;
};

/** How a kind of axis is told: by any sign; by its name where it has none of the attributes. */
struct AxisRule {
    const char *type;
    const char *names[2];
    Sign signs[6];
    const char *otherUnits[2]; ///< that belie the signs
};

// CF 4 and 5; the last two rows are coordinates of projections.
constexpr std::array<AxisRule, 4> horizontalRules{{
    {GDAL_DIM_TYPE_HORIZONTAL_X,
     {"lon", "longitude"},
     {{"units", "degrees_east"},
      {"units", "degree_east"},
      {"units", "degrees_E"},
      {"standard_name", "longitude"},
      {"axis", "X"},
      {"long_name", "longitude"}},
     {"m", "1"}},
    {GDAL_DIM_TYPE_HORIZONTAL_Y,
     {"lat", "latitude"},
     {{"units", "degrees_north"},
      {"units", "degree_north"},
      {"units", "degrees_N"},
      {"standard_name", "latitude"},
      {"axis", "Y"},
      {"long_name", "latitude"}},
     {"m", "1"}},
    {GDAL_DIM_TYPE_HORIZONTAL_X,
     {"x", "xc"},
     {{"standard_name", "projection_x_coordinate"}, {"axis", "X"}},
     {"1"}},
    {GDAL_DIM_TYPE_HORIZONTAL_Y,
     {"y", "yc"},
     {{"standard_name", "projection_y_coordinate"}, {"axis", "Y"}},
     {"1"}},
}};

// CF 4.3: units of pressure and of length, dimensionless coordinates (appendix D).
constexpr Sign verticalSigns[] = {
    {"axis", "Z"},
    {"positive", "up"},
    {"positive", "down"},
    {"units", "bar"},
    {"units", "millibar"},
    {"units", "decibar"},
    {"units", "atm"},
    {"units", "Pa"},
    {"units", "hPa"},
    {"units", "pascal"},
    {"units", "m"},
    {"units", "meter"},
    {"units", "meters"},
    {"units", "km"},
    {"units", "level"},
    {"units", "layer"},
    {"units", "sigma_level"},
    {"standard_name", "atmosphere_ln_pressure_coordinate"},
    {"standard_name", "atmosphere_sigma_coordinate"},
    {"standard_name", "atmosphere_hybrid_sigma_pressure_coordinate"},
    {"standard_name", "atmosphere_hybrid_height_coordinate"},
    {"standard_name", "atmosphere_sleve_coordinate"},
    {"standard_name", "ocean_sigma_coordinate"},
    {"standard_name", "ocean_s_coordinate"},
    {"standard_name", "ocean_sigma_z_coordinate"},
    {"standard_name", "ocean_double_sigma_coordinate"},
};

constexpr Sign timeSigns[] = {{"axis", "T"}, {"standard_name", "time"}};

constexpr Sign directionSigns[] = {{"units", "degrees_east"},
                                   {"units", "degrees_north"},
                                   {"positive", "up"},
                                   {"positive", "down"}};
constexpr const char *directions[] = {"EAST", "NORTH", "UP", "DOWN"};

bool shows(const refs_array_meta *variable, const Sign &sign) {
    return sign.attribute != nullptr &&
           EQUAL(RefsAttributeText(variable->attributes, sign.attribute).c_str(), sign.value);
}

template <size_t N> bool showsAny(const refs_array_meta *variable, const Sign (&signs)[N]) {
    for (const Sign &sign : signs)
        if (shows(variable, sign)) return true;
    return false;
}

bool follows(const refs_array_meta *variable, const AxisRule &rule) {
    for (const char *units : rule.otherUnits)
        if (units != nullptr && shows(variable, {"units", units})) return false;
    if (showsAny(variable, rule.signs)) return true;
    for (const Sign &sign : rule.signs)
        if (sign.attribute != nullptr &&
            refs_json_get(variable->attributes, sign.attribute) != nullptr)
            return false;
    return EQUAL(variable->name, rule.names[0]) || EQUAL(variable->name, rule.names[1]);
}

bool isTime(const refs_array_meta *variable) {
    const std::string units = RefsAttributeText(variable->attributes, "units");
    return variable->dtype.type == REFS_TYPE_DATETIME || showsAny(variable, timeSigns) ||
           units.find(" since ") != std::string::npos;
}

const char *typeOf(const refs_array_meta *variable) {
    for (const AxisRule &rule : horizontalRules)
        if (follows(variable, rule)) return rule.type;
    if (showsAny(variable, verticalSigns)) return GDAL_DIM_TYPE_VERTICAL;
    return isTime(variable) ? GDAL_DIM_TYPE_TEMPORAL : "";
}

const char *directionOf(const refs_array_meta *variable, const char *type) {
    const bool horizontal = STARTS_WITH(type, "HORIZONTAL_");
    const char *attribute = horizontal                            ? "units"
                            : EQUAL(type, GDAL_DIM_TYPE_VERTICAL) ? "positive"
                                                                  : "";
    for (size_t i = 0; i < std::size(directions); i++)
        if (EQUAL(directionSigns[i].attribute, attribute) && shows(variable, directionSigns[i]))
            return directions[i];
    return "";
}

template <class T> bool equals(const refs_array_meta *array, T expected) {
    T fill;
    memcpy(&fill, array->fill, sizeof fill);
    return fill == expected;
}

} // namespace

std::string RefsAttributeText(const refs_json *attributes, const char *name) {
    const refs_json *value = refs_json_get(attributes, name);
    if (!refs_json_is_string(value)) return "";
    const refs_str text = refs_json_text(value);
    return std::string(text.data, text.size);
}

RefsAxis RefsAxisOf(const refs_array_meta *variable) {
    if (variable == nullptr) return {"", ""};
    const char *type = typeOf(variable);
    return {type, directionOf(variable, type)};
}

/* NetCDF User Guide, "Fill values": bytes have none. */
bool RefsFillIsDefault(const refs_array_meta *array) {
    const refs_dtype &dtype = array->dtype;
    if (dtype.type == REFS_TYPE_FLOAT)
        return dtype.size == 4 ? equals(array, 9.9692099683868690e+36f)
                               : dtype.size == 8 && equals(array, 9.9692099683868690e+36);
    const bool isSigned = dtype.type == REFS_TYPE_INT;
    switch (dtype.size) {
    case 2:
        return isSigned ? equals<int16_t>(array, -32767) : equals<uint16_t>(array, 65535);
    case 4:
        return isSigned ? equals<int32_t>(array, -2147483647)
                        : equals<uint32_t>(array, 4294967295U);
    case 8:
        return isSigned ? equals<int64_t>(array, -9223372036854775806)
                        : equals<uint64_t>(array, 18446744073709551614U);
    default:
        return false;
    }
}
