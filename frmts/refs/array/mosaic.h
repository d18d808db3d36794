/* mosaic.h -- arrays made of regions of others, for the files of this module.
 *
 * A mosaic has no chunks. Its metadata state a chunk grid, which is only used to predict reads; the
 * chunks of its pieces are loaded.
 *
 * Read before this: load.h. */
#ifndef REFS_MOSAIC_H
#define REFS_MOSAIC_H

#include "load.h"

/** Limit of chunks of pieces that are prefetched with one call. */
#define REFS_MAX_AHEAD 16384

/** Limit of bytes of all strings of an array: a small set can refer to a large chunk many times. */
#define REFS_MAX_TEXT_BYTES (64 * REFS_MIB)

/** Works like refs_array_read_strings, for a mosaic of variable-length strings. */
refs_status refs_mosaic__read_strings(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                      refs_error *err);

/** Chunks of a mosaic's pieces that will be read. */
typedef struct refs_ahead {
    const refs_array *array;
    refs_piece_list list;
    size_t n_pieces;
    refs_ahead_chunk *expected;
    size_t n, capacity;
} refs_ahead;

/** Makes an empty list. Clear it when its chunks are loaded, and after a failure. */
refs_status refs_ahead__open(refs_ahead *ahead, const refs_array *array);
void refs_ahead__clear(refs_ahead *ahead);

/** Begins to open the files for chunk `number` of the mosaic's grid. */
void refs_ahead__prepare(const refs_ahead *ahead, uint64_t number);

/** Adds the chunks that make up chunk `number` of the mosaic's grid, for `box`. After a failure the
 * list is incomplete but usable. May open files. */
refs_status refs_ahead__add(refs_ahead *ahead, uint64_t number, uint64_t box);

#endif
