/* band.cpp -- one index along the band axes, see dataset.h. */
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>

#include "dataset.h"
#include "guard.h"
#include "report.h"

namespace {

/** Blocks follow chunks. GDAL caches whole blocks, so larger chunks are divided. */
constexpr int maxBlockBytes = 8 * 1024 * 1024;

int chunkSize(const refs_array_meta *meta, size_t dim, int rasterSize) {
    if (dim == REFS_CF_NO_DIM) return 1;
    return static_cast<int>(
        std::min<uint64_t>(meta->chunk[dim], static_cast<uint64_t>(rasterSize)));
}

} // namespace

RefsBand::RefsBand(RefsDataset *dataset, int number) {
    poDS = dataset;
    nBand = number;
    eDataType = dataset->pixelType().gdal;
    nRasterXSize = dataset->GetRasterXSize();
    nRasterYSize = dataset->GetRasterYSize();
    nBlockXSize = chunkSize(dataset->meta(), dataset->description().x_dim, nRasterXSize);
    nBlockYSize = chunkSize(dataset->meta(), dataset->description().y_dim, nRasterYSize);
    const int maxPixels = maxBlockBytes / std::max(1, GDALGetDataTypeSizeBytes(eDataType));
    nBlockXSize = std::min(nBlockXSize, maxPixels);
    nBlockYSize = std::min(nBlockYSize, maxPixels / std::max(1, nBlockXSize));
}

CPLErr RefsBand::IReadBlock(int xBlock, int yBlock, void *data) {
    const int x = xBlock * nBlockXSize, y = yBlock * nBlockYSize;
    const GSpacing pixel = GDALGetDataTypeSizeBytes(eDataType);
    return refs()->readWindow({x, y, std::min(nBlockXSize, nRasterXSize - x),
                               std::min(nBlockYSize, nRasterYSize - y), &nBand, 1, data, eDataType,
                               pixel, pixel * nBlockXSize, 0});
}

CPLErr RefsBand::IRasterIO(GDALRWFlag flag, int xOffset, int yOffset, int xSize, int ySize,
                           void *data, int bufferXSize, int bufferYSize, GDALDataType bufferType,
                           GSpacing pixelSpace, GSpacing lineSpace, GDALRasterIOExtraArg *extra) {
    RefsWindow window{xOffset, yOffset,    xSize,      ySize,     &nBand, 1,
                      data,    bufferType, pixelSpace, lineSpace, 0};
    if (flag == GF_Read && bufferXSize == xSize && bufferYSize == ySize &&
        window.isWholePixels(*extra))
        return refs()->readWindow(window.reportTo(*extra));
    RefsNestedReads nested(*extra, refs()->nestedReads());
    if (flag == GF_Read && needsLoad(window, bufferXSize, bufferYSize, extra->eResampleAlg) &&
        refs()->loadWindow(nested.reportLoadTo(window)) != CE_None)
        return CE_Failure;
    return GDALPamRasterBand::IRasterIO(flag, xOffset, yOffset, xSize, ySize, data, bufferXSize,
                                        bufferYSize, bufferType, pixelSpace, lineSpace,
                                        nested.extra());
}

namespace {

/** Arguments for reads by a function that computes a result for a band. */
GDALRasterIOExtraArg extraOf(GDALProgressFunc progress, void *user) {
    GDALRasterIOExtraArg extra;
    INIT_RASTERIO_EXTRA_ARG(extra);
    extra.pfnProgress = progress;
    extra.pProgressData = user;
    return extra;
}

} // namespace

CPLErr RefsBand::ComputeStatistics(int approximately, double *least, double *most, double *mean,
                                   double *deviation, GDALProgressFunc progress, void *user) {
    RefsNestedReads asking(extraOf(progress, user), refs()->nestedReads());
    return GDALPamRasterBand::ComputeStatistics(approximately, least, most, mean, deviation,
                                                asking.extra()->pfnProgress,
                                                asking.extra()->pProgressData);
}

