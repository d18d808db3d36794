/* array_v2.c -- the metadata of one array in Zarr v2 (".zarray" and ".zattrs").
 *
 * Source: Zarr v2 specification, "Metadata". Accepts deviations of writers of reference sets:
 * compressors among the filters, lists instead of one codec, and no zarr_format.
 */
#include "zarr_internal.h"

static refs_status check_format(const refs_json *document, refs_error *err) {
    const refs_json *format = refs_json_get(document, "zarr_format");
    uint64_t number;
    if (format == NULL || (refs_json_u64(format, &number) && number == 2)) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "zarr_format of .zarray: expected 2, found %.*s",
                     REFS_STR_ARG(refs_json_text(format)));
}

/* Reads an optional member that is one of a few letters. */
static refs_status read_letter(const refs_json *document, const char *member, const char *letters,
                               char *letter, refs_error *err) {
    const refs_json *value = refs_json_get(document, member);
    refs_str text = refs_json_text(value);
    *letter = letters[0];
    if (refs_json_kind_of(value) == REFS_JSON_KIND_NULL) return REFS_OK;
    if (!refs_json_is_string(value) || text.size != 1 || strchr(letters, text.data[0]) == NULL)
        return refs_fail(err, REFS_INVALID, "%s: expected one of the letters %s", member, letters);
    *letter = text.data[0];
    return REFS_OK;
}

/* -- data types -------------------------------------------------------------------------------- */

static refs_status read_dtype(const refs_json *value, refs_dtype *dtype, refs_error *err);

/* Adds the bytes of a field of a structured type, ["name", type] or ["name", type, shape]. */
static refs_status add_field(const refs_json *field, size_t *size, refs_error *err) {
    refs_dtype dtype = {.type = REFS_TYPE_RAW};
    REFS_TRY(read_dtype(refs_json_at(field, 1), &dtype, err));
    const refs_json *shape = refs_json_at(field, 2);
    size_t bytes = dtype.size;
    bool fits = true;
    for (size_t i = 0; i < refs_json_size(shape) && fits; i++) {
        uint64_t count;
        if (!refs_json_u64(refs_json_at(shape, i), &count))
            return refs_fail(err, REFS_INVALID, "the shape of a field: expected a list of sizes");
        fits = count <= INT32_MAX && refs_mul_size(bytes, (size_t)count, &bytes);
    }
    if (!fits || !refs_add_size(*size, bytes, size) || *size > INT32_MAX)
        return refs_fail(err, REFS_LIMIT, "the elements of the structured type are too large");
    return REFS_OK;
}

static refs_status read_dtype(const refs_json *value, refs_dtype *dtype, refs_error *err) {
    if (refs_json_is_string(value)) return refs_dtype_parse(refs_json_text(value), dtype, err);
    if (!refs_json_is_array(value) || refs_json_size(value) == 0)
        return refs_fail(err, REFS_INVALID, "dtype: expected a string or a list");
    *dtype = (refs_dtype){.type = REFS_TYPE_RAW};
    for (size_t i = 0; i < refs_json_size(value); i++)
        REFS_TRY(add_field(refs_json_at(value, i), &dtype->size, err));
    if (dtype->size == 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "a structured type with a field of variable size is not supported");
    return REFS_OK;
}

/* -- codecs ------------------------------------------------------------------------------------ */

/* Counts the codecs of a member that is null, one codec or a list; codec_at returns each. */
static refs_status count_codecs(const refs_json *value, const char *member, size_t *n,
                                refs_error *err) {
    *n = refs_json_is_object(value) ? 1 : refs_json_size(value);
    if (refs_json_is_object(value) || refs_json_is_array(value) ||
        refs_json_kind_of(value) == REFS_JSON_KIND_NULL)
        return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: expected null or codecs", member);
}

static const refs_json *codec_at(const refs_json *value, size_t i) {
    return refs_json_is_object(value) ? value : refs_json_at(value, i);
}

static refs_status read_codecs(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err) {
    static const char *const members[] = {"filters", "compressor"};
    size_t n[2];
    for (int m = 0; m < 2; m++)
        REFS_TRY(count_codecs(refs_json_get(source->document, members[m]), members[m], &n[m], err));
    refs_codec_spec *specs = refs_zarr__arena_take(source->arena, n[0] + n[1], sizeof *specs);
    if (specs == NULL) return refs_fail_nomem(err);
    meta->codecs = specs;
    for (int m = 0; m < 2; m++) {
        const refs_json *codecs = refs_json_get(source->document, members[m]);
        for (size_t i = 0; i < n[m]; i++) {
            const refs_json *config = codec_at(codecs, i);
            const refs_json *id = refs_json_get(config, "id");
            if (!refs_json_is_object(config))
                return refs_fail(err, REFS_INVALID, "%s[%zu]: expected a codec", members[m], i);
            specs[meta->n_codecs++] =
                (refs_codec_spec){refs_json_is_string(id) ? refs_json_text(id).data : "", config};
        }
    }
    return REFS_OK;
}

refs_status refs_zarr__read_v2(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err) {
    const refs_json *document = source->document;
    refs_grid_lists grid = {refs_json_get(document, "shape"), refs_json_get(document, "chunks"),
                            "chunks"};
    char order;
    meta->zarr_format = 2;
    REFS_TRY(check_format(document, err));
    REFS_TRY(refs_zarr__read_grid(&grid, meta, err));
    REFS_TRY(read_dtype(refs_json_get(document, "dtype"), &meta->dtype, err));
    REFS_TRY(read_letter(document, "order", "CF", &order, err));
    for (size_t i = 0; i < meta->rank; i++)
        meta->order[i] = (uint8_t)(order == 'F' ? meta->rank - 1 - i : i);
    REFS_TRY(read_letter(document, "dimension_separator", "./", &meta->separator, err));
    REFS_TRY(refs_zarr__read_fill(source, meta, err));
    REFS_TRY(read_codecs(source, meta, err));
    const char *slash = meta->path[1] != '\0' ? "/" : "";
    meta->key_prefix = refs_zarr__arena_printf(source->arena, "%s%s", meta->path + 1, slash);
    if (meta->key_prefix == NULL) return refs_fail_nomem(err);
    return refs_zarr__read_dims(source, refs_json_get(source->attributes, "_ARRAY_DIMENSIONS"),
                                meta, err);
}
