/* cache_image.c -- see hdf5/cache_image.h. The format is that of HDF5 1.10. */
#include "hdf5/cache_image.h"

#include <stdlib.h>

void refs_hdf5__cache_image_free(refs_hdf5_cache_image *image) {
    if (image == NULL) return;
    refs_buf_clear(&image->block);
    refs_free(image->cached);
    refs_free(image);
}

/* An entry: one byte each for type, flags, ring and age; numbers of children, of modified children,
 * and of parents; rank among the entries; address; size; addresses of the parents; bytes. */
static refs_status read_entry(const refs_hdf5_file *file, refs_hdf5_cursor *cursor,
                              refs_hdf5_cache_image *image, refs_error *err) {
    refs_hdf5__take(cursor, 4 + 2 + 2);
    uint64_t n_parents = refs_hdf5__u16(cursor);
    refs_hdf5__take(cursor, 4);
    uint64_t address = refs_hdf5__address(file, cursor);
    uint64_t size = refs_hdf5__length(file, cursor);
    refs_hdf5__take(cursor, n_parents * file->offset_size);
    size_t at = (size_t)(cursor->at - image->block.data);
    refs_hdf5__take(cursor, size);
    if (cursor->is_short) return REFS_OK; /* the caller fails */
    if (address > file->size - file->base || size > file->size - file->base - address)
        return refs_fail(
            err, REFS_CORRUPT,
            "the metadata cache image has %llu bytes for address %llu, which lies outside the file",
            (unsigned long long)size, (unsigned long long)address);
    REFS_GROW(image->cached, image->capacity, image->n, err);
    image->cached[image->n++] = (refs_hdf5_cached){address, size, at};
    return REFS_OK;
}

static int by_address(const void *left, const void *right) {
    uint64_t a = ((const refs_hdf5_cached *)left)->address;
    uint64_t b = ((const refs_hdf5_cached *)right)->address;
    return a < b ? -1 : a > b;
}

static refs_status sort(refs_hdf5_cache_image *image, refs_error *err) {
    if (image->n > 0) qsort(image->cached, image->n, sizeof *image->cached, by_address);
    for (size_t i = 1; i < image->n; i++)
        if (image->cached[i].address - image->cached[i - 1].address < image->cached[i - 1].size)
            return refs_fail(err, REFS_CORRUPT, "the metadata cache image has address %llu twice",
                             (unsigned long long)image->cached[i].address);
    return REFS_OK;
}

static refs_status take_apart(const refs_hdf5_file *file, uint64_t address,
                              refs_hdf5_cache_image *image, refs_error *err) {
    enum { CHECKSUM_BYTES = 4 };
    REFS_TRY(refs_hdf5__check(refs_buf_view(&image->block), "MDCI", address, err));
    refs_hdf5_cursor cursor =
        refs_hdf5__cursor(refs_bytes_view(image->block.data, image->block.size - CHECKSUM_BYTES));
    refs_hdf5__take(&cursor, 4);
    uint8_t version = refs_hdf5__u8(&cursor);
    if (version != 0)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown metadata cache image version %u", version);
    refs_hdf5__u8(&cursor);
    refs_hdf5__length(file, &cursor);
    uint32_t n = refs_hdf5__u32(&cursor);
    for (uint32_t i = 0; i < n && !cursor.is_short; i++)
        REFS_TRY(read_entry(file, &cursor, image, err));
    REFS_TRY(refs_hdf5__finish(&cursor, "cache image", address, err));
    return sort(image, err);
}

refs_status refs_hdf5__read_cache_image(refs_hdf5_file *file, uint64_t address, uint64_t length,
                                        refs_error *err) {
    refs_hdf5_cache_image *image = refs_calloc(1, sizeof *image);
    if (image == NULL) return refs_fail_nomem(err);
    refs_status status = refs_hdf5__read(file, (refs_source_range){address, length}, &image->block,
                                         "the cache image", err);
    if (status == REFS_OK) status = take_apart(file, address, image, err);
    refs_hdf5__cache_image_free(status == REFS_OK ? file->image : image);
    if (status == REFS_OK) file->image = image;
    return status;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The first entry that ends after `address`, or the number of entries. */
static size_t first_from(const refs_hdf5_cache_image *image, uint64_t address) {
    size_t i = 0;
    REFS_BISECT(i, image->n, image->cached[i].address + image->cached[i].size <= address);
    return i;
}

bool refs_hdf5__is_cached(const refs_hdf5_cache_image *image, uint64_t address, uint64_t length) {
    for (size_t i = first_from(image, address); length > 0; i++) {
        if (i == image->n || image->cached[i].address > address) return false;
        uint64_t n = image->cached[i].size - (address - image->cached[i].address);
        if (n > length) n = length;
        address += n;
        length -= n;
    }
    return true;
}

void refs_hdf5__put_cached(const refs_hdf5_cache_image *image, uint64_t address, uint8_t *bytes,
                           size_t size) {
    for (size_t i = first_from(image, address); i < image->n; i++) {
        const refs_hdf5_cached *cached = &image->cached[i];
        uint64_t from = cached->address > address ? cached->address : address;
        if (from - address >= size) return;
        uint64_t n = cached->size - (from - cached->address), room = size - (from - address);
        memcpy(bytes + (from - address), image->block.data + cached->at + (from - cached->address),
               (size_t)(n < room ? n : room));
    }
}
