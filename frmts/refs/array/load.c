/* load.c -- see load.h.
 *
 * A read is a batch of chunks: those that are cached are delivered, and the others go through one
 * loop, drive(). */
#include "load.h"

#include <stdlib.h>

#include "gaps.h"
#include "refs/block.h"
#include "refs/now.h"
#include "refs/pool.h"
#include "refs/queue.h"
#include "shards.h"
#include "slices.h"

/* Interval of checks for progress and cancellation while a reader waits. */
#define POLL_MS 50

/* After this time, a reader stops waiting for a chunk that another reader requested, and requests
 * it itself: the other one may be blocked in a callback that waits for this reader. */
#define MAX_WAIT_MS 30000

/* Loads in progress on this thread. A load that is called from the progress callback of another one
 * does not wait for chunks of other loads: the outer load may hold them. */
static _Thread_local unsigned n_loads;

/* The kind of bytes that a request loads. */
typedef enum loading_kind {
    LOADING_CHUNK,
    LOADING_BETWEEN, /* a chunk that no reader requested, in a gap that is fetched anyway (gaps.h)
                      */
    LOADING_INDEX    /* of a shard */
} loading_kind;

/* One request, and the chunk or index that it loads. */
typedef struct loading {
    refs_request request; /* first: the queue hands back pointers to it */
    loading_kind kind;
    refs_array *array;
    uint64_t number;         /* of the chunk */
    const refs_delivery *to; /* destination of the values; NULL: a prefetch */
    uint64_t item;           /* … and its number in that delivery */
    uint64_t box;            /* of a prefetch: the number of the box that the chunk belongs to */
    refs_awaited awaited;    /* a reader waits for the chunk that is prefetched */
    refs_chunk *stored;      /* its stored bytes, if they are cached */
    bool is_claimed;         /* others wait for this call to load it */
    bool is_alone;           /* it is loaded without a claim, even while another reader loads it */
    refs_shard *shard;       /* the shard that contains it, or NULL */
    uint64_t shard_number;
    uint64_t inner;       /* its number in the shard */
    refs_store_part part; /* its bytes in the shard; zeroed: not known before the index arrives */
    bool is_absent;       /* the shard does not have it */
} loading;

/* A batch: the chunks that one call loads. */
typedef struct batch {
    refs_array *array;            /* the first of several arrays, which share its context */
    const refs_prefetcher *who;   /* of a prefetch; NULL: a reader waits */
    const refs_load_watch *watch; /* or NULL */
    _Atomic size_t n_done;
    size_t n_all;
    refs_group *group;
    loading *fetched; /* chunks that are fetched */
    size_t n_fetched;
    loading *between; /* LOADING_BETWEEN, or NULL */
    size_t n_between;
    refs_shard *shards; /* of the chunks, or NULL */
    size_t n_shards;
    loading *ready; /* chunks whose stored bytes are in the cache */
    size_t n_ready;
    refs_wanted *busy; /* chunks that other loads have claimed, themselves or their shards; in the
                          caller's list */
    size_t n_busy;
    refs_ahead_chunk *later; /* the same of a prefetch */
    size_t n_later;
    refs_awaited awaited; /* a reader waits for a chunk of this batch */
    bool is_alone;        /* it does not wait for other loads */
} batch;

static refs_chunk_id id_of(const loading *one) {
    return (refs_chunk_id){one->array->owner, one->number};
}

static void give_up(const batch *job, loading *one) {
    if (one->is_claimed) refs_cache__abandon(job->array->context.cache, id_of(one));
    one->is_claimed = false;
}

/* -- delivering -------------------------------------------------------------------------------- */

static void deliver(batch *job, const loading *one, const uint8_t *elements) {
    if (one->to == NULL) return;
    if (one->to->deliver != NULL) one->to->deliver(one->to->user, one->item, elements);
    atomic_fetch_add(&job->n_done, 1);
}

static bool is_any_awaited(const void *user) {
    return atomic_load(&((const batch *)user)->awaited.is);
}

/* Whether a reader waits for a chunk of the batch: it gets the chunk sooner from this batch than by
 * a new request. */
static bool is_any_chunk_awaited(const batch *job) {
    if (!is_any_awaited(job)) return false;
    refs_cache *cache = job->array->context.cache;
    for (size_t i = 0; i < job->n_fetched; i++)
        if (refs_cache__is_awaited(cache, id_of(&job->fetched[i]))) return true;
    return false;
}

/* Whether so few bytes are left of a prefetch that cancelling it costs more: the connection would
 * be closed, and the bytes fetched again. */
static bool is_small(const batch *job) {
    const uint64_t small = refs_store_max_gap(job->array->context.store);
    return job->n_fetched <= small / refs_array__mean_stored(job->array);
}

