/* cloud.h -- HTTP and object stores for all programs: credentials, and the URL of each name.
 *
 * A refs_cloud is the refs_http_provider of the HTTP engine (http.h): it provides URLs, signatures
 * and settings. Locations are those that refs_url_map makes: "/vsicurl/http…", "/vsis3/bucket/key",
 * "/vsigs/bucket/key",
 * "/vsiaz/container/key". Requests to S3, and to Google's stores with HMAC keys, are signed with
 * Signature Version 4 in the query of their URL; keys come from the same variables and files that
 * other programs use. Requests to a bucket without keys are not signed.
 *
 * Each request looks up its settings in the list that the refs_cloud was opened with, then in the
 * environment, or asks the application; docs/stores.md lists them all.
 *
 * A refs_cloud may be used from any number of threads.
 *
 * Sources: "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)" and
 * "ListObjectsV2" of the Amazon S3 API reference; "Configuration and credential file settings" of
 * the AWS SDKs.
 *
 * Read before this: http.h.
 */
#ifndef REFS_CLOUD_H
#define REFS_CLOUD_H

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
    const char *region; /**< of its bucket, as its server reported it; NULL: not known */
    bool is_signed;     /**< the URL is to hold a signature */
} refs_signing;

/** The functions that an application such as GDAL provides: settings, options of libcurl, and
 * credentials that only it can get. Called on the thread that makes the request. Members other than
 * `get_option` may be NULL. */
typedef struct refs_application {
    void *self;

    /** The value of a setting for requests of `location` ("": for all), or NULL; in place of the
     * environment. It must only look something up. */
    const char *(*get_option)(void *self, const char *location, const char *name);

    /** The rules are those of refs_http_provider; NULL: settings are set by this module. */
    refs_status (*prepare)(void *self, const refs_http_object *object, void *easy, void **headers,
                           refs_error *err);

    /** Appends the URL of an object of a store. REFS_UNSUPPORTED without a message: only the
     * application's own file system reads it. */
    refs_status (*sign)(void *self, const refs_signing *signing, refs_buf *url, refs_error *err);

    /** Whether that file system can read an object whose signed URLs are refused. */
    bool (*can_read)(void *self, const char *location);

    /** The server for which the first part of a location of S3 is an alias; NULL: none. *file is
     * the file that was read for it. Both live as long as the refs_cloud. If set, the files that
     * settings name are not read. */
    const struct refs_s3nc_host *(*find_alias)(void *self, refs_str name, const char **file);

    /** Lists objects of a location with credentials that only the application has, instead of this
     * module. The rules are those of refs_cloud_list. */
    refs_status (*list)(void *self, const struct refs_list_request *request,
                        const struct refs_list_visitor *visitor, refs_error *err);
} refs_application;

typedef struct refs_cloud_options {
    size_t struct_size;          /**< sizeof(refs_cloud_options) */
    const char *const *settings; /**< "NAME=value", override the environment; NULL-ended, or NULL */
    refs_notes notes;            /**< about settings files, on the thread that makes the request */
    refs_cancel_check cancel;    /**< of requests other than reads: uploads, tokens */
    const refs_application *application; /**< or NULL: settings are those of the environment */
} refs_cloud_options;

#define REFS_CLOUD_OPTIONS_INIT                                                                    \
    { sizeof(refs_cloud_options), NULL, {NULL, NULL}, {NULL, NULL}, NULL }

typedef struct refs_cloud refs_cloud;

/** Opens a refs_cloud; `options` may be NULL, and are copied with all that they point to. Reads no
 * file yet. */
refs_status refs_cloud_open(const refs_cloud_options *options, refs_cloud **cloud, refs_error *err);

/** No engine may use it any more. */
void refs_cloud_free(refs_cloud *cloud);

/** The arguments of refs_http_open; lives as long as the refs_cloud. */
const refs_http_provider *refs_cloud_functions(const refs_cloud *cloud);

/** Whether the settings allow what refs_location_confine refuses: the value of
 * refs_set_options.remote_to_local (REFS_REMOTE_TO_LOCAL, url.h). */
bool refs_cloud_allows_remote_to_local(const refs_cloud *cloud);

