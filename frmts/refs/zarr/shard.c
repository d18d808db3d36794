/* shard.c -- arrays whose chunks are parts of larger stored values, see zarr.h.
 *
 * Source: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/
 */
#include "zarr_internal.h"

/* More make an index that nobody wants to read for one chunk: such shards are decoded as a whole.
 */
#define MAX_INNER_CHUNKS (4 * (uint64_t)REFS_MIB)

/* False where the inner chunks do not fill a shard. */
static bool read_inner_shape(const refs_json *config, const refs_array_meta *meta,
                             refs_shard_meta *shard, uint64_t *inner) {
    const refs_json *given = refs_json_get(config, "chunk_shape");
    if (refs_json_size(given) != meta->rank) return false;
    shard->n_inner = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        if (!refs_json_u64(refs_json_at(given, dim), &inner[dim]) || inner[dim] == 0 ||
            meta->chunk[dim] % inner[dim] != 0)
            return false;
        shard->n[dim] = meta->chunk[dim] / inner[dim];
        if (!refs_mul_u64(shard->n_inner, shard->n[dim], &shard->n_inner)) return false;
    }
    return shard->n_inner <= MAX_INNER_CHUNKS;
}

/* The index is bytes of numbers, perhaps with a checksum: nothing that makes its size uncertain. */
static bool read_index_codecs(const refs_json *config, refs_shard_meta *shard) {
    const refs_json *codecs = refs_json_get(config, "index_codecs");
    for (size_t i = 0; i < refs_json_size(codecs); i++) {
        const refs_json *codec = refs_json_at(codecs, i);
        const refs_json *endian = refs_json_get(refs_zarr__config_v3(codec), "endian");
        if (refs_str_is(refs_zarr__name_v3(codec), "bytes"))
            shard->index_big_endian = refs_str_is(refs_json_text(endian), "big");
        else if (refs_str_is(refs_zarr__name_v3(codec), "crc32c") && !shard->index_has_crc32c)
            shard->index_has_crc32c = true;
        else
            return false;
    }
    refs_str place = refs_json_text(refs_json_get(config, "index_location"));
    shard->index_at_start = refs_str_is(place, "start");
    return true;
}

refs_status refs_zarr__read_shard(const refs_array_source *source, refs_array_meta *meta,
                                  const refs_json **codecs, refs_error *err) {
    const refs_json *only = refs_json_at(*codecs, 0), *config = refs_zarr__config_v3(only);
    const refs_json *inner_codecs = refs_json_get(config, "codecs");
    uint64_t inner[REFS_MAX_RANK];
    refs_shard_meta found = {.n_inner = 0};
    if (refs_json_size(*codecs) != 1 ||
        !refs_str_is(refs_zarr__name_v3(only), "sharding_indexed") || meta->dtype.size == 0 ||
        !refs_json_is_array(inner_codecs) || !read_inner_shape(config, meta, &found, inner) ||
        !read_index_codecs(config, &found))
        return REFS_OK;
    refs_shard_meta *shard = refs_zarr__arena_take(source->arena, 1, sizeof *shard);
    if (shard == NULL) return refs_fail_nomem(err);
    *shard = found;
    meta->shard = shard;
    for (size_t dim = 0; dim < meta->rank; dim++) meta->chunk[dim] = inner[dim];
    *codecs = inner_codecs;
    return REFS_OK;
}

uint64_t refs_shard_find(const refs_array_meta *array, const uint64_t *index, uint64_t *shard) {
    uint64_t number = 0;
    for (size_t dim = 0; dim < array->rank; dim++) {
        uint64_t n = array->shard->n[dim];
        shard[dim] = index[dim] / n;
        number = number * n + index[dim] % n;
    }
    return number;
}