CPLErr RefsBand::GetHistogram(double least, double most, int nBuckets, GUIntBig *buckets,
                              int withOutside, int approximately, GDALProgressFunc progress,
                              void *user) {
    RefsNestedReads asking(extraOf(progress, user), refs()->nestedReads());
    return GDALPamRasterBand::GetHistogram(least, most, nBuckets, buckets, withOutside,
                                           approximately, asking.extra()->pfnProgress,
                                           asking.extra()->pProgressData);
}

CPLErr RefsBand::GetDefaultHistogram(double *least, double *most, int *nBuckets, GUIntBig **buckets,
                                     int force, GDALProgressFunc progress, void *user) {
    RefsNestedReads asking(extraOf(progress, user), refs()->nestedReads());
    return GDALPamRasterBand::GetDefaultHistogram(least, most, nBuckets, buckets, force,
                                                  asking.extra()->pfnProgress,
                                                  asking.extra()->pProgressData);
}

/* Whether to fetch the window at once, because GDAL will read it block by block or in parts of a
 * million pixels. Not if it reads an overview, skips blocks, or has them in its cache. */
bool RefsBand::needsLoad(const RefsWindow &window, int bufferXSize, int bufferYSize,
                         GDALRIOResampleAlg resampling) {
    const bool isReduced = bufferXSize < window.width || bufferYSize < window.height;
    if (isReduced && GetOverviewCount() > 0) return false;
    if (resampling == GRIORA_NearestNeighbour &&
        (window.width / bufferXSize >= nBlockXSize || window.height / bufferYSize >= nBlockYSize))
        return false;
    return !hasBlockAt(window.x + window.width - 1, window.y + window.height - 1);
}

bool RefsBand::hasBlockAt(int x, int y) {
    GDALRasterBlock *block = TryGetLockedBlockRef(x / nBlockXSize, y / nBlockYSize);
    if (block != nullptr) block->DropLock();
    return block != nullptr;
}

CPLErr RefsBand::AdviseRead(int xOffset, int yOffset, int xSize, int ySize, int bufferXSize,
                            int bufferYSize, GDALDataType bufferType, RefsAdviseOptions options) {
    return refs()->AdviseRead(xOffset, yOffset, xSize, ySize, bufferXSize, bufferYSize, bufferType,
                              1, &nBand, options);
}

double RefsBand::GetNoDataValue(int *success) {
    const refs_cf_description &description = refs()->description();
    switch (description.nodata_kind) {
    case REFS_CF_NODATA_NONE:
        return GDALPamRasterBand::GetNoDataValue(success);
    case REFS_CF_NODATA_DOUBLE:
        if (success != nullptr) *success = TRUE;
        return description.nodata;
    case REFS_CF_NODATA_INT64:
        if (success != nullptr) *success = TRUE;
        return static_cast<double>(description.nodata_int64);
    case REFS_CF_NODATA_UINT64:
        if (success != nullptr) *success = TRUE;
        return static_cast<double>(description.nodata_uint64);
    }
    return 0;
}

int64_t RefsBand::GetNoDataValueAsInt64(int *success) {
    if (refs()->description().nodata_kind != REFS_CF_NODATA_INT64)
        return GDALPamRasterBand::GetNoDataValueAsInt64(success);
    if (success != nullptr) *success = TRUE;
    return refs()->description().nodata_int64;
}

uint64_t RefsBand::GetNoDataValueAsUInt64(int *success) {
    if (refs()->description().nodata_kind != REFS_CF_NODATA_UINT64)
        return GDALPamRasterBand::GetNoDataValueAsUInt64(success);
    if (success != nullptr) *success = TRUE;
    return refs()->description().nodata_uint64;
}

const refs_cf_sample *RefsBand::sample() const {
    return refs_cf_sample_of(&refs()->description(), static_cast<uint64_t>(nBand - 1));
}

double RefsBand::GetScale(int *success) {
    const refs_cf_sample *of = sample();
    const bool isOwn = of != nullptr && of->has_scale;
    if (!isOwn && !refs()->description().has_scale) return GDALPamRasterBand::GetScale(success);
    if (success != nullptr) *success = TRUE;
    return isOwn ? of->scale : refs()->description().scale;
}

