/* held.h -- which chunks a reader is likely to come back to with its next reads: those of which it
 * has read a part, and not all.
 *
 * Readers that go line by line take a part of each chunk of a row of chunks,
 * and those that go block by block, where chunks are so large that blocks are
 * parts of them, take one after the other and then come back to the first. So
 * do those that read some lines of each band in turn, as GDAL does who makes
 * a file of interleaved pixels from bands of several arrays.
 *
 * Read before this: array_object.h.
 */
#ifndef REFS_HELD_H
#define REFS_HELD_H

#include "array_object.h"

/** Chunks that one reader may have begun; of more, the first ones are forgotten. */
#define REFS_HELD_CHUNKS 256

/** Larger chunks are held until all of their elements were read. */
#define REFS_HELD_FROM (8 * REFS_MIB)

/** Others that are not smaller than this are held when the reader goes along the last dimension
 * and reads the same part of one after the other, each alone, or has come back to one and gone on
 * where it had stopped: as many as it had begun or gone on with in between. Else those of one read
 * are. */
#define REFS_RESUMED_FROM (128 * REFS_KIB)

/** Chunks that a reader has begun. Zeroed: none. */
typedef struct refs_held {
    size_t n_held;
    size_t n_since; /**< chunks that were noted since a return told of as many */
    size_t n;
    struct refs_begun {
        uint64_t number;
        uint64_t left;    /**< elements that were not read yet */
        uint64_t at, end; /**< what was read last, along the first dimension that is read in part */
    } begun[REFS_HELD_CHUNKS]; /**< what was read last comes last */
} refs_held;

/** Notes the read that was cut to `cut`, and tells how many bytes the cache is to hold for the
 * reader from now on: no more than REFS_MAX_HELD_BYTES. */
size_t refs_held__note(refs_held *held, const refs_array *array, const refs_cut *cut);

#endif
