/* gaps.h -- chunks that arrive without being requested.
 *
 * A request includes a small gap between two ranges (fetch.h), and small chunks may be in such
 * gaps. They are cached as stored bytes: otherwise a reader of a raster by columns or tiles would
 * fetch the same bytes again and again.
 *
 * Chunks in gaps are not known before requests are planned. These functions guess, and the plan
 * uses the right guesses.
 *
 * Pure functions. */
#ifndef REFS_GAPS_H
#define REFS_GAPS_H

#include "refs/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Limit of guessed chunks for one fetch. */
#define REFS_MAX_GAP_CHUNKS 4096

/** A chunk that may lie in a gap. */
typedef struct refs_gap_chunk {
    uint64_t number;
    refs_store_part part; /**< its part of a shard; zeroed: it is in none */
} refs_gap_chunk;

/** Lists the chunks between two of `n` chunks that are at most `max_gap` apart, if chunks are
 * stored in order. Sorts `numbers`. Returns the number written to `between`: ascending, each once,
 * none of `numbers`, and at most REFS_MAX_GAP_CHUNKS, for which there must be space. */
size_t refs_gaps__between(uint64_t *numbers, size_t n, uint64_t max_gap, refs_gap_chunk *between);

/** Lists all `n` chunks of an array, which may be stored in any order, if there are at most
 * REFS_MAX_GAP_CHUNKS; else none. */
size_t refs_gaps__all(uint64_t n, refs_gap_chunk *all);

#ifdef __cplusplus
}
#endif
#endif
