/* block_cache.h -- parts of a set in memory: loaded once, kept as long as there is room.
 *
 * A caller that requests a block that another thread is loading waits for it; who asks for one that
 * is there waits for nobody. The ones least recently used go first; a block that was handed out
 * lives on until its last holder lets go.
 *
 * Safe from any thread.
 *
 * Read before this: block.h.
 */
#ifndef REFS_BLOCK_CACHE_H
#define REFS_BLOCK_CACHE_H

#include "refs/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which block. */
typedef struct refs_block_id {
    uint32_t group;
    uint64_t number;
} refs_block_id;

/** A loaded block, held once, and its size in bytes of memory; NULL where there is no such thing.
 */
typedef struct refs_loaded_block {
    refs_block *block;
    size_t n_bytes;
} refs_loaded_block;

typedef refs_status (*refs_block_loader)(void *user, refs_block_id id, refs_loaded_block *loaded,
                                         refs_error *err);

typedef struct refs_block_cache refs_block_cache;

/** A cache of `max_bytes`; the block that was loaded last stays, whatever its size. */
refs_status refs_block_cache_open(size_t max_bytes, refs_block_loader loader, void *user,
                                  refs_block_cache **cache, refs_error *err);

/** Lets go of all blocks; NULL is allowed. */
void refs_block_cache_free(refs_block_cache *cache);

/** The block, held for the caller, or NULL where there is no such thing. A failure is not
 * remembered: who asks again loads again. */
refs_status refs_block_cache_get(refs_block_cache *cache, refs_block_id id, refs_block **block,
                                 refs_error *err);

/** Whether a block is there, or known not to exist, so that asking for it loads nothing. */
bool refs_block_cache_has(refs_block_cache *cache, refs_block_id id);

#ifdef __cplusplus
}
#endif
#endif