/** How many requests the settings allow at a time (REFS_HTTP_MAX_REQUESTS), and its
 * refs_cancel_check. */
refs_http_options refs_cloud_http_options(const refs_cloud *cloud);

/* -- listing ----------------------------------------------------------------------------------- */

/** The largest answer to one listing request (a thousand names of at most 1024 bytes), the longest
 * name in it, and the most names of one listing. */
#define REFS_LIST_MAX_PAGE_BYTES (16 * REFS_MIB)
#define REFS_LIST_MAX_NAME_BYTES (16 * REFS_KIB)
#define REFS_LIST_MAX_NAMES      10000000u

typedef enum refs_list_depth {
    REFS_LIST_FOLDER, /**< objects and folders directly under the name */
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
    const char *url; /**< the prefix of the names: "s3://bucket/a/b", "s3://bucket/", gs://, or a
                        location */
    refs_list_depth depth;
} refs_list_request;

/** Whether `url` can be listed: "s3://…" and "gs://…", and locations of these. */
bool refs_cloud_can_list(refs_str url);

/** Calls `visitor` for the objects of a store whose URLs begin with the request's, as ListObjectsV2
 * returns them: a thousand per request, in the order of the store (S3 sorts names by their bytes),
 * the folders of each answer after its objects. `vfs` reads over HTTP with this refs_cloud
 * (refs_http_vfs_functions). Stops at the first visit that fails and returns its failure. Finding
 * nothing is not a failure. REFS_INVALID: the URL cannot be listed. REFS_CORRUPT: the answer is not
 * a list. */
refs_status refs_cloud_list(refs_cloud *cloud, const refs_vfs *vfs,
                            const refs_list_request *request, const refs_list_visitor *visitor,
                            refs_error *err);

/* -- writing ----------------------------------------------------------------------------------- */

/** The parts in which an object is sent: their size, at least 5 MiB as S3 requires, and how many at
 * a time, unless an alias says otherwise (maximum_part_size, maximum_parts). */
#define REFS_UPLOAD_PART_BYTES     50000000
#define REFS_UPLOAD_MIN_PART_BYTES (5 * REFS_MIB)
#define REFS_UPLOAD_PARTS          8

/** Uploads the file `path` to "/vsis3/…" or "/vsigs/…": in parts if it is larger than one part,
 * unless its alias forbids that (enable_multipart_upload). Transient failures are retried, with the
 * settings for reads; if the upload fails, the multipart upload is aborted. REFS_IO. */
refs_status refs_cloud_upload(refs_cloud *cloud, const char *path, const char *location,
                              refs_error *err);

/** The validator of an object: its ETag, with quotes as the store sends it; "" if there is no
 * object, "*" if the store sends no ETag. */
typedef struct refs_validator {
    char text[128];
} refs_validator;

/** Requests the validator of "/vsis3/…" or "/vsigs/…". REFS_IO. */
refs_status refs_cloud_validator(refs_cloud *cloud, const char *location, refs_validator *validator,
                                 refs_error *err);

/** REFS_UNSUPPORTED for a validator that does not distinguish states: "*", or a weak one (RFC 9110,
 * section 8.8.3.2). */
refs_status refs_cloud_check_validator(const refs_validator *validator, const char *location,
                                       refs_error *err);

/** The file to send, and the object that it replaces. */
typedef struct refs_replacement {
    const char *path;     /**< of a local file */
    const char *location; /**< of the object */
    refs_validator of;    /**< its expected state */
} refs_replacement;

/** Uploads a file as refs_cloud_upload does, but only if the object still has the expected
 * validator: REFS_INVALID if another program has changed, created or removed it since;
 * REFS_UNSUPPORTED as refs_cloud_check_validator. The store enforces this (If-Match,
 * If-None-Match); if it does not support conditional writes, its validator is requested again right
 * before.
 */
refs_status refs_cloud_replace(refs_cloud *cloud, const refs_replacement *replacement,
                               refs_error *err);

/** Removes an object; it is no failure if there is none. */
refs_status refs_cloud_remove(refs_cloud *cloud, const char *location, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
