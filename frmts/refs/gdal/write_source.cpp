/* write_source.cpp -- see write_source.h. */
#include "write_source.h"

#include <algorithm>
#include <cmath>

#include "guard.h"
#include "interrupt.h"
#include "refs/attribute_class.h"
#include "refs/written.h"

/* -- attributes -------------------------------------------------------------------------------- */

void RefsJsonMembers::add(const std::string &name, const std::string &json) {
    refs_buf quoted = REFS_BUF_INIT;
    if (has(name) || refs_json_write_string(refs_str_view(name.data(), name.size()), &quoted,
                                            nullptr) != REFS_OK)
        return;
    text_ += (text_.empty() ? "" : ",") +
             std::string(reinterpret_cast<const char *>(quoted.data), quoted.size) + ":" + json;
    names_.push_back(name);
    refs_buf_clear(&quoted);
}

bool RefsJsonMembers::has(const std::string &name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
}

void RefsJsonMembers::leaveOut(const std::string &name) {
    if (!has(name)) names_.push_back(name);
}

void RefsJsonMembers::addText(const std::string &name, const std::string &text) {
    refs_buf quoted = REFS_BUF_INIT;
    if (refs_json_write_string(refs_str_view(text.data(), text.size()), &quoted, nullptr) ==
        REFS_OK)
        add(name, std::string(reinterpret_cast<const char *>(quoted.data), quoted.size));
    refs_buf_clear(&quoted);
}

static std::string numberText(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
    const bool isWhole = number == std::floor(number) && std::fabs(number) < 1e15;
    return CPLSPrintf(isWhole ? "%.1f" : "%.17g", number);
}

void RefsJsonMembers::addTexts(const std::string &name, CSLConstList texts) {
    refs_buf list = REFS_BUF_INIT;
    refs_status status = refs_buf_append(&list, "[", 1, nullptr);
    for (CSLConstList text = texts; text != nullptr && *text != nullptr; text++) {
        if (text != texts && status == REFS_OK) status = refs_buf_append(&list, ",", 1, nullptr);
        if (status == REFS_OK)
            status = refs_json_write_string(refs_str_from(*text), &list, nullptr);
    }
    if (status == REFS_OK) status = refs_buf_append(&list, "]", 1, nullptr);
    if (status == REFS_OK)
        add(name, std::string(reinterpret_cast<const char *>(list.data), list.size));
    refs_buf_clear(&list);
    if (status != REFS_OK) throw std::bad_alloc();
}

void RefsJsonMembers::addNumber(const std::string &name, double number) {
    add(name, numberText(number));
}

void RefsJsonMembers::addNumbers(const std::string &name, const std::vector<double> &numbers) {
    std::string list;
    for (const double number : numbers) list += (list.empty() ? "" : ",") + numberText(number);
    add(name, "[" + list + "]");
}

void RefsJsonMembers::addNumberTexts(const std::string &name,
                                     const std::vector<std::string> &numbers) {
    std::string list;
    for (const std::string &number : numbers) list += (list.empty() ? "" : ",") + number;
    add(name, numbers.size() == 1 ? list : "[" + list + "]");
}

void RefsJsonMembers::addMetadata(const std::string &name, const std::string &text) {
    std::string inside = text;
    const bool isList = text.size() > 2 && text.front() == '{' && text.back() == '}';
    if (isList) inside = text.substr(1, text.size() - 2);
    const CPLStringList words(CSLTokenizeString2(inside.c_str(), ",", CSLT_STRIPLEADSPACES));
    bool isNumber = words.size() > 0 && (isList || words.size() == 1);
    for (int i = 0; i < words.size(); i++)
        isNumber = isNumber && CPLGetValueType(words[i]) != CPL_VALUE_STRING;
    if (isNumber)
        add(name, isList ? "[" + inside + "]" : inside);
    else
        addText(name, text);
}

refs_json_doc *RefsJsonMembers::parse(refs_error *error) const {
    const std::string text = "{" + text_ + "}";
    refs_json_doc *doc = nullptr;
    return refs_json_parse(refs_str_view(text.data(), text.size()), &doc, error) == REFS_OK
               ? doc
               : nullptr;
}

/* -- types ------------------------------------------------------------------------------------- */

bool RefsDtypeOf(GDALDataType type, refs_dtype *dtype) {
    *dtype = refs_dtype{};
    dtype->size = static_cast<size_t>(GDALGetDataTypeSizeBytes(type));
    if (type == GDT_Unknown || GDALDataTypeIsComplex(type)) return false;
    if (GDALDataTypeIsFloating(type))
        dtype->type = REFS_TYPE_FLOAT;
    else
        dtype->type = GDALDataTypeIsSigned(type) ? REFS_TYPE_INT : REFS_TYPE_UINT;
    return true;
}

