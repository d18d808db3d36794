/* predictor.h -- TIFF's predictors: numbers along one axis of a chunk are differences.
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
    size_t n_samples; /**< elements of a pixel: all dimensions behind the axis */
    size_t distance;  /**< how many pixels lie between a number and what it is the difference to */
    size_t row_bytes;
    bool has_planes_alone; /**< bytes in planes are no differences */
    bool is_in_order; /**< the first plane has the first byte of each number, not the highest */
    uint8_t *row;     /**< working memory for one, of those who need it while they decode */
} refs_predictor;

/** Opens a codec from "axis", "dist", "shape" and "dtype"; the last two are the array's where they
 * are not given. To be closed with refs_free. */
refs_status refs_codec__predictor_open(const refs_codec_context *context, void **self,
                                       size_t *encoded_size, refs_error *err);

/** Undoes the differences of one row. */
typedef void (*refs_undo_row)(const refs_predictor *predictor, const uint8_t *src, uint8_t *dst);

/** Decodes `encoded` row by row. REFS_CORRUPT where these are not whole. */
refs_status refs_codec__predictor_decode(const refs_predictor *predictor, refs_bytes encoded,
                                         refs_codec_output *output, refs_undo_row undo_row,
                                         refs_error *err);

/** Decodes rows whose bytes lie in planes; a codec's decode. */
refs_status refs_codec__predictor_planes(const void *self, refs_bytes encoded,
                                         refs_codec_output *output, refs_error *err);

#endif
