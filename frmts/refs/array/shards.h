/* shards.h -- chunks that are stored many in one value: the indices of shards, and where in them
 * each chunk is.
 *
 * Indices are in the cache of chunks, under an owner of their own: they are
 * loaded by one and awaited by others, forgotten and given up as chunks are.
 *
 * Read before this: cache.h, array_object.h.
 */
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
    uint64_t max_stored;  /**< the most bytes that a shard may have which is read whole */
} refs_shards;

/** For an array that has shards, and whose chunks were measured. */
refs_status refs_shards__open(const refs_array *array, refs_shards **shards, refs_error *err);

/** NULL is allowed; the indices in the cache, too, are let go. */
void refs_shards__free(const refs_array *array, refs_shards *shards);

/** The number of the shard that chunk `number` is in, and its own there. */
uint64_t refs_shards__of(const refs_array *array, uint64_t number, uint64_t *inner);

/* -- a shard that chunks of one call are in ---------------------------------------------------- */

typedef enum refs_shard_state {
    REFS_SHARD_OPEN,   /**< its index is there */
    REFS_SHARD_CLOSED, /**< its index is to be loaded */
    REFS_SHARD_WHOLE,  /**< all of it is to be loaded: it is absent, at hand, small or wanted */
    REFS_SHARD_BUSY    /**< somebody else loads its index */
} refs_shard_state;

typedef struct refs_shard {
    refs_array *array;
    uint64_t number;
    uint64_t n_wanted; /**< of its chunks */
    refs_shard_state state;
    bool is_claimed; /**< others wait for this call to load its index */
    bool is_alone;   /**< its index is loaded whoever else does: it is not waited for */
    refs_awaited *awaited;
    uint64_t size;   /**< bytes, or REFS_STORE_UNKNOWN, … */
    bool lacks_size; /**< … although it is needed to find the index */
    refs_chunk *index;
} refs_shard;

/** Sets the state of a shard as refs_cache__claim does. Requires is_alone, awaited, and the members
 * before the state. */
void refs_shard__look_up(refs_shard *shard);

/** Claims the index of a shard that was looked up, before a request for it is made; false where
 * somebody else has it, or loads it, which its state tells then. */
bool refs_shard__claim(refs_shard *shard);

/** Ends the claim, if there still is one, so that others can try, and lets the index go. */
void refs_shard__clear(refs_shard *shard);

/** Waits until nobody loads the index of the shard that a chunk is in, or for `ms` milliseconds;
 * false where somebody still does. */
bool refs_shards__await(const refs_array *array, uint64_t number, unsigned ms);

/** Finds the sizes of those of `n` shards that are whole objects, so that not all of a large one is
 * fetched for a few of its chunks. */
refs_status refs_shards__measure(refs_shard *shards, size_t n, const refs_awaited *awaited,
                                 refs_error *err);

/** Finds where the index of a closed shard is. */
refs_status refs_shard__request_index(const refs_shard *shard, refs_request *request,
                                      refs_error *err);

/** Takes over the bytes of its index: others go on with it. */
refs_status refs_shard__take_index(refs_shard *shard, refs_bytes stored, refs_error *err);

/** Takes the index from the bytes of a whole shard, and puts the chunks that nobody has and nobody
 * loads into the cache as they are stored. */
refs_status refs_shard__take_whole(refs_shard *shard, refs_bytes whole, refs_error *err);

/** Puts the set, the key of a shard, and its URL and range, or that of its index, before a message;
 * returns `status`. */
refs_status refs_shard__locate(const refs_shard *shard, refs_status status, refs_error *err);
refs_status refs_shard__locate_index(const refs_shard *shard, refs_status status, refs_error *err);

/** Lists the chunks of an open shard behind `n` that are listed already, up to
 * REFS_MAX_GAP_CHUNKS in all; returns how many are listed then. */
size_t refs_shard__list(const refs_shard *shard, size_t n, refs_gap_chunk *listed);

/** The place of chunk `inner` in an open shard; a part of no bytes: it is absent. */
refs_status refs_shard__find(const refs_shard *shard, uint64_t inner, refs_store_part *part,
                             refs_error *err);

#endif
