/* dimensions.h -- which dimensions a hierarchy has: arrays of Zarr only name theirs.
 *
 * Arrays of one group, and of groups inside it, that name a dimension alike and are equally long
 * along it share it, as in netCDF-4. It is at home in the innermost group that has a coordinate
 * variable of it, else in the outermost whose arrays have it.
 *
 * Immutable once opened, and safe from any thread.
 *
 * Read before this: zarr.h.
 */
#ifndef REFS_DIMENSIONS_H
#define REFS_DIMENSIONS_H

#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A dimension. Strings live as long as the dimensions and their hierarchy. */
typedef struct refs_dimension {
    const char *group; /**< path of the group that it is at home in: "" is the root */
    const char *name;
    uint64_t size;
    bool is_shared; /**< false: of one array alone, for want of a name or of its size */
    const refs_array_meta *variable; /**< that holds the coordinates along it: the one that is
                                          called like it, else the only one of its group that has
                                          this dimension and no other; or NULL */
} refs_dimension;

typedef struct refs_dimensions refs_dimensions;

/** Those of all arrays that can be understood; the hierarchy must outlive them. */
refs_status refs_dimensions_open(const refs_hierarchy *hierarchy, refs_dimensions **dimensions,
                                 refs_error *err);
void refs_dimensions_free(refs_dimensions *dimensions);

/** Shared dimensions, in the order of their first use. */
size_t refs_dimensions_n_shared(const refs_dimensions *dimensions);
const refs_dimension *refs_dimensions_shared(const refs_dimensions *dimensions, size_t i);

/** The dimensions of an array of the hierarchy, as many as its rank; NULL where it cannot be
 * understood. */
const refs_dimension *refs_dimensions_of(const refs_dimensions *dimensions,
                                         const refs_array_meta *array);

/** The variable that a dimension of an array names, seen from its group; or NULL. A coordinate of
 * another length is of a dimension that this one hides. */
const refs_array_meta *refs_dimension_named(const refs_hierarchy *hierarchy,
                                            const refs_array_meta *array, size_t dim);

/** Whether elements of an array of the hierarchy are the characters of strings that run along its
 * last dimension: one that no variable is called like. */
bool refs_dimensions_hold_characters(const refs_dimensions *dimensions,
                                     const refs_array_meta *array);

#ifdef __cplusplus
}
#endif
#endif
