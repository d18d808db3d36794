/* tiff_packbits.c -- codec "imagecodecs_packbits": Apple's run-length encoding of bytes, which TIFF
 * calls PackBits; not numcodecs' codec of that name.
 *
 * Source: TIFF 6.0, section 9.
 */
#include "output.h"

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    const uint8_t *p = encoded.data, *end = p + encoded.size;
    while (p < end) {
        unsigned lead = *p++;
        bool repeated = lead > 128;
        if (lead == 128) continue;
        size_t n = repeated ? 257 - lead : lead + 1, n_read = repeated ? 1 : n;
        if ((size_t)(end - p) < n_read)
            return refs_fail(err, REFS_CORRUPT, "a run is truncated at byte %zu of %zu",
                             (size_t)(p - encoded.data), encoded.size);
        uint8_t *at;
        REFS_TRY(refs_codec__output_add(output, n, &at, err));
        if (repeated)
            memset(at, *p, n);
        else
            memcpy(at, p, n);
        p += n_read;
    }
    return REFS_OK;
}

const refs_codec_type refs_codec_tiff_packbits = {.name = "imagecodecs_packbits",
                                                  .reads = "TIFF compression 32773",
                                                  .library = "REFS",
                                                  .decode = decode};
