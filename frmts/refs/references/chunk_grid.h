/* chunk_grid.h -- the chunks of an array, numbered: what record files are ordered by.
 *
 * Chunks are counted in C order over the grid, and a scalar has the one chunk
 * number 0, called "0". A key that is not a chunk of the grid has no number: an index that is out
 * of bounds or of another rank never stands for some other chunk.
 */
#ifndef REFS_REFERENCES_CHUNK_GRID_H
#define REFS_REFERENCES_CHUNK_GRID_H

#include "chunk_key.h"
#include "refs/json.h"

/** Zeroed has the one chunk of a scalar. */
typedef struct refs_chunk_grid {
    size_t rank;
    uint64_t n_chunks[REFS_CHUNK_MAX_RANK];
} refs_chunk_grid;

/** The grid that the metadata of an array (version 2) describe. Fails where there is none whose
 * chunks can be counted, and where keys have slashes between their numbers. */
refs_status refs_references__chunk_grid_read(const refs_json *zarray, refs_chunk_grid *grid,
                                             refs_error *err);

/** Chunks in all. */
uint64_t refs_references__chunk_grid_total(const refs_chunk_grid *grid);

/** The number of the chunk whose key is `prefix` and an index with dots; false where there is none.
 */
bool refs_references__chunk_grid_number(const refs_chunk_grid *grid, const refs_chunk_key *key,
                                        refs_str prefix, uint64_t *number);

#endif
