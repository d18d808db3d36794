/* array_object.h -- what an opened array is made of, for the files of this module.
 *
 * Read before this: array_internal.h, cache.h, stride.h.
 */
#ifndef REFS_ARRAY_OBJECT_H
#define REFS_ARRAY_OBJECT_H

#include <stdatomic.h>

#include "array_internal.h"
#include "cache.h"
#include "refs/codec.h"
#include "refs/fork.h"
#include "refs/store.h"
#include "stride.h"

/* -- scratch.c: working memory of threads ------------------------------------------------------ */

/** Scratches that no thread uses now. */
typedef struct refs_scratch_list {
    pthread_mutex_t lock; /* guards what follows */
    struct refs_scratch_node *first;
} refs_scratch_list;

typedef struct refs_scratch_node {
    refs_scratch scratch;
    struct refs_scratch_node *next;
} refs_scratch_node;

void refs_scratch_list__init(refs_scratch_list *list);
void refs_scratch_list__clear(refs_scratch_list *list);

/** A scratch for the calling thread until it puts it back; NULL when memory ran out. */
refs_scratch_node *refs_scratch_list__take(refs_scratch_list *list);
void refs_scratch_list__put(refs_scratch_list *list, refs_scratch_node *node);

/** Lets go of the memory of those that nobody uses now. */
void refs_scratch_list__forget(refs_scratch_list *list);

/* -- tasks.c: what runs on other threads ------------------------------------------------------- */

/** Counts tasks that nobody waits for until the array is freed. */
typedef struct refs_tasks {
    refs_forked forked;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ended;
    size_t n;
} refs_tasks;

void refs_tasks__init(refs_tasks *tasks);

/** Waits for all tasks. */
void refs_tasks__clear(refs_tasks *tasks);

void refs_tasks__begin(refs_tasks *tasks);
void refs_tasks__end(refs_tasks *tasks);

/* -- the array --------------------------------------------------------------------------------- */

struct refs_shards;

struct refs_array {
    refs_array_context context;
    const refs_array_meta *meta;   /**< its chunks are what is loaded at a time */
    const refs_array_meta *stored; /**< what it was opened with: the same, or slices.h says why */
    refs_array_meta sliced; /**< of an array that is read by slices; and how many are in a … */
    refs_shard_meta slices; /**< … stored chunk */
    struct refs_shards *shards; /**< NULL where chunks are stored one by one */
    refs_mosaic mosaic;         /**< zeroed where the array has chunks of its own */
    refs_grid grid;
    uint64_t owner; /**< of chunks in the cache */
    size_t chunk_elements;
    size_t chunk_bytes;
    uint64_t max_stored;           /**< the most bytes that a chunk may have as it is stored */
    int64_t stride[REFS_MAX_RANK]; /**< bytes between neighbours inside a chunk */
    refs_chain *chain;             /**< NULL where the codecs are unknown, and … */
    refs_error chain_error;        /**< … this says why */
    refs_scratch_list scratches;
    refs_tasks tasks;    /**< that prefetch */
    _Atomic bool ending; /**< they are not wanted any more */
    _Atomic uint64_t
        n_fetches; /**< by readers: they count, so that what they left gets out of the way */
    _Atomic uint64_t chunks_decoded, chunks_absent, cache_hits, bytes_copied;
    _Atomic uint64_t chunks_stored, bytes_stored; /**< that arrived, for estimates */
};

/** Bytes of a chunk as it is stored, an average of those that arrived; at least 1. */
uint64_t refs_array__mean_stored(const struct refs_array *array);

/** Reads all elements, `*n` and at most `max_elements` of them, tightly packed. */
refs_status refs_array__read_elements(struct refs_array *array, uint64_t max_elements,
                                      refs_buf *elements, size_t *n, refs_error *err);

/* -- keys.c ------------------------------------------------------------------------------------ */

/** Keys of chunks. */
typedef struct refs_key_list {
    refs_store_key *keys;
    size_t n;
    refs_buf text; /* of all keys, end to end */
    size_t *ends;  /* where each ends there */
} refs_key_list;

#define REFS_KEY_LIST_INIT                                                                         \
    (refs_key_list) {                                                                              \
        NULL, 0, REFS_BUF_INIT, NULL                                                               \
    }

/** An empty list with room for `max` keys; to be cleared, also after a failure. */
refs_status refs_key_list__open(refs_key_list *list, size_t max, refs_error *err);
void refs_key_list__clear(refs_key_list *list);

/** Adds the key of the chunk at `index`, or of its shard, that may be as long as a chunk of
 * `array`, or of the chunk that it is a slice of: the last one of list->keys is to be changed where
 * that, or the part, is another. */
refs_status refs_key_list__add(refs_key_list *list, const refs_array *array, const uint64_t *index,
                               refs_error *err);

/** The keys, as long as none is added. */
const refs_store_key *refs_key_list__view(refs_key_list *list);

/* -- decode.c ---------------------------------------------------------------------------------- */

/** Decodes chunk `number` of the array to `elements`, which has room for array->chunk_bytes, in
 * this machine's byte order. */
refs_status refs_array__decode(struct refs_array *array, uint64_t number, const refs_stored *stored,
                               uint8_t *elements, refs_error *err);

/** Sets *chain to what decodes chunks with a filter mask, and *made to NULL or to the same, for the
 * caller to free: masks are rare. REFS_CORRUPT where it is for codecs that there are not. */
refs_status refs_array__chain_for(const struct refs_array *array, uint32_t filter_mask,
                                  const refs_chain **chain, refs_chain **made, refs_error *err);

/* -- array.c ----------------------------------------------------------------------------------- */

/** Works like refs_array_open, for an array whose chunks are not to be read by slices. */
refs_status refs_array__open_unsliced(const refs_array_context *context,
                                      const refs_array_meta *meta, struct refs_array **array,
                                      refs_error *err);

/** Makes a chain of the array's codecs without those of a filter mask. */
refs_status refs_array__open_chain(const struct refs_array *array, uint32_t filter_mask,
                                   refs_chain **chain, refs_error *err);

#endif
