/* bring.c -- chunks: from the cache, from a thread that is at it already, or from the store; see
 * array_object.h. */
#include "array_object.h"
#include "refs/block.h"
#include "refs/pool.h"

/* A chunk, numbered as its cut numbers it. */
typedef struct wanted_chunk {
    const refs_bringing *bringing;
    uint64_t number;
} wanted_chunk;

/* One batch of chunks, of one array or several that share their tools. */
typedef struct batch {
    const refs_bringing *bringing; /* of the first: all are for the same use */
    refs_group *group;
    refs_buf key_text;    /* keys of the chunks that are fetched, end to end */
    size_t *key_end;      /* where each ends */
    refs_store_key *keys; /* the same as views */
    wanted_chunk *chunks; /* which chunk each is */
    bool *claimed;        /* whether others wait for this batch to bring it */
    size_t n_keys;
    bool *rides;        /* working memory */
    wanted_chunk *busy; /* chunks that other threads bring */
    size_t n_busy;
    _Atomic bool awaited; /* somebody waits for a chunk that this batch brings */
} batch;

/* What the cache knows a chunk by: its number in the whole array. */
static refs_chunk_id id_of(const refs_bringing *bringing, uint64_t number) {
    const refs_array_meta *meta = bringing->array->meta;
    const refs_span *spans[REFS_MAX_RANK];
    refs_array__cut_at(bringing->cut, number, spans);
    uint64_t in_array = 0;
    for (size_t dim = 0; dim < meta->rank; dim++)
        in_array = in_array * refs_array_meta_n_chunks(meta, dim) + spans[dim]->chunk;
    return (refs_chunk_id){bringing->array->owner, in_array};
}

static void deliver(const refs_bringing *bringing, uint64_t number, const uint8_t *elements) {
    if (bringing->deliver != NULL) bringing->deliver(bringing->user, number, elements);
}

/* How many elements of a chunk a read takes, and how many there are inside the array. */
static void count_elements(const refs_bringing *bringing, uint64_t number, uint64_t *taken,
                           uint64_t *all) {
    const refs_array_meta *meta = bringing->array->meta;
    const refs_span *spans[REFS_MAX_RANK];
    refs_array__cut_at(bringing->cut, number, spans);
    *taken = *all = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        uint64_t left = meta->shape[dim] - spans[dim]->chunk * meta->chunk[dim];
        *taken *= spans[dim]->n;
        *all *= left < meta->chunk[dim] ? left : meta->chunk[dim];
    }
}

static void deliver_chunk(const refs_bringing *bringing, uint64_t number, refs_chunk *chunk) {
    deliver(bringing, number, refs_chunk__data(chunk));
    refs_cache *cache = bringing->array->tools.cache;
    if (cache != NULL && bringing->deliver != NULL) {
        uint64_t taken, all;
        count_elements(bringing, number, &taken, &all);
        refs_cache__spend(cache, chunk, taken, all);
    }
    refs_chunk__release(chunk);
}

/* -- decoding one chunk -- */

/* Stored bytes on their way to a worker. */
typedef struct decode_task {
    const batch *job;
    size_t index; /* of its key */
    refs_bytes stored;
    refs_block *block; /* that holds them, or NULL */
} decode_task;

/* Where the elements of a chunk go. */
typedef struct chunk_room {
    uint8_t *elements;
    size_t least; /* bytes that must come */
} chunk_room;

/* Bytes that chunk `number` has at least: producers may leave out what is outside the array along
 * the dimension that varies slowest, and everywhere else elements would lie differently. */
static size_t least_bytes(const refs_bringing *bringing, uint64_t number) {
    const refs_array_meta *meta = bringing->array->meta;
    const refs_span *spans[REFS_MAX_RANK];
    size_t dim = meta->order[0];
    if (meta->rank == 0) return bringing->array->chunk_bytes;
    refs_array__cut_at(bringing->cut, number, spans);
    uint64_t left = meta->shape[dim] - spans[dim]->chunk * meta->chunk[dim];
    if (left >= meta->chunk[dim]) return bringing->array->chunk_bytes;
    return bringing->array->chunk_bytes / (size_t)meta->chunk[dim] * (size_t)left;
}

