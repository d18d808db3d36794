/* dtype_v3.c -- data types of Zarr v3, and the syntax of named extensions.
 *
 * Sources: Zarr v3 core specification, "Data types" and "Extension points"; the data types that
 * zarr-python adds (https://github.com/zarr-developers/zarr-extensions).
 */
#include <stdio.h>

#include "zarr_internal.h"

/* -- named configurations: "name", or {"name": …, "configuration": {…}} ------------------------ */

refs_str refs_zarr__name_v3(const refs_json *extension) {
    return refs_json_text(refs_json_is_string(extension) ? extension
                                                         : refs_json_get(extension, "name"));
}

const refs_json *refs_zarr__config_v3(const refs_json *extension) {
    const refs_json *config = refs_json_get(extension, "configuration");
    return refs_json_is_object(config) ? config : NULL;
}

refs_status refs_zarr__refuse_v3(const char *what, const refs_json *extension, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED, "%s \"%.*s\" is not supported", what,
                     REFS_STR_ARG(refs_zarr__name_v3(extension)));
}

/* -- data types -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *numpy;
} simple_types[] = {
    {"bool", "|b1"},        {"int8", "|i1"},    {"int16", "<i2"},
    {"int32", "<i4"},       {"int64", "<i8"},   {"uint8", "|u1"},
    {"uint16", "<u2"},      {"uint32", "<u4"},  {"uint64", "<u8"},
    {"float16", "<f2"},     {"float32", "<f4"}, {"float64", "<f8"},
    {"complex64", "<c8"},   {"string", "|O"},   {"variable_length_bytes", "|O"},
    {"complex128", "<c16"}, {"bytes", "|O"},
};

static bool find_simple(refs_str name, refs_dtype *dtype) {
    for (size_t i = 0; i < sizeof simple_types / sizeof *simple_types; i++)
        if (refs_str_is(name, simple_types[i].name))
            return refs_dtype_parse(refs_str_from(simple_types[i].numpy), dtype, NULL) == REFS_OK;
    return false;
}

/* Parses "r16": 16 opaque bits. */
static bool parse_raw(refs_str name, refs_dtype *dtype) {
    uint64_t n_bits;
    if (!refs_str_starts(name, "r") || !refs_str_to_u64(refs_str_part(name, 1, name.size), &n_bits))
        return false;
    *dtype = (refs_dtype){.type = REFS_TYPE_RAW, .size = (size_t)(n_bits / 8)};
    return n_bits > 0 && n_bits % 8 == 0 && n_bits / 8 <= INT32_MAX;
}

/* Parses types with a length in bytes: "S", "U" and "V" of NumPy. */
static bool parse_sized(const refs_json *value, refs_dtype *dtype) {
    static const struct {
        const char *name;
        refs_type type;
    } types[] = {{"null_terminated_bytes", REFS_TYPE_BYTES},
                 {"fixed_length_utf32", REFS_TYPE_UNICODE},
                 {"raw_bytes", REFS_TYPE_RAW}};
    uint64_t length;
    if (!refs_json_u64(refs_json_get(refs_zarr__config_v3(value), "length_bytes"), &length) ||
        length == 0 || length > INT32_MAX)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!refs_str_is(refs_zarr__name_v3(value), types[i].name)) continue;
        *dtype = (refs_dtype){.type = types[i].type, .size = (size_t)length};
        return types[i].type != REFS_TYPE_UNICODE || length % 4 == 0;
    }
    return false;
}

/* Parses "numpy.datetime64" and "numpy.timedelta64" by converting them to NumPy's type strings. */
static bool parse_time(const refs_json *value, refs_dtype *dtype) {
    const refs_json *config = refs_zarr__config_v3(value);
    bool is_date = refs_str_is(refs_zarr__name_v3(value), "numpy.datetime64");
    if (!is_date && !refs_str_is(refs_zarr__name_v3(value), "numpy.timedelta64")) return false;
    refs_str unit = refs_json_text(refs_json_get(config, "unit"));
    uint64_t factor = 1;
    (void)refs_json_u64(refs_json_get(config, "scale_factor"), &factor);
    char text[64];
    snprintf(text, sizeof text, "<%c8[%llu%.*s]", is_date ? 'M' : 'm', (unsigned long long)factor,
             REFS_STR_ARG(unit));
    if (refs_str_is(unit, "generic")) text[3] = '\0';
    return refs_dtype_parse(refs_str_from(text), dtype, NULL) == REFS_OK;
}

/* "struct" has fields {"name": …, "data_type": …}, its older form "structured" has pairs. */
static refs_status read_struct(const refs_json *value, refs_dtype *dtype, refs_error *err) {
    const refs_json *fields = refs_json_get(refs_zarr__config_v3(value), "fields");
    *dtype = (refs_dtype){.type = REFS_TYPE_RAW};
    for (size_t i = 0; i < refs_json_size(fields); i++) {
        const refs_json *field = refs_json_at(fields, i);
        refs_dtype inner = {.type = REFS_TYPE_RAW};
        REFS_TRY(refs_zarr__dtype_v3(refs_json_is_object(field) ? refs_json_get(field, "data_type")
                                                                : refs_json_at(field, 1),
                                     &inner, err));
        if (inner.size == 0 || inner.size > INT32_MAX - dtype->size)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "a structured type with a field of variable size is not supported");
        dtype->size += inner.size;
    }
    if (dtype->size > 0) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "a structured type has no fields");
}

refs_status refs_zarr__dtype_v3(const refs_json *value, refs_dtype *dtype, refs_error *err) {
    refs_str name = refs_zarr__name_v3(value);
    if (refs_str_is(name, "struct") || refs_str_is(name, "structured"))
        return read_struct(value, dtype, err);
    bool known = find_simple(name, dtype) || parse_raw(name, dtype) || parse_sized(value, dtype) ||
                 parse_time(value, dtype);
    return known ? REFS_OK : refs_zarr__refuse_v3("data_type", value, err);
}
