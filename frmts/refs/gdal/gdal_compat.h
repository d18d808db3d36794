/* gdal_compat.h -- where GDAL 3.6 to 3.13 differ, and nowhere else. */
#ifndef REFS_GDAL_COMPAT_H
#define REFS_GDAL_COMPAT_H

#include "gdal_pam.h"
#include "gdal_priv.h"
#include "refs/cf.h"

#define REFS_GDAL_AT_LEAST(major, minor) (GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(major, minor, 0))

// GDAL 3.12 passes geotransforms as a class.
#if REFS_GDAL_AT_LEAST(3, 12)
using RefsGeoTransform = GDALGeoTransform &;
#define REFS_GEOTRANSFORM_CONST const
#else
using RefsGeoTransform = double *;
#define REFS_GEOTRANSFORM_CONST
#endif

// GDAL 3.13 returns metadata lists as constant.
#if REFS_GDAL_AT_LEAST(3, 13)
using RefsMetadataList = CSLConstList;
using RefsAdviseOptions = CSLConstList;
#else
using RefsMetadataList = char **;
using RefsAdviseOptions = char **;
#endif

#ifndef BANDMAP_TYPE
#define BANDMAP_TYPE int *
#endif

// Types that older versions lack are promoted, see docs.
#if REFS_GDAL_AT_LEAST(3, 7)
#define REFS_HAS_INT8 1
#else
#define REFS_HAS_INT8 0
#endif
#if REFS_GDAL_AT_LEAST(3, 11)
#define REFS_HAS_FLOAT16 1
#else
#define REFS_HAS_FLOAT16 0
#endif

// GDAL 3.7 closes datasets before it deletes them, and 3.13 has them tell the progress of that.
#if REFS_GDAL_AT_LEAST(3, 7)
#define REFS_HAS_CLOSE 1
#else
#define REFS_HAS_CLOSE 0
#endif
#if REFS_GDAL_AT_LEAST(3, 13)
#define REFS_CLOSE_PARAMETERS GDALProgressFunc progress, void *progressData
#define REFS_CLOSE_ARGUMENTS  progress, progressData
#else
#define REFS_CLOSE_PARAMETERS
#define REFS_CLOSE_ARGUMENTS
#endif

// GDAL 3.13 gives drivers creation options that they cannot change.
#if REFS_GDAL_AT_LEAST(3, 13)
#define REFS_CREATION_OPTIONS CSLConstList
#else
#define REFS_CREATION_OPTIONS char **
#endif

// GDAL 3.8 asks drivers for the parts of their names.
#if REFS_GDAL_AT_LEAST(3, 8)
#define REFS_HAS_SUBDATASET_INFO 1
#else
#define REFS_HAS_SUBDATASET_INFO 0
#endif

// GDAL 3.10 clones datasets for the threads that read one.
#if REFS_GDAL_AT_LEAST(3, 10)
#define REFS_HAS_THREAD_SAFE 1
#else
#define REFS_HAS_THREAD_SAFE 0
#endif

// The netCDF driver came to place more files, or otherwise.
constexpr refs_cf_placement refsPlacement = {REFS_GDAL_AT_LEAST(3, 7),  REFS_GDAL_AT_LEAST(3, 8),
                                             REFS_GDAL_AT_LEAST(3, 9),  REFS_GDAL_AT_LEAST(3, 11),
                                             REFS_GDAL_AT_LEAST(3, 11), REFS_GDAL_AT_LEAST(3, 11)};

// GDAL 3.12 asks arrays where the bytes of a chunk are.
#if REFS_GDAL_AT_LEAST(3, 12)
#define REFS_HAS_RAW_BLOCK_INFO 1
#else
#define REFS_HAS_RAW_BLOCK_INFO 0
#endif

#endif
