/* extensible_array.c -- chunks in an extensible array. Specification, appendix C ("VII.D").
 *
 * Elements are in the index block, then in data blocks. Super block s has 2^(s/2) data blocks of
 * 2^((s+1)/2) times the least number of elements; the index block has the addresses of the data
 * blocks of the first super blocks, which are not stored themselves, and of all other super blocks.
 */
#include "hdf5/chunks.h"

static const char what[] = "extensible array";

/* Signature, version and client in front of each block; the header's address follows. */
#define BLOCK_FRAME_BYTES 6
#define CHECKSUM_BYTES    4

#define MAX_POSITION_BITS 64

typedef struct extensible_array {
    refs_hdf5_chunks *chunks;
    refs_hdf5_elements elements;
    uint8_t position_bytes; /* size of a block's position in its header */
    unsigned n_in_index;    /* elements in the index block */
    unsigned min_elements, min_pointers;
    uint64_t n_in_page; /* elements */
    uint64_t index;     /* address of the index block */
    size_t n_supers;    /* most super blocks … */
    size_t n_direct; /* … of which this many have the addresses of their data blocks in the index
                        block */

    refs_hdf5_nodes supers; /* stored super blocks, by their `number` */
    refs_hdf5_nodes blocks; /* data blocks without pages */
    refs_hdf5_nodes pages;
    refs_buf buf;
} extensible_array;

/* -- sizes ---------------------------------------------------------------------------------------
 */

static bool log2_of(unsigned value, unsigned *bits) {
    *bits = 0;
    if (value == 0 || (value & (value - 1)) != 0) return false;
    while (value >> *bits > 1) (*bits)++;
    return true;
}

static uint64_t data_blocks_of(size_t super) {
    return UINT64_C(1) << super / 2;
}

static uint64_t elements_of(const extensible_array *array, size_t super) {
    return (UINT64_C(1) << (super + 1) / 2) * array->min_elements;
}

/* The position of the first element of a super block; false if it overflows. */
static bool first_of(const extensible_array *array, size_t super, uint64_t *first) {
    *first = array->n_in_index;
    for (size_t s = 0; s < super; s++) {
        uint64_t n;
        if (!refs_mul_u64(data_blocks_of(s), elements_of(array, s), &n) ||
            !refs_add_u64(*first, n, first))
            return false;
    }
    return true;
}

static bool is_paged(const extensible_array *array, size_t super) {
    return elements_of(array, super) > array->n_in_page;
}

static uint64_t frame_bytes(const extensible_array *array) {
    return BLOCK_FRAME_BYTES + array->chunks->file->offset_size;
}

static uint64_t data_frame_bytes(const extensible_array *array) {
    return frame_bytes(array) + array->position_bytes;
}

/* Bytes of a data block in the bitmap: whole ones, although it uses only the first bits. */
static uint64_t bitmap_bytes(const extensible_array *array, size_t super) {
    uint64_t bytes;
    if (!is_paged(array, super)) return 0;
    if (!refs_mul_u64(data_blocks_of(super), (elements_of(array, super) / array->n_in_page + 7) / 8,
                      &bytes) ||
        bytes > REFS_HDF5_MAX_STRUCTURE_BYTES)
        return REFS_HDF5_MAX_STRUCTURE_BYTES;
    return bytes;
}

static uint64_t super_block_bytes(const extensible_array *array, size_t super) {
    return data_frame_bytes(array) + bitmap_bytes(array, super) +
           data_blocks_of(super) * array->chunks->file->offset_size + CHECKSUM_BYTES;
}

/* -- header --------------------------------------------------------------------------------------
 */

static refs_status lay_out(extensible_array *array, unsigned max_bits, unsigned page_bits,
                           refs_error *err) {
    unsigned element_bits, pointer_bits;
    if (!log2_of(array->min_elements, &element_bits) ||
        !log2_of(array->min_pointers, &pointer_bits) || max_bits > MAX_POSITION_BITS ||
        max_bits < element_bits || page_bits > max_bits || page_bits >= MAX_POSITION_BITS)
        return refs_hdf5__corrupt(err, what, array->chunks->layout->address,
                                  "has invalid block sizes");
    array->position_bytes = (uint8_t)((max_bits + 7) / 8);
    array->n_in_page = UINT64_C(1) << page_bits;
    array->n_supers = 1 + max_bits - element_bits;
    array->n_direct = 2 * pointer_bits;
    if (array->n_direct > array->n_supers ||
        (array->n_direct > 0 && is_paged(array, array->n_direct - 1)))
        return refs_hdf5__corrupt(err, what, array->chunks->layout->address,
                                  "has an index block that is too large");
    return refs_hdf5__elements_check(array->chunks, &array->elements, err);
}

