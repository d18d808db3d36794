/* points.h -- the coordinates of the points of some GRIB grids: Mercator, Lambert, polar
 * stereographic, rotated Gaussian, reduced, and NCEP's rotated grid on Arakawa grids.
 *
 * WMO Manual on Codes, FM 92 GRIB edition 2, templates 3.0, 3.10, 3.20, 3.30, 3.40 and 3.41, NCEP's
 * 3.32769, and FM 92-XI Ext. GRIB edition 1, data representation types 0, 1, 3, 4, 5 and 14. This
 * code exists because ecCodes reads beyond the end of some damaged descriptions, and 2.28 ignores
 * the scanning mode of projected grids.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_GRIB_POINTS_H
#define REFS_GRIB_POINTS_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A grid whose rows, Gaussian or at equal distances, have different numbers of points. */
typedef struct refs_grib_reduced {
    uint64_t n_rows;
    bool is_gaussian, is_rotated;
    uint64_t order;       /**< Gaussian latitudes between a pole and the equator */
    size_t list_at;       /**< in the section: numbers of points of the rows … */
    size_t number_size;   /**< … each of so many bytes */
    double first, last;   /**< longitudes in degrees */
    double latitudes[2];  /**< of the first and the last row */
    double south_pole[2]; /**< latitude and longitude of that of a rotated grid */
    uint64_t n_points;    /**< of all rows */
    bool is_whole;        /**< rows are whole circles, Gaussian ones from one pole to the other */
} refs_grib_reduced;

/** Reads a grid description: section 3 of edition 2, section 2 of edition 1. False for other grids,
 * and if rows have more points than the section describes. */
bool refs_grib_reduced_read(unsigned edition, refs_bytes section, refs_grib_reduced *reduced);

/** Semi-axes of the Earth in metres: code table 3.2, or the flag of edition 1. Zero if they are not
 * known. A section of edition 2 must have at least 15 bytes, one of edition 1 17. */
void refs_grib_earth(unsigned edition, refs_bytes section, double axes[2]);

/** The latitude of true scale, in degrees, of a polar stereographic grid: negative for the south
 * pole; always 60 in edition 1. A section of edition 2 must have at least 64 bytes, one of edition
 * 1 27. */
double refs_grib_polar_latitude(unsigned edition, refs_bytes section);

/** Rotated latitudes and longitudes, in degrees. */
typedef struct refs_grib_rotated {
    double south_pole[2]; /**< latitude and longitude of the rotated one */
    double first[2];      /**< rotated latitude and longitude of the first point … */
    double step[2];       /**< … and how far the next row and the next column are */
} refs_grib_rotated;

/** Reads template 3.32769, which has the geographic coordinates of the centre and of the first and
 * last points. False for other grids, and those of one row or column. */
bool refs_grib_rotated_read(unsigned edition, refs_bytes section, refs_grib_rotated *rotated);

typedef enum refs_grib_axis { REFS_GRIB_LATITUDES, REFS_GRIB_LONGITUDES } refs_grib_axis;

/** The latitudes of the rows, or the longitudes of the columns, of a regular or Gaussian grid.
 * Longitudes do not jump by 360. False for other grids, and if there are not `n` of them. */
bool refs_grib_axis_values(unsigned edition, refs_bytes section, refs_grib_axis axis, size_t n,
                           double *numbers);

/** Whether a section describes a rotated Gaussian grid from pole to pole with rows of one length:
 * template 3.41, type 14 of edition 1. */
bool refs_grib_is_rotated_gaussian(unsigned edition, refs_bytes section);

/** The latitudes or longitudes, in degrees, of `n` points row by row, each row from its first point
 * to its last. REFS_NOT_FOUND for grids not listed above, for reduced grids of a part of the globe,
 * and if the grid does not have `n` points; else REFS_OK or REFS_NOMEM. */
refs_status refs_grib_points(unsigned edition, refs_bytes section, refs_grib_axis axis, size_t n,
                             double *numbers);

#ifdef __cplusplus
}
#endif
#endif
