/* version3.c -- see version3.h. */
#include "icechunk/version3.h"

#include "refs/json.h"
#include "refs/own_attributes.h"
#include "refs/write.h"

#define DIMENSIONS "_ARRAY_DIMENSIONS"

/* -- data types -------------------------------------------------------------------------------- */

/* A data type of NumPy: '<', 'f', 4. */
typedef struct numpy_type {
    char order, kind;
    uint64_t size;
    refs_str unit; /* "ns" in "M8[ns]" */
} numpy_type;

static refs_status fail_type(const refs_json *value, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_json_write(value, &text, err));
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "type %.*s does not exist in Zarr version 3, which Icechunk requires: write JSON",
        REFS_STR_ARG(refs_buf_text(&text)));
}

static refs_status parse_name(const refs_json *value, numpy_type *type, refs_error *err) {
    const refs_str text = refs_json_text(value);
    const size_t bracket = refs_str_find(text, '[');
    if (!refs_json_is_string(value) || text.size < 2) return fail_type(value, err);
    type->order = text.data[0];
    type->kind = text.data[1];
    if (bracket != SIZE_MAX && refs_str_ends(text, "]"))
        type->unit = refs_str_part(text, bracket + 1, text.size - 1);
    if (type->kind == 'O') return REFS_OK;
    if (refs_str_to_u64(refs_str_part(text, 2, bracket), &type->size) && type->size > 0)
        return REFS_OK;
    return fail_type(value, err);
}

/* Adds the bytes of a member of a compound: [name, type], or [name, type, shape]. The type is a
 * list if it is a compound, too; JSON limits how deep lists nest. */
static refs_status add_member(const refs_json *member, uint64_t *size, refs_error *err) {
    const refs_json *value = refs_json_at(member, 1), *shape = refs_json_at(member, 2);
    numpy_type type = {.order = '|'};
    for (size_t i = 0; refs_json_is_array(value) && i < refs_json_size(value); i++)
        REFS_TRY(add_member(refs_json_at(value, i), &type.size, err));
    if (!refs_json_is_array(value)) REFS_TRY(parse_name(value, &type, err));
    bool fits = type.kind != 'O' && refs_mul_u64(type.size, type.kind == 'U' ? 4 : 1, &type.size);
    for (size_t i = 0; i < refs_json_size(shape); i++) {
        uint64_t count;
        fits = fits && refs_json_u64(refs_json_at(shape, i), &count) &&
               refs_mul_u64(type.size, count, &type.size);
    }
    if (fits && refs_add_u64(*size, type.size, size) && *size <= INT32_MAX) return REFS_OK;
    return fail_type(member, err);
}

/* Elements of compounds are raw bytes. */
static refs_status parse_type(const refs_json *value, numpy_type *type, refs_error *err) {
    *type = (numpy_type){.order = '|'};
    if (!refs_json_is_array(value)) return parse_name(value, type, err);
    type->kind = 'V';
    for (size_t i = 0; i < refs_json_size(value); i++)
        REFS_TRY(add_member(refs_json_at(value, i), &type->size, err));
    return type->size > 0 ? REFS_OK : fail_type(value, err);
}

static const char *number_name(char kind) {
    switch (kind) {
    case 'i':
        return "int";
    case 'u':
        return "uint";
    case 'f':
        return "float";
    case 'c':
        return "complex";
    default:
        return NULL;
    }
}

static const char *sized_name(char kind) {
    switch (kind) {
    case 'S':
        return "null_terminated_bytes";
    case 'U':
        return "fixed_length_utf32";
    case 'V':
        return "raw_bytes";
    default:
        return NULL;
    }
}

/* "10ns" counts tens of nanoseconds. */
static refs_status write_time(const numpy_type *type, refs_buf *v3, refs_error *err) {
    size_t n_digits = 0;
    uint64_t factor = 1;
    while (n_digits < type->unit.size && type->unit.data[n_digits] >= '0' &&
           type->unit.data[n_digits] <= '9')
        n_digits++;
    if (n_digits > 0) (void)refs_str_to_u64(refs_str_part(type->unit, 0, n_digits), &factor);
    const refs_str unit = refs_str_part(type->unit, n_digits, type->unit.size);
    return refs_buf_printf(
        v3, err,
        "{\"name\":\"numpy.%s\",\"configuration\":{\"unit\":\"%.*s\",\"scale_factor\":%llu}}",
        type->kind == 'M' ? "datetime64" : "timedelta64",
        REFS_STR_WHOLE(unit.size > 0 ? unit : refs_str_from("generic")),
        (unsigned long long)factor);
}

