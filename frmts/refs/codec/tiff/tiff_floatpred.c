/* tiff_floatpred.c -- codec "imagecodecs_floatpred": TIFF's floating point predictor (predictor 3):
 * the bytes of a row in planes, the highest first, each the difference to one before.
 *
 * Source: Adobe Photoshop TIFF Technical Note 3 (2005).
 */
#include "predictor.h"

/* Where byte `i` of a plane goes. */
static uint8_t *place_of(const refs_predictor *predictor, size_t plane, size_t i, uint8_t *dst) {
    size_t size = predictor->type.size;
    bool big_endian = predictor->type.swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return dst + i * size + (big_endian ? plane : size - 1 - plane);
}

static void undo_row(const refs_predictor *predictor, const uint8_t *src, uint8_t *dst) {
    size_t n = predictor->n * predictor->n_samples;
    size_t n_first = predictor->distance * predictor->n_samples;
    size_t from = 0, before_plane = 0, before = 0; /* the byte n_first before, across planes */
    for (size_t plane = 0; plane < predictor->type.size; plane++) {
        for (size_t i = 0; i < n; i++, from++) {
            uint8_t *at = place_of(predictor, plane, i, dst);
            *at = src[from];
            if (from < n_first) continue;
            *at = (uint8_t)(*at + *place_of(predictor, before_plane, before, dst));
            if (++before == n) {
                before = 0;
                before_plane++;
            }
        }
    }
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    return refs_codec__predictor_decode(self, encoded, output, undo_row, err);
}

const refs_codec_type refs_codec_tiff_floatpred = {
    .name = "imagecodecs_floatpred",
    .reads = "TIFF predictor 3: floats in planes of differences",
    .library = "REFS",
    .open = refs_codec__predictor_open,
    .decode = decode,
    .close = refs_free};
