/* dimensions.h -- the dimensions of a hierarchy, inferred from the dimension names of Zarr arrays.
 *
 * Arrays of a group and its subgroups share a dimension, as in netCDF-4, if they have the same name
 * and size for it. It belongs to the innermost group that has a coordinate variable for it, else to
 * the outermost group whose arrays have it.
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
    const char *group; /**< path of the group that it belongs to: "" is the root */
    const char *name;
    uint64_t size;
    bool is_shared; /**< false: of one array alone, because it has no name or another size */
    const refs_array_meta *variable; /**< its coordinate variable: the one with its name, else the
                                        only one of its group that has only this dimension; or
                                        NULL */
} refs_dimension;

typedef struct refs_dimensions refs_dimensions;

/** Finds the dimensions of all valid arrays; the hierarchy must outlive them. */
refs_status refs_dimensions_open(const refs_hierarchy *hierarchy, refs_dimensions **dimensions,
                                 refs_error *err);
void refs_dimensions_free(refs_dimensions *dimensions);

/** Shared dimensions, in the order of their first use. */
size_t refs_dimensions_n_shared(const refs_dimensions *dimensions);
const refs_dimension *refs_dimensions_shared(const refs_dimensions *dimensions, size_t i);

/** The dimensions of an array of the hierarchy, as many as its rank; NULL if its metadata is
 * invalid. */
const refs_dimension *refs_dimensions_of(const refs_dimensions *dimensions,
                                         const refs_array_meta *array);

/** The coordinate variable with the name of an array's dimension, searched from its group; or NULL.
 * One of another length belongs to a dimension that this one hides. */
const refs_array_meta *refs_dimension_named(const refs_hierarchy *hierarchy,
                                            const refs_array_meta *array, size_t dim);

/** Whether the elements of an array are characters of strings along its last dimension, which must
 * not have a coordinate variable. */
bool refs_dimensions_hold_characters(const refs_dimensions *dimensions,
                                     const refs_array_meta *array);

#ifdef __cplusplus
}
#endif
#endif
