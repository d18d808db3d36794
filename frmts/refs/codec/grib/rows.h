/* rows.h -- the order of grid points in GRIB messages.
 *
 * WMO Manual on Codes, FM 92 GRIB edition 2, grid definition templates and flag table 3.4, and FM
 * 92-XI Ext. GRIB edition 1, code table 8.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_GRIB_ROWS_H
#define REFS_GRIB_ROWS_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flags of the scanning mode. */
enum {
    REFS_GRIB_LEFTWARDS = 0x80,   /**< points of a row run in the direction of -i */
    REFS_GRIB_UPWARDS = 0x40,     /**< points of a column run in the direction of +j */
    REFS_GRIB_BY_COLUMNS = 0x20,  /**< points of a column are consecutive, not those of a row */
    REFS_GRIB_ALTERNATING = 0x10, /**< every second row (column) runs the other way */
    REFS_GRIB_OFFSETS = 0x0e      /**< rows are shifted against each other by half a point */
};

/** A grid whose points lie in rows and columns. */
typedef struct refs_grib_rows {
    uint64_t nx, ny;
    size_t mode_at; /**< offset of the scanning mode in the section; 0: not known */
    unsigned mode;
} refs_grib_rows;

/** Reads the description of a grid: section 3 of edition 2, section 2 of edition 1. False if its
 * points are not in rows of one length, or the template of edition 2 is not known. */
bool refs_grib_rows_read(unsigned edition, refs_bytes section, refs_grib_rows *rows);

/** Whether the order of points is not row by row, each row from its first point to its last. */
bool refs_grib_rows_need_reordering(const refs_grib_rows *rows);

/** The index in C order of point `i` of the message: row times nx plus column, counted in the
 * directions of the first row and the first column. */
size_t refs_grib_rows_place(const refs_grib_rows *rows, size_t i);

#ifdef __cplusplus
}
#endif
#endif
