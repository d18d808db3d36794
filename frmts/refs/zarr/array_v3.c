/* array_v3.c -- the metadata of one array in Zarr v3 ("zarr.json").
 *
 * Source: Zarr v3 core specification, "Array metadata". Supports regular and rectilinear
 * (zarr-extensions) grids and both chunk key encodings. The codecs "transpose" and "bytes", and a
 * "sharding_indexed" without other codecs, become members of the array; the codec module decodes
 * all others.
 */
#include "zarr_internal.h"

/* -- grid and keys ----------------------------------------------------------------------------- */

static refs_status read_grid(const refs_array_source *source, refs_array_meta *meta,
                             refs_error *err) {
    const refs_json *document = source->document;
    const refs_json *grid = refs_json_get(document, "chunk_grid");
    refs_grid_lists lists = {refs_json_get(document, "shape"),
                             refs_json_get(refs_zarr__config_v3(grid), "chunk_shape"),
                             "chunk_shape"};
    bool is_regular = refs_str_is(refs_zarr__name_v3(grid), "regular");
    if (!is_regular && !refs_str_is(refs_zarr__name_v3(grid), "rectilinear"))
        return refs_zarr__refuse_v3("chunk_grid", grid, err);
    REFS_TRY(is_regular ? refs_zarr__read_grid(&lists, meta, err)
                        : refs_zarr__read_rectilinear(source, meta, err));
    for (size_t i = 0; i < meta->rank; i++) meta->order[i] = (uint8_t)i;
    return REFS_OK;
}

static refs_status read_key_encoding(const refs_array_source *source, refs_array_meta *meta,
                                     refs_error *err) {
    const refs_json *encoding = refs_json_get(source->document, "chunk_key_encoding");
    refs_str name = refs_zarr__name_v3(encoding);
    bool as_v2 = refs_str_is(name, "v2");
    if (!as_v2 && !refs_str_is(name, "default"))
        return refs_zarr__refuse_v3("chunk_key_encoding", encoding, err);
    const refs_json *given = refs_json_get(refs_zarr__config_v3(encoding), "separator");
    refs_str separator = given != NULL ? refs_json_text(given) : refs_str_from(as_v2 ? "." : "/");
    if (!refs_str_is(separator, ".") && !refs_str_is(separator, "/"))
        return refs_fail(err, REFS_INVALID, "the separator of chunk keys: expected . or /");
    meta->separator = separator.data[0];
    const char *slash = meta->path[1] != '\0' ? "/" : "";
    const char *c = as_v2 ? "" : meta->rank == 0 ? "c" : meta->separator == '.' ? "c." : "c/";
    meta->key_prefix = refs_zarr__arena_printf(source->arena, "%s%s%s", meta->path + 1, slash, c);
    return meta->key_prefix != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* -- codecs ------------------------------------------------------------------------------------ */

/* Dimension i of the encoded array is dimension order[i] of the decoded one. */
static refs_status read_transpose(const refs_json *codec, refs_array_meta *meta, refs_error *err) {
    const refs_json *order = refs_json_get(refs_zarr__config_v3(codec), "order");
    uint8_t before[REFS_MAX_RANK];
    bool seen[REFS_MAX_RANK] = {false};
    if (refs_json_size(order) != meta->rank)
        return refs_fail(
            err, REFS_INVALID,
            "transpose has an order of %zu numbers: expected %zu, one for each dimension",
            refs_json_size(order), meta->rank);
    memcpy(before, meta->order, sizeof before);
    for (size_t i = 0; i < meta->rank; i++) {
        uint64_t from = UINT64_MAX;
        if (!refs_json_u64(refs_json_at(order, i), &from) || from >= meta->rank || seen[from])
            return refs_fail(err, REFS_INVALID, "the order of transpose is not a permutation");
        seen[from] = true;
        meta->order[i] = before[from];
    }
    return REFS_OK;
}

static refs_status read_bytes(const refs_json *codec, refs_array_meta *meta, refs_error *err) {
    refs_str endian = refs_json_text(refs_json_get(refs_zarr__config_v3(codec), "endian"));
    bool big = refs_str_is(endian, "big");
    if (!big && endian.size > 0 && !refs_str_is(endian, "little"))
        return refs_fail(err, REFS_INVALID, "endian: expected little or big, found \"%.*s\"",
                         REFS_STR_ARG(endian));
    meta->dtype.big_endian = big && refs_dtype_swap_size(&meta->dtype) > 1;
    return REFS_OK;
}

static bool is_virtual_tiff(refs_str name, const char *codec) {
    static const char prefix[] = "virtual_tiff.";
    if (refs_str_starts(name, prefix)) name = refs_str_part(name, sizeof prefix - 1, name.size);
    return refs_str_is(name, codec);
}

/* "ChunkyCodec" of virtual-tiff is "bytes" in Fortran order: the samples of a pixel are adjacent.
 */
static refs_status read_chunky(const refs_json *codec, refs_array_meta *meta, refs_error *err) {
    for (size_t low = 0, high = meta->rank; low + 1 < high; low++, high--) {
        uint8_t swapped = meta->order[low];
        meta->order[low] = meta->order[high - 1];
        meta->order[high - 1] = swapped;
    }
    return read_bytes(codec, meta, err);
}

/* The codec "HorizontalDeltaCodec" of virtual-tiff works along the array's last dimension, wherever
 * it is in a chunk. */
static refs_status check_horizontal(const refs_array_meta *meta, refs_error *err) {
    for (size_t i = 0; i < meta->rank; i++)
        if (meta->order[i] != i)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "HorizontalDeltaCodec: expected before transpose, found after it");
    return REFS_OK;
}

