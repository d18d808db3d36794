/* no_algorithms.cpp -- replaces algorithms.cpp before GDAL 3.11, which introduced algorithms. */
#include "algorithms.h"

void RefsTellAlgorithms(GDALDriver *) {}
