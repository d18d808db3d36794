/* array.c -- opening arrays, and reading them whole; see array.h. */
#include "readahead.h"
#include "shards.h"
#include "slices.h"

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status measure_chunk(refs_array *array, refs_error *err) {
    const refs_array_meta *meta = array->meta;
    uint64_t elements, bytes;
    if (!refs_grid__of(meta, &array->grid))
        return refs_fail(err, REFS_LIMIT, "%s: has more chunks than the limit of %lld", meta->path,
                         (long long)INT64_MAX);
    size_t limit =
        array->context.max_chunk_bytes > 0 ? array->context.max_chunk_bytes : REFS_MAX_CHUNK_BYTES;
    if (!refs_array_meta_chunk_elements(meta, &elements) ||
        !refs_mul_u64(elements, meta->dtype.size, &bytes) || bytes > limit)
        return refs_fail(err, REFS_LIMIT, "%s: a chunk is larger than the limit of %zu bytes",
                         meta->path, limit);
    array->chunk_elements = (size_t)elements;
    array->chunk_bytes = (size_t)bytes;

    int64_t stride = (int64_t)meta->dtype.size;
    for (size_t i = 0; i < meta->rank; i++) {
        size_t dim = meta->order[meta->rank - 1 - i];
        array->stride[dim] = stride;
        stride *= (int64_t)meta->chunk[dim];
    }
    return REFS_OK;
}

/* Describes a chunk for its codecs; `steps`, `shape` and `fill` provide the memory. */
static void describe_chunk(const refs_array *array, refs_chain_step *steps, uint64_t *shape,
                           uint8_t *fill) {
    const refs_array_meta *meta = array->meta;
    for (size_t i = 0; i < meta->n_codecs; i++)
        steps[i] = (refs_chain_step){meta->codecs[i].id, meta->codecs[i].config};
    for (size_t i = 0; i < meta->rank; i++) shape[i] = meta->chunk[meta->order[i]];
    if (meta->dtype.size > 0) memcpy(fill, meta->fill, meta->dtype.size);
    /* Swapping bytes is its own inverse. */
    refs_array__to_host_order(&meta->dtype, fill, 1);
}

refs_status refs_array__open_chain(const refs_array *array, uint32_t filter_mask,
                                   refs_chain **chain, refs_error *err) {
    const refs_array_meta *meta = array->meta;
    char dtype[16];
    uint64_t shape[REFS_MAX_RANK];
    REFS_SCOPED refs_chain_step *steps = refs_calloc(meta->n_codecs, sizeof *steps);
    REFS_SCOPED uint8_t *fill = refs_calloc(meta->dtype.size, 1);
    refs_status status = REFS_NOMEM;
    if (steps != NULL && fill != NULL) {
        refs_dtype_format(&meta->dtype, dtype, sizeof dtype);
        describe_chunk(array, steps, shape, fill);
        refs_chain_spec spec = {.steps = steps,
                                .n_steps = meta->n_codecs,
                                .skipped = filter_mask,
                                .dtype = dtype,
                                .element_size = meta->dtype.size,
                                .n_elements = array->chunk_elements,
                                .rank = meta->rank,
                                .shape = shape,
                                .order = meta->order,
                                .fill = fill,
                                .max_bytes = array->context.max_chunk_bytes};
        status = refs_chain_open(&spec, chain, err);
    } else {
        status = refs_fail_nomem(err);
    }
    return status;
}

/* Unknown codecs must not prevent opening an array: it fails when it is read. */
static refs_status open_chain(refs_array *array, refs_error *err) {
    refs_status status = refs_array__open_chain(array, 0, &array->chain, &array->chain_error);
    array->max_stored = array->chain != NULL ? refs_chain_max_encoded(array->chain)
                                             : array->chunk_bytes + REFS_MAX_ENCODING_BYTES;
    /* A chunk that skips its codecs may be larger than an encoded one. */
    if (array->max_stored < array->chunk_bytes) array->max_stored = array->chunk_bytes;
    return status == REFS_NOMEM ? refs_fail_nomem(err) : REFS_OK;
}

