/* slabs.h -- memory for chunks, many of one size, in pages as large as the system gives.
 *
 * A chunk of a megabyte of its own is 256 pages that the system clears one by
 * one when they are first touched, which takes as long as decoding it. Chunks
 * that lie side by side fill huge pages.
 *
 * Safe from any thread.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_SLABS_H
#define REFS_SLABS_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct refs_slabs refs_slabs;

/** An empty collection of slabs, or NULL when memory ran out. */
refs_slabs *refs_slabs__new(void);

/** Gives it up; NULL is allowed. Pieces that were taken stay until they are given back. */
void refs_slabs__free(refs_slabs *slabs);

/** A piece of `size` bytes, not initialised, aligned as malloc(3) aligns; NULL where the size does
 * not suit slabs, the system has no huge pages, or there is no memory: refs_alloc is the way then.
 */
void *refs_slabs__take(refs_slabs *slabs, size_t size);

/** Gives a piece back. What it held goes back to the system, and a slab with its last piece. */
void refs_slabs__give(refs_slabs *slabs, void *piece);

/** Between these two what pieces held stays where it is: for who gives many back, and with them
 * whole slabs, which is much less work for the system. */
void refs_slabs__pause(refs_slabs *slabs);
void refs_slabs__resume(refs_slabs *slabs);

#ifdef __cplusplus
}
#endif

#endif
