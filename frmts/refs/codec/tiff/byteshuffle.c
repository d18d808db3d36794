/* byteshuffle.c -- codec "imagecodecs_byteshuffle": the parts of TIFF's predictor 3: the bytes of
 * rows in planes, with "reorder" the highest first, with "delta" as differences.
 *
 * Source: https://github.com/cgohlke/imagecodecs, imagecodecs/imcd.c
 */
#include "predictor.h"

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    bool has_differences = false, is_highest_first = false;
    refs_json_bool(refs_json_get(context->config, "delta"), &has_differences);
    refs_json_bool(refs_json_get(context->config, "reorder"), &is_highest_first);
    REFS_TRY(refs_codec__predictor_open(context, self, encoded_size, err));
    refs_predictor *opened = *self;
    opened->has_planes_alone = !has_differences;
    opened->is_in_order = !is_highest_first;
    return REFS_OK;
}

const refs_codec_type refs_codec_byteshuffle = {
    .name = "imagecodecs_byteshuffle",
    .reads = "the bytes of rows in planes, which may be differences",
    .library = "REFS",
    .open = open_codec,
    .decode = refs_codec__predictor_planes,
    .close = refs_free};
