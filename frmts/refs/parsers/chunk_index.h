/* chunk_index.h -- the chunk index of one array, in sixteen bytes per chunk. */
#ifndef REFS_PARSERS_CHUNK_INDEX_H
#define REFS_PARSERS_CHUNK_INDEX_H

#include "refs/bytes.h"
#include "source.h"

#define REFS_SCAN_MAX_RANK 32

/** `location_id` of an index whose offsets are in `inline_bytes`. */
#define REFS_SCAN_INLINE UINT32_MAX

typedef struct refs_index_entry {
    uint64_t offset;
    uint64_t length : 48; /**< 0: the chunk was never written */
    uint64_t filter_mask : 16;
} refs_index_entry;

/** Chunks at regular offsets: chunk `at` begins at `offset` plus the sum of at[i] times
 * steps[i]. */
typedef struct refs_chunk_steps {
    uint64_t offset;
    uint64_t steps[REFS_SCAN_MAX_RANK];
    uint64_t length;  /**< of each chunk, in bytes … */
    size_t short_dim; /**< … but of the last one along this dimension, if that is below the rank,
                         … */
    uint64_t last_length; /**< … which has this length */
    uint64_t max_end;     /**< size of the file if it is known, else 0 */
} refs_chunk_steps;

/** The index of an array of n[0] times n[1] … chunks, slowest dimension first. */
typedef struct refs_chunk_index {
    size_t rank;
    uint64_t n[REFS_SCAN_MAX_RANK];
    uint64_t n_chunks; /**< the product of n[] */
    uint32_t location_id;
    refs_buf inline_bytes;
    refs_chunk_steps *steps;   /**< or NULL; if set, there are no entries */
    refs_index_entry *entries; /**< one for each chunk if `numbers` is NULL */
    uint32_t *locations;       /**< one for each entry, or NULL: all in location_id */
    uint64_t *numbers;         /**< chunk numbers of the entries, ascending in a finished index; or
                                  NULL */
    size_t n_entries, capacity;
} refs_chunk_index;

/** Makes an empty index for an array of `shape` in chunks of shape `chunks`. A small index has an
 * entry for each chunk, a large one only for those that are added, so that an array may have more
 * chunks than fit into memory: callers compare the number of added chunks with max_chunks (scan.h).
 * REFS_LIMIT if the number of chunks overflows.
 */
refs_status refs_chunk_index_init(refs_chunk_index *index, size_t rank, const uint64_t *shape,
                                  const uint64_t *chunks, refs_error *err);
void refs_chunk_index_clear(refs_chunk_index *index);

/** Sets *number to the number of chunk `at` in C order; false if it is outside the grid. */
bool refs_chunk_index_number(const refs_chunk_index *index, const uint64_t *at, uint64_t *number);

/** Adds or replaces chunk `number`. REFS_CORRUPT if the length or the mask does not fit into an
 * entry. */
refs_status refs_chunk_index_add(refs_chunk_index *index, uint64_t number, refs_source_range place,
                                 uint32_t filter_mask, refs_error *err);

/** Adds chunk `number` with bytes that the index copies; `location_id` must be REFS_SCAN_INLINE. */
refs_status refs_chunk_index_add_inline(refs_chunk_index *index, uint64_t number, refs_bytes bytes,
                                        refs_error *err);

/** Adds chunk `number` with its own location. REFS_LIMIT for a large array, whose index does not
 * have an entry for each chunk. */
refs_status refs_chunk_index_add_elsewhere(refs_chunk_index *index, uint64_t number,
                                           refs_index_entry entry, uint32_t location_id,
                                           refs_error *err);

/** The location of a chunk that refs_chunk_index_find found. */
uint32_t refs_chunk_index_location(const refs_chunk_index *index, uint64_t number);

/** Describes all chunks by their steps, without entries. REFS_CORRUPT if an offset overflows, or
 * the length does not fit into an entry. */
refs_status refs_chunk_index_in_steps(refs_chunk_index *index, const refs_chunk_steps *steps,
                                      refs_error *err);

/** Completes the index. REFS_CORRUPT if a chunk was added twice. */
refs_status refs_chunk_index_finish(refs_chunk_index *index, refs_error *err);

/** Finds the entry of a chunk; false if it was never written. */
bool refs_chunk_index_find(const refs_chunk_index *index, uint64_t number, refs_index_entry *entry);

/** Moves `number` to the first chunk at or after it that was written; false if there is none.
 * Skipping unwritten chunks takes no time in a large array, whose index only has entries of written
 * ones. */
bool refs_chunk_index_next(const refs_chunk_index *index, uint64_t *number);

/** REFS_CORRUPT if the last chunk ends after the `max_end` of its steps: a small damaged file can
 * declare any number of chunks by steps, and iterating over them must not begin. */
refs_status refs_chunk_index_check_end(const refs_chunk_index *index, refs_error *err);

#endif
