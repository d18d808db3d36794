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

/** The memory reserved for a whole object before its size is known, and what it is given before its
 * bytes come, whatever size the server claims. */
#define REFS_FIRST_WHOLE_BYTES (4 * (uint64_t)REFS_MIB)

/** The part of the body of a refusal that is kept, to see what an object store says is wrong. */
#define REFS_REFUSAL_TEXT_BYTES 2048

/** The code of a store if the bucket is not there, not the object. */
#define REFS_NO_BUCKET "NoSuchBucket"

/** Signatures are made for requests that are sent so soon; what they share is not made again. */
#define REFS_HTTP_FRESH_MS 1000

typedef enum refs_transfer_kind {
    REFS_TRANSFER_RANGE, /**< bytes [offset, offset + length) */
    REFS_TRANSFER_WHOLE, /**< all bytes, at most max_size */
    REFS_TRANSFER_STAMP  /**< no bytes: what a response says of the object */
} refs_transfer_kind;

/** One request. Members of the first group are set by whoever asks, those of the second may be
 * read while it runs or when it is done, the rest belongs to the engine. */
typedef struct refs_transfer {
    const char *location;
    refs_transfer_kind kind;
    uint64_t offset, length;
    uint64_t url_ms; /**< when its URL was made; 0: it does not grow old */
    uint64_t max_size;
    uint64_t reserved;       /**< whole: bytes that are reserved for it, until somebody owns them */
    const refs_queue *queue; /**< or NULL: somebody waits for it */
    const char *moved;       /**< what its users try where files moved, or NULL */
    const size_t *members;   /**< of the queue's ranges, n_members of them */
    size_t n_members;
    bool compressible;    /**< whole: let the server compress them on their way */
    bool is_beginning;    /**< range at 0: it ends where the object does, and `length` is then what
                               came; where the server sends all, it becomes a whole location */
    refs_block *block;    /**< where bytes go; made by the engine for a whole location */
    uint64_t block_begin; /**< range: that its first byte goes to, where others fill the rest */
    refs_waiter *waiter;

    _Atomic uint64_t got;           /**< bytes that are there */
    refs_vfs_validators validators; /**< when got is above 0, and when done */
    bool done;                      /**< under waiter->lock */
    bool ranges_ignored; /**< when done: the server sends the whole object for any range */
    refs_http_gate gate; /* of this attempt */
    bool refused;        /**< when done: the answer is not what was asked for: error says why */
    bool is_stale;       /**< when done: not sent, since its signature had grown old by then */
    uint64_t postponed;  /**< when done: to be asked for again when there is memory for so much */
    uint64_t needs;      /**< whole: bytes for which its body is held back, until whoever asked has
                              reserved them; under waiter->lock, as is `reserved` meanwhile */
    refs_error error;    /**< when done */
    long status;         /**< when done: of HTTP, 0 without an answer */
    char region[32];     /**< when done: that an object store says it is of; "" without */
    unsigned n_requests; /**< when done: sent, retries and redirects included */
    uint64_t n_bytes;    /**< when done: received, of all of them */

    _Atomic bool cancelled;
    refs_http *http;
    const refs_http_provider *provider;
    refs_http_rules rules;
    char *retry_codes;        /* that of the rules */
    refs_login_copy login;    /* the same */
    uint64_t netrc;           /* refs_login__netrc_state */
    char *url, *url_now;      /* from the provider, and where redirects led */
    refs_origin key, key_now; /* of both */
    CURL *easy, *away;        /* for the origin of `url`, and, without credentials, for others */
    CURL *current;            /* one of them */
    struct curl_slist *headers, *away_headers;
    char curl_text[CURL_ERROR_SIZE];
    refs_response response;
    bool identified;        /* identity is known */
    bool is_held_back;      /* its body, until there is memory for it */
    bool is_beside;         /* for that it does not count among the requests of its origin */
    bool checked;           /* the response of this attempt was looked at */
    uint64_t skip, skipped; /* bytes before the range, of a whole object that came instead */
    uint64_t refusal_bytes; /* of the body of a refusal */
    char *refusal_text;     /* the first of them, REFS_REFUSAL_TEXT_BYTES at most, or NULL */
    uint64_t header_bytes;  /* of this attempt */
    uint64_t got_before;    /* this attempt; whole: the rest is requested where it is not 0 */
    bool is_rest_refused;   /* whole: the server sent something else than the rest */
    uint64_t reported;      /* got when the waiter was last woken */
    unsigned n_failures;    /* in a row */
    unsigned n_redirects;
    bool hopeless;             /* nobody was there when others tried */
    bool pointless;            /* the connection was refused where nobody has ever answered */
    bool others_came;          /* the origin answered others since this one last failed */
    unsigned n_refusals;       /* for which it did, in all */
    bool was_refused;          /* the last attempt, and it was asked to come back */
    refs_origin_state *origin; /* of url_now; held while the engine has the transfer */
    refs_origin_state *home;   /* of url; the same */
    refs_cookies *cookies;
    refs_cookies *home_cookies, *tls_cookies; /* for `url`; where redirects lead to https; held */
    bool set_cookie;                          /* a server did */
    bool left_home;                           /* redirects led to another origin */
    bool awaits_login;                        /* of another transfer of the same home */
    unsigned n_logins;                        /* of its home, when it was sent there */
    uint64_t began_us, failed_us;             /* this attempt, and the one before */
    unsigned n_beside;                        /* requests of the origin when it began */
    uint64_t due_ms;
    bool is_awaited;       /* when that was last asked */
    bool is_paused;        /* others are awaited, and this one is not */
    uint64_t paused_at_ms; /* ... since */
    uint64_t paused_ms;    /* before, in this attempt */
    struct refs_transfer *next;
} refs_transfer;

