/* values.c -- reads values of small arrays. */
#include "combine_internal.h"
#include "refs/array.h"
#include "refs/fetch.h"
#include "refs/lookup3.h"
#include "refs/store.h"

bool refs_combine__value_bytes(const refs_array_meta *meta, uint64_t *bytes) {
    return meta->status == REFS_OK && meta->dtype.type != REFS_TYPE_OBJECT &&
           meta->dtype.type != REFS_TYPE_RAW && refs_array_meta_elements(meta, bytes) &&
           refs_mul_u64(*bytes, meta->dtype.size, bytes);
}

static refs_status read_all(refs_array *array, const refs_array_meta *meta, uint8_t *to,
                            refs_error *err) {
    static const uint64_t start[REFS_MAX_RANK];
    const refs_region all = {start, meta->shape, NULL};
    return refs_array_read(array, &all, to, NULL, err);
}

/* The time for which values that are read at once are kept. */
#define CACHE_BYTES (16 * REFS_MIB)

refs_status refs_combine__fetcher_open(const refs_combine_options *options, refs_fetcher **fetcher,
                                       refs_error *err) {
    refs_fetch_options fetching = REFS_FETCH_OPTIONS_INIT;
    fetching.http = options->http;
    fetching.advice = options->advice;
    fetching.changed = options->changed;
    fetching.notes = options->notes;
    return refs_fetcher_open(options->vfs, &fetching, fetcher, err);
}

refs_status refs_combine__source_open(const refs_combine_options *options, const refs_set *set,
                                      refs_combine_source *source, refs_error *err) {
    *source = (refs_combine_source){.is_file = refs_set_is_file(set)};
    REFS_TRY(refs_combine__fetcher_open(options, &source->fetcher, err));
    REFS_TRY(refs_store_open(set, source->fetcher, &source->store, err));
    REFS_TRY(refs_cache_open(CACHE_BYTES, &source->cache, err));
    return refs_hierarchy_open(source->store, &options->notes, &source->hierarchy, err);
}

void refs_combine__source_close(refs_combine_source *source) {
    if (source->cache != NULL) refs_cache_free(source->cache);
    refs_hierarchy_free(source->hierarchy);
    refs_store_free(source->store);
    refs_fetcher_free(source->fetcher);
}

static refs_status read_one(refs_array *array, refs_buf *values, refs_error *err) {
    const refs_array_meta *meta = refs_array_meta_of(array);
    uint64_t bytes = 0;
    values->size = 0;
    if (meta->dtype.type == REFS_TYPE_OBJECT)
        return refs_array_read_strings(array, REFS_COMBINE_MAX_THIN_BYTES, values, err);
    if (!refs_combine__value_bytes(meta, &bytes) || bytes > SIZE_MAX / 2)
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%s: expected values that fit into memory, found an unknown or larger size",
            meta->path);
    REFS_TRY(refs_buf_resize(values, (size_t)bytes, err));
    return bytes > 0 ? read_all(array, meta, values->data, err) : REFS_OK;
}

/* Adds advice to a failure: the files of a set may have been removed since. */
static refs_status fail_read(const refs_combine_source *source, refs_status status,
                             const refs_error *problem, refs_error *err) {
    if (!refs_status_is_unreadable(status) || source->is_file)
        return refs_fail(err, status, "%s", problem->message);
    return refs_fail(err, status,
                     "%s: combining reads this variable, and the set refers to that file for it: "
                     "restore the file, or index the remaining files again",
                     problem->message);
}

static refs_status read_each(const refs_combine_source *source, refs_array *const *arrays, size_t n,
                             const refs_value_sink *sink, refs_error *err) {
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        refs_error problem = REFS_ERROR_INIT;
        refs_status result = read_one(arrays[i], &values, &problem);
        if (result == REFS_OK)
            status = sink->take(sink->user, i, refs_buf_view(&values), err);
        else if (!sink->skips(sink->user, i, result, &problem))
            status = fail_read(source, result, &problem, err);
    }
    return status;
}

refs_status refs_combine__load(const refs_combine_source *source,
                               const refs_array_meta *const *metas, size_t n,
                               const refs_value_sink *sink, refs_error *err) {
    const refs_array_context context = {.store = source->store, .cache = source->cache};
    REFS_SCOPED refs_array **arrays = refs_calloc(n, sizeof *arrays);
    refs_status status = arrays != NULL ? REFS_OK : refs_fail_nomem(err);
    size_t n_opened = 0;
    while (status == REFS_OK && n_opened < n) {
        status = refs_array_open(&context, metas[n_opened], &arrays[n_opened], err);
        n_opened += status == REFS_OK;
    }
    if (status == REFS_OK && n > 1) refs_arrays_load(arrays, n);
    if (status == REFS_OK) status = read_each(source, arrays, n, sink, err);
    for (size_t i = 0; i < n_opened; i++) refs_array_free(arrays[i]);
    return status;
}

/* -- digests ----------------------------------------------------------------------------------- */

