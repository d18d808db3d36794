/* bitround.c -- codec "bitround", and "imagecodecs_quantize": floats whose low bits were rounded,
 * so that they compress better. Decoding changes nothing. */
#include "output.h"

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)self, (void)err;
    *encoded_size = context->decoded_size;
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    uint8_t *at;
    REFS_TRY(refs_codec__output_add(output, encoded.size, &at, err));
    if (encoded.size > 0) memcpy(at, encoded.data, encoded.size);
    return REFS_OK;
}

static const char *const aliases[] = {"imagecodecs_quantize", NULL};

const refs_codec_type refs_codec_bitround = {.name = "bitround",
                                             .aliases = aliases,
                                             .reads = "floats with rounded mantissas, as they are",
                                             .library = "REFS",
                                             .open = open_codec,
                                             .decode = decode};
