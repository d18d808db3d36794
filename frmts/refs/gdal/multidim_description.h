/* multidim_description.h -- what attributes say of an array, as GDAL's arrays have it. */
#ifndef REFS_MULTIDIM_DESCRIPTION_H
#define REFS_MULTIDIM_DESCRIPTION_H

#include <memory>
#include <string>
#include <vector>

#include "gdal_compat.h"
#include "refs/zarr.h"

struct RefsMultidimSet;

/** A factor or an offset, and the type that its attribute has. */
struct RefsPacking {
    bool has = false;
    double value = 0;
    GDALDataType storage = GDT_Unknown;
};

struct RefsArrayDescription {
    std::string unit;
    std::vector<GByte> nodata;    ///< one element as GDAL sees it, or nothing
    bool hasOtherMissing = false; ///< missing_value says more than `nodata`
    RefsPacking scale, offset;
    std::shared_ptr<OGRSpatialReference> spatialRef; ///< or null
};

/** Describes an array along `dimensions`, without reading any values unless longitudes and
 * latitudes are to be treated as WGS 84. Parts that cannot be understood are left out. */
RefsArrayDescription
RefsDescribeArray(const RefsMultidimSet &set, const refs_array_meta *meta,
                  const std::vector<std::shared_ptr<GDALDimension>> &dimensions);

#endif
