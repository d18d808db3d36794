/* qgis_layer.h -- layer definitions and projects of QGIS, as XML.
 *
 * What QGIS 3.22 to 3.44 write and read; later versions read it too.
 */
#ifndef REFS_CLI_QGIS_LAYER_H
#define REFS_CLI_QGIS_LAYER_H

#include "refs/bytes.h"

/** From a time on, and up to before another one, and the last second before that: in versions
 * before 3.38 periods have their end. ISO 8601 in UTC without its "Z". */
typedef struct qgis_period {
    char begin[32], end[32], last[32];
} qgis_period;

/** What is shown. Strings are borrowed. */
typedef struct qgis_raster {
    const char *source;  /**< the name of the dataset, without … */
    const char *options; /**< … open options, as they stand in names: "?LONGITUDES=-180", or "" */
    const char *title;
    const char *unit; /**< of its values, or NULL */
    const char *crs;  /**< WKT, PROJJSON or AUTHORITY:CODE, or NULL */
    bool has_extent;
    double extent[4]; /**< west, south, east, north, in units of the CRS */
    double least, most;
    const qgis_period *periods; /**< of each band; NULL: it has no times */
    size_t n_periods;
    double step;           /**< from one period to the next … */
    const char *step_unit; /**< … in "s", "min", "h", "d", "mon" or "y" */
    const char *time_dim;  /**< that the bands are along */
} qgis_raster;

/** How bands become layers. */
typedef enum qgis_form {
    QGIS_ONE_LAYER,      /**< whose bands have a period each: QGIS plays that from 3.38 on */
    QGIS_LAYER_OF_PERIOD /**< a group with a layer for each period: for versions before */
} qgis_form;

/** Appends a layer definition (.qlr). */
refs_status qgis_write_definition(const qgis_raster *raster, qgis_form form, refs_buf *xml,
                                  refs_error *err);

/** Appends a project (.qgs), which opens at the extent of the raster in its CRS, and whose temporal
 * controller steps from period to period. */
refs_status qgis_write_project(const qgis_raster *raster, qgis_form form, refs_buf *xml,
                               refs_error *err);

/** Replaces a project by the archive (.qgz) that holds it. */
refs_status qgis_archive_project(refs_buf *project, refs_error *err);

#endif
