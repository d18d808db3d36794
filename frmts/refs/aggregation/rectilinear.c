/* rectilinear.c -- arrays with chunks of several sizes, as mosaics of arrays with chunks of one
 * size; see aggregation_internal.h.
 *
 * Along each dimension, consecutive chunks of one size are one interval. A partition is an array
 * with a regular grid, whose keys count from where it begins. */
#include "aggregation_internal.h"

static refs_status add_runs(refs_aggregation *aggregation, size_t dim, refs_error *err) {
    const refs_chunk_edges *edges = &aggregation->container.edges[dim];
    refs_fragment_dim *parts = &aggregation->grid.dims[dim];
    for (size_t i = 0; i < edges->n_runs; i++)
        REFS_TRY(refs_fragment_dim_append(parts, edges->runs[i].size * edges->runs[i].count, err));
    if (edges->n_runs == 0) parts->n_parts = 1;
    parts->is_split = true;
    return REFS_OK;
}

static refs_status decode(refs_aggregation *aggregation, refs_error *err) {
    aggregation->meta.rank = aggregation->grid.rank = aggregation->container.rank;
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        aggregation->names[dim] = aggregation->container.dims[dim];
        REFS_TRY(add_runs(aggregation, dim, err));
    }
    REFS_TRY(refs_fragment_grid_prepare(&aggregation->grid, err));
    for (uint64_t i = 0; i < aggregation->grid.n; i++)
        aggregation->grid.sources[i].is_there = aggregation->grid.sources[i].is_own = true;
    aggregation->is_loaded = true;
    return REFS_OK;
}

const refs_encoding refs_encoding_rectilinear = {.decode = decode};

/* The index of the first chunk is allocated with the meta, after it. */
refs_array_meta *refs_aggregation__part_of_grid(const refs_aggregation *aggregation,
                                                uint64_t number) {
    uint64_t index[REFS_MAX_RANK];
    refs_array_meta *part = refs_calloc(1, sizeof *part + REFS_MAX_RANK * sizeof *index);
    if (part == NULL) return NULL;
    uint64_t *first_chunk = (uint64_t *)(part + 1);
    *part = aggregation->container;
    part->edges = NULL;
    part->first_chunk = first_chunk;
    refs_fragment_grid_index(&aggregation->grid, number, index);
    for (size_t dim = 0; dim < part->rank; dim++) {
        const refs_chunk_run *runs = aggregation->container.edges[dim].runs;
        part->shape[dim] = runs[index[dim]].size * runs[index[dim]].count;
        part->chunk[dim] = runs[index[dim]].encoded;
        for (uint64_t i = 0; i < index[dim]; i++) first_chunk[dim] += runs[i].count;
    }
    return part;
}