/* -- everything -------------------------------------------------------------------------------- */

void RefsWriteSource::addDimension(const std::string &path, uint64_t size) {
    for (const Dimension &known : dims_)
        if (known.path == path) return;
    dims_.push_back({path, size});
}

/** Reads a one-dimensional array from memory. */
static RefsWriteSource::Read fromMemory(std::vector<double> values) {
    return [values](const uint64_t *start, const uint64_t *count, void *dst) {
        memcpy(dst, values.data() + start[0], static_cast<size_t>(count[0]) * sizeof(double));
        return true;
    };
}

void RefsWriteSource::addCoordinate(const std::string &name, std::vector<double> values,
                                    RefsJsonMembers attributes) {
    Array array;
    array.path = "/" + name;
    (void)RefsDtypeOf(GDT_Float64, &array.dtype);
    array.dims = {name};
    array.shape.assign(1, values.size());
    array.attributes = std::move(attributes);
    array.read = fromMemory(std::move(values));
    arrays_.push_back(std::move(array));
}

const refs_json *RefsWriteSource::parsed(const RefsJsonMembers &members, refs_error *error) {
    docs_.emplace_back(members.parse(error));
    return docs_.back() != nullptr ? refs_json_root(docs_.back().get()) : nullptr;
}

/* -- callbacks of the core --------------------------------------------------------------------- */

refs_status RefsWriteSource::failRead(const Array &array, const RefsQuietErrors &quiet,
                                      refs_error *error) const {
    return refs_fail(error, isCancelled_ ? REFS_CANCELLED : REFS_IO, "%s: cannot be read: %s",
                     array.path.c_str(), quiet.said().c_str());
}

refs_status RefsWriteSource::readBox(void *self, const refs_cfa_box *box, void *values,
                                     refs_error *error) {
    const auto *source = static_cast<RefsWriteSource *>(self);
    const Array &array = source->arrays_[box->array];
    const RefsCancelScope scope({goesOn, self});
    RefsQuietErrors quiet;
    return RefsGuard(error, [&] {
        return array.read(box->start, box->count, values) ? REFS_OK
                                                          : source->failRead(array, quiet, error);
    });
}

refs_status RefsWriteSource::readAllStrings(void *self, size_t i, refs_buf *strings,
                                            refs_error *error) {
    const auto *source = static_cast<RefsWriteSource *>(self);
    const Array &array = source->arrays_[i];
    const RefsCancelScope scope({goesOn, self});
    RefsQuietErrors quiet;
    return RefsGuard(error, [&] {
        std::string all;
        if (!array.readStrings(all)) return source->failRead(array, quiet, error);
        return refs_buf_append(strings, all.data(), all.size(), error);
    });
}

bool RefsWriteSource::goesOn(void *self) {
    return report(self, 0);
}

bool RefsWriteSource::report(void *self, double done) {
    auto *source = static_cast<RefsWriteSource *>(self);
    if (source->progress_ == nullptr) return true;
    source->isCancelled_ = source->isCancelled_ || !source->caller_.goesOn(done, "");
    return !source->isCancelled_;
}

const refs_cfa_source *RefsWriteSource::get(refs_error *error) {
    for (const Group &group : groups_)
        cGroups_.push_back({group.path.c_str(), parsed(group.attributes, error)});
    for (const Dimension &dim : dims_) {
        const bool grows =
            unlimited_.FindString(dim.path.substr(dim.path.rfind('/') + 1).c_str()) >= 0;
        cDims_.push_back(
            {dim.path.c_str(), dim.size, grows ? REFS_CFA_UNLIMITED : REFS_CFA_FIXED, false});
    }
    for (const Array &array : arrays_) {
        dimNames_.emplace_back();
        for (const std::string &name : array.dims) dimNames_.back().push_back(name.c_str());
        refs_cfa_variable variable{};
        variable.path = array.path.c_str();
        variable.dtype = array.dtype;
        variable.rank = array.dims.size();
        variable.dims = dimNames_.back().data();
        variable.attributes = parsed(array.attributes, error);
        variable.fill = array.fill.empty() ? nullptr : array.fill.data();
        variable.keeps_default = !isOfNetcdf_;
        cArrays_.push_back({variable, array.shape.data()});
    }
    source_ = {this,           cGroups_.data(), cGroups_.size(), cDims_.data(),
               cDims_.size(),  cArrays_.data(), cArrays_.size(), readBox,
               readAllStrings, report,          nullptr,         nullptr};
    return &source_;
}

