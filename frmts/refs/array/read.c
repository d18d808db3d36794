/* read.c -- regions of arrays: chunks -> the caller's buffer; see array.h. */
#include "array_object.h"

/* Chunks that one fetch asks for at most: bounds what is kept for keys and plans. */
#define MAX_BATCH_CHUNKS 16384

/* Decoders may count on it: memory of the C library has it. */
#define ELEMENT_ALIGNMENT sizeof(double)

/* One call of refs_array_read. */
typedef struct reading {
    refs_array *array;
    const refs_region *region;
    uint8_t *dst;
    int64_t stride[REFS_MAX_RANK]; /* of dst */
    refs_cut cut;
} reading;

static void set_strides(reading *job, const int64_t *stride) {
    const refs_array_meta *meta = job->array->meta;
    int64_t packed = (int64_t)meta->dtype.size;
    for (size_t dim = meta->rank; dim-- > 0;) {
        job->stride[dim] = stride != NULL ? stride[dim] : packed;
        packed *= (int64_t)job->region->count[dim];
    }
}

static uint64_t bytes_of(const refs_copy *copy) {
    uint64_t bytes = copy->element_size;
    for (size_t dim = 0; dim < copy->rank; dim++) bytes *= copy->n[dim];
    return bytes;
}

/* Copies the wanted part of a chunk to the caller. Of an absent chunk every element is the fill
 * value: one element with no way to the next. */
static void deliver(void *user, uint64_t number, const uint8_t *elements) {
    static const int64_t no_stride[REFS_MAX_RANK] = {0};
    const reading *job = user;
    const refs_array *array = job->array;
    const uint8_t *src = elements != NULL ? elements : array->meta->fill;
    const int64_t *src_stride = elements != NULL ? array->stride : no_stride;
    const refs_span *spans[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, number, spans);

    refs_copy copy = {.rank = array->meta->rank, .element_size = array->meta->dtype.size};
    uint8_t *dst = job->dst;
    for (size_t dim = 0; dim < copy.rank; dim++) {
        int64_t step = job->region->step != NULL ? job->region->step[dim] : 1;
        copy.n[dim] = (size_t)spans[dim]->n;
        copy.src_stride[dim] = src_stride[dim] * step;
        copy.dst_stride[dim] = job->stride[dim];
        src += src_stride[dim] * (int64_t)spans[dim]->begin;
        dst += job->stride[dim] * (int64_t)spans[dim]->first;
    }
    refs_array__copy(&copy, src, dst);
    atomic_fetch_add(&job->array->bytes_copied, bytes_of(&copy));
}

/* Whether elements that follow each other in a chunk do so at the caller's too. */
static bool lies_alike(const reading *job, size_t dim) {
    bool forward = job->region->step == NULL || job->region->step[dim] == 1;
    return job->array->meta->chunk[dim] == 1 ||
           (forward && job->stride[dim] == job->array->stride[dim]);
}

/* A read that is larger than the cache would keep chunks in vain: those of which all elements are
 * wanted, in their order, need not be copied. */
static bool may_decode_in_place(const reading *job) {
    const refs_array *array = job->array;
    uint64_t bytes;
    refs_ahead ahead = {0, 0, 0};
    if (array->tools.cache != NULL) refs_cache__get_ahead(array->tools.cache, &ahead);
    if (refs_mul_u64(job->cut.n_chunks, array->chunk_bytes, &bytes) && bytes <= ahead.max_bytes)
        return false;
    for (size_t dim = 0; dim < array->meta->rank; dim++)
        if (!lies_alike(job, dim)) return false;
    return true;
}

static uint8_t *place(void *user, uint64_t number) {
    const reading *job = user;
    const refs_array_meta *meta = job->array->meta;
    const refs_span *spans[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, number, spans);
    uint8_t *dst = job->dst;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        if (spans[dim]->n != meta->chunk[dim]) return NULL;
        dst += job->stride[dim] * (int64_t)spans[dim]->first;
    }
    return (uintptr_t)dst % ELEMENT_ALIGNMENT == 0 ? dst : NULL;
}

static refs_status read_all(reading *job, refs_error *err) {
    const refs_bringing bringing = {.array = job->array,
                                    .cut = &job->cut,
                                    .deliver = deliver,
                                    .place = may_decode_in_place(job) ? place : NULL,
                                    .user = job,
                                    .use = REFS_USE_NOW};
    uint64_t n = job->cut.n_chunks;
    for (uint64_t begin = 0; begin < n; begin += MAX_BATCH_CHUNKS) {
        uint64_t end = n - begin < MAX_BATCH_CHUNKS ? n : begin + MAX_BATCH_CHUNKS;
        REFS_TRY(refs_array__bring(&bringing, begin, end, end, err));
    }
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
    if (status == REFS_OK && job.cut.n_chunks > 0) {
        refs_array__watch(array, &job.cut);
        status = read_all(&job, err);
    }
    refs_array__cut_clear(&job.cut);
    return status;
}
