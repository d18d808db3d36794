/* held.h -- which chunks a reader is likely to come back to with its next reads: those of which it
 * has read a part, and not all.
 *
 * Readers that go line by line take a part of each chunk of a row of chunks,
 * and those that go block by block, where chunks are so large that blocks are
 * parts of them, take one after the other and then come back to the first.
 *
 * Read before this: array_object.h.
 */
#ifndef REFS_HELD_H
#define REFS_HELD_H

#include "array_object.h"

/** Chunks that one reader may have begun; of more, the first ones are forgotten. */
#define REFS_HELD_CHUNKS 64

/** Larger chunks are held until all of their elements were read; of others those of one read. */
#define REFS_HELD_FROM (8 * REFS_MIB)

/** Chunks that a reader has begun. Zeroed: none. */
typedef struct refs_held {
    size_t n_held; /**< when the last one was begun, it included */
    size_t n;
    struct refs_begun {
        uint64_t number;
        uint64_t left; /**< elements that were not read yet */
    } begun[REFS_HELD_CHUNKS];
} refs_held;

/** Notes the read that was cut to `cut`, and tells how many bytes the cache is to hold for the
 * reader from now on: no more than REFS_MAX_HELD_BYTES. */
size_t refs_held__note(refs_held *held, const refs_array *array, const refs_cut *cut);

#endif
