/* queue.h -- requests on their way: submitted while there is room, and taken as they finish.
 *
 * A queue carries out the requests of one read. Its caller drives it, on one thread:
 *
 *     while (!refs_queue_is_done(queue)) {
 *         while there is an offer: claim what it brings, and submit it
 *         take what refs_next returns
 *     }
 *
 * Only refs_next waits for bytes, at most for its timeout; progress and cancellation are checked
 * between two calls. Two calls may take longer: refs_queue_offer where an application makes a URL,
 * or a service grants access to one; refs_next where the application's file system alone can read a
 * location, until one batch of ranges is read. Ranges that lie close to each other are one transfer
 * (plan.h): an offer is all that it brings.
 *
 * A request is one structure that every module fills in place: the array says how it is needed, the
 * references where its bytes are, and storage what they are.
 *
 * Read before this: refset.h, fetch.h, store.h.
 */
#ifndef REFS_QUEUE_H
#define REFS_QUEUE_H

#include "refs/fetch.h"
#include "refs/refset.h"
#include "refs/store.h"

#ifdef __cplusplus
#include <atomic>
extern "C" {
typedef std::atomic<bool> refs_atomic_bool;
#else
#include <stdatomic.h>
typedef _Atomic bool refs_atomic_bool;
#endif

/** Whether a reader waits for what is prefetched: set by the cache, read by the engine, on any
 * thread. */
typedef struct refs_awaited {
    refs_atomic_bool is;
    struct refs_awaited *all; /**< set together with it, or NULL */
} refs_awaited;

/** One value, or part of a value, that is requested. Zeroed: nothing. */
typedef struct refs_request {
    /* Set by the array. */
    bool is_optional;            /**< it makes no transfer: it is finished if its bytes come along
                                      with those of others, and else never */
    bool is_dropped;             /**< nobody needs it any longer: it is not finished. Set when it is
                                      offered, or comes along */
    const refs_awaited *awaited; /**< of what is prefetched: it yields bandwidth to readers until
                                      this is set; NULL: the caller waits */

    /* Set by references: refs_store_request. */
    bool is_present; /**< false: the set has no such value */
    refs_ref ref;    /**< where it is; INLINE: in the set itself. Released by refs_request_clear */
    refs_expected expected; /**< the required state of its location */
    uint64_t max_size;      /**< most bytes of a whole object; 0: the fetcher's own limit */

    /* Set by storage, when it is finished. */
    refs_bytes bytes;
    struct refs_block *block; /**< that holds the bytes until the caller releases it; NULL: they
                                   live as long as the request */
    bool is_finished;
    struct refs_request *next; /**< of the list that the queue was opened with, or that is finished;
                                    NULL: the last one */
} refs_request;

/** Releases what a request holds. */
void refs_request_clear(refs_request *request);

/** Finds where a value is: the members that references set. REFS_OK and not present: the set has
 * none. Failures name the set, the key, the URL and the range. */
refs_status refs_store_request(const refs_store *store, const refs_store_key *key,
                               refs_request *request, refs_error *err);

/** The same of a value that only comes along; false where it cannot, as from a local file. */
bool refs_store_request_optional(const refs_store *store, const refs_store_key *key,
                                 refs_request *request);

/** The requests of one read. */
typedef struct refs_queue refs_queue;

/** Opens a queue for the requests of a list, which it takes apart; they must outlive it. */
refs_status refs_queue_open(refs_fetcher *fetcher, refs_request *first, refs_queue **queue,
                            refs_error *err);

/** The same for a fetcher that a store has. */
refs_status refs_store_open_queue(const refs_store *store, refs_request *first, refs_queue **queue,
                                  refs_error *err);

/** Requests that are one transfer, required ones. */
typedef struct refs_offer {
    refs_request *const *requests;
    size_t n; /**< 0: nothing can be submitted now: the queue is full, or nothing is left */
} refs_offer;

/** Returns the requests of the next transfer, and reserves memory for its answer (for locations
 * without HTTP, refs_next reserves it). The caller marks requests that are no longer needed as
 * dropped, and submits the rest before it calls another function of the queue. */
refs_status refs_queue_offer(refs_queue *queue, refs_offer *offer, refs_error *err);

/** Submits what was offered without what was dropped. *along is which optional requests it brings
 * as well: those that are dropped before the next call of the queue are not finished. */
refs_status refs_submit(refs_queue *queue, refs_offer *along, refs_error *err);

/** Takes the list of what is finished, in the order of arrival. Waits for something to happen,
 * unless something has, for at most `timeout_ms` milliseconds; *finished may be NULL after that. */
refs_status refs_next(refs_queue *queue, unsigned timeout_ms, refs_request **finished,
                      refs_error *err);

/** Whether all that was offered, and not dropped, is finished and taken. */
bool refs_queue_is_done(const refs_queue *queue);

/** The request that the last failure of the queue is about, or NULL. */
refs_request *refs_queue_failed(const refs_queue *queue);

/** Receives a finished request, whose block is released after the call. */
typedef struct refs_taker {
    refs_status (*take)(void *user, refs_request *request, refs_error *err);
    void *user;
} refs_taker;

/** Drives a queue for a caller that needs all of it and claims nothing, and asks the scopes of
 * its thread. *failed is the request that a failure is about, or NULL. */
refs_status refs_queue_drain(refs_queue *queue, const refs_taker *taker, refs_request **failed,
                             refs_error *err);

/** Cancels what is not finished, and frees the queue once all blocks were released. NULL is
 * allowed. */
void refs_queue_close(refs_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
