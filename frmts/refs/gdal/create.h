/* create.h -- how GDAL writes by this driver: masters with fragments, and netCDF files. */
#ifndef REFS_GDAL_CREATE_H
#define REFS_GDAL_CREATE_H

#include "gdal_compat.h"

/** Gives the driver its creation options, and what writes. */
void RefsTellCreation(GDALDriver *driver);

#endif
