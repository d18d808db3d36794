/* internal.h -- one request from submission to completion; see http.h. */
#ifndef REFS_STORAGE_HTTP_INTERNAL_H
#define REFS_STORAGE_HTTP_INTERNAL_H

#include <curl/curl.h>

#include "fetch_internal.h"
#include "http/cookies.h"
#include "http/handle.h"
#include "http/login.h"
#include "http/origins.h"
#include "http/response.h"
#include "refs/http.h"

/** Memory that is reserved for a whole object before its size is known, and allocated before its
 * bytes arrive, whatever size the server claims. */
#define REFS_FIRST_WHOLE_BYTES (4 * (uint64_t)REFS_MIB)

/** Bytes of the body of a refusal that are kept, to find an object store's error code. */
#define REFS_REFUSAL_TEXT_BYTES 2048

/** The error code of a store if the bucket, not the object, does not exist. */
#define REFS_NO_BUCKET "NoSuchBucket"

/** Signatures stay fresh for so long; after that, a request is signed again before it is sent. */
#define REFS_HTTP_FRESH_MS 1000

typedef enum refs_transfer_kind {
    REFS_TRANSFER_RANGE, /**< bytes [offset, offset + length) */
    REFS_TRANSFER_WHOLE, /**< all bytes, at most max_size */
    REFS_TRANSFER_STAMP  /**< no bytes: only validators */
} refs_transfer_kind;

/** One request. Members of the first group are set by the caller, those of the second may be read
 * while it runs or when it is done, the rest belongs to the engine. */
typedef struct refs_transfer {
    const char *location;
    refs_transfer_kind kind;
    uint64_t offset, length;
    uint64_t url_ms; /**< when its URL was signed; 0: not signed */
    uint64_t max_size;
    uint64_t reserved;       /**< whole: bytes reserved for it, until its block owns them */
    const refs_queue *queue; /**< of a prefetch or read, for priority; NULL: a caller waits */
    const char *moved;       /**< advice for files that moved, or NULL */
    const size_t *members;   /**< n_members of the queue's ranges */
    size_t n_members;
    bool compressible;    /**< whole: accept a compressed answer */
    bool is_beginning;    /**< range at 0: it may end with the object, which sets `length`; if the
                             server ignores ranges, it becomes a whole location */
    refs_block *block;    /**< destination; made by the engine for a whole location */
    uint64_t block_begin; /**< range: position of its first byte in the block, which other ranges
                             share */
    refs_waiter *waiter;

    _Atomic uint64_t got;           /**< bytes received */
    refs_vfs_validators validators; /**< when got is above 0, and when done */
    bool done;                      /**< under waiter->lock */
    bool ranges_ignored; /**< when done: the server sends the whole object for any range */
    refs_http_gate gate; /* of this attempt */
    bool refused;        /**< when done: the answer does not match the request, as `error` says */
    bool is_stale;       /**< when done: not sent, since its signature was no longer fresh */
    uint64_t postponed;  /**< when done: to be requested again when so much memory is free */
    uint64_t needs;   /**< whole: bytes for which its body is paused, until the caller has reserved
                         them; under waiter->lock, as is `reserved` meanwhile */
    refs_error error; /**< when done */
    long status;      /**< when done: of HTTP, 0 without an answer */
    char region[32];  /**< when done: the region that an object store names; "": none */
    unsigned n_requests; /**< when done: sent, retries and redirects included */
    uint64_t n_bytes;    /**< when done: received, of all of them */

    _Atomic bool cancelled;
    refs_http *http;
    const refs_http_provider *provider;
    refs_http_rules rules;
    char *retry_codes;        /* copy of rules.retry_codes */
    refs_login_copy login;    /* copy of rules.login */
    uint64_t netrc;           /* refs_login__netrc_state */
    char *url, *url_now;      /* first URL, and the current one after redirects */
    refs_origin key, key_now; /* origins of the two URLs */
    CURL *easy, *cross_easy; /* handles for the origin of `url`, and, without credentials, for other
                                origins */
    CURL *current;           /* one of them */
    struct curl_slist *headers, *cross_headers;
    char curl_text[CURL_ERROR_SIZE];
    refs_response response;
    bool identified;        /* identity is known */
    bool is_held_back;      /* its body is paused until memory is free */
    bool is_beside;         /* meanwhile it does not count as a request of its origin */
    bool checked;           /* the response of this attempt was checked */
    uint64_t skip, skipped; /* bytes before the range to skip, and skipped so far, if the server
                               sent the whole object */
    uint64_t refusal_bytes; /* of the body of a refusal */
    char *refusal_text;     /* its beginning, at most REFS_REFUSAL_TEXT_BYTES, or NULL */
    uint64_t header_bytes;  /* of this attempt */
    uint64_t got_before;    /* got before this attempt; whole: if not 0, the rest is requested */
    bool is_rest_refused;   /* whole: the server did not send the rest */
    uint64_t reported;      /* got when the waiter was last woken */
    unsigned n_failures;    /* in a row */
    unsigned n_redirects;
    bool is_host_down;          /* other requests found the host down */
    bool is_connection_refused; /* connection refused by a host that has never answered */
    bool is_led_astray;         /* redirected to a link-local address, which was rejected */
    bool others_came;           /* the origin answered other requests since this one last failed */
    unsigned n_refusals;        /* refusals while the origin answered others, in all */
    bool was_refused;           /* the last attempt was refused with Retry-After */
    refs_origin_state *origin;  /* origin of url_now; held while the engine has the transfer */
    refs_origin_state *first_origin; /* origin of url, likewise */
    refs_cookies *cookies;
    refs_cookies *first_cookies, *tls_cookies; /* for `url`, and for redirects to https; held */
    bool set_cookie;                           /* a server set a cookie */
    bool is_off_origin;                        /* redirects led to another origin */
    bool awaits_login; /* it waits for the login of another transfer of the same first origin */
    unsigned n_logins; /* logins of its first origin when it was sent there */
    uint64_t began_us, failed_us; /* begin of this attempt, and end of the one before */
    unsigned n_beside;            /* requests of the origin when this attempt began */
    uint64_t due_ms;
    bool is_awaited;       /* a reader waited for it at the last check */
    bool is_paused;        /* paused, since a reader waits for another transfer */
    uint64_t paused_at_ms; /* since when */
    uint64_t paused_ms;    /* total before, in this attempt */
    struct refs_transfer *next;
} refs_transfer;

