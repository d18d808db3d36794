/* fractal_heap.c -- see hdf5/fractal_heap.h. Specification III.G. */
#include "hdf5/fractal_heap.h"

#define HAS_CHECKSUMS 0x02u
#define MAX_ROWS      64

static unsigned int log2_of(uint64_t value) {
    unsigned int bits = 0;
    while (bits < 63 && value >> (bits + 1) != 0) bits++;
    return bits;
}

static bool is_power_of_two(uint64_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static size_t offset_bytes(const refs_hdf5_fractal_heap *heap) {
    return (heap->max_bits + 7u) / 8;
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status check_sizes(const refs_hdf5_fractal_heap *heap, refs_error *err) {
    if (heap->width == 0 || !is_power_of_two(heap->start_size) ||
        !is_power_of_two(heap->max_direct_size) || heap->max_direct_size < heap->start_size ||
        heap->max_direct_size > REFS_HDF5_MAX_STRUCTURE_BYTES || heap->max_bits > 64 ||
        heap->n_root_rows > MAX_ROWS || heap->id_size == 0)
        return refs_hdf5__corrupt(err, "fractal heap", heap->address, "has invalid sizes");
    if (heap->has_filters)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the fractal heap at address %llu is compressed, which is not supported",
                         (unsigned long long)heap->address);
    return REFS_OK;
}

static void read_fields(refs_hdf5_file *file, refs_hdf5_cursor *cursor,
                        refs_hdf5_fractal_heap *heap) {
    refs_hdf5__take(cursor, 5);
    heap->id_size = refs_hdf5__u16(cursor);
    heap->has_filters = refs_hdf5__u16(cursor) > 0;
    heap->has_checksums = (refs_hdf5__u8(cursor) & HAS_CHECKSUMS) != 0;
    heap->max_managed_size = refs_hdf5__u32(cursor);
    refs_hdf5__length(file, cursor);
    heap->huge_tree = refs_hdf5__address(file, cursor);
    refs_hdf5__length(file, cursor);
    refs_hdf5__address(file, cursor);
    refs_hdf5__take(cursor, 8u * file->length_size); /* sizes and counts of objects */
    heap->width = refs_hdf5__u16(cursor);
    heap->start_size = refs_hdf5__length(file, cursor);
    heap->max_direct_size = refs_hdf5__length(file, cursor);
    heap->max_bits = refs_hdf5__u16(cursor);
    refs_hdf5__take(cursor, 2);
    heap->root = refs_hdf5__address(file, cursor);
    heap->n_root_rows = refs_hdf5__u16(cursor);
}

refs_status refs_hdf5__open_heap(refs_hdf5_file *file, uint64_t address,
                                 refs_hdf5_fractal_heap *heap, refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    uint64_t size = 26u + 12u * file->length_size + 3u * file->offset_size;
    *heap = (refs_hdf5_fractal_heap){.address = address};
    REFS_TRY(
        refs_hdf5__read(file, (refs_source_range){address, size}, &bytes, "fractal heap", err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&bytes));
    read_fields(file, &cursor, heap);
    REFS_TRY(refs_hdf5__finish(&cursor, "fractal heap", address, err));
    /* With filters, the header continues after the fields that are read here, so the checksum
     * cannot be verified. */
    if (memcmp(bytes.data, "FRHP", 4) != 0)
        REFS_TRY(refs_hdf5__corrupt(err, "fractal heap", address, "is not one"));
    if (!heap->has_filters) REFS_TRY(refs_hdf5__check(refs_buf_view(&bytes), "FRHP", address, err));
    return check_sizes(heap, err);
}

void refs_hdf5__heap_clear(refs_hdf5_fractal_heap *heap) {
    for (size_t i = 0; i < heap->n_blocks; i++) refs_buf_clear(&heap->blocks[i].bytes);
    refs_free(heap->blocks);
    memset(heap, 0, sizeof *heap);
}

/* -- managed objects --------------------------------------------------------------------------- */

/* The place of a block. */
typedef struct place {
    uint64_t address;
    uint64_t offset; /* in the heap */
    uint64_t size;
    unsigned int n_rows; /* of an indirect block; 0: the block is direct */
} place;

static uint64_t row_block_size(const refs_hdf5_fractal_heap *heap, unsigned int row) {
    return heap->start_size << (row > 0 ? row - 1 : 0);
}

static uint64_t row_offset(const refs_hdf5_fractal_heap *heap, unsigned int row) {
    return row == 0 ? 0 : (uint64_t)heap->width * row_block_size(heap, row);
}

/* The row with `offset` in a block of `n_rows` rows; n_rows if the offset is past the end. */
static unsigned int row_of(const refs_hdf5_fractal_heap *heap, unsigned int n_rows,
                           uint64_t offset) {
    unsigned int row = 0;
    while (row + 1 < n_rows && offset >= row_offset(heap, row + 1)) row++;
    uint64_t size = row_block_size(heap, row) * heap->width;
    return n_rows > 0 && offset - row_offset(heap, row) < size ? row : n_rows;
}

/* The most rows whose sizes fit into 64 bits. */
static unsigned int max_rows(const refs_hdf5_fractal_heap *heap) {
    unsigned int bits = log2_of(heap->start_size) + log2_of(heap->width) + 2;
    return bits < 62 ? 62 - bits : 1;
}

static refs_status read_entry(refs_hdf5_file *file, size_t at, const refs_buf *block,
                              uint64_t *child, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(block));
    refs_hdf5__take(&cursor, at);
    *child = refs_hdf5__address(file, &cursor);
    return refs_hdf5__finish(&cursor, "indirect block of a fractal heap", 0, err);
}

