/* geotiff.h -- what GDAL's GeoTIFF driver knows of GeoKeys, for the core. */
#ifndef REFS_GEOTIFF_H
#define REFS_GEOTIFF_H

#include "refs/cf.h"

/** GDAL's reading of GeoKeys. */
refs_cf_geotiff RefsGeoTiff();

#endif
