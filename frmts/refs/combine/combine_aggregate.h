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

/** The kind of a part of fields. */
typedef enum refs_join_role {
    REFS_JOIN_IS_FRAGMENT,
    REFS_JOIN_IS_OUTLINE, /**< says what was written as fragments, and holds none (cfa.h) */
    REFS_JOIN_IS_MASTER   /**< is added to: fragments that it names are parts, too */
} refs_join_role;

/** A part of fields. Masters and outlines say how long dimensions are and where they are cut;
 * values that they have are taken where no fragment has them. */
typedef struct refs_join_fragment {
    refs_join_role role;
    const char *name;   /**< in the master; NULL: as references name it (refs_join_url) */
    const char *format; /**< as refs_partition has it, or NULL: "NETCDF4" */
} refs_join_fragment;

/** Works like refs_join_add, for a join of REFS_JOIN_OF_FIELDS. */
refs_status refs_join_add_fragment(refs_join *join, const refs_join_part *part,
                                   const refs_join_fragment *fragment, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
