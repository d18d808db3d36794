/* load.c -- see load.h. */
#include "load.h"

#include <stdlib.h>

#include "gaps.h"
#include "refs/block.h"
#include "refs/http.h"
#include "refs/now.h"
#include "refs/pool.h"
#include "shards.h"
#include "slices.h"

/* How often a reader that waits for others looks whether it was cancelled. */
#define POLL_MS 50

/* A reader that has waited so long for a chunk that another one requested requests it itself: the
 * other may stand still, in a callback that waits for this one. */
#define MAX_WAIT_MS 30000

/* Loads under way on this thread. One that is called from the progress callback of another waits
 * for nobody: what it waits for may be the other's. */
static _Thread_local unsigned n_loads;

/* A chunk that this call loads. */
typedef struct loading {
    refs_wanted wanted;        /* of a reader; or `to` is NULL, and … */
    refs_ahead_chunk expected; /* … of who prefetches */
    refs_chunk *stored;        /* its bytes, if they are there */
    bool is_claimed;           /* others wait for this call to load it */
    bool is_alone;     /* it is loaded without a claim, even if another reader loads it, too */
    refs_shard *shard; /* that it is a part of, or NULL */
    uint64_t shard_number;
    uint64_t inner;       /* its number in the shard */
    refs_store_part part; /* that it is of the shard; zeroed: not known before that arrives, or … */
    bool is_absent;       /* … it is not there */
    const uint8_t *arrived; /* what arrived for it, begins here */
} loading;

/* One call. */
typedef struct batch {
    refs_array *array;            /* the first one: all share its context */
    const refs_prefetcher *who;   /* that prefetches, or NULL: a reader waits */
    const refs_load_watch *watch; /* or NULL */
    _Atomic size_t n_done;
    size_t n_all;
    refs_group *group;
    loading *fetched; /* chunks that are fetched */
    size_t n_fetched;
    refs_gap_chunk *between; /* chunks that come along if they lie in gaps, or NULL */
    size_t n_between;
    refs_shard *shards; /* that they are in, or NULL */
    size_t n_shards;
    loading *ready; /* chunks whose bytes were there */
    size_t n_ready;
    refs_wanted *busy; /* chunks, or shards of them, that others load; in the caller's list */
    size_t n_busy;
    refs_ahead_chunk *later; /* the same for who prefetches */
    size_t n_later;
    refs_awaited awaited; /* somebody waits for a chunk that is loaded here */
    bool is_alone;        /* it waits for nobody */
} batch;

static refs_array *array_of(const loading *one) {
    return one->wanted.to != NULL ? one->wanted.to->array : one->expected.array;
}

static uint64_t number_of(const loading *one) {
    return one->wanted.to != NULL ? one->wanted.number : one->expected.number;
}

static refs_chunk_id id_of(const loading *one) {
    return (refs_chunk_id){array_of(one)->owner, number_of(one)};
}

static void give_up(const batch *job, loading *one) {
    if (one->is_claimed) refs_cache__abandon(job->array->context.cache, id_of(one));
    one->is_claimed = false;
}

/* -- delivering -------------------------------------------------------------------------------- */

static void deliver(batch *job, const refs_wanted *wanted, const uint8_t *elements) {
    if (wanted->to == NULL) return;
    if (wanted->to->deliver != NULL) wanted->to->deliver(wanted->to->user, wanted->item, elements);
    atomic_fetch_add(&job->n_done, 1);
}

static bool is_any_awaited(const void *user) {
    return atomic_load(&((const batch *)user)->awaited.is);
}

/* Somebody who waits for one of the chunks has it sooner from here than anew. */
static bool is_any_chunk_awaited(const batch *job) {
    if (!is_any_awaited(job)) return false;
    refs_cache *cache = job->array->context.cache;
    for (size_t i = 0; i < job->n_fetched; i++)
        if (refs_cache__is_awaited(cache, id_of(&job->fetched[i]))) return true;
    return false;
}

/* Whether what is left of a prefetch is as little as a request reaches over, and takes the line for
 * a moment only: to cancel it costs the connection, and whoever comes back the bytes. */
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

