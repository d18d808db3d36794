/* chunk_grids.h -- the chunk grids of all arrays of a set: finds array and chunk number of a key.
 *
 * An array with an invalid grid is recorded, too: its keys fail, and other arrays are not affected.
 * After the last array was added, any number of threads may read.
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
        refs_status status; /**< not REFS_OK: there is no grid, … */
        char *problem;      /**< … for this reason */
    } * entries;            /**< one for each prefix */
    size_t capacity;
} refs_chunk_grids;

void refs_references__chunk_grids_clear(refs_chunk_grids *grids);

/** Adds the array whose metadata `json` is stored under `key`; other keys are ignored. */
refs_status refs_references__chunk_grids_add(refs_chunk_grids *grids, refs_str key, refs_str json,
                                             refs_error *err);

/** A chunk of an array. */
typedef struct refs_chunk_place {
    uint32_t array;
    uint64_t number;
} refs_chunk_place;

/** Finds the chunk with `key`. REFS_NOT_FOUND without a message: there is no such array, or no such
 * chunk in its grid. Other failures concern the array's metadata. */
refs_status refs_references__chunk_grids_find(const refs_chunk_grids *grids,
                                              const refs_split_key *key, refs_chunk_place *place,
                                              refs_error *err);

/** Grid and prefix of an array that was found, the prefix with a NUL after it. */
const refs_chunk_grid *refs_references__chunk_grids_at(const refs_chunk_grids *grids,
                                                       uint32_t array);
refs_str refs_references__chunk_grids_prefix(const refs_chunk_grids *grids, uint32_t array);

#endif
