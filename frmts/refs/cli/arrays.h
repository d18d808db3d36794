/* arrays.h -- the arrays of a set or a file, as what refs_cfa_write writes. */
#ifndef REFS_CLI_ARRAYS_H
#define REFS_CLI_ARRAYS_H

#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/cfa/cfa.h"
#include "refs/cfa/stored.h"
#include "tool.h"

/** Close with tool_arrays_close. */
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
    bool keeps_nothing;      /**< chunks are not cached, because each source is read once */
    refs_missing missing;    /**< how missing files of fragments are read */
    refs_cf_policy units;
    refs_changed changed; /**< how fragments are read that changed since the master was written */
} tool_arrays;

/** Opens arrays that will be written whole: a missing file of a fragment that the master
 * records is an error, unless REFS_MISSING in the environment says otherwise. */
refs_status tool_arrays_open(const tool_session *session, const char *name, tool_arrays *arrays,
                             refs_error *err);
/** Works like tool_arrays_open, but missing files of fragments, values in units that cannot be
 * converted, and files that changed since the master was written are errors. */
refs_status tool_arrays_open_whole(const tool_session *session, const char *name,
                                   tool_arrays *arrays, refs_error *err);
/** Works like tool_arrays_open for one of many sources: chunks are not cached. */
refs_status tool_arrays_open_part(const tool_session *session, const char *name,
                                  tool_arrays *arrays, refs_error *err);
void tool_arrays_close(tool_arrays *arrays);

/** Opens `arrays[i]`, which any number of threads may then read. */
refs_status tool_arrays_open_array(tool_arrays *arrays, size_t i, refs_error *err);

/** Warns that keys of the set that belong to no array are left out, and names them. */
refs_status tool_arrays_tell_others(const tool_arrays *arrays, const char *name, refs_error *err);

/** The number of the array at `path`; SIZE_MAX if there is none or `path` is NULL (a dimension
 * without a path). */
size_t tool_arrays_find(const tool_arrays *arrays, const char *path);

#endif
