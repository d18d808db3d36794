/* message.h -- one GRIB message: where its parts are, and its values.
 *
 * ecCodes ends the process where a message contradicts itself, so that values
 * are read here; it is asked for coordinates alone, of grids that are checked.
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
    refs_bytes grid; /**< the section that describes it: 3, or the second of edition 1 */
    size_t n_points; /**< of the grid */
    size_t n_values; /**< those that are packed: where a bitmap says so, fewer */

    refs_grib_packing packing;
    refs_bytes parameters; /**< section 5, or 4 of edition 1, for what only some packings have */
    double reference;      /**< a value is (reference + packed * binary_factor) * decimal_factor */
    double binary_factor;
    double decimal_factor;
    unsigned n_bits; /**< of a packed value */

    refs_bytes bitmap; /**< a bit for each point, the highest first; empty: all have a value */
    refs_bytes data;
} refs_grib_message;

/** Finds the parts of field number `field`, of which most messages have one, of the message at the
 * beginning of `bytes`. REFS_CORRUPT where they do not fit together, REFS_UNSUPPORTED names a
 * packing that is not known. */
refs_status refs_codec__grib_parse(refs_bytes bytes, size_t field, refs_grib_message *message,
                                   refs_error *err);

/** Reads section 5 of edition 2, with its header, to `message`: how many values there are, and how
 * they are packed. */
refs_status refs_codec__grib_representation(refs_bytes section, refs_grib_message *message,
                                            refs_error *err);

/** Reads section 6 of edition 2, with its header, to `message`, whose points and values are known.
 * REFS_CORRUPT where it marks another number of values. */
refs_status refs_codec__grib_bitmap(refs_bytes section, refs_grib_message *message,
                                    refs_error *err);

/** Whether the grid has as many points along each dimension as it has in all: REFS_CORRUPT where
 * not, REFS_UNSUPPORTED for grids of which that is not known. */
refs_status refs_codec__grib_check_grid(const refs_grib_message *message, refs_error *err);

/** Appends a message that has the grid of this one, and else nothing of it: ecCodes leaks memory
 * where other sections are damaged. */
refs_status refs_codec__grib_grid_alone(const refs_grib_message *message, refs_buf *alone,
                                        refs_error *err);

/** Unpacks the values, NaN where one is missing, one for each point of the grid. */
refs_status refs_codec__grib_unpack(const refs_grib_message *message, double *values,
                                    refs_error *err);

/** Unpacks what complex packing, with or without spatial differences, has to `n_values` scaled
 * integers; *missing is set for those without a value. */
refs_status refs_codec__grib_complex(const refs_grib_message *message, int64_t *values,
                                     bool *missing, refs_error *err);

#endif
