/* stored.h -- which chunks of an array a set has: absent ones need not be read.
 *
 * Read before this: refs/refset.h, refs/zarr.h. */
#ifndef REFS_CFA_STORED_H
#define REFS_CFA_STORED_H

#include "refs/refset.h"
#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The stored chunks, or the stored shards of a sharded array. */
typedef struct refs_cfa_stored {
    const refs_array_meta *meta;
    bool is_any;                 /**< chunks are not listed: any may be stored */
    uint64_t n[REFS_MAX_RANK];   /**< keys along each dimension */
    uint64_t per[REFS_MAX_RANK]; /**< elements of a key along each dimension */
    uint64_t *numbers;           /**< ascending, counted with the last dimension fastest; owned */
    size_t n_numbers, capacity;
} refs_cfa_stored;

/** Lists the stored chunks of an array, up to 2^20; if there are more, any may be stored. `set` and
 * `meta` are borrowed. Clear `stored` even after a failure. */
refs_status refs_cfa_stored_open(const refs_set *set, const refs_array_meta *meta,
                                 refs_cfa_stored *stored, refs_error *err);
void refs_cfa_stored_clear(refs_cfa_stored *stored);

/** Whether the box may contain a stored value: `count` elements from `start` on, at least one along
 * each dimension. Takes at most as many steps as there are chunks in the box or in the list. */
bool refs_cfa_stored_has(const refs_cfa_stored *stored, const uint64_t *start,
                         const uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
