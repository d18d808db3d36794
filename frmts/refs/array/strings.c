/* strings.c -- arrays of strings, of fixed and of variable length, read whole; see array.h. */
#include "mosaic.h"

#define MAX_TEXT_BYTES REFS_MAX_TEXT_BYTES

/* Limit of the bytes of all elements of a fixed length, which are mostly padding, or have four
 * bytes per letter. */
#define MAX_PADDED_BYTES (4 * MAX_TEXT_BYTES)

/* A text of an array in the buffer of all texts. */
typedef struct piece {
    size_t begin;
    size_t size;
} piece;

/* The state of reading an array of objects. Chunks arrive in any order. */
typedef struct strings_reading {
    refs_array *array;
    refs_cut cut;
    refs_buf bytes;
    piece *pieces; /* one for each element, in C order */
    refs_scratch scratch;
} strings_reading;

/* -- one chunk --------------------------------------------------------------------------------- */

static refs_status add_piece(strings_reading *job, piece *element, refs_bytes text,
                             refs_error *err) {
    if (text.size > MAX_TEXT_BYTES - job->bytes.size)
        return refs_fail(err, REFS_LIMIT, "its strings need more than the limit of %zu bytes",
                         MAX_TEXT_BYTES);
    *element = (piece){job->bytes.size, text.size};
    return refs_buf_append(&job->bytes, text.data, text.size, err);
}

/* The number in the array of the element at `position` in a chunk; false if it is outside. */
static bool place_of(const strings_reading *job, const refs_span *spans, size_t position,
                     size_t *element) {
    const refs_array_meta *meta = job->array->meta;
    uint64_t index[REFS_MAX_RANK];
    for (size_t i = meta->rank; i-- > 0;) {
        size_t dim = meta->order[i];
        index[dim] = spans[dim].chunk * meta->chunk[dim] + position % meta->chunk[dim];
        position /= (size_t)meta->chunk[dim];
        if (index[dim] >= meta->shape[dim]) return false;
    }
    *element = 0;
    for (size_t dim = 0; dim < meta->rank; dim++)
        *element = *element * (size_t)meta->shape[dim] + (size_t)index[dim];
    return true;
}

static refs_status take_items(strings_reading *job, const refs_span *spans, refs_bytes items,
                              refs_error *err) {
    size_t n = job->array->chunk_elements;
    if (items.size < 4 || refs_load_le32(items.data) != n)
        return refs_fail(err, REFS_CORRUPT, "expected %zu strings, found another number", n);
    items = refs_bytes_view(items.data + 4, items.size - 4);
    for (size_t i = 0; i < n; i++) {
        refs_bytes text;
        size_t element;
        if (!refs_vlen_next(&items, &text))
            return refs_fail(err, REFS_CORRUPT, "string %zu of %zu is truncated", i, n);
        if (place_of(job, spans, i, &element))
            REFS_TRY(add_piece(job, &job->pieces[element], text, err));
    }
    return REFS_OK;
}

/* Sets all elements of a chunk to one text. */
static refs_status take_fill(strings_reading *job, const refs_span *spans, refs_error *err) {
    piece fill;
    refs_str text = refs_str_from(job->array->meta->fill_text);
    REFS_TRY(add_piece(job, &fill, refs_bytes_view(text.data, text.size), err));
    size_t rank = job->cut.rank, n = 1;
    for (size_t dim = 0; dim < rank; dim++) n *= (size_t)spans[dim].n;
    for (size_t i = 0; i < n; i++) { /* those inside the array: the chunk may be any size */
        size_t element = 0, step = 1, left = i;
        for (size_t dim = rank; dim-- > 0; left /= (size_t)spans[dim].n) {
            element += step * (size_t)(spans[dim].first + left % spans[dim].n);
            step *= (size_t)job->array->meta->shape[dim];
        }
        job->pieces[element] = fill;
    }
    return REFS_OK;
}

/* Decodes a chunk and copies its strings. */
static refs_status take_stored(strings_reading *job, const refs_span *spans,
                               const refs_stored *stored, refs_error *err) {
    refs_chain *made;
    refs_bytes items;
    const refs_chain *chain;
    REFS_TRY(refs_array__chain_for(job->array, stored->filter_mask, &chain, &made, err));
    refs_status status = refs_chain_decode_any(chain, stored->bytes, &job->scratch, &items, err);
    refs_chain_free(made);
    return status == REFS_OK ? take_items(job, spans, items, err) : status;
}

static refs_status receive(void *user, size_t index, const refs_store_value *value,
                           refs_error *err) {
    strings_reading *job = user;
    refs_span spans[REFS_MAX_RANK];
    refs_array__cut_at(&job->cut, index, spans);
    if (!value->is_present) return take_fill(job, spans, err);
    const refs_stored stored = {value->bytes, value->filter_mask};
    return take_stored(job, spans, &stored, err);
}

/* -- all chunks -------------------------------------------------------------------------------- */

static refs_status name_chunks(const strings_reading *job, refs_key_list *keys, refs_error *err) {
    for (size_t number = 0; number < job->cut.n_chunks; number++) {
        refs_span spans[REFS_MAX_RANK];
        uint64_t index[REFS_MAX_RANK];
        refs_array__cut_at(&job->cut, number, spans);
        for (size_t dim = 0; dim < job->cut.rank; dim++) index[dim] = spans[dim].chunk;
        REFS_TRY(refs_key_list__add(keys, job->array, index, err));
    }
    return REFS_OK;
}

