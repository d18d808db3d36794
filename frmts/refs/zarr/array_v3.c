/* array_v3.c -- the metadata of one array in Zarr v3 ("zarr.json").
 *
 * Source: Zarr v3 core specification, "Array metadata". Read are regular grids, both chunk key
 * encodings, fixed-size numbers, and chains of "transpose" (C or Fortran order), "bytes" and what
 * the codec room knows; everything else is refused by its name.
 */
#include "zarr_internal.h"

/* -- named configurations: "name", or {"name": …, "configuration": {…}} ------------------------ */

static refs_str name_of(const refs_json *extension) {
    return refs_json_text(refs_json_is_string(extension) ? extension
                                                         : refs_json_get(extension, "name"));
}

static const refs_json *config_of(const refs_json *extension) {
    const refs_json *config = refs_json_get(extension, "configuration");
    return refs_json_is_object(config) ? config : NULL;
}

static refs_status refuse(const char *what, const refs_json *extension, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED, "%s '%.*s' is not supported", what,
                     REFS_STR_ARG(name_of(extension)));
}

/* -- data types -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *numpy;
} type_names[] = {
    {"bool", "|b1"},   {"int8", "|i1"},    {"int16", "<i2"},     {"int32", "<i4"},
    {"int64", "<i8"},  {"uint8", "|u1"},   {"uint16", "<u2"},    {"uint32", "<u4"},
    {"uint64", "<u8"}, {"float16", "<f2"}, {"float32", "<f4"},   {"float64", "<f8"},
    {"string", "|O"},  {"bytes", "|O"},    {"complex64", "<c8"}, {"complex128", "<c16"},
};

/* "r16": that many opaque bits. */
static bool parse_raw(refs_str name, refs_dtype *dtype) {
    uint64_t n_bits;
    if (!refs_str_starts(name, "r") || !refs_str_to_u64(refs_str_part(name, 1, name.size), &n_bits))
        return false;
    *dtype = (refs_dtype){.type = REFS_TYPE_RAW, .size = (size_t)(n_bits / 8)};
    return n_bits > 0 && n_bits % 8 == 0 && n_bits / 8 <= INT32_MAX;
}

static refs_status read_dtype(const refs_json *value, refs_dtype *dtype, refs_error *err) {
    refs_str name = name_of(value);
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (refs_str_is(name, type_names[i].name))
            return refs_dtype_parse(refs_str_from(type_names[i].numpy), dtype, err);
    return parse_raw(name, dtype) ? REFS_OK : refuse("data_type", value, err);
}

/* -- grid and keys ----------------------------------------------------------------------------- */

static refs_status read_grid(const refs_json *document, refs_array_meta *meta, refs_error *err) {
    const refs_json *grid = refs_json_get(document, "chunk_grid");
    refs_grid_lists lists = {refs_json_get(document, "shape"),
                             refs_json_get(config_of(grid), "chunk_shape"), "chunk_shape"};
    if (!refs_str_is(name_of(grid), "regular")) return refuse("chunk_grid", grid, err);
    return refs_zarr__read_grid(&lists, meta, err);
}

