/* strings.c -- see hdf5/strings.h. */
#include "hdf5/strings.h"

#include "hdf5/dataset.h"
#include "refs/codec.h"
#include "refs/json.h"

/* The size of most collections of strings. */
#define USUAL_COLLECTION_BYTES (4 * REFS_KIB)

/* Collections that are requested at once. */
#define MAX_WANTED 1024

typedef struct reading {
    refs_hdf5_file *file;
    const refs_hdf5_layout *layout;
    const refs_chunk_index *stored;
    refs_chunk_index *index;
    size_t n_elements; /* of a chunk */
    refs_hdf5_heaps heaps;
    refs_buf chunk; /* after decoding */
    refs_buf stored_chunk;
    refs_json_doc *filters; /* NULL: not needed yet */
    refs_scratch scratch;
    refs_buf encoded; /* the text that becomes the inline chunk */
} reading;

/* -- one chunk -----------------------------------------------------------------------------------
 */

static refs_status parse_filters(reading *job, refs_error *err) {
    json_t *list = refs_hdf5__pipeline(job->layout);
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    if (text == NULL) return refs_fail_nomem(err);
    refs_status status = refs_json_parse(refs_str_from(text), &job->filters, err);
    free(text);
    return status;
}

static refs_status decode_chunk(reading *job, uint32_t skipped, refs_error *err) {
    refs_chain_step steps[REFS_HDF5_MAX_FILTERS];
    const refs_json *list = refs_json_root(job->filters);
    refs_chain_spec spec = {.steps = steps,
                            .n_steps = refs_json_size(list),
                            .skipped = skipped,
                            .dtype = "",
                            .element_size = job->layout->element_size,
                            .n_elements = job->n_elements};
    refs_chain *chain;
    for (size_t i = 0; i < spec.n_steps; i++)
        steps[i] = (refs_chain_step){
            refs_json_text(refs_json_get(refs_json_at(list, i), "id")).data, refs_json_at(list, i)};
    REFS_TRY(refs_chain_open(&spec, &chain, err));
    refs_status status = refs_buf_resize(&job->chunk, job->n_elements * spec.element_size, err);
    if (status == REFS_OK)
        status = refs_chain_decode(chain, refs_buf_view(&job->stored_chunk), &job->scratch,
                                   job->chunk.data, err);
    refs_chain_free(chain);
    return status;
}

static refs_status read_chunk(reading *job, const refs_index_entry *entry, refs_error *err) {
    size_t n_filters = job->layout->n_filters;
    uint64_t at = entry->offset - job->file->base;
    if (job->stored->location_id == REFS_SCAN_INLINE) {
        job->chunk.size = 0;
        return refs_buf_append(&job->chunk, job->stored->inline_bytes.data + entry->offset,
                               (size_t)entry->length, err);
    }
    if (entry->filter_mask == (UINT64_C(1) << n_filters) - 1)
        return refs_hdf5__read(job->file, (refs_source_range){at, entry->length}, &job->chunk,
                               "chunk", err);
    REFS_TRY(refs_hdf5__read(job->file, (refs_source_range){at, entry->length}, &job->stored_chunk,
                             "chunk", err));
    if (job->filters == NULL) REFS_TRY(parse_filters(job, err));
    return decode_chunk(job, (uint32_t)entry->filter_mask, err);
}

/* Length, address of a collection, and number of an object in it. */
static refs_hdf5_heap_id next_string(reading *job, refs_hdf5_cursor *cursor, uint32_t *length) {
    refs_hdf5_heap_id id;
    *length = refs_hdf5__u32(cursor);
    id.address = refs_hdf5__address(job->file, cursor);
    id.index = refs_hdf5__u32(cursor);
    return id;
}

/* Announces the collections that will be read. Neighbouring strings are usually in the same one. */
static refs_status want_collections(reading *job, refs_error *err) {
    refs_source_range ranges[MAX_WANTED];
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&job->chunk));
    size_t n = 0;
    while (refs_hdf5__left(&cursor) > 0 && n < MAX_WANTED) {
        uint32_t length;
        uint64_t address = next_string(job, &cursor, &length).address;
        if (cursor.is_short || length == 0 || address == REFS_HDF5_UNDEFINED) continue;
        if (n > 0 && ranges[n - 1].offset == address) continue;
        ranges[n++] = (refs_source_range){address, USUAL_COLLECTION_BYTES};
    }
    return refs_hdf5__want(job->file, ranges, n, err);
}