static refs_status read_chunks(strings_reading *job, refs_error *err) {
    refs_key_list keys;
    const refs_store_client client = {.sink = receive, .user = job};
    refs_status status = refs_key_list__open(&keys, (size_t)job->cut.n_chunks, err);
    if (status == REFS_OK) status = name_chunks(job, &keys, err);
    if (status == REFS_OK)
        status = refs_store_get_many(job->array->context.store, refs_key_list__view(&keys), keys.n,
                                     &client, err);
    refs_key_list__clear(&keys);
    return status;
}

/* A text ends before its first NUL. */
static refs_status append_strings(const strings_reading *job, size_t n, refs_buf *strings,
                                  refs_error *err) {
    size_t total = 0; /* a fill value is stored once, and used many times */
    for (size_t i = 0; i < n; i++) {
        size_t size = job->pieces[i].size;
        total += size;
        if (total > MAX_TEXT_BYTES)
            return refs_fail(err, REFS_LIMIT,
                             "%s: its strings need more than the limit of %zu bytes",
                             job->array->meta->path, MAX_TEXT_BYTES);
        const uint8_t *text = size > 0 ? job->bytes.data + job->pieces[i].begin : NULL;
        const uint8_t *end = size > 0 ? memchr(text, 0, size) : NULL;
        REFS_TRY(refs_buf_append(strings, text, end != NULL ? (size_t)(end - text) : size, err));
        REFS_TRY(refs_buf_append(strings, "", 1, err));
    }
    return REFS_OK;
}

static refs_status read_objects(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                refs_error *err) {
    const refs_array_meta *meta = array->meta;
    static const uint64_t origin[REFS_MAX_RANK] = {0};
    refs_region all = {origin, meta->shape, NULL};
    uint64_t n;
    if (!refs_array_meta_elements(meta, &n) || n > max_elements)
        return refs_fail(err, REFS_LIMIT, "%s: expected at most %llu elements, found more",
                         meta->path, (unsigned long long)max_elements);
    strings_reading job = {.array = array};
    job.pieces = refs_calloc((size_t)n, sizeof *job.pieces);
    refs_status status = job.pieces != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) status = refs_array__cut(meta, &all, &job.cut, err);
    if (status == REFS_OK) status = read_chunks(&job, err);
    if (status == REFS_OK) status = append_strings(&job, (size_t)n, strings, err);
    refs_array__cut_clear(&job.cut);
    refs_scratch_clear(&job.scratch);
    refs_buf_clear(&job.bytes);
    refs_free(job.pieces);
    return status;
}

refs_status refs_array_read_strings(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                    refs_error *err) {
    const refs_dtype *dtype = &array->meta->dtype;
    if (dtype->type == REFS_TYPE_OBJECT && array->mosaic.gather != NULL)
        return refs_mosaic__read_strings(array, max_elements, strings, err);
    if (dtype->type == REFS_TYPE_OBJECT) return read_objects(array, max_elements, strings, err);
    if (dtype->type != REFS_TYPE_BYTES && dtype->type != REFS_TYPE_UNICODE)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: expected strings, found other elements",
                         array->meta->path);
    REFS_SCOPED_BUF elements = REFS_BUF_INIT;
    size_t n = 0;
    uint64_t count;
    if (refs_array_meta_elements(array->meta, &count) && count <= max_elements &&
        count > MAX_PADDED_BYTES / dtype->size)
        return refs_fail(err, REFS_LIMIT, "%s: its strings need more than the limit of %zu bytes",
                         array->meta->path, MAX_PADDED_BYTES);
    REFS_TRY(refs_array__read_elements(array, max_elements, &elements, &n, err));
    return refs_array__to_strings(dtype, elements.data, n, strings, err);
}

/* -- letters ----------------------------------------------------------------------------------- */

bool refs_array_has_letters(const refs_array_meta *meta) {
    return meta->dtype.type == REFS_TYPE_BYTES && meta->dtype.size == 1 && meta->rank > 0;
}

static refs_status append_letters(const uint8_t *row, size_t length, refs_buf *strings,
                                  refs_error *err) {
    const uint8_t *end = length > 0 ? memchr(row, 0, length) : NULL;
    size_t size = end != NULL ? (size_t)(end - row) : length;
    while (size > 0 && row[size - 1] == ' ') size--;
    REFS_TRY(refs_buf_append(strings, row, size, err));
    return refs_buf_append(strings, "", 1, err);
}

refs_status refs_array_read_letters(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                    refs_error *err) {
    const refs_array_meta *meta = array->meta;
    REFS_SCOPED_BUF letters = REFS_BUF_INIT;
    size_t n = 0, length = (size_t)meta->shape[meta->rank - 1];
    if (length == 0)
        return refs_fail(err, REFS_CORRUPT, "%s: expected strings of at least 1 character, found 0",
                         meta->path);
    REFS_TRY(refs_array__read_elements(array, max_elements, &letters, &n, err));
    for (size_t at = 0; at < n; at += length)
        REFS_TRY(append_letters(letters.data + at, length, strings, err));
    return REFS_OK;
}
