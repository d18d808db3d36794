/* session.h -- what a library without GDAL opens by name: a set with all that reads it.
 *
 * A session holds what all sets of a process share: connections, keys, threads, file descriptors.
 * An opened set is one set with its fetcher, store, hierarchy, cache and, if it has aggregations,
 * the files of their fragments.
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

/** A session; its refs_cloud has these options, which may be NULL. */
refs_status refs_session_open(const refs_cloud_options *options, refs_session **session,
                              refs_error *err);

/** Frees a session; all that was opened with it must be closed. NULL is allowed. */
void refs_session_free(refs_session *session);

/** Reads a location over HTTP or from this machine. */
const refs_vfs *refs_session_vfs(const refs_session *session);

/* -- sets -------------------------------------------------------------------------------------- */

typedef struct refs_opened refs_opened;

/** How a set is opened. Strings, and lists of them, must outlive it. */
typedef struct refs_open_options {
    refs_set_options sets; /**< the call fills in remote_to_local; "#set=N" behind the name of a
                              list of sets stands for set_index */
    refs_missing missing;
    refs_ranges ranges;
    refs_changed changed;
    const char *const *along; /**< dimensions that files are joined along, NULL-ended; or NULL */
    const char *how_along;    /**< how people say along what: refs_combine_files.along, or NULL */
    const char *pattern;      /**< values of dimensions in names of files (combine.h), or NULL */
    size_t cache_bytes;       /**< decoded chunks that are kept */
    const char *moved;        /**< what people can try where files moved: refs_fetch_advice.moved */
    const char *unchanged;    /**< the same where they changed: refs_fetch_advice.changed */
    const char *advice; /**< the same where a fragment is missing: refs_fragments_options.advice */

    /** Asked while a set is opened, on the calling thread, every REFS_CANCEL_POLL_MS: false ends
     * it with REFS_CANCELLED. NULL: never. */
    refs_cancel_check cancel;
} refs_open_options;

/** The largest cache of a set, in MiB. */
#define REFS_OPENED_MAX_CACHE_MIB (1024 * 1024)

/** REFS_CHANGED of the environment, where that is one of its words; else REFS_CHANGED_ERROR. */
refs_changed refs_changed_default(void);

/** Options that ask for nothing; the cache is as REFS_CACHE_MAX says. */
refs_open_options refs_open_options_init(void);

/** Opens a set or a data file by the name that a user gives it: a path or a URL, behind which
 * "#set=N" says which of a list of sets; or the files that a pattern, a folder, a prefix of a store
 * or a list names, as one set (refs_combine_open_name). The session must outlive it. */
refs_status refs_opened_open(refs_session *session, const char *name,
                             const refs_open_options *options, refs_opened **opened,
                             refs_error *err);

/** Frees it; arrays of it must be freed first. NULL is allowed. */
void refs_opened_free(refs_opened *opened);

const refs_hierarchy *refs_opened_hierarchy(const refs_opened *opened);

/** Requests and bytes of chunks since it was opened. */
refs_fetch_stats refs_opened_stats(const refs_opened *opened);

/** Opens an array of its hierarchy, an aggregation or not. */
refs_status refs_opened_array(const refs_opened *opened, const refs_array_meta *meta,
                              refs_array **array, refs_error *err);

/** Appends the location that a session opens what a user calls `name` by, with a NUL behind it. */
refs_status refs_session_locate(refs_str name, refs_buf *location, refs_error *err);

/* -- objects of stores -------------------------------------------------------------------------
 */

/** The functions that list objects. */
typedef struct refs_object_lister {
    refs_cloud *cloud;
    const refs_vfs *vfs; /**< over HTTP with `cloud` */
    refs_cancel_check cancel;
    struct refs_scan_shared *scans; /**< takes note of what is listed (scan.h), or NULL */
} refs_object_lister;

/** Appends the names of the objects that `name` stands for, URLs or locations as that is, each with
 * a NUL: a pattern, or a prefix with a slash at its end, in which all signs are letters.
 * REFS_NOT_FOUND: none. */
refs_status refs_objects_list(const refs_object_lister *by, const char *name, refs_buf *names,
                              refs_error *err);

/** The environment in which a lister looks names up, which must outlive it. */
refs_names_host refs_names_host_of(const refs_object_lister *lister, const refs_notes *notes);

/** Works like refs_location_confine, for what `document` names, unless the application allows all;
 * both as users write them. The failure names both. */
refs_status refs_session_confine(const refs_object_lister *by, const char *document,
                                 const char *name, refs_error *err);

/* -- STAC -------------------------------------------------------------------------------------- */

/** Receives what documents name. */
typedef struct refs_stac_visitor {
    refs_status (*asset)(void *user, const char *name, refs_error *err); /**< that is data */
    /** Why something that a document names cannot be had; NULL: that is an error. */
    refs_status (*skip)(void *user, const char *message, refs_error *err);
    void *user;
} refs_stac_visitor;

/** Whether a name is that of a STAC document, which its beginning tells. */
bool refs_stac_is_document(const refs_object_lister *by, const char *name);

/** Shows the assets of a document and of those that it links to: each document once, and no more of
 * them than named limits allow. */
refs_status refs_stac_each(const refs_object_lister *by, const char *name,
                           const refs_stac_visitor *visitor, refs_error *err);

/* -- references -------------------------------------------------------------------------------- */

/** How references are opened for work. */
typedef struct refs_references {
    refs_object_lister lister;    /**< also: how they are read, and whether to go on */
    refs_http *http;              /**< of the lister's vfs */
    struct refs_watch *watch;     /**< of its files */
    const refs_set_options *sets; /**< how sets are opened */
    refs_fetch_advice advice;
    refs_notes notes;
    const char *const *along; /**< as in refs_open_options, and so are the next two */
    const char *how_along;
    const char *pattern;
} refs_references;

/** Opens the references at a location, or those of the files that it stands for as one
 * (refs_combine_open_name), again where a writer replaces them meanwhile. */
refs_status refs_references_open(const refs_references *from, const char *location, refs_set **set,
                                 refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
