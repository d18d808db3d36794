/* written.h -- the coordinate variables and the grid mapping with which CF describes a raster.
 *
 * Read before this: cf.h.
 */
#ifndef REFS_WRITTEN_H
#define REFS_WRITTEN_H

#include "refs/cf.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of coordinates of a raster. */
typedef enum refs_cf_grid {
    REFS_CF_GRID_PLAIN,     /**< not known */
    REFS_CF_GRID_LONGLAT,   /**< longitude and latitude */
    REFS_CF_GRID_PROJECTED, /**< metres of a projection */
} refs_cf_grid;

/** The name and the attributes of a coordinate variable. */
typedef struct refs_cf_axis_words {
    const char *name; /**< used if it has no name */
    const char *axis; /**< attributes; NULL if there is none */
    const char *standard_name;
    const char *units;
} refs_cf_axis_words;

/** The name and the attributes for the axis x, or else y (CF 4.1, 4.2 and 5.6). */
refs_cf_axis_words refs_cf_words_of_axis(refs_cf_axis_kind kind, refs_cf_grid grid);

/** Whether the geotransform has no rotation, so that coordinate variables can describe it. */
bool refs_cf_has_axes(const double geotransform[6]);

/** Whether coordinate variables determine the geotransform of a raster of this size: a single value
 * has no step. Only if they do not should the grid mapping variable have it: the fragments of an
 * aggregation repeat that variable, with the geotransform of the whole raster. */
bool refs_cf_axes_tell_geotransform(const double geotransform[6], uint64_t width, uint64_t height);

/** A coordinate reference system, and the position of a raster in it. */
typedef struct refs_cf_written_crs {
    bool is_geographic;
    const char *wkt2;           /**< or NULL */
    const char *wkt1;           /**< or NULL */
    const double *geotransform; /**< six numbers, or NULL */
} refs_cf_written_crs;

/** Appends the attributes of a grid mapping variable, as "name=value" (CF 5.6 and its appendix F),
 * and those that GDAL reads: "spatial_ref", and "GeoTransform" if there is a geotransform. GDAL's
 * netCDF driver ignores "GeoTransform" without "spatial_ref": without a CRS, an empty one is
 * written. */
refs_status refs_cf_grid_mapping_items(const refs_cf_written_crs *crs, refs_cf_items *items,
                                       refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
