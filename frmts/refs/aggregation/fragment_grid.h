/* fragment_grid.h -- the regions of an array: the one type between what produces arrays of several
 * sources and what reads or writes them (docs/decisions/0036-regions.md).
 *
 * An array is a refs_array_meta: dimensions, type, fill value, attributes. Without an aggregation
 * it is one region, its own chunk grid, and nothing here is made for it. Else intervals along each
 * dimension make a grid of boxes; the values of each box are those of a fragment, or missing. Each
 * encoding of aggregations is decoded to this, and encoded from it (encoding.h); combining makes it
 * of its sources, and splitting of an array.
 *
 * Read before this: aggregation.h.
 */
#ifndef REFS_AGGREGATION_FRAGMENT_GRID_H
#define REFS_AGGREGATION_FRAGMENT_GRID_H

#include "refs/aggregation.h"
#include "refs/intern.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most fragments of one array. */
#define REFS_MAX_PARTITIONS ((uint64_t)1 << 24)

/** Stands for an absent string. */
#define REFS_NO_TEXT REFS_INTERN_NONE

/** Elements [begin, end) of the array along one dimension: those of fragments with `index` along
 * it. */
typedef struct refs_fragment_interval {
    uint64_t begin, end;
    uint64_t index;
} refs_fragment_interval;

/** One dimension: intervals ascending and apart. Elements between them are in no fragment. */
typedef struct refs_fragment_dim {
    refs_fragment_interval *intervals;
    size_t n_intervals;
    size_t capacity;
    uint64_t *breaks; /**< elements, ascending, before which a list of elements of some fragment
                           goes on by another step */
    size_t n_breaks;
    size_t break_capacity;
    uint64_t n_parts; /**< of the grid, at least 1 */
    bool is_split;    /**< otherwise each fragment has all of the dimension */
} refs_fragment_dim;

/** The elements of a fragment along one of its dimensions: start, start + step …, or those of
 * `list`. */
typedef struct refs_fragment_part {
    int64_t start, step;
    uint64_t n;           /**< 0: all of the fragment */
    const uint64_t *list; /**< or NULL */
} refs_fragment_part;

/** Terms of CFA-0.4 for one fragment in addition to its name; NULL if there are none. */
typedef struct refs_fragment_layout {
    size_t rank;                   /**< of the fragment */
    uint64_t shape[REFS_MAX_RANK]; /**< 0: not recorded by the encoding */
    size_t dim[REFS_MAX_RANK]; /**< the array's dimension for each; SIZE_MAX: none, the size is 1 */
    bool is_reversed[REFS_MAX_RANK];
    refs_fragment_part part[REFS_MAX_RANK];
    int64_t varid;                /**< -1: not recorded */
    const char *units, *calendar; /**< of the fragment, or NULL */
} refs_fragment_layout;

/** The source of the values of one fragment. */
typedef struct refs_fragment_source {
    uint32_t first_file; /**< in `files`: n_alternatives of them */
    uint32_t variable;   /**< a string's number, or NO_TEXT */
    uint32_t format;     /**< likewise: "NETCDF4", if it is recorded */
    bool is_there;       /**< false: its values are missing */
    bool is_own;         /**< its variable is in the aggregation's own file */
    const refs_fragment_layout *layout;
} refs_fragment_source;

/** A zeroed grid is that of a scalar; it must be counted. */
typedef struct refs_fragment_grid {
    size_t rank;
    refs_fragment_dim dims[REFS_MAX_RANK];
    uint64_t n; /**< number of fragments, including missing ones */
    refs_intern strings;
    refs_fragment_source *sources; /**< by number of the fragment, in C order */
    uint32_t *files;               /**< strings */
    size_t n_alternatives;
    uint8_t *values;   /**< one element for each fragment; NULL: they have sources */
    size_t value_size; /**< of each in bytes; of strings, with the NUL behind the longest */
    struct refs_fragment_block *blocks; /**< memory of layouts */
} refs_fragment_grid;

void refs_fragment_grid_clear(refs_fragment_grid *grid);

/** Zeroed memory that lives as long as the grid, or NULL. */
void *refs_fragment_grid_take(refs_fragment_grid *grid, size_t n, size_t size);

/** Adds an interval to a dimension, as its last part, or anywhere as a break:
 * refs_fragment_dim_sort sorts them, and drops unknown ones. REFS_CORRUPT if the sizes overflow. */
refs_status refs_fragment_dim_append(refs_fragment_dim *dim, uint64_t size, refs_error *err);
refs_status refs_fragment_dim_break(refs_fragment_dim *dim, uint64_t element, refs_error *err);
void refs_fragment_dim_sort(refs_fragment_dim *dim);

/** Prepares for intervals that fragments state one by one: n_parts of them, all unknown. */
refs_status refs_fragment_dim_begin(refs_fragment_dim *dim, refs_error *err);

/** States an interval; false if a fragment with the same index stated another one. */
bool refs_fragment_dim_state(refs_fragment_dim *dim, refs_fragment_interval interval);

/** The interval of fragments with `index`, or NULL. */
const refs_fragment_interval *refs_fragment_dim_get(const refs_fragment_dim *dim, uint64_t index);

/** The interval that contains `element`, else the next one; n_intervals if there is none. */
size_t refs_fragment_dim_find(const refs_fragment_dim *dim, uint64_t element);

/** Computes `n` from the dimensions. REFS_LIMIT if it is too large. */
refs_status refs_fragment_grid_count(refs_fragment_grid *grid, refs_error *err);

/** Allocates sources for all fragments, with `n_alternatives` files each. */
refs_status refs_fragment_grid_allocate(refs_fragment_grid *grid, size_t n_alternatives,
                                        refs_error *err);

/** Numbers a string; REFS_NO_TEXT for an empty one. */
refs_status refs_fragment_grid_number(refs_fragment_grid *grid, refs_str text, uint32_t *id,
                                      refs_error *err);

/** Splits the number of a fragment into one for each dimension. */
void refs_fragment_grid_index(const refs_fragment_grid *grid, uint64_t number, uint64_t *index);

/** The elements along a dimension, up to the end of the last interval. */
uint64_t refs_fragment_dim_end(const refs_fragment_dim *dim);

/** Allocates the fragments of a grid whose dimensions are known: all are missing. */
refs_status refs_fragment_grid_prepare(refs_fragment_grid *grid, refs_error *err);

/** Prepares a zeroed grid with the intervals of another. */
refs_status refs_fragment_grid_divide_as(const refs_fragment_grid *other, refs_fragment_grid *grid,
                                         refs_error *err);

/** Sets file, variable and format of a fragment, which are copied: they may not be strings of the
 * grid.
 */
refs_status refs_fragment_grid_set(refs_fragment_grid *grid, uint64_t number,
                                   const refs_partition *fragment, refs_error *err);

/** Describes a fragment. Strings are borrowed from the grid until another is added to it. */
void refs_fragment_grid_get(const refs_fragment_grid *grid, uint64_t number,
                            refs_partition *fragment);

#ifdef __cplusplus
}
#endif
#endif