/* The question of the loading thread while it waits. */
static refs_cancel_check check_of(batch *job) {
    const bool has_progress =
        job->watch != NULL && job->watch->progress != NULL && job->watch->progress->report != NULL;
    return (refs_cancel_check){job->who != NULL || has_progress ? check_may_go_on : NULL, job};
}

/* -- decoding one chunk ------------------------------------------------------------------------ */

/* Stored bytes on their way to a worker. */
typedef struct decode_task {
    batch *job;
    loading *one;
    refs_stored stored;
    refs_block *block; /* that holds them, or NULL */
} decode_task;

/* A worker does not know where what it decodes came from. */
static refs_status locate(const decode_task *task, refs_status status, refs_error *err) {
    refs_array *array = array_of(task->one);
    uint64_t index[REFS_MAX_RANK];
    refs_buf key = REFS_BUF_INIT;
    refs_store_part part = task->one->part;
    if (part.length == 0) part = refs_slices__part(array, number_of(task->one));
    refs_grid__index(&array->grid, number_of(task->one), index);
    if (refs_chunk_key(array->meta, index, &key, NULL) == REFS_OK)
        refs_store_locate(
            array->context.store,
            &(refs_store_key){.text = refs_str_view((char *)key.data, key.size), .part = part},
            err);
    refs_buf_clear(&key);
    return status;
}

static refs_status decode_in_place(const decode_task *task, uint8_t *place, refs_error *err) {
    refs_array *array = array_of(task->one);
    refs_status status = refs_array__decode(array, number_of(task->one), &task->stored, place, err);
    if (status != REFS_OK) return locate(task, status, err);
    give_up(task->job, task->one); /* others need not wait for the rest of the batch */
    atomic_fetch_add(&task->job->n_done, 1);
    return REFS_OK;
}

static refs_status decode_to_chunk(const decode_task *task, refs_error *err) {
    refs_array *array = array_of(task->one);
    refs_chunk *chunk = refs_chunk__new_for(array->context.cache, array->chunk_bytes);
    if (chunk == NULL) return refs_fail_nomem(err);
    refs_status status = refs_array__decode(array, number_of(task->one), &task->stored,
                                            refs_chunk__data(chunk), err);
    if (status == REFS_OK) {
        if (array->context.cache != NULL)
            refs_cache__add_decoded(array->context.cache, id_of(task->one), chunk);
        task->one->is_claimed = false;
        deliver(task->job, &task->one->wanted, refs_chunk__data(chunk));
    }
    refs_chunk__release(chunk);
    return status == REFS_OK ? REFS_OK : locate(task, status, err);
}

/* A chunk that could not be prefetched fails where it is read. */
static refs_status run_decode(void *argument, refs_error *err) {
    const decode_task *task = argument;
    const refs_wanted *wanted = &task->one->wanted;
    if (task->job->who != NULL) {
        if (decode_to_chunk(task, NULL) != REFS_OK) give_up(task->job, task->one);
        return REFS_OK;
    }
    uint8_t *place =
        wanted->to->place != NULL ? wanted->to->place(wanted->to->user, wanted->item) : NULL;
    return place != NULL ? decode_in_place(task, place, err) : decode_to_chunk(task, err);
}

static void drop_decode(void *argument) {
    decode_task *task = argument;
    refs_block_finish(task->block, task->one->arrived);
    refs_block_release(task->block);
    refs_chunk__release(task->one->stored);
    task->one->stored = NULL;
    refs_free(task);
}

static refs_status start_decode(batch *job, loading *one, refs_stored stored, refs_block *block,
                                refs_error *err) {
    decode_task *task = refs_alloc(sizeof *task);
    if (task == NULL) return refs_fail_nomem(err);
    *task = (decode_task){job, one, stored, refs_block_hold(block)};
    return refs_group_add(job->group, run_decode, drop_decode, task, err);
}

/* -- bytes that arrive ------------------------------------------------------------------------- */

/* Whether an array has one chunk, which kerchunk calls "0" if it inlines a GRIB2 array, whatever
 * its rank. */
static bool may_be_called_zero(const refs_array *array) {
    const refs_array_meta *stored = array->stored;
    if (stored->rank < 2 || array->shards != NULL) return false;
    for (size_t dim = 0; dim < stored->rank; dim++)
        if (refs_array_meta_n_chunks(stored, dim) != 1) return false;
    return true;
}