double RefsBand::GetOffset(int *success) {
    const refs_cf_sample *of = sample();
    const bool isOwn = of != nullptr && of->has_offset;
    if (!isOwn && !refs()->description().has_offset) return GDALPamRasterBand::GetOffset(success);
    if (success != nullptr) *success = TRUE;
    return isOwn ? of->offset : refs()->description().offset;
}

const char *RefsBand::GetUnitType() {
    const refs_cf_sample *of = sample();
    if (of != nullptr && of->unit != nullptr) return of->unit;
    const char *unit = refs()->description().unit;
    return unit != nullptr ? unit : GDALPamRasterBand::GetUnitType();
}

char **RefsBand::GetCategoryNames() {
    char **given = GDALPamRasterBand::GetCategoryNames();
    return given != nullptr ? given : refs()->categories();
}

GDALColorTable *RefsBand::GetColorTable() {
    GDALColorTable *given = GDALPamRasterBand::GetColorTable();
    return given != nullptr ? given : refs()->colors();
}

GDALColorInterp RefsBand::GetColorInterpretation() {
    const GDALColorInterp given = GDALPamRasterBand::GetColorInterpretation();
    if (given != GCI_Undefined) return given;
    return refs()->colors() != nullptr ? GCI_PaletteIndex : refs()->colorOf(nBand);
}

/* Overviews built by users come first. */
int RefsBand::GetOverviewCount() {
    const int built = GDALPamRasterBand::GetOverviewCount();
    return built > 0 ? built : refs()->nOverviews();
}

GDALRasterBand *RefsBand::GetOverview(int i) {
    if (GDALPamRasterBand::GetOverviewCount() > 0) return GDALPamRasterBand::GetOverview(i);
    if (i < 0 || i >= refs()->nOverviews()) return nullptr;
    RefsDataset *overview = refs()->overview(i);
    return overview != nullptr && overview->GetRasterCount() == refs()->GetRasterCount()
               ? overview->GetRasterBand(nBand)
               : nullptr;
}

int RefsBand::GetMaskFlags() {
    return refs()->mask() != nullptr ? GMF_PER_DATASET : GDALPamRasterBand::GetMaskFlags();
}

GDALRasterBand *RefsBand::GetMaskBand() {
    RefsMaskBand *mask = refs()->mask();
    return mask != nullptr ? mask : GDALPamRasterBand::GetMaskBand();
}

RefsMaskBand::RefsMaskBand(RefsDataset *mask, RefsDataset *of) : of_(of) {
    poDS = mask;
    nBand = 0;
    eDataType = GDT_Byte;
    nRasterXSize = mask->GetRasterXSize();
    nRasterYSize = mask->GetRasterYSize();
    mask->GetRasterBand(1)->GetBlockSize(&nBlockXSize, &nBlockYSize);
}

CPLErr RefsMaskBand::IReadBlock(int xBlock, int yBlock, void *data) {
    const int x = xBlock * nBlockXSize, y = yBlock * nBlockYSize, first = 1;
    auto *pixels = static_cast<GByte *>(data);
    const RefsWindow window{x,
                            y,
                            std::min(nBlockXSize, nRasterXSize - x),
                            std::min(nBlockYSize, nRasterYSize - y),
                            &first,
                            1,
                            data,
                            eDataType,
                            1,
                            nBlockXSize,
                            0};
    if (static_cast<RefsDataset *>(poDS)->readWindow(window) != CE_None) return CE_Failure;
    for (int row = 0; row < window.height; row++, pixels += nBlockXSize)
        std::replace_if(
            pixels, pixels + window.width, [](GByte pixel) { return pixel != 0; }, 255);
    return CE_None;
}

GDALRasterBand *RefsMaskBand::GetOverview(int i) {
    if (i < 0 || i >= of_->nOverviews()) return nullptr;
    RefsDataset *overview = of_->overview(i);
    return overview != nullptr ? overview->mask() : nullptr;
}

