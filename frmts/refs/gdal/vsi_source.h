/* vsi_source.h -- GDAL's file layer as what the core reads from. */
#ifndef REFS_VSI_SOURCE_H
#define REFS_VSI_SOURCE_H

#include "refs/vfs.h"

/** Any name that VSIFOpenL takes; whatever options the user gave GDAL hold. */
const refs_vfs *RefsVsiSource();

/** Whether GDAL can read a byte of a remote file. Says nothing, and keeps no failure in mind. */
bool RefsVsiCanRead(const char *location);

#endif
