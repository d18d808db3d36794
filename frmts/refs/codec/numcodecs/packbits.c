/* packbits.c -- codec "packbits": booleans as bits, the highest first; the first byte is the number
 * of padding bits at the end. */
#include "output.h"

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)self, (void)err;
    if (context->decoded_size > 0) *encoded_size = 2 + (context->decoded_size - 1) / 8;
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    size_t n_bits;
    size_t n_padding = encoded.size > 0 ? encoded.data[0] : 0;
    if (encoded.size == 0 || n_padding > 7 || (n_padding > 0 && encoded.size < 2))
        return refs_fail(err, REFS_CORRUPT, "%zu bytes cannot be padded by %zu bits", encoded.size,
                         n_padding);
    if (!refs_mul_size(encoded.size - 1, 8, &n_bits))
        return refs_fail(err, REFS_LIMIT, "%zu bytes are too many", encoded.size);
    uint8_t *at;
    REFS_TRY(refs_codec__output_add(output, n_bits - n_padding, &at, err));
    for (size_t i = 0; i < n_bits - n_padding; i++)
        at[i] = encoded.data[1 + i / 8] >> (7 - i % 8) & 1;
    return REFS_OK;
}

const refs_codec_type refs_codec_packbits = {.name = "packbits",
                                             .reads = "booleans, eight to a byte",
                                             .library = "REFS",
                                             .open = open_codec,
                                             .decode = decode};
