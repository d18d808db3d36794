/* http.h -- ranges over HTTP: one engine for the whole process.
 *
 * All requests of all fetchers go through one engine with one pool of
 * connections, a bounded number of them in flight at a time. A reference says
 * offset and length, so that no HEAD and no listing is ever sent: what comes
 * back is verified instead (206, Content-Range, Content-Encoding, ETag).
 *
 * An engine may be used from any number of threads. After fork(2) the child
 * starts over with connections of its own.
 *
 * Sources: RFC 9110, sections 14 (range requests) and 15 (status codes), 10.2.3 (Retry-After).
 *
 * Read before this: bytes.h.   Read after this: fetch.h.
 */
#ifndef REFS_HTTP_H
#define REFS_HTTP_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the engine asks of its host. Called on the thread that fetches, so that options which hold
 * for that thread alone are heeded. */
typedef struct refs_http_host {
    void *self;

    /** Appends the URL to GET for `location`, signed where that is needed. REFS_UNSUPPORTED
     * without a message: not by HTTP, read it otherwise. */
    refs_status (*url)(void *self, const char *location, refs_buf *url, refs_error *err);

    /** Sets options of `easy`, a CURL *, for a request of `url`, and gives the headers to send, a
     * struct curl_slist *, or NULL. */
    void *(*prepare)(void *self, const char *location, const char *url, void *easy);
} refs_http_host;

typedef struct refs_http_options {
    size_t struct_size;      /**< sizeof(refs_http_options) */
    unsigned max_in_flight;  /**< requests at a time */
    unsigned max_retries;    /**< of one request, after transient failures */
    unsigned retry_delay_ms; /**< before the first retry; doubled for each that follows */
    unsigned stall_ms;       /**< a transfer that moves no byte for so long has failed */
} refs_http_options;

#define REFS_HTTP_OPTIONS_INIT                                                                     \
    { sizeof(refs_http_options), 16, 4, 250, 30000 }

/** The longest that a server's Retry-After is obeyed. */
#define REFS_HTTP_MAX_RETRY_AFTER_MS 60000

typedef struct refs_http refs_http;

/** An engine; `host` must outlive it, `options` may be NULL. Its thread starts at the first
 * request. */
refs_status refs_http_open(const refs_http_host *host, const refs_http_options *options,
                           refs_http **http, refs_error *err);

/** Ends the engine; no fetch may be under way. NULL is allowed. */
void refs_http_free(refs_http *http);

/** Version of the libcurl that the engine runs on, with its TLS library: to be compared with the
 * host's, whose options are set on the engine's handles. */
const char *refs_http_curl_version(void);

#ifdef __cplusplus
}
#endif
#endif