/* -- reference systems ------------------------------------------------------------------------- */

namespace {

/** Attributes of a grid mapping variable; `transform` may be null. Throws std::bad_alloc. */
RefsJsonMembers gridMappingOf(const OGRSpatialReference *srs, const double *transform) {
    RefsJsonMembers members;
    char *wkt1 = nullptr, *wkt2 = nullptr;
    const char *const options[] = {"FORMAT=WKT2_2019", nullptr};
    const bool hasWkt2 = srs != nullptr && srs->exportToWkt(&wkt2, options) == OGRERR_NONE;
    const bool hasWkt1 = srs != nullptr && srs->exportToWkt(&wkt1) == OGRERR_NONE;
    const refs_cf_written_crs crs = {srs != nullptr && srs->IsGeographic(),
                                     hasWkt2 ? wkt2 : nullptr, hasWkt1 ? wkt1 : nullptr, transform};
    refs_cf_items items{};
    const refs_status status = refs_cf_grid_mapping_items(&crs, &items, nullptr);
    CPLFree(wkt1);
    CPLFree(wkt2);
    for (size_t i = 0; i < items.n; i++) {
        const char *equals = strchr(items.items[i], '=');
        members.addText({items.items[i], static_cast<size_t>(equals - items.items[i])}, equals + 1);
    }
    refs_cf_items_clear(&items);
    if (status != REFS_OK) throw std::bad_alloc();
    return members;
}

/** Whether this is the CRS that readers assume for longitudes and latitudes without a grid mapping
 * (WGS 84). */
bool isAssumed(const OGRSpatialReference &srs) {
    OGRSpatialReference wgs84;
    const char *const options[] = {"IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES",
                                   "CRITERION=EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS", nullptr};
    return wgs84.importFromEPSG(4326) == OGRERR_NONE && srs.IsSame(&wgs84, options);
}

std::string wktOf(const OGRSpatialReference &srs) {
    char *text = nullptr;
    const char *const options[] = {"FORMAT=WKT2_2019", nullptr};
    const std::string wkt = srs.exportToWkt(&text, options) == OGRERR_NONE ? text : "";
    CPLFree(text);
    return wkt;
}

} // namespace

RefsWriteSource::Array RefsWriteSource::gridMapping(const std::string &path,
                                                    RefsJsonMembers attributes) {
    Array crs;
    crs.path = path;
    (void)RefsDtypeOf(GDT_Int32, &crs.dtype);
    crs.attributes = std::move(attributes);
    crs.read = [](const uint64_t *, const uint64_t *, void *value) {
        memset(value, 0, sizeof(int32_t));
        return true;
    };
    return crs;
}

/* -- rasters ----------------------------------------------------------------------------------- */

namespace {

/** A raster as one variable. Its dimensions are those of NETCDF_DIM_EXTRA, then y and x. */
class Raster {
  public:
    explicit Raster(GDALDataset *dataset) : dataset_(dataset), band_(dataset->GetRasterBand(1)) {
        const OGRSpatialReference *srs = dataset->GetSpatialRef();
        isGeographic_ = srs != nullptr && srs->IsGeographic();
        hasSrs_ = srs != nullptr;
        hasTransform_ = dataset->GetGeoTransform(transform_) == CE_None;
        x_ = axisCalled(wordsOf(REFS_CF_AXIS_X));
        y_ = axisCalled(wordsOf(REFS_CF_AXIS_Y));
        findExtra();
    }

    const std::string &x() const { return x_; }
    const std::string &y() const { return y_; }
    GDALRasterBand *band() const { return band_; }

    /** Whether a grid mapping variable is needed: for the CRS, or for a geotransform that axes
     * cannot express. */
    bool hasGridMapping() const { return hasSrs_ || isPlacedByTransform(); }

    /** Dimensions of the bands, slowest first. */
    struct Extra {
        std::string name;
        uint64_t size;
        std::vector<double> values;
    };
    const std::vector<Extra> &extra() const { return extra_; }

    /** The metadata item of `variable`: "variable#name=value". */
    void addMetadata(const std::string &variable, RefsJsonMembers &members) const {
        const std::string prefix = variable + "#";
        for (CSLConstList item = dataset_->GetMetadata(); item != nullptr && *item; item++) {
            if (!STARTS_WITH_CI(*item, prefix.c_str())) continue;
            char *key = nullptr;
            const char *value = CPLParseNameValue(*item, &key);
            if (key != nullptr && value != nullptr) members.addMetadata(key + prefix.size(), value);
            CPLFree(key);
        }
    }

