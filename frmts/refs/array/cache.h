/* cache.h -- chunks by (owner, number): on their way, as they are stored, or decoded; the least
 * recently used first to go.
 *
 * The cache knows nothing of arrays, of threads that prefetch, or of what is
 * read next. A chunk is in one of three states:
 *
 *   loading   somebody fetches or decodes it; others may wait for it
 *   stored    its bytes have arrived, and nobody has decoded them yet
 *   decoded   its elements are there
 *
 * Safe from any thread: one lock.
 *
 * Read before this: array.h.
 */
#ifndef REFS_CACHE_H
#define REFS_CACHE_H

#include "refs/array.h"
#include "refs/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- chunks ------------------------------------------------------------------------------------ */

/** The bytes of one chunk, stored or decoded. A holder of a reference may read; nobody writes after
 * it was added to a cache. */
typedef struct refs_chunk refs_chunk;

/** The bytes of a chunk as they are stored, borrowed. */
typedef struct refs_stored {
    refs_bytes bytes;
    uint32_t filter_mask; /**< codecs that were not applied to it (refset.h) */
} refs_stored;

/** A chunk of `size` bytes, not initialised, with one reference; NULL when memory ran out. */
refs_chunk *refs_chunk__new(size_t size);

/** The same, to be added to `cache` (or NULL): memory of a chunk that was passed is used again, and
 * where the cache is full that of the chunk that would go next, which spares the system the giving
 * and taking. */
refs_chunk *refs_chunk__new_for(refs_cache *cache, size_t size);

/** The most that a chunk in the cache costs beside its bytes. */
#define REFS_CHUNK_OVERHEAD 256

/** Gives one reference back; NULL is allowed. */
void refs_chunk__release(refs_chunk *chunk);

uint8_t *refs_chunk__data(refs_chunk *chunk);

/** The source of a stored chunk. */
refs_stored refs_chunk__stored(refs_chunk *chunk);

/* -- the cache --------------------------------------------------------------------------------- */

/** The key of a chunk in the cache. */
typedef struct refs_chunk_id {
    uint64_t owner;  /**< of refs_cache__new_owner */
    uint64_t number; /**< in the owner's array */
} refs_chunk_id;

/** A number for an array whose chunks are to be kept in the cache. */
uint64_t refs_cache__new_owner(refs_cache *cache);

/** Lets all chunks of `owner` go, whose numbers are below `n`: of few, no other chunk is looked at.
 */
void refs_cache__drop_owner(refs_cache *cache, uint64_t owner, uint64_t n);

/** The budget that the cache was opened with, in bytes. */
size_t refs_cache__max_bytes(const refs_cache *cache);

/** One more, or one less, reader prefetches. */
void refs_cache__add_stream(refs_cache *cache);
void refs_cache__remove_stream(refs_cache *cache);

/** Bytes that each of these readers may have prefetched and not read yet: a part of half of the
 * cache. */
size_t refs_cache__readahead_share(const refs_cache *cache);

/** The requested form of a chunk. */
typedef enum refs_want {
    REFS_WANT_ELEMENTS, /**< a reader waits for its elements */
    REFS_WANT_AT_HAND,  /**< a reader needs its elements, if they are cached */
    REFS_WANT_BYTES,    /**< prefetch: that it is there, stored or decoded */
    REFS_WANT_DECODED   /**< prefetch: that it is decoded, if its bytes are there */
} refs_want;

/** The result of a request for a chunk. */
typedef enum refs_claim {
    REFS_CLAIM_MINE,    /**< the caller is to fetch and decode it */
    REFS_CLAIM_STORED,  /**< the caller is to decode it: its stored bytes come with the claim */
    REFS_CLAIM_DECODED, /**< its elements come with the claim */
    REFS_CLAIM_BUSY,    /**< another caller is at it */
    REFS_CLAIM_NOTHING  /**< it is not cached; or, of a prefetch, nothing is to be done */
} refs_claim;

/** Asks for a chunk. STORED and DECODED set *chunk, with a reference for the caller. After MINE and
 * STORED the chunk is loading until the caller adds it or abandons it; `awaited`, or NULL, is
 * set as soon as somebody waits for it, and must live until then. ELEMENTS is answered with MINE,
 * STORED, DECODED or BUSY; AT_HAND with NOTHING instead of MINE; BYTES with MINE or NOTHING;
 * DECODED with STORED or NOTHING. A chunk is claimed when the request for it is made, not before:
 * others wait for it. */
refs_claim refs_cache__claim(refs_cache *cache, refs_chunk_id id, refs_want want,
                             refs_awaited *awaited, refs_chunk **chunk);

/** Whether a chunk is there, stored or decoded, or loading. */
bool refs_cache__has(refs_cache *cache, refs_chunk_id id);

/** Whether somebody waits for a chunk that is loading, or found it BUSY and will. */
bool refs_cache__is_awaited(refs_cache *cache, refs_chunk_id id);

/** Ends a claim: the chunk is decoded from now on. The least recently used chunks go until the
 * budget holds. A chunk that is larger than the budget is not kept: who waits for it claims it
 * then. */
void refs_cache__add_decoded(refs_cache *cache, refs_chunk_id id, refs_chunk *chunk);

/** Ends a claim with a copy of the chunk's stored bytes, for who decodes them later. False without
 * memory for the copy: the claim goes on. */
bool refs_cache__add_stored(refs_cache *cache, refs_chunk_id id, refs_stored stored);

/** Says that a reader of more than the cache can hold has passed a chunk: it is the next to go, and
 * its memory the first to be used again. A reader that uses it takes that back. */
void refs_cache__pass(refs_cache *cache, refs_chunk_id id);

/** Says that nobody is expected to use a chunk: unless somebody does, it goes before all others
 * that were used, when there is no room. */
void refs_cache__leave(refs_cache *cache, refs_chunk_id id);

/** Gives a claim up that was not fulfilled: whoever waits may claim the chunk. Does nothing where
 * it was. */
void refs_cache__abandon(refs_cache *cache, refs_chunk_id id);

/** Waits until a chunk is not loading, or for `ms` milliseconds; false where it still is. */
bool refs_cache__await(refs_cache *cache, refs_chunk_id id, unsigned ms);

/* -- more than the budget ---------------------------------------------------------------------- */

/** The most bytes that the cache may hold because readers say so. */
#define REFS_MAX_HELD_BYTES (512 * (size_t)REFS_MIB)

/** Says that a reader, which needed `before` bytes at a time until now, needs `now` bytes: the
 * chunks that it comes back to with its next read. The budget grows so that it holds the sum of
 * what readers need, up to REFS_MAX_HELD_BYTES, beside half of what it was opened with. A cache of
 * no bytes stays one. */
void refs_cache__hold(refs_cache *cache, size_t before, size_t now);

#ifdef __cplusplus
}
#endif
#endif
