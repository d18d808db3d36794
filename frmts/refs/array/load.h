/* load.h -- loads chunks by number: from the cache, from a load in progress, or from the store.
 *
 * The chunks of one call become one fetch plan, and the pool decodes them as their bytes arrive;
 * before that, the missing indices of their shards are loaded in the same way (shards.h). A chunk
 * is claimed when it is requested. So a reader waits for its own requests and for chunks that
 * others have requested already, never for a decision of others; and a read that is called from the
 * progress callback of another read waits for no other thread.
 *
 * Read before this: cache.h, array_object.h. */
#ifndef REFS_LOAD_H
#define REFS_LOAD_H

#include "array_object.h"

/** The destination of the chunks of one array. */
typedef struct refs_delivery {
    refs_array *array;

    /** Receives the elements of chunk `item` in this machine's byte order, or NULL if the chunk is
     * absent; on any thread. NULL: chunks only go to the cache. */
    void (*deliver)(void *user, uint64_t item, const uint8_t *elements);

    /** Returns where to decode chunk `item` if all its elements are needed in their order: it is
     * then neither delivered nor cached. NULL result or function: nowhere. */
    uint8_t *(*place)(void *user, uint64_t item);
    void *user;
} refs_delivery;

/** A chunk that a reader waits for. */
typedef struct refs_wanted {
    const refs_delivery *to;
    uint64_t item;   /**< its number in `to` */
    uint64_t number; /**< in the array */
} refs_wanted;

/** The callbacks of a load. */
typedef struct refs_load_watch {
    const refs_progress *progress; /**< or NULL */

    /** Called on the loading thread when all its bytes have arrived, though some may still be
     * decoded, and `n_busy` chunks are being loaded by others. Or NULL. */
    void (*arrived)(void *user, size_t n_busy);

    /** Whether to cache a decoded chunk; called by any thread. NULL: always. */
    bool (*keeps)(void *user, uint64_t number);

    /** Receives the bytes of the chunks of a mosaic's pieces before they are loaded. Or NULL. */
    void (*takes)(void *user, uint64_t bytes);
    void *user;
} refs_load_watch;

/** Loads `n` chunks, of one array or of several that share their context, and delivers each once.
 * Changes the order of `wanted`. `watch` may be NULL; REFS_CANCELLED if its progress cancels. */
refs_status refs_array__load(refs_wanted *wanted, size_t n, const refs_load_watch *watch,
                             refs_error *err);

/** Drops lookups of references that refs_arrays_load has begun for an array, and no thread has. */
void refs_together__withdraw(const refs_array *array);

/** The reader for which chunks are prefetched. Its functions are called on any thread. */
typedef struct refs_prefetcher {
    refs_array *array; /**< the array being read, which may be a mosaic of others */
    bool (*is_wanted)(void *user,
                      uint64_t box); /**< whether the chunk is still needed after it was claimed */
    bool (*is_near)(void *user,
                    uint64_t box); /**< whether it is needed so soon that it is decoded now */
    bool (*has_ended)(void *user); /**< the reader has ended, and its requests delay others */
    void *user;
} refs_prefetcher;

/** A chunk that is prefetched, of box `box`. */
typedef struct refs_ahead_chunk {
    refs_array *array;
    uint64_t number;
    uint64_t box;
} refs_ahead_chunk;

/** Loads those of `n` chunks that are neither cached nor loading: to the cache, as stored bytes
 * unless they are near or awaited. When `who` has ended, requests in progress are cancelled unless
 * a reader waits for them. Changes the order of `expected`. If a chunk fails, a read of it fails
 * later. */
void refs_array__load_ahead(const refs_prefetcher *who, refs_ahead_chunk *expected, size_t n);

/** Decodes chunk `number` if its stored bytes are in the cache. */
void refs_array__decode_stored(refs_array *array, uint64_t number);

#endif