    /** Whether the geotransform is not rotated: axes hold the centres of pixels. */
    bool hasAxes() const { return hasTransform_ && refs_cf_has_axes(transform_); }

    /** Whether the grid mapping variable must state the geotransform. */
    bool isPlacedByTransform() const {
        return hasTransform_ && !refs_cf_axes_tell_geotransform(
                                    transform_, static_cast<uint64_t>(dataset_->GetRasterXSize()),
                                    static_cast<uint64_t>(dataset_->GetRasterYSize()));
    }
    std::vector<double> centres(bool ofRows) const {
        const int n = ofRows ? dataset_->GetRasterYSize() : dataset_->GetRasterXSize();
        std::vector<double> values;
        for (int i = 0; i < n; i++)
            values.push_back(transform_[ofRows ? 3 : 0] + (i + 0.5) * transform_[ofRows ? 5 : 1]);
        return values;
    }
    RefsJsonMembers axisAttributes(bool ofRows) const {
        RefsJsonMembers members;
        refs_cf_axis_words words = wordsOf(ofRows ? REFS_CF_AXIS_Y : REFS_CF_AXIS_X);
        const char *unit = nullptr;
        if (hasSrs_ && !isGeographic_ && dataset_->GetSpatialRef()->GetLinearUnits(&unit) != 1 &&
            unit != nullptr)
            words.units = unit;
        members.addText("axis", words.axis);
        if (words.standard_name != nullptr) members.addText("standard_name", words.standard_name);
        if (words.units != nullptr) members.addText("units", words.units);
        addMetadata(ofRows ? y_ : x_, members);
        return members;
    }
    RefsJsonMembers gridMapping() const {
        return gridMappingOf(dataset_->GetSpatialRef(),
                             isPlacedByTransform() ? transform_ : nullptr);
    }

    bool read(const uint64_t *start, const uint64_t *count, void *values) const {
        const size_t n = extra_.size();
        std::vector<uint64_t> index(start, start + n);
        auto *dst = static_cast<GByte *>(values);
        const GDALDataType type = band_->GetRasterDataType();
        const size_t slice = static_cast<size_t>(count[n] * count[n + 1]) *
                             static_cast<size_t>(GDALGetDataTypeSizeBytes(type));
        for (bool more = true; more; dst += slice) {
            uint64_t number = 0;
            for (size_t d = 0; d < n; d++) number = number * extra_[d].size + index[d];
            GDALRasterBand *band = dataset_->GetRasterBand(static_cast<int>(number) + 1);
            const int width = static_cast<int>(count[n + 1]), height = static_cast<int>(count[n]);
            const int row = static_cast<int>(start[n]);
            const int first = isReversed() ? dataset_->GetRasterYSize() - row - height : row;
            if (band->RasterIO(GF_Read, static_cast<int>(start[n + 1]), first, width, height, dst,
                               width, height, type, 0, 0, nullptr) != CE_None)
                return false;
            if (isReversed()) reverseRows(dst, width, height);
            more = false;
            for (size_t d = n; d-- > 0 && !more;) {
                more = ++index[d] < start[d] + count[d];
                if (!more) index[d] = start[d];
            }
        }
        return true;
    }

  private:
    /** Whether rows are written bottom-up: readers of netCDF expect that of a raster without a
     * geotransform. */
    bool isReversed() const { return !hasTransform_; }

    void reverseRows(GByte *rows, int width, int height) const {
        const size_t size =
            static_cast<size_t>(width) *
            static_cast<size_t>(GDALGetDataTypeSizeBytes(band_->GetRasterDataType()));
        for (int top = 0, bottom = height - 1; top < bottom; top++, bottom--)
            std::swap_ranges(rows + static_cast<size_t>(top) * size,
                             rows + static_cast<size_t>(top + 1) * size,
                             rows + static_cast<size_t>(bottom) * size);
    }

    refs_cf_axis_words wordsOf(refs_cf_axis_kind kind) const {
        return refs_cf_words_of_axis(kind, isGeographic_ ? REFS_CF_GRID_LONGLAT
                                           : hasSrs_     ? REFS_CF_GRID_PROJECTED
                                                         : REFS_CF_GRID_PLAIN);
    }

    /** The dimension with this axis attribute in the metadata, else the usual name. */
    std::string axisCalled(const refs_cf_axis_words &words) const {
        for (CSLConstList item = dataset_->GetMetadata(); item != nullptr && *item; item++) {
            const char *hash = strchr(*item, '#');
            if (hash != nullptr && EQUAL(hash, (std::string("#axis=") + words.axis).c_str()))
                return std::string(*item, hash);
        }
        return words.name;
    }