/* -- http/body.c: what is accepted ------------------------------------------------------------- */

/** Checks a response before its first byte is stored. */
refs_status refs_transfer__check_response(refs_transfer *transfer, refs_error *err);

/** Receives bytes of the body (CURLOPT_WRITEFUNCTION). */
size_t refs_transfer__on_body(char *data, size_t item_size, size_t n, void *user);

/** Whether all requested bytes are there, even if the connection failed afterwards. */
bool refs_transfer__is_complete(const refs_transfer *transfer);

/** Whether an answer can be paused without blocking others. With HTTP/1, the connection's buffers
 * fill, and TCP stops the sender. With HTTP/2 other answers may share the connection, and libcurl
 * may not reach their bytes. */
bool refs_transfer__can_be_paused(const refs_transfer *transfer);

/** Whether a paused body still waits for memory. */
bool refs_transfer__lacks_memory(refs_transfer *transfer);

/** Whether the rest of a whole object may be requested separately: validators then show whether
 * both parts are of one state. */
bool refs_transfer__can_resume(const refs_transfer *transfer);

/** The HTTP status of the current attempt, 0 without an answer. */
long refs_transfer__status(const refs_transfer *transfer);

/* -- http/transfer.c: attempts ----------------------------------------------------------------- */

/** Makes the handle of a transfer. */
refs_status refs_transfer__prepare(refs_transfer *transfer, refs_http *http, const char *url,
                                   refs_error *err);

/** Sets the handle up for the bytes that are still missing. */
void refs_transfer__begin_attempt(refs_transfer *transfer);

/** Handles the end of an attempt with `code`: true if the transfer is done, successful or not;
 * false if it is to be repeated after *delay_ms. */
bool refs_transfer__end_attempt(refs_transfer *transfer, CURLcode code, uint64_t *delay_ms);

/** The login that the current attempt carries, as refs_login__key. */
uint64_t refs_transfer__login_key(const refs_transfer *transfer);

/** Whether that login is a token. */
bool refs_transfer__has_token(const refs_transfer *transfer);

/** Fails the transfer with the answer that refused its login before. */
void refs_transfer__refuse_login(refs_transfer *transfer);

/** Makes the transfer start over at its first URL. */
void refs_transfer__start_over(refs_transfer *transfer);

/** Whether `code` means that no server was reached. */
bool refs_transfer__is_unreachable(const refs_transfer *transfer, CURLcode code);

/** Whether the connection was refused, or the host does not exist. */
bool refs_transfer__has_no_server(const refs_transfer *transfer, CURLcode code);

/** Whether a signed request was refused in a way that a new signature may fix. */
bool refs_transfer__is_signature_refused(const refs_transfer *transfer);

/** Reports to the provider how a signed request was answered: whether to send it
 * again. */
bool refs_transfer__report_answer(const refs_transfer *transfer, unsigned n_refused);

/** Frees what the transfer holds, its block included, and gives back what is reserved for it. */
void refs_transfer__clear(refs_transfer *transfer);

/** Sets `done` and wakes the waiter. */
void refs_transfer__finish(refs_transfer *transfer);

/* -- http/engine.c ----------------------------------------------------------------------------- */

const refs_http_provider *refs_http__provider(const refs_http *http);
const refs_http_options *refs_http__options(const refs_http *http);

/** The store of cookies of requests at `origin` with these rules, held until it is released, or
 * NULL (http/cookies.h). */
refs_cookies *refs_http__cookies(refs_http *http, const refs_http_rules *rules,
                                 const refs_origin *origin);
void refs_http__release_cookies(refs_http *http, refs_cookies *cookies);

/** The name of a file with all certificates that requests with these options trust; false: libcurl
 * uses its own (http/authorities.h). */
bool refs_http__authorities(refs_http *http, const refs_http_auth *auth, char *name, size_t size);

/** Bytes per second of answers that readers waited for; 0: not known. */
uint64_t refs_http__rate(const refs_http *http);

/** Works like refs_fetcher_bandwidth_delay. */
uint64_t refs_http__bandwidth_delay(const refs_http *http);

/** Hands a prepared transfer to the engine, which does not own it. */
refs_status refs_http__submit(refs_http *http, refs_transfer *transfer, refs_error *err);

/** Makes the engine finish transfers that are marked as cancelled soon. */
void refs_http__wake(refs_http *http);

#endif
