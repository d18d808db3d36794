/* fetch_local.c -- reads local files in pieces; see fetch_internal.h.
 *
 * A read of a local file has no latency. So instead of large requests, as for a server, this reads
 * pieces that stay in the processor's cache until a worker has decoded them, into memory that is
 * reused. */
#include "fetch_internal.h"

/* A piece has as many ranges as fit into so many bytes, but at least one. */
#define MAX_PIECE_BYTES (REFS_MIB / 2)

/* Larger pieces get their own memory. */
#define MAX_SLOT_BYTES (2 * REFS_MIB)

/* Pieces that may be in use at the same time. */
#define N_SLOTS 3

/* Memory for one piece. */
typedef struct slot {
    refs_waiter *waiter;
    uint8_t *memory;
    size_t capacity;
    size_t size; /* of the piece in use; guarded by the waiter's lock, as is … */
    bool held;
} slot;

struct refs_local {
    slot slots[N_SLOTS];
    size_t next;
};

static void let_go(void *user, size_t size) {
    slot *held = user;
    refs_waiter *waiter = held->waiter;
    refs_lock(&waiter->lock);
    size = held->size;
    held->held = false;
    refs_unlock(&waiter->lock);
    refs_waiter__give_back(waiter, size);
}

static bool is_held(refs_queue *queue, const slot *next) {
    REFS_LOCKED(&queue->waiter.lock);
    return next->held;
}

/* Reserves the next slot for `size` bytes; NULL if workers did not release it in time. */
static refs_status take_slot(refs_queue *queue, size_t size, unsigned timeout_ms, slot **taken,
                             refs_error *err) {
    slot *next = &queue->local->slots[queue->local->next % N_SLOTS];
    *taken = NULL;
    if (is_held(queue, next)) refs_waiter__await_freed(&queue->waiter, timeout_ms);
    if (is_held(queue, next)) return REFS_OK;
    if (next->capacity < size) {
        refs_free(next->memory);
        next->memory = refs_alloc(size);
        next->capacity = next->memory != NULL ? size : 0;
    }
    if (next->memory == NULL) return refs_fail_nomem(err);
    if (!refs_waiter__reserve_in_time(&queue->waiter, size, timeout_ms)) return REFS_OK;
    next->waiter = &queue->waiter;
    next->size = size;
    next->held = true;
    queue->local->next++;
    *taken = next;
    return REFS_OK;
}

static refs_status read_to_slot(refs_queue *queue, const refs_planned *piece, slot *into,
                                refs_error *err) {
    refs_block *block = refs_block_new(0, let_go, into);
    if (block == NULL) {
        let_go(into, 0);
        return refs_fail_nomem(err);
    }
    refs_arrival arrival = {block, into->memory, piece->length, 0};
    refs_status status = refs_fetch__read(queue, piece, into->memory, err);
    if (status == REFS_OK) status = refs_fetch__serve(queue, piece, &arrival, err);
    refs_block_release(block);
    return status;
}

/* The next members of a request that fit into a piece. */
static refs_planned piece_from(const refs_queue *queue, size_t member, size_t end) {
    refs_planned piece = {0, 0, member, 0};
    for (; member < end; member++, piece.n_members++) {
        const refs_range *range = &queue->ranges[queue->plan.members[member]];
        if (piece.n_members == 0) piece.offset = range->offset;
        uint64_t length = range->offset + range->length - piece.offset;
        if (piece.n_members > 0 && length > MAX_PIECE_BYTES) break;
        if (length > piece.length) piece.length = length;
    }
    return piece;
}

refs_status refs_fetch__next_piece(refs_queue *queue, unsigned timeout_ms, refs_error *err) {
    refs_vfs_reading *reading = &queue->reading;
    const refs_planned *request = &queue->plan.requests[reading->begin];
    const size_t end = request->first_member + request->n_members;
    if (queue->local == NULL) queue->local = refs_calloc(1, sizeof *queue->local);
    if (queue->local == NULL) return refs_fail_nomem(err);
    if (reading->member < request->first_member) reading->member = request->first_member;
    const refs_planned piece = piece_from(queue, reading->member, end);
    slot *into = NULL;
    size_t n = 1;
    if (piece.length > MAX_SLOT_BYTES) {
        REFS_TRY(refs_fetch__read_in_time(queue, &piece, &n, timeout_ms, err));
    } else {
        REFS_TRY(take_slot(queue, (size_t)piece.length, timeout_ms, &into, err));
        if (into != NULL) REFS_TRY(read_to_slot(queue, &piece, into, err));
        n = into != NULL ? 1 : 0;
    }
    if (n > 0) reading->member += piece.n_members;
    if (reading->member == end) reading->begin = reading->end;
    return REFS_OK;
}

void refs_fetch__clear_local(refs_queue *queue) {
    if (queue->local == NULL) return;
    for (size_t i = 0; i < N_SLOTS; i++) refs_free(queue->local->slots[i].memory);
    refs_free(queue->local);
    queue->local = NULL;
}
