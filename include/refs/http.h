/* http.h -- ranges over HTTP: one engine for the whole process.
 *
 * All requests of all fetchers go through one engine with one connection pool and a limit on
 * requests in flight. A reference has offset and length, so no HEAD request and no listing is
 * needed; instead, answers are verified (206, Content-Range, Content-Encoding, ETag).
 *
 * Bandwidth goes to readers that wait: while a reader waits for a transfer, prefetching over HTTP/1
 * is paused by not reading its sockets, and few prefetching requests are begun: as many as fill the
 * connection during the time to first byte. A paused transfer does not count as stalled, and takes
 * no request slot from waiting readers.
 *
 * An engine may be used from any number of threads. After fork(2) the child
 * starts over with connections of its own.
 *
 * The engine follows redirects itself: never to schemes other than http and https, never from https
 * to http, and without credentials, or cookies and headers from options, where they lead to another
 * origin (scheme, host and port).
 *
 * Sources: RFC 9110, sections 14 (range requests), 15 (status codes), 8.8 (validators) and 10.2.3
 * (Retry-After); RFC 6454 (origins).
 *
 * Read before this: bytes.h, vfs.h.   Read after this: fetch.h.
 */
#ifndef REFS_HTTP_H
#define REFS_HTTP_H

#include "refs/bytes.h"
#include "refs/cancel.h"
#include "refs/vfs.h"

struct refs_fetcher;

