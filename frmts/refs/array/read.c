/* read.c -- reads regions of arrays into the caller's buffer; see array.h. */
#include "read.h"

#include "sparse.h"

/* Limit of chunks of one fetch, which bounds the memory for keys and plans. */
#define MAX_BATCH_CHUNKS 16384

/* Decoders may rely on the alignment of malloc. */
#define ELEMENT_ALIGNMENT sizeof(double)

/* The state of reading a region of one array. */
typedef struct reading {
    refs_array *array;
    const int64_t *step; /* or NULL: 1 */
    refs_cut cut;
    uint8_t *dst;
    int64_t stride[REFS_MAX_RANK]; /* of dst */
    const refs_piece *piece;       /* a piece whose elements must be converted, or NULL */
    size_t to_size;                /* element size after conversion */
    struct failure *failure;       /* the first failure of conversion */
    const refs_item_list *items;   /* the chunks to load; NULL: all of the cut */
} reading;

/* The first element that could not be converted; on any thread. */
typedef struct failure {
    pthread_mutex_t lock; /* guards what follows */
    refs_error error;
} failure;

static uint64_t bytes_of(const refs_copy *copy) {
    uint64_t bytes = copy->element_size;
    for (size_t dim = 0; dim < copy->rank; dim++) bytes *= copy->n[dim];
    return bytes;
}

/* -- converting -------------------------------------------------------------------------------- */

static void note_failure(failure *failed, const refs_error *err) {
    REFS_LOCKED(&failed->lock);
    if (failed->error.status == REFS_OK) failed->error = *err;
}

/* Whether elements are contiguous, the first dimension slowest. */
static bool is_packed(const refs_copy *copy, const int64_t *stride, size_t size) {
    for (size_t dim = copy->rank; dim-- > 0; size *= copy->n[dim])
        if (copy->n[dim] > 1 && stride[dim] != (int64_t)size) return false;
    return true;
}

/* Converts elements through packed buffers, one for the elements and one for the results, unless
 * they are packed already. */
static refs_status convert(const reading *job, const refs_copy *copy, const uint8_t *src,
                           uint8_t *dst, refs_error *err) {
    const size_t size = copy->element_size, to_size = job->to_size;
    size_t n = (size_t)(bytes_of(copy) / size);
    if (is_packed(copy, copy->src_stride, size) && is_packed(copy, copy->dst_stride, to_size))
        return job->piece->convert(job->piece->user, src, n, dst, err);
    uint8_t *packed = refs_calloc(n, size), *converted = refs_calloc(n, to_size);
    refs_status status = packed != NULL && converted != NULL ? REFS_OK : refs_fail_nomem(err);
    refs_copy in = *copy, out = *copy;
    out.element_size = to_size;
    for (size_t dim = copy->rank, span = 1; dim-- > 0; span *= copy->n[dim]) {
        in.dst_stride[dim] = (int64_t)(span * size);
        out.src_stride[dim] = (int64_t)(span * to_size);
    }
    if (status == REFS_OK) {
        refs_array__copy(&in, src, packed);
        status = job->piece->convert(job->piece->user, packed, n, converted, err);
    }
    if (status == REFS_OK) refs_array__copy(&out, converted, dst);
    refs_free(packed);
    refs_free(converted);
    return status;
}

/* -- delivering -------------------------------------------------------------------------------- */

/* Copies elements that are listed along some dimensions: one listed index of `copy` after the
 * other, and boxes along the other dimensions. */
typedef struct listed_copy {
    const refs_copy *copy;
    const refs_span *spans;
    const uint64_t *chunk; /* elements */
} listed_copy;

