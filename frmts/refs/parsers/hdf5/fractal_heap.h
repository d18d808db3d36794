/* fractal_heap.h -- fractal heaps, in which objects store many links, attributes or shared
 * messages. */
#ifndef REFS_PARSERS_HDF5_FRACTAL_HEAP_H
#define REFS_PARSERS_HDF5_FRACTAL_HEAP_H

#include "hdf5/btree2.h"

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

/** A message with the location of links or attributes: version, flags, maximum order if the first
 * flag is set, heap, B-tree by name. */
typedef struct refs_hdf5_dense {
    refs_bytes body;
    const char *what;
    size_t order_size;
    uint8_t tree_type;
    refs_hdf5_record_visitor records;
} refs_hdf5_dense;

/** Opens the heap, and visits the records of the tree; does nothing if there is no heap. */
refs_status refs_hdf5__read_dense(refs_hdf5_file *file, const refs_hdf5_dense *dense,
                                  refs_hdf5_fractal_heap *heap, refs_error *err);

/** Sets `object` to the object with `id`. */
refs_status refs_hdf5__heap_get(refs_hdf5_file *file, refs_hdf5_fractal_heap *heap, refs_bytes id,
                                refs_buf *object, refs_error *err);

#endif
