/* dataset.cpp -- one array as a raster, see dataset.h. */
#include "dataset.h"

#include <numeric>
#include <vector>

#include "geotiff.h"
#include "report.h"

namespace {

/** GDAL's own limit on bands. */
constexpr uint64_t maxBands = 65536;

/** A raster dimension of GDAL, or REFS_LIMIT. */
refs_status rasterSize(const refs_array_meta *meta, size_t dim, int *size, refs_error *error) {
    const uint64_t n = dim == REFS_CF_NO_DIM ? 1 : meta->shape[dim];
    if (n == 0)
        return refs_fail(error, REFS_INVALID, "%s: dimension %s is empty: there are no pixels",
                         meta->path, meta->dims[dim]);
    if (n > INT_MAX)
        return refs_fail(error, REFS_LIMIT, "%s: dimension %s is longer than %d", meta->path,
                         meta->dims[dim], INT_MAX);
    *size = static_cast<int>(n);
    return REFS_OK;
}

refs_status failOnTooManyBands(const refs_array_meta *meta, const refs_cf_meaning &meaning,
                               refs_error *error) {
    RefsBuffer axes;
    REFS_TRY(refs_cf_list_band_axes(&meaning, &axes, error));
    return refs_fail(error, REFS_LIMIT,
                     "%s: has more than %d bands: select fewer along %s, as in %s[%s=0:99]",
                     meta->path, static_cast<int>(maxBands), axes.text().c_str(), meta->path,
                     meaning.band_axes[0].name);
}

} // namespace

RefsDataset::RefsDataset(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                         const refs_array_meta *meta)
    : name_(name), keeping_(RefsKeepsIn(name)), archive_(std::move(archive)), meta_(meta) {
    spatialRef_.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    if (keeping_ == RefsKeeping::nowhere) nPamFlags |= GPF_DISABLED;
    SetPhysicalFilename(RefsKeptBeside(name_).c_str());
    SetSubdatasetName((RefsArrayName(name_, meta->path) + RefsSelectionSuffix(name_)).c_str());
}

/* GDALPamDataset's would not call BuildPamFilename of this class. */
RefsDataset::~RefsDataset() {
    RefsDataset::FlushCache(true);
}

GDALDataset *RefsDataset::create(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                                 const refs_array_meta *meta, CSLConstList options,
                                 refs_error *error) {
    std::unique_ptr<RefsDataset> dataset(new RefsDataset(name, std::move(archive), meta));
    if (dataset->describe(options, error) != REFS_OK || dataset->addBands(error) != REFS_OK) {
        refs_error_prefix(error, "%s", name.location.c_str());
        return nullptr;
    }
    dataset->SetDescription(
        (RefsSubdatasetName(name, meta->path) + RefsSelectionSuffix(name)).c_str());
    dataset->loadKept();
    return dataset.release();
}

/* GDAL would look beside a remote set for what is not in the proxy folder, .aux files among it,
 * unless it believes to know all files there. */
void RefsDataset::loadKept() {
    const std::string file = RefsKeptBeside(name_);
    if (keeping_ == RefsKeeping::beside) {
        TryLoadXML();
        oOvManager.Initialize(this, ":::VIRTUAL:::");
    } else if (PamGetProxy(file.c_str()) != nullptr) {
        CPLStringList onlyFile;
        onlyFile.AddString(CPLGetFilename(file.c_str()));
        TryLoadXML(onlyFile.List());
    }
}

/* Asked for when there is something to keep. GDAL would first try beside a remote set, and in an
 * object store that may succeed. */
const char *RefsDataset::BuildPamFilename() {
    const std::string file = RefsKeptBeside(name_);
    const bool isKept =
        keeping_ == RefsKeeping::beside || PamGetProxy(file.c_str()) != nullptr ||
        (keeping_ == RefsKeeping::inProxyFolder && PamAllocateProxy(file.c_str()) != nullptr);
    return isKept ? GDALPamDataset::BuildPamFilename() : nullptr;
}

