/* blocks.h -- the block framing of HDF5 filters, all numbers big-endian: the decoded size of all
 * blocks in eight bytes, and of each block (except the last one) in four; then for each block its
 * encoded size in four bytes and its bytes.
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_BLOCKS_H
#define REFS_CODEC_BLOCKS_H

#include "output.h"

typedef struct refs_blocks {
    size_t decoded_size; /**< of all blocks, and of bytes that may follow them */
    size_t block_size;   /**< decoded bytes of a block; may be 0 */
    refs_bytes rest;     /**< the bytes not read yet */
} refs_blocks;

/** Reads the header. REFS_CORRUPT if there is none. */
refs_status refs_codec__blocks_begin(refs_bytes encoded, refs_blocks *blocks, refs_error *err);

/** Reads the bytes of the next block. */
refs_status refs_codec__blocks_next(refs_blocks *blocks, refs_bytes *block, refs_error *err);

#endif
