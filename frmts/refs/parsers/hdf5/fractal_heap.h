/* fractal_heap.h -- heaps in which objects keep many links, attributes or shared messages. */
#ifndef REFS_PARSERS_HDF5_FRACTAL_HEAP_H
#define REFS_PARSERS_HDF5_FRACTAL_HEAP_H

#include "hdf5/file.h"

/** A block of a heap that was read. */
typedef struct refs_hdf5_heap_block {
    uint64_t offset; /**< in the heap */
    refs_buf bytes;
} refs_hdf5_heap_block;

/** A heap; zeroed is empty. */
typedef struct refs_hdf5_fractal_heap {
    uint64_t address;
    uint16_t id_size;
    bool has_filters;
    bool has_checksums; /**< of direct blocks */
    uint32_t max_managed_size;
    uint64_t huge_tree;
    uint16_t width; /**< of the doubling table */
    uint64_t start_size, max_direct_size;
    uint16_t max_bits; /**< of an offset in the heap */
    uint64_t root;
    uint16_t n_root_rows; /**< 0: the root is a direct block */
    refs_hdf5_heap_block *blocks;
    size_t n_blocks, capacity;
} refs_hdf5_fractal_heap;

refs_status refs_hdf5__open_heap(refs_hdf5_file *file, uint64_t address,
                                 refs_hdf5_fractal_heap *heap, refs_error *err);
void refs_hdf5__heap_clear(refs_hdf5_fractal_heap *heap);

/** Sets `object` to what `id` names. */
refs_status refs_hdf5__heap_get(refs_hdf5_file *file, refs_hdf5_fractal_heap *heap, refs_bytes id,
                                refs_buf *object, refs_error *err);

#endif
