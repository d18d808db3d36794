/* reservation.c -- the memory that bytes take from when they are asked for until nobody holds them,
 * in all queues of the process; see fetch_internal.h. */
#include "fetch_internal.h"

/* Bytes that all queues have reserved. */
static _Atomic uint64_t process_bytes;

/* Reserves `more` bytes within `limit`, or beyond it for a queue that has nothing else. */
static bool reserve_of_process(uint64_t more, uint64_t others, uint64_t limit) {
    uint64_t all = atomic_load(&process_bytes);
    do {
        const bool fits = all < limit && more <= limit - all;
        if (!fits && others > 0) return false;
    } while (!atomic_compare_exchange_weak(&process_bytes, &all, all + more));
    return true;
}

/* In the child of a fork the count starts over, and may be given back more than it has. */
static void return_to_process(uint64_t less) {
    uint64_t all = atomic_load(&process_bytes);
    while (!atomic_compare_exchange_weak(&process_bytes, &all, all > less ? all - less : 0))
        continue;
}

void refs_fetch__forget_process_bytes(void) {
    atomic_store(&process_bytes, 0);
}

/* Gives `size` bytes back; under the lock. */
static void give_back(refs_waiter *waiter, uint64_t size) {
    waiter->memory -= (size_t)size;
    waiter->has_freed = true;
    return_to_process(size);
    pthread_cond_broadcast(&waiter->moved);
}

bool refs_waiter__reserve(refs_waiter *waiter, uint64_t own, uint64_t size) {
    if (waiter->max_memory == 0) return true;
    REFS_LOCKED(&waiter->lock);
    const uint64_t others = waiter->memory - own;
    const bool fits = size <= own || reserve_of_process(size - own, others, waiter->max_memory);
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
