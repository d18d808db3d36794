/* written.h -- how a raster is written as CF says: coordinate variables and the grid mapping.
 *
 * Read before this: cf.h.
 */
#ifndef REFS_WRITTEN_H
#define REFS_WRITTEN_H

#include "refs/cf.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The quantities along the axes of a raster. */
typedef enum refs_cf_grid {
    REFS_CF_GRID_PLAIN,     /**< nothing that is known */
    REFS_CF_GRID_LONGLAT,   /**< longitude and latitude */
    REFS_CF_GRID_PROJECTED, /**< metres of a projection */
} refs_cf_grid;

/** How the coordinate variable of an axis of a raster is written. */
typedef struct refs_cf_axis_words {
    const char *name; /**< where it has none */
    const char *axis; /**< the attributes of these names; NULL where there is none */
    const char *standard_name;
    const char *units;
} refs_cf_axis_words;

/** The words for the axis x, else y (CF 4.1, 4.2 and 5.6). */
refs_cf_axis_words refs_cf_words_of_axis(refs_cf_axis_kind kind, refs_cf_grid grid);

/** Whether rows and columns lie along the axes x and y: then coordinate variables say where. */
bool refs_cf_has_axes(const double geotransform[6]);

/** Whether those coordinate variables tell the geotransform of a raster of this size: a single
 * value has no step. Only where they do not should the grid mapping variable have it: fragments of
 * an aggregation repeat that variable, with the geotransform of the whole. */
bool refs_cf_axes_tell_geotransform(const double geotransform[6], uint64_t width, uint64_t height);

/** A coordinate reference system, and where a raster lies in it. */
typedef struct refs_cf_written_crs {
    bool is_geographic;
    const char *wkt2;           /**< or NULL */
    const char *wkt1;           /**< or NULL */
    const double *geotransform; /**< six numbers, or NULL */
} refs_cf_written_crs;

/** Appends the attributes of a grid mapping variable, as "name=value" (CF 5.6 and its appendix F),
 * and those that GDAL reads: "spatial_ref", and "GeoTransform" where it is given. GDAL's netCDF
 * driver reads the latter only beside a WKT: without a CRS an empty one is written. */
refs_status refs_cf_grid_mapping_items(const refs_cf_written_crs *crs, refs_cf_items *items,
                                       refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
