/* chunk_index.h -- where the chunks of one array are, sixteen bytes each. */
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

/** Chunks that lie in steps of equal size: chunk `at` begins at `offset` plus the sum of at[i]
 * times steps[i]. */
typedef struct refs_chunk_steps {
    uint64_t offset;
    uint64_t steps[REFS_SCAN_MAX_RANK];
    uint64_t length;  /**< of each chunk, in bytes … */
    size_t short_dim; /**< … but of the last along this dimension, where below the rank: … */
    uint64_t last_length; /**< … that has so many */
    uint64_t max_end;     /**< size of the file if it is known, else 0 */
} refs_chunk_steps;

/** The index of an array of n[0] times n[1] … chunks, slowest dimension first. */
typedef struct refs_chunk_index {
    size_t rank;
    uint64_t n[REFS_SCAN_MAX_RANK];
    uint64_t n_chunks; /**< all of them together */
    uint32_t location_id;
    refs_buf inline_bytes;
    refs_chunk_steps *steps;   /**< where all is said in steps: there are no entries then */
    refs_index_entry *entries; /**< one for each chunk where `numbers` is NULL */
    uint32_t *locations;       /**< of each entry where they are not all the same, else NULL */
    uint64_t *numbers;         /**< chunk numbers of the entries, ascending once it is finished */
    size_t n_entries, capacity;
} refs_chunk_index;

/** An empty index for arrays of that shape in chunks of that shape. Few chunks get a place each;
 * of many, only those that are added, so that an array may have more chunks than memory holds: who
 * adds them holds their number against max_chunks (scan.h). REFS_LIMIT where their number
 * overflows.
 */
refs_status refs_chunk_index_init(refs_chunk_index *index, size_t rank, const uint64_t *shape,
                                  const uint64_t *chunks, refs_error *err);
void refs_chunk_index_clear(refs_chunk_index *index);

/** The number of chunk `at`, counted with the last dimension fastest; false where it is outside. */
bool refs_chunk_index_number(const refs_chunk_index *index, const uint64_t *at, uint64_t *number);

/** Adds chunk `number`, of which there is none yet, or replaces it. REFS_CORRUPT where the length
 * or the mask cannot be kept. */
refs_status refs_chunk_index_add(refs_chunk_index *index, uint64_t number, refs_source_range place,
                                 uint32_t filter_mask, refs_error *err);

/** Adds chunk `number` with bytes that are kept in the index itself; `location_id` must be
 * REFS_SCAN_INLINE. */
refs_status refs_chunk_index_add_inline(refs_chunk_index *index, uint64_t number, refs_bytes bytes,
                                        refs_error *err);

/** Adds chunk `number` with a location of its own. REFS_LIMIT of arrays of so many chunks that not
 * all have a place. */
refs_status refs_chunk_index_add_elsewhere(refs_chunk_index *index, uint64_t number,
                                           refs_index_entry entry, uint32_t location_id,
                                           refs_error *err);

/** The location of a chunk that was found. */
uint32_t refs_chunk_index_location(const refs_chunk_index *index, uint64_t number);

/** Says in steps where all chunks are, without adding any. REFS_CORRUPT where they leave the
 * numbers that offsets have, or the length cannot be kept. */
refs_status refs_chunk_index_in_steps(refs_chunk_index *index, const refs_chunk_steps *steps,
                                      refs_error *err);

/** Ends adding. REFS_CORRUPT where a chunk was added twice. */
refs_status refs_chunk_index_finish(refs_chunk_index *index, refs_error *err);

/** Finds the entry of a chunk; false where it was never written. */
bool refs_chunk_index_find(const refs_chunk_index *index, uint64_t number, refs_index_entry *entry);

/** Moves `number` to the first chunk at or after it that was written; false where there is none.
 * Chunks that were never written cost nothing in arrays where not all have a place. */
bool refs_chunk_index_next(const refs_chunk_index *index, uint64_t *number);

/** REFS_CORRUPT if the last chunk ends behind the `max_end` of its steps: steps cost nothing to
 * declare, so a walk of more than the file has does not begin. */
refs_status refs_chunk_index_check_end(const refs_chunk_index *index, refs_error *err);

#endif
