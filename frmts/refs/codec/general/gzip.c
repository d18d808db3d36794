/* gzip.c -- codec "gzip": consecutive gzip members (RFC 1952), optionally followed by zeros. */
#include "inflate.h"

static bool all_zero(refs_bytes bytes) {
    for (size_t i = 0; i < bytes.size; i++)
        if (bytes.data[i] != 0) return false;
    return true;
}

static refs_status decode_members(struct libdeflate_decompressor *decompressor, refs_bytes encoded,
                                  refs_codec_output *output, refs_error *err) {
    do {
        REFS_TRY(refs_codec__inflate(decompressor, libdeflate_gzip_decompress_ex, &encoded, output,
                                     err));
    } while (!all_zero(encoded));
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL) return refs_fail_nomem(err);
    refs_status status = decode_members(decompressor, encoded, output, err);
    libdeflate_free_decompressor(decompressor);
    return status;
}

const refs_codec_type refs_codec_gzip = {.name = "gzip",
                                         .reads = "gzip, one member or several",
                                         .library = "libdeflate",
                                         .decode = decode};