    void findExtra() {
        const char *list = dataset_->GetMetadataItem("NETCDF_DIM_EXTRA");
        const CPLStringList names(CSLTokenizeString2(list != nullptr ? list : "", "{,} ", 0));
        uint64_t bands = 1;
        for (int i = 0; i < names.size(); i++) {
            extra_.push_back(extraCalled(names[i]));
            bands *= extra_.back().size;
        }
        const auto count = static_cast<uint64_t>(dataset_->GetRasterCount());
        if (!extra_.empty() && bands == count) return;
        extra_.clear();
        if (count > 1) extra_.push_back({"band", count, {}});
    }
    Extra extraCalled(const char *name) const {
        const std::string prefix = std::string("NETCDF_DIM_") + name;
        Extra extra{name, 0, {}};
        const char *def = dataset_->GetMetadataItem((prefix + "_DEF").c_str());
        const char *list = dataset_->GetMetadataItem((prefix + "_VALUES").c_str());
        const CPLStringList parts(CSLTokenizeString2(def != nullptr ? def : "", "{,} ", 0));
        const CPLStringList values(CSLTokenizeString2(list != nullptr ? list : "", "{,} ", 0));
        if (parts.size() > 0) extra.size = static_cast<uint64_t>(CPLAtoGIntBig(parts[0]));
        for (int i = 0; i < values.size(); i++) extra.values.push_back(CPLAtof(values[i]));
        if (extra.values.size() != extra.size) extra.values.clear();
        return extra;
    }