static bool may_go_on(batch *job) {
    if (job->who != NULL)
        return !atomic_load(&job->array->ending) &&
               (!job->who->has_ended(job->who->user) || is_small(job) || is_any_chunk_awaited(job));
    const refs_progress *progress = job->watch != NULL ? job->watch->progress : NULL;
    if (progress == NULL || progress->report == NULL) return true;
    return progress->report(progress->user, (double)atomic_load(&job->n_done) / (double)job->n_all);
}

static bool check_may_go_on(void *user) {
    return may_go_on(user);
}

/* The cancel check of a thread that waits while it loads. */
static refs_cancel_check check_of(batch *job) {
    const bool has_progress =
        job->watch != NULL && job->watch->progress != NULL && job->watch->progress->report != NULL;
    return (refs_cancel_check){job->who != NULL || has_progress ? check_may_go_on : NULL, job};
}

/* -- decoding one chunk ------------------------------------------------------------------------ */

/* Stored bytes for a worker to decode. */
typedef struct decode_task {
    batch *job;
    loading *one;
    refs_stored stored;
    refs_block *block; /* the owner of the bytes, or NULL */
} decode_task;

/* Adds the location of a chunk before a message. */
static void locate(const loading *one, refs_error *err) {
    refs_array *array = one->array;
    uint64_t index[REFS_MAX_RANK];
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_store_part part = one->part;
    if (err == NULL) return;
    if (part.length == 0) part = refs_slices__part(array, one->number);
    refs_grid__index(&array->grid, one->number, index);
    if (refs_chunk_key(array->meta, index, &key, NULL) == REFS_OK)
        refs_store_locate(array->context.store,
                          &(refs_store_key){.text = refs_buf_text(&key), .part = part}, err);
}

/* Adds the location to a failure of decoding: workers only have the bytes. */
static refs_status fail_located(const decode_task *task, refs_status status, refs_error *err) {
    locate(task->one, err);
    return status;
}

static refs_status decode_in_place(const decode_task *task, uint8_t *place, refs_error *err) {
    refs_status status =
        refs_array__decode(task->one->array, task->one->number, &task->stored, place, err);
    if (status != REFS_OK) return fail_located(task, status, err);
    give_up(task->job, task->one); /* others need not wait for the rest of the batch */
    atomic_fetch_add(&task->job->n_done, 1);
    return REFS_OK;
}

/* The cache for a decoded chunk, or NULL. */
static refs_cache *cache_for(const batch *job, const loading *one) {
    const refs_load_watch *watch = job->watch;
    const bool keeps =
        watch == NULL || watch->keeps == NULL || watch->keeps(watch->user, one->number);
    return keeps ? one->array->context.cache : NULL;
}

static refs_status decode_to_chunk(const decode_task *task, refs_error *err) {
    refs_array *array = task->one->array;
    refs_cache *cache = cache_for(task->job, task->one);
    refs_chunk *chunk = refs_chunk__new_for(cache, array->chunk_bytes);
    if (chunk == NULL) return refs_fail_nomem(err);
    refs_status status =
        refs_array__decode(array, task->one->number, &task->stored, refs_chunk__data(chunk), err);
    if (status == REFS_OK) {
        if (cache != NULL)
            refs_cache__add_decoded(cache, id_of(task->one), chunk);
        else
            give_up(task->job, task->one);
        task->one->is_claimed = false;
        deliver(task->job, task->one, refs_chunk__data(chunk));
    }
    refs_chunk__release(chunk);
    return status == REFS_OK ? REFS_OK : fail_located(task, status, err);
}

/* A chunk that could not be prefetched fails where it is read. */
static refs_status run_decode(void *argument, refs_error *err) {
    const decode_task *task = argument;
    const loading *one = task->one;
    if (task->job->who != NULL) {
        if (decode_to_chunk(task, NULL) != REFS_OK) give_up(task->job, task->one);
        return REFS_OK;
    }
    uint8_t *place = one->to->place != NULL ? one->to->place(one->to->user, one->item) : NULL;
    return place != NULL ? decode_in_place(task, place, err) : decode_to_chunk(task, err);
}

static void drop_decode(void *argument) {
    REFS_SCOPED decode_task *task = argument;
    refs_block_release(task->block);
    refs_chunk__release(task->one->stored);
    task->one->stored = NULL;
}

static refs_status start_decode(batch *job, loading *one, refs_stored stored, refs_block *block,
                                refs_error *err) {
    decode_task *task = refs_alloc(sizeof *task);
    if (task == NULL) return refs_fail_nomem(err);
    *task = (decode_task){job, one, stored, refs_block_hold(block)};
    return refs_group_add(job->group, run_decode, drop_decode, task, err);
}

/* -- bytes that arrive ------------------------------------------------------------------------- */

/* Whether an array has one chunk: kerchunk calls it "0", whatever the rank, if it inlines a GRIB2
 * array. */