static refs_status read_header(extensible_array *array, refs_error *err) {
    refs_hdf5_file *file = array->chunks->file;
    uint64_t address = array->chunks->layout->address;
    uint64_t size = 16u + 6u * file->length_size + file->offset_size;
    REFS_TRY(refs_hdf5__read(file, (refs_source_range){address, size}, &array->buf, what, err));
    REFS_TRY(refs_hdf5__check(refs_buf_view(&array->buf), "EAHD", address, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&array->buf));
    refs_hdf5__take(&cursor, 4);
    uint8_t version = refs_hdf5__u8(&cursor);
    uint8_t client = refs_hdf5__u8(&cursor);
    array->elements.is_filtered = client == 1;
    array->elements.size = refs_hdf5__u8(&cursor);
    uint8_t max_bits = refs_hdf5__u8(&cursor);
    array->n_in_index = refs_hdf5__u8(&cursor);
    array->min_elements = refs_hdf5__u8(&cursor);
    array->min_pointers = refs_hdf5__u8(&cursor);
    uint8_t page_bits = refs_hdf5__u8(&cursor);
    refs_hdf5__take(&cursor, 6u * file->length_size); /* statistics */
    array->index = refs_hdf5__address(file, &cursor);
    if (version != 0 || client > 1)
        return refs_hdf5__corrupt(err, what, address, "has an unknown type");
    return lay_out(array, max_bits, page_bits, err);
}

/* -- blocks --------------------------------------------------------------------------------------
 */

/* Data block number `i` of a super block. */
typedef struct data_block {
    size_t super;
    uint64_t i;
    uint64_t address;
} data_block;

/* The position of its first element; false if it overflows. */
static bool first_in(const extensible_array *array, const data_block *block, uint64_t *first) {
    uint64_t begin, before;
    return first_of(array, block->super, &begin) &&
           refs_mul_u64(block->i, elements_of(array, block->super), &before) &&
           refs_add_u64(begin, before, first);
}

static refs_status add_block(extensible_array *array, const data_block *block, refs_error *err) {
    uint64_t size = data_frame_bytes(array) +
                    elements_of(array, block->super) * array->elements.size + CHECKSUM_BYTES;
    refs_hdf5_node node = {block->address, size, 0};
    if (!first_in(array, block, &node.number)) return REFS_OK;
    return refs_hdf5__nodes_add(&array->blocks, node, err);
}

/* Pages follow the block's frame, which has its own checksum. All data blocks share one bitmap. */
static refs_status add_pages(extensible_array *array, const data_block *block,
                             const uint8_t *bitmap, refs_error *err) {
    uint64_t n_pages = elements_of(array, block->super) / array->n_in_page;
    uint64_t size = array->n_in_page * array->elements.size + CHECKSUM_BYTES;
    refs_hdf5_node page = {block->address + data_frame_bytes(array) + CHECKSUM_BYTES, size, 0};
    if (!first_in(array, block, &page.number)) return REFS_OK;
    if (block->address > array->chunks->file->size) page.address = block->address;
    for (uint64_t i = 0; i < n_pages; i++) {
        if (page.address > array->chunks->file->size)
            return refs_hdf5__corrupt(err, what, block->address,
                                      "has pages past the end of the file");
        if (refs_hdf5__page_is_set(bitmap, block->i * n_pages + i))
            REFS_TRY(refs_hdf5__nodes_add(&array->pages, page, err));
        page.address += size;
        page.number += array->n_in_page;
    }
    return REFS_OK;
}

