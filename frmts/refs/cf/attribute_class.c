/* attribute_class.c -- see attribute_class.h. */
#include "attribute_class.h"

static const struct {
    const char *name;
    unsigned class;
} table[] = {
    {"scale_factor", REFS_CF_SCALING},
    {"add_offset", REFS_CF_SCALING},
    {"_FillValue", REFS_CF_MISSING},
    {"missing_value", REFS_CF_MISSING},
    {"_Unsigned", REFS_CF_SIGNS},
    {"valid_range", REFS_CF_VALID},
    {"valid_min", REFS_CF_VALID},
    {"valid_max", REFS_CF_VALID},
    {"actual_range", REFS_CF_ACTUAL},
    {"flag_values", REFS_CF_FLAG_NUMBERS},
    {"flag_masks", REFS_CF_FLAG_NUMBERS},
    {"flag_meanings", REFS_CF_FLAG_WORDS},
    {"flag_colors", REFS_CF_FLAG_WORDS},
    {"units", REFS_CF_UNITS},
    {"calendar", REFS_CF_UNITS},
    {"GRIB_startStep", REFS_CF_START},
    {"GRIB_lengthOfTimeRange", REFS_CF_LENGTH},
};

const char *refs_cf_attribute_at(unsigned classes, size_t i) {
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if ((table[k].class & classes) != 0 && i-- == 0) return table[k].name;
    return NULL;
}

bool refs_cf_is_attribute_of(refs_str name, unsigned classes) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if ((table[i].class & classes) != 0 && refs_str_is(name, table[i].name)) return true;
    return false;
}

bool refs_cf_has_attribute_of(const refs_json *attributes, unsigned classes) {
    const char *known;
    for (size_t i = 0; (known = refs_cf_attribute_at(classes, i)) != NULL; i++)
        if (refs_json_get(attributes, known) != NULL) return true;
    return false;
}
