/* fill_attribute.c -- the attribute _FillValue of floating-point arrays of version 3, which xarray
 * writes in base64: little-endian double precision, whatever the type of the array
 * (xarray.backends.zarr.FillValueCoder). All who read attributes find a number.
 */
#include "zarr_internal.h"

#include <math.h>
#include <stdio.h>

#define FILL "_FillValue"

static bool is_float(const refs_json *document) {
    return refs_str_starts(refs_json_text(refs_json_get(document, "data_type")), "float");
}

static refs_status decode(const refs_json *value, double *number, bool *is_encoded) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    const refs_str text = refs_json_text(value);
    *is_encoded = false;
    if (!refs_json_is_string(value) || text.size != 12) return REFS_OK;
    const refs_status status = refs_base64_decode(text, &bytes, NULL);
    *is_encoded = status == REFS_OK && bytes.size == sizeof *number;
    if (*is_encoded) {
        const uint64_t bits = refs_load_le64(bytes.data);
        memcpy(number, &bits, sizeof bits);
    }
    return status == REFS_NOMEM ? REFS_NOMEM : REFS_OK;
}

/* As the parsers of files write numbers: without what an exponent does not need. */
static refs_status write_number(double number, refs_buf *text, refs_error *err) {
    char digits[32];
    if (isnan(number)) return refs_buf_printf(text, err, "NaN");
    if (isinf(number)) return refs_buf_printf(text, err, "%sInfinity", number < 0 ? "-" : "");
    (void)snprintf(digits, sizeof digits, "%.17g", number);
    char *exponent = strchr(digits, 'e');
    if (exponent == NULL)
        return refs_buf_printf(text, err, strchr(digits, '.') == NULL ? "%s.0" : "%s", digits);
    const char *power = exponent + 2;
    while (*power == '0') power++;
    *exponent = '\0';
    return refs_buf_printf(text, err, "%se%s%s", digits, exponent[1] == '-' ? "-" : "", power);
}

static refs_status write_attributes(const refs_json *attributes, double fill, refs_buf *text,
                                    refs_error *err) {
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        const refs_str name = refs_json_name_at(attributes, i);
        REFS_TRY(refs_json_write_name(name, text, err));
        REFS_TRY(refs_str_is(name, FILL) ? write_number(fill, text, err)
                                         : refs_json_write(refs_json_at(attributes, i), text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}

refs_status refs_zarr__decode_fill_attribute(const refs_json *document, refs_buf *text,
                                             refs_error *err) {
    const refs_json *attributes = refs_json_get(document, "attributes");
    double fill;
    bool is_encoded;
    if (!is_float(document)) return REFS_OK;
    if (decode(refs_json_get(attributes, FILL), &fill, &is_encoded) != REFS_OK)
        return refs_fail_nomem(err);
    if (!is_encoded) return REFS_OK;
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(document); i++) {
        const refs_str name = refs_json_name_at(document, i);
        REFS_TRY(refs_json_write_name(name, text, err));
        REFS_TRY(refs_str_is(name, "attributes")
                     ? write_attributes(attributes, fill, text, err)
                     : refs_json_write(refs_json_at(document, i), text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}
