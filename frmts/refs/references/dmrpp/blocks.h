/* blocks.h -- chunks that are stored in several pieces, such as HDF4's linked blocks.
 *
 * A reference has only one range, so such chunks are read and concatenated on demand, and returned
 * as inline values.
 */
#ifndef REFS_REFERENCES_DMRPP_BLOCKS_H
#define REFS_REFERENCES_DMRPP_BLOCKS_H

#include "refs/vfs.h"
#include "set.h"

/** Most bytes of a chunk in pieces. */
#define REFS_BLOCKS_MAX_BYTES (1024 * REFS_MIB)

typedef struct refs_block_piece {
    uint64_t offset, length;
    uint32_t file; /**< number returned by refs_references__blocks_file */
} refs_block_piece;

typedef struct refs_blocks refs_blocks;

/** `vfs` must outlive it. */
refs_status refs_references__blocks_new(const refs_vfs *vfs, refs_blocks **blocks, refs_error *err);
void refs_references__blocks_free(refs_blocks *blocks);

/** Sets *file to the number of a file, by its URL as for the builder of a set. */
refs_status refs_references__blocks_file(refs_blocks *blocks, refs_str url, uint32_t *file,
                                         refs_error *err);

/** Adds the chunk with this key, whose pieces are concatenated. REFS_LIMIT if it is too large. */
refs_status refs_references__blocks_add(refs_blocks *blocks, refs_str key,
                                        const refs_block_piece *pieces, size_t n, refs_error *err);

bool refs_references__blocks_are_none(const refs_blocks *blocks);

/** Makes `set` find these chunks, too; takes ownership of `blocks`, also on failure. */
refs_status refs_references__blocks_join(refs_blocks *blocks, const refs_url_context *context,
                                         refs_set *set, refs_error *err);

#endif
