/* session.h -- opens sets by name in programs and libraries without GDAL.
 *
 * A session owns the resources that all sets of a process share: connections, credentials, threads,
 * file descriptors. An opened set is one set with its fetcher, store, hierarchy, cache and, if it
 * has aggregations, the files of their fragments.
 *
 * Both may be used from any number of threads at once.
 *
 * Read before this: cloud.h, aggregation.h.
 */
#ifndef REFS_SESSION_H
#define REFS_SESSION_H

#include "refs/aggregation.h"
#include "refs/cloud.h"
#include "refs/combine.h"
#include "refs/fetch.h"
#include "refs/http.h"
#include "refs/refset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- sessions ---------------------------------------------------------------------------------- */

typedef struct refs_session refs_session;

/** Opens a session; `options`, which may be NULL, are for its refs_cloud. */
refs_status refs_session_open(const refs_cloud_options *options, refs_session **session,
                              refs_error *err);

/** Frees a session; everything that was opened with it must be closed. NULL is allowed. */
void refs_session_free(refs_session *session);

/** The vfs of a session: over HTTP and POSIX. */
const refs_vfs *refs_session_vfs(const refs_session *session);

/* -- sets -------------------------------------------------------------------------------------- */

typedef struct refs_opened refs_opened;

/** How a set is opened. Strings, and lists of them, must outlive the opened set. */
typedef struct refs_open_options {
    refs_set_options sets; /**< refs_opened_open sets remote_to_local, and set_index if the name
                              ends with "#set=N" */
    refs_missing missing;
    refs_ranges ranges;
    refs_changed changed;
    const char *const *along; /**< concat dimensions of files, NULL-ended; or NULL */
    const char *how_along;    /**< the option that names them: refs_combine_files.along, or NULL */
    const char *pattern;      /**< values of dimensions in names of files (combine.h), or NULL */
    size_t cache_bytes;       /**< decoded chunks that are kept */
    const char *moved;        /**< advice for moved files: refs_fetch_advice.moved */
    const char *unchanged;    /**< advice for changed files: refs_fetch_advice.changed */
    const char *advice;       /**< advice for missing fragments: refs_fragments_options.advice */

    /** Called while a set is opened, on the calling thread, every REFS_CANCEL_POLL_MS: false ends
     * the call with REFS_CANCELLED. NULL: never. */
    refs_cancel_check cancel;
} refs_open_options;

/** The largest cache of a set, in MiB. */
#define REFS_OPENED_MAX_CACHE_MIB (1024 * 1024)

/** The value of the environment variable REFS_CHANGED, if it is valid; else
 * REFS_CHANGED_DEFAULT. */
refs_changed refs_changed_default(void);

/** The default options; the cache size is that of REFS_CACHE_MAX. */
refs_open_options refs_open_options_init(void);

/** Opens a set or a data file by a user's name: a path or a URL, optionally followed by "#set=N",
 * the number in a list of sets; or the files of a pattern, a folder, a prefix of a store or a list,
 * as one set (refs_combine_open_name). The session must outlive it. */
refs_status refs_opened_open(refs_session *session, const char *name,
                             const refs_open_options *options, refs_opened **opened,
                             refs_error *err);

/** Frees an opened set; its arrays must be freed first. NULL is allowed. */
void refs_opened_free(refs_opened *opened);

const refs_hierarchy *refs_opened_hierarchy(const refs_opened *opened);

/** Requests and bytes of chunks since the set was opened. */
refs_fetch_stats refs_opened_stats(const refs_opened *opened);

/** Opens an array of the set's hierarchy, which may be an aggregation. */
refs_status refs_opened_array(const refs_opened *opened, const refs_array_meta *meta,
                              refs_array **array, refs_error *err);

/** Appends the location for a user's `name`, with a NUL after it. */
refs_status refs_session_locate(refs_str name, refs_buf *location, refs_error *err);

/* -- objects of stores -------------------------------------------------------------------------
 */

/** The functions that list objects. */
typedef struct refs_object_lister {
    refs_cloud *cloud;
    const refs_vfs *vfs; /**< over HTTP with `cloud` */
    refs_cancel_check cancel;
    struct refs_scan_shared *scans; /**< records the listed objects (scan.h), or NULL */
} refs_object_lister;

/** Appends the names of the objects that match `name`, each with a NUL: a pattern, or a prefix
 * ending with a slash, which has no wildcards. They are URLs if `name` is one, else locations.
 * REFS_NOT_FOUND: none. */
refs_status refs_objects_list(const refs_object_lister *by, const char *name, refs_buf *names,
                              refs_error *err);

/** A refs_names_host that uses `lister`, which must outlive it. */
refs_names_host refs_names_host_of(const refs_object_lister *lister, const refs_notes *notes);

/** Works like refs_location_confine, unless the settings allow all names; both names are as users
 * write them. The message contains both. */
refs_status refs_session_confine(const refs_object_lister *by, const char *document,
                                 const char *name, refs_error *err);

/* -- STAC -------------------------------------------------------------------------------------- */

/** Receives the assets of STAC documents. */
typedef struct refs_stac_visitor {
    refs_status (*asset)(void *user, const char *name, refs_error *err); /**< an asset that is
                                                                            data */
    /** Receives the reason why a linked document cannot be read; NULL: this is a failure. */
    refs_status (*skip)(void *user, const char *message, refs_error *err);
    void *user;
} refs_stac_visitor;

/** Whether a file is a STAC document, by its beginning. */
bool refs_stac_is_document(const refs_object_lister *by, const char *name);

/** Calls `visitor` for the assets of a document and of those that it links to, each document once,
 * up to named limits. */
refs_status refs_stac_each(const refs_object_lister *by, const char *name,
                           const refs_stac_visitor *visitor, refs_error *err);

/* -- references -------------------------------------------------------------------------------- */

/** The arguments of refs_references_open. */
typedef struct refs_references {
    refs_object_lister lister;    /**< also reads sets, and cancels */
    refs_http *http;              /**< the engine of the lister's vfs */
    struct refs_watch *watch;     /**< the watch of its local files */
    const refs_set_options *sets; /**< how sets are opened */
    refs_fetch_advice advice;
    refs_notes notes;
    const char *const *along; /**< as in refs_open_options, and so are the next two */
    const char *how_along;
    const char *pattern;
} refs_references;

/** Opens the set at a location, or the files that it stands for as one set
 * (refs_combine_open_name). Retries if a writer replaces files meanwhile. */
refs_status refs_references_open(const refs_references *from, const char *location, refs_set **set,
                                 refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
