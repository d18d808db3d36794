/* chunk_grids.h -- the arrays of a set by their metadata: whose chunk a key is, and which.
 *
 * An array whose chunks cannot be counted is known too: its keys fail, and the
 * other arrays stay as they are. Once nobody adds, any number of threads may read.
 */
#ifndef REFS_REFERENCES_CHUNK_GRIDS_H
#define REFS_REFERENCES_CHUNK_GRIDS_H

#include "chunk_grid.h"
#include "refs/intern.h"

/** Zeroed is empty. */
typedef struct refs_chunk_grids {
    refs_intern prefixes; /**< of chunk keys: names of arrays with a slash after them */
    struct refs_grid_entry {
        refs_chunk_grid grid;
        refs_status status; /**< other than REFS_OK: there is no grid, because of … */
        char *problem;      /**< … this */
    } * entries;            /**< one for each prefix */
    size_t capacity;
} refs_chunk_grids;

void refs_references__chunk_grids_clear(refs_chunk_grids *grids);

/** Takes note of the array that metadata `json` under `key` describe; other keys are ignored. */
refs_status refs_references__chunk_grids_add(refs_chunk_grids *grids, refs_str key, refs_str json,
                                             refs_error *err);

/** Which chunk of which array. */
typedef struct refs_chunk_place {
    uint32_t array;
    uint64_t number;
} refs_chunk_place;

/** The chunk that `key` names. REFS_NOT_FOUND without a message: of no array, or not in its grid.
 * Other failures are what is wrong with the array. */
refs_status refs_references__chunk_grids_find(const refs_chunk_grids *grids,
                                              const refs_chunk_key *key, refs_chunk_place *place,
                                              refs_error *err);

/** Grid and prefix of an array that was found, the prefix with a NUL after it. */
const refs_chunk_grid *refs_references__chunk_grids_at(const refs_chunk_grids *grids,
                                                       uint32_t array);
refs_str refs_references__chunk_grids_prefix(const refs_chunk_grids *grids, uint32_t array);

#endif
