/* chunks.c -- see hdf5/chunks.h. */
#include "hdf5/chunks.h"

/* Whether the chunk is partly outside the array: a dataset may leave such chunks unfiltered without
 * setting their masks. */
static bool is_partial(const refs_hdf5_layout *layout, const uint64_t *at) {
    for (size_t dim = 0; dim < layout->rank; dim++)
        if ((at[dim] + 1) * layout->chunk[dim] > layout->shape[dim]) return true;
    return false;
}

static uint32_t mask_of(const refs_hdf5_layout *layout, const uint64_t *at, uint32_t mask) {
    const uint32_t all = (uint32_t)((UINT64_C(1) << layout->n_filters) - 1);
    bool may_be_unfiltered = (layout->flags & REFS_HDF5_PARTIAL_UNFILTERED) != 0;
    /* Bits beyond the number of filters are ignored: writers of unfiltered chunks set all bits.
     */
    mask = may_be_unfiltered && is_partial(layout, at) ? all : mask & all;
    /* The codec before the filters is never skipped. */
    return layout->is_recast ? mask << 1 : mask;
}

refs_status refs_hdf5__chunks_add(refs_hdf5_chunks *chunks, const uint64_t *at,
                                  const refs_hdf5_chunk *chunk, refs_error *err) {
    const refs_hdf5_layout *layout = chunks->layout;
    uint64_t number, offset, end;
    if (chunk->address == REFS_HDF5_UNDEFINED ||
        !refs_chunk_index_number(chunks->index, at, &number))
        return REFS_OK;
    if (chunk->size == 0 || !refs_add_u64(chunks->file->base, chunk->address, &offset) ||
        !refs_add_u64(offset, chunk->size, &end))
        return refs_fail(err, REFS_CORRUPT,
                         "chunk %llu has an invalid place: %llu bytes at address %llu",
                         (unsigned long long)number, (unsigned long long)chunk->size,
                         (unsigned long long)chunk->address);
    if (++chunks->n_added > chunks->file->options->limits.max_chunks)
        return refs_fail(err, REFS_LIMIT, "its chunks exceed the limit of %llu",
                         (unsigned long long)chunks->file->options->limits.max_chunks);
    return refs_chunk_index_add(chunks->index, number, (refs_source_range){offset, chunk->size},
                                mask_of(layout, at, chunk->mask), err);
}

/* -- positions -----------------------------------------------------------------------------------
 */

refs_status refs_hdf5__chunks_order(refs_hdf5_chunks *chunks, size_t n_unlimited, uint64_t *n,
                                    refs_error *err) {
    const refs_hdf5_layout *layout = chunks->layout;
    size_t n_found = 0, next = n_unlimited;
    *n = 1;
    for (size_t dim = 0; dim < layout->rank; dim++) {
        uint64_t size = layout->max_shape[dim], chunk = layout->chunk[dim];
        bool is_unlimited = size == REFS_HDF5_UNDEFINED;
        if (is_unlimited && n_found++ >= n_unlimited) break;
        size_t place = is_unlimited ? 0 : next++;
        if (place >= REFS_SCAN_MAX_RANK) break;
        chunks->order[place] = dim;
        chunks->max_n[place] = is_unlimited ? UINT64_MAX : size / chunk + (size % chunk != 0);
        if (!is_unlimited && !refs_mul_u64(*n, chunks->max_n[place], n))
            return refs_fail(err, REFS_LIMIT, "its maximum shape has more than 2^64 chunks");
    }
    if (n_found == n_unlimited) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "its chunk index does not fit its unlimited dimensions");
}

refs_status refs_hdf5__chunks_add_nth(refs_hdf5_chunks *chunks, uint64_t position,
                                      const refs_hdf5_chunk *chunk, refs_error *err) {
    uint64_t at[REFS_SCAN_MAX_RANK] = {0};
    for (size_t place = chunks->layout->rank; place-- > 0;) {
        uint64_t n = chunks->max_n[place];
        if (place > 0 && n == 0) return REFS_OK;
        at[chunks->order[place]] = place > 0 ? position % n : position;
        if (place > 0) position /= n;
    }
    return refs_hdf5__chunks_add(chunks, at, chunk, err);
}

/* -- elements ------------------------------------------------------------------------------------
 */

#define MASK_BYTES     4
#define CHECKSUM_BYTES 4

refs_status refs_hdf5__elements_check(const refs_hdf5_chunks *chunks,
                                      const refs_hdf5_elements *elements, refs_error *err) {
    size_t least = chunks->file->offset_size;
    size_t most = least;
    if (elements->is_filtered) {
        most += 8 + MASK_BYTES;
        least += 1 + MASK_BYTES;
    }
    if (elements->size >= least && elements->size <= most) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "its chunk index has elements of an unexpected size: %zu bytes",
                     elements->size);
}

refs_status refs_hdf5__chunks_add_elements(refs_hdf5_chunks *chunks,
                                           const refs_hdf5_elements *elements, uint64_t first,
                                           refs_bytes bytes, refs_error *err) {
    size_t size_bytes = elements->size - chunks->file->offset_size - MASK_BYTES;
    refs_hdf5_cursor cursor = refs_hdf5__cursor(bytes);
    for (uint64_t i = 0; i < bytes.size / elements->size; i++) {
        refs_hdf5_chunk chunk = {.address = refs_hdf5__address(chunks->file, &cursor),
                                 .size = chunks->chunk_bytes};
        if (elements->is_filtered) {
            chunk.size = refs_hdf5__uint(&cursor, size_bytes);
            chunk.mask = refs_hdf5__u32(&cursor);
        }
        if (chunk.address == REFS_HDF5_UNDEFINED) continue;
        REFS_TRY(refs_hdf5__chunks_add_nth(chunks, first + i, &chunk, err));
    }
    return REFS_OK;
}

static refs_status check_page(refs_bytes page, uint64_t address, refs_error *err) {
    size_t size = page.size - CHECKSUM_BYTES;
    if (refs_hdf5__sums_to(refs_bytes_view(page.data, size), refs_load_le32(page.data + size)))
        return REFS_OK;
    return refs_hdf5__corrupt(err, "page of a chunk index", address, "has a wrong checksum");
}

static refs_status add_block(refs_hdf5_chunks *chunks, const refs_hdf5_elements *elements,
                             const refs_hdf5_node *block, refs_buf *buf, refs_error *err) {
    REFS_TRY(refs_hdf5__read(chunks->file, (refs_source_range){block->address, block->size}, buf,
                             "chunk index", err));
    refs_bytes bytes = refs_buf_view(buf);
    if (elements->signature != NULL)
        REFS_TRY(refs_hdf5__check(bytes, elements->signature, block->address, err));
    else
        REFS_TRY(check_page(bytes, block->address, err));
    bytes = refs_bytes_view(bytes.data + elements->prefix_size,
                            bytes.size - elements->prefix_size - CHECKSUM_BYTES);
    return refs_hdf5__chunks_add_elements(chunks, elements, block->number, bytes, err);
}

refs_status refs_hdf5__chunks_add_blocks(refs_hdf5_chunks *chunks,
                                         const refs_hdf5_elements *elements,
                                         refs_hdf5_nodes *blocks, refs_error *err) {
    REFS_SCOPED_BUF buf = REFS_BUF_INIT;
    for (size_t i = 0; i < blocks->n; i++) {
        REFS_TRY(refs_hdf5__nodes_want(chunks->file, blocks, i, err));
        REFS_TRY(add_block(chunks, elements, &blocks->nodes[i], &buf, err));
    }
    return REFS_OK;
}
