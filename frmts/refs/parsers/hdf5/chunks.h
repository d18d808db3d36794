/* chunks.h -- converts the chunk index of a dataset to a refs_chunk_index.
 *
 * One file for each kind of index reads it: hdf5/btree1.c, hdf5/btree2_chunks.c,
 * hdf5/fixed_array.c, hdf5/extensible_array.c.
 */
#ifndef REFS_PARSERS_HDF5_CHUNKS_H
#define REFS_PARSERS_HDF5_CHUNKS_H

#include "hdf5/layout.h"
#include "hdf5/nodes.h"

typedef struct refs_hdf5_chunks {
    refs_hdf5_file *file;
    const refs_hdf5_layout *layout;
    refs_chunk_index *index;
    uint64_t chunk_bytes; /**< before filters */
    uint64_t n_added;
    size_t order[REFS_SCAN_MAX_RANK];   /**< order of dimensions in positions, slowest first … */
    uint64_t max_n[REFS_SCAN_MAX_RANK]; /**< … and the most chunks along each */
} refs_hdf5_chunks;

/** An index's entry for one chunk. */
typedef struct refs_hdf5_chunk {
    uint64_t address; /**< REFS_HDF5_UNDEFINED: never written */
    uint64_t size;    /**< stored size */
    uint32_t mask;    /**< filters that were not applied */
} refs_hdf5_chunk;

/** Adds chunk at[0], at[1], …; one outside the array's current shape is ignored. */
refs_status refs_hdf5__chunks_add(refs_hdf5_chunks *chunks, const uint64_t *at,
                                  const refs_hdf5_chunk *chunk, refs_error *err);

/* -- indexes that are arrays: each chunk has a position ------------------------------------------
 */

/** Prepares positions: these number the chunks of the maximal shape, in which an unlimited
 * dimension, if `n_unlimited` is 1, is the slowest. REFS_CORRUPT if the number of unlimited
 * dimensions is another. *n is the number of positions along the other dimensions. */
refs_status refs_hdf5__chunks_order(refs_hdf5_chunks *chunks, size_t n_unlimited, uint64_t *n,
                                    refs_error *err);

/** Adds the chunk at a position. */
refs_status refs_hdf5__chunks_add_nth(refs_hdf5_chunks *chunks, uint64_t position,
                                      const refs_hdf5_chunk *chunk, refs_error *err);

/** Elements of a fixed or extensible array, in blocks that end with a checksum. */
typedef struct refs_hdf5_elements {
    const char *signature; /**< of the blocks, or NULL … */
    size_t prefix_size;    /**< … and bytes before the first element */
    size_t size;           /**< of an element */
    bool is_filtered;      /**< elements have a size and a mask */
} refs_hdf5_elements;

/** Checks the sizes in a header. */
refs_status refs_hdf5__elements_check(const refs_hdf5_chunks *chunks,
                                      const refs_hdf5_elements *elements, refs_error *err);

/** Adds the elements at the positions from `first` on. */
refs_status refs_hdf5__chunks_add_elements(refs_hdf5_chunks *chunks,
                                           const refs_hdf5_elements *elements, uint64_t first,
                                           refs_bytes bytes, refs_error *err);

/** Reads blocks of elements and adds these; `number` of a block is the position of its first
 * element. */
refs_status refs_hdf5__chunks_add_blocks(refs_hdf5_chunks *chunks,
                                         const refs_hdf5_elements *elements,
                                         refs_hdf5_nodes *blocks, refs_error *err);

/** Whether bit `i` of a page bitmap is set. */
static inline bool refs_hdf5__page_is_set(const uint8_t *bitmap, uint64_t i) {
    return (bitmap[i / 8] & 0x80u >> i % 8) != 0;
}

/* -- kinds of indexes ----------------------------------------------------------------------------
 */

refs_status refs_hdf5__read_btree1(refs_hdf5_chunks *chunks, refs_error *err);
refs_status refs_hdf5__read_btree2(refs_hdf5_chunks *chunks, refs_error *err);
refs_status refs_hdf5__read_fixed_array(refs_hdf5_chunks *chunks, refs_error *err);
refs_status refs_hdf5__read_extensible_array(refs_hdf5_chunks *chunks, refs_error *err);

#endif
