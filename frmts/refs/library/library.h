/* library.h -- internal declarations of librefs; see refs.h. */
#ifndef REFS_LIBRARY_H
#define REFS_LIBRARY_H

#include <pthread.h>

#include "refs/array.h"
#include "refs/bytes.h"
#include "refs/fetch.h"
#include "refs/http.h"
#include "refs/refs.h"
#include "refs/session.h"
#include "refs/zarr.h"

/* -- sessions.c -------------------------------------------------------------------------------- */

/** Returns the process's session with these settings ("NAME=value", NULL-ended), to be released by
 * the caller. Datasets with the same settings share connections and credentials. */
refs_status refs_library_hold_session(const char *const *settings, refs_session **session,
                                      refs_error *err);

/** Releases a session. The last few unused sessions are kept, because programs open one dataset
 * again and again. NULL is allowed. */
void refs_library_release_session(refs_session *session);

/* -- options.c --------------------------------------------------------------------------------- */

/** The options that a dataset was opened with. */
typedef struct refs_library_options {
    char **texts; /**< copies, which the rest points into; NULL-ended */
    const char **rewrites, **templates, **along, **settings;
    refs_open_options open;
} refs_library_options;

/** Parses a list of "KEY=VALUE", or NULL. Clear `options` also after a failure. */
refs_status refs_library_read_options(const char *const *list, refs_library_options *options,
                                      refs_error *err);
void refs_library_clear_options(refs_library_options *options);

/* -- failure.c --------------------------------------------------------------------------------- */

/** Converts the message of a failure for users: names as they write them, without secrets. Returns
 * the status of the failure. */
refs_status refs_library_show(refs_status status, refs_error *err);

/** The same for a warning: a copy for the caller to free, or NULL. */
char *refs_library_shown(const char *text);

/* -- describe.c -------------------------------------------------------------------------------- */

/** Memory that lives as long as a dataset. */
typedef struct refs_keeper {
    void **items;
    size_t n, capacity;
} refs_keeper;

/** An array as users see it, and its reader. */
typedef struct refs_library_array {
    refs_array_info info;
    const refs_array_meta *meta;
    refs_array *array; /**< NULL before the first read */
    refs_reader *reader;
} refs_library_array;

/** The users' view of a hierarchy, which must outlive it. */
typedef struct refs_description {
    refs_keeper keeper;
    refs_group_info *groups;
    size_t n_groups;
    refs_library_array *arrays;
    size_t n_arrays;
} refs_description;

/** Describes a hierarchy. Clear `description` also after a failure. */
refs_status refs_describe(const refs_hierarchy *hierarchy, refs_description *description,
                          refs_error *err);
void refs_description_clear(refs_description *description);

/* -- read.c ------------------------------------------------------------------------------------ */

/** Makes a list of `n` NUL-ended strings, for the caller to free. */
refs_status refs_library_make_texts(const refs_buf *strings, size_t n, refs_texts **texts,
                                    refs_error *err);

/* -- dataset.c --------------------------------------------------------------------------------- */

struct refs_dataset {
    refs_library_options options;
    refs_session *session; /**< held */
    refs_opened *opened;
    refs_description description;
    pthread_mutex_t lock; /**< guards what follows, and the arrays that are open */
    char **warnings;
    size_t n_warnings, capacity;
};

/** A watcher that is called during all waits of its thread (refs_cancel_scope). */
typedef struct refs_library_watch {
    refs_watcher watcher;
    refs_cancel_scope scope;
} refs_library_watch;

/** Begins and ends a watch, on the same thread. `watcher` may be NULL. */
void refs_library_begin_watch(refs_library_watch *watch, const refs_watcher *watcher);
void refs_library_end_watch(const refs_library_watch *watch);

/** Finds an array of the dataset, and opens it for reading if necessary. */
refs_status refs_library_open_array(refs_dataset *dataset, const refs_array_info *info,
                                    refs_library_array **array, refs_error *err);

#endif