static bool may_be_called_zero(const refs_array *array) {
    const refs_array_meta *stored = array->stored;
    if (stored->rank < 2 || array->shards != NULL) return false;
    for (size_t dim = 0; dim < stored->rank; dim++)
        if (refs_array_meta_n_chunks(stored, dim) != 1) return false;
    return true;
}

/* Looks for an absent chunk under that name. REFS_NOT_FOUND: it is not there either. */
static refs_status receive_zero(batch *job, loading *one, refs_error *err) {
    const refs_array *array = one->array;
    REFS_SCOPED_BUF key = REFS_BUF_INIT, value = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&key, err, "%s0", array->meta->key_prefix));
    REFS_TRY(refs_store_get(array->context.store, refs_buf_text(&key),
                            refs_slices__max_stored(array), &value, err));
    refs_bytes stored = refs_buf_view(&value);
    REFS_TRY(refs_slices__cut_out(array, one->number, &stored, err));
    decode_task task = {job, one, {stored, 0}, NULL};
    return run_decode(&task, err);
}

static refs_status take_absent(batch *job, loading *one) {
    give_up(job, one);
    if (job->who == NULL) atomic_fetch_add(&one->array->chunks_absent, 1);
    deliver(job, one, NULL);
    return REFS_OK;
}

static refs_status check_absent(batch *job, loading *one, refs_error *err) {
    refs_status status =
        may_be_called_zero(one->array) ? receive_zero(job, one, err) : REFS_NOT_FOUND;
    return status == REFS_NOT_FOUND ? take_absent(job, one) : status;
}

static bool is_decoded_later(batch *job, const loading *one) {
    return job->who != NULL && !job->who->is_near(job->who->user, one->box) &&
           !atomic_load(&one->awaited.is);
}

/* Restricts the bytes of a whole shard to those of a chunk in it; none if it is absent. */
static refs_status cut_out(loading *one, refs_bytes *stored, refs_error *err) {
    if (one->shard == NULL || one->part.length > 0) return REFS_OK;
    if (one->shard->state == REFS_SHARD_WHOLE)
        REFS_TRY(refs_shard__take_whole(one->shard, *stored, err));
    REFS_TRY(refs_shard__find(one->shard, one->inner, &one->part, err));
    *stored = refs_bytes_view(stored->data + one->part.begin, (size_t)one->part.length);
    return REFS_OK;
}

/* -- arriving chunks --------------------------------------------------------------------------- */

static void keep_stored(batch *job, loading *one, refs_stored stored) {
    if (one->is_claimed && refs_cache__add_stored(job->array->context.cache, id_of(one), stored))
        one->is_claimed = false;
}

static refs_status receive_chunk(batch *job, loading *one, refs_error *err) {
    const refs_request *request = &one->request;
    refs_array *array = one->array;
    refs_stored stored = {request->bytes, request->ref.filter_mask};
    if (!request->is_present) return check_absent(job, one, err);
    REFS_TRY(cut_out(one, &stored.bytes, err));
    if (stored.bytes.size == 0) return take_absent(job, one);
    atomic_fetch_add(&array->chunks_stored, 1);
    atomic_fetch_add(&array->bytes_stored, stored.bytes.size);
    const bool is_later = is_decoded_later(job, one);
    atomic_store(&one->awaited.is, false); /* the rest of the transfer is not awaited */
    if (!is_later) return start_decode(job, one, stored, request->block, err);
    keep_stored(job, one, stored);
    return REFS_OK;
}

/* Receives the bytes of a request. */
static refs_status receive(batch *job, loading *one, refs_error *err) {
    const refs_request *request = &one->request;
    if (one->kind == LOADING_INDEX) return refs_shard__take_index(one->shard, request->bytes, err);
    if (refs_group_failed(job->group)) return refs_fail(err, REFS_CANCELLED, "cancelled");
    if (one->kind == LOADING_CHUNK) return receive_chunk(job, one, err);
    keep_stored(job, one, (refs_stored){request->bytes, request->ref.filter_mask});
    return REFS_OK;
}

/* -- a batch ----------------------------------------------------------------------------------- */

static void note(batch *job, loading one) {
    job->fetched[job->n_fetched++] = one;
}

static void leave_to_others(batch *job, const loading *one) {
    if (one->to != NULL)
        job->busy[job->n_busy++] = (refs_wanted){one->to, one->item, one->number};
    else
        job->later[job->n_later++] = (refs_ahead_chunk){one->array, one->number, one->box};
}

static void deliver_decoded(batch *job, const loading *one, refs_chunk *chunk) {
    deliver(job, one, refs_chunk__data(chunk));
    refs_chunk__release(chunk);
    atomic_fetch_add(&one->array->cache_hits, 1);
}

/* Delivers a decoded chunk, and lists a chunk to fetch or decode. A chunk is claimed only when it
 * is requested: until then other loads may claim it. */