static refs_status read_key_encoding(const refs_array_source *source, refs_array_meta *meta,
                                     refs_error *err) {
    const refs_json *encoding = refs_json_get(source->document, "chunk_key_encoding");
    bool as_v2 = refs_str_is(name_of(encoding), "v2");
    if (!as_v2 && !refs_str_is(name_of(encoding), "default"))
        return refuse("chunk_key_encoding", encoding, err);
    const refs_json *given = refs_json_get(config_of(encoding), "separator");
    refs_str separator = given != NULL ? refs_json_text(given) : refs_str_from(as_v2 ? "." : "/");
    if (!refs_str_is(separator, ".") && !refs_str_is(separator, "/"))
        return refs_fail(err, REFS_INVALID, "the separator of chunk keys is neither . nor /");
    meta->separator = separator.data[0];
    const char *slash = meta->path[1] != '\0' ? "/" : "";
    const char *c = as_v2 ? "" : meta->rank == 0 ? "c" : meta->separator == '.' ? "c." : "c/";
    meta->key_prefix = refs_zarr__arena_printf(source->arena, "%s%s%s", meta->path + 1, slash, c);
    return meta->key_prefix != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* -- codecs ------------------------------------------------------------------------------------ */

/* Orders that are C's, or C's reversed; in one dimension and less both are the same. */
static refs_status read_transpose(const refs_json *codec, refs_array_meta *meta, refs_error *err) {
    const refs_json *order = refs_json_get(config_of(codec), "order");
    bool same = true, reversed = true;
    if (refs_json_size(order) != meta->rank)
        return refs_fail(err, REFS_INVALID, "transpose has an order of %zu numbers for rank %zu",
                         refs_json_size(order), meta->rank);
    for (size_t dim = 0; dim < meta->rank; dim++) {
        uint64_t from = UINT64_MAX;
        bool is_number = refs_json_u64(refs_json_at(order, dim), &from);
        same = same && is_number && from == dim;
        reversed = reversed && is_number && from == meta->rank - 1 - dim;
    }
    if (same) return REFS_OK;
    if (!reversed || meta->fortran) return refuse("this order of", codec, err);
    meta->fortran = true;
    return REFS_OK;
}

static refs_status read_bytes(const refs_json *codec, refs_array_meta *meta, refs_error *err) {
    refs_str endian = refs_json_text(refs_json_get(config_of(codec), "endian"));
    bool big = refs_str_is(endian, "big");
    if (!big && endian.size > 0 && !refs_str_is(endian, "little"))
        return refs_fail(err, REFS_INVALID, "endian '%.*s'", REFS_STR_ARG(endian));
    meta->dtype.big_endian = big && refs_dtype_swap_size(&meta->dtype) > 1;
    return REFS_OK;
}

/* Those that say how elements lie in a chunk end up in `meta`, all others in its list. */
static refs_status read_codecs(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err) {
    const refs_json *codecs = refs_json_get(source->document, "codecs");
    size_t n = refs_json_size(codecs);
    if (!refs_json_is_array(codecs))
        return refs_fail(err, REFS_INVALID, "codecs is missing or no list");
    refs_codec_spec *specs = refs_zarr__arena_take(source->arena, n, sizeof *specs);
    if (specs == NULL) return refs_fail_nomem(err);
    meta->codecs = specs;
    for (size_t i = 0; i < n; i++) {
        const refs_json *codec = refs_json_at(codecs, i);
        refs_str name = name_of(codec);
        if (name.size == 0) return refs_fail(err, REFS_INVALID, "codecs[%zu] has no name", i);
        if (refs_str_is(name, "sharding_indexed")) return refuse("codec", codec, err);
        if (refs_str_is(name, "transpose"))
            REFS_TRY(read_transpose(codec, meta, err));
        else if (refs_str_is(name, "bytes"))
            REFS_TRY(read_bytes(codec, meta, err));
        else
            specs[meta->n_codecs++] = (refs_codec_spec){name.data, config_of(codec)};
    }
    return REFS_OK;
}

refs_status refs_zarr__read_v3(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err) {
    const refs_json *document = source->document;
    meta->zarr_format = 3;
    if (refs_json_size(refs_json_get(document, "storage_transformers")) > 0)
        return refs_fail(err, REFS_UNSUPPORTED, "storage transformers are not supported");
    REFS_TRY(read_grid(document, meta, err));
    REFS_TRY(read_dtype(refs_json_get(document, "data_type"), &meta->dtype, err));
    REFS_TRY(refs_zarr__read_fill(source, meta, err));
    REFS_TRY(read_key_encoding(source, meta, err));
    REFS_TRY(read_codecs(source, meta, err));
    return refs_zarr__read_dims(source, refs_json_get(document, "dimension_names"), meta, err);
}
