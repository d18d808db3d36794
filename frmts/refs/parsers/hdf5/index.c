/* index.c -- see hdf5/index.h. */
#include "hdf5/index.h"

#include "hdf5/chunks.h"
#include "hdf5/strings.h"

/* -- without an index ----------------------------------------------------------------------------
 */

/* The bytes of all elements, or UINT64_MAX, which no file has. */
static uint64_t value_bytes(const refs_hdf5_layout *layout) {
    uint64_t bytes = layout->element_size;
    for (size_t dim = 0; dim < layout->rank; dim++)
        if (layout->shape[dim] == 0) return 0;
    for (size_t dim = 0; dim < layout->rank; dim++)
        if (!refs_mul_u64(bytes, layout->shape[dim], &bytes)) return UINT64_MAX;
    return bytes;
}

bool refs_hdf5__can_be_counted(const refs_hdf5_layout *layout) {
    return value_bytes(layout) < INT64_MAX;
}

/* Chunks have the full length along all dimensions after the divided one, and length 1 along those
 * before it. */
refs_chunk_steps refs_hdf5__contiguous_steps(const refs_hdf5_layout *layout, uint64_t offset) {
    /* `short_dim` must not be one of the dimensions that array types add later. */
    refs_chunk_steps steps = {.offset = offset, .short_dim = REFS_SCAN_MAX_RANK};
    uint64_t element = layout->element_size; /* bytes of an element along `dim` */
    steps.length = element;
    for (size_t dim = layout->rank; dim-- > 0;) {
        uint64_t size = layout->shape[dim], chunk = layout->chunk[dim];
        if (size % chunk != 0) {
            steps.short_dim = dim;
            steps.last_length = size % chunk * element;
        }
        steps.steps[dim] = chunk * element;
        steps.length *= chunk;
        element *= size;
    }
    return steps;
}

static refs_status add_contiguous(refs_hdf5_chunks *chunks, refs_error *err) {
    const refs_hdf5_layout *layout = chunks->layout;
    uint64_t offset, size = layout->size;
    if (layout->address == REFS_HDF5_UNDEFINED || size == 0) return REFS_OK;
    if (!refs_add_u64(chunks->file->base, layout->address, &offset) || size < value_bytes(layout) ||
        offset > chunks->file->size || size > chunks->file->size - offset)
        return refs_fail(err, REFS_CORRUPT,
                         "its values (%llu bytes at address %llu) are too few or extend past the "
                         "end of the file",
                         (unsigned long long)size, (unsigned long long)layout->address);
    if (chunks->index->n_chunks == 0) return REFS_OK;
    const refs_chunk_steps steps = refs_hdf5__contiguous_steps(layout, offset);
    return refs_chunk_index_in_steps(chunks->index, &steps, err);
}

static refs_status add_compact(refs_hdf5_chunks *chunks, refs_error *err) {
    const refs_buf *values = &chunks->layout->compact;
    chunks->index->location_id = REFS_SCAN_INLINE;
    if (values->size == 0 || chunks->index->n_chunks == 0) return REFS_OK;
    return refs_chunk_index_add_inline(chunks->index, 0, refs_buf_view(values), err);
}

static refs_status add_single(refs_hdf5_chunks *chunks, refs_error *err) {
    const refs_hdf5_layout *layout = chunks->layout;
    static const uint64_t at[REFS_SCAN_MAX_RANK] = {0};
    refs_hdf5_chunk chunk = {layout->address, chunks->chunk_bytes, 0};
    if ((layout->flags & REFS_HDF5_SINGLE_FILTERED) != 0) {
        chunk.size = layout->single_size;
        chunk.mask = layout->single_mask;
    }
    return refs_hdf5__chunks_add(chunks, at, &chunk, err);
}

/* Chunks have no index: all have the same size, and they are consecutive. */
static refs_status add_implicit(refs_hdf5_chunks *chunks, refs_error *err) {
    uint64_t n, size, end;
    REFS_TRY(refs_hdf5__chunks_order(chunks, 0, &n, err));
    if (!refs_mul_u64(n, chunks->chunk_bytes, &size) ||
        !refs_add_u64(chunks->layout->address, size, &end) || end > chunks->file->size)
        return refs_fail(err, REFS_CORRUPT, "its chunks extend past the end of the file");
    refs_hdf5_chunk chunk = {chunks->layout->address, chunks->chunk_bytes, 0};
    for (uint64_t i = 0; i < n; i++, chunk.address += chunks->chunk_bytes)
        REFS_TRY(refs_hdf5__chunks_add_nth(chunks, i, &chunk, err));
    return REFS_OK;
}

/* -- all layouts ---------------------------------------------------------------------------------
 */

static refs_status add_chunked(refs_hdf5_chunks *chunks, refs_error *err) {
    if (chunks->layout->address == REFS_HDF5_UNDEFINED) return REFS_OK;
    switch (chunks->layout->index) {
    case REFS_HDF5_BTREE_1:
        return refs_hdf5__read_btree1(chunks, err);
    case REFS_HDF5_SINGLE:
        return add_single(chunks, err);
    case REFS_HDF5_IMPLICIT:
        return add_implicit(chunks, err);
    case REFS_HDF5_FIXED_ARRAY:
        return refs_hdf5__read_fixed_array(chunks, err);
    case REFS_HDF5_EXTENSIBLE_ARRAY:
        return refs_hdf5__read_extensible_array(chunks, err);
    case REFS_HDF5_BTREE_2:
        return refs_hdf5__read_btree2(chunks, err);
    }
    return refs_fail(err, REFS_CORRUPT, "unknown chunk index type %d", (int)chunks->layout->index);
}

static refs_status add_all(refs_hdf5_chunks *chunks, refs_error *err) {
    switch (chunks->layout->class) {
    case REFS_HDF5_COMPACT:
        return add_compact(chunks, err);
    case REFS_HDF5_CONTIGUOUS:
        return add_contiguous(chunks, err);
    case REFS_HDF5_CHUNKED:
        return add_chunked(chunks, err);
    case REFS_HDF5_VIRTUAL:
        break;
    }
    return refs_fail(err, REFS_UNSUPPORTED, "its values are in external files");
}

static refs_status read_stored(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                               refs_chunk_index *index, refs_error *err) {
    refs_hdf5_chunks chunks = {.file = file, .layout = layout, .index = index};
    REFS_TRY(refs_chunk_index_init(index, layout->rank, layout->shape, layout->chunk, err));
    if (!refs_hdf5__chunk_bytes(layout, &chunks.chunk_bytes) || chunks.chunk_bytes == 0)
        return refs_fail(err, REFS_CORRUPT, "its chunks have invalid sizes");
    return add_all(&chunks, err);
}

static refs_status read_strings(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                refs_chunk_index *index, refs_error *err) {
    REFS_SCOPED_BY(refs_chunk_index_clear) refs_chunk_index stored = {.rank = 0};
    REFS_TRY(read_stored(file, layout, &stored, err));
    REFS_TRY(refs_chunk_index_finish(&stored, err));
    REFS_TRY(refs_chunk_index_init(index, layout->rank, layout->shape, layout->chunk, err));
    return refs_hdf5__add_strings(file, layout, &stored, index, err);
}

refs_status refs_hdf5__read_index(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                  refs_chunk_index *index, refs_error *err) {
    refs_hdf5__begin_task(file);
    if (layout->element == REFS_HDF5_VLEN_STRING) return read_strings(file, layout, index, err);
    return read_stored(file, layout, index, err);
}