static void look_up(batch *job, refs_wanted wanted) {
    refs_array *array = wanted.to->array;
    loading one = {.array = array, .number = wanted.number, .to = wanted.to, .item = wanted.item};
    refs_chunk *chunk = NULL;
    if (array->context.cache == NULL) {
        note(job, one);
        return;
    }
    switch (refs_cache__claim(array->context.cache, id_of(&one), REFS_WANT_AT_HAND, &job->awaited,
                              &chunk)) {
    case REFS_CLAIM_MINE:
    case REFS_CLAIM_NOTHING:
        note(job, one);
        return;
    case REFS_CLAIM_STORED:
        one.is_claimed = true;
        one.stored = chunk;
        job->ready[job->n_ready++] = one;
        return;
    case REFS_CLAIM_DECODED:
        deliver_decoded(job, &one, chunk);
        return;
    case REFS_CLAIM_BUSY:
        break;
    }
    one.is_alone = job->is_alone;
    if (job->is_alone)
        note(job, one);
    else
        leave_to_others(job, &one);
}

static void look_up_ahead(batch *job, refs_ahead_chunk expected) {
    const loading one = {.array = expected.array, .number = expected.number, .box = expected.box};
    if (!refs_cache__has(job->array->context.cache, id_of(&one)) &&
        job->who->is_wanted(job->who->user, expected.box))
        note(job, one);
}

/* -- claims ------------------------------------------------------------------------------------ */

/* Claims a chunk for a reader; false if it was cached meanwhile, or another load has claimed it. */
static refs_status claim_wanted(batch *job, loading *one, bool *is_mine, refs_error *err) {
    refs_chunk *chunk = NULL;
    const refs_claim claim = refs_cache__claim(one->array->context.cache, id_of(one),
                                               REFS_WANT_ELEMENTS, &job->awaited, &chunk);
    *is_mine = one->is_claimed = claim == REFS_CLAIM_MINE;
    if (claim == REFS_CLAIM_BUSY) leave_to_others(job, one);
    if (claim == REFS_CLAIM_DECODED) deliver_decoded(job, one, chunk);
    if (claim != REFS_CLAIM_STORED) return REFS_OK;
    one->is_claimed = true;
    one->stored = chunk;
    return start_decode(job, one, refs_chunk__stored(chunk), NULL, err);
}

/* Claims a chunk for a prefetch; false if it is cached, or claimed by another load. */
static bool claim_bytes(batch *job, loading *one) {
    if (one->is_claimed) return true;
    one->awaited.all = &job->awaited;
    one->is_claimed = refs_cache__claim(job->array->context.cache, id_of(one), REFS_WANT_BYTES,
                                        &one->awaited, NULL) == REFS_CLAIM_MINE;
    return one->is_claimed;
}

/* Claims a chunk for a prefetch unless the reader has passed it. Checked after claiming: from then
 * on, a reader that needs the chunk finds it claimed. */
static bool claim_ahead(batch *job, loading *one) {
    if (claim_bytes(job, one) && !job->who->is_wanted(job->who->user, one->box)) give_up(job, one);
    return one->is_claimed;
}

/* Abandons the claims before waiting for a shard, because the load of that shard may wait for
 * them. */
static bool claim_shard(batch *job, loading *one) {
    if (one->shard == NULL || one->shard->state != REFS_SHARD_WHOLE) return true;
    if (refs_shard__claim(one->shard)) return true;
    one->shard->state = REFS_SHARD_WHOLE; /* also for its other chunks */
    give_up(job, one);
    leave_to_others(job, one);
    return false;
}

static refs_status claim_chunk(batch *job, loading *one, bool *is_mine, refs_error *err) {
    if (one->array->context.cache == NULL || one->is_alone || one->is_claimed) return REFS_OK;
    if (job->who != NULL)
        *is_mine = claim_ahead(job, one);
    else
        REFS_TRY(claim_wanted(job, one, is_mine, err));
    if (*is_mine) *is_mine = claim_shard(job, one);
    return REFS_OK;
}

/* Claims the chunk of a request; a request whose chunk another load has claimed is dropped. */
static refs_status claim(batch *job, refs_request *request, refs_error *err) {
    loading *one = (loading *)request;
    bool is_mine = true;
    if (one->kind == LOADING_INDEX)
        is_mine = refs_shard__claim(one->shard);
    else if (one->kind == LOADING_BETWEEN)
        is_mine = claim_bytes(job, one);
    else
        REFS_TRY(claim_chunk(job, one, &is_mine, err));
    request->is_dropped = !is_mine;
    return REFS_OK;
}

/* -- the loop ---------------------------------------------------------------------------------- */

/* Puts the location of a request before a message. */
static refs_status locate_request(refs_request *request, refs_status status, refs_error *err) {
    const loading *one = (loading *)request;
    if (request == NULL) return status;
    if (one->kind == LOADING_INDEX) return refs_shard__locate_index(one->shard, status, err);
    locate(one, err);
    return status;
}

