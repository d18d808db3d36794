/* read.c -- regions of arrays: chunks -> the cache or the store -> workers -> the caller's buffer.
 */
#include "array_object.h"
#include "refs/block.h"
#include "refs/pool.h"

/* Chunks that one fetch asks for at most: bounds what is kept for keys and plans. */
#define MAX_BATCH_CHUNKS 16384

/* -- reading a region -------------------------------------------------------------------------- */

/* One call of refs_array_read. Chunks are numbered as the cut numbers them. */
typedef struct reading {
    refs_array *array;
    const refs_region *region;
    uint8_t *dst;
    int64_t stride[REFS_MAX_RANK]; /* of dst */
    refs_cut cut;
    refs_group *group;
    refs_buf key_text; /* keys of the chunks that are fetched, end to end */
    size_t *key_end;   /* where each ends */
    refs_str *keys;    /* the same as views */
    uint64_t *numbers; /* which chunk each is */
    size_t n_keys;
} reading;

static void set_strides(reading *job, const int64_t *stride) {
    const refs_array_meta *meta = job->array->meta;
    int64_t packed = (int64_t)meta->dtype.size;
    for (size_t dim = meta->rank; dim-- > 0;) {
        job->stride[dim] = stride != NULL ? stride[dim] : packed;
        packed *= (int64_t)job->region->count[dim];
    }
}

/* A chunk's number in the whole array: what the cache knows it by. */
static uint64_t number_in_array(const refs_array_meta *meta, const refs_span *const *spans) {
    uint64_t number = 0;
    for (size_t dim = 0; dim < meta->rank; dim++)
        number = number * refs_array_meta_n_chunks(meta, dim) + spans[dim]->chunk;
    return number;
}

/* Copies the wanted part of a chunk whose elements are at `src` to the caller. A source that is
 * one element, the fill value, is repeated. */
static void deliver(const reading *job, const refs_span *const *spans, const uint8_t *src,
                    const int64_t *src_stride) {
    const refs_array_meta *meta = job->array->meta;
    refs_copy copy = {.rank = meta->rank, .element_size = meta->dtype.size};
    uint8_t *dst = job->dst;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        int64_t step = job->region->step != NULL ? job->region->step[dim] : 1;
        copy.n[dim] = (size_t)spans[dim]->n;
        copy.src_stride[dim] = src_stride[dim] * step;
        copy.dst_stride[dim] = job->stride[dim];
        src += src_stride[dim] * (int64_t)spans[dim]->begin;
        dst += job->stride[dim] * (int64_t)spans[dim]->first;
    }
    refs_array__copy(&copy, src, dst);
}

static void deliver_fill(const reading *job, const refs_span *const *spans) {
    static const int64_t no_stride[REFS_MAX_RANK] = {0};
    atomic_fetch_add(&job->array->chunks_absent, 1);
    deliver(job, spans, job->array->meta->fill, no_stride);
}

static bool deliver_cached(const reading *job, const refs_span *const *spans) {
    refs_array *array = job->array;
    if (array->tools.cache == NULL) return false;
    refs_chunk *chunk =
        refs_cache__find(array->tools.cache, array->owner, number_in_array(array->meta, spans));
    if (chunk == NULL) return false;
    atomic_fetch_add(&array->cache_hits, 1);
    deliver(job, spans, refs_chunk__data(chunk), array->stride);
    refs_chunk__release(chunk);
    return true;
}

/* -- decoding one chunk -- */

/* Stored bytes on their way to a worker. */
typedef struct decode_task {
    const reading *job;
    size_t index; /* of its key */
    refs_bytes stored;
    refs_block *block; /* that holds them, or NULL */
} decode_task;

static refs_status decode(refs_array *array, refs_bytes stored, uint8_t *elements,
                          refs_error *err) {
    if (array->chain == NULL)
        return refs_fail(err, array->chain_error.status, "%s", array->chain_error.message);
    refs_scratch_node *node = refs_scratch_list__take(&array->scratches);
    if (node == NULL) return refs_fail_nomem(err);
    refs_status status = refs_chain_decode(array->chain, stored, &node->scratch, elements, err);
    refs_scratch_list__put(&array->scratches, node);
    if (status != REFS_OK) return status;
    refs_array__to_host_order(&array->meta->dtype, elements, array->chunk_elements);
    atomic_fetch_add(&array->chunks_decoded, 1);
    return REFS_OK;
}

static refs_status decode_and_deliver(const reading *job, size_t index, refs_bytes stored,
                                      refs_error *err) {
    refs_array *array = job->array;
    const refs_span *spans[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, job->numbers[index], spans);
    refs_chunk *chunk = refs_chunk__new(array->chunk_bytes);
    if (chunk == NULL) return refs_fail_nomem(err);
    refs_status status = decode(array, stored, refs_chunk__data(chunk), err);
    if (status == REFS_OK) {
        deliver(job, spans, refs_chunk__data(chunk), array->stride);
        if (array->tools.cache != NULL)
            refs_cache__add(array->tools.cache, array->owner, number_in_array(array->meta, spans),
                            chunk);
    }
    refs_chunk__release(chunk);
    return status;
}

