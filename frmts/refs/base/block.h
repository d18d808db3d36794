/* block.h -- memory that several hold: bytes that arrived, read by workers while more arrive.
 *
 * Safe from any thread: the last one to let go frees the block.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_BLOCK_H
#define REFS_BLOCK_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct refs_block refs_block;

/** A block of `size` bytes, not initialised, held once; NULL when memory ran out. `freed(user)`,
 * unless NULL, is called by the thread that lets go last, after the memory is gone. */
refs_block *refs_block_new(size_t size, void (*freed)(void *user, size_t size), void *user);

/** Sets whom to call when the last one lets go of a block that was made with NULL; by its only
 * holder. */
void refs_block_on_free(refs_block *block, void (*freed)(void *user, size_t size), void *user);

/** One more holder; returns `block`, which may be NULL. */
refs_block *refs_block_hold(refs_block *block);

/** One holder less; NULL is allowed. */
void refs_block_release(refs_block *block);

uint8_t *refs_block_data(refs_block *block);
size_t refs_block_size(const refs_block *block);

#ifdef __cplusplus
}
#endif
#endif
