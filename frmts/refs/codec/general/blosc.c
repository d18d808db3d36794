/* blosc.c -- codec "blosc": one Blosc 1 container, whose header describes its compression. */
#include <blosc.h>

#include "output.h"

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    size_t size;
    if (blosc_cbuffer_validate(encoded.data, encoded.size, &size) < 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a whole Blosc container",
                         encoded.size);
    uint8_t *at;
    REFS_TRY(refs_codec__output_add(output, size, &at, err));
    /* The variant with a context takes no lock and no thread of Blosc's own. */
    int got = blosc_decompress_ctx(encoded.data, at, size, 1);
    if (got < 0 || (size_t)got != size)
        return refs_fail(err, REFS_CORRUPT, "the container of %zu bytes is damaged", encoded.size);
    return REFS_OK;
}

static const char *const aliases[] = {"imagecodecs_blosc", NULL};

const refs_codec_type refs_codec_blosc = {
    .name = "blosc",
    .aliases = aliases,
    .reads = "Blosc 1 containers, with all compressors and shuffles",
    .library = "libblosc",
    .decode = decode};
