/* read.c -- regions of arrays: chunks -> the caller's buffer; see array.h. */
#include "read.h"

/* Chunks that one fetch asks for at most: bounds what is kept for keys and plans. */
#define MAX_BATCH_CHUNKS 16384

/* Decoders may count on it: memory of the C library has it. */
#define ELEMENT_ALIGNMENT sizeof(double)

/* A read under way. */
typedef struct reading {
    refs_array *array;
    const refs_region *region;
    const refs_cut *cut;
    uint8_t *dst;
    int64_t stride[REFS_MAX_RANK]; /* of dst */
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
    refs_array__cut_at(job->cut, number, spans);

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
    size_t kept = array->context.cache != NULL ? refs_cache__max_bytes(array->context.cache) : 0;
    if (refs_mul_u64(job->cut->n_chunks, array->chunk_bytes, &bytes) && bytes <= kept) return false;
    for (size_t dim = 0; dim < array->meta->rank; dim++)
        if (!lies_alike(job, dim)) return false;
    return true;
}

static uint8_t *place(void *user, uint64_t number) {
    const reading *job = user;
    const refs_array_meta *meta = job->array->meta;
    const refs_span *spans[REFS_MAX_RANK];
    refs_array__cut_at(job->cut, number, spans);
    uint8_t *dst = job->dst;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        if (spans[dim]->n != meta->chunk[dim]) return NULL;
        dst += job->stride[dim] * (int64_t)spans[dim]->first;
    }
    return (uintptr_t)dst % ELEMENT_ALIGNMENT == 0 ? dst : NULL;
}

/* Chunks [begin, begin + n) of the cut, by their numbers in the array. */
static void list_chunks(const refs_cut *cut, const refs_delivery *to, uint64_t begin, size_t n,
                        refs_wanted *wanted) {
    const refs_span *spans[REFS_MAX_RANK];
    uint64_t index[REFS_MAX_RANK];
    for (size_t i = 0; i < n; i++) {
        refs_array__cut_at(cut, begin + i, spans);
        for (size_t dim = 0; dim < cut->rank; dim++) index[dim] = spans[dim]->chunk;
        wanted[i] = (refs_wanted){to, begin + i, refs_grid__number(&to->array->grid, index)};
    }
}

/* Part of what is told of the progress of a read in batches. */
typedef struct batch_progress {
    const refs_progress *all;
    double begin, share;
} batch_progress;

static bool report_batch(void *user, double done) {
    const batch_progress *batch = user;
    return batch->all->report(batch->all->user, batch->begin + batch->share * done);
}

static refs_status read_batches(reading *job, const refs_load_watch *watch, refs_wanted *wanted,
                                refs_error *err) {
    const refs_delivery to = {.array = job->array,
                              .deliver = deliver,
                              .place = may_decode_in_place(job) ? place : NULL,
                              .user = job};
    uint64_t n_all = job->cut->n_chunks;
    for (uint64_t begin = 0, n; begin < n_all; begin += n) {
        n = n_all - begin < MAX_BATCH_CHUNKS ? n_all - begin : MAX_BATCH_CHUNKS;
        batch_progress part = {watch != NULL ? watch->progress : NULL,
                               (double)begin / (double)n_all, (double)n / (double)n_all};
        refs_progress of_part = {report_batch, &part};
        list_chunks(job->cut, &to, begin, (size_t)n, wanted);
        bool is_last = begin + n == n_all;
        refs_load_watch of_batch = {NULL, NULL, NULL};
        if (watch != NULL && is_last) of_batch = *watch;
        if (part.all != NULL && part.all->report != NULL) of_batch.progress = &of_part;
        REFS_TRY(refs_array__load(wanted, (size_t)n, &of_batch, err));
    }
    return REFS_OK;
}

refs_status refs_array__read_cut(const refs_reading *reading_of, const refs_cut *cut,
                                 refs_error *err) {
    refs_array *array = reading_of->array;
    if (array->meta->dtype.size == 0)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: elements of variable length are not numbers",
                         array->meta->path);
    reading job = {array, reading_of->region, cut, reading_of->dst, {0}};
    set_strides(&job, reading_of->stride);
    uint64_t n = cut->n_chunks < MAX_BATCH_CHUNKS ? cut->n_chunks : MAX_BATCH_CHUNKS;
    refs_wanted *wanted = refs_calloc((size_t)n, sizeof *wanted);
    if (wanted == NULL) return refs_fail_nomem(err);
    refs_status status = read_batches(&job, reading_of->watch, wanted, err);
    refs_free(wanted);
    return status;
}

refs_status refs_array_read(refs_array *array, const refs_region *region, void *dst,
                            const int64_t *stride, refs_error *err) {
    const refs_reading reading_of = {array, region, dst, stride, NULL};
    refs_cut cut = {0};
    refs_status status = refs_array__cut(array->meta, region, &cut, err);
    if (status == REFS_OK && cut.n_chunks > 0)
        status = refs_array__read_cut(&reading_of, &cut, err);
    refs_array__cut_clear(&cut);
    return status;
}

refs_status refs_array__load_cut(refs_array *array, const refs_cut *cut,
                                 const refs_load_watch *watch, refs_error *err) {
    const refs_delivery to = {.array = array};
    size_t n = (size_t)cut->n_chunks;
    refs_wanted *wanted = refs_calloc(n, sizeof *wanted);
    if (wanted == NULL) return refs_fail_nomem(err);
    list_chunks(cut, &to, 0, n, wanted);
    refs_status status = refs_array__load(wanted, n, watch, err);
    refs_free(wanted);
    return status;
}
