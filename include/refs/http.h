/* http.h -- ranges over HTTP: one engine for the whole process.
 *
 * All requests of all fetchers go through one engine with one pool of
 * connections, a bounded number of them in flight at a time. A reference says
 * offset and length, so that no HEAD and no listing is ever sent: what comes
 * back is verified instead (206, Content-Range, Content-Encoding, ETag).
 *
 * The line is of those who wait: while bytes of a transfer are awaited, those that are only
 * prefetched are not read, over HTTP/1, so that TCP stops them, and few are begun: as many as the
 * line carries in the time that readers wait for the beginning of an answer. A transfer that stands
 * still does not stall, and is not one of the requests at a time for who waits.
 *
 * An engine may be used from any number of threads. After fork(2) the child
 * starts over with connections of its own.
 *
 * Redirects are followed by the engine itself: not to other schemes than http and https, not from
 * https to http, and without credentials, cookies of options and headers of options where they
 * lead to another origin (scheme, host and port).
 *
 * Sources: RFC 9110, sections 14 (range requests), 15 (status codes), 8.8 (validators) and 10.2.3
 * (Retry-After); RFC 6454 (origins).
 *
 * Read before this: bytes.h, vfs.h.   Read after this: fetch.h.
 */
#ifndef REFS_HTTP_H
#define REFS_HTTP_H

#include "refs/bytes.h"
#include "refs/vfs.h"

struct refs_fetcher;

#ifdef __cplusplus
extern "C" {
#endif

/** How a request proves who asks, and who answers, beside what its host sets on a handle. Strings,
 * or NULL. */
typedef struct refs_http_proofs {
    const char *bearer;           /**< token */
    const char *netrc_file;       /**< in the place of ~/.netrc */
    const char *certificate;      /**< of who asks, a file */
    const char *certificate_type; /**< PEM (NULL), DER or P12 */
    const char *key;              /**< of that certificate, a file */
    const char *key_password;
    const char *authorities;      /**< certificates that are believed, a file */
    const char *authority_folder; /**< ... and a folder of them */
} refs_http_proofs;

/** A provider's login, whose parts go to its own hosts alone, and by https alone, wherever
 * redirects lead. Strings are copied; all may be NULL. */
typedef struct refs_http_login {
    const char *hosts; /**< that get the token: names of hosts or domains, with a port where that is
                            not the usual one, commas between */
    const char *token;
    const char *login_host; /**< that gets user and password where there is no token */
    const char *user, *password;
} refs_http_login;

/** Of NASA's Earthdata. */
#define REFS_EARTHDATA_HOSTS "earthdata.nasa.gov,earthdatacloud.nasa.gov"
#define REFS_EARTHDATA_LOGIN "urs.earthdata.nasa.gov"

/** How one request is carried out. The engine fills in its own figures; its host may change them
 * for a location. */
typedef struct refs_http_rules {
    unsigned max_retries;    /**< in a row, after transient failures that brought next to nothing */
    unsigned retry_delay_ms; /**< before the first retry; doubled for each that follows */
    unsigned stall_ms; /**< a connection takes so long at most, and a transfer that brings less
                            than REFS_HTTP_MIN_SPEED for so long has failed */
    const char *retry_codes; /**< HTTP status codes to retry instead of the transient ones: numbers
                                  with anything between them, or "ALL"; NULL: the transient ones */
    bool trust_redirects;    /**< send credentials wherever a redirect leads */
    bool is_signed;          /**< the URL holds a signature: see `signed_answer` */
    uint64_t credentials;    /**< another number for each way in which the host says who asks:
                                  cookies of one are not sent with others */
    const char *cookie_file; /**< with cookies to begin with, or NULL */
    const char *cookie_jar;  /**< where those are written that servers set, or NULL */
    refs_http_proofs proofs;
    refs_http_login login;
} refs_http_rules;

/** How a signed request was answered. */
typedef struct refs_http_signed_answer {
    long status;        /**< of HTTP: of success, or 301, 400 or 403 */
    const char *region; /**< that the store names; "" where it names none */
    unsigned n_refused; /**< how often this request was refused, this time included */
} refs_http_signed_answer;

/** What the engine asks of its host. Called on the thread that fetches, so that options which hold
 * for that thread alone are heeded. */
typedef struct refs_http_host {
    void *self;

    /** Appends the URL to GET for `location`, signed where that is needed. REFS_UNSUPPORTED
     * without a message: not by HTTP, read it otherwise. */
    refs_status (*url)(void *self, const char *location, refs_buf *url, refs_error *err);

    /** Changes `rules`, as the engine has them, for `location`; strings in it are copied. The
     * member may be NULL. */
    void (*rules)(void *self, const char *location, refs_http_rules *rules);

    /** Sets options of `easy`, a CURL *, for a request of `url`, and gives the headers to send, a
     * struct curl_slist *, or NULL. */
    void *(*prepare)(void *self, const char *location, const char *url, void *easy);

    /** What to try where a server refuses `location` with a status of HTTP: 401, 403, or 404 where
     * it has no such bucket; for people; NULL without advice. The member may be NULL. */
    const char *(*advice)(void *self, const char *location, long status);

    /** Told how a signed request of `location` was answered. Whether one that was refused is to be
     * asked for again, by what `url` says then, which may be REFS_UNSUPPORTED. NULL: a signature
     * that was refused is made anew, once, since it may have expired. */
    bool (*signed_answer)(void *self, const char *location, const refs_http_signed_answer *answer);
} refs_http_host;

typedef struct refs_http_options {
    size_t struct_size;     /**< sizeof(refs_http_options) */
    unsigned max_in_flight; /**< requests at a time, one of them not for what is prefetched */
    refs_http_rules rules;  /**< unless the host says otherwise */
    unsigned grow_to; /**< requests at a time where it is latency that takes the time of many of
                           them; 0: no more than `max_in_flight` */
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
             0,                                                                                    \
             NULL,                                                                                 \
             NULL,                                                                                 \
             {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},                                     \
             REFS_HTTP_LOGIN_INIT},                                                                \
            0                                                                                      \
    }