/* Looks for an absent chunk under that name. REFS_NOT_FOUND: it is not there either. */
static refs_status receive_zero(batch *job, loading *one, refs_error *err) {
    const refs_array *array = array_of(one);
    refs_buf key = REFS_BUF_INIT, value = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&key, err, "%s0", array->meta->key_prefix);
    if (status == REFS_OK)
        status = refs_store_get(array->context.store, refs_str_view((char *)key.data, key.size),
                                refs_slices__max_stored(array), &value, err);
    refs_bytes stored = refs_buf_view(&value);
    if (status == REFS_OK) status = refs_slices__cut_out(array, number_of(one), &stored, err);
    decode_task task = {job, one, {stored, 0}, NULL};
    if (status == REFS_OK) status = run_decode(&task, err);
    refs_buf_clear(&key);
    refs_buf_clear(&value);
    return status;
}

static refs_status take_absent(batch *job, loading *one) {
    give_up(job, one);
    if (job->who == NULL) atomic_fetch_add(&array_of(one)->chunks_absent, 1);
    deliver(job, &one->wanted, NULL);
    return REFS_OK;
}

static refs_status receive_absent(batch *job, loading *one, refs_error *err) {
    refs_status status =
        may_be_called_zero(array_of(one)) ? receive_zero(job, one, err) : REFS_NOT_FOUND;
    return status == REFS_NOT_FOUND ? take_absent(job, one) : status;
}

static bool is_decoded_later(batch *job, const loading *one) {
    return job->who != NULL && !job->who->is_near(job->who->user, one->expected.box) &&
           !refs_cache__is_awaited(job->array->context.cache, id_of(one));
}

/* Makes the bytes of a whole shard those of a chunk in it: none where it is absent. */
static refs_status cut_out(loading *one, refs_bytes *stored, refs_error *err) {
    if (one->shard == NULL || one->part.length > 0) return REFS_OK;
    if (one->shard->state == REFS_SHARD_WHOLE)
        REFS_TRY(refs_shard__take_whole(one->shard, *stored, err));
    REFS_TRY(refs_shard__find(one->shard, one->inner, &one->part, err));
    *stored = refs_bytes_view(stored->data + one->part.begin, (size_t)one->part.length);
    return REFS_OK;
}

/* -- chunks in gaps ---------------------------------------------------------------------------- */

static refs_chunk_id id_of_between(const batch *job, const refs_gap_chunk *chunk) {
    return (refs_chunk_id){job->array->owner, chunk->number};
}

/* Claims a chunk that nobody asked for and that is going to come, unless somebody has it or loads
 * it. */
static bool claim_between(batch *job, refs_gap_chunk *chunk) {
    if (chunk->is_claimed) return true;
    chunk->is_claimed = refs_cache__claim(job->array->context.cache, id_of_between(job, chunk),
                                          REFS_WANT_BYTES, &job->awaited, NULL) == REFS_CLAIM_MINE;
    return chunk->is_claimed;
}

static void keep_between(const batch *job, refs_gap_chunk *chunk, refs_stored stored) {
    if (chunk->is_claimed &&
        refs_cache__add_stored(job->array->context.cache, id_of_between(job, chunk), stored))
        chunk->is_claimed = false;
}

static void give_up_between(batch *job) {
    for (size_t i = 0; i < job->n_between; i++)
        if (job->between[i].is_claimed)
            refs_cache__abandon(job->array->context.cache, id_of_between(job, &job->between[i]));
    job->n_between = 0;
}

/* -- what arrives ------------------------------------------------------------------------------ */

static refs_status receive(void *user, size_t i, const refs_store_value *value, refs_error *err) {
    batch *job = user;
    refs_stored stored = {value->bytes, value->filter_mask};
    if (refs_group_failed(job->group)) return refs_fail(err, REFS_CANCELLED, "cancelled");
    if (i >= job->n_fetched) {
        keep_between(job, &job->between[i - job->n_fetched], stored);
        refs_block_finish(value->block, value->bytes.data);
        return REFS_OK;
    }
    loading *one = &job->fetched[i];
    refs_array *array = array_of(one);
    if (!value->is_present) return receive_absent(job, one, err);
    one->arrived = value->bytes.data;
    REFS_TRY(cut_out(one, &stored.bytes, err));
    if (stored.bytes.size == 0) {
        refs_block_finish(value->block, one->arrived);
        return take_absent(job, one);
    }
    atomic_fetch_add(&array->chunks_stored, 1);
    atomic_fetch_add(&array->bytes_stored, stored.bytes.size);
    if (!is_decoded_later(job, one)) return start_decode(job, one, stored, value->block, err);
    if (refs_cache__add_stored(job->array->context.cache, id_of(one), stored))
        one->is_claimed = false;
    refs_block_finish(value->block, one->arrived);
    return REFS_OK;
}

