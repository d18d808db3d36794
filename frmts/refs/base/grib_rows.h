/* grib_rows.h -- in which order GRIB messages hold the points of a grid.
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
    size_t mode_at; /**< where the scanning mode is in the section; 0: it has none that is known */
    unsigned mode;
} refs_grib_rows;

/** Reads the description of a grid: section 3 of edition 2, section 2 of edition 1. False where its
 * points lie in no rows of one length, or the template of edition 2 is not known. */
bool refs_grib_rows_read(unsigned edition, refs_bytes section, refs_grib_rows *rows);

/** Whether the order of the message is not row by row, each from its first point to its last. */
bool refs_grib_rows_need_reordering(const refs_grib_rows *rows);

/** The place of point `i` of the message: row times nx plus column, both counted in the directions
 * in which the first row and the first column run. */
size_t refs_grib_rows_place(const refs_grib_rows *rows, size_t i);

#ifdef __cplusplus
}
#endif
#endif