#ifdef __cplusplus
extern "C" {
#endif

/** How a request authenticates the client and the server, in addition to the options that the
 * provider sets on a handle. Strings, or NULL. */
typedef struct refs_http_auth {
    const char *bearer;           /**< token */
    const char *netrc_file;       /**< instead of ~/.netrc */
    const char *certificate;      /**< of the client, a file */
    const char *certificate_type; /**< PEM (NULL), DER or P12 */
    const char *key;              /**< of that certificate, a file */
    const char *key_password;
    const char *authorities;      /**< trusted CA certificates, a file */
    const char *authority_folder; /**< ... and a folder of them */
} refs_http_auth;

/** A provider's login. Its parts go only to its own hosts, and only over https, wherever redirects
 * lead. Strings are copied; all may be NULL. */
typedef struct refs_http_login {
    const char *hosts; /**< hosts that receive the token: names of hosts or domains, separated by
                          commas, with a port if it is not the default */
    const char *token;
    const char *login_host; /**< host that receives user and password if there is no token */
    const char *user, *password;
} refs_http_login;

/** The login of NASA's Earthdata. */
#define REFS_EARTHDATA_HOSTS "earthdata.nasa.gov,earthdatacloud.nasa.gov"
#define REFS_EARTHDATA_LOGIN "urs.earthdata.nasa.gov"

/** The settings of one request. The engine fills in its own; the provider may change them for a
 * location. */
typedef struct refs_http_rules {
    unsigned max_retries;    /**< consecutive retries after transient failures that transferred
                                almost no bytes */
    unsigned retry_delay_ms; /**< before the first retry; doubled for each that follows */
    unsigned stall_ms;       /**< timeout of connecting, and of a transfer that is slower than
                                REFS_HTTP_MIN_SPEED */
    const char *retry_codes; /**< HTTP status codes to retry instead of the transient ones: numbers
                                with any separators, or "ALL"; NULL: the transient ones */
    bool trust_redirects;    /**< send credentials wherever a redirect leads */
    bool allow_link_local;   /**< follow redirects to link-local addresses (url.h), and connect to
                                host names that resolve to one */
    bool is_signed;          /**< the URL holds a signature: see `signed_answer` */
    uint64_t credentials;    /**< a number for each identity that the provider uses: cookies are not
                                shared between identities */
    const char *cookie_file; /**< file of initial cookies, or NULL */
    const char *cookie_jar;  /**< file to which cookies that servers set are written, or NULL */
    refs_http_auth auth;
    refs_http_login login;
} refs_http_rules;

/** How a signed request was answered. */
typedef struct refs_http_signed_answer {
    long status;        /**< of HTTP: a success, or 301, 400 or 403 */
    const char *region; /**< the region that the store names; "" if it names none */
    unsigned n_refused; /**< how often this request was refused, this time included */
} refs_http_signed_answer;

/** The object of a request. */
typedef struct refs_http_object {
    const char *location, *url;
} refs_http_object;

/** Provides the URL of each location, its signature and its settings. Called on the thread that
 * fetches, so that thread-local options apply. */
typedef struct refs_http_provider {
    void *self;

    /** Appends the URL to GET for `location`, signed if necessary. REFS_UNSUPPORTED without a
     * message: `location` is not read over HTTP. */
    refs_status (*url)(void *self, const char *location, refs_buf *url, refs_error *err);

    /** Changes `rules`, initially the engine's own, for `location`; strings in it are copied. May
     * be NULL. If it fails, no request is sent. */
    refs_status (*rules)(void *self, const char *location, refs_http_rules *rules, refs_error *err);

    /** Sets options of `easy`, a CURL *, for a request of `object`, and appends headers to send to
     * `headers`, a struct curl_slist ** that the caller frees, also after a failure. If it fails,
     * no request is sent: an incomplete one could have another identity. */
    refs_status (*prepare)(void *self, const refs_http_object *object, void *easy, void **headers,
                           refs_error *err);

    /** The advice for users if a server answers `location` with HTTP status 401 or 403, or with 404
     * for a missing bucket; with status 0, if the server does not exist. NULL: no advice. The
     * member may be NULL. */
    const char *(*advice)(void *self, const char *location, long status);

    /** Called with the answer to a signed request of `location`. Returns whether to repeat a
     * refused one, with a new result of `url`, which may be REFS_UNSUPPORTED. NULL: a refused
     * signature is renewed once, since it may have expired. */
    bool (*signed_answer)(void *self, const char *location, const refs_http_signed_answer *answer);

    /** Whether `url` would wait for a service that grants access. A fetch calls `url` then only
     * when none of its requests is in flight, because others may wait for those. NULL: it would
     * not. */
    bool (*waits_for_url)(void *self, const char *location);
} refs_http_provider;

typedef struct refs_http_options {
    size_t struct_size;       /**< sizeof(refs_http_options) */
    unsigned max_in_flight;   /**< requests at a time, one of them never for prefetching */
    refs_http_rules rules;    /**< the default of refs_http_provider.rules */
    unsigned grow_to;         /**< requests at a time if latency dominates many of them; 0:
                                 `max_in_flight` */
    refs_cancel_check cancel; /**< checked by all requests, those of fetchers and refs_http_vfs
                                 included, also while they resolve names, connect, log in, wait for
                                 an answer or for the next retry */
} refs_http_options;

#define REFS_HTTP_LOGIN_INIT                                                                       \
    { NULL, NULL, NULL, NULL, NULL }

#define REFS_HTTP_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(refs_http_options), 16,                                                             \
            {4,                                                                                    \
             250,                                                                                  \
             30000,                                                                                \
             NULL,                                                                                 \
             false,                                                                                \
             false,                                                                                \
             false,                                                                                \
             0,                                                                                    \
             NULL,                                                                                 \
             NULL,                                                                                 \
             {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},                                     \
             REFS_HTTP_LOGIN_INIT},                                                                \
            0, {                                                                                   \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

/* -- budgets ----------------------------------------------------------------------------------- */

/** The longest Retry-After that is honoured; a longer one fails the request. */
#define REFS_HTTP_MAX_RETRY_AFTER_MS 60000

/** Most redirects of one request, and the longest URL of a redirect. */
#define REFS_HTTP_MAX_REDIRECTS 10
#define REFS_HTTP_MAX_URL_BYTES (16 * REFS_KIB)

/** A transfer with fewer bytes per second counts as stalled. */
#define REFS_HTTP_MIN_SPEED 100

/** Most bytes of all header lines of an attempt, interim (1xx) answers included. */
#define REFS_HTTP_MAX_HEADER_BYTES (256 * REFS_KIB)

/** Most bytes of an error answer's body that are read and discarded to keep the connection. */
#define REFS_HTTP_MAX_REFUSAL_BYTES (64 * REFS_KIB)

/** The largest object that is fetched whole, and kept, if its server ignores ranges. For larger
 * ones, the bytes before a range are received and discarded. */
#define REFS_HTTP_MAX_RANGELESS_BYTES (64 * REFS_MIB)

/** The most bytes that are discarded to reach a range on such a server. */
#define REFS_HTTP_MAX_SKIPPED_BYTES (4096 * (uint64_t)REFS_MIB)

typedef struct refs_http refs_http;

/** An engine; `provider` must outlive it, `options` may be NULL. Its thread starts at the first
 * request. */
refs_status refs_http_open(const refs_http_provider *provider, const refs_http_options *options,
                           refs_http **http, refs_error *err);

/** Ends the engine; no fetch may be under way. */
void refs_http_free(refs_http *http);

/* -- objects ----------------------------------------------------------------------------------- */

/** A refs_vfs that reads locations with a URL over HTTP, and all others with another vfs. One GET
 * returns the first 64 KiB of an object, often all of it; the rest is read by ranges when needed. A
 * location opened by `open_whole` is read with one GET. An object of which only the validators were
 * requested is kept until it is opened; the other vfs opens one that should be read whole but is
 * larger than `max_whole_bytes`. */
typedef struct refs_http_vfs refs_http_vfs;

/** The `max_whole_bytes` of this project's programs and libraries. */
#define REFS_HTTP_MAX_WHOLE_BYTES (512 * (uint64_t)REFS_MIB)

/** Both `http` and `other` must outlive it. */
refs_status refs_http_vfs_open(refs_http *http, const refs_vfs *other, uint64_t max_whole_bytes,
                               refs_http_vfs **vfs, refs_error *err);
void refs_http_vfs_free(refs_http_vfs *vfs);

/** Ends all current and later requests with REFS_CANCELLED, without waiting for the network. */
void refs_http_vfs_cancel(refs_http_vfs *vfs);

/** Makes a fetcher accept only the state in which the vfs last read a location: another state is
 * REFS_IO. Does nothing if the vfs has no validators of it. */
refs_status refs_http_vfs_pass_validators(refs_http_vfs *vfs, const char *location,
                                          struct refs_fetcher *fetcher, refs_error *err);

/** The functions of the vfs. For a location that was opened, `validators` returns those of the last
 * answer, without a request; for others it requests the first byte. */
const refs_vfs *refs_http_vfs_functions(const refs_http_vfs *vfs);

#ifdef __cplusplus
}
#endif
#endif