static void copy_listed(const listed_copy *of, size_t dim, const uint8_t *src, uint8_t *dst) {
    const refs_copy *copy = of->copy;
    while (dim < copy->rank && of->spans[dim].index == NULL) dim++;
    if (dim == copy->rank) {
        refs_array__copy(copy, src, dst);
        return;
    }
    const refs_span *span = &of->spans[dim];
    for (uint64_t i = 0; i < span->n; i++) {
        const uint64_t at = span->index[i] - span->chunk * of->chunk[dim];
        copy_listed(of, dim + 1, src + copy->src_stride[dim] * (int64_t)at,
                    dst + copy->dst_stride[dim] * (int64_t)i);
    }
}

/* Copies the requested part of a chunk to the caller. An absent chunk is one fill value, repeated
 * with strides of zero. */
static void deliver(void *user, uint64_t number, const uint8_t *elements) {
    static const int64_t no_stride[REFS_MAX_RANK] = {0};
    const reading *job = user;
    const refs_array *array = job->array;
    const uint8_t *src = elements != NULL ? elements : array->meta->fill;
    const int64_t *src_stride = elements != NULL ? array->stride : no_stride;
    refs_span spans[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, number, spans);

    refs_copy copy = {.rank = array->meta->rank, .element_size = array->meta->dtype.size};
    uint8_t *dst = job->dst;
    uint64_t n_listed = 0;
    for (size_t dim = 0; dim < copy.rank; dim++) {
        const bool is_listed = spans[dim].index != NULL;
        int64_t step = job->step != NULL && !is_listed ? job->step[dim] : 1;
        copy.n[dim] = is_listed ? 1 : (size_t)spans[dim].n;
        copy.src_stride[dim] = src_stride[dim] * step;
        copy.dst_stride[dim] = job->stride[dim];
        if (is_listed)
            n_listed = (n_listed > 0 ? n_listed : 1) * spans[dim].n;
        else
            src += src_stride[dim] * (int64_t)spans[dim].begin;
        dst += job->stride[dim] * (int64_t)spans[dim].first;
    }
    atomic_fetch_add(&job->array->bytes_copied, bytes_of(&copy) * (n_listed > 0 ? n_listed : 1));
    if (n_listed > 0) {
        copy_listed(&(listed_copy){&copy, spans, array->meta->chunk}, 0, src, dst);
        return;
    }
    if (job->piece == NULL || job->piece->convert == NULL) {
        refs_array__copy(&copy, src, dst);
        return;
    }
    refs_error err = REFS_ERROR_INIT;
    if (convert(job, &copy, src, dst, &err) != REFS_OK) note_failure(job->failure, &err);
}

/* Whether elements that are contiguous in a chunk are contiguous in the caller's buffer. */
static bool lies_alike(const reading *job, size_t dim) {
    bool forward = job->step == NULL || job->step[dim] == 1;
    return job->array->meta->chunk[dim] == 1 ||
           (forward && job->stride[dim] == job->array->stride[dim]);
}

/* Whether to decode chunks directly into the caller's buffer: all their elements are requested in
 * order, and the read is larger than the cache, so that keeping them is useless. */
static bool may_decode_in_place(const reading *job, uint64_t all_bytes) {
    const refs_array *array = job->array;
    size_t kept = array->context.cache != NULL ? refs_cache__max_bytes(array->context.cache) : 0;
    if (all_bytes <= kept || (job->piece != NULL && job->piece->convert != NULL)) return false;
    for (size_t dim = 0; dim < array->meta->rank; dim++)
        if (!lies_alike(job, dim)) return false;
    return true;
}

static uint8_t *place(void *user, uint64_t number) {
    const reading *job = user;
    const refs_array_meta *meta = job->array->meta;
    refs_span spans[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, number, spans);
    uint8_t *dst = job->dst;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        if (spans[dim].n != meta->chunk[dim] || spans[dim].index != NULL) return NULL;
        dst += job->stride[dim] * (int64_t)spans[dim].first;
    }
    return (uintptr_t)dst % ELEMENT_ALIGNMENT == 0 ? dst : NULL;
}

/* -- batches ----------------------------------------------------------------------------------- */