/* -- budgets ----------------------------------------------------------------------------------- */

/** The longest that a server's Retry-After is obeyed; one that asks for more has failed. */
#define REFS_HTTP_MAX_RETRY_AFTER_MS 60000

/** Redirects of one request, and the longest URL they may lead to. */
#define REFS_HTTP_MAX_REDIRECTS 10
#define REFS_HTTP_MAX_URL_BYTES (16 * REFS_KIB)

/** Bytes per second below which a transfer stalls. */
#define REFS_HTTP_MIN_SPEED 100

/** Bytes of all header lines of an attempt, those of interim answers included. */
#define REFS_HTTP_MAX_HEADER_BYTES (256 * REFS_KIB)

/** Bytes of the body of a refusal that are read over to keep the connection. */
#define REFS_HTTP_MAX_REFUSAL_BYTES (64 * REFS_KIB)

/** The largest object that is fetched whole, and kept, where its server ignores ranges. Of larger
 * ones everything before a range is read over. */
#define REFS_HTTP_MAX_RANGELESS_BYTES (64 * REFS_MIB)

/** Bytes that are read over at most to get at a range of such a server. */
#define REFS_HTTP_MAX_SKIPPED_BYTES (4096 * (uint64_t)REFS_MIB)

typedef struct refs_http refs_http;

/** An engine; `host` must outlive it, `options` may be NULL. Its thread starts at the first
 * request. */
refs_status refs_http_open(const refs_http_host *host, const refs_http_options *options,
                           refs_http **http, refs_error *err);

/** Ends the engine; no fetch may be under way. NULL is allowed. */
void refs_http_free(refs_http *http);

/* -- objects ----------------------------------------------------------------------------------- */

/** A refs_vfs that reads what has a URL over HTTP, and everything else by another. Of an object the
 * first 64 KiB come with one GET, which is all of a small one, and the others as they are read, by
 * ranges; what is opened by `open_whole` comes whole with one GET. Nothing follows from its name.
 * An object that was only looked at is kept until it is opened again; one that is to come whole and
 * is larger than `max_whole_bytes` is left to the other. */
typedef struct refs_http_vfs refs_http_vfs;

/** Both `http` and `other` must outlive it. */
refs_status refs_http_vfs_open(refs_http *http, const refs_vfs *other, uint64_t max_whole_bytes,
                               refs_http_vfs **vfs, refs_error *err);
void refs_http_vfs_free(refs_http_vfs *vfs);

/** Ends requests that are under way, and all to come, with REFS_CANCELLED, and soon. */
void refs_http_vfs_cancel(refs_http_vfs *vfs);

/** Has a fetcher, whose location number `location_id` is `location`, take the state in which the
 * vfs read that last for the only one: bytes of another are REFS_IO. Does nothing where that is not
 * known. */
refs_status refs_http_vfs_introduce(refs_http_vfs *vfs, const char *location,
                                    struct refs_fetcher *fetcher, uint32_t location_id,
                                    refs_error *err);

/** Its functions. `validators` says without a request what the last answer said of a location that
 * was opened, else asks for its first byte. */
const refs_vfs *refs_http_vfs_functions(const refs_http_vfs *vfs);

#ifdef __cplusplus
}
#endif
#endif
