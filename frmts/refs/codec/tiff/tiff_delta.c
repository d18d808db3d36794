/* tiff_delta.c -- codec "imagecodecs_delta", and virtual-tiff's "HorizontalDeltaCodec": TIFF's
 * horizontal differencing (predictor 2). The bits of floats are treated as integers.
 *
 * Source: https://github.com/virtual-zarr/virtual-tiff, src/virtual_tiff/codecs.py.  */
#include "predictor.h"
#include "sums.h"

#define swap_8(number) (number)
#define swap_16        __builtin_bswap16
#define swap_32        __builtin_bswap32
#define swap_64        __builtin_bswap64

#define DEFINE_UNDO(width)                                                                         \
    static uint##width##_t load_##width(bool swapped, const uint8_t *at) {                         \
        uint##width##_t number;                                                                    \
        memcpy(&number, at, sizeof number);                                                        \
        return swapped ? swap_##width(number) : number;                                            \
    }                                                                                              \
    static void undo_##width(const refs_predictor *predictor, const uint8_t *src, uint8_t *dst) {  \
        bool swapped = predictor->type.swapped;                                                    \
        size_t n = predictor->row_bytes;                                                           \
        size_t first = predictor->distance * predictor->n_samples * sizeof(uint##width##_t);       \
        for (size_t at = 0; at < n; at += sizeof(uint##width##_t)) {                               \
            uint##width##_t number = load_##width(swapped, src + at);                              \
            if (at >= first)                                                                       \
                number = (uint##width##_t)(number + load_##width(swapped, dst + at - first));      \
            if (swapped) number = swap_##width(number);                                            \
            memcpy(dst + at, &number, sizeof number);                                              \
        }                                                                                          \
    }

DEFINE_UNDO(8)
DEFINE_UNDO(16)
DEFINE_UNDO(32)
DEFINE_UNDO(64)

/* Differences to the number before, in this machine's byte order. */
static void sum_row(const refs_predictor *predictor, const uint8_t *src, uint8_t *dst) {
    const size_t size = predictor->type.size;
    refs_codec__running_sum(size)(src, predictor->row_bytes / size, dst);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    static const refs_undo_row undo[] = {[1] = undo_8, [2] = undo_16, [4] = undo_32, [8] = undo_64};
    const refs_predictor *predictor = self;
    const bool is_sum = predictor->distance * predictor->n_samples == 1 && !predictor->type.swapped;
    const refs_undo_row undo_row = is_sum ? sum_row : undo[predictor->type.size];
    return refs_codec__predictor_decode(predictor, encoded, output, undo_row, err);
}

static const char *const aliases[] = {"HorizontalDeltaCodec", "virtual_tiff.HorizontalDeltaCodec",
                                      NULL};

const refs_codec_type refs_codec_tiff_delta = {.name = "imagecodecs_delta",
                                               .aliases = aliases,
                                               .reads = "TIFF predictor 2: differences along rows",
                                               .library = "REFS",
                                               .open = refs_codec__predictor_open,
                                               .decode = decode,
                                               .close = refs_free};