static uint64_t count_items(const reading *job) {
    return job->items != NULL ? job->items->n : job->cut.n_chunks;
}

/* Chunk number `item` of the cut, by its number in the array. */
static uint64_t number_of(const reading *job, uint64_t item) {
    refs_span spans[REFS_MAX_RANK];
    uint64_t index[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, item, spans);
    for (size_t dim = 0; dim < job->cut.rank; dim++) index[dim] = spans[dim].chunk;
    return refs_grid__number(&job->array->grid, index);
}

/* Iterates over the chunks of several reads. */
typedef struct listing {
    const refs_delivery *to; /* its user is the read */
    size_t at, n;            /* the current read, and the number of reads */
    uint64_t item;           /* its next chunk */
} listing;

static size_t list_chunks(listing *list, refs_wanted *wanted, size_t max) {
    size_t n = 0;
    for (; list->at < list->n; list->at++, list->item = 0) {
        const refs_delivery *to = &list->to[list->at];
        const reading *job = to->user;
        for (; n < max && list->item < count_items(job); list->item++) {
            const uint64_t item = job->items != NULL ? job->items->items[list->item] : list->item;
            wanted[n++] = (refs_wanted){to, item, number_of(job, item)};
        }
        if (n == max) break;
    }
    return n;
}

/* Bytes of all chunks, or UINT64_MAX. */
static uint64_t sum_bytes(const reading *jobs, size_t n, size_t overhead) {
    uint64_t bytes = 0, one;
    for (size_t i = 0; i < n; i++)
        if (!refs_mul_u64(count_items(&jobs[i]), jobs[i].array->chunk_bytes + overhead, &one) ||
            !refs_add_u64(bytes, one, &bytes))
            return UINT64_MAX;
    return bytes;
}

/* Makes the destinations of the chunks of each read; NULL if memory ran out. */
static refs_delivery *deliveries_of(reading *jobs, size_t n) {
    const uint64_t bytes = sum_bytes(jobs, n, 0);
    refs_delivery *to = refs_calloc(n, sizeof *to);
    for (size_t i = 0; i < n && to != NULL; i++)
        to[i] = (refs_delivery){.array = jobs[i].array,
                                .deliver = deliver,
                                .place = may_decode_in_place(&jobs[i], bytes) ? place : NULL,
                                .user = &jobs[i]};
    return to;
}

/* Performs `n` reads as one, in batches. */
static refs_status read_all(reading *jobs, size_t n, const refs_load_watch *watch,
                            refs_error *err) {
    uint64_t n_chunks = 0;
    for (size_t i = 0; i < n; i++) n_chunks += count_items(&jobs[i]);
    size_t n_batch = (size_t)(n_chunks < MAX_BATCH_CHUNKS ? n_chunks : MAX_BATCH_CHUNKS);
    REFS_SCOPED refs_wanted *wanted = refs_calloc(n_batch, sizeof *wanted);
    REFS_SCOPED refs_delivery *to = deliveries_of(jobs, n);
    listing list = {.to = to, .n = n};
    refs_status status = wanted != NULL && to != NULL ? REFS_OK : refs_fail_nomem(err);
    refs_progress_parts batches;
    refs_progress_parts_init(&batches, watch != NULL ? watch->progress : NULL);
    for (uint64_t begin = 0; status == REFS_OK && begin < n_chunks; begin += n_batch) {
        n_batch = list_chunks(&list, wanted, MAX_BATCH_CHUNKS);
        refs_progress_parts_next(&batches, (double)n_batch / (double)n_chunks);
        refs_load_watch of_batch = {.progress = NULL};
        if (watch != NULL && begin + n_batch == n_chunks) of_batch = *watch;
        of_batch.progress = &batches.progress;
        status = refs_array__load(wanted, n_batch, &of_batch, err);
    }
    return status;
}

/* -- one array --------------------------------------------------------------------------------- */

