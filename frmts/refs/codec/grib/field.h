/* field.h -- one field of a GRIB message as numbers, row by row.
 *
 * Read before this: message.h, numbers.h.
 */
#ifndef REFS_CODEC_GRIB_FIELD_H
#define REFS_CODEC_GRIB_FIELD_H

#include "message.h"
#include "numbers.h"
#include "points.h"
#include "rows.h"

/** Numbers that are computed as doubles and stored as another type. */
typedef struct refs_grib_numbers {
    double *values; /**< to be freed */
    size_t n;
    uint8_t *dst; /**< their destination in the output */
} refs_grib_numbers;

/** Adds `n` numbers of `type` to `output`, and allocates `values`. */
refs_status refs_codec__grib_begin(const refs_number_type *type, size_t n,
                                   refs_codec_output *output, refs_grib_numbers *numbers,
                                   refs_error *err);

/** Stores the numbers if `status` is REFS_OK, frees `values`, and returns `status`. */
refs_status refs_codec__grib_end(const refs_number_type *type, refs_grib_numbers *numbers,
                                 refs_status status);

/** Reorders the numbers of a message into rows, if it is stored by columns, or in alternating
 * directions. */
refs_status refs_codec__grib_order(const refs_grib_rows *rows, double *numbers, refs_error *err);

/** The values, one for each point, in rows; NaN where one is missing. */
refs_status refs_codec__grib_values(const refs_grib_message *message, double *numbers,
                                    refs_error *err);

/** Latitudes or longitudes, one for each point. */
refs_status refs_codec__grib_coordinate(const refs_grib_message *message, refs_grib_axis axis,
                                        double *numbers, refs_error *err);

/** The type of the decoded numbers: that of the configuration ("dtype"), else the encoded type of
 * the last "cast_value" or "astype" before this codec, else the array's. */
refs_status refs_codec__grib_type(const refs_codec_context *context, refs_number_type *type,
                                  refs_error *err);

#endif
