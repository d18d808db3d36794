/* reservation.c -- limits the memory for fetched bytes, from the request until they are released,
 * over all queues of the process; see fetch_internal.h. */
#include "fetch_internal.h"

#include "refs/now.h"

/* Limit of the process for first requests of queues. It exceeds that for all requests, because a
 * connection carries a whole object, and the speed of reading large ones depends on the number of
 * connections. */
#define FIRST_REQUESTS_BYTES (192 * (uint64_t)REFS_MIB)

/* A queue loses its turn (below) after this time without bytes that arrive or are released: its
 * caller may be waiting for other queues, as a progress callback does, or its server does not
 * respond. */
#define TURN_MS 2000

/* The interval of attempts to reserve: a queue is not notified when another one releases memory. */
#define ASK_AGAIN_MS 10

/* Bytes reserved by all queues. */
static _Atomic uint64_t process_bytes;

/* The one queue that may exceed the limit until it has released all its bytes; NULL: none. */
static struct {
    _Atomic(const refs_waiter *) waiter;
    _Atomic(const void *) thread; /* the thread that drives the queue */
    _Atomic uint64_t moved_ms;
} turn;

static _Thread_local char this_thread;

const void *refs_fetch__this_thread(void) {
    return &this_thread;
}

void refs_waiter__note_moved(const refs_waiter *waiter) {
    if (atomic_load(&turn.waiter) == waiter) atomic_store(&turn.moved_ms, refs_now_ms());
}

/* A read that the driving thread begins in between gets the turn at once, because that thread waits
 * for it. */
static bool take_turn(const refs_waiter *waiter) {
    const refs_waiter *other = atomic_load(&turn.waiter);
    const uint64_t now = refs_now_ms();
    if (other != NULL && other != waiter && atomic_load(&turn.thread) != waiter->thread &&
        now < atomic_load(&turn.moved_ms) + TURN_MS)
        return false;
    atomic_store(&turn.moved_ms, now);
    if (!atomic_compare_exchange_strong(&turn.waiter, &other, waiter)) return false;
    atomic_store(&turn.thread, waiter->thread);
    return true;
}

static void end_turn(const refs_waiter *waiter) {
    (void)atomic_compare_exchange_strong(&turn.waiter, &waiter, NULL);
}

/* Reserves `more` bytes within the queue's limit. A queue without other bytes may exceed it, within
 * the limit of first requests or if it has the turn. */
static bool reserve_of_process(const refs_waiter *waiter, uint64_t more, uint64_t others) {
    const uint64_t limit = waiter->max_memory;
    uint64_t all = atomic_load(&process_bytes);
    do {
        const bool fits = all < limit && more <= limit - all;
        if (!fits && others > 0) return false;
        const bool fits_first = all <= FIRST_REQUESTS_BYTES && more <= FIRST_REQUESTS_BYTES - all;
        if (!fits && !fits_first && !take_turn(waiter)) return false;
    } while (!atomic_compare_exchange_weak(&process_bytes, &all, all + more));
    return true;
}

/* Never goes below zero: in a child of fork(2), the count begins again. */
static void return_to_process(uint64_t less) {
    uint64_t all = atomic_load(&process_bytes);
    while (!atomic_compare_exchange_weak(&process_bytes, &all, all > less ? all - less : 0))
        continue;
}

void refs_fetch__forget_process_bytes(void) {
    atomic_store(&process_bytes, 0);
    atomic_store(&turn.waiter, NULL);
}

/* Releases `size` bytes. Requires the lock. */
static void give_back(refs_waiter *waiter, uint64_t size) {
    waiter->memory -= (size_t)size;
    waiter->has_freed = true;
    refs_waiter__note_moved(waiter);
    if (waiter->memory == 0) end_turn(waiter);
    return_to_process(size);
    pthread_cond_broadcast(&waiter->moved);
}

bool refs_waiter__reserve(refs_waiter *waiter, uint64_t own, uint64_t size) {
    if (waiter->max_memory == 0) return true;
    REFS_LOCKED(&waiter->lock);
    const uint64_t others = waiter->memory - own;
    const bool fits = size <= own || reserve_of_process(waiter, size - own, others);
    waiter->is_refused = !fits;
    if (size < own)
        give_back(waiter, own - size);
    else if (fits)
        waiter->memory = (size_t)(others + size);
    return fits;
}

void refs_waiter__give_back(void *user, size_t size) {
    refs_waiter *waiter = user;
    if (waiter->max_memory == 0) return;
    REFS_LOCKED(&waiter->lock);
    give_back(waiter, size);
}

void refs_waiter__await_freed(refs_waiter *waiter, unsigned timeout_ms) {
    REFS_LOCKED(&waiter->lock);
    if (waiter->is_refused && timeout_ms > ASK_AGAIN_MS) timeout_ms = ASK_AGAIN_MS;
    if (!waiter->has_freed) (void)refs_wait_ms(&waiter->moved, &waiter->lock, timeout_ms);
    waiter->has_freed = false;
}

bool refs_waiter__reserve_in_time(refs_waiter *waiter, uint64_t size, unsigned timeout_ms) {
    if (refs_waiter__reserve(waiter, 0, size)) return true;
    refs_waiter__await_freed(waiter, timeout_ms);
    return refs_waiter__reserve(waiter, 0, size);
}

refs_status refs_fetch__new_block(refs_queue *queue, uint64_t reserved, refs_block **block,
                                  refs_error *err) {
    *block = reserved <= SIZE_MAX
                 ? refs_block_new((size_t)reserved, refs_waiter__give_back, &queue->waiter)
                 : NULL;
    if (*block != NULL) return REFS_OK;
    refs_waiter__give_back(&queue->waiter, (size_t)reserved);
    return refs_fail_nomem(err);
}

void refs_fetch__await_workers(refs_queue *queue) {
    refs_lock(&queue->waiter.lock);
    while (queue->waiter.memory > 0) refs_wait(&queue->waiter.moved, &queue->waiter.lock);
    refs_unlock(&queue->waiter.lock);
}