static refs_status write_type(const numpy_type *type, const refs_json *value, refs_buf *v3,
                              refs_error *err) {
    const char *number = number_name(type->kind), *sized = sized_name(type->kind);
    if (type->kind == 'b') return refs_buf_printf(v3, err, "\"bool\"");
    if (type->kind == 'O') return refs_buf_printf(v3, err, "\"string\"");
    if (type->kind == 'M' || type->kind == 'm') return write_time(type, v3, err);
    if (number != NULL)
        return refs_buf_printf(v3, err, "\"%s%llu\"", number, (unsigned long long)type->size * 8);
    if (sized == NULL) return fail_type(value, err);
    return refs_buf_printf(v3, err, "{\"name\":\"%s\",\"configuration\":{\"length_bytes\":%llu}}",
                           sized, (unsigned long long)type->size * (type->kind == 'U' ? 4 : 1));
}

/* -- fill values ------------------------------------------------------------------------------- */

static refs_status write_zero(const numpy_type *type, refs_buf *v3, refs_error *err) {
    switch (type->kind) {
    case 'b':
        return refs_buf_printf(v3, err, "false");
    case 'f':
        return refs_buf_printf(v3, err, "0.0");
    case 'c':
        return refs_buf_printf(v3, err, "[0.0,0.0]");
    case 'i':
    case 'u':
    case 'm':
    case 'M':
        return refs_buf_printf(v3, err, "0");
    case 'V': {
        REFS_SCOPED_BUF zeros = REFS_BUF_INIT;
        REFS_TRY(refs_buf_resize(&zeros, (size_t)type->size, err));
        memset(zeros.data, 0, zeros.size);
        REFS_TRY(refs_buf_append(v3, "\"", 1, err));
        REFS_TRY(refs_base64_encode(refs_buf_view(&zeros), v3, err));
        return refs_buf_append(v3, "\"", 1, err);
    }
    default:
        return refs_buf_printf(v3, err, "\"\"");
    }
}

/* Numbers that JSON lacks are strings in both versions; some sets have them unquoted. */
static refs_status write_number(const refs_json *value, const numpy_type *type, refs_buf *v3,
                                refs_error *err) {
    const refs_str text = refs_json_text(value);
    int64_t integer;
    const char first = text.size > 0 ? text.data[text.size - 1] : '0';
    if (first == 'N' || first == 'y') return refs_json_write_string(text, v3, err);
    if (type->kind == 'b')
        return refs_buf_printf(v3, err, refs_str_is(text, "0") ? "false" : "true");
    if (type->kind != 'f' && refs_json_i64(value, &integer))
        return refs_buf_printf(v3, err, "%lld", (long long)integer);
    return refs_json_write(value, v3, err);
}

static refs_status write_fill(const refs_json *value, const numpy_type *type, refs_buf *v3,
                              refs_error *err) {
    const refs_json_kind kind = refs_json_kind_of(value);
    bool truth;
    if (kind == REFS_JSON_KIND_NULL) return write_zero(type, v3, err);
    if (type->kind == 'O' && kind != REFS_JSON_KIND_STRING) return write_zero(type, v3, err);
    if (kind == REFS_JSON_KIND_NUMBER) return write_number(value, type, v3, err);
    if (type->kind != 'b' && refs_json_bool(value, &truth))
        return refs_buf_printf(v3, err, "%d", truth ? 1 : 0);
    return refs_json_write(value, v3, err);
}

/* -- codecs ------------------------------------------------------------------------------------ */

/* Filters of numcodecs from array to array; all others convert bytes to bytes. */
static bool is_of_arrays(refs_str id) {
    static const char *const ids[] = {"delta",  "fixedscaleoffset", "quantize", "bitround",
                                      "astype", "packbits",         NULL};
    return refs_str_is_among(id, ids);
}

static bool is_of_strings(refs_str id) {
    return refs_str_is(id, "vlen-utf8") || refs_str_is(id, "vlen-bytes");
}

static refs_status begin_codec(refs_str name, refs_buf *v3, refs_error *err) {
    if (v3->data[v3->size - 1] != '[') REFS_TRY(refs_buf_append(v3, ",", 1, err));
    REFS_TRY(refs_buf_printf(v3, err, "{\"name\":"));
    return refs_json_write_string(name, v3, err);
}

