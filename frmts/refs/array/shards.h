/* shards.h -- shards: their indices, and the positions of chunks in them.
 *
 * Indices are in the cache of chunks, under an owner of their own, and are claimed, awaited,
 * dropped and abandoned like chunks.
 *
 * Read before this: cache.h, array_object.h. */
#ifndef REFS_SHARDS_H
#define REFS_SHARDS_H

#include "array_object.h"
#include "gaps.h"

/* -- what an array of shards is read with ------------------------------------------------------ */

typedef struct refs_shards {
    refs_grid grid;       /**< of shards */
    uint64_t owner;       /**< of indices in the cache */
    refs_chain *chain;    /**< of an index */
    uint64_t index_bytes; /**< as they are stored */
    uint64_t max_stored;  /**< most bytes of a shard that is read whole */
} refs_shards;

/** For a sharded array whose chunk sizes are known. */
refs_status refs_shards__open(const refs_array *array, refs_shards **shards, refs_error *err);

/** Also drops the cached indices. NULL is allowed. */
void refs_shards__free(const refs_array *array, refs_shards *shards);

/** The number of the shard that contains chunk `number`, and the chunk's number in it. */
uint64_t refs_shards__of(const refs_array *array, uint64_t number, uint64_t *inner);

/* -- a shard that chunks of one call are in ---------------------------------------------------- */

typedef enum refs_shard_state {
    REFS_SHARD_OPEN,   /**< its index is loaded */
    REFS_SHARD_CLOSED, /**< its index must be loaded */
    REFS_SHARD_WHOLE,  /**< all of it is loaded: it is absent, local, small or needed */
    REFS_SHARD_BUSY    /**< another thread loads its index */
} refs_shard_state;

typedef struct refs_shard {
    refs_array *array;
    uint64_t number;
    uint64_t n_wanted; /**< number of its chunks that are needed */
    refs_shard_state state;
    bool is_claimed; /**< others wait for this call to load its index */
    bool is_alone;   /**< its index is loaded even if another thread does so, too: it is not waited
                        for */
    refs_awaited *awaited;
    uint64_t size;   /**< bytes, or REFS_STORE_UNKNOWN, … */
    bool lacks_size; /**< … although it is needed to find the index */
    refs_chunk *index;
} refs_shard;

/** Sets the state of a shard as refs_cache__claim does. Requires is_alone, awaited, and the members
 * before the state. */
void refs_shard__look_up(refs_shard *shard);

/** Claims the index of a shard that was looked up, before it is requested; false if another thread
 * has or loads it, which its state then says. */
bool refs_shard__claim(refs_shard *shard);

/** Ends the claim, if there is one, so that others can try, and releases the index. */
void refs_shard__clear(refs_shard *shard);

/** Waits until the index of a chunk's shard is not loading, at most `ms` milliseconds; false if it
 * still is. */
bool refs_shards__await(const refs_array *array, uint64_t number, unsigned ms);

/** Finds the sizes of those of `n` shards that are whole objects, so that a large one is not
 * fetched for a few chunks. */
refs_status refs_shards__measure(refs_shard *shards, size_t n, const refs_awaited *awaited,
                                 refs_error *err);

/** Sets the range of the index of a closed shard. */
refs_status refs_shard__request_index(const refs_shard *shard, refs_request *request,
                                      refs_error *err);

/** Receives the bytes of the index, and lets waiting threads continue. */
refs_status refs_shard__take_index(refs_shard *shard, refs_bytes stored, refs_error *err);

/** Reads the index from the bytes of a whole shard, and caches the stored bytes of chunks that are
 * neither cached nor loading. */
refs_status refs_shard__take_whole(refs_shard *shard, refs_bytes whole, refs_error *err);

/** Puts the set, the key of a shard, and the URL and range of it or of its index, before a message;
 * returns `status`. */
refs_status refs_shard__locate(const refs_shard *shard, refs_status status, refs_error *err);
refs_status refs_shard__locate_index(const refs_shard *shard, refs_status status, refs_error *err);

/** Appends the chunks of an open shard to `n` listed ones, up to REFS_MAX_GAP_CHUNKS in all;
 * returns their number. */
size_t refs_shard__list(const refs_shard *shard, size_t n, refs_gap_chunk *listed);

/** Finds chunk `inner` in an open shard; a part of no bytes: it is absent. */
refs_status refs_shard__find(const refs_shard *shard, uint64_t inner, refs_store_part *part,
                             refs_error *err);

#endif
