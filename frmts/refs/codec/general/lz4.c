/* lz4.c -- codec "lz4": the decoded size in four bytes, little-endian, then one LZ4 block. This is
 * numcodecs' framing, neither LZ4's frame format nor that of the HDF5 filter. */
#include <limits.h>
#include <lz4.h>

#include "output.h"

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    if (encoded.size < 4 || encoded.size > INT_MAX)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes cannot be a size and a block", encoded.size);
    uint32_t size = refs_load_le32(encoded.data);
    if (size > INT_MAX)
        return refs_fail(err, REFS_CORRUPT, "a block cannot decode to %u bytes", (unsigned)size);
    uint8_t *at;
    REFS_TRY(refs_codec__output_add(output, size, &at, err));
    int got = LZ4_decompress_safe((const char *)encoded.data + 4, (char *)at,
                                  (int)(encoded.size - 4), (int)size);
    if (got < 0)
        return refs_fail(err, REFS_CORRUPT, "the block of %zu bytes is cut or damaged",
                         encoded.size - 4);
    if ((uint32_t)got != size)
        return refs_fail(err, REFS_CORRUPT, "the block decodes to %d bytes, its header says %u",
                         got, (unsigned)size);
    return REFS_OK;
}

const refs_codec_type refs_codec_lz4 = {.name = "lz4",
                                        .reads = "an LZ4 block with its size before it",
                                        .library = "liblz4",
                                        .decode = decode};