static refs_status add_u32(refs_buf *buf, size_t number, refs_error *err) {
    const uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                              (uint8_t)(number >> 24)};
    return refs_buf_append(buf, bytes, sizeof bytes, err);
}

static refs_status add_string(reading *job, refs_hdf5_cursor *cursor, refs_error *err) {
    refs_bytes string = refs_bytes_view("", 0);
    uint32_t length;
    refs_hdf5_heap_id id = next_string(job, cursor, &length);
    if (cursor->is_short) length = 0;
    if (length > 0) REFS_TRY(refs_hdf5__heap_object(job->file, &job->heaps, id, &string, err));
    if (string.size > length) string.size = length;
    if (job->encoded.size + string.size > job->file->options->limits.max_inline_bytes)
        return refs_fail(err, REFS_LIMIT, "its strings have more than %zu bytes",
                         job->file->options->limits.max_inline_bytes);
    REFS_TRY(add_u32(&job->encoded, string.size, err));
    return refs_buf_append(&job->encoded, string.data, string.size, err);
}

/* Missing bytes of a last contiguous chunk are empty strings. */
static refs_status add_chunk(reading *job, uint64_t number, const refs_index_entry *entry,
                             refs_error *err) {
    REFS_TRY(read_chunk(job, entry, err));
    REFS_TRY(want_collections(job, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&job->chunk));
    job->encoded.size = 0;
    REFS_TRY(add_u32(&job->encoded, job->n_elements, err));
    for (size_t i = 0; i < job->n_elements; i++) REFS_TRY(add_string(job, &cursor, err));
    if (job->index->inline_bytes.size + job->encoded.size >
        job->file->options->limits.max_inline_bytes)
        return refs_fail(err, REFS_LIMIT, "its strings have more than %zu bytes",
                         job->file->options->limits.max_inline_bytes);
    return refs_chunk_index_add_inline(job->index, number, refs_buf_view(&job->encoded), err);
}

/* -- all chunks ----------------------------------------------------------------------------------
 */

static refs_status add_chunks(reading *job, refs_error *err) {
    const refs_chunk_index *stored = job->stored;
    size_t n = stored->numbers != NULL ? stored->n_entries : (size_t)stored->n_chunks;
    if (stored->entries == NULL && stored->steps == NULL) return REFS_OK;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = stored->numbers != NULL ? stored->numbers[i] : i;
        refs_index_entry entry;
        if (refs_chunk_index_find(stored, number, &entry))
            REFS_TRY(add_chunk(job, number, &entry, err));
    }
    return REFS_OK;
}

refs_status refs_hdf5__add_strings(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                   const refs_chunk_index *stored, refs_chunk_index *index,
                                   refs_error *err) {
    uint64_t bytes;
    reading job = {.file = file, .layout = layout, .stored = stored, .index = index};
    index->location_id = REFS_SCAN_INLINE;
    if (layout->element_size != 8u + file->offset_size)
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "its strings have elements of %u bytes: expected %u, a length and the place "
            "in a heap",
            (unsigned)layout->element_size, 8u + file->offset_size);
    if (!refs_hdf5__chunk_bytes(layout, &bytes) ||
        bytes / layout->element_size > file->options->limits.max_inline_bytes / 4)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "its chunks hold more strings than the limit of %llu",
                         (unsigned long long)file->options->limits.max_inline_bytes / 4);
    job.n_elements = (size_t)(bytes / layout->element_size);
    refs_status status = add_chunks(&job, err);
    refs_hdf5__heaps_clear(&job.heaps);
    refs_buf_clear(&job.chunk);
    refs_buf_clear(&job.stored_chunk);
    refs_scratch_clear(&job.scratch);
    refs_json_doc_free(job.filters);
    refs_buf_clear(&job.encoded);
    return status;
}
