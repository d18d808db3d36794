/* geotiff.h -- what GDAL's GeoTIFF driver knows of GeoKeys, for the core. */
#ifndef REFS_GEOTIFF_H
#define REFS_GEOTIFF_H

#include <vector>

#include "gdal_compat.h"
#include "refs/cf.h"

/** GDAL's reading of GeoKeys. */
refs_cf_geotiff RefsGeoTiff();

/** The bands of a TIFF file that begins with `head`; nothing where that does not tell. */
std::vector<GDALColorInterp> RefsTiffColors(refs_bytes head);

#endif
