/* combine_aggregate.h -- parts as fragments of one aggregation.
 *
 * Read before this: join.h, cfa.h.
 */
#ifndef REFS_COMBINE_COMBINE_AGGREGATE_H
#define REFS_COMBINE_COMBINE_AGGREGATE_H

#include "refs/cfa/cfa.h"
#include "refs/join.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tells a master (cfa.h), which is open, of an aggregation whose fragments are the parts: files,
 * or sets. Coordinates, and what has few values, are put into it. REFS_UNSUPPORTED where parts are
 * not boxes of one grid. */
refs_status refs_join_aggregate(refs_join *join, refs_master *master, refs_error *err);

/** Compares the attributes of a variable of `rank` dimensions in two sources: appends what tells
 * that they do not lie in one place ("grid_mapping_name "a" and "b""), or nothing. */
refs_status refs_join_compare_places(const refs_json *const attributes[2], size_t rank,
                                     refs_buf *difference, refs_error *err);

/** A part of which no more is known than where it is. Along each of `options.dims` it has `n`
 * values, in the units of all; NULL: no coordinate. */
typedef struct refs_join_box {
    const char *name;
    size_t number; /**< its place among all */
    struct refs_join_box_side {
        const double *values;
        uint64_t n;
        refs_str units;
    } sides[8]; /**< of the dimensions, of which there are no more */
} refs_join_box;

/** Adds a box to a join to which nothing else is added, on one thread. */
refs_status refs_join_add_box(refs_join *join, const refs_join_box *box, refs_error *err);

/** Whether boxes are fragments of one aggregation: what refs_join_aggregate says of their
 * coordinates, in its words. */
refs_status refs_join_check_boxes(refs_join *join, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
