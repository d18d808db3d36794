/* arrays.h -- the arrays of a set or a file, as what refs_cfa_write writes. */
#ifndef REFS_CLI_ARRAYS_H
#define REFS_CLI_ARRAYS_H

#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/cfa/cfa.h"
#include "refs/cfa/stored.h"
#include "tool.h"

/** Owned, and closed by tool_arrays_close. */
typedef struct tool_arrays {
    tool_set set;
    char *location;
    refs_cache *cache;
    refs_aggregations *aggregations;
    refs_fragments *fragments;
    refs_array_context context;
    refs_cfa_description described;
    refs_array **arrays;     /**< of these; NULL: not opened yet */
    refs_cfa_stored *stored; /**< likewise; without `meta`: not listed yet */
    bool keeps_nothing;      /**< that was read: what is one of many parts */
    refs_missing missing;    /**< what files of fragments that do not exist are */
    refs_cf_policy units;
    refs_changed changed; /**< what becomes of fragments that are not as the master recorded them */
} tool_arrays;

refs_status tool_arrays_open(const tool_session *session, const char *name, tool_arrays *arrays,
                             refs_error *err);
/** The same, but what a file of a fragment would have that does not exist is an error, and so are
 * values in units that cannot be converted, and of files that are not as the master recorded them.
 */
refs_status tool_arrays_open_whole(const tool_session *session, const char *name,
                                   tool_arrays *arrays, refs_error *err);
/** The same as tool_arrays_open for one of many sources: what is read is not kept. */
refs_status tool_arrays_open_part(const tool_session *session, const char *name,
                                  tool_arrays *arrays, refs_error *err);
void tool_arrays_close(tool_arrays *arrays);

/** Has `arrays[i]` open, which any number of threads may read then. */
refs_status tool_arrays_open_array(tool_arrays *arrays, size_t i, refs_error *err);

/** Warns that keys of the set that belong to no array are left out, and names them. */
refs_status tool_arrays_tell_others(const tool_arrays *arrays, const char *name, refs_error *err);

/** The array at `path`, or SIZE_MAX; also where that is NULL: a dimension without a path. */
size_t tool_arrays_find(const tool_arrays *arrays, const char *path);

#endif
