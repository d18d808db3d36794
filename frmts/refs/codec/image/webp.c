/* webp.c -- codec "imagecodecs_webp": a WebP image with three samples per pixel, or four with
 * alpha. */
#include <webp/decode.h>

#include "image.h"

typedef struct webp_codec {
    bool has_alpha;
} webp_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    webp_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    refs_json_bool(refs_json_get(context->config, "hasalpha"), &opened->has_alpha);
    const refs_chain_spec *array = context->array;
    if (array->shape != NULL && array->rank > 2 && array->shape[array->rank - 1] == 4)
        opened->has_alpha = true;
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const webp_codec *codec = self;
    int width, height;
    uint8_t *at;
    if (WebPGetInfo(encoded.data, encoded.size, &width, &height) == 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not an image", encoded.size);
    refs_image image = {(size_t)width, (size_t)height, codec->has_alpha ? 4 : 3, 1};
    REFS_TRY(refs_codec__image_add(&image, output, &at, err));
    int row_bytes = width * (int)image.n_samples;
    size_t size = (size_t)row_bytes * image.height;
    const uint8_t *decoded =
        codec->has_alpha ? WebPDecodeRGBAInto(encoded.data, encoded.size, at, size, row_bytes)
                         : WebPDecodeRGBInto(encoded.data, encoded.size, at, size, row_bytes);
    if (decoded != NULL) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the image of %zu bytes is cut or damaged", encoded.size);
}

const refs_codec_type refs_codec_webp = {.name = "imagecodecs_webp",
                                         .reads = "WebP",
                                         .library = "libwebp",
                                         .open = open_codec,
                                         .decode = decode,
                                         .close = refs_free};
