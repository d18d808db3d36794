/* crc32.c -- codec "crc32": the checksum of gzip, by default before the content. */
#include <libdeflate.h>

#include "checksum.h"

static uint32_t crc32(refs_bytes content) {
    return libdeflate_crc32(0, content.data, content.size);
}

REFS_CHECKSUM_CODEC(crc32, REFS_CHECKSUM_AT_START,
                    "a checksum of four bytes before or after the data", "libdeflate");
