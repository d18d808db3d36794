/* parquet_set.h -- the chunk source of sets that are folders of Parquet files.
 *
 * ".zmetadata" holds all metadata; the reference of chunk number n of an array (see chunk_grid.h)
 * is row n % record_size of "<array>/refs.<n / record_size>.parq". A record file is read when a
 * chunk in it is requested; see block_cache.h.
 */
#ifndef REFS_REFERENCES_PARQUET_PARQUET_SET_H
#define REFS_REFERENCES_PARQUET_PARQUET_SET_H

#include "chunk_key.h"
#include "refs/json.h"
#include "refs/refset.h"
#include "set_state.h"

typedef struct refs_parquet_set refs_parquet_set;

/** The source of such a set. */
typedef struct refs_parquet_source {
    const refs_vfs *vfs;
    refs_str folder; /**< its location, without a trailing slash */
    const refs_json *document;
    const refs_set_options *options;
    refs_set_state *state; /**< ownership passes to the set, also on failure */
} refs_parquet_source;

/** Adds the metadata in the document to `builder` and makes the chunk source. Only the vfs of
 * `source` must outlive it. */
refs_status refs_references__parquet_open(const refs_parquet_source *source,
                                          refs_set_builder *builder, refs_parquet_set **set,
                                          refs_error *err);
void refs_references__parquet_free(void *self);

/* The functions of a refs_chunk_source (set.h); `self` is a refs_parquet_set. */

/** Finds the reference of chunk `key`. REFS_NOT_FOUND without a message: absent, or not a chunk of
 * an array. Safe from any thread. */
refs_status refs_references__parquet_find(void *self, const refs_split_key *key, refs_ref *ref,
                                          refs_error *err);

/** Works like refs_set_each_chunk; for one thread at a time. */
refs_status refs_references__parquet_each(void *self, const refs_chunk_keys *keys,
                                          const refs_chunk_visitor *visitor, refs_error *err);

/** Works like refs_set_first_chunk. */
refs_status refs_references__parquet_first(void *self, const refs_chunk_keys *keys, uint64_t *index,
                                           refs_error *err);

/** The number of distinct locations found so far. */
uint32_t refs_references__parquet_n_locations(void *self);

#endif
