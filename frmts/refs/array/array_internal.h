/* array_internal.h -- what the files of this room share: spans, copies, cached chunks.
 *
 * Read before this: array.h.
 */
#ifndef REFS_ARRAY_INTERNAL_H
#define REFS_ARRAY_INTERNAL_H

#include "refs/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- region.c: which chunks, and which part of each -------------------------------------------- */

/** Elements [first, first + n) of a region along one dimension that lie in one chunk. */
typedef struct refs_span {
    uint64_t chunk; /**< index of the chunk along the dimension */
    uint64_t first; /**< element of the region */
    uint64_t n;     /**< elements, at least 1 */
    uint64_t begin; /**< position of the first one inside the chunk */
} refs_span;

/** A region cut at chunk borders: the chunks it needs are all combinations of spans. */
typedef struct refs_cut {
    size_t rank;
    refs_span *spans[REFS_MAX_RANK];
    size_t n_spans[REFS_MAX_RANK];
    uint64_t n_chunks;
} refs_cut;

/** Cuts a region, REFS_INVALID where it is not inside the array. Zero chunks where it is empty.
 * `cut` is to be cleared, also after a failure. */
refs_status refs_array__cut(const refs_array_meta *meta, const refs_region *region, refs_cut *cut,
                            refs_error *err);
void refs_array__cut_clear(refs_cut *cut);

/** Splits the number of a chunk of the cut, below n_chunks, into one span per dimension. */
void refs_array__cut_at(const refs_cut *cut, uint64_t number, const refs_span **spans);

/* -- scatter.c: moving elements ---------------------------------------------------------------- */

/** An N-dimensional copy of elements of `element_size` bytes; strides are in bytes. */
typedef struct refs_copy {
    size_t rank;
    size_t n[REFS_MAX_RANK];
    int64_t src_stride[REFS_MAX_RANK];
    int64_t dst_stride[REFS_MAX_RANK];
    size_t element_size;
} refs_copy;

/** Carries out `copy`, whose first element is at `src` and goes to `dst`. Source strides of zero
 * repeat one element. */
void refs_array__copy(const refs_copy *copy, const uint8_t *src, uint8_t *dst);

/* -- convert.c: elements as other things ------------------------------------------------------- */

/** Turns `n` elements from the array's byte order into this machine's, in place. */
void refs_array__to_host_order(const refs_dtype *dtype, uint8_t *elements, size_t n);

/** `n` elements in this machine's byte order as doubles; false for texts and opaque types. */
bool refs_array__to_doubles(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                            double *values);

/** `n` texts of a fixed-length type as UTF-8, each with a NUL after it. */
refs_status refs_array__to_texts(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                                 refs_buf *texts, refs_error *err);

/* -- cache.c: decoded chunks ------------------------------------------------------------------- */

/** The elements of one chunk. Whoever holds a reference may read; nobody writes after it was added
 * to a cache. */
typedef struct refs_chunk refs_chunk;

/** A chunk of `size` bytes, not initialised, with one reference; NULL when memory ran out. */
refs_chunk *refs_chunk__new(size_t size);

/** Gives one reference back; NULL is allowed. */
void refs_chunk__release(refs_chunk *chunk);

/** The elements. */
uint8_t *refs_chunk__data(refs_chunk *chunk);

/** What the cache knows a chunk by. */
typedef struct refs_chunk_id {
    uint64_t owner;  /**< of refs_cache__new_owner */
    uint64_t number; /**< in the owner's array */
} refs_chunk_id;

/** What a chunk is wanted for. */
typedef enum refs_chunk_use {
    REFS_USE_NOW,   /**< to be read now */
    REFS_USE_AHEAD, /**< ahead of a read that is expected */
    REFS_USE_LATER  /**< later than that; it comes along, and is not counted as ahead yet */
} refs_chunk_use;

/** What came of asking for a chunk. */
typedef enum refs_claim {
    REFS_CLAIM_FOUND, /**< it is there */
    REFS_CLAIM_MINE,  /**< the caller is to bring it: refs_cache__add or refs_cache__abandon */
    REFS_CLAIM_BUSY   /**< another caller brings it */
} refs_claim;

/** A chunk as refs_chunk__new gives it, to be added to `cache` (or NULL): where that is full, and
 * where chunks that were read to their end make room for what is read ahead, memory of the cache
 * is used again, which spares the system the giving and taking. */
refs_chunk *refs_chunk__new_for(refs_cache *cache, size_t size, refs_chunk_use use);

/** A number for an array whose chunks are to be kept in the cache. */
uint64_t refs_cache__new_owner(refs_cache *cache);

/** Waits until nobody brings the chunk any more: it is there, with a reference for the caller, or
 * NULL. */
refs_chunk *refs_cache__await(refs_cache *cache, refs_chunk_id id);

/** Keeps `chunk` and lets others go until the budget holds; the newest chunk is kept whatever its
 * size, and an earlier one of the same name stays. Without memory the chunk is just not kept. */
void refs_cache__add(refs_cache *cache, refs_chunk_id id, refs_chunk *chunk, refs_chunk_use use);

/** Notes that `n` of the `n_all` elements of a chunk that count were read. A chunk that was read to
 * its end is the first to go. */
void refs_cache__spend(refs_cache *cache, refs_chunk *chunk, uint64_t n, uint64_t n_all);

/** Gives a claim up that was not fulfilled; nothing where it was. */
void refs_cache__abandon(refs_cache *cache, refs_chunk_id id);

/** How reading ahead goes. */
typedef struct refs_ahead {
    size_t max_bytes;  /**< budget of the cache */
    size_t bytes;      /**< of chunks that were read ahead and not yet used */
    uint64_t n_wasted; /**< chunks that were read ahead and let go unused */
} refs_ahead;

void refs_cache__get_ahead(refs_cache *cache, refs_ahead *ahead);

/** Lets all chunks of `owner` go. */
void refs_cache__drop_owner(refs_cache *cache, uint64_t owner);

#ifdef __cplusplus
}
#endif
#endif