/* Claims and submits until the queue is full, takes what has arrived, lets workers decode it and
 * copy the values (deliver), and repeats. Before it waits it checks progress and cancellation.
 */
static refs_status drive(batch *job, refs_queue *queue, refs_error *err) {
    refs_status status = REFS_OK;
    while (status == REFS_OK && !refs_queue_is_done(queue)) {
        refs_offer offer, along;
        refs_request *finished = NULL;
        while ((status = refs_queue_offer(queue, &offer, err)) == REFS_OK && offer.n > 0) {
            for (size_t i = 0; i < offer.n && status == REFS_OK; i++)
                status = claim(job, offer.requests[i], err);
            if (status == REFS_OK) status = refs_submit(queue, &along, err);
            for (size_t i = 0; status == REFS_OK && i < along.n; i++)
                status = claim(job, along.requests[i], err);
            if (status != REFS_OK) break;
        }
        if (status == REFS_OK) REFS_TRY(refs_cancel_scope_check(err));
        if (status == REFS_OK) status = refs_next(queue, POLL_MS, &finished, err);
        if (status != REFS_OK) return locate_request(refs_queue_failed(queue), status, err);
        for (; finished != NULL; finished = finished->next) {
            if (status == REFS_OK && (status = receive(job, (loading *)finished, err)) != REFS_OK)
                (void)locate_request(finished, status, err);
            refs_block_release(finished->block);
            finished->block = NULL;
        }
    }
    return status;
}

/* -- chunks in shards -------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Sorts chunks of one shard next to each other. */
static int compare_shards(const void *left, const void *right) {
    const loading *a = left, *b = right;
    int order = compare((uintptr_t)a->array, (uintptr_t)b->array);
    if (order == 0) order = compare(a->shard_number, b->shard_number);
    return order != 0 ? order : compare(a->number, b->number);
}

static bool has_shards(const batch *job) {
    for (size_t i = 0; i < job->n_fetched; i++)
        if (job->fetched[i].array->shards != NULL) return true;
    return false;
}

static void assign_shard(batch *job, loading *one) {
    refs_array *array = one->array;
    refs_shard *last = job->n_shards > 0 ? &job->shards[job->n_shards - 1] : NULL;
    if (array->shards == NULL) return;
    if (last == NULL || last->array != array || last->number != one->shard_number) {
        last = &job->shards[job->n_shards++];
        *last = (refs_shard){.array = array,
                             .number = one->shard_number,
                             .is_alone = job->is_alone,
                             .awaited = &job->awaited};
    }
    last->n_wanted++;
    one->shard = last;
}

static refs_status gather_shards(batch *job, refs_error *err) {
    REFS_NEW(job->shards, job->n_fetched, err);
    for (size_t i = 0; i < job->n_fetched; i++) {
        loading *one = &job->fetched[i];
        const refs_array *array = one->array;
        if (array->shards != NULL)
            one->shard_number = refs_shards__of(array, one->number, &one->inner);
    }
    qsort(job->fetched, job->n_fetched, sizeof *job->fetched, compare_shards);
    for (size_t i = 0; i < job->n_fetched; i++) assign_shard(job, &job->fetched[i]);
    for (size_t i = 0; i < job->n_shards; i++) refs_shard__look_up(&job->shards[i]);
    return REFS_OK;
}

/* Abandons the claims of a read before it waits for the index of a shard: the load of that index
 * may wait for them. */
static void put_off(batch *job, loading *one) {
    give_up(job, one);
    leave_to_others(job, one);
}

/* Postpones chunks whose shard index another load reads, and delivers absent ones. */
static void sort_out(batch *job) {
    size_t n = job->n_fetched;
    job->n_fetched = 0;
    for (size_t i = 0; i < n; i++) {
        loading one = job->fetched[i];
        if (one.shard != NULL && one.shard->state == REFS_SHARD_BUSY)
            put_off(job, &one);
        else if (one.is_absent)
            (void)take_absent(job, &one);
        else
            note(job, one);
    }
}

static refs_status find_parts(batch *job, refs_error *err) {
    for (size_t i = 0; i < job->n_fetched; i++) {
        loading *one = &job->fetched[i];
        if (one->shard == NULL || one->shard->state != REFS_SHARD_OPEN) continue;
        refs_status status = refs_shard__find(one->shard, one->inner, &one->part, err);
        if (status != REFS_OK) return refs_shard__locate(one->shard, status, err);
        one->is_absent = one->part.length == 0;
    }
    return REFS_OK;
}

/* Lists the shard indices to load; NULL: none. */
static refs_status request_indices(batch *job, loading *indices, refs_request **first,
                                   refs_error *err) {
    refs_request **last = first;
    *first = NULL;
    for (size_t i = 0; i < job->n_shards; i++) {
        loading *one = &indices[i];
        if (job->shards[i].state != REFS_SHARD_CLOSED) continue;
        *one = (loading){.kind = LOADING_INDEX, .array = job->shards[i].array};
        one->shard = &job->shards[i];
        if (job->who != NULL)
            one->request.awaited =
                &job->awaited; /* a reader that waits for any of its chunks waits for the index */
        REFS_TRY(refs_shard__request_index(one->shard, &one->request, err));
        *last = &one->request;
        last = &one->request.next;
    }
    return REFS_OK;
}

