/* lz4h5.c -- codec "imagecodecs_lz4h5": LZ4 blocks as the HDF5 filter 32004 frames them. Blocks
 * that would not become smaller are stored as they are. */
#include <limits.h>
#include <lz4.h>

#include "blocks.h"

static refs_status decode_block(refs_bytes block, uint8_t *dst, size_t size, refs_error *err) {
    if (block.size == size) {
        memcpy(dst, block.data, size);
        return REFS_OK;
    }
    if (block.size > INT_MAX || size > INT_MAX ||
        LZ4_decompress_safe((const char *)block.data, (char *)dst, (int)block.size, (int)size) !=
            (int)size)
        return refs_fail(err, REFS_CORRUPT, "a block of %zu bytes does not decode to %zu",
                         block.size, size);
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    refs_blocks blocks;
    uint8_t *dst;
    REFS_TRY(refs_codec__blocks_begin(encoded, &blocks, err));
    if (blocks.block_size == 0)
        return refs_fail(err, REFS_CORRUPT, "the header declares blocks of 0 bytes");
    REFS_TRY(refs_codec__output_add(output, blocks.decoded_size, &dst, err));
    for (size_t at = 0; at < blocks.decoded_size; at += blocks.block_size) {
        size_t left = blocks.decoded_size - at;
        refs_bytes block;
        REFS_TRY(refs_codec__blocks_next(&blocks, &block, err));
        REFS_TRY(decode_block(block, dst + at, left < blocks.block_size ? left : blocks.block_size,
                              err));
    }
    return REFS_OK;
}

static const char *const aliases[] = {"lz4h5", "hdf5_lz4", NULL};

const refs_codec_type refs_codec_lz4h5 = {.name = "imagecodecs_lz4h5",
                                          .aliases = aliases,
                                          .reads = "HDF5 filter 32004: LZ4 in blocks",
                                          .library = "liblz4",
                                          .decode = decode};
