/* http.h -- ranges over HTTP: one engine for the whole process.
 *
 * All requests of all fetchers go through one engine with one pool of connections, a bounded number
 * of them in flight at a time. A reference gives offset and length, so no HEAD and no listing is
 * ever sent; instead, answers are verified (206, Content-Range, Content-Encoding, ETag).
 *
 * Bandwidth goes to readers that wait: while a reader waits for a transfer, transfers over HTTP/1
 * that only prefetch are not read, so that TCP stops them, and few are begun: as many as the
 * connection carries in the time before an answer begins. A paused transfer does not count as
 * stalled, and takes no request slot from readers that wait.
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

/** How a request authenticates the client and the server, in addition to what the provider
 * sets on a handle. Strings, or NULL. */
typedef struct refs_http_auth {
    const char *bearer;           /**< token */
    const char *netrc_file;       /**< instead of ~/.netrc */
    const char *certificate;      /**< of the client, a file */
    const char *certificate_type; /**< PEM (NULL), DER or P12 */
    const char *key;              /**< of that certificate, a file */
    const char *key_password;
    const char *authorities;      /**< trusted certificates, a file */
    const char *authority_folder; /**< ... and a folder of them */
} refs_http_auth;

/** A provider's login. Its parts go only to its own hosts, and only over https, wherever redirects
 * lead. Strings are copied; all may be NULL. */
typedef struct refs_http_login {
    const char *hosts; /**< that get the token: names of hosts or domains, separated by commas, with
                          a port if it is not the usual one */
    const char *token;
    const char *login_host; /**< that gets user and password if there is no token */
    const char *user, *password;
} refs_http_login;

/** The login of NASA's Earthdata. */
#define REFS_EARTHDATA_HOSTS "earthdata.nasa.gov,earthdatacloud.nasa.gov"
#define REFS_EARTHDATA_LOGIN "urs.earthdata.nasa.gov"

/** How one request is carried out. The engine fills in its own figures; the provider may change
 * them for a location. */
typedef struct refs_http_rules {
    unsigned max_retries;    /**< in a row, after transient failures that brought almost no bytes */
    unsigned retry_delay_ms; /**< before the first retry; doubled for each that follows */
    unsigned stall_ms; /**< the most time to connect; a transfer slower than REFS_HTTP_MIN_SPEED for
                          this long has failed */
    const char *retry_codes; /**< HTTP status codes to retry instead of the transient ones: numbers
                                with any separators, or "ALL"; NULL: the transient ones */
    bool trust_redirects;    /**< send credentials wherever a redirect leads */
    bool allow_link_local;   /**< follow redirects to link-local addresses (url.h), and
                                connect where the name of a host resolves to one */
    bool is_signed;          /**< the URL holds a signature: see `signed_answer` */
    uint64_t credentials; /**< a number for each identity that the provider uses: cookies of one are
                             not sent with others */
    const char *cookie_file; /**< with cookies to begin with, or NULL */
    const char *cookie_jar;  /**< where cookies that servers set are written, or NULL */
    refs_http_auth auth;
    refs_http_login login;
} refs_http_rules;

/** How a signed request was answered. */
typedef struct refs_http_signed_answer {
    long status;        /**< of HTTP: a success, or 301, 400 or 403 */
    const char *region; /**< that the store names; "" where it names none */
    unsigned n_refused; /**< how often this request was refused, this time included */
} refs_http_signed_answer;

/** The object of a request. */
typedef struct refs_http_object {
    const char *location, *url;
} refs_http_object;

/** Provides the URL of each location, its signature and its settings. Called on the thread that
 * fetches, so that options set for that thread alone apply. */
typedef struct refs_http_provider {
    void *self;

    /** Appends the URL to GET for `location`, signed if necessary. REFS_UNSUPPORTED without a
     * message: not to be read over HTTP. */
    refs_status (*url)(void *self, const char *location, refs_buf *url, refs_error *err);

    /** Changes `rules`, which hold the engine's own, for `location`; strings in it are copied. May
     * be NULL. Nothing is sent where it fails. */
    refs_status (*rules)(void *self, const char *location, refs_http_rules *rules, refs_error *err);

    /** Sets options of `easy`, a CURL *, for a request of `object`, and appends headers to send to
     * `headers`, a struct curl_slist ** that the caller frees, also after a failure. Nothing is
     * sent where it fails: a request without some of them would be one of somebody else. */
    refs_status (*prepare)(void *self, const refs_http_object *object, void *easy, void **headers,
                           refs_error *err);

    /** The advice for users when a server refuses `location` with HTTP status 401 or 403, or with
     * 404 for a bucket that it does not have; or, with status 0, when there is no such server.
     * NULL: no advice. The member may be NULL. */
    const char *(*advice)(void *self, const char *location, long status);

    /** Called with the answer to a signed request of `location`. Returns whether to repeat a
     * refused one, with what `url` then gives, which may be REFS_UNSUPPORTED. NULL: a refused
     * signature is renewed once, since it may have expired. */
    bool (*signed_answer)(void *self, const char *location, const refs_http_signed_answer *answer);
} refs_http_provider;

