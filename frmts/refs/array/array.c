/* array.c -- opening arrays and reading regions of them, see array.h. */
#include "array_internal.h"

#include <stdatomic.h>

#include "refs/codec.h"
#include "refs/store.h"

struct refs_array {
    refs_store *store;
    const refs_array_meta *meta;
    refs_cache *cache; /* or NULL */
    uint64_t owner;    /* of chunks in the cache */
    size_t chunk_elements;
    size_t chunk_bytes;
    int64_t stride[REFS_MAX_RANK]; /* bytes between neighbours inside a chunk */
    refs_chain *chain;             /* NULL where the codecs are unknown ... */
    refs_error chain_error;        /* ... and this says why */
    _Atomic uint64_t chunks_decoded, chunks_absent, cache_hits;
};

/* Chunks that one fetch asks for at most: bounds what is kept for keys and plans. */
#define MAX_BATCH_CHUNKS 16384

/* -- opening --------------------------------------------------------------------------------------
 */

static refs_status measure_chunk(refs_array *array, size_t max_chunk_bytes, refs_error *err) {
    const refs_array_meta *meta = array->meta;
    uint64_t elements, bytes;
    size_t limit = max_chunk_bytes > 0 ? max_chunk_bytes : REFS_MAX_CHUNK_BYTES;
    if (!refs_array_meta_chunk_elements(meta, &elements) ||
        !refs_mul_u64(elements, meta->dtype.size, &bytes) || bytes > limit)
        return refs_fail(err, REFS_LIMIT, "%s: a chunk is larger than the limit of %zu bytes",
                         meta->path, limit);
    array->chunk_elements = (size_t)elements;
    array->chunk_bytes = (size_t)bytes;

    int64_t stride = (int64_t)meta->dtype.size;
    for (size_t i = 0; i < meta->rank; i++) {
        size_t dim = meta->fortran ? i : meta->rank - 1 - i;
        array->stride[dim] = stride;
        stride *= (int64_t)meta->chunk[dim];
    }
    return REFS_OK;
}

/* Unknown codecs must not keep an array from being looked at: they fail when it is read. */
static refs_status open_chain(refs_array *array, size_t max_chunk_bytes, refs_error *err) {
    const refs_array_meta *meta = array->meta;
    refs_chain_step *steps = refs_calloc(meta->n_codecs, sizeof *steps);
    if (steps == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < meta->n_codecs; i++)
        steps[i] = (refs_chain_step){meta->codecs[i].id, meta->codecs[i].config};
    char dtype[16];
    refs_dtype_format(&meta->dtype, dtype, sizeof dtype);
    refs_chain_spec spec = {.steps = steps,
                            .n_steps = meta->n_codecs,
                            .dtype = dtype,
                            .element_size = meta->dtype.size,
                            .n_elements = array->chunk_elements,
                            .max_bytes = max_chunk_bytes};
    refs_status status = refs_chain_open(&spec, &array->chain, &array->chain_error);
    refs_free(steps);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    return REFS_OK;
}

refs_status refs_array_open(refs_store *store, const refs_array_meta *meta, refs_cache *cache,
                            size_t max_chunk_bytes, refs_array **array, refs_error *err) {
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s: %s", refs_store_name(store), meta->path,
                         meta->problem);
    refs_array *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->store = store;
    opened->meta = meta;
    opened->cache = cache;
    if (cache != NULL) opened->owner = refs_cache__new_owner(cache);
    refs_status status = measure_chunk(opened, max_chunk_bytes, err);
    if (status == REFS_OK) status = open_chain(opened, max_chunk_bytes, err);
    if (status != REFS_OK) {
        refs_error_prefix(err, "%s", refs_store_name(store));
        refs_array_free(opened);
        return status;
    }
    *array = opened;
    return REFS_OK;
}

void refs_array_free(refs_array *array) {
    if (array == NULL) return;
    if (array->cache != NULL) refs_cache__drop_owner(array->cache, array->owner);
    refs_chain_free(array->chain);
    refs_free(array);
}

const refs_array_meta *refs_array_meta_of(const refs_array *array) {
    return array->meta;
}

void refs_array_get_stats(const refs_array *array, refs_array_stats *stats) {
    stats->chunks_decoded = atomic_load(&array->chunks_decoded);
    stats->chunks_absent = atomic_load(&array->chunks_absent);
    stats->cache_hits = atomic_load(&array->cache_hits);
}

/* -- reading a region -----------------------------------------------------------------------------
 */

/* One call of refs_array_read. Chunks are numbered as the cut numbers them. */
typedef struct reading {
    refs_array *array;
    const refs_region *region;
    uint8_t *dst;
    int64_t stride[REFS_MAX_RANK]; /* of dst */
    refs_cut cut;
    refs_scratch scratch;
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
    if (array->cache == NULL) return false;
    refs_chunk *chunk =
        refs_cache__find(array->cache, array->owner, number_in_array(array->meta, spans));
    if (chunk == NULL) return false;
    atomic_fetch_add(&array->cache_hits, 1);
    deliver(job, spans, refs_chunk__data(chunk), array->stride);
    refs_chunk__release(chunk);
    return true;
}

