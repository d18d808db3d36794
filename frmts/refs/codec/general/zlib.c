/* zlib.c -- codec "zlib": a zlib stream (RFC 1950); "imagecodecs_deflate" may be configured without
 * the wrapper (RFC 1951). Bytes after its end are ignored, as in numcodecs. */
#include "inflate.h"

typedef struct zlib_codec {
    refs_codec_inflate inflate;
} zlib_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    bool raw = false;
    zlib_codec *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    refs_json_bool(refs_json_get(context->config, "raw"), &raw);
    opened->inflate = raw ? libdeflate_deflate_decompress_ex : libdeflate_zlib_decompress_ex;
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const zlib_codec *codec = self;
    return refs_codec__inflate_one(codec->inflate, encoded, output, err);
}

static const char *const aliases[] = {"imagecodecs_zlib", "imagecodecs_deflate",
                                      "imagecodecs_zlibng", "imagecodecs_zopfli", NULL};

const refs_codec_type refs_codec_zlib = {.name = "zlib",
                                         .aliases = aliases,
                                         .reads = "zlib streams",
                                         .library = "libdeflate",
                                         .open = open_codec,
                                         .decode = decode,
                                         .close = refs_free};
