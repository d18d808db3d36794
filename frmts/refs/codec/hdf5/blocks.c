/* blocks.c -- see blocks.h. */
#include "blocks.h"

#define HEADER_SIZE 12

refs_status refs_codec__blocks_begin(refs_bytes encoded, refs_blocks *blocks, refs_error *err) {
    if (encoded.size < HEADER_SIZE)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are too few for a header", encoded.size);
    uint64_t decoded_size = refs_load_be64(encoded.data);
    if (decoded_size > SIZE_MAX / 2)
        return refs_fail(err, REFS_CORRUPT,
                         "the header declares %llu bytes, more than the limit of %zu",
                         (unsigned long long)decoded_size, SIZE_MAX / 2);
    blocks->decoded_size = (size_t)decoded_size;
    blocks->block_size = refs_load_be32(encoded.data + 8);
    blocks->rest = refs_bytes_view(encoded.data + HEADER_SIZE, encoded.size - HEADER_SIZE);
    return REFS_OK;
}

refs_status refs_codec__blocks_next(refs_blocks *blocks, refs_bytes *block, refs_error *err) {
    refs_bytes rest = blocks->rest;
    if (rest.size < 4 || refs_load_be32(rest.data) > rest.size - 4)
        return refs_fail(err, REFS_CORRUPT, "a block is truncated %zu bytes before the end",
                         rest.size);
    *block = refs_bytes_view(rest.data + 4, refs_load_be32(rest.data));
    blocks->rest = refs_bytes_view(block->data + block->size, rest.size - 4 - block->size);
    return REFS_OK;
}