static refs_status write_configuration(const refs_json *codec, refs_buf *v3, refs_error *err) {
    size_t n = 0;
    for (size_t i = 0; i < refs_json_size(codec); i++) {
        const refs_str name = refs_json_name_at(codec, i);
        if (refs_str_is(name, "id")) continue;
        if (n++ == 0) REFS_TRY(refs_buf_printf(v3, err, ",\"configuration\":{"));
        REFS_TRY(refs_json_write_member(name, refs_json_at(codec, i), v3, err));
    }
    return refs_buf_printf(v3, err, n > 0 ? "}}" : "}");
}

static refs_status write_codec(const refs_json *codec, refs_buf *v3, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    const refs_str id = refs_json_text(refs_json_get(codec, "id"));
    if (id.size == 0) return refs_fail(err, REFS_INVALID, "a codec of it has no id");
    refs_status status = refs_buf_printf(&name, err, "numcodecs.%.*s", REFS_STR_WHOLE(id));
    if (status == REFS_OK) status = begin_codec(refs_buf_text(&name), v3, err);
    return status == REFS_OK ? write_configuration(codec, v3, err) : status;
}

/* Version 3 requires filters from array to array before all others. */
static refs_status write_filters_of_arrays(const refs_json *filters, size_t *n, refs_buf *v3,
                                           refs_error *err) {
    for (*n = 0; *n < refs_json_size(filters); ++*n) {
        const refs_json *codec = refs_json_at(filters, *n);
        if (!is_of_arrays(refs_json_text(refs_json_get(codec, "id")))) return REFS_OK;
        REFS_TRY(write_codec(codec, v3, err));
    }
    return REFS_OK;
}

static refs_status write_filters_of_bytes(const refs_json *filters, size_t begin, refs_buf *v3,
                                          refs_error *err) {
    for (size_t i = begin; i < refs_json_size(filters); i++) {
        const refs_json *codec = refs_json_at(filters, i);
        const refs_str id = refs_json_text(refs_json_get(codec, "id"));
        if (is_of_arrays(id) || is_of_strings(id))
            return refs_fail(err, REFS_UNSUPPORTED,
                             "Zarr version 3, which Icechunk requires, cannot have filter \"%.*s\" "
                             "after one that makes bytes: write JSON",
                             REFS_STR_ARG(id));
        REFS_TRY(write_codec(codec, v3, err));
    }
    return REFS_OK;
}

static refs_status write_transpose(size_t rank, refs_buf *v3, refs_error *err) {
    REFS_TRY(begin_codec(refs_str_from("transpose"), v3, err));
    REFS_TRY(refs_buf_printf(v3, err, ",\"configuration\":{\"order\":["));
    for (size_t dim = rank; dim-- > 0;)
        REFS_TRY(refs_buf_printf(v3, err, dim > 0 ? "%zu," : "%zu", dim));
    return refs_buf_printf(v3, err, "]}}");
}

/* Writes the codec from array to bytes. */
static refs_status write_bytes(const numpy_type *type, const refs_json *filters, size_t *n,
                               refs_buf *v3, refs_error *err) {
    const refs_str id = refs_json_text(refs_json_get(refs_json_at(filters, *n), "id"));
    if (type->kind == 'O' && id.size > 0 && !is_of_strings(id))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "Zarr version 3, which Icechunk requires, cannot have filter \"%.*s\", "
                         "which makes bytes of objects: write JSON",
                         REFS_STR_ARG(id));
    if (type->kind == 'O' || is_of_strings(id)) {
        *n += is_of_strings(id);
        REFS_TRY(begin_codec(id.size > 0 ? id : refs_str_from("vlen-utf8"), v3, err));
        return refs_buf_append(v3, "}", 1, err);
    }
    REFS_TRY(begin_codec(refs_str_from("bytes"), v3, err));
    if (type->order == '|') return refs_buf_append(v3, "}", 1, err);
    return refs_buf_printf(v3, err, ",\"configuration\":{\"endian\":\"%s\"}}",
                           type->order == '>' ? "big" : "little");
}