/* Computed on demand, unless PAM or a user has set another one. */
const char *RefsBand::GetDescription() const {
    const char *given = GDALPamRasterBand::GetDescription();
    if (*given != '\0') return given;
    const refs_cf_sample *of = sample();
    if (of != nullptr && of->name != nullptr) return of->name;
    if (!position_.empty()) return position_.c_str();
    refs_error error = REFS_ERROR_INIT;
    const refs_status status = RefsGuard(&error, [&] {
        RefsBuffer text;
        REFS_TRY(refs_cf_band_description(&refs()->description(), static_cast<uint64_t>(nBand - 1),
                                          &text, &error));
        position_ = text.text();
        return REFS_OK;
    });
    if (status != REFS_OK) RefsReport(error);
    return position_.c_str();
}

/* Computed on demand: there may be tens of thousands of bands. */
void RefsBand::describe() {
    if (described_) return;
    described_ = true;
    refs_error error = REFS_ERROR_INIT;
    refs_cf_items items = {nullptr, 0, 0};
    if (refs_cf_band_metadata(&refs()->description(), refs()->meta(),
                              static_cast<uint64_t>(nBand - 1), &items, &error) == REFS_OK)
        metadata_ = RefsListOf(items);
    else
        RefsReport(error);
    refs_cf_items_clear(&items);
}

/* The array's metadata, replaced by those that PAM keeps, such as statistics. Unchanged strings
 * keep their addresses, because other threads may use them. */
RefsMetadataList RefsBand::GetMetadata(const char *domain) {
    if (!RefsIsDefaultDomain(domain)) return GDALPamRasterBand::GetMetadata(domain);
    describe();
    for (CSLConstList kept = GDALPamRasterBand::GetMetadata(domain);
         kept != nullptr && *kept != nullptr; kept++) {
        char *name = nullptr;
        const char *value = CPLParseNameValue(*kept, &name);
        const char *known = value != nullptr ? metadata_.FetchNameValue(name) : nullptr;
        if (value != nullptr && (known == nullptr || strcmp(known, value) != 0))
            metadata_.SetNameValue(name, value);
        CPLFree(name);
    }
    return metadata_.List();
}

int RefsBand::IGetDataCoverageStatus(int xOffset, int yOffset, int xSize, int ySize, int,
                                     double *percent) {
    double share = 1;
    const bool isKnown = refs()->coverage(
        {xOffset, yOffset, xSize, ySize, &nBand, 1, nullptr, eDataType, 0, 0, 0}, &share);
    if (percent != nullptr) *percent = share * 100;
    if (!isKnown) return GDAL_DATA_COVERAGE_STATUS_UNIMPLEMENTED | GDAL_DATA_COVERAGE_STATUS_DATA;
    return (share > 0 ? GDAL_DATA_COVERAGE_STATUS_DATA : 0) |
           (share < 1 ? GDAL_DATA_COVERAGE_STATUS_EMPTY : 0);
}

/* Takes a pixel or a position, as the VRT driver does. */
const char *RefsBand::locationInfo(const char *item) {
    int x = -1, y = -1;
    double geo[2] = {0, 0}, transform[6], inverse[6];
    if (sscanf(item, "Pixel_%d_%d", &x, &y) != 2) {
        if (sscanf(item, "GeoPixel_%lf_%lf", &geo[0], &geo[1]) != 2 ||
            poDS->GetGeoTransform(transform) != CE_None || !GDALInvGeoTransform(transform, inverse))
            return nullptr;
        x = static_cast<int>(floor(inverse[0] + inverse[1] * geo[0] + inverse[2] * geo[1]));
        y = static_cast<int>(floor(inverse[3] + inverse[4] * geo[0] + inverse[5] * geo[1]));
    }
    if (x < 0 || y < 0 || x >= nRasterXSize || y >= nRasterYSize) return nullptr;
    locationInfo_ = refs()->locate({x, y, 1, 1, &nBand, 1, nullptr, eDataType, 0, 0, 0});
    return locationInfo_.empty() ? nullptr : locationInfo_.c_str();
}

const char *RefsBand::GetMetadataItem(const char *item, const char *domain) {
    if (domain != nullptr && EQUAL(domain, "LocationInfo")) return locationInfo(item);
    if (!RefsIsDefaultDomain(domain)) return GDALPamRasterBand::GetMetadataItem(item, domain);
    return CSLFetchNameValue(GetMetadata(domain), item);
}
