/* block.h -- reference-counted memory: fetched bytes that workers decode while more arrive.
 *
 * Safe from any thread: the last release frees the block.
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

/** A block of `size` uninitialised bytes, held once; NULL when memory ran out. `freed(user)`,
 * unless NULL, is called by the thread that releases the block last, after the memory was freed. */
refs_block *refs_block_new(size_t size, void (*freed)(void *user, size_t size), void *user);

/** Sets `freed` of a block that was made with NULL. Only its only holder may call this. */
void refs_block_on_free(refs_block *block, void (*freed)(void *user, size_t size), void *user);

/** Increments the reference count; returns `block`, which may be NULL. */
refs_block *refs_block_hold(refs_block *block);

/** Decrements the reference count, and frees the block at 0; NULL is allowed. */
void refs_block_release(refs_block *block);

uint8_t *refs_block_data(refs_block *block);
size_t refs_block_size(const refs_block *block);

#ifdef __cplusplus
}
#endif
#endif
