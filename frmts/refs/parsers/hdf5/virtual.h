/* virtual.h -- the mappings of virtual datasets.
 *
 * Specification IV.A.2.i (layout class "virtual"), VII (serialized selections).
 */
#ifndef REFS_PARSERS_HDF5_VIRTUAL_H
#define REFS_PARSERS_HDF5_VIRTUAL_H

#include "hdf5/dataset.h"

/** Along one dimension: `count` blocks of `block` elements, from `start` on, `stride` apart.
 * REFS_HDF5_UNDEFINED: as many, or as large, as the dimension allows. */
typedef struct refs_hdf5_span {
    uint64_t start, stride, count, block;
} refs_hdf5_span;

typedef struct refs_hdf5_selection {
    bool is_all; /**< the whole dataset; the rest is not set */
    size_t rank;
    refs_hdf5_span spans[REFS_SCAN_MAX_RANK];
} refs_hdf5_selection;

/** A mapping; names are borrowed. */
typedef struct refs_hdf5_mapping {
    refs_str file, dataset; /**< may contain "%b", the block number */
    refs_hdf5_selection source, here;
} refs_hdf5_mapping;

/** Calls `visit` for each mapping of a virtual dataset, which it may change. */
refs_status refs_hdf5__each_mapping(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                    refs_status (*visit)(void *user, refs_hdf5_mapping *mapping,
                                                         refs_error *err),
                                    void *user, refs_error *err);

/** The unlimited dimension of a selection, or the rank. */
size_t refs_hdf5__unlimited_dim(const refs_hdf5_selection *selection);

/** Limits an unlimited selection to `shape`, and replaces "all" by all of `shape`. */
void refs_hdf5__limit_selection(refs_hdf5_selection *selection, size_t rank, const uint64_t *shape);

/** The number of elements along a dimension; the index of element `i`; and the number of contiguous
 * elements from there on. */
uint64_t refs_hdf5__span_size(const refs_hdf5_span *span);
uint64_t refs_hdf5__span_at(const refs_hdf5_span *span, uint64_t i);
uint64_t refs_hdf5__span_run(const refs_hdf5_span *span, uint64_t i);

/** Finds the source dimension of each dimension, or REFS_SCAN_MAX_RANK for one of size 1 that the
 * source does not have. False if dimensions cannot be paired in order. */
bool refs_hdf5__pair_dimensions(const refs_hdf5_mapping *mapping, size_t *pairs);

#endif
