/* arrays.h -- the arrays of a set or a file, as what refs_cfa_write writes. */
#ifndef REFS_CLI_ARRAYS_H
#define REFS_CLI_ARRAYS_H

#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/cfa/cfa.h"
#include "stored.h"
#include "tool.h"

/** Owned, and closed by tool_arrays_close. */
typedef struct tool_arrays {
    tool_set set;
    char *location;
    refs_cache *cache;
    refs_aggregations *aggregations;
    refs_fragments *fragments;
    refs_array_context context;
    const refs_array_meta **metas; /**< of the arrays of `source` */
    refs_array **arrays;           /**< NULL: not opened yet */
    tool_stored *stored;           /**< without `meta`: not listed yet */
    refs_cfa_source source;
    char **strings; /**< that it points to */
    size_t n_strings, texts_capacity;
    const char **dims;
    bool keeps_nothing;   /**< that was read: what is one of many parts */
    refs_missing missing; /**< what files of fragments that do not exist are */
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

/** Whether elements that no chunk has are those that the fill value of `source` stands for: they
 * are missing. Else they are values. */
bool tool_arrays_fills_gaps(const tool_arrays *arrays, size_t i);

/** Warns that keys of the set that belong to no array are left out, and names them. */
refs_status tool_arrays_tell_others(const tool_arrays *arrays, const char *name, refs_error *err);

/** The array at `path`, or SIZE_MAX; also where that is NULL: a dimension without a path. */
size_t tool_arrays_find(const tool_arrays *arrays, const char *path);

#endif