/* Moves from an indirect block to its child that has at->offset + offset. */
static refs_status enter_indirect(refs_hdf5_file *file, const refs_hdf5_fractal_heap *heap,
                                  place *at, uint64_t offset, refs_error *err) {
    unsigned int n_rows = at->n_rows, row = row_of(heap, n_rows, offset);
    uint64_t prefix = 5u + file->offset_size + offset_bytes(heap);
    uint64_t size = prefix + 4 + (uint64_t)n_rows * heap->width * file->offset_size;
    if (row == n_rows)
        return refs_hdf5__corrupt(err, "fractal heap", heap->address, "has no such offset");
    uint64_t in_row = offset - row_offset(heap, row);
    uint64_t block_size = row_block_size(heap, row);
    size_t entry = (size_t)row * heap->width + (size_t)(in_row / block_size);
    uint64_t child = REFS_HDF5_UNDEFINED;
    REFS_SCOPED_BUF block = REFS_BUF_INIT;
    refs_status status = refs_hdf5__read(file, (refs_source_range){at->address, size}, &block,
                                         "indirect block of a fractal heap", err);
    if (status == REFS_OK)
        status = refs_hdf5__check(refs_buf_view(&block), "FHIB", at->address, err);
    if (status == REFS_OK) {
        size_t begin = (size_t)prefix + entry * file->offset_size;
        status = read_entry(file, begin, &block, &child, err);
    }
    at->address = child;
    at->offset += row_offset(heap, row) + in_row / block_size * block_size;
    at->size = block_size;
    return status;
}

/* Finds the direct block that has `offset`. */
static refs_status find_block(refs_hdf5_file *file, const refs_hdf5_fractal_heap *heap,
                              uint64_t offset, place *at, refs_error *err) {
    *at = (place){heap->root, 0, heap->start_size, heap->n_root_rows};
    if (at->n_rows > max_rows(heap))
        return refs_hdf5__corrupt(err, "fractal heap", heap->address, "has too many rows");
    while (at->n_rows > 0) {
        REFS_TRY(enter_indirect(file, heap, at, offset - at->offset, err));
        if (at->size <= heap->max_direct_size) return REFS_OK;
        uint64_t first_row = heap->start_size * heap->width;
        if (at->size < first_row)
            return refs_hdf5__corrupt(err, "fractal heap", heap->address, "has invalid sizes");
        unsigned int next = log2_of(at->size) - log2_of(first_row) + 1;
        if (next >= at->n_rows)
            return refs_hdf5__corrupt(err, "fractal heap", heap->address, "has invalid blocks");
        at->n_rows = next;
    }
    return REFS_OK;
}

