/* multidim_description.cpp -- see multidim_description.h. */
#include "multidim_description.h"

#include "geotiff.h"
#include "multidim.h"
#include "multidim_attribute.h"
#include "pixel_type.h"
#include "report.h"

namespace {

template <class T> std::vector<GByte> elementOf(T value, GDALDataType from, GDALDataType to) {
    std::vector<GByte> element(static_cast<size_t>(GDALGetDataTypeSizeBytes(to)));
    GDALCopyWords(&value, from, 0, element.data(), to, 0, 1);
    return element;
}

/** Empty if no element can have the value, such as -9999 in unsigned integers. */
std::vector<GByte> elementOfDouble(double value, GDALDataType to) {
    std::vector<GByte> element = elementOf(value, GDT_Float64, to);
    double copied = 0;
    GDALCopyWords(element.data(), to, 0, &copied, GDT_Float64, 0, 1);
    const bool isReal = GDALDataTypeIsFloating(to) != 0;
    return isReal || copied == value ? element : std::vector<GByte>();
}

std::vector<GByte> nodataOf(const refs_array_meta *meta, const refs_cf_description &description) {
    const GDALDataType type = RefsPixelTypeOf(meta->dtype, RefsIntegersOf(meta)).gdal;
    if (type == GDT_Unknown) return {};
    switch (description.nodata_kind) {
    case REFS_CF_NODATA_NONE:
        return {};
    case REFS_CF_NODATA_INT64:
        return elementOf(description.nodata_int64, GDT_Int64, type);
    case REFS_CF_NODATA_UINT64:
        return elementOf(description.nodata_uint64, GDT_UInt64, type);
    case REFS_CF_NODATA_DOUBLE:
        return elementOfDouble(description.nodata, type);
    }
    return {};
}

RefsPacking packingOf(const refs_array_meta *meta, const char *name, bool has, double value) {
    const refs_json *attribute = refs_json_get(meta->attributes, name);
    const GDALDataType storage = refs_json_is_number(attribute)
                                     ? RefsNumbersOf(name, attribute, GDT_Unknown).type
                                     : GDT_Float64;
    return {has, value, storage};
}

/** Numbers of the dimensions x and y, from 1; the last two if they are unknown. */
std::vector<int> axisMapping(const OGRSpatialReference &spatialRef,
                             const std::vector<std::shared_ptr<GDALDimension>> &dimensions) {
    int x = 0, y = 0, number = 0;
    for (const auto &dimension : dimensions) {
        number++;
        if (dimension->GetType() == GDAL_DIM_TYPE_HORIZONTAL_X) x = number;
        if (dimension->GetType() == GDAL_DIM_TYPE_HORIZONTAL_Y) y = number;
    }
    if (x == 0 || y == 0) {
        x = number;
        y = number - 1;
    }
    const bool yFirst = spatialRef.GetDataAxisToSRSAxisMapping() == std::vector<int>{2, 1};
    return yFirst ? std::vector<int>{y, x} : std::vector<int>{x, y};
}

std::shared_ptr<OGRSpatialReference>
spatialRefOf(const refs_cf_description &description,
             const std::vector<std::shared_ptr<GDALDimension>> &dimensions) {
    if (description.crs == nullptr || dimensions.size() < 2) return nullptr;
    const RefsQuietErrors quiet;
    auto spatialRef = std::make_shared<OGRSpatialReference>();
    if (spatialRef->SetFromUserInput(description.crs) != OGRERR_NONE) return nullptr;
    spatialRef->SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    spatialRef->SetDataAxisToSRSAxisMapping(axisMapping(*spatialRef, dimensions));
    return spatialRef;
}

} // namespace

RefsArrayDescription
RefsDescribeArray(const RefsMultidimSet &set, const refs_array_meta *meta,
                  const std::vector<std::shared_ptr<GDALDimension>> &dimensions) {
    const refs_cf_values values = set.archive->values();
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    options.assume_longlat = set.assumeLongLat;
    options.require_coordinates = set.requireCoordinates;
    if (set.assumeLongLat) options.values = &values;
    options.notes = RefsReportNotes();
    options.geotiff = RefsGeoTiff();
    options.placement = refsPlacement;
    options.as_stored = true;
    RefsDescription description;
    refs_error error = REFS_ERROR_INIT;
    if (refs_cf_describe(set.archive->hierarchy(), meta, &options, &description, &error) != REFS_OK)
        RefsReport(error);

    RefsArrayDescription described;
    if (description.unit != nullptr) described.unit = description.unit;
    described.nodata = nodataOf(meta, description);
    described.hasOtherMissing = description.n_missing > 0;
    described.scale = packingOf(meta, "scale_factor", description.has_scale, description.scale);
    described.offset = packingOf(meta, "add_offset", description.has_offset, description.offset);
    described.spatialRef = spatialRefOf(description, dimensions);
    return described;
}
