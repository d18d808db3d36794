/* cache.h -- an LRU cache of chunks by (owner, number).
 *
 * The cache knows nothing about arrays, prefetching or the next read. A chunk is in one of three
 * states: loading (it is being fetched or decoded, and others may wait for it), stored (its bytes
 * have arrived, but are not decoded yet) or decoded (it has its elements).
 *
 * Thread-safe, with one lock.
 *
 * Read before this: array.h. */
#ifndef REFS_CACHE_H
#define REFS_CACHE_H

#include "refs/array.h"
#include "refs/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- chunks ------------------------------------------------------------------------------------ */

/** The bytes of one chunk, stored or decoded. Holders of a reference may read them; they do not
 * change once the chunk is in a cache. */
typedef struct refs_chunk refs_chunk;

/** The stored bytes of a chunk, borrowed. */
typedef struct refs_stored {
    refs_bytes bytes;
    uint32_t filter_mask; /**< codecs that were not applied (refset.h) */
} refs_stored;

/** Makes a chunk of `size` uninitialised bytes with one reference; NULL if memory ran out. */
refs_chunk *refs_chunk__new(size_t size);

/** Works like refs_chunk__new, for a chunk to be added to `cache` (or NULL). Reuses the memory of a
 * passed chunk or, if the cache is full, of the next chunk to drop, which saves system calls. */
refs_chunk *refs_chunk__new_for(refs_cache *cache, size_t size);

/** The most memory that a cached chunk takes in addition to its bytes. */
#define REFS_CHUNK_OVERHEAD 256

/** Releases one reference; NULL is allowed. */
void refs_chunk__release(refs_chunk *chunk);

uint8_t *refs_chunk__data(refs_chunk *chunk);

/** The stored bytes of a chunk. */
refs_stored refs_chunk__stored(refs_chunk *chunk);

/* -- the cache --------------------------------------------------------------------------------- */

/** The key of a chunk in the cache. */
typedef struct refs_chunk_id {
    uint64_t owner;  /**< from refs_cache__new_owner */
    uint64_t number; /**< number in the owner's array */
} refs_chunk_id;

/** Makes an owner number for an array. */
uint64_t refs_cache__new_owner(refs_cache *cache);

/** Drops all chunks of `owner`, whose numbers are below `n`; if `n` is small, looks up each. */
void refs_cache__drop_owner(refs_cache *cache, uint64_t owner, uint64_t n);

/** The configured budget in bytes. */
size_t refs_cache__max_bytes(const refs_cache *cache);

/** Records that a reader begins or stops prefetching. */
void refs_cache__add_stream(refs_cache *cache);
void refs_cache__remove_stream(refs_cache *cache);

/** Limit of prefetched and unread bytes for each of these readers: its share of half of the
 * cache. */
size_t refs_cache__readahead_share(const refs_cache *cache);

/** The requested form of a chunk. */
typedef enum refs_want {
    REFS_WANT_ELEMENTS, /**< a reader needs its elements, and waits */
    REFS_WANT_AT_HAND,  /**< a reader needs its elements, if they are cached */
    REFS_WANT_BYTES,    /**< prefetch: fetch it unless it is stored or decoded */
    REFS_WANT_DECODED   /**< prefetch: decode it if its bytes are stored */
} refs_want;

/** The result of a request for a chunk. */
typedef enum refs_claim {
    REFS_CLAIM_MINE,    /**< the caller must fetch and decode it */
    REFS_CLAIM_STORED,  /**< the caller must decode it: its stored bytes come with the claim */
    REFS_CLAIM_DECODED, /**< its elements come with the claim */
    REFS_CLAIM_BUSY,    /**< another caller is loading it */
    REFS_CLAIM_NOTHING  /**< it is not cached; for a prefetch: nothing to do */
} refs_claim;

/** Requests a chunk. STORED and DECODED set *chunk, with a reference for the caller. After MINE and
 * STORED the chunk is loading until the caller adds or abandons it; `awaited` (or NULL) is set as
 * soon as another thread waits for it, and must live until then. Results: ELEMENTS gives MINE,
 * STORED, DECODED or BUSY; AT_HAND the same with NOTHING instead of MINE; BYTES gives MINE or
 * NOTHING; DECODED gives STORED or NOTHING. Claim a chunk only when its request is made, because
 * others wait for it from then on. */
refs_claim refs_cache__claim(refs_cache *cache, refs_chunk_id id, refs_want want,
                             refs_awaited *awaited, refs_chunk **chunk);

/** Whether a chunk is stored, decoded or loading. */
bool refs_cache__has(refs_cache *cache, refs_chunk_id id);

/** Whether another thread waits for a loading chunk, or was told BUSY and will wait. */
bool refs_cache__is_awaited(refs_cache *cache, refs_chunk_id id);

/** Ends a claim: the chunk is decoded. Drops the least recently used chunks beyond the budget. A
 * chunk larger than the budget is not kept, or alone if the cache is strict: a thread that waits
 * for it claims it then. */
void refs_cache__add_decoded(refs_cache *cache, refs_chunk_id id, refs_chunk *chunk);

/** Ends a claim with a copy of the chunk's stored bytes, to be decoded later. False if memory ran
 * out: the claim continues. */
bool refs_cache__add_stored(refs_cache *cache, refs_chunk_id id, refs_stored stored);

/** Records that a reader of more data than the cache can hold has passed a chunk: it is dropped
 * first, and its memory is reused first. Another use reverses that. */
void refs_cache__pass(refs_cache *cache, refs_chunk_id id);

/** Records that no reader is expected to use a chunk: unless one does, it is dropped before all
 * used ones. */
void refs_cache__leave(refs_cache *cache, refs_chunk_id id);

/** Abandons a claim, so that a waiting thread may claim the chunk. No effect if the claim has
 * ended. */
void refs_cache__abandon(refs_cache *cache, refs_chunk_id id);

/** Waits until a chunk is not loading, at most `ms` milliseconds; false if it still is. */
bool refs_cache__await(refs_cache *cache, refs_chunk_id id, unsigned ms);

/* -- more than the budget ---------------------------------------------------------------------- */

/** Limit of the bytes that the cache holds on request of readers. */
#define REFS_MAX_HELD_BYTES (512 * (size_t)REFS_MIB)

/** The most bytes of chunks that one reader can return to without decoding them again. */
size_t refs_cache__max_held(const refs_cache *cache);

/** Changes the bytes that a reader needs at the same time, from `before` to `now`: chunks that it
 * returns to with its next read. The budget grows to hold the sum for all readers, up to
 * REFS_MAX_HELD_BYTES, in addition to half of the configured budget. A budget of 0 stays 0, and
 * that of a strict cache stays what it is. */
void refs_cache__hold(refs_cache *cache, size_t before, size_t now);

#ifdef __cplusplus
}
#endif
#endif