static refs_status run_chain(const refs_array *array, refs_bytes stored, refs_scratch *scratch,
                             chunk_room room, refs_error *err) {
    size_t size;
    if (room.least == array->chunk_bytes)
        return refs_chain_decode(array->chain, stored, scratch, room.elements, err);
    REFS_TRY(refs_chain_decode_short(array->chain, stored, scratch, room.elements, &size, err));
    if (size != array->chunk_bytes && size != room.least)
        return refs_fail(err, REFS_CORRUPT, "has %zu bytes, %zu or %zu expected", size,
                         array->chunk_bytes, room.least);
    memset(room.elements + size, 0, array->chunk_bytes - size);
    return REFS_OK;
}

/* Every thread has working memory of its own. */
static refs_status decode(const refs_bringing *bringing, refs_bytes stored, chunk_room room,
                          refs_error *err) {
    refs_array *array = bringing->array;
    if (array->chain == NULL)
        return refs_fail(err, array->chain_error.status, "%s", array->chain_error.message);
    refs_scratch_node *node = refs_scratch_list__take(&array->scratches);
    if (node == NULL) return refs_fail_nomem(err);
    refs_status status = run_chain(array, stored, &node->scratch, room, err);
    refs_scratch_list__put(&array->scratches, node);
    if (status != REFS_OK) return status;
    refs_array__to_host_order(&array->meta->dtype, room.elements, array->chunk_elements);
    atomic_fetch_add(&array->chunks_decoded, 1);
    return REFS_OK;
}

/* A failure that a worker found, which does not know what it reads. */
static refs_status fail_located(const decode_task *task, const refs_bringing *bringing,
                                refs_status status, refs_error *err) {
    refs_store_locate(bringing->array->tools.store, task->job->keys[task->index].text, err);
    return status;
}

static refs_status decode_in_place(const decode_task *task, const refs_bringing *bringing,
                                   uint8_t *elements, refs_error *err) {
    chunk_room room = {elements, bringing->array->chunk_bytes};
    refs_status status = decode(bringing, task->stored, room, err);
    return status == REFS_OK ? REFS_OK : fail_located(task, bringing, status, err);
}

static refs_status decode_to_chunk(const decode_task *task, wanted_chunk wanted, refs_error *err) {
    const refs_bringing *bringing = wanted.bringing;
    uint64_t number = wanted.number;
    refs_array *array = bringing->array;
    refs_chunk *chunk = refs_chunk__new_for(array->tools.cache, array->chunk_bytes, bringing->use);
    if (chunk == NULL) return refs_fail_nomem(err);
    chunk_room room = {refs_chunk__data(chunk), least_bytes(bringing, number)};
    refs_status status = decode(bringing, task->stored, room, err);
    if (status != REFS_OK) {
        refs_chunk__release(chunk);
        return fail_located(task, bringing, status, err);
    }
    if (array->tools.cache != NULL)
        refs_cache__add(array->tools.cache, id_of(bringing, number), chunk, bringing->use);
    deliver_chunk(bringing, number, chunk);
    return REFS_OK;
}

static refs_status run_decode(void *argument, refs_error *err) {
    const decode_task *task = argument;
    const wanted_chunk wanted = task->job->chunks[task->index];
    const refs_bringing *bringing = wanted.bringing;
    uint8_t *place =
        bringing->place != NULL ? bringing->place(bringing->user, wanted.number) : NULL;
    return place != NULL ? decode_in_place(task, bringing, place, err)
                         : decode_to_chunk(task, wanted, err);
}

static void drop_decode(void *argument) {
    decode_task *task = argument;
    const refs_bringing *bringing = task->job->bringing;
    if (bringing->await_room != NULL)
        refs_cache__give_room(bringing->array->tools.cache, bringing->array->chunk_bytes);
    refs_block_finish(task->block, task->stored.data);
    refs_block_release(task->block);
    refs_free(task);
}

/* Whether an array has one chunk, which kerchunk calls "0" if it inlines a GRIB2 array, whatever
 * its rank. */
static bool may_be_called_zero(const refs_array_meta *meta) {
    uint64_t n_chunks = 1;
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (refs_array_meta_n_chunks(meta, dim) != 1) n_chunks = 0;
    return meta->rank > 1 && n_chunks == 1;
}

