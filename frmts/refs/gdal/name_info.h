/* name_info.h -- the parts of names, for programs that move sets. */
#ifndef REFS_NAME_INFO_H
#define REFS_NAME_INFO_H

#include "gdal_compat.h"

/** Tells GDAL which parts of names are paths, where GDAL asks. */
void RefsTellNameInfo(GDALDriver *driver);

#endif
