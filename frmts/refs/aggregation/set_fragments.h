/* set_fragments.h -- aggregations whose fragments are arrays of the set itself, made by combining
 * heterogeneous sources (docs/decisions/0023-aggregations-in-sets.md).
 *
 * The fragments of "t2m" are "t2m_fragments/0/t2m" and so on. The container has the attributes of
 * CFA-0.4 and no elements: everything about fragments is metadata, which a Parquet set replaces at
 * once when it grows. Sets of earlier versions have the terms of CF-1.13.
 *
 * Read before this: fragment_grid.h. */
#ifndef REFS_AGGREGATION_SET_FRAGMENTS_H
#define REFS_AGGREGATION_SET_FRAGMENTS_H

#include "refs/aggregation.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_fragment_grid;

/** The group of an array's fragments has the array's name and this suffix. */
#define REFS_SET_FRAGMENTS_SUFFIX "_fragments"

/** Appends the name of a fragment relative to the group of the array `name`. */
refs_status refs_set_fragments_name(refs_str name, uint64_t number, refs_buf *text,
                                    refs_error *err);

/** The fragments of one array. */
typedef struct refs_aggregation refs_set_fragments;

/** Decodes the fragments of a container without changing its hierarchy. *fragments is NULL if they
 * are not arrays of the set under these names. */
refs_status refs_set_fragments_decode(refs_hierarchy *hierarchy, const refs_array_meta *container,
                                      refs_set_fragments **fragments, refs_error *err);
void refs_set_fragments_free(refs_set_fragments *fragments);

/** Describes a fragment by its number; false if there is none. */
bool refs_set_fragments_get(const refs_set_fragments *fragments, uint64_t number,
                            refs_partition *fragment);

/** Elements of the container along a dimension; 0 if it has fewer dimensions. */
uint64_t refs_set_fragments_length(const refs_set_fragments *fragments, size_t dim);

/** The array that the fragments form, by names without groups. */
typedef struct refs_set_container {
    const char *name;
    const char *const *dims;
    const uint64_t *shape;
} refs_set_container;

/** Appends the attributes of a container, separated by commas. */
refs_status refs_set_fragments_encode(const refs_set_container *container,
                                      const struct refs_fragment_grid *grid, refs_buf *attributes,
                                      refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
