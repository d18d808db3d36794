/* geotiff.h -- what GDAL's GeoTIFF driver knows of GeoKeys, for the core. */
#ifndef REFS_GEOTIFF_H
#define REFS_GEOTIFF_H

#include <vector>

#include "gdal_compat.h"
#include "refs/cf.h"

/** GDAL's reading of GeoKeys. */
refs_cf_geotiff RefsGeoTiff();

/** What the bands of a TIFF file are, of which `head` is the beginning; nothing where that does not
 * tell. */
std::vector<GDALColorInterp> RefsTiffColors(refs_bytes head);

#endif
