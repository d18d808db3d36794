/* load.h -- chunks by number: from the cache, from whoever loads them already, or from the store.
 *
 * The chunks of one call become one fetch plan, and are decoded by the pool as
 * their bytes arrive; so do, before that, the indices of shards that they are
 * in and that are not there (shards.h). A chunk is claimed when it is requested. So a reader waits
 * for its own requests and for chunks that others have requested already, never for anybody's
 * decision; and a read that is called from the progress callback of another waits for nobody.
 *
 * Read before this: cache.h, array_object.h.
 */
#ifndef REFS_LOAD_H
#define REFS_LOAD_H

#include "array_object.h"

/** The destination of the chunks of one array. */
typedef struct refs_delivery {
    refs_array *array;

    /** Receives the elements of chunk `item`, in this machine's byte order, or NULL where the
     * chunk is absent; on any thread. NULL: chunks only go to the cache. */
    void (*deliver)(void *user, uint64_t item, const uint8_t *elements);

    /** If all elements of chunk `item` are needed in their order: it is decoded there, and neither
     * delivered nor kept. NULL: nowhere; or no such function. */
    uint8_t *(*place)(void *user, uint64_t item);
    void *user;
} refs_delivery;

/** A chunk that a reader waits for. */
typedef struct refs_wanted {
    const refs_delivery *to;
    uint64_t item;   /**< what `to` knows it by */
    uint64_t number; /**< in the array */
} refs_wanted;

/** The observer of a load. */
typedef struct refs_load_watch {
    const refs_progress *progress; /**< or NULL */

    /** Called on the thread that loads when it waits for no bytes of its own any more, though some
     * may still be decoded, and `n_busy` chunks are on their way for others. Or NULL. */
    void (*arrived)(void *user, size_t n_busy);

    /** Told of the bytes that the chunks of a mosaic's pieces take, before they are loaded. Or
     * NULL.
     */
    void (*takes)(void *user, uint64_t bytes);
    void *user;
} refs_load_watch;

/** Loads `n` chunks, of one array or several that share their context, and delivers each once.
 * Changes the order of `wanted`. `watch` may be NULL; REFS_CANCELLED where its progress says so. */
refs_status refs_array__load(refs_wanted *wanted, size_t n, const refs_load_watch *watch,
                             refs_error *err);

/** The prefetching reader. All functions are called on any thread. */
typedef struct refs_prefetcher {
    refs_array *array; /**< that its reader reads: it may be a mosaic of others */
    bool (*is_wanted)(void *user, uint64_t box); /**< still, after it was claimed */
    bool (*is_near)(void *user, uint64_t box);   /**< so near that it is to be decoded now */
    bool (*has_ended)(void *user);               /**< what is on its way is in the way of others */
    void *user;
} refs_prefetcher;

/** A chunk that is prefetched, of box `box`. */
typedef struct refs_ahead_chunk {
    refs_array *array;
    uint64_t number;
    uint64_t box;
} refs_ahead_chunk;

/** Loads those of `n` chunks that are neither there nor on their way: to the cache, as stored bytes
 * unless they are near or awaited. Requests under way when `who` has ended are cancelled, unless a
 * reader waits for them. Changes the order of `expected`. A read of a chunk that failed meets the
 * failure. */
void refs_array__load_ahead(const refs_prefetcher *who, refs_ahead_chunk *expected, size_t n);

/** Decodes chunk `number`, if its stored bytes are in the cache. */
void refs_array__decode_stored(refs_array *array, uint64_t number);

#endif