    GDALDataset *dataset_;
    GDALRasterBand *band_;
    double transform_[6] = {};
    bool isGeographic_ = false, hasSrs_ = false, hasTransform_ = false;
    std::string x_, y_;
    std::vector<Extra> extra_;
};

/** The band's nodata value as one element, or nothing. */
std::vector<GByte> nodataOf(GDALRasterBand *band) {
    const GDALDataType type = band->GetRasterDataType();
    std::vector<GByte> element(static_cast<size_t>(GDALGetDataTypeSizeBytes(type)));
    int has = FALSE;
    if (type == GDT_Int64) {
        const int64_t value = band->GetNoDataValueAsInt64(&has);
        memcpy(element.data(), &value, sizeof value);
    } else if (type == GDT_UInt64) {
        const uint64_t value = band->GetNoDataValueAsUInt64(&has);
        memcpy(element.data(), &value, sizeof value);
    } else {
        const double value = band->GetNoDataValue(&has);
        GDALCopyWords(&value, GDT_Float64, 0, element.data(), type, 0, 1);
    }
    return has ? element : std::vector<GByte>();
}

/** Checks that all bands have one type, scale and offset. */
refs_status checkBands(GDALDataset *dataset, refs_error *error) {
    const int n = dataset->GetRasterCount();
    if (n == 0)
        return refs_fail(
            error, REFS_INVALID,
            "the source has no bands: use one of its subdatasets, or gdalmdimtranslate");
    GDALRasterBand *first = dataset->GetRasterBand(1);
    for (int i = 2; i <= n; i++) {
        GDALRasterBand *band = dataset->GetRasterBand(i);
        if (band->GetRasterDataType() != first->GetRasterDataType())
            return refs_fail(error, REFS_UNSUPPORTED,
                             "band %d and band 1 differ in type: convert them to one type with -ot",
                             i);
        if (band->GetScale() != first->GetScale() || band->GetOffset() != first->GetOffset())
            return refs_fail(
                error, REFS_UNSUPPORTED,
                "band %d and band 1 differ in scale or offset: unpack them with -unscale", i);
    }
    return REFS_OK;
}

/** Whether all bands have this metadata item with this value. */
bool isOfAllBands(GDALDataset *dataset, const char *key, const char *value) {
    for (int i = 2; i <= dataset->GetRasterCount(); i++) {
        const char *other = dataset->GetRasterBand(i)->GetMetadataItem(key);
        if (other == nullptr || strcmp(other, value) != 0) return false;
    }
    return true;
}

/** Whether the packing in the metadata is that of the band; not if the source was unpacked since.
 */
bool isPackedAsTold(GDALDataset *dataset, const std::string &variable, const char *key,
                    double packing) {
    const char *stated = dataset->GetRasterBand(1)->GetMetadataItem(key);
    if (stated == nullptr) stated = dataset->GetMetadataItem((variable + "#" + key).c_str());
    return stated == nullptr || std::fabs(CPLAtof(stated) - packing) <= 1e-12 * std::fabs(packing);
}

/** Drops attributes that the band's own scale, offset and nodata replace; if the source was
 * unpacked since, those in packed units, too. */
void leaveOutPacking(GDALDataset *dataset, const std::string &variable, RefsJsonMembers &members) {
    GDALRasterBand *band = dataset->GetRasterBand(1);
    const auto leaveOut = [&members](unsigned classes) {
        for (size_t i = 0; refs_cf_attribute_at(classes, i) != nullptr; i++)
            members.leaveOut(refs_cf_attribute_at(classes, i));
    };
    leaveOut(REFS_CF_SCALING | REFS_CF_SIGNS);
    members.leaveOut("_FillValue");
    if (isPackedAsTold(dataset, variable, "scale_factor", band->GetScale()) &&
        isPackedAsTold(dataset, variable, "add_offset", band->GetOffset()))
        return;
    leaveOut(REFS_CF_MISSING | REFS_CF_VALID);
}

/** Bytes without nodata are all valid; stated, since aggregations would otherwise use one of them
 * for missing values. */
void addValidBytes(GDALRasterBand *band, RefsJsonMembers &members) {
    int has = FALSE;
    (void)band->GetNoDataValue(&has);
    const bool isBytes = GDALGetDataTypeSizeBytes(band->GetRasterDataType()) == 1;
    if (has || !isBytes || members.has("valid_min") || members.has("valid_max")) return;
    members.addMetadata("valid_range",
                        GDALDataTypeIsSigned(band->GetRasterDataType()) ? "{-128,127}" : "{0,255}");
}

/** The metadata items that all bands share, except names that drivers generate. */
void addBandMetadata(GDALDataset *dataset, const std::string &variable, RefsJsonMembers &members) {
    GDALRasterBand *band = dataset->GetRasterBand(1);
    if (*band->GetUnitType() != '\0') members.addText("units", band->GetUnitType());
    int has = FALSE;
    const double scale = band->GetScale(&has);
    if (has && scale != 1) members.addNumber("scale_factor", scale);
    const double offset = band->GetOffset(&has);
    if (has && offset != 0) members.addNumber("add_offset", offset);
    leaveOutPacking(dataset, variable, members);
    for (CSLConstList item = band->GetMetadata(); item != nullptr && *item; item++) {
        char *key = nullptr;
        const char *value = CPLParseNameValue(*item, &key);
        const bool isOurs =
            key != nullptr && (STARTS_WITH(key, "NETCDF_") || STARTS_WITH(key, "STATISTICS_"));
        if (key != nullptr && value != nullptr && !isOurs && isOfAllBands(dataset, key, value))
            members.addMetadata(key, value);
        CPLFree(key);
    }
}

/** The global attributes among the metadata of a dataset. */
void addGlobalMetadata(GDALDataset *dataset, RefsJsonMembers &members) {
    for (CSLConstList item = dataset->GetMetadata(); item != nullptr && *item; item++) {
        char *key = nullptr;
        const char *value = CPLParseNameValue(*item, &key);
        const std::string name = key != nullptr ? key : "";
        CPLFree(key);
        if (value == nullptr || STARTS_WITH(name.c_str(), "NETCDF_") ||
            STARTS_WITH(name.c_str(), "GEOTIFF_") || name == "AREA_OR_POINT" ||
            name == "NC_GLOBAL#GDAL") // marks files of the netCDF driver
            continue;
        if (STARTS_WITH(name.c_str(), "NC_GLOBAL#"))
            members.addText(name.substr(strlen("NC_GLOBAL#")), value);
        else if (name.find('#') == std::string::npos)
            members.addText(name, value);
    }
    if (!members.has("Conventions")) members.addText("Conventions", "CF-1.8");
}

} // namespace

