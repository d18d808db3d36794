/* crc32.c -- codec "crc32": the checksum of gzip, before the content unless told otherwise. */
#include <libdeflate.h>

#include "checksum.h"

static uint32_t crc32(refs_bytes content) {
    return libdeflate_crc32(0, content.data, content.size);
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_checksum usual = {REFS_CHECKSUM_AT_START, crc32};
    return refs_codec__checksum_open(context, &usual, self, encoded_size, err);
}

const refs_codec_type refs_codec_crc32 = {.name = "crc32",
                                          .reads =
                                              "a checksum of four bytes before or after the data",
                                          .library = "libdeflate",
                                          .open = open_codec,
                                          .decode = refs_codec__checksum_decode,
                                          .close = refs_free};
