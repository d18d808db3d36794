/* manifest.h -- one manifest: where chunks of arrays are.
 *
 * Arrays are sorted by the ids of their nodes, references by the index of the
 * chunk: both are searched by halves. Before it is said that a chunk is absent,
 * it is once looked whether the references of its array do ascend: those of a
 * manifest that was written wrong would else be fill values. All references shall lie in the part
 * of the grid that the snapshot says the manifest covers, and the one that was found between its
 * neighbours.
 *
 * Source: manifest.fbs of the Icechunk specification. Safe from any thread.
 */
#ifndef REFS_REFERENCES_ICECHUNK_MANIFEST_H
#define REFS_REFERENCES_ICECHUNK_MANIFEST_H

#include "icechunk/snapshot.h"
#include "refs/block_cache.h"

/** Reads the file of manifest number `number` of the snapshot into a block, held once. It shall
 * have the size, and as many references, as the snapshot says. */
refs_status refs_icechunk__manifest_read(const refs_icechunk_source *source,
                                         const refs_icechunk_snapshot *snapshot, uint32_t number,
                                         refs_loaded_block *loaded, refs_error *err);

/** Finds a chunk in the manifest that `block` holds, of which the chunk takes another hold.
 * REFS_NOT_FOUND without a message: it is not there. */
refs_status refs_icechunk__manifest_find(const refs_icechunk_source *source, refs_block *block,
                                         const refs_icechunk_wanted *wanted,
                                         refs_icechunk_chunk *chunk, refs_error *err);

/** Has `visitor` visit the index of each chunk of the array that the manifest lists, in its order;
 * `wanted->index` is not read. */
refs_status refs_icechunk__manifest_each_index(refs_block *block,
                                               const refs_icechunk_wanted *wanted,
                                               const refs_icechunk_index_visitor *visitor,
                                               refs_error *err);

#endif