/* Looks for an absent chunk under that name. REFS_NOT_FOUND: it is not there either. */
static refs_status receive_zero(const batch *job, size_t index, refs_error *err) {
    const refs_array *array = job->chunks[index].bringing->array;
    refs_buf key = REFS_BUF_INIT, value = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&key, err, "%s0", array->meta->key_prefix);
    if (status == REFS_OK)
        status = refs_store_get(array->tools.store, refs_str_view((char *)key.data, key.size),
                                array->max_stored, &value, err);
    decode_task task = {job, index, refs_buf_view(&value), NULL};
    if (status == REFS_OK) status = run_decode(&task, err);
    refs_buf_clear(&key);
    refs_buf_clear(&value);
    return status;
}

static refs_status receive_absent(const batch *job, size_t index, refs_error *err) {
    refs_array *array = job->chunks[index].bringing->array;
    refs_status status =
        may_be_called_zero(array->meta) ? receive_zero(job, index, err) : REFS_NOT_FOUND;
    if (status != REFS_NOT_FOUND) return status;
    atomic_fetch_add(&array->chunks_absent, 1);
    deliver(job->chunks[index].bringing, job->chunks[index].number, NULL);
    return REFS_OK;
}

static refs_status receive(void *user, size_t index, bool present, refs_bytes stored,
                           refs_block *block, refs_error *err) {
    const batch *job = user;
    const refs_bringing *bringing = job->bringing;
    if (refs_group_failed(job->group)) return refs_fail(err, REFS_CANCELLED, "cancelled");
    if (!present) return receive_absent(job, index, err);
    decode_task *task = refs_alloc(sizeof *task);
    if (task == NULL) return refs_fail_nomem(err);
    if (bringing->await_room != NULL && !bringing->await_room(bringing->user, &job->awaited)) {
        refs_free(task);
        return refs_fail(err, REFS_CANCELLED, "not wanted any more");
    }
    *task = (decode_task){job, index, stored, refs_block_hold(block)};
    return refs_group_add(job->group, run_decode, drop_decode, task, err);
}

/* -- a batch -- */

static refs_status note_key(batch *job, wanted_chunk wanted, refs_error *err) {
    const refs_span *spans[REFS_MAX_RANK];
    uint64_t index[REFS_MAX_RANK];
    const refs_cut *cut = wanted.bringing->cut;
    refs_array__cut_at(cut, wanted.number, spans);
    for (size_t dim = 0; dim < cut->rank; dim++) index[dim] = spans[dim]->chunk;
    job->chunks[job->n_keys++] = wanted;
    REFS_TRY(refs_chunk_key(wanted.bringing->array->meta, index, &job->key_text, err));
    job->key_end[job->n_keys - 1] = job->key_text.size;
    return REFS_OK;
}

/* Claims a chunk, unless the reader has passed it. That is asked once it is claimed: from then on a
 * reader that comes to it finds it busy. */
static refs_claim claim(batch *job, wanted_chunk wanted, refs_chunk_use use, refs_chunk **chunk) {
    const refs_bringing *bringing = wanted.bringing;
    refs_cache *cache = bringing->array->tools.cache;
    refs_chunk_id id = id_of(bringing, wanted.number);
    refs_claim claimed = refs_cache__claim(cache, id, use, &job->awaited, chunk);
    bool passed = claimed == REFS_CLAIM_MINE && bringing->passed != NULL &&
                  bringing->passed(bringing->user, wanted.number);
    if (!passed) return claimed;
    refs_cache__abandon(cache, id);
    return REFS_CLAIM_BUSY;
}

/* Delivers a chunk that is in the cache, and notes down one that is to be brought. */
static refs_status look_up(batch *job, wanted_chunk wanted, refs_error *err) {
    const refs_bringing *bringing = wanted.bringing;
    refs_array *array = bringing->array;
    if (array->tools.cache == NULL) return note_key(job, wanted, err);
    refs_chunk *chunk = NULL;
    switch (claim(job, wanted, bringing->use, &chunk)) {
    case REFS_CLAIM_MINE:
        job->claimed[job->n_keys] = true;
        return note_key(job, wanted, err);
    case REFS_CLAIM_BUSY:
        job->busy[job->n_busy++] = wanted;
        return REFS_OK;
    case REFS_CLAIM_FOUND:
        break;
    }
    atomic_fetch_add(&array->cache_hits, 1);
    deliver_chunk(bringing, wanted.number, chunk);
    return REFS_OK;
}

