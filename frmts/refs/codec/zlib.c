/* zlib.c -- codec "zlib": a zlib stream (RFC 1950). Bytes behind its end are ignored, as numcodecs
 * does. */
#include "inflate.h"

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL) return refs_fail_nomem(err);
    refs_status status =
        refs_codec__inflate(decompressor, libdeflate_zlib_decompress_ex, &encoded, output, err);
    libdeflate_free_decompressor(decompressor);
    return status;
}

static const char *const aliases[] = {"imagecodecs_zlib", "imagecodecs_deflate", NULL};

const refs_codec_type refs_codec_zlib = {
    .name = "zlib", .aliases = aliases, .library = "libdeflate", .decode = decode};