/* "endian" was the name of "bytes" in drafts of the specification. */
static bool is_bytes(refs_str name) {
    return refs_str_is(name, "bytes") || refs_str_is(name, "endian");
}

/* The inner codecs of a shard that is decoded as a whole determine the byte order of its
 * elements. */
static refs_status read_inner_bytes(const refs_json *codec, refs_array_meta *meta,
                                    refs_error *err) {
    const refs_json *codecs = refs_json_get(refs_zarr__config_v3(codec), "codecs");
    for (size_t i = 0; i < refs_json_size(codecs); i++) {
        const refs_json *inner = refs_json_at(codecs, i);
        if (is_bytes(refs_zarr__name_v3(inner))) return read_bytes(inner, meta, err);
        if (refs_str_is(refs_zarr__name_v3(inner), "sharding_indexed"))
            return read_inner_bytes(inner, meta, err);
    }
    return REFS_OK;
}

static refs_status read_codec(const refs_json *codec, refs_codec_spec *specs, refs_array_meta *meta,
                              refs_error *err) {
    refs_str name = refs_zarr__name_v3(codec);
    if (refs_str_is(name, "transpose")) return read_transpose(codec, meta, err);
    if (is_bytes(name)) return read_bytes(codec, meta, err);
    if (is_virtual_tiff(name, "ChunkyCodec")) return read_chunky(codec, meta, err);
    if (is_virtual_tiff(name, "HorizontalDeltaCodec")) REFS_TRY(check_horizontal(meta, err));
    if (refs_str_is(name, "sharding_indexed")) REFS_TRY(read_inner_bytes(codec, meta, err));
    specs[meta->n_codecs++] = (refs_codec_spec){name.data, refs_zarr__config_v3(codec)};
    return REFS_OK;
}

/* Stores "transpose" and "bytes" in members of `meta`, all other codecs in its list. */
static refs_status read_codecs(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err) {
    const refs_json *codecs = refs_json_get(source->document, "codecs");
    if (!refs_json_is_array(codecs)) return refs_fail(err, REFS_INVALID, "codecs: expected a list");
    REFS_TRY(refs_zarr__read_shard(source, meta, &codecs, err));
    size_t n = refs_json_size(codecs);
    refs_codec_spec *specs = refs_zarr__arena_take(source->arena, n, sizeof *specs);
    if (specs == NULL) return refs_fail_nomem(err);
    meta->codecs = specs;
    for (size_t i = 0; i < n; i++) {
        const refs_json *codec = refs_json_at(codecs, i);
        if (refs_zarr__name_v3(codec).size == 0)
            return refs_fail(err, REFS_INVALID, "codecs[%zu] lacks its name", i);
        REFS_TRY(read_codec(codec, specs, meta, err));
    }
    return REFS_OK;
}

refs_status refs_zarr__read_v3(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err) {
    const refs_json *document = source->document;
    meta->zarr_format = 3;
    if (refs_json_size(refs_json_get(document, "storage_transformers")) > 0)
        return refs_fail(err, REFS_UNSUPPORTED, "storage transformers are not supported");
    REFS_TRY(read_grid(source, meta, err));
    REFS_TRY(refs_zarr__dtype_v3(refs_json_get(document, "data_type"), &meta->dtype, err));
    REFS_TRY(refs_zarr__read_fill(source, meta, err));
    REFS_TRY(read_key_encoding(source, meta, err));
    REFS_TRY(read_codecs(source, meta, err));
    if (meta->edges != NULL && meta->shard != NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "sharding of a rectilinear grid is not supported");
    return refs_zarr__read_dims(source, refs_json_get(document, "dimension_names"), meta, err);
}