static void view_keys(batch *job) {
    const char *text = (const char *)job->key_text.data;
    for (size_t i = 0, from = 0; i < job->n_keys; from = job->key_end[i++])
        job->keys[i] = (refs_store_key){refs_str_view(text + from, job->key_end[i] - from),
                                        job->chunks[i].bringing->array->max_stored};
}

static bool claim_rider(batch *job, wanted_chunk rider) {
    refs_chunk *chunk = NULL;
    refs_claim claimed = claim(job, rider, REFS_USE_LATER, &chunk);
    refs_chunk__release(chunk);
    return claimed == REFS_CLAIM_MINE;
}

/* Adds the chunks that had better come along; not more of them than are wanted, for they take
 * memory of the cache long before they are read. */
static refs_status add_riders(batch *job, uint64_t begin, uint64_t end, refs_error *err) {
    size_t n_wanted = job->n_keys;
    if (n_wanted == 0 || begin == end) return REFS_OK;
    for (uint64_t number = begin; number < end; number++)
        REFS_TRY(note_key(job, (wanted_chunk){job->bringing, number}, err));
    view_keys(job);
    size_t n = job->n_keys;
    job->n_keys = n_wanted;
    REFS_TRY(refs_store_find_riders(job->bringing->array->tools.store, job->keys, n, n_wanted,
                                    job->rides, err));
    for (size_t i = n_wanted; i < n && job->n_keys < 2 * n_wanted; i++) {
        if (!job->rides[i - n_wanted] || !claim_rider(job, job->chunks[i])) continue;
        job->claimed[job->n_keys] = true;
        job->keys[job->n_keys] = job->keys[i];
        job->chunks[job->n_keys++] = job->chunks[i];
    }
    return REFS_OK;
}

static bool is_awaited(const void *job) {
    return atomic_load(&((const batch *)job)->awaited);
}

/* What reads ahead goes on decoding, and keeps its working memory. */
static void forget_scratches(const batch *job) {
    refs_array *last = NULL;
    if (job->bringing->use != REFS_USE_NOW) return;
    for (size_t i = 0; i < job->n_keys; i++) {
        refs_array *array = job->chunks[i].bringing->array;
        if (array != last) refs_scratch_list__forget(&array->scratches);
        last = array;
    }
}

/* Fetches and decodes what was noted down. What went wrong with a chunk explains more than that the
 * fetch was cancelled for it. */
static refs_status fetch(batch *job, refs_error *err) {
    const refs_array_tools *tools = &job->bringing->array->tools;
    REFS_TRY(refs_group_open(job->n_keys > 1 ? tools->pool : NULL, &job->group, err));
    refs_group_prefer(job->group, is_awaited, job);
    refs_error fetch_error = REFS_ERROR_INIT;
    bool ahead = job->bringing->use != REFS_USE_NOW;
    refs_status fetched = refs_store_get_many(tools->store, job->keys, job->n_keys, ahead, receive,
                                              job, &fetch_error);
    refs_status decoded = refs_group_wait(job->group, err);
    refs_group_free(job->group);
    forget_scratches(job);
    if (decoded != REFS_OK) return decoded;
    return refs_fail(err, fetched, "%s", fetch_error.message);
}

/* Lets others try who wait for chunks that did not come: absent ones, and all after a failure. */
static void abandon_claims(const batch *job) {
    const refs_array *array = job->bringing->array;
    for (size_t i = 0; i < job->n_keys; i++)
        if (job->claimed[i])
            refs_cache__abandon(array->tools.cache,
                                id_of(job->chunks[i].bringing, job->chunks[i].number));
}

/* Waits for what other threads bring; what did not come is left in `busy`, to be tried again. */
static void await_busy(batch *job) {
    const refs_array *array = job->bringing->array;
    size_t n_left = 0;
    for (size_t i = 0; i < job->n_busy; i++) {
        refs_chunk_id id = id_of(job->busy[i].bringing, job->busy[i].number);
        refs_chunk *chunk = refs_cache__await(array->tools.cache, id);
        if (chunk != NULL)
            deliver_chunk(job->busy[i].bringing, job->busy[i].number, chunk);
        else
            job->busy[n_left++] = job->busy[i];
    }
    job->n_busy = n_left;
}

