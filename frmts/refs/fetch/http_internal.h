/* http_internal.h -- one request from submission to completion; see http.h. */
#ifndef REFS_HTTP_INTERNAL_H
#define REFS_HTTP_INTERNAL_H

#include <curl/curl.h>

#include "fetch_internal.h"
#include "refs/http.h"

/** What a response says before its body. */
typedef struct refs_response {
    bool has_range;
    uint64_t range_begin, range_end; /**< [begin, end), from Content-Range */
    bool has_total;
    uint64_t total; /**< bytes of the whole object */
    bool encoded;   /**< a Content-Encoding other than identity */
    uint64_t retry_after_ms;
    char etag[128];
} refs_response;

/** One request. Members of the first group are set by whoever asks, those of the second may be
 * read while it runs or when it is done, the rest belongs to the engine. */
typedef struct refs_transfer {
    const char *location;
    uint64_t offset;
    uint64_t length;   /**< or REFS_FETCH_WHOLE */
    uint64_t max_size; /**< of a whole location */
    refs_block *block; /**< where bytes go; made by the engine for a whole location */
    refs_waiter *waiter;

    _Atomic uint64_t got;   /**< bytes of the block that are there */
    bool done;              /**< under waiter->lock */
    bool ranges_ignored;    /**< when done: the server sends the whole object for any range */
    refs_error error;       /**< when done */
    refs_response response; /**< when done */
    unsigned n_requests;    /**< when done: sent, retries included */
    uint64_t n_bytes;       /**< when done: received, of all of them */

    _Atomic bool cancelled;
    const refs_http_options *options;
    CURL *easy;
    struct curl_slist *headers;
    char curl_text[CURL_ERROR_SIZE];
    bool checked;  /* the response of this attempt was looked at */
    bool refused;  /* ... and its body is not wanted: error says why */
    uint64_t told; /* got when the waiter was last woken */
    uint64_t due_ms;
    struct refs_transfer *next;
} refs_transfer;

/* -- http_transfer.c: one attempt
 * ------------------------------------------------------------------ */

/** Makes the handle of a transfer. */
refs_status refs_transfer__prepare(refs_transfer *transfer, const refs_http_host *host,
                                   const char *url, refs_error *err);

/** Sets the handle up for the bytes that are still missing. */
void refs_transfer__begin_attempt(refs_transfer *transfer);

/** Judges an attempt that ended with `code`: true where the transfer is done, for good or bad;
 * false where it is to be tried again after *delay_ms. */
bool refs_transfer__end_attempt(refs_transfer *transfer, CURLcode code, uint64_t *delay_ms);

/** Frees what the transfer holds, its block included. */
void refs_transfer__clear(refs_transfer *transfer);

/** Sets `done` and wakes the waiter. */
void refs_transfer__finish(refs_transfer *transfer);

/* -- http_engine.c
 * ----------------------------------------------------------------------------------- */

const refs_http_host *refs_http__host(const refs_http *http);
const refs_http_options *refs_http__options(const refs_http *http);

/** Hands a prepared transfer to the engine, which does not own it. */
refs_status refs_http__submit(refs_http *http, refs_transfer *transfer, refs_error *err);

/** Makes the engine finish transfers that are marked as cancelled soon. */
void refs_http__wake(refs_http *http);

#endif
