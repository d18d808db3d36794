/* load.c -- see load.h. */
#include "load.h"

#include "refs/block.h"
#include "refs/pool.h"

/* How often a reader that waits for others looks whether it was cancelled. */
#define POLL_MS 50

/* A chunk that this call loads. */
typedef struct loading {
    refs_wanted wanted;     /* of a reader; or `to` is NULL, and … */
    refs_expected expected; /* … of who prefetches */
    refs_chunk *stored;     /* its bytes, if they are there */
    bool is_claimed;        /* others wait for this call to load it */
} loading;

/* One call. */
typedef struct batch {
    refs_array *array;          /* the first one: all share its tools */
    const refs_prefetcher *who; /* that prefetches, or NULL: a reader waits */
    const refs_progress *progress;
    _Atomic size_t n_done;
    size_t n_all;
    refs_group *group;
    refs_buf key_text;    /* keys of the chunks that are fetched, end to end */
    size_t *key_end;      /* where each ends */
    refs_store_key *keys; /* the same as views */
    loading *fetched;     /* which chunk each is */
    size_t n_keys;
    loading *ready; /* chunks whose bytes were there */
    size_t n_ready;
    refs_wanted *busy; /* chunks that others load; in the caller's list */
    size_t n_busy;
    refs_awaited awaited; /* somebody waits for a chunk that is loaded here */
} batch;

static refs_array *array_of(const batch *job, const loading *one) {
    return one->wanted.to != NULL ? one->wanted.to->array : job->who->array;
}

static uint64_t number_of(const loading *one) {
    return one->wanted.to != NULL ? one->wanted.number : one->expected.number;
}

static refs_chunk_id id_of(const batch *job, const loading *one) {
    return (refs_chunk_id){array_of(job, one)->owner, number_of(one)};
}

static void give_up(const batch *job, loading *one) {
    if (one->is_claimed) refs_cache__abandon(job->array->tools.cache, id_of(job, one));
    one->is_claimed = false;
}

/* -- delivering -------------------------------------------------------------------------------- */

static void deliver(batch *job, const refs_wanted *wanted, const uint8_t *elements) {
    if (wanted->to == NULL) return;
    if (wanted->to->deliver != NULL) wanted->to->deliver(wanted->to->user, wanted->item, elements);
    atomic_fetch_add(&job->n_done, 1);
}

static bool may_go_on(batch *job) {
    if (job->who != NULL) return !atomic_load(&job->array->ending);
    if (job->progress == NULL || job->progress->report == NULL) return true;
    double done = (double)atomic_load(&job->n_done) / (double)job->n_all;
    return job->progress->report(job->progress->user, done);
}

/* -- decoding one chunk ------------------------------------------------------------------------ */

/* Stored bytes on their way to a worker. */
typedef struct decode_task {
    batch *job;
    loading *one;
    refs_bytes stored;
    refs_block *block; /* that holds them, or NULL */
} decode_task;

/* A worker does not know where what it decodes came from. */
static refs_status locate(const decode_task *task, refs_status status, refs_error *err) {
    refs_array *array = array_of(task->job, task->one);
    uint64_t index[REFS_MAX_RANK];
    refs_buf key = REFS_BUF_INIT;
    refs_grid__index(&array->grid, number_of(task->one), index);
    if (refs_chunk_key(array->meta, index, &key, NULL) == REFS_OK)
        refs_store_locate(array->tools.store,
                          &(refs_store_key){.text = refs_str_view((char *)key.data, key.size)},
                          err);
    refs_buf_clear(&key);
    return status;
}

static refs_status decode_in_place(const decode_task *task, uint8_t *place, refs_error *err) {
    refs_array *array = array_of(task->job, task->one);
    refs_status status = refs_array__decode(array, number_of(task->one), task->stored, place, err);
    if (status != REFS_OK) return locate(task, status, err);
    atomic_fetch_add(&task->job->n_done, 1);
    return REFS_OK;
}

static refs_status decode_to_chunk(const decode_task *task, refs_error *err) {
    refs_array *array = array_of(task->job, task->one);
    refs_chunk *chunk = refs_chunk__new_for(array->tools.cache, array->chunk_bytes);
    if (chunk == NULL) return refs_fail_nomem(err);
    refs_status status =
        refs_array__decode(array, number_of(task->one), task->stored, refs_chunk__data(chunk), err);
    if (status == REFS_OK) {
        if (array->tools.cache != NULL)
            refs_cache__add_decoded(array->tools.cache, id_of(task->job, task->one), chunk);
        task->one->is_claimed = false;
        deliver(task->job, &task->one->wanted, refs_chunk__data(chunk));
    }
    refs_chunk__release(chunk);
    return status == REFS_OK ? REFS_OK : locate(task, status, err);
}

