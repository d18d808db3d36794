/* virtual.h -- virtual datasets: which part of which dataset is where in them.
 *
 * Specification IV.A.2.i (layout class "virtual"), VII (serialized selections).
 */
#ifndef REFS_PARSERS_HDF5_VIRTUAL_H
#define REFS_PARSERS_HDF5_VIRTUAL_H

#include "hdf5/dataset.h"

/** Along one dimension: `count` blocks of `block` elements, from `start` on, `stride` apart.
 * REFS_HDF5_UNDEFINED: as many, or as long, as there is room for. */
typedef struct refs_hdf5_span {
    uint64_t start, stride, count, block;
} refs_hdf5_span;

typedef struct refs_hdf5_selection {
    bool is_all; /**< the whole dataset; the rest is not set */
    size_t rank;
    refs_hdf5_span spans[REFS_SCAN_MAX_RANK];
} refs_hdf5_selection;

/** One part; names are borrowed. */
typedef struct refs_hdf5_mapping {
    refs_str file, dataset; /**< with "%b" where they count */
    refs_hdf5_selection source, here;
} refs_hdf5_mapping;

/** Calls `visit` for each part of a virtual dataset, with a mapping that it may change. */
refs_status refs_hdf5__each_mapping(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                    refs_status (*visit)(void *user, refs_hdf5_mapping *mapping,
                                                         refs_error *err),
                                    void *user, refs_error *err);

/** The dimension without an end, or the rank. */
size_t refs_hdf5__unlimited_dim(const refs_hdf5_selection *selection);

/** Sets what has no end to what fits into `shape`, and "all" to all of it. */
void refs_hdf5__limit_selection(refs_hdf5_selection *selection, size_t rank, const uint64_t *shape);

/** Elements along a dimension; place number `i` of them; and how many of them follow each other
 * from there on. */
uint64_t refs_hdf5__span_size(const refs_hdf5_span *span);
uint64_t refs_hdf5__span_at(const refs_hdf5_span *span, uint64_t i);
uint64_t refs_hdf5__span_run(const refs_hdf5_span *span, uint64_t i);

/** Which dimension of the source each one here is, or REFS_SCAN_MAX_RANK where it has one place
 * only that the source does not have. False where no such order of dimensions is there. */
bool refs_hdf5__pair_dimensions(const refs_hdf5_mapping *mapping, size_t *pairs);

#endif