/* Adds the data blocks whose addresses follow. */
static refs_status add_data_blocks(extensible_array *array, size_t super, refs_hdf5_cursor *cursor,
                                   const uint8_t *bitmap, refs_error *err) {
    for (uint64_t i = 0; i < data_blocks_of(super) && !cursor->is_short; i++) {
        data_block block = {super, i, refs_hdf5__address(array->chunks->file, cursor)};
        if (block.address == REFS_HDF5_UNDEFINED) continue;
        REFS_TRY(bitmap != NULL ? add_pages(array, &block, bitmap, err)
                                : add_block(array, &block, err));
    }
    return REFS_OK;
}

static refs_status read_super_block(extensible_array *array, const refs_hdf5_node *node,
                                    refs_error *err) {
    size_t super = (size_t)node->number;
    const uint8_t *bitmap = NULL;
    REFS_TRY(refs_hdf5__read(array->chunks->file, (refs_source_range){node->address, node->size},
                             &array->buf, what, err));
    REFS_TRY(refs_hdf5__check(refs_buf_view(&array->buf), "EASB", node->address, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&array->buf));
    refs_hdf5__take(&cursor, data_frame_bytes(array));
    if (is_paged(array, super)) bitmap = refs_hdf5__take(&cursor, bitmap_bytes(array, super)).data;
    return add_data_blocks(array, super, &cursor, bitmap, err);
}

static refs_status read_super_blocks(extensible_array *array, refs_error *err) {
    for (size_t i = 0; i < array->supers.n; i++) {
        REFS_TRY(refs_hdf5__nodes_want(array->chunks->file, &array->supers, i, err));
        REFS_TRY(read_super_block(array, &array->supers.nodes[i], err));
    }
    return REFS_OK;
}

static refs_status read_index_block(extensible_array *array, refs_error *err) {
    refs_hdf5_file *file = array->chunks->file;
    uint64_t elements = (uint64_t)array->n_in_index * array->elements.size;
    uint64_t n_direct_blocks = 2u * (array->min_pointers - 1);
    uint64_t n_addresses = n_direct_blocks + (array->n_supers - array->n_direct);
    uint64_t size =
        frame_bytes(array) + elements + n_addresses * file->offset_size + CHECKSUM_BYTES;
    REFS_TRY(
        refs_hdf5__read(file, (refs_source_range){array->index, size}, &array->buf, what, err));
    REFS_TRY(refs_hdf5__check(refs_buf_view(&array->buf), "EAIB", array->index, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&array->buf));
    refs_hdf5__take(&cursor, frame_bytes(array));
    refs_bytes first = refs_hdf5__take(&cursor, elements);
    REFS_TRY(refs_hdf5__chunks_add_elements(array->chunks, &array->elements, 0, first, err));
    for (size_t super = 0; super < array->n_direct; super++)
        REFS_TRY(add_data_blocks(array, super, &cursor, NULL, err));
    for (size_t super = array->n_direct; super < array->n_supers; super++) {
        uint64_t address = refs_hdf5__address(file, &cursor);
        const refs_hdf5_node node = {address, super_block_bytes(array, super), super};
        if (address != REFS_HDF5_UNDEFINED)
            REFS_TRY(refs_hdf5__nodes_add(&array->supers, node, err));
    }
    return REFS_OK;
}

static refs_status read_array(extensible_array *array, refs_error *err) {
    uint64_t n;
    REFS_TRY(refs_hdf5__chunks_order(array->chunks, 1, &n, err));
    REFS_TRY(read_header(array, err));
    if (array->index == REFS_HDF5_UNDEFINED || n == 0) return REFS_OK;
    REFS_TRY(read_index_block(array, err));
    REFS_TRY(read_super_blocks(array, err));
    array->elements.signature = "EADB";
    array->elements.prefix_size = data_frame_bytes(array);
    REFS_TRY(refs_hdf5__chunks_add_blocks(array->chunks, &array->elements, &array->blocks, err));
    array->elements.signature = NULL;
    array->elements.prefix_size = 0;
    return refs_hdf5__chunks_add_blocks(array->chunks, &array->elements, &array->pages, err);
}

refs_status refs_hdf5__read_extensible_array(refs_hdf5_chunks *chunks, refs_error *err) {
    extensible_array array = {.chunks = chunks};
    refs_status status = read_array(&array, err);
    refs_hdf5__nodes_clear(&array.supers);
    refs_hdf5__nodes_clear(&array.blocks);
    refs_hdf5__nodes_clear(&array.pages);
    refs_buf_clear(&array.buf);
    return status;
}
