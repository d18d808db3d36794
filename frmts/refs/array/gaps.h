/* gaps.h -- chunks that nobody asked for and whose bytes come all the same.
 *
 * A request reaches over a small gap between two ranges (fetch.h). Where
 * chunks are small, chunks lie in such gaps: those between two that are
 * fetched, where chunks are stored in the order of their numbers. They are kept
 * as they are stored: who reads a raster column by column, or tile by tile,
 * would else fetch the same bytes again and again.
 *
 * Pure functions.
 */
#ifndef REFS_GAPS_H
#define REFS_GAPS_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Chunks in gaps that one fetch looks for, at most. */
#define REFS_MAX_GAP_CHUNKS 4096

/** Lists the numbers between those of `n` chunks, where two of them are no more than `max_gap`
 * apart; `numbers` are sorted for that. Returns how many were written to `between`: ascending, each
 * once, and none of `numbers`; REFS_MAX_GAP_CHUNKS at most, for which there must be room. */
size_t refs_gaps__list(uint64_t *numbers, size_t n, uint64_t max_gap, uint64_t *between);

#ifdef __cplusplus
}
#endif
#endif
