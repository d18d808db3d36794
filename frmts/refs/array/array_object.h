/* array_object.h -- what an opened array is made of, for the files of this room.
 *
 * Read before this: array_internal.h.
 */
#ifndef REFS_ARRAY_OBJECT_H
#define REFS_ARRAY_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>

#include "array_internal.h"
#include "refs/codec.h"
#include "refs/store.h"

/* -- scratch.c: working memory of threads -- */

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

/* -- the array -- */

struct refs_array {
    refs_array_tools tools;
    const refs_array_meta *meta;
    uint64_t owner; /**< of chunks in the cache */
    size_t chunk_elements;
    size_t chunk_bytes;
    int64_t stride[REFS_MAX_RANK]; /**< bytes between neighbours inside a chunk */
    refs_chain *chain;             /**< NULL where the codecs are unknown, and … */
    refs_error chain_error;        /**< … this says why */
    refs_scratch_list scratches;
    _Atomic uint64_t chunks_decoded, chunks_absent, cache_hits;
};

#endif