refs_combine_steps refs_combine__digest_rows(uint64_t n_rows, uint64_t row_bytes, size_t sample) {
    uint64_t rows = row_bytes == 0 ? 0 : REFS_COMBINE_DIGEST_BYTES / row_bytes;
    if (rows == 0 && row_bytes <= REFS_COMBINE_MAX_DIGEST_ROW) rows = 1;
    if (row_bytes > 0 && n_rows <= REFS_COMBINE_MAX_GRID_BYTES / row_bytes)
        rows = (n_rows + REFS_COMBINE_N_SAMPLES - 1) / REFS_COMBINE_N_SAMPLES;
    if (rows > n_rows) rows = n_rows;
    const bool is_last = sample + 1 == REFS_COMBINE_N_SAMPLES;
    const uint64_t begin =
        is_last ? n_rows - rows : (n_rows - rows) / (REFS_COMBINE_N_SAMPLES - 1) * sample;
    return (refs_combine_steps){begin, begin + rows};
}

uint64_t refs_combine__spot(uint64_t n_rows, uint64_t row_elements, size_t spot) {
    const uint64_t sample = spot / REFS_COMBINE_SPOTS_OF_ROW,
                   place = spot % REFS_COMBINE_SPOTS_OF_ROW;
    const uint64_t row = (n_rows - 1) * sample / (REFS_COMBINE_N_SAMPLES - 1);
    return row * row_elements + (row_elements - 1) * place / (REFS_COMBINE_SPOTS_OF_ROW - 1);
}

typedef struct digesting {
    refs_array *array;
    const refs_array_meta *meta;
    uint64_t row_bytes;
    refs_buf values, spots; /* of the current sample's rows; of all samples */
    refs_buf *digest;
} digesting;

static refs_status add_sums(digesting *at, refs_error *err) {
    const uint32_t sums[2] = {refs_lookup3(refs_buf_view(&at->values), 0),
                              refs_lookup3(refs_buf_view(&at->values), 1)};
    return refs_buf_append(at->digest, sums, sizeof sums, err);
}

static refs_status add_spots(digesting *at, size_t sample, uint64_t first_row, refs_error *err) {
    const size_t size = at->meta->dtype.size;
    for (size_t i = 0; i < REFS_COMBINE_SPOTS_OF_ROW; i++) {
        const size_t spot = sample * REFS_COMBINE_SPOTS_OF_ROW + i;
        const uint64_t element = refs_combine__spot(at->meta->shape[0], at->row_bytes / size, spot);
        const uint64_t begin = element * size - first_row * at->row_bytes;
        REFS_TRY(refs_buf_append(&at->spots, at->values.data + begin, size, err));
    }
    return REFS_OK;
}

static refs_status digest_sample(digesting *at, size_t sample, refs_error *err) {
    uint64_t start[REFS_MAX_RANK] = {0}, count[REFS_MAX_RANK];
    const refs_region region = {start, count, NULL};
    const refs_combine_steps rows =
        refs_combine__digest_rows(at->meta->shape[0], at->row_bytes, sample);
    if (rows.end == rows.begin) return REFS_OK;
    memcpy(count, at->meta->shape, at->meta->rank * sizeof *count);
    start[0] = rows.begin;
    count[0] = rows.end - rows.begin;
    REFS_TRY(refs_buf_resize(&at->values, (size_t)(count[0] * at->row_bytes), err));
    REFS_TRY(refs_array_read(at->array, &region, at->values.data, NULL, err));
    REFS_TRY(add_sums(at, err));
    return add_spots(at, sample, rows.begin, err);
}

static refs_status digest_samples(refs_array *array, refs_buf *digest, refs_error *err) {
    digesting at = {.array = array, .meta = refs_array_meta_of(array), .digest = digest};
    uint64_t bytes = 0;
    if (at.meta->rank == 0 || at.meta->shape[0] == 0 ||
        !refs_combine__value_bytes(at.meta, &bytes) || bytes == 0)
        return REFS_OK;
    at.row_bytes = bytes / at.meta->shape[0];
    refs_status status = REFS_OK;
    for (size_t i = 0; i < REFS_COMBINE_N_SAMPLES && status == REFS_OK; i++)
        status = digest_sample(&at, i, err);
    if (status == REFS_OK) status = refs_buf_append(digest, at.spots.data, at.spots.size, err);
    refs_buf_clear(&at.values);
    refs_buf_clear(&at.spots);
    return status;
}

refs_str refs_combine__digest_spots(refs_str digest) {
    return refs_str_part(digest, 8 * REFS_COMBINE_N_SAMPLES, digest.size);
}

refs_status refs_combine__digest(const refs_combine_source *source, const refs_array_meta *meta,
                                 refs_buf *digest, refs_error *err) {
    const refs_array_context context = {.store = source->store, .cache = source->cache};
    refs_array *array;
    REFS_TRY(refs_array_open(&context, meta, &array, err));
    const refs_status status = digest_samples(array, digest, err);
    refs_array_free(array);
    return status;
}
