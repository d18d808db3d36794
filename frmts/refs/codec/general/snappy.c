/* snappy.c -- codec "imagecodecs_snappy": one Snappy block, which begins with its decoded size. */
#include <snappy-c.h>

#include "output.h"

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    const char *block = (const char *)encoded.data;
    size_t size = 0;
    uint8_t *at;
    if (encoded.size == 0 || snappy_uncompressed_length(block, encoded.size, &size) != SNAPPY_OK)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a Snappy block", encoded.size);
    REFS_TRY(refs_codec__output_add(output, size, &at, err));
    if (snappy_uncompress(block, encoded.size, (char *)at, &size) == SNAPPY_OK) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the block of %zu bytes is cut or damaged", encoded.size);
}

const refs_codec_type refs_codec_snappy = {.name = "imagecodecs_snappy",
                                           .reads = "one Snappy block",
                                           .library = "libsnappy",
                                           .decode = decode};
