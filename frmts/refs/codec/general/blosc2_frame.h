/* blosc2_frame.h -- contiguous frames of Blosc2 that hold one chunk, as its HDF5 filter writes them
 * (32026): the chunk, and the order of its elements. Needs no library. */
#ifndef REFS_CODEC_BLOSC2_FRAME_H
#define REFS_CODEC_BLOSC2_FRAME_H

#include "refs/bytes.h"

enum { REFS_BLOSC2_MAX_RANK = 16 };

/** A frame; the bytes are borrowed. */
typedef struct refs_blosc2_frame {
    refs_bytes chunk;  /**< empty: a special chunk, such as of zeros, which `index` encodes */
    refs_bytes index;  /**< the chunk of offsets, 8 bytes for each chunk */
    size_t chunk_size; /**< of the decoded chunk */
    size_t size;       /**< of the values, without the padding of the chunk */
    size_t rank;       /**< 0: values are in their order; else they are in blocks (b2nd), … */
    size_t item_size;
    uint64_t shape[REFS_BLOSC2_MAX_RANK];       /**< … and this is the shape of the values, … */
    uint64_t chunk_shape[REFS_BLOSC2_MAX_RANK]; /**< … of the chunk, no smaller, … */
    uint64_t block[REFS_BLOSC2_MAX_RANK];       /**< … and of a block */
} refs_blosc2_frame;

/** Whether the bytes begin like a frame; a chunk does not. */
bool refs_codec__blosc2_is_frame(refs_bytes bytes);

/** REFS_CORRUPT: it is not a whole frame, or its parts contradict each other. REFS_UNSUPPORTED: it
 * has several chunks. */
refs_status refs_codec__blosc2_frame_read(refs_bytes bytes, refs_blosc2_frame *frame,
                                          refs_error *err);

/** Copies `frame->size` bytes of values from the decoded chunk of a frame whose rank is not 0. */
void refs_codec__blosc2_unblock(const refs_blosc2_frame *frame, const uint8_t *chunk,
                                uint8_t *values);

#endif