static refs_status load_indices(batch *job, refs_error *err) {
    REFS_SCOPED loading *indices = refs_calloc(job->n_shards, sizeof *indices);
    refs_request *first = NULL;
    refs_queue *queue = NULL;
    if (indices == NULL) return refs_fail_nomem(err);
    refs_status status = request_indices(job, indices, &first, err);
    if (status == REFS_OK && first != NULL) {
        status = refs_store_open_queue(job->array->context.store, first, &queue, err);
        if (status == REFS_OK) status = drive(job, queue, err);
        refs_queue_close(queue);
    }
    for (size_t i = 0; i < job->n_shards; i++) refs_request_clear(&indices[i].request);
    return status;
}

static refs_status find_in_shards(batch *job, refs_error *err) {
    if (!has_shards(job)) return REFS_OK;
    REFS_TRY(gather_shards(job, err));
    sort_out(job);
    const refs_awaited *awaited = job->who != NULL ? &job->awaited : NULL;
    REFS_TRY(refs_shards__measure(job->shards, job->n_shards, awaited, err));
    REFS_TRY(load_indices(job, err));
    REFS_TRY(find_parts(job, err));
    sort_out(job);
    return REFS_OK;
}

/* -- fetching ---------------------------------------------------------------------------------- */

static bool are_of_one_array(const batch *job) {
    for (size_t i = 0; i < job->n_fetched; i++)
        if (job->fetched[i].array != job->array) return false;
    return true;
}

/* The key of a chunk, which lives as long as `text`. */
static refs_status key_of(const loading *one, refs_buf *text, refs_store_key *key,
                          refs_error *err) {
    const refs_array *array = one->array;
    uint64_t index[REFS_MAX_RANK];
    text->size = 0;
    refs_grid__index(&array->grid, one->number, index);
    REFS_TRY(refs_chunk_key(array->meta, index, text, err));
    *key = (refs_store_key){.text = refs_buf_text(text),
                            .max_size = array->max_stored,
                            .part = refs_slices__part(array, one->number)};
    if (one->part.length > 0) key->part = one->part;
    if (one->shard != NULL && one->part.length == 0) key->max_size = array->shards->max_stored;
    return REFS_OK;
}

/* Lists the chunks that may be in gaps between the fetched ones. */
static refs_status guess_between(const batch *job, refs_gap_chunk *found, size_t *n,
                                 refs_error *err) {
    const refs_array *array = job->array;
    uint64_t max_gap =
        refs_store_max_gap(array->context.store) / refs_array__mean_stored(array) + 1;
    *n = 0;
    if (max_gap < 2) return REFS_OK;
    if (array->shards != NULL) {
        for (size_t i = 0; i < job->n_shards; i++)
            if (job->shards[i].state == REFS_SHARD_OPEN)
                *n = refs_shard__list(&job->shards[i], *n, found);
        return REFS_OK;
    }
    *n = refs_gaps__all(array->grid.n_chunks, found);
    if (*n > 0) return REFS_OK;
    REFS_SCOPED uint64_t *numbers = refs_calloc(job->n_fetched, sizeof *numbers);
    if (numbers == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < job->n_fetched; i++) numbers[i] = job->fetched[i].number;
    *n = refs_gaps__between(numbers, job->n_fetched, max_gap, found);
    return REFS_OK;
}

/* Requests them unless they are in a local file, where gaps are not read. */
static refs_status request_found(batch *job, const refs_gap_chunk *found, size_t n,
                                 refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_store_key key;
    refs_status status = key_of(&job->fetched[0], &text, &key, err);
    const bool is_local =
        status != REFS_OK || refs_store_is_local(job->array->context.store, key.text);
    for (size_t i = 0; i < n && !is_local && status == REFS_OK; i++) {
        loading *one = &job->between[job->n_between];
        *one = (loading){.kind = LOADING_BETWEEN, .array = job->array, .number = found[i].number};
        one->part = found[i].part;
        status = key_of(one, &text, &key, err);
        if (status == REFS_OK &&
            refs_store_request_optional(job->array->context.store, &key, &one->request))
            job->n_between++;
    }
    return status;
}

static refs_status request_between(batch *job, refs_error *err) {
    size_t n = 0;
    if (job->array->context.cache == NULL || job->n_fetched < 2 || !are_of_one_array(job))
        return REFS_OK;
    REFS_SCOPED refs_gap_chunk *found = refs_calloc(REFS_MAX_GAP_CHUNKS, sizeof *found);
    REFS_TRY(found != NULL ? guess_between(job, found, &n, err) : refs_fail_nomem(err));
    if (n > 0) {
        job->between = refs_calloc(n, sizeof *job->between);
        REFS_TRY(job->between != NULL ? request_found(job, found, n, err) : refs_fail_nomem(err));
    }
    return REFS_OK;
}

