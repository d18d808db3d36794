/* fixed_array.c -- chunks in a fixed array. Specification, appendix C ("VII.C"). */
#include "hdf5/chunks.h"

static const char what[] = "fixed array";

/* Signature, version, client and the header's address in front of a data block. */
#define BLOCK_FRAME_BYTES 6
#define CHECKSUM_BYTES    4

/* The largest number that the format can store. */
#define MAX_PAGE_BITS 32

typedef struct fixed_array {
    refs_hdf5_chunks *chunks;
    refs_hdf5_elements elements;
    uint64_t n_in_page; /* elements */
    uint64_t n;
    uint64_t block; /* its address */
} fixed_array;

static refs_status read_header(fixed_array *array, refs_buf *buf, refs_error *err) {
    refs_hdf5_file *file = array->chunks->file;
    uint64_t address = array->chunks->layout->address;
    uint64_t size = 12u + file->length_size + file->offset_size;
    REFS_TRY(refs_hdf5__read(file, (refs_source_range){address, size}, buf, what, err));
    REFS_TRY(refs_hdf5__check(refs_buf_view(buf), "FAHD", address, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(buf));
    refs_hdf5__take(&cursor, 4);
    uint8_t version = refs_hdf5__u8(&cursor);
    uint8_t client = refs_hdf5__u8(&cursor);
    array->elements.is_filtered = client == 1;
    array->elements.size = refs_hdf5__u8(&cursor);
    uint8_t page_bits = refs_hdf5__u8(&cursor);
    array->n = refs_hdf5__length(file, &cursor);
    array->block = refs_hdf5__address(file, &cursor);
    if (version != 0 || client > 1 || page_bits > MAX_PAGE_BITS)
        return refs_hdf5__corrupt(err, what, address, "has an unknown type");
    array->n_in_page = UINT64_C(1) << page_bits;
    return refs_hdf5__elements_check(array->chunks, &array->elements, err);
}

/* Without pages, all elements are in the data block. */
static refs_status add_block(fixed_array *array, refs_hdf5_nodes *blocks, refs_error *err) {
    array->elements.signature = "FADB";
    array->elements.prefix_size = BLOCK_FRAME_BYTES + array->chunks->file->offset_size;
    uint64_t size = array->elements.prefix_size + array->n * array->elements.size + CHECKSUM_BYTES;
    return refs_hdf5__nodes_add(blocks, (refs_hdf5_node){array->block, size, 0}, err);
}

/* With pages, the data block has a bitmap of written pages, and the pages follow it. */
static refs_status add_pages(const fixed_array *array, refs_buf *buf, refs_hdf5_nodes *pages,
                             refs_error *err) {
    refs_hdf5_file *file = array->chunks->file;
    uint64_t n_pages = array->n / array->n_in_page + (array->n % array->n_in_page != 0);
    uint64_t frame = BLOCK_FRAME_BYTES + file->offset_size;
    uint64_t size = frame + n_pages / 8 + (n_pages % 8 != 0) + CHECKSUM_BYTES;
    REFS_TRY(refs_hdf5__read(file, (refs_source_range){array->block, size}, buf, what, err));
    REFS_TRY(refs_hdf5__check(refs_buf_view(buf), "FADB", array->block, err));
    for (uint64_t i = 0; i < n_pages; i++) {
        uint64_t first = i * array->n_in_page, left = array->n - first;
        uint64_t n = left < array->n_in_page ? left : array->n_in_page;
        uint64_t page_bytes = array->n_in_page * array->elements.size + CHECKSUM_BYTES;
        if (!refs_hdf5__page_is_set(buf->data + frame, i)) continue;
        refs_hdf5_node page = {0, n * array->elements.size + CHECKSUM_BYTES, first};
        if (!refs_mul_u64(i, page_bytes, &page.address) ||
            !refs_add_u64(page.address, array->block + size, &page.address) ||
            page.address > file->size)
            return refs_hdf5__corrupt(err, what, array->block,
                                      "has pages past the end of the file");
        REFS_TRY(refs_hdf5__nodes_add(pages, page, err));
    }
    return REFS_OK;
}

static refs_status read_blocks(fixed_array *array, refs_buf *buf, refs_error *err) {
    REFS_SCOPED_BY(refs_hdf5__nodes_clear) refs_hdf5_nodes blocks = {.nodes = NULL};
    REFS_TRY(array->n > array->n_in_page ? add_pages(array, buf, &blocks, err)
                                         : add_block(array, &blocks, err));
    return refs_hdf5__chunks_add_blocks(array->chunks, &array->elements, &blocks, err);
}

refs_status refs_hdf5__read_fixed_array(refs_hdf5_chunks *chunks, refs_error *err) {
    fixed_array array = {.chunks = chunks};
    REFS_SCOPED_BUF buf = REFS_BUF_INIT;
    uint64_t n;
    REFS_TRY(refs_hdf5__chunks_order(chunks, 0, &n, err));
    REFS_TRY(read_header(&array, &buf, err));
    if (array.n != n)
        return refs_fail(err, REFS_CORRUPT,
                         "a fixed array has %llu elements: expected one for each of %llu chunks",
                         (unsigned long long)array.n, (unsigned long long)n);
    if (array.block != REFS_HDF5_UNDEFINED && n > 0) REFS_TRY(read_blocks(&array, &buf, err));
    return REFS_OK;
}