static refs_status write_codecs(const refs_json *array, const numpy_type *type, refs_buf *v3,
                                refs_error *err) {
    const refs_json *filters = refs_json_get(array, "filters");
    const refs_json *compressor = refs_json_get(array, "compressor");
    const size_t rank = refs_json_size(refs_json_get(array, "shape"));
    size_t n = 0;
    REFS_TRY(refs_buf_printf(v3, err, ",\"codecs\":["));
    REFS_TRY(write_filters_of_arrays(filters, &n, v3, err));
    if (refs_str_is(refs_json_text(refs_json_get(array, "order")), "F") && rank > 1)
        REFS_TRY(write_transpose(rank, v3, err));
    REFS_TRY(write_bytes(type, filters, &n, v3, err));
    REFS_TRY(write_filters_of_bytes(filters, n, v3, err));
    if (refs_json_is_object(compressor)) REFS_TRY(write_codec(compressor, v3, err));
    return refs_buf_append(v3, "]", 1, err);
}

/* -- documents --------------------------------------------------------------------------------- */

static refs_status write_member(const char *before, const refs_json *value, refs_buf *v3,
                                refs_error *err) {
    REFS_TRY(refs_buf_printf(v3, err, "%s", before));
    return refs_json_write(value, v3, err);
}

/* Characters of a double in base64. */
#define BASE64_DOUBLE 12

/* The value of a list of one element is that element. */
static const refs_json *only_value(const refs_json *value) {
    return refs_json_is_array(value) && refs_json_size(value) == 1 ? refs_json_at(value, 0) : value;
}

/* Reads a number, or the word by which version 2 writes a number that JSON lacks. */
static bool read_float(const refs_json *value, double *number) {
    static const char *const words[] = {"NaN", "Infinity", "-Infinity", NULL};
    if (!refs_json_is_string(value)) return refs_json_double(value, number);
    if (!refs_str_is_among(refs_json_text(value), words)) return false;
    *number = refs_json_number_to_double(refs_json_text(value));
    return true;
}

/* Whether xarray can decode the value as attribute _FillValue of this kind of elements; otherwise
 * it rejects the whole group (xarray.backends.zarr.FillValueCoder). A group has no kind. */
static bool is_fill_of(char kind, const refs_json *value) {
    double number;
    if (kind == '\0' || kind == 'b') return true;
    if (kind == 'f' && read_float(value, &number)) return true;
    if (kind == 'f') return refs_json_text(value).size == BASE64_DOUBLE;
    return (kind == 'i' || kind == 'u') && refs_json_is_number(value);
}

/* Floating-point fill values are written only as base64 of a little-endian double. */
static refs_status write_fill_attribute(char kind, const refs_json *value, refs_buf *v3,
                                        refs_error *err) {
    uint8_t bytes[sizeof(double)];
    uint64_t bits;
    double number;
    if (kind != 'f' || !read_float(value, &number)) return refs_json_write(value, v3, err);
    memcpy(&bits, &number, sizeof bits);
    refs_store_le(bytes, sizeof bytes, bits);
    REFS_TRY(refs_buf_append(v3, "\"", 1, err));
    REFS_TRY(refs_base64_encode(refs_bytes_view(bytes, sizeof bytes), v3, err));
    return refs_buf_append(v3, "\"", 1, err);
}

/* An attribute _FillValue that xarray cannot decode, for example of characters or times, becomes
 * missing_value, which CF treats alike; it is left out if the array has that attribute, too. */
static bool names_attribute(const refs_json *attributes, char kind, const refs_json *value,
                            refs_str *name) {
    if (refs_str_is(*name, DIMENSIONS)) return false;
    if (!refs_str_is(*name, "_FillValue") || is_fill_of(kind, only_value(value))) return true;
    *name = refs_str_from("missing_value");
    return refs_json_get(attributes, "missing_value") == NULL;
}

static refs_status write_attributes(const refs_json *attributes, char kind, refs_buf *v3,
                                    refs_error *err) {
    REFS_TRY(refs_buf_printf(v3, err, ",\"attributes\":{"));
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        const refs_json *value = refs_json_at(attributes, i);
        refs_str name = refs_json_name_at(attributes, i);
        if (!names_attribute(attributes, kind, value, &name)) continue;
        REFS_TRY(refs_json_write_name(name, v3, err));
        REFS_TRY(kind != '\0' && refs_str_is(name, "_FillValue")
                     ? write_fill_attribute(kind, only_value(value), v3, err)
                     : refs_json_write(value, v3, err));
    }
    return refs_buf_append(v3, "}", 1, err);
}

/* Whether a member is a separator that is not kept: converted back, chunk keys have dots. */
static bool is_slash(refs_str name, const refs_json *value) {
    return refs_str_is(name, "dimension_separator") && !refs_str_is(refs_json_text(value), ".");
}

