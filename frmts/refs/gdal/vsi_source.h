/* vsi_source.h -- GDAL's file layer as what the core reads from. */
#ifndef REFS_VSI_SOURCE_H
#define REFS_VSI_SOURCE_H

#include <cstring>
#include <string>

#include "refs/vfs.h"

/** Any name that VSIFOpenL takes; whatever options the user gave GDAL hold. */
const refs_vfs *RefsVsiSource();

/** Whether a name is, or is made of, standard input, of which GDAL reads to know whether it is
 * there: that may never end. */
inline bool RefsIsStandardInput(const char *location) {
    return strstr(location, "/vsistdin") != nullptr;
}

/** Whether there is such a name, and no folder. */
bool RefsVsiIsFile(const std::string &name);

/** Whether GDAL can read a byte of a remote file. Says nothing, and keeps no failure in mind. */
bool RefsVsiCanRead(const char *location);

#endif
