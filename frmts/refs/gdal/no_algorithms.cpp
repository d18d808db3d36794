/* no_algorithms.cpp -- in the place of algorithms.cpp with a GDAL that has none: before 3.11. */
#include "algorithms.h"

void RefsTellAlgorithms(GDALDriver *) {}
