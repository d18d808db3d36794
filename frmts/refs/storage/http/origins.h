/* origins.h -- the state of origins: which have answered, which are down, and their limits of
 * requests. Not thread-safe.
 *
 * If all retries of one request were refused connections, later requests need not repeat them all.
 *
 * An origin that answers 429 or 503 gets fewer concurrent requests, and these one after the other:
 * half as many while it continues to refuse, then gradually more. One number, the window, expresses
 * both as long as it is above 1; below 1, only the time between the beginnings of requests grows.
 * Only the refused request waits for Retry-After; others continue. A request that was alone, waited
 * for Retry-After and is refused again says nothing about the limit. */
#ifndef REFS_STORAGE_HTTP_ORIGINS_H
#define REFS_STORAGE_HTTP_ORIGINS_H

#include "http/origin.h"

/** How long an origin counts as down, in milliseconds. */
#define REFS_HTTP_DEAD_MS 10000

/** Limit of remembered origins: the latest ones. */
#define REFS_HTTP_MAX_ORIGINS 16

/** The longest time between the beginnings of requests, after status 429 without Retry-After, and
 * after status 503, which may have other reasons than load. */
#define REFS_HTTP_MAX_INTERVAL_US             1000000
#define REFS_HTTP_MAX_INTERVAL_UNAVAILABLE_US 250000

/** The state of an origin. Times are in microseconds of a monotonic clock. */
typedef struct refs_origin_state {
    refs_origin key;
    uint64_t dead_until_ms; /**< 0: it is not down */
    bool has_answered;
    unsigned n_users;     /**< number of holders */
    unsigned n_active;    /**< requests in progress */
    uint64_t answered_us; /**< when it last answered a request, and did not refuse it */
    double window;        /**< concurrent requests; 0: no limit */
    double refused_us;    /**< between the beginnings of requests when one was last refused */
    double interval_us;   /**< between the beginnings of requests; 0: none */
    double latency_us;    /**< of its answers, smoothed */
    uint64_t next_us;     /**< when the next request may begin */
    uint64_t cut_us;      /**< requests that began before this say nothing about the limit */
    unsigned n_answered;  /**< number of answered requests that began later */
    bool is_searching;    /**< the limit was not yet found */
    struct refs_transfer *login; /**< the request that follows redirects from here to another
                            origin, of which it is not known whether they end here again; or NULL */
    unsigned n_logins;           /**< number of redirects to a login at another origin */
    bool is_mirrored;            /**< redirects lead to the object itself */
} refs_origin_state;

typedef struct refs_origins {
    refs_origin_state known[REFS_HTTP_MAX_ORIGINS];
    size_t next; /**< the next entry to replace */
} refs_origins;

/** Records that an origin does not respond, by a monotonic clock. */
void refs_origins__note_dead(refs_origins *origins, const refs_origin *key, uint64_t now_ms);

/** Records that an origin has answered. */
void refs_origins__note_alive(refs_origins *origins, const refs_origin *key);

/** Whether an origin is down, so that many retries are useless. */
bool refs_origins__is_dead(const refs_origins *origins, const refs_origin *key, uint64_t now_ms);

/** Whether an origin has ever answered, as far as remembered. */
bool refs_origins__has_answered(const refs_origins *origins, const refs_origin *key);

/* -- how much at a time ------------------------------------------------------------------------ */

/** Finds or adds the state of an origin, and holds it until refs_origin__release. NULL if memory
 * ran out or all entries are held; then nothing is known about it. */
refs_origin_state *refs_origins__hold(refs_origins *origins, const refs_origin *key);

/* In all that follows, `origin` may be NULL. */
void refs_origin__release(refs_origin_state *origin);

/** When a request may begin: at `now_us`, later, or UINT64_MAX: after another one has ended. */
uint64_t refs_origin__free_at(const refs_origin_state *origin, uint64_t now_us);

void refs_origin__begin(refs_origin_state *origin, uint64_t now_us);
void refs_origin__end(refs_origin_state *origin);

/** Continues a request that had ended, without a new request. */
void refs_origin__rejoin(refs_origin_state *origin);

/** An attempt that was answered. */
typedef struct refs_answer {
    uint64_t began_us;
    unsigned n_active;       /**< concurrent requests at that time, including this one */
    uint64_t latency_us;     /**< until the answer began */
    long status;             /**< of HTTP */
    uint64_t retry_after_ms; /**< 0: it does not say */
    bool came_back;          /**< the request had waited for Retry-After */
} refs_answer;

/** Whether `status` means too many requests, or may mean that. */
bool refs_origin__is_refusal(long status);

/** Updates the limit after an answer; `most` is the configured limit. */
void refs_origin__note(refs_origin_state *origin, const refs_answer *answer, unsigned most,
                       uint64_t now_us);

/** Whether any request was answered, and not refused, since `then_us`. */
bool refs_origin__has_answered_since(const refs_origin_state *origin, uint64_t then_us);

#endif
