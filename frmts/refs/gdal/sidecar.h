/* sidecar.h -- files that lie beside a local set: what GDAL keeps of its arrays, and overviews. */
#ifndef REFS_SIDECAR_H
#define REFS_SIDECAR_H

#include <string>
#include <vector>

#include "gdal_priv.h"
#include "open_name.h"
#include "refs/vfs.h"

/** The files beside the set that `name` is of, as they are now: <set>.aux.xml, <set>.ovr,
 * <set>_<number>.ovr. None of a remote set. */
std::vector<std::string> RefsSidecarFiles(const RefsName &name);

/** The set, as it is shown, and the files beside it: for GDALDataset::GetFileList. */
char **RefsFileList(const RefsName &name);

/** The file of overviews that GDAL keeps as `kept` with the set that `name` is of. */
std::string RefsOverviewFile(const RefsName &name, const std::string &kept);

/** Whether `file` is older than a set with these validators, and so of another state of it. False
 * where their times are not known. */
bool RefsIsOlderThan(const refs_vfs_validators &set, const std::string &file);

/** Has GDAL delete, copy and rename whole sets, each with the files beside it and never a file that
 * it refers to. */
void RefsManageFiles(GDALDriver *driver);

#endif