refs_status RefsWriteSource::takeRaster(GDALDataset *dataset, CSLConstList options,
                                        refs_error *error) {
    const char *variable = CSLFetchNameValue(options, "VARIABLE");
    REFS_TRY(checkBands(dataset, error));
    const auto raster = std::make_shared<Raster>(dataset);
    groups_.emplace_back();
    addGlobalMetadata(dataset, groups_.back().attributes);

    Array field;
    const char *said = raster->band()->GetMetadataItem("NETCDF_VARNAME");
    const std::string name = variable != nullptr ? variable : said != nullptr ? said : "data";
    field.path = "/" + name;
    if (!RefsDtypeOf(raster->band()->GetRasterDataType(), &field.dtype))
        return refs_fail(error, REFS_UNSUPPORTED, "netCDF has no type %s",
                         GDALGetDataTypeName(raster->band()->GetRasterDataType()));
    for (const Raster::Extra &extra : raster->extra()) {
        addDimension("/" + extra.name, extra.size);
        field.dims.push_back(extra.name);
        field.shape.push_back(extra.size);
        RefsJsonMembers attributes;
        raster->addMetadata(extra.name, attributes);
        if (!extra.values.empty()) addCoordinate(extra.name, extra.values, attributes);
    }
    for (const bool ofRows : {true, false}) {
        const std::string &axis = ofRows ? raster->y() : raster->x();
        const int n = ofRows ? dataset->GetRasterYSize() : dataset->GetRasterXSize();
        addDimension("/" + axis, static_cast<uint64_t>(n));
        field.dims.push_back(axis);
        field.shape.push_back(static_cast<uint64_t>(n));
        if (raster->hasAxes())
            addCoordinate(axis, raster->centres(ofRows), raster->axisAttributes(ofRows));
    }
    if (raster->hasGridMapping()) {
        arrays_.push_back(gridMapping("/crs", raster->gridMapping()));
        field.attributes.addText("grid_mapping", "crs");
    }
    field.fill = nodataOf(raster->band());
    addBandMetadata(dataset, name, field.attributes);
    raster->addMetadata(name, field.attributes);
    if (EQUAL(CSLFetchNameValueDef(options, "LAYOUT", ""), "CFA"))
        addValidBytes(raster->band(), field.attributes);
    field.read = [raster](const uint64_t *start, const uint64_t *count, void *values) {
        return raster->read(start, count, values);
    };
    arrays_.push_back(std::move(field));
    return REFS_OK;
}

/* -- groups ------------------------------------------------------------------------------------ */

namespace {

/** Writes numbers as text: a double cannot hold those of 64 bits. */
std::vector<std::string> numbersOf(const GDALAttribute &attribute) {
    std::vector<std::string> texts;
    const GDALDataType type = attribute.GetDataType().GetNumericDataType();
    if (type == GDT_Int64 || type == GDT_UInt64) {
        const GDALRawResult raw = attribute.ReadAsRaw();
        for (size_t at = 0; raw.data() != nullptr && at < raw.size(); at += sizeof(int64_t)) {
            int64_t number = 0;
            memcpy(&number, raw.data() + at, sizeof number);
            texts.push_back(type == GDT_Int64 ? std::to_string(number)
                                              : std::to_string(static_cast<uint64_t>(number)));
        }
        return texts;
    }
    const bool isFloat = GDALDataTypeIsFloating(type);
    for (const double number : attribute.ReadAsDoubleArray())
        texts.emplace_back(isFloat ? numberText(number) : CPLSPrintf("%.0f", number));
    return texts;
}

void addNumericAttribute(const GDALAttribute &attribute, RefsJsonMembers &members) {
    const std::vector<std::string> numbers = numbersOf(attribute);
    if (!numbers.empty()) members.addNumberTexts(attribute.GetName(), numbers);
}

void addAttribute(const GDALAttribute &attribute, RefsJsonMembers &members) {
    const std::string &name = attribute.GetName();
    const GDALExtendedDataTypeClass kind = attribute.GetDataType().GetClass();
    if (kind == GEDTC_NUMERIC) return addNumericAttribute(attribute, members);
    if (kind != GEDTC_STRING) return;
    if (attribute.GetTotalElementsCount() != 1) {
        members.addTexts(name, attribute.ReadAsStringArray());
        return;
    }
    const char *text = attribute.ReadAsString();
    if (text != nullptr) members.addText(name, text);
}

template <class Holder> void addAttributes(const Holder &holder, RefsJsonMembers &members) {
    for (const auto &attribute : holder.GetAttributes())
        if (attribute != nullptr) addAttribute(*attribute, members);
}

RefsWriteSource::Read readOf(const std::shared_ptr<GDALMDArray> &array) {
    return [array](const uint64_t *start, const uint64_t *count, void *values) {
        const std::vector<size_t> sizes(count, count + array->GetDimensionCount());
        return array->Read(reinterpret_cast<const GUInt64 *>(start), sizes.data(), nullptr, nullptr,
                           array->GetDataType(), values);
    };
}

RefsWriteSource::ReadStrings readTextsOf(const std::shared_ptr<GDALMDArray> &array) {
    return [array](std::string &strings) {
        std::vector<GUInt64> start(array->GetDimensionCount());
        std::vector<size_t> count;
        size_t n = 1;
        for (const auto &dim : array->GetDimensions()) {
            count.push_back(static_cast<size_t>(dim->GetSize()));
            n *= count.back();
        }
        std::vector<char *> values(n);
        if (!array->Read(start.data(), count.data(), nullptr, nullptr, array->GetDataType(),
                         values.data()))
            return false;
        for (char *value : values) {
            strings += value != nullptr ? value : "";
            strings += '\0';
            CPLFree(value);
        }
        return true;
    };
}

} // namespace