static refs_status decode(reading *job, refs_bytes stored, refs_chunk *chunk, refs_error *err) {
    refs_array *array = job->array;
    if (array->chain == NULL)
        return refs_fail(err, array->chain_error.status, "%s", array->chain_error.message);
    REFS_TRY(refs_chain_decode(array->chain, stored, &job->scratch, refs_chunk__data(chunk), err));
    refs_array__to_host_order(&array->meta->dtype, refs_chunk__data(chunk), array->chunk_elements);
    atomic_fetch_add(&array->chunks_decoded, 1);
    return REFS_OK;
}

static refs_status receive(void *user, size_t index, bool present, refs_bytes stored,
                           refs_error *err) {
    reading *job = user;
    refs_array *array = job->array;
    const refs_span *spans[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, job->numbers[index], spans);
    if (!present) {
        deliver_fill(job, spans);
        return REFS_OK;
    }
    refs_chunk *chunk = refs_chunk__new(array->chunk_bytes);
    if (chunk == NULL) return refs_fail_nomem(err);
    refs_status status = decode(job, stored, chunk, err);
    if (status == REFS_OK) {
        deliver(job, spans, refs_chunk__data(chunk), array->stride);
        if (array->cache != NULL)
            refs_cache__add(array->cache, array->owner, number_in_array(array->meta, spans), chunk);
    }
    refs_chunk__release(chunk);
    return status;
}

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

/* Reads the chunks [begin, end) of the cut. */
static refs_status read_batch(reading *job, uint64_t begin, uint64_t end, refs_error *err) {
    job->n_keys = 0;
    job->key_text.size = 0;
    for (uint64_t number = begin; number < end; number++) REFS_TRY(look_up(job, number, err));
    const char *text = (const char *)job->key_text.data;
    for (size_t i = 0, from = 0; i < job->n_keys; from = job->key_end[i++])
        job->keys[i] = refs_str_view(text + from, job->key_end[i] - from);
    if (job->n_keys == 0) return REFS_OK;
    return refs_store_get_many(job->array->store, job->keys, job->n_keys, receive, job, err);
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
    refs_scratch_clear(&job.scratch);
    refs_buf_clear(&job.key_text);
    refs_free(job.keys);
    refs_free(job.key_end);
    refs_free(job.numbers);
    return status;
}

/* -- reading whole arrays
 * --------------------------------------------------------------------------- */

/* Reads all elements, tightly packed, into `elements`. */
static refs_status read_elements(refs_array *array, uint64_t max_elements, refs_buf *elements,
                                 size_t *n, refs_error *err) {
    const refs_array_meta *meta = array->meta;
    uint64_t count, bytes;
    if (!refs_array_meta_elements(meta, &count) || count > max_elements ||
        !refs_mul_u64(count, meta->dtype.size, &bytes) || bytes > SIZE_MAX)
        return refs_fail(err, REFS_LIMIT, "%s: has more than %llu elements", meta->path,
                         (unsigned long long)max_elements);
    *n = (size_t)count;
    REFS_TRY(refs_buf_resize(elements, (size_t)bytes, err));
    static const uint64_t origin[REFS_MAX_RANK] = {0};
    refs_region region = {origin, meta->shape, NULL};
    return refs_array_read(array, &region, elements->data, NULL, err);
}

refs_status refs_array_read_doubles(refs_array *array, uint64_t max_elements, double *values,
                                    refs_error *err) {
    refs_buf elements = REFS_BUF_INIT;
    size_t n = 0;
    refs_status status = read_elements(array, max_elements, &elements, &n, err);
    if (status == REFS_OK && !refs_array__to_doubles(&array->meta->dtype, elements.data, n, values))
        status = refs_fail(err, REFS_UNSUPPORTED, "%s: elements are no numbers", array->meta->path);
    refs_buf_clear(&elements);
    return status;
}

refs_status refs_array_read_texts(refs_array *array, uint64_t max_elements, refs_buf *texts,
                                  refs_error *err) {
    const refs_dtype *dtype = &array->meta->dtype;
    if (dtype->type != REFS_TYPE_BYTES && dtype->type != REFS_TYPE_UNICODE)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: elements are no texts", array->meta->path);
    refs_buf elements = REFS_BUF_INIT;
    size_t n = 0;
    refs_status status = read_elements(array, max_elements, &elements, &n, err);
    if (status == REFS_OK) status = refs_array__to_texts(dtype, elements.data, n, texts, err);
    refs_buf_clear(&elements);
    return status;
}