static refs_status run_decode(void *argument, refs_error *err) {
    const decode_task *task = argument;
    refs_status status = decode_and_deliver(task->job, task->index, task->stored, err);
    if (status != REFS_OK)
        refs_store_locate(task->job->array->tools.store, task->job->keys[task->index], err);
    return status;
}

static void drop_decode(void *argument) {
    decode_task *task = argument;
    refs_block_release(task->block);
    refs_free(task);
}

static refs_status receive(void *user, size_t index, bool present, refs_bytes stored,
                           refs_block *block, refs_error *err) {
    reading *job = user;
    if (refs_group_failed(job->group)) return refs_fail(err, REFS_CANCELLED, "cancelled");
    if (!present) {
        const refs_span *spans[REFS_MAX_RANK];
        refs_array__cut_at(&job->cut, job->numbers[index], spans);
        deliver_fill(job, spans);
        return REFS_OK;
    }
    decode_task *task = refs_alloc(sizeof *task);
    if (task == NULL) return refs_fail_nomem(err);
    *task = (decode_task){job, index, stored, refs_block_hold(block)};
    return refs_group_add(job->group, run_decode, drop_decode, task, err);
}

/* -- batches of chunks -- */

/* Delivers a chunk that is in the cache, and notes down the key of one that is not. */
static refs_status look_up(reading *job, uint64_t number, refs_error *err) {
    const refs_span *spans[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, number, spans);
    if (deliver_cached(job, spans)) return REFS_OK;
    uint64_t index[REFS_MAX_RANK];
    for (size_t dim = 0; dim < job->cut.rank; dim++) index[dim] = spans[dim]->chunk;
    REFS_TRY(refs_chunk_key(job->array->meta, index, &job->key_text, err));
    job->key_end[job->n_keys] = job->key_text.size;
    job->numbers[job->n_keys++] = number;
    return REFS_OK;
}

/* Fetches and decodes what was noted down. What went wrong with a chunk explains more than that the
 * fetch was cancelled for it. */
static refs_status fetch_batch(reading *job, refs_error *err) {
    refs_pool *pool = job->n_keys > 1 ? job->array->tools.pool : NULL;
    REFS_TRY(refs_group_open(pool, &job->group, err));
    refs_error fetch_error = REFS_ERROR_INIT;
    refs_status fetched = refs_store_get_many(job->array->tools.store, job->keys, job->n_keys,
                                              receive, job, &fetch_error);
    refs_status decoded = refs_group_wait(job->group, err);
    refs_group_free(job->group);
    if (decoded != REFS_OK) return decoded;
    return refs_fail(err, fetched, "%s", fetch_error.message);
}

/* Reads the chunks [begin, end) of the cut. */
static refs_status read_batch(reading *job, uint64_t begin, uint64_t end, refs_error *err) {
    job->n_keys = 0;
    job->key_text.size = 0;
    for (uint64_t number = begin; number < end; number++) REFS_TRY(look_up(job, number, err));
    const char *text = (const char *)job->key_text.data;
    for (size_t i = 0, from = 0; i < job->n_keys; from = job->key_end[i++])
        job->keys[i] = refs_str_view(text + from, job->key_end[i] - from);
    if (job->n_keys == 0) return REFS_OK;
    return fetch_batch(job, err);
}

static refs_status read_all(reading *job, refs_error *err) {
    uint64_t n = job->cut.n_chunks;
    size_t batch = n < MAX_BATCH_CHUNKS ? (size_t)n : MAX_BATCH_CHUNKS;
    job->keys = refs_calloc(batch, sizeof *job->keys);
    job->key_end = refs_calloc(batch, sizeof *job->key_end);
    job->numbers = refs_calloc(batch, sizeof *job->numbers);
    if (job->keys == NULL || job->key_end == NULL || job->numbers == NULL)
        return refs_fail_nomem(err);
    for (uint64_t begin = 0; begin < n; begin += batch)
        REFS_TRY(read_batch(job, begin, n - begin < batch ? n : begin + batch, err));
    return REFS_OK;
}

refs_status refs_array_read(refs_array *array, const refs_region *region, void *dst,
                            const int64_t *stride, refs_error *err) {
    if (array->meta->dtype.size == 0)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: elements of variable length are no numbers",
                         array->meta->path);
    reading job = {.array = array, .region = region, .dst = dst};
    set_strides(&job, stride);
    refs_status status = refs_array__cut(array->meta, region, &job.cut, err);
    if (status == REFS_OK && job.cut.n_chunks > 0) status = read_all(&job, err);
    refs_array__cut_clear(&job.cut);
    refs_buf_clear(&job.key_text);
    refs_free(job.keys);
    refs_free(job.key_end);
    refs_free(job.numbers);
    return status;
}
