/* gaps.h -- chunks that nobody asked for and whose bytes come all the same.
 *
 * A request reaches over a small gap between two ranges (fetch.h). If chunks are small, chunks lie
 * in such gaps. They are kept as they are stored: who reads a raster column by column, or tile by
 * tile, would else fetch the same bytes again and again.
 *
 * Which chunks lie in gaps nobody knows before requests are planned: these are
 * guesses, and the plan takes those that are right.
 *
 * Pure functions.
 */
#ifndef REFS_GAPS_H
#define REFS_GAPS_H

#include "refs/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Chunks in gaps that one fetch looks for, at most. */
#define REFS_MAX_GAP_CHUNKS 4096

/** A chunk that may lie in a gap. */
typedef struct refs_gap_chunk {
    uint64_t number;
    refs_store_part part; /**< that it is of a shard; zeroed: it is in none */
} refs_gap_chunk;

/** Lists the chunks between those of `n` chunks by number, as they lie where chunks are stored in
 * order, where two of them are no more than `max_gap` apart; `numbers` are sorted for that. Returns
 * how many were written to `between`: ascending, each once, and none of `numbers`;
 * REFS_MAX_GAP_CHUNKS at most, for which there must be room. */
size_t refs_gaps__between(uint64_t *numbers, size_t n, uint64_t max_gap, refs_gap_chunk *between);

/** Lists all chunks of an array of `n`, which may be stored in any order, if they are no more than
 * REFS_MAX_GAP_CHUNKS; else none. */
size_t refs_gaps__all(uint64_t n, refs_gap_chunk *all);

#ifdef __cplusplus
}
#endif
#endif
