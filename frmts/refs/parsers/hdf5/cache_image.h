/* cache_image.h -- the metadata cache image: a block with copies of structures, which the library
 * writes when it closes a file. The bytes at their addresses are out of date, or absent.
 */
#ifndef REFS_PARSERS_HDF5_CACHE_IMAGE_H
#define REFS_PARSERS_HDF5_CACHE_IMAGE_H

#include "hdf5/file.h"

/** One structure: bytes [at, at + size) of the block replace those at `address`. */
typedef struct refs_hdf5_cached {
    uint64_t address, size;
    size_t at;
} refs_hdf5_cached;

/** Zeroed is empty. */
struct refs_hdf5_cache_image {
    refs_buf block;
    refs_hdf5_cached *cached; /**< by address, disjoint */
    size_t n, capacity;
};

/** Reads the block, of `length` bytes. All later reads of the file use its content. */
refs_status refs_hdf5__read_cache_image(refs_hdf5_file *file, uint64_t address, uint64_t length,
                                        refs_error *err);
void refs_hdf5__cache_image_free(refs_hdf5_cache_image *image);

/** Whether all `length` bytes at `address` are in the block. */
bool refs_hdf5__is_cached(const refs_hdf5_cache_image *image, uint64_t address, uint64_t length);

/** Overwrites the bytes read at `address` by those in the block. */
void refs_hdf5__put_cached(const refs_hdf5_cache_image *image, uint64_t address, uint8_t *bytes,
                           size_t size);

#endif