refs_status RefsWriteSource::takeArray(const std::shared_ptr<GDALMDArray> &array,
                                       const std::string &path, refs_error *error) {
    Array taken;
    const GDALExtendedDataType &type = array->GetDataType();
    taken.path = path;
    if (type.GetClass() == GEDTC_STRING) {
        taken.dtype.type = REFS_TYPE_OBJECT;
        taken.readStrings = readTextsOf(array);
    } else if (type.GetClass() != GEDTC_NUMERIC ||
               !RefsDtypeOf(type.GetNumericDataType(), &taken.dtype)) {
        return refs_fail(error, REFS_UNSUPPORTED,
                         "%s: netCDF has no such type: select other arrays with -array",
                         path.c_str());
    } else {
        taken.read = readOf(array);
        const auto *nodata = static_cast<const GByte *>(array->GetRawNoDataValue());
        if (nodata != nullptr) taken.fill.assign(nodata, nodata + taken.dtype.size);
    }
    for (const auto &dim : array->GetDimensions()) {
        const std::string &full = dim->GetFullName();
        addDimension(full.empty() || full[0] != '/' ? "/" + dim->GetName() : full, dim->GetSize());
        taken.dims.push_back(dim->GetName());
        taken.shape.push_back(dim->GetSize());
    }
    addAttributes(*array, taken.attributes);
    // Drivers do not list it where nodata says as much to them, which may be another value.
    const auto missing = array->GetAttribute("missing_value");
    if (missing != nullptr) addAttribute(*missing, taken.attributes);
    bool has = false;
    if (!array->GetUnit().empty()) taken.attributes.addText("units", array->GetUnit());
    const double scale = array->GetScale(&has);
    if (has) taken.attributes.addNumber("scale_factor", scale);
    const double offset = array->GetOffset(&has);
    if (has) taken.attributes.addNumber("add_offset", offset);
    addGridMapping(*array, path, taken.attributes);
    arrays_.push_back(std::move(taken));
    return REFS_OK;
}

/* Drivers return the CRS of an array and hide the attribute that names its grid mapping variable,
 * which may not be copied. */
void RefsWriteSource::addGridMapping(const GDALMDArray &array, const std::string &path,
                                     RefsJsonMembers &attributes) {
    const auto srs = array.GetSpatialRef();
    if (srs == nullptr || srs->IsEmpty() || array.GetDimensionCount() < 2 ||
        attributes.has("grid_mapping"))
        return;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    const auto named = array.GetAttribute("grid_mapping");
    const char *name = named != nullptr ? named->ReadAsString() : nullptr;
    if (name != nullptr && names_.count(folder + name) > 0) {
        attributes.addText("grid_mapping", name);
        return;
    }
    if (named == nullptr && isAssumed(*srs)) return;
    std::string &known = gridMappings_[folder + wktOf(*srs)];
    if (known.empty()) {
        known = "crs";
        for (int number = 2; names_.count(folder + known) > 0; number++)
            known = "crs_" + std::to_string(number);
        names_.insert(folder + known);
        arrays_.push_back(gridMapping(folder + known, gridMappingOf(srs.get(), nullptr)));
    }
    attributes.addText("grid_mapping", known);
}

refs_status RefsWriteSource::takeGroup(const GDALGroup &group, const std::string &path,
                                       refs_error *error) {
    groups_.emplace_back();
    groups_.back().path = path;
    addAttributes(group, groups_.back().attributes);
    const char *const withScalars[] = {"SHOW_ZERO_DIM=YES", nullptr};
    for (const auto &dim : group.GetDimensions())
        addDimension(path + "/" + dim->GetName(), dim->GetSize());
    const auto names = group.GetMDArrayNames(const_cast<char **>(withScalars));
    for (const std::string &name : names) names_.insert(path + "/" + name);
    for (const std::string &name : names) {
        const auto array = group.OpenMDArray(name);
        if (array == nullptr)
            return refs_fail(error, REFS_IO, "%s/%s: cannot be opened", path.c_str(), name.c_str());
        REFS_TRY(takeArray(array, path + "/" + name, error));
    }
    for (const std::string &name : group.GetGroupNames()) {
        const auto inside = group.OpenGroup(name);
        if (inside != nullptr) REFS_TRY(takeGroup(*inside, path + "/" + name, error));
    }
    return REFS_OK;
}