/* -- http/body.c: what is accepted ------------------------------------------------------------- */

/** Looks at a response before its first byte is kept. */
refs_status refs_transfer__check_response(refs_transfer *transfer, refs_error *err);

/** Takes in bytes of the body: as CURLOPT_WRITEFUNCTION. */
size_t refs_transfer__on_body(char *data, size_t item_size, size_t n, void *user);

/** Whether all that was asked for is there, whatever came after it. */
bool refs_transfer__is_complete(const refs_transfer *transfer);

/** Whether an answer can stand still without others. Over HTTP/1 a connection that is not read from
 * fills what buffers it has, and TCP leaves the line to others. Over HTTP/2 others may be on the
 * same connection, and libcurl may not get to what is theirs before somebody takes what is not. */
bool refs_transfer__can_be_paused(const refs_transfer *transfer);

/** Whether a body that is held back still lacks memory. */
bool refs_transfer__lacks_memory(refs_transfer *transfer);

/** Whether the rest of a whole object may be requested after its beginning: the validators will
 * tell whether both are of one state. */
bool refs_transfer__can_resume(const refs_transfer *transfer);

/** The HTTP status of the current attempt, 0 without an answer. */
long refs_transfer__status(const refs_transfer *transfer);

/* -- http/transfer.c: attempts ----------------------------------------------------------------- */

/** Makes the handle of a transfer. */
refs_status refs_transfer__prepare(refs_transfer *transfer, refs_http *http, const char *url,
                                   refs_error *err);

/** Sets the handle up for the bytes that are still missing. */
void refs_transfer__begin_attempt(refs_transfer *transfer);

/** Judges an attempt that ended with `code`: true where the transfer is done, for good or bad;
 * false where another is to be made after *delay_ms. */
bool refs_transfer__end_attempt(refs_transfer *transfer, CURLcode code, uint64_t *delay_ms);

/** The login that the current attempt carries, as refs_login__key. */
uint64_t refs_transfer__login_key(const refs_transfer *transfer);

/** Whether that is a token. */
bool refs_transfer__has_token(const refs_transfer *transfer);

/** Fails it as the answer does by which its login was refused before. */
void refs_transfer__refuse_login(refs_transfer *transfer);

/** Makes it start over where its first attempt did. */
void refs_transfer__go_home(refs_transfer *transfer);

/** Whether an attempt that ended with `code` met nobody at all. */
bool refs_transfer__is_unreachable(const refs_transfer *transfer, CURLcode code);

/** Whether nobody listens where it was tried, or there is no such host. */
bool refs_transfer__has_no_server(const refs_transfer *transfer, CURLcode code);

/** Whether a signed request was refused in a way that another signature may mend. */
bool refs_transfer__is_signature_refused(const refs_transfer *transfer);

/** Reports to the provider how a signed request was answered: whether it is to be asked
 * for again. */
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

/** A file with all certificates that requests with these options trust; false: libcurl knows
 * better (http/authorities.h). */
bool refs_http__authorities(refs_http *http, const refs_http_auth *auth, char *name, size_t size);

/** Bytes a second of answers that readers waited for; 0: not known. */
uint64_t refs_http__rate(const refs_http *http);

/** The meaning is that of refs_fetcher_bandwidth_delay. */
uint64_t refs_http__bandwidth_delay(const refs_http *http);

/** Hands a prepared transfer to the engine, which does not own it. */
refs_status refs_http__submit(refs_http *http, refs_transfer *transfer, refs_error *err);

/** Makes the engine finish transfers that are marked as cancelled soon. */
void refs_http__wake(refs_http *http);

#endif
