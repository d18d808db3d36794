/* block_cache.h -- a cache of parts of a set: each is loaded once, and kept while it fits.
 *
 * A caller that requests a block that another thread is loading waits for it; requests for cached
 * blocks never wait. The least recently used blocks are dropped first; a dropped block lives until
 * its last holder releases it.
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

/** The identity of a block. */
typedef struct refs_block_id {
    uint32_t group;
    uint64_t number;
} refs_block_id;

/** A loaded block, held once, and the bytes of memory that it takes; NULL if it does not exist.
 */
typedef struct refs_loaded_block {
    refs_block *block;
    size_t n_bytes;
} refs_loaded_block;

typedef refs_status (*refs_block_loader)(void *user, refs_block_id id, refs_loaded_block *loaded,
                                         refs_error *err);

typedef struct refs_block_cache refs_block_cache;

/** A cache of `max_bytes`; the block that was loaded last is kept, whatever its size. */
refs_status refs_block_cache_open(size_t max_bytes, refs_block_loader loader, void *user,
                                  refs_block_cache **cache, refs_error *err);

/** Releases all blocks; NULL is allowed. */
void refs_block_cache_free(refs_block_cache *cache);

/** Returns the block, held for the caller, or NULL if it does not exist. A failure is not cached:
 * the next request loads again. */
refs_status refs_block_cache_get(refs_block_cache *cache, refs_block_id id, refs_block **block,
                                 refs_error *err);

/** Whether a block is cached, or known not to exist, so that requesting it loads nothing. */
bool refs_block_cache_has(refs_block_cache *cache, refs_block_id id);

#ifdef __cplusplus
}
#endif
#endif