refs_status RefsDataset::describe(CSLConstList options, refs_error *error) {
    array_ = archive_->array(meta_, error);
    if (array_ == nullptr) return error->status;
    const refs_cf_values values = archive_->values();
    refs_cf_options cfOptions = REFS_CF_OPTIONS_INIT;
    cfOptions.assume_longlat = CPLFetchBool(options, "ASSUME_LONGLAT", true);
    cfOptions.require_coordinates =
        EQUAL(CSLFetchNameValueDef(options, "COORDINATES", "OPTIONAL"), "REQUIRED");
    cfOptions.notes = RefsReportNotes();
    cfOptions.selection = name_.selection.c_str();
    cfOptions.geotiff = RefsGeoTiff();
    REFS_TRY(refs_cf_describe(archive_->hierarchy(), meta_, &values, &cfOptions, &meaning_, error));

    pixelType_ = RefsPixelTypeOf(meta_->dtype, meaning_.unsigned_values);
    if (pixelType_.gdal == GDT_Unknown)
        return refs_fail(error, REFS_UNSUPPORTED, "%s: its elements are no numbers", meta_->path);
    longitudes_.reset(new RefsLongitudes(meta_, meaning_, pixelType_.gdal));
    if (meaning_.crs != nullptr) {
        RefsQuietErrors quiet;
        if (spatialRef_.SetFromUserInput(meaning_.crs) != OGRERR_NONE) {
            spatialRef_.Clear();
            refs_note(&cfOptions.notes, REFS_NOTE_WARNING, "%s: its CRS is not understood: %s",
                      meta_->path, quiet.said().c_str());
        }
    }
    metadata_ = RefsListOf(meaning_.metadata);
    categories_ = RefsListOf(meaning_.categories);
    if (name_.array.empty()) // the set was asked for, which may have more arrays
        REFS_TRY(RefsListSubdatasets(name_, archive_->hierarchy(), subdatasets_, error));
    setGeolocation();
    setColors();
    overviews_.reset(new RefsOverviews(name_, archive_, options));
    overviews_->find(meta_);
    return REFS_OK;
}

refs_status RefsDataset::addBands(refs_error *error) {
    REFS_TRY(rasterSize(meta_, meaning_.x_dim, &nRasterXSize, error));
    REFS_TRY(rasterSize(meta_, meaning_.y_dim, &nRasterYSize, error));
    uint64_t n;
    if (!refs_cf_n_bands(&meaning_, &n) || n > maxBands)
        return failOnTooManyBands(meta_, meaning_, error);
    for (int number = 1; number <= static_cast<int>(n); number++)
        SetBand(number, new RefsBand(this, number));
    return REFS_OK;
}

/** GDAL has colour tables for these types alone. */
void RefsDataset::setColors() {
    if (meaning_.n_colors == 0 || (pixelType_.gdal != GDT_Byte && pixelType_.gdal != GDT_UInt16))
        return;
    colors_.reset(new GDALColorTable(GPI_RGB));
    for (size_t i = 0; i < meaning_.n_colors; i++) {
        const refs_cf_color &color = meaning_.colors[i];
        const GDALColorEntry entry = {color.red, color.green, color.blue, color.alpha};
        colors_->SetColorEntry(static_cast<int>(i), &entry);
    }
}

void RefsDataset::setGeolocation() {
    geolocation2_ = RefsListOf(meaning_.geolocation2);
    if (meaning_.geolocation_x == nullptr || meaning_.geolocation_y == nullptr) return;
    geolocation_ = RefsListOf(meaning_.geolocation);
    geolocation_.SetNameValue("X_DATASET",
                              RefsSubdatasetName(name_, meaning_.geolocation_x->path).c_str());
    geolocation_.SetNameValue("Y_DATASET",
                              RefsSubdatasetName(name_, meaning_.geolocation_y->path).c_str());
}

CPLErr RefsDataset::GetGeoTransform(RefsGeoTransform transform) REFS_GEOTRANSFORM_CONST {
    if (!meaning_.has_geotransform) return GDALPamDataset::GetGeoTransform(transform);
    for (int i = 0; i < 6; i++) transform[i] = meaning_.geotransform[i];
    return CE_None;
}

const OGRSpatialReference *RefsDataset::GetSpatialRef() const {
    return spatialRef_.IsEmpty() ? GDALPamDataset::GetSpatialRef() : &spatialRef_;
}

char **RefsDataset::GetMetadataDomainList() {
    char **domains =
        BuildMetadataDomainList(GDALPamDataset::GetMetadataDomainList(), TRUE, "", "REFS", nullptr);
    if (subdatasets_.size() > 0) domains = CSLAddString(domains, "SUBDATASETS");
    if (geolocation2_.size() > 0) domains = CSLAddString(domains, "GEOLOCATION2");
    return geolocation_.size() > 0 ? CSLAddString(domains, "GEOLOCATION") : domains;
}

