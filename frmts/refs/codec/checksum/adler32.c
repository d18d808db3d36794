/* adler32.c -- codec "adler32": the checksum of zlib, by default before the content. */
#include <libdeflate.h>

#include "checksum.h"

static uint32_t adler32(refs_bytes content) {
    return libdeflate_adler32(1, content.data, content.size);
}

REFS_CHECKSUM_CODEC(adler32, REFS_CHECKSUM_AT_START,
                    "a checksum of four bytes before or after the data", "libdeflate");