/* `slice` describes the slices that chunks are read in; NULL: none. */
static refs_status open_array(const refs_array_context *context, const refs_array_meta *meta,
                              void (*slice)(refs_array *array), refs_array **array,
                              refs_error *err) {
    const char *set = refs_store_name(context->store);
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s: %s", set, meta->path, meta->problem);
    if (meta->edges != NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: %s: expected chunks of one size, found several sizes", set,
                         meta->path);
    refs_array *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->context = *context;
    opened->meta = opened->stored = meta;
    if (slice != NULL) slice(opened);
    if (context->cache != NULL) opened->owner = refs_cache__new_owner(context->cache);
    refs_scratch_list__init(&opened->scratches);
    refs_tasks__init(&opened->tasks);
    refs_status status = measure_chunk(opened, err);
    if (status == REFS_OK) status = open_chain(opened, err);
    if (status == REFS_OK && meta->shard != NULL)
        status = refs_shards__open(opened, &opened->shards, err);
    if (status != REFS_OK) {
        refs_error_prefix(err, "%s", set);
        refs_array_free(opened);
        return status;
    }
    *array = opened;
    return REFS_OK;
}

refs_status refs_array_open(const refs_array_context *context, const refs_array_meta *meta,
                            refs_array **array, refs_error *err) {
    return open_array(context, meta, refs_slices__open, array, err);
}

refs_status refs_array__open_unsliced(const refs_array_context *context,
                                      const refs_array_meta *meta, refs_array **array,
                                      refs_error *err) {
    return open_array(context, meta, NULL, array, err);
}

void refs_array_free(refs_array *array) {
    if (array == NULL) return;
    atomic_store(&array->ending, true);
    refs_readahead__withdraw(array);
    refs_together__withdraw(array);
    refs_tasks__clear(&array->tasks);
    if (array->context.cache != NULL)
        refs_cache__drop_owner(array->context.cache, array->owner, array->grid.n_chunks);
    refs_shards__free(array, array->shards);
    refs_scratch_list__clear(&array->scratches);
    refs_chain_free(array->chain);
    if (array->mosaic.free != NULL) array->mosaic.free(array->mosaic.self);
    refs_free(array);
}

const refs_array_meta *refs_array_meta_of(const refs_array *array) {
    return array->stored;
}

void refs_array_get_stats(const refs_array *array, refs_array_stats *stats) {
    stats->chunks_decoded = atomic_load(&array->chunks_decoded);
    stats->chunks_absent = atomic_load(&array->chunks_absent);
    stats->cache_hits = atomic_load(&array->cache_hits);
    stats->bytes_copied = atomic_load(&array->bytes_copied);
}

uint64_t refs_array__mean_stored(const refs_array *array) {
    uint64_t n = atomic_load(&array->chunks_stored);
    uint64_t bytes = n > 0 ? atomic_load(&array->bytes_stored) / n : array->chunk_bytes;
    return bytes > 0 ? bytes : 1;
}

/* -- reading whole arrays ---------------------------------------------------------------------- */

refs_status refs_array__read_elements(refs_array *array, uint64_t max_elements, refs_buf *elements,
                                      size_t *n, refs_error *err) {
    const refs_array_meta *meta = array->meta;
    uint64_t count, bytes;
    if (!refs_array_meta_elements(meta, &count) || count > max_elements ||
        !refs_mul_u64(count, meta->dtype.size, &bytes) || bytes > SIZE_MAX)
        return refs_fail(err, REFS_LIMIT, "%s: expected at most %llu elements, found more",
                         meta->path, (unsigned long long)max_elements);
    *n = (size_t)count;
    REFS_TRY(refs_buf_resize(elements, (size_t)bytes, err));
    static const uint64_t origin[REFS_MAX_RANK] = {0};
    refs_region region = {origin, meta->shape, NULL};
    return refs_array_read(array, &region, elements->data, NULL, err);
}

refs_status refs_array_read_doubles(refs_array *array, uint64_t max_elements, double *values,
                                    refs_error *err) {
    REFS_SCOPED_BUF elements = REFS_BUF_INIT;
    size_t n = 0;
    REFS_TRY(refs_array__read_elements(array, max_elements, &elements, &n, err));
    if (!refs_dtype_to_doubles(&array->meta->dtype, elements.data, n, values))
        return refs_fail(err, REFS_UNSUPPORTED, "%s: expected numbers, found strings",
                         array->meta->path);
    return REFS_OK;
}