/* What was prefetched in vain fails where it is read. */
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
    refs_block_finish(task->block, task->stored.data);
    refs_block_release(task->block);
    refs_chunk__release(task->one->stored);
    task->one->stored = NULL;
    refs_free(task);
}

static refs_status start_decode(batch *job, loading *one, refs_bytes stored, refs_block *block,
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
    return array->meta->rank > 1 && array->grid.n_chunks == 1;
}

/* Looks for an absent chunk under that name. REFS_NOT_FOUND: it is not there either. */
static refs_status receive_zero(batch *job, loading *one, refs_error *err) {
    const refs_array *array = array_of(job, one);
    refs_buf key = REFS_BUF_INIT, value = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&key, err, "%s0", array->meta->key_prefix);
    if (status == REFS_OK)
        status = refs_store_get(array->tools.store, refs_str_view((char *)key.data, key.size),
                                array->max_stored, &value, err);
    decode_task task = {job, one, refs_buf_view(&value), NULL};
    if (status == REFS_OK) status = run_decode(&task, err);
    refs_buf_clear(&key);
    refs_buf_clear(&value);
    return status;
}

static refs_status receive_absent(batch *job, loading *one, refs_error *err) {
    refs_array *array = array_of(job, one);
    refs_status status = may_be_called_zero(array) ? receive_zero(job, one, err) : REFS_NOT_FOUND;
    if (status != REFS_NOT_FOUND) return status;
    give_up(job, one);
    if (job->who == NULL) atomic_fetch_add(&array->chunks_absent, 1);
    deliver(job, &one->wanted, NULL);
    return REFS_OK;
}

/* Keeps what nobody waits for, and what is not next, as it is stored. */
static refs_status keep_stored(batch *job, loading *one, refs_bytes stored) {
    refs_chunk *chunk = refs_chunk__new(stored.size);
    if (chunk != NULL) {
        memcpy(refs_chunk__data(chunk), stored.data, stored.size);
        refs_cache__add_stored(job->array->tools.cache, id_of(job, one), chunk);
        one->is_claimed = false;
    }
    refs_chunk__release(chunk);
    return REFS_OK;
}

static bool is_decoded_later(batch *job, const loading *one) {
    return job->who != NULL && !job->who->is_near(job->who->user, one->expected.box) &&
           !refs_cache__is_awaited(job->array->tools.cache, id_of(job, one));
}

static refs_status receive(void *user, size_t i, bool present, refs_bytes stored, refs_block *block,
                           refs_error *err) {
    batch *job = user;
    loading *one = &job->fetched[i];
    refs_array *array = array_of(job, one);
    if (refs_group_failed(job->group)) return refs_fail(err, REFS_CANCELLED, "cancelled");
    if (!present) return receive_absent(job, one, err);
    atomic_fetch_add(&array->chunks_stored, 1);
    atomic_fetch_add(&array->bytes_stored, stored.size);
    if (is_decoded_later(job, one)) {
        refs_block_finish(block, stored.data);
        return keep_stored(job, one, stored);
    }
    return start_decode(job, one, stored, block, err);
}

/* -- a batch ----------------------------------------------------------------------------------- */

static refs_status note_key(batch *job, loading one, refs_error *err) {
    const refs_array *array = array_of(job, &one);
    uint64_t index[REFS_MAX_RANK];
    refs_grid__index(&array->grid, number_of(&one), index);
    job->fetched[job->n_keys++] = one;
    REFS_TRY(refs_chunk_key(array->meta, index, &job->key_text, err));
    job->key_end[job->n_keys - 1] = job->key_text.size;
    return REFS_OK;
}

static void view_keys(batch *job) {
    const char *text = (const char *)job->key_text.data;
    for (size_t i = 0, from = 0; i < job->n_keys; from = job->key_end[i++])
        job->keys[i] = (refs_store_key){.text = refs_str_view(text + from, job->key_end[i] - from),
                                        .max_size = array_of(job, &job->fetched[i])->max_stored};
}

