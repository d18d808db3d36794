/* join_aggregate.h -- parts as fragments of one aggregation.
 *
 * Read before this: join.h, cfa.h.
 */
#ifndef REFS_JOIN_AGGREGATE_H
#define REFS_JOIN_AGGREGATE_H

#include "refs/cfa.h"
#include "refs/join.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tells a master (cfa.h), which is open, of an aggregation whose fragments are the parts: files,
 * or sets. Coordinates, and what has few values, are put into it. REFS_UNSUPPORTED where parts are
 * not boxes of one grid. */
refs_status refs_join_aggregate(refs_join *join, refs_master *master, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
