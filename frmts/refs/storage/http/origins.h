/* origins.h -- what is known of origins: which have answered, where nobody does, and how much
 * at a time they put up with. Not safe from several threads.
 *
 * If no request is answered, it was tried as often as may be, and need not be tried as often for
 * each of the requests that follow.
 *
 * An origin that answers 429 or 503 gets fewer requests at a time, and these one after the other
 * instead of together: half as many as long as it goes on to refuse, and then, by and by, more
 * again. Both are one figure as long as it is above 1; below it only the time between the
 * beginnings of requests is left. Retry-After is kept by the request that was refused, while others
 * go on. A request that came alone, when it was asked to by Retry-After, and is refused again tells
 * nothing of the limit. */
#ifndef REFS_STORAGE_HTTP_ORIGINS_H
#define REFS_STORAGE_HTTP_ORIGINS_H

#include "http/origin.h"

/** So long, in milliseconds, an origin is taken for dead. */
#define REFS_HTTP_DEAD_MS 10000

/** So many are kept in mind, the latest ones. */
#define REFS_HTTP_MAX_ORIGINS 16

/** The longest time between the beginnings of requests, where the origin said that there were too
 * many (429) and did not ask for more by Retry-After, and where it said that it cannot answer now,
 * which may have other reasons (503). */
#define REFS_HTTP_MAX_INTERVAL_US             1000000
#define REFS_HTTP_MAX_INTERVAL_UNAVAILABLE_US 250000

/** The known state of an origin. Times are in microseconds of a clock that never goes back. */
typedef struct refs_origin_state {
    refs_origin key;
    uint64_t dead_until_ms; /**< 0: it is not */
    bool has_answered;
    unsigned n_users;     /**< who hold it */
    unsigned n_active;    /**< requests under way */
    uint64_t answered_us; /**< when it last answered a request, and did not refuse it */
    double window;        /**< requests at a time; 0: as many as there may be */
    double refused_us;    /**< between the beginnings of requests when one was last refused */
    double interval_us;   /**< between the beginnings of requests; 0: none */
    double latency_us;    /**< of its answers, smoothed */
    uint64_t next_us;     /**< when the next request may begin */
    uint64_t cut_us;      /**< requests that began before tell nothing new of its limit */
    unsigned n_answered;  /**< ... and so many that began later were answered */
    bool is_searching;    /**< the limit was not yet found */
    struct refs_transfer *login; /**< the request that follows redirects from here to another
                            origin, of which it is not known whether they end here again; or NULL */
    unsigned n_logins;           /**< how often they did: it is another origin that lets in here */
    bool is_mirrored;            /**< they lead to what was asked for */
} refs_origin_state;

typedef struct refs_origins {
    refs_origin_state known[REFS_HTTP_MAX_ORIGINS];
    size_t next; /**< to be replaced */
} refs_origins;

/** Notes that nobody answers at an origin, by a clock that never goes back. */
void refs_origins__note_dead(refs_origins *origins, const refs_origin *key, uint64_t now_ms);

/** Notes that somebody has answered. */
void refs_origins__note_alive(refs_origins *origins, const refs_origin *key);

/** Whether there is no point in trying long. */
bool refs_origins__is_dead(const refs_origins *origins, const refs_origin *key, uint64_t now_ms);

/** Whether somebody has ever answered there, as far as it is kept in mind. */
bool refs_origins__has_answered(const refs_origins *origins, const refs_origin *key);

/* -- how much at a time ------------------------------------------------------------------------ */

/** The origin of `url`, which is kept in mind until refs_origin__release. NULL where others are
 * held already, as many as can be kept, or without memory: nothing is known of it then. */
refs_origin_state *refs_origins__hold(refs_origins *origins, const refs_origin *key);

/* In all that follows, `origin` may be NULL. */
void refs_origin__release(refs_origin_state *origin);

/** When a request may begin: at `now_us`, later, or, UINT64_MAX, when another one has ended. */
uint64_t refs_origin__free_at(const refs_origin_state *origin, uint64_t now_us);

void refs_origin__begin(refs_origin_state *origin, uint64_t now_us);
void refs_origin__end(refs_origin_state *origin);

/** One that ended goes on: it makes no new request. */
void refs_origin__rejoin(refs_origin_state *origin);

/** An attempt that was answered. */
typedef struct refs_answer {
    uint64_t began_us;
    unsigned n_active;       /**< requests of the origin then, this one included */
    uint64_t latency_us;     /**< until the answer began */
    long status;             /**< of HTTP */
    uint64_t retry_after_ms; /**< 0: it does not say */
    bool came_back;          /**< it was refused before, and came when it was asked to */
} refs_answer;

/** Whether `status` says that there were too many requests, or may say so. */
bool refs_origin__is_refusal(long status);

/** Takes in what an answer tells; `most` requests there may be at a time anyway. */
void refs_origin__note(refs_origin_state *origin, const refs_answer *answer, unsigned most,
                       uint64_t now_us);

/** Whether any request was answered, and not refused, since `then_us`. */
bool refs_origin__has_answered_since(const refs_origin_state *origin, uint64_t then_us);

#endif
