/* message.h -- the parts and the values of one GRIB message.
 *
 * ecCodes aborts the process if a message is inconsistent, so this module reads values itself;
 * ecCodes only computes coordinates, of grids that were checked.
 *
 * Sources: WMO Manual on Codes, FM 92 GRIB edition 2, and FM 92-XI Ext. GRIB edition 1.
 *
 * Read before this: refs/bytes.h.
 */
#ifndef REFS_CODEC_GRIB_MESSAGE_H
#define REFS_CODEC_GRIB_MESSAGE_H

#include "refs/bytes.h"

/** Numbers of templates in section 5 of edition 2, "Data representation". */
typedef enum refs_grib_packing {
    REFS_GRIB_SIMPLE = 0,
    REFS_GRIB_COMPLEX = 2,
    REFS_GRIB_COMPLEX_DIFFERENCES = 3,
    REFS_GRIB_IEEE = 4,
    REFS_GRIB_JPEG2000 = 40,
    REFS_GRIB_PNG = 41,
    REFS_GRIB_CCSDS = 42
} refs_grib_packing;

/** The parts of a message, borrowed from its bytes. */
typedef struct refs_grib_message {
    refs_bytes whole;
    refs_bytes grid; /**< the grid description: section 3, or section 2 of edition 1 */
    size_t n_points; /**< of the grid */
    size_t n_values; /**< packed values; fewer than points with a bitmap */

    refs_grib_packing packing;
    refs_bytes parameters; /**< section 5, or 4 of edition 1, for parameters of some packings */
    double reference;      /**< a value is (reference + packed * binary_factor) * decimal_factor */
    double binary_factor;
    double decimal_factor;
    unsigned n_bits; /**< of a packed value */

    refs_bytes bitmap; /**< a bit for each point, the highest first; empty: all points have a
                          value */
    refs_bytes data;
} refs_grib_message;

/** Finds the parts of field number `field` of the message at the beginning of `bytes`; most
 * messages have one field. REFS_CORRUPT if the parts are inconsistent; REFS_UNSUPPORTED names an
 * unknown packing. */
refs_status refs_codec__grib_parse(refs_bytes bytes, size_t field, refs_grib_message *message,
                                   refs_error *err);

/** Reads the number of values and their packing from section 5 of edition 2, with its header, to
 * `message`. */
refs_status refs_codec__grib_representation(refs_bytes section, refs_grib_message *message,
                                            refs_error *err);

/** Reads section 6 of edition 2, with its header, to `message`, whose n_points and n_values are
 * set. REFS_CORRUPT if the bitmap has another number of values. */
refs_status refs_codec__grib_bitmap(refs_bytes section, refs_grib_message *message,
                                    refs_error *err);

/** Checks that the numbers of points along both dimensions agree with n_points: REFS_CORRUPT if
 * not, REFS_UNSUPPORTED for grids without such numbers. */
refs_status refs_codec__grib_check_grid(const refs_grib_message *message, refs_error *err);

/** Appends a message with only the grid of this one: ecCodes leaks memory if other sections are
 * damaged. */
refs_status refs_codec__grib_grid_alone(const refs_grib_message *message, refs_buf *alone,
                                        refs_error *err);

/** Unpacks the values, NaN where one is missing, one for each point of the grid. */
refs_status refs_codec__grib_unpack(const refs_grib_message *message, double *values,
                                    refs_error *err);

/** Decodes complex packing, with or without spatial differencing, to `n_values` scaled integers;
 * sets missing[i] for missing values. */
refs_status refs_codec__grib_complex(const refs_grib_message *message, int64_t *values,
                                     bool *missing, refs_error *err);

#endif