RefsMetadataList RefsDataset::GetMetadata(const char *domain) {
    if (RefsIsDefaultDomain(domain)) return metadata_.List();
    if (EQUAL(domain, "GEOLOCATION") && geolocation_.size() > 0) return geolocation_.List();
    if (EQUAL(domain, "GEOLOCATION2") && geolocation2_.size() > 0) return geolocation2_.List();
    if (EQUAL(domain, "SUBDATASETS") && subdatasets_.size() > 0) return subdatasets_.List();
    if (EQUAL(domain, "REFS")) {
        readCounts();
        return counts_.List();
    }
    return GDALPamDataset::GetMetadata(domain);
}

const char *RefsDataset::GetMetadataItem(const char *item, const char *domain) {
    for (const char *own : {"", "GEOLOCATION", "GEOLOCATION2", "REFS", "SUBDATASETS"})
        if (EQUAL(domain != nullptr ? domain : "", own))
            return CSLFetchNameValue(GetMetadata(domain), item);
    return GDALPamDataset::GetMetadataItem(item, domain);
}

void RefsDataset::readCounts() {
    const refs_fetch_stats fetched = archive_->fetchStats();
    refs_array_stats read;
    refs_array_get_stats(array_, &read);
    const std::pair<const char *, uint64_t> counts[] = {
        {"REQUESTS", fetched.requests},          {"BYTES", fetched.bytes},
        {"CHUNKS_DECODED", read.chunks_decoded}, {"CHUNKS_ABSENT", read.chunks_absent},
        {"CACHE_HITS", read.cache_hits},         {"BYTES_COPIED", read.bytes_copied}};
    for (const auto &count : counts)
        counts_.SetNameValue(count.first, std::to_string(count.second).c_str());
}

char **RefsDataset::GetFileList() {
    return CSLAddString(nullptr, RefsHideSecrets(name_.location.c_str()).c_str());
}

CPLErr RefsDataset::readWindow(const RefsWindow &window) const {
    refs_error error = REFS_ERROR_INIT;
    const RefsWindowReader reader(array_, meaning_, pixelType_, longitudes_.get());
    return reader.read(window, &error) == REFS_OK ? CE_None : RefsReport(error);
}

/* Reduced resolutions are read from blocks here and there: only full ones are worth reading ahead.
 */
CPLErr RefsDataset::AdviseRead(int xOffset, int yOffset, int xSize, int ySize, int bufferXSize,
                               int bufferYSize, GDALDataType bufferType, int nBandsWanted,
                               int *bandMap, RefsAdviseOptions) {
    if (bufferXSize != xSize || bufferYSize != ySize) return CE_None;
    std::vector<int> all;
    if (bandMap == nullptr) {
        all.resize(static_cast<size_t>(GetRasterCount()));
        std::iota(all.begin(), all.end(), 1);
        bandMap = all.data();
        nBandsWanted = GetRasterCount();
    }
    const RefsWindowReader reader(array_, meaning_, pixelType_, longitudes_.get());
    reader.advise(
        {xOffset, yOffset, xSize, ySize, bandMap, nBandsWanted, nullptr, bufferType, 0, 0, 0});
    return CE_None;
}

CPLErr RefsDataset::IRasterIO(GDALRWFlag flag, int xOffset, int yOffset, int xSize, int ySize,
                              void *data, int bufferXSize, int bufferYSize, GDALDataType bufferType,
                              int nBandsWanted, BANDMAP_TYPE bandMap, GSpacing pixelSpace,
                              GSpacing lineSpace, GSpacing bandSpace, GDALRasterIOExtraArg *extra) {
    if (flag == GF_Read && bufferXSize == xSize && bufferYSize == ySize)
        return readWindow({xOffset, yOffset, xSize, ySize, bandMap, nBandsWanted, data, bufferType,
                           pixelSpace, lineSpace, bandSpace});
    return GDALPamDataset::IRasterIO(flag, xOffset, yOffset, xSize, ySize, data, bufferXSize,
                                     bufferYSize, bufferType, nBandsWanted, bandMap, pixelSpace,
                                     lineSpace, bandSpace, extra);
}
