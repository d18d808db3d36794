/* host.h -- HTTP and object stores for all programs: credentials, and the URL of each name.
 *
 * A host provides what the HTTP engine needs from one (http.h). Locations are those that
 * refs_url_map makes: "/vsicurl/http…", "/vsis3/bucket/key", "/vsigs/bucket/key",
 * "/vsiaz/container/key". Requests to S3, and to Google's stores with HMAC keys, are signed with
 * Signature Version 4 in the query of their URL; keys come from the same variables and files that
 * other programs use. Requests to a bucket without keys are not signed.
 *
 * Each request looks up its settings in the list that the host was opened with, then in the
 * environment, or asks the application; docs/stores.md lists them all.
 *
 * A host may be used from any number of threads.
 *
 * Sources: "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)" and
 * "ListObjectsV2" of the Amazon S3 API reference; "Configuration and credential file settings" of
 * the AWS SDKs.
 *
 * Read before this: http.h.
 */
#ifndef REFS_HOST_H
#define REFS_HOST_H

#include "refs/bytes.h"
#include "refs/http.h"

struct refs_s3nc_host;

#ifdef __cplusplus
extern "C" {
#endif

struct refs_list_request;
struct refs_list_visitor;

/** An object whose URL an application makes. */
typedef struct refs_signing {
    const char *location;
    const char *region; /**< of its bucket, as its server has said; NULL: not known */
    bool is_signed;     /**< the URL is to hold a signature */
} refs_signing;

/** The parts of an application, as GDAL has: settings, options of libcurl, and credentials that
 * only it can get. Called on the thread that makes the request. Members but `get_option` may be
 * NULL. */
typedef struct refs_application {
    void *self;

    /** The value of a setting for requests of `location` ("": for all), or NULL; in place of the
     * environment. It must only look something up. */
    const char *(*get_option)(void *self, const char *location, const char *name);

    /** The rules are those of refs_http_host; NULL: settings are set by this module. */
    refs_status (*prepare)(void *self, const refs_http_object *object, void *easy, void **headers,
                           refs_error *err);

    /** Appends the URL of an object of a store. REFS_UNSUPPORTED without a message: only the
     * application's own file system reads it. */
    refs_status (*sign)(void *self, const refs_signing *signing, refs_buf *url, refs_error *err);

    /** Whether that file system can read an object whose signed URLs are refused. */
    bool (*can_read)(void *self, const char *location);

    /** The server that the first part of a location of S3 stands for; NULL: none. To `*file` the
     * file that says so, or that was read in vain. Both live as long as the host. In place of the
     * files that settings name. */
    const struct refs_s3nc_host *(*find_alias)(void *self, refs_str name, const char **file);

    /** Lists objects of a location with credentials that only it has; in place of requests of this
     * module. The rules are those of refs_host_list. */
    refs_status (*list)(void *self, const struct refs_list_request *request,
                        const struct refs_list_visitor *visitor, refs_error *err);
} refs_application;

typedef struct refs_host_options {
    size_t struct_size;          /**< sizeof(refs_host_options) */
    const char *const *settings; /**< "NAME=value", override the environment; NULL-ended, or NULL */
    refs_notes notes;            /**< about settings files, on the thread that makes the request */
    refs_cancel_check cancel;    /**< of all that the host requests itself: uploads, tokens */
    const refs_application *application; /**< or NULL: settings are those of the environment */
} refs_host_options;

#define REFS_HOST_OPTIONS_INIT                                                                     \
    { sizeof(refs_host_options), NULL, {NULL, NULL}, {NULL, NULL}, NULL }

typedef struct refs_host refs_host;

/** A host; `options` may be NULL, what it points to is copied. Reads no file yet. */
refs_status refs_host_open(const refs_host_options *options, refs_host **host, refs_error *err);

/** Frees the host; no engine may use it any more. NULL is allowed. */
void refs_host_free(refs_host *host);

/** The arguments of refs_http_open; lives as long as the host. */
const refs_http_host *refs_host_functions(const refs_host *host);

/** Whether the settings allow what refs_location_confine refuses: the value of
 * refs_set_options.remote_to_local (REFS_REMOTE_TO_LOCAL, url.h). */
bool refs_host_allows_remote_to_local(const refs_host *host);

/** How many requests the settings allow at a time (REFS_HTTP_MAX_REQUESTS), and the host's own
 * refs_cancel_check. */
refs_http_options refs_host_http_options(const refs_host *host);

/* -- listing ----------------------------------------------------------------------------------- */

/** The largest answer to one listing request (a thousand names of at most 1024 bytes), the longest
 * name in it, and the most names of one listing. */
#define REFS_LIST_MAX_PAGE_BYTES (16 * REFS_MIB)
#define REFS_LIST_MAX_NAME_BYTES (16 * REFS_KIB)
#define REFS_LIST_MAX_NAMES      10000000u

typedef enum refs_list_depth {
    REFS_LIST_FOLDER, /**< what is directly under the name, folders included */
    REFS_LIST_TREE    /**< all objects whose names begin with it */
} refs_list_depth;

/** An object, or a folder. Views live as long as the call that they come with. */
typedef struct refs_listed {
    refs_str url;  /**< "s3://bucket/key", or a location where one is requested; that of a folder
                        ends with a slash */
    uint64_t size; /**< bytes; 0 for a folder */
    int64_t modified_s; /**< seconds since 1970; 0: not known */
    bool is_folder;     /**< a prefix of names */
} refs_listed;

/** Receives what is listed. */
typedef struct refs_list_visitor {
    refs_status (*visit)(void *user, const refs_listed *listed, refs_error *err);
    void *user;
} refs_list_visitor;

/** The objects to list. */
typedef struct refs_list_request {
    const char *url; /**< what names begin with: "s3://bucket/a/b", "s3://bucket/", gs://, or a
                          location */
    refs_list_depth depth;
} refs_list_request;

/** Whether `url` can be listed: "s3://…" and "gs://…", and locations of these. */
bool refs_host_can_list(refs_str url);

/** Shows the objects of a store whose URLs begin as the request says, as ListObjectsV2 gives them:
 * a thousand per request, in the order of the store (S3 sorts names by their bytes), and the
 * folders of each answer after its objects. `vfs` reads over HTTP with this host
 * (refs_http_vfs_functions). Stops at the first visit that fails and returns its failure. Finding
 * nothing is not a failure. REFS_INVALID: the URL cannot be listed. REFS_CORRUPT: the answer is not
 * a list. */
refs_status refs_host_list(refs_host *host, const refs_vfs *vfs, const refs_list_request *request,
                           const refs_list_visitor *visitor, refs_error *err);

/* -- writing ----------------------------------------------------------------------------------- */

/** The parts in which an object is sent: their size, at least 5 MiB as S3 requires, and how many at
 * a time, unless an alias says otherwise (maximum_part_size, maximum_parts). */
#define REFS_UPLOAD_PART_BYTES     50000000
#define REFS_UPLOAD_MIN_PART_BYTES (5 * REFS_MIB)
#define REFS_UPLOAD_PARTS          8

/** Sends the file `path` to "/vsis3/…" or "/vsigs/…": in parts if it is larger than one, unless its
 * alias forbids that (enable_multipart_upload). Transient failures are retried as the settings say
 * for reading; if the upload fails for good, the store is told to drop its parts. REFS_IO. */
refs_status refs_host_upload(refs_host *host, const char *path, const char *location,
                             refs_error *err);

/** The validator that distinguishes states of an object, with quotes as the store writes it: its
 * ETag; "" where there is no object, "*" where the store tells nothing. */
typedef struct refs_validator {
    char text[128];
} refs_validator;

/** Asks for that of "/vsis3/…" or "/vsigs/…". REFS_IO. */
refs_status refs_host_validator(refs_host *host, const char *location, refs_validator *validator,
                                refs_error *err);

/** REFS_UNSUPPORTED for one that does not distinguish states: "*", or weak (RFC 9110, section
 * 8.8.3.2). */
refs_status refs_host_check_validator(const refs_validator *validator, const char *location,
                                      refs_error *err);

/** The file to send, and the object that it replaces. */
typedef struct refs_replacement {
    const char *path;     /**< of a local file */
    const char *location; /**< of the object */
    refs_validator of;    /**< the state in which it is to be */
} refs_replacement;

/** Sends a file as refs_host_upload does, but only in place of an object that is as it was when its
 * validator was asked for: REFS_INVALID where another program has changed it, made it or removed it
 * since, REFS_UNSUPPORTED as refs_host_check_validator. The store itself sees to that (If-Match,
 * If-None-Match); where it knows no such conditions, its validator is asked for again right before.
 */
refs_status refs_host_replace(refs_host *host, const refs_replacement *replacement,
                              refs_error *err);

/** Removes an object; it is no failure if there is none. */
refs_status refs_host_remove(refs_host *host, const char *location, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
