/* array_object.h -- an open array, for the files of this module.
 *
 * Read before this: array_internal.h, cache.h, stride.h. */
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

/** Scratch memory that no thread uses now. */
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

/** Scratch memory for the calling thread until it is put back; NULL if memory ran out. */
refs_scratch_node *refs_scratch_list__take(refs_scratch_list *list);
void refs_scratch_list__put(refs_scratch_list *list, refs_scratch_node *node);

/** Frees scratch memory that is not in use. */
void refs_scratch_list__forget(refs_scratch_list *list);

/* -- tasks.c: what runs on other threads ------------------------------------------------------- */

/** Counts background tasks, which only refs_array_free waits for. */
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
    const refs_array_meta *meta; /**< its chunks are the unit of loading */
    const refs_array_meta
        *stored; /**< the metadata of the set: the same, or those before slicing (slices.h) */
    refs_array_meta sliced; /**< of an array that is read by slices, and the number of slices … */
    refs_shard_meta slices; /**< … of a stored chunk */
    struct refs_shards *shards; /**< NULL: chunks are not in shards */
    refs_mosaic mosaic;         /**< zeroed if the array has its own chunks */
    refs_grid grid;
    uint64_t owner; /**< owner of its chunks in the cache */
    size_t chunk_elements;
    size_t chunk_bytes;
    uint64_t max_stored;           /**< most bytes of a stored chunk */
    int64_t stride[REFS_MAX_RANK]; /**< bytes between neighbours inside a chunk */
    refs_chain *chain;             /**< NULL: the codecs are unknown, … */
    refs_error chain_error;        /**< … for this reason */
    refs_scratch_list scratches;
    refs_tasks tasks;    /**< prefetching tasks */
    _Atomic bool ending; /**< they should end */
    _Atomic uint64_t
        n_fetches; /**< number of readers' fetches; shows prefetchers that readers have moved on */
    _Atomic uint64_t chunks_decoded, chunks_absent, cache_hits, bytes_copied;
    _Atomic uint64_t chunks_stored, bytes_stored; /**< received so far, for estimates */
};

/** The average size of the received stored chunks; at least 1. */
uint64_t refs_array__mean_stored(const struct refs_array *array);

/** Reads all elements, tightly packed; sets *n to their number, which may be at most
 * `max_elements`. */
refs_status refs_array__read_elements(struct refs_array *array, uint64_t max_elements,
                                      refs_buf *elements, size_t *n, refs_error *err);

/* -- keys.c ------------------------------------------------------------------------------------ */

/** Keys of chunks. */
typedef struct refs_key_list {
    refs_store_key *keys;
    size_t n;
    refs_buf text; /* of all keys, end to end */
    size_t *ends;  /* end of each key in `text` */
} refs_key_list;

#define REFS_KEY_LIST_INIT                                                                         \
    (refs_key_list) {                                                                              \
        NULL, 0, REFS_BUF_INIT, NULL                                                               \
    }

/** Makes an empty list for `max` keys. Clear it even after a failure. */
refs_status refs_key_list__open(refs_key_list *list, size_t max, refs_error *err);
void refs_key_list__clear(refs_key_list *list);

/** Adds the key of the chunk at `index`, or of its shard. Its size limit is that of a chunk of
 * `array`, or of the stored chunk of a slice. To use another limit or part, change the last item of
 * list->keys. */
refs_status refs_key_list__add(refs_key_list *list, const refs_array *array, const uint64_t *index,
                               refs_error *err);

/** The keys; valid until another one is added. */
const refs_store_key *refs_key_list__view(refs_key_list *list);

/* -- decode.c ---------------------------------------------------------------------------------- */

/** Decodes chunk `number` of the array to `elements`, which has room for array->chunk_bytes, in
 * this machine's byte order. */
refs_status refs_array__decode(struct refs_array *array, uint64_t number, const refs_stored *stored,
                               uint8_t *elements, refs_error *err);

/** Sets *chain to the codecs for chunks with a filter mask. *made is NULL or the same chain, for
 * the caller to free (masks are rare). REFS_CORRUPT if the mask has bits for codecs that do not
 * exist. */
refs_status refs_array__chain_for(const struct refs_array *array, uint32_t filter_mask,
                                  const refs_chain **chain, refs_chain **made, refs_error *err);

/* -- array.c ----------------------------------------------------------------------------------- */

/** Works like refs_array_open, without reading chunks by slices. */
refs_status refs_array__open_unsliced(const refs_array_context *context,
                                      const refs_array_meta *meta, struct refs_array **array,
                                      refs_error *err);

/** Makes a chain of the array's codecs without those of a filter mask. */
refs_status refs_array__open_chain(const struct refs_array *array, uint32_t filter_mask,
                                   refs_chain **chain, refs_error *err);

#endif
