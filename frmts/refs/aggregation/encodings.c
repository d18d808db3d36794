/* encodings.c -- the table of encodings, and their common functions; see encoding.h. */
#include <strings.h>

#include "aggregation_internal.h"
#include "refs/own_attributes.h"

static const refs_encoding *const encodings[] = {&refs_encoding_cfa04, &refs_encoding_cfa05,
                                                 &refs_encoding_cf113};
#define N_ENCODINGS (sizeof encodings / sizeof encodings[0])

const refs_encoding *refs_encoding_of(const refs_json *attributes) {
    for (size_t i = 0; i < N_ENCODINGS; i++)
        if (encodings[i]->recognise(attributes)) return encodings[i];
    return NULL;
}

bool refs_aggregation_recognise(const refs_json *attributes) {
    return refs_encoding_of(attributes) != NULL;
}

const refs_encoding *refs_encoding_of_version(refs_cfa_version version) {
    static const refs_encoding *const written[] = {[REFS_CFA_0_4] = &refs_encoding_cfa04,
                                                   [REFS_CFA_0_5] = &refs_encoding_cfa05,
                                                   [REFS_CFA_CF_1_13] = &refs_encoding_cf113};
    return written[version];
}

/* -- attributes -------------------------------------------------------------------------------- */

const char *const refs_aggregation_words[] = {"cfa_array", "cfa_group", "aggregated_data", NULL};

/* Whether an attribute belongs to an encoding: cf_role only with a value of CFA, since CF has other
 * values, and aggregated_dimensions only with aggregated_data. */
bool refs_aggregation_owns(const refs_json *attributes, refs_str name) {
    const bool is_cfa = refs_str_starts(refs_aggregation__text(attributes, "cf_role"), "cfa_");
    const bool is_cf = refs_json_get(attributes, "aggregated_data") != NULL;
    if (refs_str_is(name, "cf_role")) return is_cfa;
    if (refs_str_is(name, REFS_AGGREGATED_DIMENSIONS)) return is_cf;
    return (is_cfa || is_cf) &&
           (refs_str_is_among(name, refs_aggregation_words) ||
            refs_str_is(name, REFS_CFA_DIMENSIONS) || refs_str_is(name, REFS_DIMENSION_SIZES));
}

const refs_json *refs_aggregation__value(const refs_json *attributes, const char *name) {
    const refs_json *value = refs_json_get(attributes, name);
    return refs_json_is_array(value) ? refs_json_at(value, 0) : value;
}

refs_str refs_aggregation__text(const refs_json *attributes, const char *name) {
    const refs_json *value = refs_aggregation__value(attributes, name);
    if (!refs_json_is_string(value)) return refs_str_view("", 0);
    refs_str text = refs_json_text(value);
    return refs_str_part(text, 0, refs_str_find(text, '\0'));
}

/* -- formats of fragments ---------------------------------------------------------------------- */

static bool is_read(refs_str format) {
    static const char *const known[] = {"nc", "netcdf", "hdf", "zarr", "kerchunk", "tif", "grib"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (format.size >= strlen(known[i]) &&
            strncasecmp(format.data, known[i], strlen(known[i])) == 0)
            return true;
    return format.size == 0;
}

refs_status refs_aggregation__check_format(refs_str format, refs_error *err) {
    if (is_read(format)) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "fragments of format %.*s are not supported: expected netCDF, or another data "
                     "file that REFS opens",
                     REFS_STR_ARG(format));
}
