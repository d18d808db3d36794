/* rectilinear.c -- chunk grids with different chunk sizes; see zarr_internal.h.
 *
 * Source: zarr-extensions, chunk grid "rectilinear", and the proposed member encoded_chunk_shapes,
 * for chunks of which only a part is in the array.
 */
#include "zarr_internal.h"

/* Most runs of all dimensions together. */
#define MAX_RUNS ((size_t)1 << 20)

/* Reads element `i` of a list of lengths: a length, or a length and a repeat count. */
static bool read_run(const refs_json *list, size_t i, uint64_t *size, uint64_t *count) {
    const refs_json *json = refs_json_at(list, i);
    *count = 1;
    if (!refs_json_is_array(json)) return refs_json_u64(json, size) && *size > 0;
    return refs_json_size(json) == 2 && refs_json_u64(refs_json_at(json, 0), size) &&
           refs_json_u64(refs_json_at(json, 1), count) && *size > 0;
}

/* An iterator over the lengths along one dimension, by runs or parts of runs. */
typedef struct lengths {
    const refs_json *list; /* or a number: all are equal */
    size_t at;
    uint64_t size, left;
} lengths;

static bool next_length(lengths *from) {
    uint64_t size;
    if (from->left > 0) return true;
    if (refs_json_u64(from->list, &size)) {
        from->size = size;
        from->left = UINT64_MAX;
        return size > 0;
    }
    while (from->left == 0) {
        if (from->at == refs_json_size(from->list)) return false;
        if (!read_run(from->list, from->at++, &from->size, &from->left)) return false;
    }
    return true;
}

/* The runs along a dimension that are being made. */
typedef struct edges {
    refs_chunk_run *runs;
    size_t n_runs, capacity;
    uint64_t left;   /* elements */
    uint64_t widest; /* the largest stored chunk */
} edges;

static refs_status add_run(edges *made, refs_chunk_run run, refs_error *err) {
    if (made->n_runs == MAX_RUNS)
        return refs_fail(err, REFS_LIMIT, "chunk_shapes has more runs than the limit of %zu",
                         MAX_RUNS);
    REFS_GROW(made->runs, made->capacity, made->n_runs, err);
    made->runs[made->n_runs++] = run;
    if (run.encoded > made->widest) made->widest = run.encoded;
    return REFS_OK;
}

/* Chunks whose stored size is larger than their size in the array are separate runs; so is a last
 * chunk that extends beyond the array, which Zarr stores whole. */
static refs_status take_run(edges *made, lengths *shapes, lengths *encoded, refs_error *err) {
    refs_chunk_run run = {shapes->size, encoded->size, shapes->left};
    if (encoded->left < run.count) run.count = encoded->left;
    if (run.encoded < run.size)
        return refs_fail(err, REFS_INVALID,
                         "encoded_chunk_shapes has %llu elements for a chunk of %llu",
                         (unsigned long long)run.encoded, (unsigned long long)run.size);
    uint64_t whole = made->left / run.size;
    if (run.encoded != run.size) whole = whole > 0 ? 1 : 0;
    if (run.count > whole) run.count = whole;
    if (whole == 0) run = (refs_chunk_run){made->left, run.encoded, 1};
    if (shapes->left != UINT64_MAX) shapes->left -= run.count;
    if (encoded->left != UINT64_MAX) encoded->left -= run.count;
    made->left -= run.size * run.count;
    return add_run(made, run, err);
}

static refs_status read_edges(const refs_json *shapes, const refs_json *encoded, edges *made,
                              refs_error *err) {
    lengths of_array = {.list = shapes}, stored = {.list = encoded != NULL ? encoded : shapes};
    while (made->left > 0) {
        if (!next_length(&of_array) || !next_length(&stored))
            return refs_fail(err, REFS_INVALID,
                             "chunk_shapes does not cover the last %llu elements",
                             (unsigned long long)made->left);
        REFS_TRY(take_run(made, &of_array, &stored, err));
    }
    return REFS_OK;
}

static refs_status read_dim(const refs_array_source *source, size_t dim, refs_array_meta *meta,
                            refs_chunk_edges *made, refs_error *err) {
    const refs_json *config = refs_zarr__config_v3(refs_json_get(source->document, "chunk_grid"));
    const refs_json *shapes = refs_json_at(refs_json_get(config, "chunk_shapes"), dim);
    const refs_json *encoded = refs_json_get(config, "encoded_chunk_shapes");
    edges list = {.left = meta->shape[dim], .widest = 1};
    refs_status status =
        read_edges(shapes, encoded != NULL ? refs_json_at(encoded, dim) : NULL, &list, err);
    refs_chunk_run *runs = refs_zarr__arena_take(source->arena, list.n_runs, sizeof *runs);
    if (status == REFS_OK && runs == NULL) status = refs_fail_nomem(err);
    if (status == REFS_OK && list.n_runs > 0) memcpy(runs, list.runs, list.n_runs * sizeof *runs);
    refs_free(list.runs);
    *made = (refs_chunk_edges){runs, list.n_runs};
    meta->chunk[dim] = list.widest;
    return status;
}

refs_status refs_zarr__read_rectilinear(const refs_array_source *source, refs_array_meta *meta,
                                        refs_error *err) {
    const refs_json *shape = refs_json_get(source->document, "shape");
    const refs_json *config = refs_zarr__config_v3(refs_json_get(source->document, "chunk_grid"));
    refs_str kind = refs_json_text(refs_json_get(config, "kind"));
    size_t rank = refs_json_size(shape);
    if (kind.size > 0 && !refs_str_is(kind, "inline"))
        return refs_fail(err, REFS_UNSUPPORTED, "unknown kind of a rectilinear grid: %.*s",
                         REFS_STR_ARG(kind));
    if (!refs_json_is_array(shape) || rank > REFS_MAX_RANK ||
        refs_json_size(refs_json_get(config, "chunk_shapes")) != rank)
        return refs_fail(err, REFS_INVALID, "chunk_shapes does not match shape");
    refs_chunk_edges *made = refs_zarr__arena_take(source->arena, rank, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    meta->rank = rank;
    for (size_t dim = 0; dim < rank; dim++) {
        if (!refs_json_u64(refs_json_at(shape, dim), &meta->shape[dim]))
            return refs_fail(err, REFS_INVALID, "shape[%zu]: expected a size", dim);
        REFS_TRY(read_dim(source, dim, meta, &made[dim], err));
    }
    meta->edges = made;
    return REFS_OK;
}
