/* mosaic.h -- what the files of this module share about arrays that are made of regions of others.
 *
 * A mosaic has no chunks. Those that its metadata tell are a grid by which
 * reading is expected to move on; what is loaded are the chunks of its pieces.
 *
 * Read before this: load.h.
 */
#ifndef REFS_MOSAIC_H
#define REFS_MOSAIC_H

#include "load.h"

/** Chunks of pieces that are prefetched in one call, at most. */
#define REFS_MAX_AHEAD 16384

/** Bytes of all strings of an array together: a small set can name a large chunk many times. */
#define REFS_MAX_TEXT_BYTES (64 * REFS_MIB)

/** refs_array_read_strings, of a mosaic of strings of variable length. */
refs_status refs_mosaic__read_strings(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                      refs_error *err);

/** Chunks of a mosaic's pieces that are going to be read. */
typedef struct refs_ahead {
    const refs_array *array;
    refs_piece_list list;
    size_t n_pieces;
    refs_ahead_chunk *expected;
    size_t n, capacity;
} refs_ahead;

/** An empty list; to be cleared, also after a failure, once its chunks are loaded. */
refs_status refs_ahead__open(refs_ahead *ahead, const refs_array *array);
void refs_ahead__clear(refs_ahead *ahead);

/** Begins to open the files that chunk `number` of the mosaic's own grid needs. */
void refs_ahead__prepare(const refs_ahead *ahead, uint64_t number);

/** Adds the chunks that make up chunk `number` of the mosaic's own grid, for `box`. A failure ends
 * the list: what is there may be used. May open files. */
refs_status refs_ahead__add(refs_ahead *ahead, uint64_t number, uint64_t box);

#endif
