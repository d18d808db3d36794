/* floatpred.c -- codec "imagecodecs_floatpred": TIFF's floating point predictor (predictor 3):
 * the bytes of a row in planes, the highest first, each as the difference from an earlier one.
 *
 * Source: Adobe Photoshop TIFF Technical Note 3 (2005).
 */
#include "predictor.h"

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* The bytes shifted by `by` positions, filled with zeros. */
#define MOVED(bytes, by)                                                                           \
    __builtin_shufflevector((bytes16){0}, (bytes), 16 - (by), 17 - (by), 18 - (by), 19 - (by),     \
                            20 - (by), 21 - (by), 22 - (by), 23 - (by), 24 - (by), 25 - (by),      \
                            26 - (by), 27 - (by), 28 - (by), 29 - (by), 30 - (by), 31 - (by))
#define LAST(bytes)                                                                                \
    __builtin_shufflevector((bytes), (bytes), 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,  \
                            15, 15, 15)

/* Running sums of bytes, sixteen at a time. */
static void sum_neighbours(const uint8_t *restrict src, size_t n, uint8_t *restrict dst) {
    bytes16 sum = {0};
    size_t i = 0;
    for (; n - i >= sizeof sum; i += sizeof sum) {
        bytes16 bytes;
        memcpy(&bytes, src + i, sizeof bytes);
        bytes += MOVED(bytes, 1);
        bytes += MOVED(bytes, 2);
        bytes += MOVED(bytes, 4);
        bytes += MOVED(bytes, 8);
        bytes += sum;
        memcpy(dst + i, &bytes, sizeof bytes);
        sum = LAST(bytes);
    }
    for (uint8_t last = sum[0]; i < n; i++) dst[i] = last = (uint8_t)(last + src[i]);
}

static void sum_row(const refs_predictor *predictor, const uint8_t *src, uint8_t *dst) {
    size_t n_first = predictor->distance * predictor->n_samples;
    size_t n = predictor->row_bytes;
    if (n_first == 1) {
        sum_neighbours(src, n, dst);
        return;
    }
    for (size_t i = 0; i < n; i++)
        dst[i] = (uint8_t)(src[i] + (i < n_first ? 0 : dst[i - n_first]));
}

/* Collects numbers from planes, of which the first becomes the last byte of each. */
#define DEFINE_GATHER(size)                                                                        \
    static void gather_##size(const uint8_t *restrict planes, size_t n, uint8_t *restrict dst) {   \
        for (size_t i = 0; i < n; i++)                                                             \
            for (size_t b = 0; b < (size); b++)                                                    \
                dst[i * (size) + b] = planes[((size)-1 - b) * n + i];                              \
    }

DEFINE_GATHER(2)
DEFINE_GATHER(4)
DEFINE_GATHER(8)

static void gather(const refs_predictor *predictor, const uint8_t *planes, uint8_t *dst) {
    size_t size = predictor->type.size, n = predictor->row_bytes / size;
    bool big_endian = predictor->type.swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    if (big_endian || size == 1 || predictor->is_in_order) {
        for (size_t plane = 0; plane < size; plane++)
            for (size_t i = 0; i < n; i++) dst[i * size + plane] = planes[plane * n + i];
    } else if (size == 2) {
        gather_2(planes, n, dst);
    } else if (size == 4) {
        gather_4(planes, n, dst);
    } else {
        gather_8(planes, n, dst);
    }
}

static void undo_row(const refs_predictor *predictor, const uint8_t *src, uint8_t *dst) {
    if (!predictor->has_planes_alone) sum_row(predictor, src, predictor->row);
    gather(predictor, predictor->has_planes_alone ? src : predictor->row, dst);
}

refs_status refs_codec__predictor_planes(const void *self, refs_bytes encoded,
                                         refs_codec_output *output, refs_error *err) {
    refs_predictor predictor = *(const refs_predictor *)self;
    if (predictor.row_bytes <= encoded.size) predictor.row = refs_alloc(predictor.row_bytes);
    if (predictor.row_bytes <= encoded.size && predictor.row == NULL) return refs_fail_nomem(err);
    refs_status status = refs_codec__predictor_decode(&predictor, encoded, output, undo_row, err);
    refs_free(predictor.row);
    return status;
}

const refs_codec_type refs_codec_floatpred = {
    .name = "imagecodecs_floatpred",
    .reads = "TIFF predictor 3: floats in planes of differences",
    .library = "REFS",
    .open = refs_codec__predictor_open,
    .decode = refs_codec__predictor_planes,
    .close = refs_free};
