/* adler32.c -- codec "adler32": the checksum of zlib, before the content unless told otherwise. */
#include <libdeflate.h>

#include "checksum.h"

static uint32_t adler32(refs_bytes content) {
    return libdeflate_adler32(1, content.data, content.size);
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_checksum usual = {REFS_CHECKSUM_AT_START, adler32};
    return refs_codec__checksum_open(context, &usual, self, encoded_size, err);
}

const refs_codec_type refs_codec_adler32 = {.name = "adler32",
                                            .reads =
                                                "a checksum of four bytes before or after the data",
                                            .library = "libdeflate",
                                            .open = open_codec,
                                            .decode = refs_codec__checksum_decode,
                                            .close = refs_free};