/* Fills a region, and then reads the chunks of it that are stored. */
static refs_status read_sparse(reading *job, const refs_reading *reading_of, refs_error *err) {
    refs_array *array = job->array;
    const refs_load_watch *watch = reading_of->watch;
    refs_copy copy = {.rank = array->meta->rank, .element_size = array->meta->dtype.size};
    for (size_t dim = 0; dim < copy.rank; dim++) {
        copy.n[dim] = (size_t)reading_of->region->count[dim];
        copy.dst_stride[dim] = job->stride[dim];
    }
    refs_array__copy(&copy, array->meta->fill, job->dst);
    atomic_fetch_add(&array->bytes_copied, bytes_of(&copy));
    atomic_fetch_add(&array->chunks_absent, job->cut.n_chunks - job->items->n);
    if (job->items->n > 0) return read_all(job, 1, watch, err);
    if (watch != NULL && watch->arrived != NULL) watch->arrived(watch->user, 0);
    return REFS_OK;
}

void refs_array__set_strides(const refs_array_meta *meta, const refs_region *region,
                             const int64_t *given, int64_t *stride) {
    int64_t packed = (int64_t)meta->dtype.size;
    for (size_t dim = meta->rank; dim-- > 0;) {
        stride[dim] = given != NULL ? given[dim] : packed;
        packed *= (int64_t)region->count[dim];
    }
}

refs_status refs_array__read_cut(const refs_reading *reading_of, const refs_cut *cut,
                                 refs_error *err) {
    refs_array *array = reading_of->array;
    if (array->meta->dtype.size == 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: expected numbers, found elements of variable length",
                         array->meta->path);
    if (array->mosaic.gather != NULL) return refs_array__read_mosaic(reading_of, err);
    reading job = {
        .array = array, .step = reading_of->region->step, .cut = *cut, .dst = reading_of->dst};
    refs_array__set_strides(array->meta, reading_of->region, reading_of->stride, job.stride);
    REFS_SCOPED_BY(refs_sparse__clear) refs_item_list items = {NULL, 0, 0};
    if (!refs_sparse__list(array, cut, &items)) return read_all(&job, 1, reading_of->watch, err);
    job.items = &items;
    return read_sparse(&job, reading_of, err);
}

refs_status refs_array_read(refs_array *array, const refs_region *region, void *dst,
                            const int64_t *stride, refs_error *err) {
    const refs_reading reading_of = {array, region, dst, stride, NULL};
    REFS_SCOPED_BY(refs_array__cut_clear) refs_cut cut = {0};
    REFS_TRY(refs_array__cut(array->meta, region, &cut, err));
    if (cut.n_chunks > 0) REFS_TRY(refs_array__read_cut(&reading_of, &cut, err));
    return REFS_OK;
}

/* -- selections -------------------------------------------------------------------------------- */

/* Limit of selections in one fetch, which bounds their memory. */
#define MAX_SELECTIONS MAX_BATCH_CHUNKS

static refs_status read_selections(refs_array *array, const refs_selection *selections, size_t n,
                                   const refs_load_watch *watch, refs_error *err) {
    refs_status status = REFS_OK;
    REFS_SCOPED reading *jobs = refs_calloc(n, sizeof *jobs);
    if (jobs == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        const refs_selection *one = &selections[i];
        jobs[i] = (reading){.array = array, .step = one->region.step, .dst = one->dst};
        refs_array__set_strides(array->meta, &one->region, one->stride, jobs[i].stride);
        status = refs_array__cut_selection(array->meta, one, &jobs[i].cut, err);
    }
    if (status == REFS_OK) status = read_all(jobs, n, watch, err);
    for (size_t i = 0; i < n; i++) refs_array__cut_clear(&jobs[i].cut);
    return status;
}

