/* create.h -- how GDAL writes by this driver: masters with fragments, and netCDF files. */
#ifndef REFS_GDAL_CREATE_H
#define REFS_GDAL_CREATE_H

#include "gdal_compat.h"

/** Sets the creation options of the driver, and the functions that write. */
void RefsDeclareCreation(GDALDriver *driver);

#endif