/* Delivers a chunk that is decoded, and notes down one that is to be fetched or decoded. */
static refs_status look_up(batch *job, refs_wanted wanted, refs_error *err) {
    refs_array *array = wanted.to->array;
    loading one = {.wanted = wanted};
    if (array->tools.cache == NULL) return note_key(job, one, err);
    refs_chunk_id id = {array->owner, wanted.number};
    refs_chunk *chunk = NULL;
    switch (refs_cache__claim(array->tools.cache, id, REFS_WANT_ELEMENTS, &job->awaited, &chunk)) {
    case REFS_CLAIM_MINE:
        one.is_claimed = true;
        return note_key(job, one, err);
    case REFS_CLAIM_STORED:
        one.is_claimed = true;
        one.stored = chunk;
        job->ready[job->n_ready++] = one;
        return REFS_OK;
    case REFS_CLAIM_DECODED:
        deliver(job, &wanted, refs_chunk__data(chunk));
        refs_chunk__release(chunk);
        atomic_fetch_add(&array->cache_hits, 1);
        return REFS_OK;
    case REFS_CLAIM_BUSY:
    case REFS_CLAIM_NOTHING:
        break;
    }
    job->busy[job->n_busy++] = wanted;
    return REFS_OK;
}

/* Claims a chunk, unless the reader has passed it. That is asked once it is claimed: from then on a
 * reader that comes to it finds it busy. */
static refs_status look_up_ahead(batch *job, refs_expected expected, refs_error *err) {
    refs_cache *cache = job->array->tools.cache;
    loading one = {.expected = expected, .is_claimed = true};
    if (refs_cache__claim(cache, id_of(job, &one), REFS_WANT_BYTES, &job->awaited, NULL) !=
        REFS_CLAIM_MINE)
        return REFS_OK;
    if (job->who->is_wanted(job->who->user, expected.box)) return note_key(job, one, err);
    give_up(job, &one);
    return REFS_OK;
}

static bool is_awaited(const void *user) {
    return atomic_load(&((const batch *)user)->awaited.is);
}

static bool client_may_go_on(void *user) {
    return may_go_on(user);
}

static refs_status fetch_keys(batch *job, refs_error *err) {
    const refs_store_client client = {.sink = receive,
                                      .user = job,
                                      .go_on = client_may_go_on,
                                      .is_awaited = job->who != NULL ? is_awaited : NULL};
    view_keys(job);
    return refs_store_get_many(job->array->tools.store, job->keys, job->n_keys, &client, err);
}

static void forget_scratches(const batch *job) {
    refs_array *last = NULL;
    for (size_t i = 0; i < job->n_keys; i++) {
        refs_array *array = array_of(job, &job->fetched[i]);
        if (array != last) refs_scratch_list__forget(&array->scratches);
        last = array;
    }
}

/* Decodes what was ready, and fetches and decodes the rest. What went wrong with a chunk explains
 * more than that the fetch was cancelled for it. */
static refs_status fetch(batch *job, refs_error *err) {
    refs_pool *pool = job->n_keys + job->n_ready > 1 ? job->array->tools.pool : NULL;
    REFS_TRY(refs_group_open(pool, &job->group, err));
    refs_group_prefer(job->group, is_awaited, job);
    refs_error fetch_error = REFS_ERROR_INIT;
    refs_status fetched = REFS_OK;
    for (size_t i = 0; i < job->n_ready && fetched == REFS_OK; i++) {
        loading *one = &job->ready[i];
        refs_bytes stored =
            refs_bytes_view(refs_chunk__data(one->stored), refs_chunk__size(one->stored));
        fetched = start_decode(job, one, stored, NULL, &fetch_error);
    }
    if (fetched == REFS_OK && job->n_keys > 0) fetched = fetch_keys(job, &fetch_error);
    refs_status decoded = refs_group_wait(job->group, err);
    refs_group_free(job->group);
    forget_scratches(job);
    if (decoded != REFS_OK) return decoded;
    return refs_fail(err, fetched, "%s", fetch_error.message);
}

/* Lets others try who wait for chunks that did not come. */
static void give_up_rest(batch *job) {
    for (size_t i = 0; i < job->n_keys; i++) give_up(job, &job->fetched[i]);
    for (size_t i = 0; i < job->n_ready; i++) {
        give_up(job, &job->ready[i]);
        refs_chunk__release(job->ready[i].stored);
    }
}