/* The checksum of a direct block is computed with zeros in its place. */
static refs_status check_block(refs_hdf5_file *file, const refs_hdf5_fractal_heap *heap,
                               refs_hdf5_heap_block *block, uint64_t address, refs_error *err) {
    uint8_t *bytes = block->bytes.data;
    size_t at = 5u + file->offset_size + offset_bytes(heap);
    if (block->bytes.size < at + 4 || memcmp(bytes, "FHDB", 4) != 0)
        return refs_hdf5__corrupt(err, "block of a fractal heap", address, "is not one");
    if (!heap->has_checksums) return REFS_OK;
    uint32_t expected = refs_load_le32(bytes + at);
    memset(bytes + at, 0, 4);
    if (refs_hdf5__sums_to(refs_buf_view(&block->bytes), expected)) return REFS_OK;
    return refs_hdf5__corrupt(err, "block of a fractal heap", address, "has a wrong checksum");
}

static const refs_hdf5_heap_block *kept_block(const refs_hdf5_fractal_heap *heap, uint64_t offset) {
    for (size_t i = heap->n_blocks; i-- > 0;) {
        const refs_hdf5_heap_block *block = &heap->blocks[i];
        if (offset >= block->offset && offset - block->offset < block->bytes.size) return block;
    }
    return NULL;
}

static refs_status get_block(refs_hdf5_file *file, refs_hdf5_fractal_heap *heap, uint64_t offset,
                             const refs_hdf5_heap_block **block, refs_error *err) {
    place at;
    *block = kept_block(heap, offset);
    if (*block != NULL) return REFS_OK;
    REFS_TRY(find_block(file, heap, offset, &at, err));
    REFS_GROW(heap->blocks, heap->capacity, heap->n_blocks, err);
    refs_hdf5_heap_block read = {.offset = at.offset, .bytes = REFS_BUF_INIT};
    refs_status status = refs_hdf5__read(file, (refs_source_range){at.address, at.size},
                                         &read.bytes, "block of a fractal heap", err);
    if (status == REFS_OK) status = check_block(file, heap, &read, at.address, err);
    if (status != REFS_OK) {
        refs_buf_clear(&read.bytes);
        return status;
    }
    heap->blocks[heap->n_blocks] = read;
    *block = &heap->blocks[heap->n_blocks++];
    return REFS_OK;
}

static refs_status get_managed(refs_hdf5_file *file, refs_hdf5_fractal_heap *heap,
                               refs_hdf5_cursor id, refs_buf *object, refs_error *err) {
    const refs_hdf5_heap_block *block;
    size_t size_bytes = (log2_of(heap->max_direct_size) + 7) / 8;
    size_t limit_bytes = refs_hdf5__bytes_for(heap->max_managed_size);
    uint64_t offset = refs_hdf5__uint(&id, offset_bytes(heap));
    uint64_t size = refs_hdf5__uint(&id, size_bytes < limit_bytes ? size_bytes : limit_bytes);
    REFS_TRY(refs_hdf5__finish(&id, "object of the fractal heap", heap->address, err));
    REFS_TRY(get_block(file, heap, offset, &block, err));
    uint64_t at = offset - block->offset;
    if (at > block->bytes.size || size > block->bytes.size - at)
        return refs_hdf5__corrupt(err, "fractal heap", heap->address, "has no such object");
    return refs_buf_append(object, block->bytes.data + at, (size_t)size, err);
}

/* -- huge and tiny objects --------------------------------------------------------------------- */

/* A search for an object in the B-tree of huge objects. */
typedef struct huge_search {
    refs_hdf5_file *file;
    uint64_t id;
    bool is_found;
    uint64_t address, size;
} huge_search;

static refs_status visit_huge(void *user, refs_bytes record, refs_error *err) {
    huge_search *search = user;
    refs_hdf5_cursor cursor = refs_hdf5__cursor(record);
    uint64_t address = refs_hdf5__address(search->file, &cursor);
    uint64_t size = refs_hdf5__length(search->file, &cursor);
    uint64_t id = refs_hdf5__length(search->file, &cursor);
    REFS_TRY(refs_hdf5__finish(&cursor, "record of a huge object", 0, err));
    if (id != search->id || search->is_found) return REFS_OK;
    search->is_found = true;
    search->address = address;
    search->size = size;
    return REFS_OK;
}

