/* chunk_grid.h -- the numbers of an array's chunks, which are the rows of record files.
 *
 * Chunks are numbered in C order; a scalar has one chunk, number 0, whose key is "0". A key with an
 * index that is out of bounds or of another rank has no number.
 */
#ifndef REFS_REFERENCES_CHUNK_GRID_H
#define REFS_REFERENCES_CHUNK_GRID_H

#include "chunk_key.h"
#include "refs/json.h"

/** Zeroed is the grid of a scalar. */
typedef struct refs_chunk_grid {
    size_t rank;
    uint64_t n_chunks[REFS_CHUNK_MAX_RANK];
} refs_chunk_grid;

/** Reads the grid from the metadata of an array (version 2). Fails if it has no valid grid, if the
 * number of chunks overflows, or if chunk keys have slashes. */
refs_status refs_references__chunk_grid_read(const refs_json *zarray, refs_chunk_grid *grid,
                                             refs_error *err);

/** The number of chunks. */
uint64_t refs_references__chunk_grid_total(const refs_chunk_grid *grid);

/** The number of the chunk whose key is `prefix` and an index with dots; false if there is none.
 */
bool refs_references__chunk_grid_number(const refs_chunk_grid *grid, const refs_split_key *key,
                                        refs_str prefix, uint64_t *number);

#endif