static bool open_batch(batch *job, size_t n) {
    job->keys = refs_calloc(n, sizeof *job->keys);
    job->key_end = refs_calloc(n, sizeof *job->key_end);
    job->fetched = refs_calloc(n, sizeof *job->fetched);
    job->ready = refs_calloc(n, sizeof *job->ready);
    return job->keys != NULL && job->key_end != NULL && job->fetched != NULL && job->ready != NULL;
}

static void clear_batch(batch *job) {
    refs_buf_clear(&job->key_text);
    refs_free(job->keys);
    refs_free(job->key_end);
    refs_free(job->fetched);
    refs_free(job->ready);
}

/* -- readers ----------------------------------------------------------------------------------- */

/* Loads what is not busy. Those that are come to the front of `wanted`: a busy chunk is noted down
 * where a chunk was that is not needed any more. */
static refs_status load_free(batch *job, refs_wanted *wanted, size_t n, refs_error *err) {
    refs_status status = REFS_OK;
    job->n_keys = job->n_ready = job->n_busy = 0;
    job->key_text.size = 0;
    job->busy = wanted;
    for (size_t i = 0; i < n && status == REFS_OK; i++) status = look_up(job, wanted[i], err);
    if (status == REFS_OK && job->n_keys + job->n_ready > 0) status = fetch(job, err);
    give_up_rest(job);
    return status;
}

/* Waits for one of the chunks that others load. */
static refs_status await_busy(batch *job, refs_error *err) {
    const refs_wanted *first = &job->busy[0];
    refs_chunk_id id = {first->to->array->owner, first->number};
    while (!refs_cache__await(job->array->tools.cache, id, POLL_MS))
        if (!may_go_on(job)) return refs_fail(err, REFS_CANCELLED, "cancelled");
    return REFS_OK;
}

/* Own chunks first, and only then those of others: two threads that want each other's chunks both
 * get on. */
refs_status refs_array__load(refs_wanted *wanted, size_t n, const refs_progress *progress,
                             refs_error *err) {
    if (n == 0) return REFS_OK;
    batch job = {.array = wanted[0].to->array, .progress = progress, .n_all = n};
    atomic_init(&job.awaited.is, true);
    atomic_init(&job.n_done, 0);
    refs_status status = open_batch(&job, n) ? REFS_OK : refs_fail_nomem(err);
    while (status == REFS_OK && n > 0) {
        if (!may_go_on(&job)) status = refs_fail(err, REFS_CANCELLED, "cancelled");
        if (status == REFS_OK) status = load_free(&job, wanted, n, err);
        if (status == REFS_OK && job.n_busy > 0) status = await_busy(&job, err);
        n = job.n_busy;
    }
    clear_batch(&job);
    return status;
}

/* -- prefetch ---------------------------------------------------------------------------------- */

void refs_array__load_ahead(const refs_prefetcher *who, const refs_expected *expected, size_t n) {
    if (n == 0) return;
    batch job = {.array = who->array, .who = who, .n_all = n};
    atomic_init(&job.awaited.is, false);
    atomic_init(&job.n_done, 0);
    refs_status status = open_batch(&job, n) ? REFS_OK : REFS_NOMEM;
    for (size_t i = 0; i < n && status == REFS_OK; i++)
        status = look_up_ahead(&job, expected[i], NULL);
    if (status == REFS_OK && job.n_keys > 0) status = fetch(&job, NULL);
    give_up_rest(&job);
    clear_batch(&job);
}

void refs_array__decode_stored(refs_array *array, uint64_t number) {
    refs_cache *cache = array->tools.cache;
    refs_chunk_id id = {array->owner, number};
    refs_chunk *stored = NULL;
    if (refs_cache__claim(cache, id, REFS_WANT_DECODED, NULL, &stored) != REFS_CLAIM_STORED) return;
    refs_chunk *chunk = refs_chunk__new_for(cache, array->chunk_bytes);
    refs_bytes bytes = refs_bytes_view(refs_chunk__data(stored), refs_chunk__size(stored));
    if (chunk != NULL &&
        refs_array__decode(array, number, bytes, refs_chunk__data(chunk), NULL) == REFS_OK)
        refs_cache__add_decoded(cache, id, chunk);
    else
        refs_cache__abandon(cache, id);
    refs_chunk__release(chunk);
    refs_chunk__release(stored);
}