typedef struct refs_http_options {
    size_t struct_size;     /**< sizeof(refs_http_options) */
    unsigned max_in_flight; /**< requests at a time, one of them never for prefetching */
    refs_http_rules rules;  /**< unless the provider says otherwise */
    unsigned grow_to; /**< requests at a time where many of them spend their time on latency; 0: no
                         more than `max_in_flight` */
    refs_cancel_check cancel; /**< of all requests, those of all fetchers and refs_http_vfs
                                 included: also while they wait for a name, a connection, an answer,
                                 a login or their next attempt */
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

/** The longest Retry-After of a server that is obeyed; a request that asks for more has failed. */
#define REFS_HTTP_MAX_RETRY_AFTER_MS 60000

/** Redirects of one request, and the longest URL they may lead to. */
#define REFS_HTTP_MAX_REDIRECTS 10
#define REFS_HTTP_MAX_URL_BYTES (16 * REFS_KIB)

/** Bytes per second below which a transfer stalls. */
#define REFS_HTTP_MIN_SPEED 100

/** Bytes of all header lines of an attempt, those of interim answers included. */
#define REFS_HTTP_MAX_HEADER_BYTES (256 * REFS_KIB)

/** Bytes of the body of a refusal that are skipped to keep the connection. */
#define REFS_HTTP_MAX_REFUSAL_BYTES (64 * REFS_KIB)

/** The largest object that is fetched whole, and kept, if its server ignores ranges. In larger ones
 * everything before a range is skipped. */
#define REFS_HTTP_MAX_RANGELESS_BYTES (64 * REFS_MIB)

/** The most bytes that are skipped to reach a range of such a server. */
#define REFS_HTTP_MAX_SKIPPED_BYTES (4096 * (uint64_t)REFS_MIB)

typedef struct refs_http refs_http;

/** An engine; `provider` must outlive it, `options` may be NULL. Its thread starts at the first
 * request. */
refs_status refs_http_open(const refs_http_provider *provider, const refs_http_options *options,
                           refs_http **http, refs_error *err);

/** Ends the engine; no fetch may be under way. */
void refs_http_free(refs_http *http);

/* -- objects ----------------------------------------------------------------------------------- */

/** A refs_vfs that reads what has a URL over HTTP, and everything else with another vfs. One GET
 * brings the first 64 KiB of an object, which is all of a small one; the rest is read by ranges
 * when needed. A location opened by `open_whole` comes whole with one GET. An object
 * of which only the validators were requested is kept until it is opened; one that should come
 * whole but is larger than `max_whole_bytes` is left to the other vfs. */
typedef struct refs_http_vfs refs_http_vfs;

/** The `max_whole_bytes` of this project's programs and libraries. */
#define REFS_HTTP_MAX_WHOLE_BYTES (512 * (uint64_t)REFS_MIB)

/** Both `http` and `other` must outlive it. */
refs_status refs_http_vfs_open(refs_http *http, const refs_vfs *other, uint64_t max_whole_bytes,
                               refs_http_vfs **vfs, refs_error *err);
void refs_http_vfs_free(refs_http_vfs *vfs);

/** Ends all current and later requests with REFS_CANCELLED, and soon. */
void refs_http_vfs_cancel(refs_http_vfs *vfs);

/** Makes a fetcher accept only the state in which the vfs last read a location: another state is
 * REFS_IO. Does nothing if the vfs has no validators of it. */
refs_status refs_http_vfs_pass_validators(refs_http_vfs *vfs, const char *location,
                                          struct refs_fetcher *fetcher, refs_error *err);

/** Its functions. For a location that was opened, `validators` returns what the last answer said,
 * without a request; for others it asks for the first byte. */
const refs_vfs *refs_http_vfs_functions(const refs_http_vfs *vfs);

#ifdef __cplusplus
}
#endif
#endif
