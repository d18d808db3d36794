/* predictor.h -- TIFF's predictors: numbers along one axis of a chunk are stored as differences.
 *
 * A chunk is rows of `n` pixels of `n_samples` numbers each.
 *
 * Read before this: numbers.h.
 */
#ifndef REFS_CODEC_PREDICTOR_H
#define REFS_CODEC_PREDICTOR_H

#include "numbers.h"

typedef struct refs_predictor {
    refs_number_type type;
    size_t n;         /**< pixels in a row: elements along the axis */
    size_t n_samples; /**< elements of a pixel: of all dimensions after the axis */
    size_t distance;  /**< pixels between a number and the number from which it is the difference */
    size_t row_bytes;
    bool has_planes_alone; /**< bytes in planes are not differences */
    bool is_in_order;      /**< the first plane has the first byte in memory of each number, not the
                              highest */
    uint8_t *row;          /**< working memory for a row, if needed */
} refs_predictor;

/** Opens a codec with "axis", "dist", "shape" and "dtype"; the defaults of the last two are the
 * array's. Close it with refs_free. */
refs_status refs_codec__predictor_open(const refs_codec_context *context, void **self,
                                       size_t *encoded_size, refs_error *err);

/** Undoes the differences of one row. */
typedef void (*refs_undo_row)(const refs_predictor *predictor, const uint8_t *src, uint8_t *dst);

/** Decodes `encoded` row by row. REFS_CORRUPT if the last row is incomplete. */
refs_status refs_codec__predictor_decode(const refs_predictor *predictor, refs_bytes encoded,
                                         refs_codec_output *output, refs_undo_row undo_row,
                                         refs_error *err);

/** Decodes rows whose bytes are in planes; a refs_codec_type.decode. */
refs_status refs_codec__predictor_planes(const void *self, refs_bytes encoded,
                                         refs_codec_output *output, refs_error *err);

#endif