/* Keeps members of version 2 unchanged, and missing values whose attribute was renamed, so that
 * this set converts back to what it was made from. refs/own_attributes.h describes this
 * extension. */
static refs_status write_others(const refs_json *array, const refs_json *attributes, char kind,
                                refs_buf *v3, refs_error *err) {
    static const char *const said[] = {"zarr_format", "shape", "chunks", NULL};
    REFS_TRY(refs_buf_printf(v3, err, ",\"" REFS_V2_MEMBER "\":{\"must_understand\":false"));
    for (size_t i = 0; i < refs_json_size(array); i++) {
        const refs_str name = refs_json_name_at(array, i);
        if (!refs_str_is_among(name, said) && !is_slash(name, refs_json_at(array, i)))
            REFS_TRY(refs_json_write_member(name, refs_json_at(array, i), v3, err));
    }
    const refs_json *fill = refs_json_get(attributes, "_FillValue"),
                    *missing = refs_json_get(attributes, "missing_value");
    const bool is_renamed = fill != NULL && !is_fill_of(kind, only_value(fill));
    if (is_renamed) REFS_TRY(refs_json_write_member(refs_str_from("_FillValue"), fill, v3, err));
    if (is_renamed && missing != NULL)
        REFS_TRY(refs_json_write_member(refs_str_from("missing_value"), missing, v3, err));
    return refs_buf_append(v3, "}", 1, err);
}

static refs_status write_array(const refs_json *array, const refs_json *attributes, refs_buf *v3,
                               refs_error *err) {
    const refs_json *dtype = refs_json_get(array, "dtype");
    const refs_json *dims = refs_json_get(attributes, DIMENSIONS);
    const refs_json *shape = refs_json_get(array, "shape");
    numpy_type type;
    REFS_TRY(parse_type(dtype, &type, err));
    REFS_TRY(write_member("{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":", shape, v3, err));
    REFS_TRY(refs_buf_printf(v3, err, ",\"data_type\":"));
    REFS_TRY(write_type(&type, dtype, v3, err));
    REFS_TRY(write_member(",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{"
                          "\"chunk_shape\":",
                          refs_json_get(array, "chunks"), v3, err));
    REFS_TRY(refs_buf_printf(v3, err,
                             "}},\"chunk_key_encoding\":{\"name\":\"default\","
                             "\"configuration\":{\"separator\":\"/\"}},\"fill_value\":"));
    REFS_TRY(write_fill(refs_json_get(array, "fill_value"), &type, v3, err));
    REFS_TRY(write_codecs(array, &type, v3, err));
    REFS_TRY(write_attributes(attributes, type.kind, v3, err));
    if (refs_json_is_array(dims) && refs_json_size(dims) == refs_json_size(shape))
        REFS_TRY(write_member(",\"dimension_names\":", dims, v3, err));
    REFS_TRY(write_others(array, attributes, type.kind, v3, err));
    return refs_buf_printf(v3, err, ",\"storage_transformers\":[]}");
}

static refs_status parse(refs_bytes document, refs_json_doc **doc, refs_error *err) {
    *doc = NULL;
    if (document.size == 0) return REFS_OK;
    return refs_json_parse(refs_bytes_text(document), doc, err);
}

refs_status refs_icechunk__group_v3(refs_bytes attributes, refs_buf *v3, refs_error *err) {
    refs_json_doc *doc;
    REFS_TRY(parse(attributes, &doc, err));
    refs_status status = refs_buf_printf(v3, err, "{\"zarr_format\":3,\"node_type\":\"group\"");
    if (status == REFS_OK) status = write_attributes(refs_json_root(doc), '\0', v3, err);
    if (status == REFS_OK) status = refs_buf_append(v3, "}", 1, err);
    refs_json_doc_free(doc);
    return status;
}

refs_status refs_icechunk__array_v3(refs_bytes array, refs_bytes attributes, refs_buf *v3,
                                    refs_error *err) {
    refs_json_doc *of_array, *of_attributes = NULL;
    REFS_TRY(parse(array, &of_array, err));
    refs_status status = parse(attributes, &of_attributes, err);
    if (status == REFS_OK)
        status = write_array(refs_json_root(of_array), refs_json_root(of_attributes), v3, err);
    refs_json_doc_free(of_array);
    refs_json_doc_free(of_attributes);
    return status;
}
