/* manifest.h -- one manifest: references to chunks of arrays.
 *
 * Arrays are sorted by the ids of their nodes, references by the index of the chunk, so both are
 * found by binary search. Before a chunk is reported as absent for the first time, the order of its
 * array's references is checked: in an unsorted manifest, existing chunks would otherwise be read
 * as fill values. References must be in the region of the grid that the snapshot states for the
 * manifest, and a found one in order with its neighbours.
 *
 * Source: manifest.fbs of the Icechunk specification. Safe from any thread.
 */
#ifndef REFS_REFERENCES_ICECHUNK_MANIFEST_H
#define REFS_REFERENCES_ICECHUNK_MANIFEST_H

#include "icechunk/snapshot.h"
#include "refs/block_cache.h"

/** Reads the file of manifest number `number` of the snapshot into a block, held once. It must have
 * the size and the number of references that the snapshot states. */
refs_status refs_icechunk__manifest_read(const refs_icechunk_source *source,
                                         const refs_icechunk_snapshot *snapshot, uint32_t number,
                                         refs_loaded_block *loaded, refs_error *err);

/** Finds a chunk in the manifest in `block`, which the chunk then also holds. REFS_NOT_FOUND
 * without a message: absent. */
refs_status refs_icechunk__manifest_find(const refs_icechunk_source *source, refs_block *block,
                                         const refs_icechunk_wanted *wanted,
                                         refs_icechunk_chunk *chunk, refs_error *err);

/** Calls `visitor` with the index of each chunk of the array in the manifest, in its order;
 * `wanted->index` is not read. */
refs_status refs_icechunk__manifest_each_index(refs_block *block,
                                               const refs_icechunk_wanted *wanted,
                                               const refs_icechunk_index_visitor *visitor,
                                               refs_error *err);

#endif
