/* multidim_meaning.cpp -- see multidim_meaning.h. */
#include "multidim_meaning.h"

#include <algorithm>

#include "multidim_conventions.h"
#include "multidim_number.h"
#include "pixel_type.h"
#include "report.h"

namespace {

/* -- nodata -- */

std::vector<GByte> elementOf(const refs_array_meta *meta, const RefsPixelType &pixels) {
    std::vector<GByte> element(static_cast<size_t>(GDALGetDataTypeSizeBytes(pixels.gdal)));
    if (pixels.promote != nullptr)
        pixels.promote(meta->fill, element.data(), 1);
    else
        std::copy_n(meta->fill, element.size(), element.begin());
    return element;
}

template <class T>
std::vector<GByte> elementOf(T value, GDALDataType from, const RefsPixelType &pixels) {
    std::vector<GByte> element(static_cast<size_t>(GDALGetDataTypeSizeBytes(pixels.gdal)));
    GDALCopyWords(&value, from, 0, element.data(), pixels.gdal, 0, 1);
    return element;
}

/* Bands are unsigned more often than arrays are, and their nodata with them. */
double asStored(const refs_array_meta *meta, const refs_cf_meaning &meaning) {
    const int bits = static_cast<int>(meta->dtype.size) * 8;
    const bool wrapped = meaning.unsigned_values && !RefsHasUnsignedBytes(meta) &&
                         meaning.nodata >= static_cast<double>(1 << (bits - 1));
    return wrapped ? meaning.nodata - static_cast<double>(1 << bits) : meaning.nodata;
}

std::vector<GByte> nodataOfAttribute(const refs_array_meta *meta, const refs_cf_meaning &meaning,
                                     const RefsPixelType &pixels) {
    switch (meaning.nodata_kind) {
    case REFS_CF_NODATA_INT64:
        return elementOf(meaning.nodata_int64, GDT_Int64, pixels);
    case REFS_CF_NODATA_UINT64:
        return elementOf(meaning.nodata_uint64, GDT_UInt64, pixels);
    default:
        return elementOf(asStored(meta, meaning), GDT_Float64, pixels);
    }
}

/* What was the attribute _FillValue before a writer of sets moved it: not what a format fills with
 * by itself, which for HDF5 is zero. */
bool fillIsDeclared(const refs_array_meta *meta, const refs_cf_meaning &meaning) {
    const bool zero = std::all_of(meta->fill, meta->fill + meta->dtype.size,
                                  [](uint8_t byte) { return byte == 0; });
    const bool sameValue =
        !zero || (meaning.nodata_kind == REFS_CF_NODATA_DOUBLE && meaning.nodata == 0);
    return meta->has_fill && !RefsFillIsDefault(meta) && sameValue;
}

/* Only _FillValue: other missing values stay attributes, which GDALMDArray::GetMask reads. */
std::vector<GByte> nodataOf(const refs_array_meta *meta, const refs_cf_meaning &meaning) {
    const RefsPixelType pixels = RefsPixelTypeOf(meta->dtype, RefsHasUnsignedBytes(meta));
    if (meaning.nodata_kind == REFS_CF_NODATA_NONE || pixels.gdal == GDT_Unknown) return {};
    if (refs_json_get(meta->attributes, "_FillValue") != nullptr)
        return nodataOfAttribute(meta, meaning, pixels);
    return fillIsDeclared(meta, meaning) ? elementOf(meta, pixels) : std::vector<GByte>();
}

/* -- packing -- */

RefsPacking packingOf(const refs_array_meta *meta, const char *name, bool has, double value) {
    const refs_json *attribute = refs_json_get(meta->attributes, name);
    const GDALDataType storage = refs_json_is_number(attribute)
                                     ? RefsNumberTypeOf(name, attribute, GDT_Unknown)
                                     : GDT_Float64;
    return {has, value, storage};
}

/* -- spatial reference -- */

/** Numbers of the dimensions that x and y are, from 1: the last two where nothing tells. */
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
spatialRefOf(const refs_cf_meaning &meaning,
             const std::vector<std::shared_ptr<GDALDimension>> &dimensions) {
    if (meaning.crs == nullptr || dimensions.size() < 2) return nullptr;
    const RefsQuietErrors quiet;
    auto spatialRef = std::make_shared<OGRSpatialReference>();
    if (spatialRef->SetFromUserInput(meaning.crs) != OGRERR_NONE) return nullptr;
    spatialRef->SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    spatialRef->SetDataAxisToSRSAxisMapping(axisMapping(*spatialRef, dimensions));
    return spatialRef;
}

} // namespace

bool RefsHasUnsignedBytes(const refs_array_meta *meta) {
    return meta->dtype.type == REFS_TYPE_INT && meta->dtype.size == 1 &&
           EQUAL(RefsAttributeText(meta->attributes, "_Unsigned").c_str(), "true");
}

RefsArrayMeaning RefsDescribeArray(RefsArchive &archive, const refs_array_meta *meta,
                                   const std::vector<std::shared_ptr<GDALDimension>> &dimensions,
                                   bool assumeLongLat) {
    const refs_cf_values values = archive.values();
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    options.assume_longlat = assumeLongLat;
    options.notes = RefsReportNotes();
    RefsMeaning meaning;
    refs_error error = REFS_ERROR_INIT;
    if (refs_cf_describe(archive.hierarchy(), meta, assumeLongLat ? &values : nullptr, &options,
                         &meaning, &error) != REFS_OK)
        RefsReport(error);

    RefsArrayMeaning described;
    if (meaning.unit != nullptr) described.unit = meaning.unit;
    described.nodata = nodataOf(meta, meaning);
    described.scale = packingOf(meta, "scale_factor", meaning.has_scale, meaning.scale);
    described.offset = packingOf(meta, "add_offset", meaning.has_offset, meaning.offset);
    described.spatialRef = spatialRefOf(meaning, dimensions);
    return described;
}
