/* stored.h -- which chunks of an array a set holds: what is absent need not be read.
 *
 * Read before this: refs/refset.h, refs/zarr.h.
 */
#ifndef REFS_CLI_STORED_H
#define REFS_CLI_STORED_H

#include "refs/refset.h"
#include "refs/zarr.h"

/** The chunks that are stored, or the shards of an array that has such. */
typedef struct tool_stored {
    const refs_array_meta *meta;
    bool is_any;                 /**< not listed: any chunk may be stored */
    uint64_t n[REFS_MAX_RANK];   /**< keys along each dimension */
    uint64_t per[REFS_MAX_RANK]; /**< elements of a key along each dimension */
    uint64_t *numbers;           /**< ascending, counted with the last dimension fastest; owned */
    size_t n_numbers, capacity;
} tool_stored;

/** Lists what `set` holds of the array; up to 2^20 chunks, else any may be stored. `set` and `meta`
 * are borrowed. REFS_CANCELLED; also on failure `stored` is to be cleared. */
refs_status tool_stored_open(const refs_set *set, const refs_array_meta *meta, tool_stored *stored,
                             refs_error *err);
void tool_stored_clear(tool_stored *stored);

/** Whether a value of the box may be stored: `count` elements from `start` on, in elements of the
 * array, at least one along each dimension. Costs no more than there are chunks in the box or in
 * the list. */
bool tool_stored_has(const tool_stored *stored, const uint64_t *start, const uint64_t *count);

#endif