/* Brings `n` chunks. Own ones first, and only then those of others: two threads that want each
 * other's chunks both get on. */
static refs_status bring(batch *job, const wanted_chunk *wanted, size_t n, uint64_t end_riders,
                         refs_error *err) {
    refs_status status = REFS_OK;
    job->n_keys = job->n_busy = 0;
    job->key_text.size = 0;
    for (size_t i = 0; i < n && status == REFS_OK; i++) status = look_up(job, wanted[i], err);
    view_keys(job);
    if (status == REFS_OK && job->bringing->use == REFS_USE_AHEAD)
        status = add_riders(job, wanted[n - 1].number + 1, end_riders, err);
    if (job->bringing->claimed != NULL) job->bringing->claimed(job->bringing->user);
    if (status == REFS_OK && job->n_keys > 0) status = fetch(job, err);
    abandon_claims(job);
    if (status == REFS_OK && job->bringing->use == REFS_USE_NOW) await_busy(job);
    return status;
}

static refs_status bring_all(batch *job, wanted_chunk *wanted, size_t n, uint64_t end_riders,
                             refs_error *err) {
    while (n > 0) {
        REFS_TRY(bring(job, wanted, n, end_riders, err));
        if (job->bringing->use != REFS_USE_NOW) return REFS_OK;
        n = job->n_busy;
        if (n > 0) memcpy(wanted, job->busy, n * sizeof *wanted);
    }
    return REFS_OK;
}

/* Memory for `n` chunks that are wanted, and riders. */
static bool open_batch(batch *job, size_t n, size_t n_riders) {
    size_t n_all = n + n_riders;
    job->keys = refs_calloc(n_all, sizeof *job->keys);
    job->key_end = refs_calloc(n_all, sizeof *job->key_end);
    job->chunks = refs_calloc(n_all, sizeof *job->chunks);
    job->claimed = refs_calloc(n_all, sizeof *job->claimed);
    job->rides = refs_calloc(n_riders, sizeof *job->rides);
    job->busy = refs_calloc(n, sizeof *job->busy);
    return job->keys != NULL && job->key_end != NULL && job->chunks != NULL &&
           job->claimed != NULL && job->rides != NULL && job->busy != NULL;
}

static void clear_batch(batch *job) {
    refs_buf_clear(&job->key_text);
    refs_free(job->keys);
    refs_free(job->key_end);
    refs_free(job->chunks);
    refs_free(job->claimed);
    refs_free(job->rides);
    refs_free(job->busy);
}

static refs_status run_batch(wanted_chunk *wanted, size_t n, size_t n_riders, refs_error *err) {
    batch job = {.bringing = wanted[0].bringing};
    atomic_init(&job.awaited, job.bringing->use == REFS_USE_NOW);
    refs_status status = open_batch(&job, n, n_riders)
                             ? bring_all(&job, wanted, n, wanted[n - 1].number + 1 + n_riders, err)
                             : refs_fail_nomem(err);
    clear_batch(&job);
    return status;
}

refs_status refs_array__bring(const refs_bringing *bringing, uint64_t begin, uint64_t end,
                              uint64_t end_riders, refs_error *err) {
    size_t n = (size_t)(end - begin);
    if (n == 0) return REFS_OK;
    wanted_chunk *wanted = refs_calloc(n, sizeof *wanted);
    if (wanted == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) wanted[i] = (wanted_chunk){bringing, begin + i};
    refs_status status = run_batch(wanted, n, (size_t)(end_riders - end), err);
    refs_free(wanted);
    return status;
}

refs_status refs_array__bring_all(const refs_bringing *bringings, size_t n, refs_error *err) {
    size_t n_chunks = 0, filled = 0;
    for (size_t i = 0; i < n; i++) n_chunks += (size_t)bringings[i].cut->n_chunks;
    if (n_chunks == 0) return REFS_OK;
    wanted_chunk *wanted = refs_calloc(n_chunks, sizeof *wanted);
    if (wanted == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        for (uint64_t number = 0; number < bringings[i].cut->n_chunks; number++)
            wanted[filled++] = (wanted_chunk){&bringings[i], number};
    refs_status status = run_batch(wanted, n_chunks, 0, err);
    refs_free(wanted);
    return status;
}
