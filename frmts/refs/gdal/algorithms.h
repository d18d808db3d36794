/* algorithms.h -- the verbs of the program refs as "gdal driver refs index …". */
#ifndef REFS_GDAL_ALGORITHMS_H
#define REFS_GDAL_ALGORITHMS_H

#include "gdal_compat.h"

/** Tells GDAL of them, from GDAL 3.11 on; before, it has no such programs. */
void RefsTellAlgorithms(GDALDriver *driver);

#endif
