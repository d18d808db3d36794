/* base64.c -- codec "base64": RFC 4648, section 4. */
#include "output.h"

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    refs_buf decoded = REFS_BUF_INIT;
    uint8_t *at;
    refs_status status =
        refs_base64_decode(refs_str_view((const char *)encoded.data, encoded.size), &decoded, err);
    if (status == REFS_OK) status = refs_codec__output_add(output, decoded.size, &at, err);
    if (status == REFS_OK && decoded.size > 0) memcpy(at, decoded.data, decoded.size);
    refs_buf_clear(&decoded);
    return status;
}

const refs_codec_type refs_codec_base64 = {
    .name = "base64", .reads = "base64 text", .library = "REFS", .decode = decode};
