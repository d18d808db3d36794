/* base64.c -- codec "base64": RFC 4648, section 4. */
#include "output.h"

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    REFS_SCOPED_BUF decoded = REFS_BUF_INIT;
    uint8_t *at;
    REFS_TRY(refs_base64_decode(refs_bytes_text(encoded), &decoded, err));
    REFS_TRY(refs_codec__output_add(output, decoded.size, &at, err));
    if (decoded.size > 0) memcpy(at, decoded.data, decoded.size);
    return REFS_OK;
}

const refs_codec_type refs_codec_base64 = {
    .name = "base64", .reads = "base64 text", .library = "REFS", .decode = decode};
