/* held.h -- chunks that a reader will probably read again, because it has read a part of them.
 *
 * A reader that proceeds by lines reads a part of each chunk in a row of chunks. One that proceeds
 * by blocks smaller than chunks reads them one after the other, and then returns to the first
 * chunk. So does one that reads some lines of each band in turn, as GDAL does to write interleaved
 * pixels from several arrays.
 *
 * Read before this: array_object.h. */
#ifndef REFS_HELD_H
#define REFS_HELD_H

#include "array_object.h"

/** Limit of partly read chunks of a reader; beyond it the oldest are forgotten. */
#define REFS_HELD_CHUNKS 256

/** Larger chunks are held until all their elements were read. */
#define REFS_HELD_FROM (8 * REFS_MIB)

/** Chunks of at least this size are held if the reader proceeds along the last dimension and reads
 * the same part of single chunks one after the other, or if it has returned to a chunk and
 * continued where it had stopped: then as many as it has begun or continued in between. Otherwise
 * only those of one read are held. */
#define REFS_RESUMED_FROM (128 * REFS_KIB)

/** The partly read chunks of a reader. Zeroed: none. */
typedef struct refs_held {
    size_t n_held;
    size_t n_since;  /**< chunks recorded since the last return to as many */
    bool is_cycling; /**< it returns to more chunks in turn than the cache can hold */
    size_t n;
    struct refs_begun {
        uint64_t number;
        uint64_t left;    /**< elements not read yet */
        bool is_kept;     /**< while the reader is cycling: it stays in the cache */
        uint64_t at, end; /**< the last read part, along the first dimension that is read in part */
    } begun[REFS_HELD_CHUNKS]; /**< the last read one comes last */
} refs_held;

/** Whether the cache should keep a chunk. If a reader returns to more chunks in turn than the cache
 * can hold, each would be dropped before it is read again: so some stay, and the others are not
 * cached. */
bool refs_held__keeps(const refs_held *held, uint64_t number);

/** Records the read that was divided into `cut`; returns how many bytes the cache should hold for
 * the reader, at most refs_cache__max_held. */
size_t refs_held__note(refs_held *held, const refs_array *array, const refs_cut *cut);

#endif