/* All chunks of a shard that is fetched whole share one request. */
static refs_status request_chunks(batch *job, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(request_between(job, err));
    for (size_t i = 0; i < job->n_fetched; i++) {
        loading *one = &job->fetched[i];
        refs_store_key key;
        REFS_TRY(key_of(one, &text, &key, err));
        REFS_TRY(refs_store_request(one->array->context.store, &key, &one->request, err));
    }
    return REFS_OK;
}

static refs_request *link_requests(batch *job) {
    refs_request *first = NULL, **last = &first;
    for (size_t i = 0; i < job->n_fetched + job->n_between; i++) {
        loading *one = i < job->n_fetched ? &job->fetched[i] : &job->between[i - job->n_fetched];
        if (job->who != NULL) one->request.awaited = &one->awaited;
        *last = &one->request;
        last = &one->request.next;
    }
    *last = NULL;
    return first;
}

static void tell_arrived(const batch *job) {
    if (job->watch != NULL && job->watch->arrived != NULL)
        job->watch->arrived(job->watch->user, job->n_busy);
}

static refs_status open_queue(batch *job, refs_queue **queue, refs_error *err) {
    if (job->who == NULL) atomic_fetch_add(&job->array->n_fetches, 1);
    REFS_TRY(request_chunks(job, err));
    return refs_store_open_queue(job->array->context.store, link_requests(job), queue, err);
}

static void forget_scratches(const batch *job) {
    refs_array *last = NULL;
    for (size_t i = 0; i < job->n_fetched; i++) {
        refs_array *array = job->fetched[i].array;
        if (array != last) refs_scratch_list__forget(&array->scratches);
        last = array;
    }
}

/* Decodes cached bytes, and fetches and decodes the rest; workers may decode after the last answer.
 * The failure of a chunk takes precedence: the fetch was only cancelled because of it. */
static refs_status fetch(batch *job, refs_error *err) {
    refs_pool *pool = job->n_fetched + job->n_ready > 1 ? job->array->context.pool : NULL;
    refs_queue *queue = NULL;
    refs_error fetch_error = REFS_ERROR_INIT;
    refs_status fetched = REFS_OK;
    REFS_TRY(refs_group_open(pool, &job->group, err));
    refs_group_prefer(job->group, is_any_awaited, job);
    for (size_t i = 0; i < job->n_ready && fetched == REFS_OK; i++) {
        loading *one = &job->ready[i];
        fetched = start_decode(job, one, refs_chunk__stored(one->stored), NULL, &fetch_error);
    }
    if (fetched == REFS_OK && job->n_fetched > 0) fetched = open_queue(job, &queue, &fetch_error);
    if (fetched == REFS_OK && queue != NULL) fetched = drive(job, queue, &fetch_error);
    if (fetched == REFS_OK) tell_arrived(job);
    refs_queue_close(queue);
    refs_status decoded = refs_group_wait(job->group, err);
    refs_group_free(job->group);
    forget_scratches(job);
    if (decoded != REFS_OK) return decoded;
    return refs_fail(err, fetched, "%s", fetch_error.message);
}

static void clear_loadings(batch *job, loading *all, size_t n) {
    for (size_t i = 0; i < n; i++) {
        give_up(job, &all[i]);
        refs_chunk__release(all[i].stored);
        refs_request_clear(&all[i].request);
    }
}

/* Abandons the claims of chunks and indices that were not loaded, so that waiting loads may try. */
static void give_up_rest(batch *job) {
    clear_loadings(job, job->fetched, job->n_fetched);
    clear_loadings(job, job->ready, job->n_ready);
    clear_loadings(job, job->between, job->n_between);
    for (size_t i = 0; i < job->n_shards; i++) refs_shard__clear(&job->shards[i]);
    refs_free(job->between);
    refs_free(job->shards);
    job->between = NULL;
    job->shards = NULL;
    job->n_between = 0;
}