refs_status refs_array_read_selections(refs_array *array, const refs_selection *selections,
                                       size_t n, const refs_progress *progress, refs_error *err) {
    refs_progress_parts parts;
    const refs_load_watch watch = {.progress = &parts.progress};
    if (array->meta->dtype.size == 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: expected numbers, found elements of variable length",
                         array->meta->path);
    if (array->mosaic.gather != NULL)
        return refs_array__read_mosaic_selections(array, selections, n, progress, err);
    refs_progress_parts_init(&parts, progress);
    for (size_t i = 0, n_part; i < n; i += n_part) {
        n_part = n - i < MAX_SELECTIONS ? n - i : MAX_SELECTIONS;
        refs_progress_parts_next(&parts, (double)n_part / (double)n);
        REFS_TRY(read_selections(array, selections + i, n_part, &watch, err));
    }
    return REFS_OK;
}

/* -- pieces of a mosaic ------------------------------------------------------------------------ */

static void fill_piece(const refs_array_meta *meta, const refs_piece *piece, uint8_t *dst) {
    refs_copy copy = {.rank = piece->rank, .element_size = meta->dtype.size};
    for (size_t dim = 0; dim < piece->rank; dim++) {
        copy.n[dim] = (size_t)piece->count[dim];
        copy.dst_stride[dim] = piece->stride[dim];
    }
    refs_array__copy(&copy, piece->value != NULL ? piece->value : meta->fill, dst);
}

static refs_status open_reading(const refs_piece *piece, uint8_t *dst, reading *job,
                                refs_error *err) {
    const refs_region region = {piece->start, piece->count, piece->step};
    job->array = piece->array;
    job->step = piece->step;
    job->dst = dst;
    job->piece = piece;
    memcpy(job->stride, piece->stride, sizeof job->stride);
    return refs_array__cut(piece->array->meta, &region, &job->cut, err);
}

refs_status refs_array__read_pieces(const refs_array_meta *meta, const refs_piece_list *list,
                                    uint8_t *dst, const refs_load_watch *watch, refs_error *err) {
    failure failed = {.error = REFS_ERROR_INIT};
    size_t n = 0;
    REFS_SCOPED reading *jobs = refs_calloc(list->n, sizeof *jobs);
    if (jobs == NULL) return refs_fail_nomem(err);
    refs_status status = REFS_OK;
    pthread_mutex_init(&failed.lock, NULL);
    for (size_t i = 0; i < list->n && status == REFS_OK; i++) {
        const refs_piece *piece = &list->pieces[i];
        if (piece->array == NULL) {
            fill_piece(meta, piece, dst + piece->offset);
        } else {
            jobs[n].failure = &failed;
            jobs[n].to_size = meta->dtype.size;
            status = open_reading(piece, dst + piece->offset, &jobs[n++], err);
        }
    }
    if (status == REFS_OK && watch->takes != NULL)
        watch->takes(watch->user, sum_bytes(jobs, n, REFS_CHUNK_OVERHEAD));
    if (status == REFS_OK && n > 0) status = read_all(jobs, n, watch, err);
    if (status == REFS_OK && failed.error.status != REFS_OK)
        status = refs_fail(err, failed.error.status, "%s", failed.error.message);
    pthread_mutex_destroy(&failed.lock);
    for (size_t i = 0; i < n; i++) refs_array__cut_clear(&jobs[i].cut);
    return status;
}

/* -- into the cache ---------------------------------------------------------------------------- */

refs_status refs_array__load_cut(refs_array *array, const refs_cut *cut,
                                 const refs_load_watch *watch, refs_error *err) {
    const reading job = {.array = array, .cut = *cut};
    const refs_delivery to = {.array = array};
    size_t n = (size_t)cut->n_chunks;
    REFS_SCOPED refs_wanted *wanted = refs_calloc(n, sizeof *wanted);
    if (wanted == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) wanted[i] = (refs_wanted){&to, i, number_of(&job, i)};
    return refs_array__load(wanted, n, watch, err);
}
