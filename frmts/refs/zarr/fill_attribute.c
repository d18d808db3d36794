/* fill_attribute.c -- the attribute _FillValue of floating-point arrays of version 3, which xarray
 * writes in base64: little-endian double precision, whatever the type of the array
 * (xarray.backends.zarr.FillValueCoder), and of those that an Icechunk repository has to call
 * missing_value. Readers of the decoded document find the attribute as in version 2.
 */
#include "zarr_internal.h"

#include "refs/own_attributes.h"

#include <math.h>
#include <stdio.h>

#define FILL    "_FillValue"
#define MISSING "missing_value"

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

/* Formats a number like the parsers of files: without redundant signs and zeros in the exponent. */
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

/* The attribute that replaces `name` in the decoded document. */
typedef struct fill_attribute {
    const char *name;
    refs_buf value;           /* of _FillValue, as JSON; empty: the document already has it */
    const refs_json *missing; /* missing_value, which comes after it; or NULL */
} fill_attribute;

static void clear(fill_attribute *fill) {
    refs_buf_clear(&fill->value);
}

static refs_status find_fill(const refs_json *document, fill_attribute *fill, refs_error *err) {
    const refs_json *before = refs_json_get(document, REFS_V2_MEMBER);
    double number;
    bool is_encoded = false;
    if (refs_json_get(before, FILL) != NULL) {
        fill->name = MISSING;
        fill->missing = refs_json_get(before, MISSING);
        return refs_json_write(refs_json_get(before, FILL), &fill->value, err);
    }
    fill->name = FILL;
    if (!is_float(document)) return REFS_OK;
    if (decode(refs_json_get(refs_json_get(document, "attributes"), FILL), &number, &is_encoded) !=
        REFS_OK)
        return refs_fail_nomem(err);
    return is_encoded ? write_number(number, &fill->value, err) : REFS_OK;
}

static refs_status write_attributes(const refs_json *attributes, const fill_attribute *fill,
                                    refs_buf *text, refs_error *err) {
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        const refs_str name = refs_json_name_at(attributes, i);
        if (!refs_str_is(name, fill->name)) {
            REFS_TRY(refs_json_write_member(name, refs_json_at(attributes, i), text, err));
            continue;
        }
        REFS_TRY(refs_json_write_name(refs_str_from(FILL), text, err));
        REFS_TRY(refs_buf_append(text, fill->value.data, fill->value.size, err));
        if (fill->missing != NULL)
            REFS_TRY(refs_json_write_member(refs_str_from(MISSING), fill->missing, text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}

refs_status refs_zarr__decode_fill_attribute(const refs_json *document, refs_buf *text,
                                             refs_error *err) {
    REFS_SCOPED_BY(clear) fill_attribute fill = {.value = REFS_BUF_INIT};
    REFS_TRY(find_fill(document, &fill, err));
    if (fill.value.size == 0) return REFS_OK;
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(document); i++) {
        const refs_str name = refs_json_name_at(document, i);
        if (!refs_str_is(name, "attributes")) {
            REFS_TRY(refs_json_write_member(name, refs_json_at(document, i), text, err));
            continue;
        }
        REFS_TRY(refs_json_write_name(name, text, err));
        REFS_TRY(write_attributes(refs_json_at(document, i), &fill, text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}