/* -- a batch ----------------------------------------------------------------------------------- */

static void note(batch *job, loading one) {
    job->fetched[job->n_fetched++] = one;
}

static void leave_to_others(batch *job, const loading *one) {
    if (one->wanted.to != NULL)
        job->busy[job->n_busy++] = one->wanted;
    else
        job->later[job->n_later++] = one->expected;
}

static void deliver_decoded(batch *job, const refs_wanted *wanted, refs_chunk *chunk) {
    deliver(job, wanted, refs_chunk__data(chunk));
    refs_chunk__release(chunk);
    atomic_fetch_add(&wanted->to->array->cache_hits, 1);
}

/* Delivers a chunk that is decoded, and notes down one that is to be fetched or decoded. A chunk is
 * claimed when it is requested: until then it is free for others. */
static void look_up(batch *job, refs_wanted wanted) {
    refs_array *array = wanted.to->array;
    loading one = {.wanted = wanted};
    refs_chunk_id id = {array->owner, wanted.number};
    refs_chunk *chunk = NULL;
    if (array->context.cache == NULL) {
        note(job, one);
        return;
    }
    switch (refs_cache__claim(array->context.cache, id, REFS_WANT_AT_HAND, &job->awaited, &chunk)) {
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
        deliver_decoded(job, &wanted, chunk);
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
    const loading one = {.expected = expected};
    if (!refs_cache__has(job->array->context.cache, id_of(&one)) &&
        job->who->is_wanted(job->who->user, expected.box))
        note(job, one);
}

/* -- claims ------------------------------------------------------------------------------------ */

/* Claims a chunk for a reader; false where it is there meanwhile, or another one loads it. */
static refs_status claim_wanted(batch *job, loading *one, bool *is_mine, refs_error *err) {
    refs_chunk *chunk = NULL;
    const refs_claim claim = refs_cache__claim(array_of(one)->context.cache, id_of(one),
                                               REFS_WANT_ELEMENTS, &job->awaited, &chunk);
    *is_mine = one->is_claimed = claim == REFS_CLAIM_MINE;
    if (claim == REFS_CLAIM_BUSY) leave_to_others(job, one);
    if (claim == REFS_CLAIM_DECODED) deliver_decoded(job, &one->wanted, chunk);
    if (claim != REFS_CLAIM_STORED) return REFS_OK;
    one->is_claimed = true;
    one->stored = chunk;
    return start_decode(job, one, refs_chunk__stored(chunk), NULL, err);
}

/* Claims a chunk, unless somebody has it or loads it, or the reader has passed it. That is asked
 * once it is claimed: from then on a reader that comes to it finds it busy. */
static bool claim_ahead(batch *job, loading *one) {
    one->is_claimed = refs_cache__claim(job->array->context.cache, id_of(one), REFS_WANT_BYTES,
                                        &job->awaited, NULL) == REFS_CLAIM_MINE;
    if (one->is_claimed && !job->who->is_wanted(job->who->user, one->expected.box))
        give_up(job, one);
    return one->is_claimed;
}

/* Releases the chunks before waiting for a shard: whoever loads it may wait for them. */
static bool claim_shard(batch *job, loading *one) {
    if (one->shard == NULL || one->shard->state != REFS_SHARD_WHOLE) return true;
    if (refs_shard__claim(one->shard)) return true;
    one->shard->state = REFS_SHARD_WHOLE; /* for the others of its chunks */
    give_up(job, one);
    leave_to_others(job, one);
    return false;
}

/* A chunk is going to be requested, or is at hand. */
static refs_status begin_chunk(void *user, size_t i, bool *is_needed, refs_error *err) {
    batch *job = user;
    if (i >= job->n_fetched) {
        *is_needed = claim_between(job, &job->between[i - job->n_fetched]);
        return REFS_OK;
    }
    loading *one = &job->fetched[i];
    if (array_of(one)->context.cache == NULL || one->is_alone || one->is_claimed) return REFS_OK;
    if (job->who != NULL)
        *is_needed = claim_ahead(job, one);
    else
        REFS_TRY(claim_wanted(job, one, is_needed, err));
    if (*is_needed) *is_needed = claim_shard(job, one);
    return REFS_OK;
}

static bool is_shard_awaited(const void *user, size_t i) {
    (void)i; /* few bytes, of which all that is wanted of a shard depends */
    return is_any_awaited(user);
}

/* Cheap as long as nobody waits for anything of the batch. */
static bool is_awaited(const void *user, size_t i) {
    const batch *job = user;
    if (!is_any_awaited(job)) return false;
    refs_chunk_id id = i < job->n_fetched ? id_of(&job->fetched[i])
                                          : id_of_between(job, &job->between[i - job->n_fetched]);
    return refs_cache__is_awaited(job->array->context.cache, id);
}

/* For what is fetched with `sink`; without one, for indices of shards. */
static refs_store_client client_of(batch *job, refs_store_sink sink) {
    refs_store_client client = {.sink = sink, .user = job};
    if (job->who != NULL) client.is_awaited = sink != NULL ? is_awaited : is_shard_awaited;
    return client;
}

/* -- chunks in shards -------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Chunks of one shard come together. */
static int compare_shards(const void *left, const void *right) {
    const loading *a = left, *b = right;
    int order = compare((uintptr_t)array_of(a), (uintptr_t)array_of(b));
    if (order == 0) order = compare(a->shard_number, b->shard_number);
    return order != 0 ? order : compare(number_of(a), number_of(b));
}

static bool has_shards(const batch *job) {
    for (size_t i = 0; i < job->n_fetched; i++)
        if (array_of(&job->fetched[i])->shards != NULL) return true;
    return false;
}

static void assign_shard(batch *job, loading *one) {
    refs_array *array = array_of(one);
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
    job->shards = refs_calloc(job->n_fetched, sizeof *job->shards);
    if (job->shards == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < job->n_fetched; i++) {
        loading *one = &job->fetched[i];
        const refs_array *array = array_of(one);
        if (array->shards != NULL)
            one->shard_number = refs_shards__of(array, number_of(one), &one->inner);
    }
    qsort(job->fetched, job->n_fetched, sizeof *job->fetched, compare_shards);
    for (size_t i = 0; i < job->n_fetched; i++) assign_shard(job, &job->fetched[i]);
    for (size_t i = 0; i < job->n_shards; i++) refs_shard__look_up(&job->shards[i]);
    return REFS_OK;
}

/* A read that waits for the index of a shard must have given its chunks up: the loader of that
 * index may need them. */
static void put_off(batch *job, loading *one) {
    give_up(job, one);
    leave_to_others(job, one);
}

/* Leaves what is to be fetched now. */
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

static refs_status find_in_shards(batch *job, refs_error *err) {
    if (!has_shards(job)) return REFS_OK;
    REFS_TRY(gather_shards(job, err));
    sort_out(job);
    const refs_store_client client = client_of(job, NULL);
    REFS_TRY(refs_shards__measure(job->shards, job->n_shards, &client, err));
    REFS_TRY(refs_shards__load_indices(job->shards, job->n_shards, &client, err));
    REFS_TRY(find_parts(job, err));
    sort_out(job);
    return REFS_OK;
}

/* -- fetching ---------------------------------------------------------------------------------- */

static bool are_of_one_array(const batch *job) {
    for (size_t i = 0; i < job->n_fetched; i++)
        if (array_of(&job->fetched[i]) != job->array) return false;
    return true;
}

static refs_status list_by_number(batch *job, uint64_t max_gap, refs_error *err) {
    uint64_t *numbers = refs_calloc(job->n_fetched, sizeof *numbers);
    if (numbers == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < job->n_fetched; i++) numbers[i] = number_of(&job->fetched[i]);
    job->n_between = refs_gaps__between(numbers, job->n_fetched, max_gap, job->between);
    refs_free(numbers);
    return REFS_OK;
}

/* Lists the chunks that may lie in the gaps of what is fetched. */
static refs_status list_between(batch *job, refs_error *err) {
    const refs_array *array = job->array;
    uint64_t max_gap =
        refs_store_max_gap(array->context.store) / refs_array__mean_stored(array) + 1;
    job->n_between = 0;
    if (array->context.cache == NULL || job->n_fetched < 2 || max_gap < 2 || !are_of_one_array(job))
        return REFS_OK;
    if (job->between == NULL) job->between = refs_calloc(REFS_MAX_GAP_CHUNKS, sizeof *job->between);
    if (job->between == NULL) return refs_fail_nomem(err);
    if (array->shards == NULL) {
        job->n_between = refs_gaps__all(array->grid.n_chunks, job->between);
        return job->n_between > 0 ? REFS_OK : list_by_number(job, max_gap, err);
    }
    for (size_t i = 0; i < job->n_shards; i++)
        if (job->shards[i].state == REFS_SHARD_OPEN)
            job->n_between = refs_shard__list(&job->shards[i], job->n_between, job->between);
    return REFS_OK;
}

static refs_status add_optional(const batch *job, refs_key_list *keys, const refs_gap_chunk *chunk,
                                refs_error *err) {
    uint64_t index[REFS_MAX_RANK];
    refs_grid__index(&job->array->grid, chunk->number, index);
    REFS_TRY(refs_key_list__add(keys, job->array, index, err));
    if (chunk->part.length > 0) keys->keys[keys->n - 1].part = chunk->part;
    keys->keys[keys->n - 1].is_optional = true;
    return REFS_OK;
}

static refs_status add_key(refs_key_list *keys, const loading *one, refs_error *err) {
    const refs_array *array = array_of(one);
    uint64_t index[REFS_MAX_RANK];
    refs_grid__index(&array->grid, number_of(one), index);
    REFS_TRY(refs_key_list__add(keys, array, index, err));
    refs_store_key *key = &keys->keys[keys->n - 1];
    if (one->part.length > 0) key->part = one->part;
    if (one->shard != NULL && one->part.length == 0) key->max_size = array->shards->max_stored;
    return REFS_OK;
}

/* Chunks of a shard that is fetched whole ask for the same, which is fetched once. From a local
 * file nothing comes along. */
static refs_status list_keys(batch *job, refs_key_list *keys, refs_error *err) {
    REFS_TRY(refs_key_list__open(keys, job->n_fetched + job->n_between, err));
    for (size_t i = 0; i < job->n_fetched; i++) REFS_TRY(add_key(keys, &job->fetched[i], err));
    if (job->n_between == 0 ||
        refs_store_is_local(job->array->context.store, refs_key_list__view(keys)[0].text))
        return REFS_OK;
    for (size_t i = 0; i < job->n_between; i++)
        REFS_TRY(add_optional(job, keys, &job->between[i], err));
    return REFS_OK;
}

static void tell_arrived(void *user) {
    const batch *job = user;
    if (job->watch != NULL && job->watch->arrived != NULL) job->watch->arrived(job->watch->user);
}

static refs_status fetch_keys(batch *job, refs_error *err) {
    if (job->who == NULL) atomic_fetch_add(&job->array->n_fetches, 1);
    refs_store_client client = client_of(job, receive);
    client.begins = begin_chunk;
    client.arrived = tell_arrived;
    refs_key_list keys = REFS_KEY_LIST_INIT;
    refs_status status = list_between(job, err);
    if (status == REFS_OK) status = list_keys(job, &keys, err);
    if (status == REFS_OK)
        status = refs_store_get_many(job->array->context.store, refs_key_list__view(&keys), keys.n,
                                     &client, err);
    refs_key_list__clear(&keys);
    give_up_between(job);
    return status;
}

static void forget_scratches(const batch *job) {
    refs_array *last = NULL;
    for (size_t i = 0; i < job->n_fetched; i++) {
        refs_array *array = array_of(&job->fetched[i]);
        if (array != last) refs_scratch_list__forget(&array->scratches);
        last = array;
    }
}

/* Decodes what was ready, and fetches and decodes the rest. The failure of a chunk explains more
 * than that the fetch was cancelled for it. */
static refs_status fetch(batch *job, refs_error *err) {
    refs_pool *pool = job->n_fetched + job->n_ready > 1 ? job->array->context.pool : NULL;
    REFS_TRY(refs_group_open(pool, &job->group, err));
    refs_group_prefer(job->group, is_any_awaited, job);
    refs_error fetch_error = REFS_ERROR_INIT;
    refs_status fetched = REFS_OK;
    for (size_t i = 0; i < job->n_ready && fetched == REFS_OK; i++) {
        loading *one = &job->ready[i];
        fetched = start_decode(job, one, refs_chunk__stored(one->stored), NULL, &fetch_error);
    }
    if (fetched == REFS_OK && job->n_fetched > 0)
        fetched = fetch_keys(job, &fetch_error);
    else if (fetched == REFS_OK)
        tell_arrived(job);
    refs_status decoded = refs_group_wait(job->group, err);
    refs_group_free(job->group);
    forget_scratches(job);
    if (decoded != REFS_OK) return decoded;
    return refs_fail(err, fetched, "%s", fetch_error.message);
}

/* Lets others try who wait for chunks, or indices of shards, that did not come. */
static void give_up_rest(batch *job) {
    for (size_t i = 0; i < job->n_fetched; i++) {
        give_up(job, &job->fetched[i]);
        refs_chunk__release(job->fetched[i].stored);
    }
    for (size_t i = 0; i < job->n_ready; i++) {
        give_up(job, &job->ready[i]);
        refs_chunk__release(job->ready[i].stored);
    }
    for (size_t i = 0; i < job->n_shards; i++) refs_shard__clear(&job->shards[i]);
    refs_free(job->shards);
    job->shards = NULL;
}

static refs_status open_batch(batch *job, size_t n, refs_error *err) {
    job->fetched = refs_calloc(n, sizeof *job->fetched);
    job->ready = refs_calloc(n, sizeof *job->ready);
    return job->fetched != NULL && job->ready != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* Begins anew with nothing to fetch. */
static void reset_batch(batch *job) {
    job->n_fetched = job->n_ready = job->n_shards = job->n_busy = job->n_later = 0;
}

static void clear_batch(batch *job) {
    refs_free(job->between);
    refs_free(job->fetched);
    refs_free(job->ready);
}

/* -- readers ----------------------------------------------------------------------------------- */

/* Loads what is not busy. Those that are come to the front of `wanted`: a busy chunk is noted down
 * where a chunk was that is not needed any more. */
static refs_status load_free(batch *job, refs_wanted *wanted, size_t n, refs_error *err) {
    reset_batch(job);
    job->busy = wanted;
    for (size_t i = 0; i < n; i++) look_up(job, wanted[i]);
    refs_status status = find_in_shards(job, err);
    if (status == REFS_OK && job->n_fetched + job->n_ready > 0)
        status = fetch(job, err);
    else if (status == REFS_OK)
        tell_arrived(job);
    give_up_rest(job);
    return status;
}

/* Waits for one of the chunks that others load, or for its shard. */
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

/* Own chunks first, and only then those of others: two threads that want each other's chunks both
 * get on. */
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
        if (status == REFS_OK) status = load_free(&job, wanted, n, err);
        job.is_alone = n_loads > 1; /* what is busy now is waited for again */
        if (status == REFS_OK && job.n_busy > 0) status = await_busy(&job, err);
        n = job.n_busy;
    }
    n_loads--;
    refs_cancel_scope_end(&scope);
    clear_batch(&job);
    return status;
}

/* -- prefetch ---------------------------------------------------------------------------------- */

/* Loads what nobody has or loads. Chunks in shards whose indices others load come to the front of
 * `expected`. */
static refs_status load_free_ahead(batch *job, refs_ahead_chunk *expected, size_t n) {
    reset_batch(job);
    job->later = expected;
    for (size_t i = 0; i < n; i++) look_up_ahead(job, expected[i]);
    refs_status status = find_in_shards(job, NULL);
    if (status == REFS_OK && job->n_fetched > 0) status = fetch(job, NULL);
    give_up_rest(job);
    return status;
}

/* Waits for an index: those who load it wait for nothing but their own request. */
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
        status = load_free_ahead(&job, expected, n);
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