#define BTREE_OF_HUGE_OBJECTS 1

static refs_status get_huge(refs_hdf5_file *file, const refs_hdf5_fractal_heap *heap,
                            refs_hdf5_cursor id, refs_buf *object, refs_error *err) {
    huge_search search = {.file = file};
    size_t left = refs_hdf5__left(&id);
    if (left >= (size_t)file->offset_size + file->length_size) {
        search.address = refs_hdf5__address(file, &id);
        search.size = refs_hdf5__length(file, &id);
    } else {
        const refs_hdf5_record_visitor records = {visit_huge, &search};
        search.id = refs_hdf5__uint(&id, left < file->length_size ? left : file->length_size);
        REFS_TRY(
            refs_hdf5__btree2_walk(file, heap->huge_tree, BTREE_OF_HUGE_OBJECTS, &records, err));
        if (!search.is_found)
            return refs_hdf5__corrupt(err, "fractal heap", heap->address,
                                      "has no such huge object");
    }
    return refs_hdf5__read(file, (refs_source_range){search.address, search.size}, object,
                           "huge object of a heap", err);
}

/* Longer IDs have lengths of 12 bits. */
#define MAX_SHORT_TINY 16

static refs_status get_tiny(const refs_hdf5_fractal_heap *heap, refs_hdf5_cursor id, uint8_t first,
                            refs_buf *object, refs_error *err) {
    size_t size = (first & 0x0Fu) + 1u;
    if (heap->id_size - 1 > MAX_SHORT_TINY) size = ((first & 0x0Fu) << 8 | refs_hdf5__u8(&id)) + 1u;
    refs_bytes bytes = refs_hdf5__take(&id, size);
    REFS_TRY(refs_hdf5__finish(&id, "tiny object of the fractal heap", heap->address, err));
    return refs_buf_append(object, bytes.data, bytes.size, err);
}

refs_status refs_hdf5__heap_get(refs_hdf5_file *file, refs_hdf5_fractal_heap *heap, refs_bytes id,
                                refs_buf *object, refs_error *err) {
    enum { MANAGED = 0, HUGE_OBJECT = 1, TINY = 2 };
    object->size = 0;
    if (id.size > heap->id_size) id.size = heap->id_size;
    refs_hdf5_cursor cursor = refs_hdf5__cursor(id);
    uint8_t first = refs_hdf5__u8(&cursor);
    if (cursor.is_short || first >> 6 != 0)
        return refs_hdf5__corrupt(err, "fractal heap", heap->address, "has no object with this ID");
    switch (first >> 4 & 3) {
    case MANAGED:
        return get_managed(file, heap, cursor, object, err);
    case HUGE_OBJECT:
        return get_huge(file, heap, cursor, object, err);
    case TINY:
        return get_tiny(heap, cursor, first, object, err);
    default:
        return refs_hdf5__corrupt(err, "fractal heap", heap->address,
                                  "has an object of an unknown type");
    }
}

refs_status refs_hdf5__read_dense(refs_hdf5_file *file, const refs_hdf5_dense *dense,
                                  refs_hdf5_fractal_heap *heap, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(dense->body);
    refs_hdf5__u8(&cursor);
    if (refs_hdf5__u8(&cursor) & 1) refs_hdf5__take(&cursor, dense->order_size);
    const uint64_t address = refs_hdf5__address(file, &cursor);
    const uint64_t tree = refs_hdf5__address(file, &cursor);
    REFS_TRY(refs_hdf5__finish(&cursor, dense->what, 0, err));
    if (address == REFS_HDF5_UNDEFINED) return REFS_OK;
    REFS_TRY(refs_hdf5__later(file, refs_hdf5__open_heap(file, address, heap, err)));
    return refs_hdf5__btree2_walk(file, tree, dense->tree_type, &dense->records, err);
}