static refs_status open_batch(batch *job, size_t n, refs_error *err) {
    job->fetched = refs_calloc(n, sizeof *job->fetched);
    job->ready = refs_calloc(n, sizeof *job->ready);
    return job->fetched != NULL && job->ready != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* Empties the batch. */
static void reset_batch(batch *job) {
    job->n_fetched = job->n_ready = job->n_shards = job->n_busy = job->n_later = 0;
}

static void clear_batch(batch *job) {
    refs_free(job->fetched);
    refs_free(job->ready);
}

/* -- readers ----------------------------------------------------------------------------------- */

/* Looks up all chunks. Those that other loads have claimed move to the front of `wanted`. */
static void look_up_all(batch *job, refs_wanted *wanted, size_t n) {
    reset_batch(job);
    job->busy = wanted;
    for (size_t i = 0; i < n; i++) look_up(job, wanted[i]);
}

/* Waits for one of the chunks, or shards, that other loads have claimed. */
static refs_status await_busy(batch *job, refs_error *err) {
    const refs_wanted *first = &job->busy[0];
    const refs_array *array = first->to->array;
    refs_chunk_id id = {array->owner, first->number};
    const uint64_t until_ms = refs_now_ms() + MAX_WAIT_MS;
    while (!job->is_alone && (!refs_cache__await(array->context.cache, id, POLL_MS) ||
                              !refs_shards__await(array, first->number, POLL_MS))) {
        REFS_TRY(refs_cancel_scope_check(err));
        job->is_alone = refs_now_ms() >= until_ms;
    }
    return REFS_OK;
}

/* Loads its own chunks before it waits for those of other loads, so that two threads that need each
 * other's chunks both proceed. */
refs_status refs_array__load(refs_wanted *wanted, size_t n, const refs_load_watch *watch,
                             refs_error *err) {
    if (n == 0) return REFS_OK;
    batch job = {.array = wanted[0].to->array, .watch = watch, .n_all = n, .is_alone = n_loads > 0};
    atomic_init(&job.awaited.is, true);
    atomic_init(&job.n_done, 0);
    refs_status status = open_batch(&job, n, err);
    refs_cancel_scope scope;
    refs_cancel_scope_begin(&scope, check_of(&job));
    n_loads++;
    while (status == REFS_OK && n > 0) {
        status = refs_cancel_scope_check(err);
        if (status == REFS_OK) look_up_all(&job, wanted, n);
        if (status == REFS_OK) status = find_in_shards(&job, err);
        if (status == REFS_OK && job.n_fetched + job.n_ready > 0)
            status = fetch(&job, err);
        else if (status == REFS_OK)
            tell_arrived(&job);
        give_up_rest(&job);
        job.is_alone = n_loads > 1; /* only a nested load never waits */
        if (status == REFS_OK && job.n_busy > 0) status = await_busy(&job, err);
        n = job.n_busy;
    }
    n_loads--;
    refs_cancel_scope_end(&scope);
    clear_batch(&job);
    return status;
}

/* -- prefetch ---------------------------------------------------------------------------------- */

/* Looks up the chunks that are neither cached nor claimed. Chunks in shards whose index another
 * load reads move to the front of `expected`. */
static void look_up_all_ahead(batch *job, refs_ahead_chunk *expected, size_t n) {
    reset_batch(job);
    job->later = expected;
    for (size_t i = 0; i < n; i++) look_up_ahead(job, expected[i]);
}

/* Waits for an index: its load waits for nothing but its own request. */
static refs_status await_later(batch *job) {
    const refs_ahead_chunk *first = &job->later[0];
    while (!refs_shards__await(first->array, first->number, POLL_MS))
        if (!may_go_on(job) || !job->who->is_wanted(job->who->user, first->box))
            return REFS_CANCELLED;
    return REFS_OK;
}

void refs_array__load_ahead(const refs_prefetcher *who, refs_ahead_chunk *expected, size_t n) {
    if (n == 0) return;
    batch job = {.array = who->array, .who = who, .n_all = n};
    atomic_init(&job.awaited.is, false);
    atomic_init(&job.n_done, 0);
    refs_status status = open_batch(&job, n, NULL);
    refs_cancel_scope scope;
    refs_cancel_scope_begin(&scope, check_of(&job));
    while (status == REFS_OK && n > 0) {
        look_up_all_ahead(&job, expected, n);
        status = find_in_shards(&job, NULL);
        if (status == REFS_OK && job.n_fetched > 0) status = fetch(&job, NULL);
        give_up_rest(&job);
        if (status == REFS_OK && job.n_later > 0) status = await_later(&job);
        n = job.n_later;
    }
    refs_cancel_scope_end(&scope);
    clear_batch(&job);
}

void refs_array__decode_stored(refs_array *array, uint64_t number) {
    refs_cache *cache = array->context.cache;
    refs_chunk_id id = {array->owner, number};
    refs_chunk *stored = NULL;
    if (refs_cache__claim(cache, id, REFS_WANT_DECODED, NULL, &stored) != REFS_CLAIM_STORED) return;
    refs_chunk *chunk = refs_chunk__new_for(cache, array->chunk_bytes);
    const refs_stored bytes = refs_chunk__stored(stored);
    if (chunk != NULL &&
        refs_array__decode(array, number, &bytes, refs_chunk__data(chunk), NULL) == REFS_OK)
        refs_cache__add_decoded(cache, id, chunk);
    else
        refs_cache__abandon(cache, id);
    refs_chunk__release(chunk);
    refs_chunk__release(stored);
}
