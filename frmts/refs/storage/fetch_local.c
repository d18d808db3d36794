/* fetch_local.c -- requests of local files, piece by piece; see fetch_internal.h.
 *
 * A file that is at hand costs nothing per read. So its bytes are not read in requests as large
 * as those to a server, but in pieces that stay in the processor's cache until a worker has decoded
 * them, in memory that is used again and again. */
#include "fetch_internal.h"

/* A piece holds as many ranges as fit in so many bytes, and at least one. */
#define MAX_PIECE_BYTES (REFS_MIB / 2)

/* Larger pieces have memory of their own. */
#define MAX_SLOT_BYTES (2 * REFS_MIB)

/* So many pieces are read before workers have let go of the first. */
#define N_SLOTS 3

/* So many jobs at once find the memory of earlier ones: as many as often prefetch. */
#define MAX_SPARE 2

/* The slots of a request of several pieces: together they fill one huge page. */
#define SHARE (REFS_HUGE_PAGE / N_SLOTS)

/* Memory for one piece. */
typedef struct slot {
    refs_waiter *waiter;
    uint8_t *memory; /* `own`, or a share of the page */
    uint8_t *own;
    size_t capacity;
    size_t size; /* of the piece that somebody holds; under the waiter's lock, as is … */
    bool held;
} slot;

struct refs_local {
    struct refs_local *next_spare;
    uint8_t *page; /* or NULL */
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

/* Waits until the slot may hold `size` bytes. */
static refs_status take(refs_fetch_job *job, slot *taken, size_t size, refs_error *err) {
    refs_lock(&job->waiter.lock);
    while (taken->held) refs_wait(&job->waiter.moved, &job->waiter.lock);
    refs_unlock(&job->waiter.lock);
    if (taken->capacity < size) {
        refs_free(taken->own);
        taken->memory = taken->own = refs_alloc(size);
        taken->capacity = taken->own != NULL ? size : 0;
    }
    if (taken->memory == NULL) return refs_fail_nomem(err);
    REFS_TRY(refs_fetch__await_memory(job, size, err));
    taken->waiter = &job->waiter;
    taken->size = size;
    taken->held = true;
    return REFS_OK;
}

static refs_status read_piece(refs_fetch_job *job, void *handle, const refs_request *piece,
                              refs_error *err) {
    slot *into = &job->local->slots[job->local->next++ % N_SLOTS];
    REFS_TRY(take(job, into, (size_t)piece->length, err));
    refs_block *block = refs_block_new(0, let_go, into);
    if (block == NULL) {
        let_go(into, 0);
        return refs_fail_nomem(err);
    }
    refs_arrival arrival = {block, into->memory, piece->length, 0};
    refs_status status = refs_fetch__read(job, handle, piece, into->memory, err);
    if (status == REFS_OK) status = refs_fetch__serve(job, piece, &arrival, err);
    refs_block_release(block);
    return status;
}

/* The next members of a request that make a piece. */
static refs_request piece_from(const refs_fetch_job *job, size_t member, size_t end) {
    refs_request piece = {0, 0, member, 0};
    for (; member < end; member++, piece.n_members++) {
        const refs_range *range = &job->ranges[job->plan->members[member]];
        if (piece.n_members == 0) piece.offset = range->offset;
        uint64_t length = range->offset + range->length - piece.offset;
        if (piece.n_members > 0 && length > MAX_PIECE_BYTES) break;
        if (length > piece.length) piece.length = length;
    }
    return piece;
}

/* Gives each slot its share of the page, in place of own memory. */
static void share_page(struct refs_local *local) {
    for (size_t i = 0; i < N_SLOTS; i++) {
        refs_free(local->slots[i].own);
        local->slots[i].own = NULL;
        local->slots[i].memory = local->page != NULL ? local->page + i * SHARE : NULL;
        local->slots[i].capacity = local->page != NULL ? SHARE : 0;
    }
}

static struct refs_local *take_spare(refs_fetcher *fetcher) {
    refs_lock(&fetcher->lock);
    struct refs_local *spare = fetcher->spare;
    if (spare != NULL) {
        fetcher->spare = spare->next_spare;
        fetcher->n_spare--;
    }
    refs_unlock(&fetcher->lock);
    return spare;
}

static struct refs_local *new_local(refs_fetcher *fetcher, const refs_request *request) {
    if (request->length < REFS_HUGE_PAGE) return refs_calloc(1, sizeof(struct refs_local));
    struct refs_local *local = take_spare(fetcher);
    if (local != NULL) return local;
    local = refs_calloc(1, sizeof *local);
    if (local == NULL) return NULL;
    local->page = refs_huge_alloc(REFS_HUGE_PAGE);
    share_page(local);
    return local;
}

static refs_status read_pieces(refs_fetch_job *job, void *handle, const refs_request *request,
                               refs_error *err) {
    size_t member = request->first_member, end = member + request->n_members;
    for (size_t n; member < end; member += n) {
        refs_request piece = piece_from(job, member, end);
        n = piece.n_members;
        REFS_TRY(refs_fetch__go_on(job, err));
        if (piece.length > MAX_SLOT_BYTES)
            REFS_TRY(refs_fetch__read_batch(job, handle, &piece, 1, err));
        else
            REFS_TRY(read_piece(job, handle, &piece, err));
    }
    return REFS_OK;
}

refs_status refs_fetch__read_local(refs_fetch_job *job, void *handle, const refs_request *request,
                                   refs_error *err) {
    if (job->local == NULL) job->local = new_local(job->fetcher, request);
    if (job->local == NULL) return refs_fail_nomem(err);
    return read_pieces(job, handle, request, err);
}

static void clear(struct refs_local *local) {
    for (size_t i = 0; i < N_SLOTS; i++) refs_free(local->slots[i].own);
    refs_huge_free(local->page, REFS_HUGE_PAGE);
    refs_free(local);
}

/* False where there are enough. Only pages are worth keeping. */
static bool keep_spare(refs_fetcher *fetcher, struct refs_local *local) {
    if (local->page == NULL) return false;
    share_page(local);
    refs_lock(&fetcher->lock);
    bool keeps = fetcher->n_spare < MAX_SPARE;
    if (keeps) {
        local->next_spare = fetcher->spare;
        fetcher->spare = local;
        fetcher->n_spare++;
    }
    refs_unlock(&fetcher->lock);
    return keeps;
}

void refs_fetch__leave_local(refs_fetch_job *job) {
    if (job->local == NULL) return;
    if (!keep_spare(job->fetcher, job->local)) clear(job->local);
    job->local = NULL;
}

void refs_fetch__clear_local(refs_fetcher *fetcher) {
    for (struct refs_local *local = fetcher->spare, *next; local != NULL; local = next) {
        next = local->next_spare;
        clear(local);
    }
    fetcher->spare = NULL;
}
