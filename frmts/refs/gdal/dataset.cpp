/* dataset.cpp -- one array as a raster, see dataset.h. */
#include "dataset.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "guard.h"
#include "report.h"
#include "sidecar.h"

namespace {

/** Whether GDAL can keep statistics and other metadata (PAM) for the set; creates an entry in the
 * proxy folder if that is used. */
refs_status mayKeep(const RefsName &name, RefsKeeping keeping) {
    const std::string file = RefsKeptBeside(name);
    if (keeping == RefsKeeping::beside || PamGetProxy(file.c_str()) != nullptr) return REFS_OK;
    const bool isMade =
        keeping == RefsKeeping::inProxyFolder && PamAllocateProxy(file.c_str()) != nullptr;
    return isMade ? REFS_OK : REFS_NOT_FOUND;
}

/** A suffix for the files that GDAL keeps: a grid rotated to other longitudes needs its own,
 * overviews included. */
std::string turnOf(const refs_cf_description &description) {
    if (description.first_column == 0) return "";
    return " from column " + std::to_string(description.first_column);
}

/** A number that is no coordinate, used for missing values whatever the array's fill value is. */
constexpr const char *noCoordinate = "-1e+30";

/** The nodata value of a VRT source; "" if there is none. */
std::string nodataOf(const refs_cf_description &elements) {
    switch (elements.nodata_kind) {
    case REFS_CF_NODATA_NONE:
        break;
    case REFS_CF_NODATA_DOUBLE:
        return CPLSPrintf("<NODATA>%.17g</NODATA>", elements.nodata);
    case REFS_CF_NODATA_INT64:
        return "<NODATA>" + std::to_string(elements.nodata_int64) + "</NODATA>";
    case REFS_CF_NODATA_UINT64:
        return "<NODATA>" + std::to_string(elements.nodata_uint64) + "</NODATA>";
    }
    return "";
}

/** Scale and offset of longitudes or latitudes as elements of a VRT source, because GDAL's
 * geolocation ignores them; "" if there are none. */
std::string unpackingOf(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    refs_cf_description elements = {};
    refs_error err = REFS_ERROR_INIT;
    if (refs_cf_describe_elements(hierarchy, array, nullptr, &elements, &err) != REFS_OK ||
        (!elements.has_scale && !elements.has_offset))
        return "";
    std::string text = CPLSPrintf("<ScaleOffset>%.17g</ScaleOffset><ScaleRatio>%.17g</ScaleRatio>",
                                  elements.has_offset ? elements.offset : 0.0,
                                  elements.has_scale ? elements.scale : 1.0);
    return text + nodataOf(elements);
}

/** The name of a VRT dataset with one band, the unpacked array. */
std::string unpackedName(const std::string &name, const refs_array_meta *array,
                         const std::string &unpacking) {
    const uint64_t *shape = array->shape + (array->rank > 1 ? array->rank - 2 : 0);
    char *escaped = CPLEscapeString(name.c_str(), -1, CPLES_XML);
    const std::string source = escaped;
    CPLFree(escaped);
    return "<VRTDataset rasterXSize=\"" + std::to_string(shape[array->rank > 1 ? 1 : 0]) +
           "\" rasterYSize=\"" + std::to_string(array->rank > 1 ? shape[0] : 1) +
           "\"><VRTRasterBand dataType=\"Float64\" band=\"1\"><NoDataValue>" + noCoordinate +
           "</NoDataValue><ComplexSource><SourceFilename>" + source +
           "</SourceFilename><SourceBand>1</SourceBand>" + unpacking +
           "</ComplexSource></VRTRasterBand></VRTDataset>";
}

} // namespace

RefsDataset::RefsDataset(std::shared_ptr<const RefsRasterView> view, std::string &problem)
    : view_(std::move(view)), readers_(view_->openReaders()), keeping_(RefsKeepsIn(view_->name())),
      metadata_(RefsListOf(description().metadata)), subdatasets_(view_->subdatasets()),
      categories_(RefsListOf(description().categories)) {
    const RefsName &name = view_->name();
    const std::string selection = RefsSelectionSuffix(name);
    SetDescription(
        RefsSubdatasetName(name, (std::string(meta()->path) + selection).c_str()).c_str());
    if (keeping_ == RefsKeeping::nowhere) nPamFlags |= GPF_DISABLED;
    SetPhysicalFilename(RefsKeptBeside(name).c_str());
    SetSubdatasetName(
        (RefsArrayName(name, meta()->path) + selection + turnOf(description())).c_str());
    nRasterXSize = view_->width();
    nRasterYSize = view_->height();
    for (int number = 1; number <= view_->nBands(); number++)
        SetBand(number, new RefsBand(this, number));
    if (!view_->hasCommonSpatialRef()) makeSpatialRef(problem);
    setGeolocation();
    setGcps();
    setColors();
    overviews_.resize(static_cast<size_t>(view_->nOverviews()));
    loadKept();
}

RefsDataset *RefsDataset::show(std::shared_ptr<const RefsRasterView> view) {
    std::string problem;
    auto *dataset = new RefsDataset(std::move(view), problem);
    dataset->warnOfSpatialRef(problem);
    return dataset;
}

void RefsDataset::warnOfSpatialRef(const std::string &problem) const {
    if (problem.empty()) return;
    const refs_notes notes = RefsReportNotes();
    refs_note(&notes, REFS_NOTE_WARNING, "%s: its CRS is not supported: %s", meta()->path,
              problem.c_str());
}

GDALDataset *RefsDataset::create(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                                 const refs_array_meta *meta, CSLConstList options,
                                 refs_error *error) {
    auto view = RefsRasterView::create(name, std::move(archive), meta, options, error);
    return view != nullptr ? show(std::move(view)) : nullptr;
}

RefsDataset *RefsDataset::overview(int i) {
    std::unique_ptr<RefsDataset> &opened = overviews_[static_cast<size_t>(i)];
    if (opened != nullptr) return opened.get();
    refs_error error = REFS_ERROR_INIT;
    opened.reset(RefsGuardMade(&error, [&]() -> RefsDataset * {
        auto view = view_->overview(i, &error);
        return view != nullptr ? show(std::move(view)) : nullptr;
    }));
    if (opened == nullptr) RefsReport(error);
    return opened.get();
}

RefsMaskBand *RefsDataset::mask() {
    if (isMaskKnown_) return mask_.get();
    isMaskKnown_ = true;
    refs_error error = REFS_ERROR_INIT;
    maskDataset_.reset(RefsGuardMade(&error, [&]() -> RefsDataset * {
        auto view = view_->mask(&error);
        return view != nullptr ? show(std::move(view)) : nullptr;
    }));
    if (maskDataset_ != nullptr) mask_.reset(new RefsMaskBand(maskDataset_.get(), this));
    if (error.status != REFS_OK) RefsReport(error);
    return mask_.get();
}

/* Flushes here, because the destructor of GDALPamDataset cannot call this class's
 * BuildPamFilename. */
RefsDataset::~RefsDataset() {
    RefsDataset::FlushCache(true);
    GDALDeinitGCPs(static_cast<int>(gcps_.size()), gcps_.data());
}

#if REFS_HAS_CLOSE
/* Flushes here, because GDALPamDataset::Close cannot call this class's TrySaveXML. */
CPLErr RefsDataset::Close(REFS_CLOSE_PARAMETERS) {
    const CPLErr saved = FlushCache(true);
    return std::max(saved, GDALPamDataset::Close(REFS_CLOSE_ARGUMENTS));
}
#endif

bool RefsDataset::isOld(const std::string &file) const {
    if (!RefsIsOlderThan(view_->archive()->validators(), file)) return false;
    const refs_notes notes = RefsReportNotes();
    refs_note(&notes, REFS_NOTE_DEBUG, "%s is ignored: it is older than the set", file.c_str());
    return true;
}

/** The file in which GDAL keeps metadata of the set (PAM). */
std::string RefsDataset::keptFile() const {
    const std::string file = RefsKeptBeside(view_->name());
    const char *proxy = PamGetProxy(file.c_str());
    return proxy != nullptr ? proxy : file + ".aux.xml";
}

/* For a remote set, GDAL searches next to the set for files that are not in the proxy folder, such
 * as .aux files, unless it is given a list of all files. */
void RefsDataset::loadKept() {
    const std::string file = RefsKeptBeside(view_->name());
    if (keeping_ != RefsKeeping::nowhere && isOld(keptFile())) {
        if (keeping_ == RefsKeeping::beside) oOvManager.Initialize(this, ":::VIRTUAL:::");
        return;
    }
    if (keeping_ == RefsKeeping::beside) {
        TryLoadXML();
        forgetOldOverviews();
        oOvManager.Initialize(this, ":::VIRTUAL:::");
    } else if (PamGetProxy(file.c_str()) != nullptr) {
        CPLStringList onlyFile;
        onlyFile.AddString(CPLGetFilename(file.c_str()));
        TryLoadXML(onlyFile.List());
    }
}

/* Clears the name of old overviews without marking the dataset as changed. GDALPamDataset may have
 * cached an answer that is out of date. */
void RefsDataset::forgetOldOverviews() {
    const char *kept = GDALDataset::GetMetadataItem("OVERVIEW_FILE", "OVERVIEWS");
    if (kept == nullptr || !isOld(RefsOverviewFile(view_->name(), kept))) return;
    const int flags = nPamFlags;
    SetMetadataItem("OVERVIEW_FILE", nullptr, "OVERVIEWS");
    nPamFlags = flags;
}

/* Removes an old file first, because GDAL would keep its entries for other arrays. If the set was
 * replaced meanwhile, saves nothing: statistics of the old set are wrong for the new one. */
CPLErr RefsDataset::TrySaveXML() {
    bool saves = true;
    const refs_status status = RefsGuard(nullptr, [&] {
        saves = !view_->archive()->isReplaced();
        if (saves && keeping_ != RefsKeeping::nowhere && isOld(keptFile()))
            VSIUnlink(keptFile().c_str());
        return REFS_OK;
    });
    if (status == REFS_OK && saves) return GDALPamDataset::TrySaveXML();
    nPamFlags &= ~GPF_DIRTY;
    return CE_None;
}

/* Removes old overview files first: GDAL gives each new one an unused name, so they would
 * accumulate. */
CPLErr RefsDataset::IBuildOverviews(const char *resampling, int nOverviewsWanted,
                                    const int *overviewList, int nBandsWanted, const int *bandList,
                                    GDALProgressFunc progress, void *progressData,
                                    CSLConstList options) {
    const refs_status status = RefsGuard(nullptr, [this] {
        for (const std::string &file : RefsSidecarFiles(view_->name()))
            if (EQUAL(CPLGetExtension(file.c_str()), "ovr") && isOld(file)) VSIUnlink(file.c_str());
        return REFS_OK;
    });
    return status == REFS_OK ? GDALPamDataset::IBuildOverviews(resampling, nOverviewsWanted,
                                                               overviewList, nBandsWanted, bandList,
                                                               progress, progressData, options)
                             : CE_Failure;
}

/* Called when there is something to save. For a remote set, GDAL would first try to write next to
 * it, which may succeed in an object store. */
const char *RefsDataset::BuildPamFilename() {
    const refs_status status =
        RefsGuard(nullptr, [this] { return mayKeep(view_->name(), keeping_); });
    return status == REFS_OK ? GDALPamDataset::BuildPamFilename() : nullptr;
}

#if REFS_HAS_THREAD_SAFE
bool RefsDataset::CanBeCloned(int scopes, bool) const {
    return scopes == GDAL_OF_RASTER;
}

/* A clone shares the set and the cache, so that nothing is opened again; only GDAL's state for a
 * thread is its own. */
std::unique_ptr<GDALDataset> RefsDataset::Clone(int scopes, bool canShareState) const {
    if (!CanBeCloned(scopes, canShareState)) return nullptr;
    return RefsGuardRaised([&]() -> std::unique_ptr<GDALDataset> {
        std::string problem;
        std::unique_ptr<RefsDataset> clone(new RefsDataset(view_, problem));
        clone->poDriver = poDriver;
        clone->nOpenFlags = nOpenFlags;
        clone->papszOpenOptions = CSLDuplicate(papszOpenOptions);
        return clone;
    });
}
#endif

/** GDAL supports colour tables for these types only. */
void RefsDataset::setColors() {
    if (description().n_colors == 0 ||
        (pixelType().gdal != GDT_Byte && pixelType().gdal != GDT_UInt16))
        return;
    colors_.reset(new GDALColorTable(GPI_RGB));
    for (size_t i = 0; i < description().n_colors; i++) {
        const refs_cf_color &color = description().colors[i];
        const GDALColorEntry entry = {color.red, color.green, color.blue, color.alpha};
        colors_->SetColorEntry(static_cast<int>(i), &entry);
    }
}

void RefsDataset::setGeolocation() {
    geolocation2_ = RefsListOf(description().geolocation2);
    if (description().geolocation_x == nullptr || description().geolocation_y == nullptr) return;
    geolocation_ = RefsListOf(description().geolocation);
    geolocation_.SetNameValue("X_DATASET", coordinateName(description().geolocation_x).c_str());
    geolocation_.SetNameValue("Y_DATASET", coordinateName(description().geolocation_y).c_str());
}

std::string RefsDataset::coordinateName(const refs_array_meta *array) const {
    const std::string name = RefsSubdatasetName(view_->name(), array->path);
    const std::string unpacking = unpackingOf(view_->archive()->hierarchy(), array);
    const bool isTransposed = geolocation_.FetchNameValue("SWAP_XY") != nullptr;
    return unpacking.empty() || array->rank == 0 || isTransposed
               ? name
               : unpackedName(name, array, unpacking);
}

CPLErr RefsDataset::GetGeoTransform(RefsGeoTransform transform) REFS_GEOTRANSFORM_CONST {
    if (!description().has_geotransform) return GDALPamDataset::GetGeoTransform(transform);
    for (int i = 0; i < 6; i++) transform[i] = description().geotransform[i];
    return CE_None;
}

/* Made on demand: opening PROJ's database takes time in each thread, and many programs only read
 * pixels. */
void RefsDataset::makeSpatialRef(std::string &problem) const {
    std::call_once(spatialRefMade_, [&] { spatialRef_ = view_->spatialRef(problem); });
}

const OGRSpatialReference *RefsDataset::GetSpatialRef() const {
    (void)RefsGuard(nullptr, [this] {
        std::string problem;
        makeSpatialRef(problem);
        warnOfSpatialRef(problem);
        return REFS_OK;
    });
    return spatialRef_.IsEmpty() ? GDALPamDataset::GetSpatialRef() : &spatialRef_;
}

/* Ground control points are on WGS 84. */
void RefsDataset::setGcps() {
    const refs_cf_description &of = description();
    if (of.n_gcps == 0) return;
    gcps_.resize(of.n_gcps);
    GDALInitGCPs(static_cast<int>(gcps_.size()), gcps_.data());
    for (size_t i = 0; i < of.n_gcps; i++) {
        GDAL_GCP &gcp = gcps_[i];
        CPLFree(gcp.pszId);
        gcp.pszId = CPLStrdup(("GCP_" + std::to_string(i + 1)).c_str());
        gcp.dfGCPPixel = of.gcps[i].pixel;
        gcp.dfGCPLine = of.gcps[i].line;
        gcp.dfGCPX = of.gcps[i].x;
        gcp.dfGCPY = of.gcps[i].y;
        gcp.dfGCPZ = of.gcps[i].z;
    }
    gcpSpatialRef_.SetFromUserInput("EPSG:4326");
    gcpSpatialRef_.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
}

int RefsDataset::GetGCPCount() {
    return gcps_.empty() ? GDALPamDataset::GetGCPCount() : static_cast<int>(gcps_.size());
}

const GDAL_GCP *RefsDataset::GetGCPs() {
    return gcps_.empty() ? GDALPamDataset::GetGCPs() : gcps_.data();
}

const OGRSpatialReference *RefsDataset::GetGCPSpatialRef() const {
    return gcps_.empty() ? GDALPamDataset::GetGCPSpatialRef() : &gcpSpatialRef_;
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
    if (EQUAL(domain, "REFS")) return readCounts().List();
    return GDALPamDataset::GetMetadata(domain);
}

const char *RefsDataset::GetMetadataItem(const char *item, const char *domain) {
    for (const char *own : {"", "GEOLOCATION", "GEOLOCATION2", "REFS", "SUBDATASETS"})
        if (EQUAL(domain != nullptr ? domain : "", own))
            return CSLFetchNameValue(GetMetadata(domain), item);
    return GDALPamDataset::GetMetadataItem(item, domain);
}

CPLStringList &RefsDataset::readCounts() {
    CPLStringList &own = counts_[std::this_thread::get_id()];
    const refs_fetch_stats fetched = view_->archive()->fetchStats();
    refs_array_stats read;
    refs_array_get_stats(view_->array(), &read);
    const std::pair<const char *, uint64_t> counts[] = {
        {"REQUESTS", fetched.requests},          {"BYTES", fetched.bytes},
        {"CHUNKS_DECODED", read.chunks_decoded}, {"CHUNKS_ABSENT", read.chunks_absent},
        {"CACHE_HITS", read.cache_hits},         {"BYTES_COPIED", read.bytes_copied}};
    for (const auto &count : counts)
        own.SetNameValue(count.first, std::to_string(count.second).c_str());
    const refs_set_scan_costs scan = refs_set_scan_costs_of(view_->archive()->set());
    if (!scan.is_scanned) return own;
    own.SetNameValue("SCAN_ROUNDS", std::to_string(scan.rounds).c_str());
    own.SetNameValue("SCAN_READS", std::to_string(scan.reads).c_str());
    own.SetNameValue("SCAN_BYTES", std::to_string(scan.bytes).c_str());
    own.SetNameValue("SCAN_MILLISECONDS", std::to_string(scan.microseconds / 1000).c_str());
    own.SetNameValue("CHUNKS_INDEXED", std::to_string(scan.indexed_chunks).c_str());
    return own;
}

char **RefsDataset::GetFileList() {
    return RefsGuardRaised([this] { return RefsFileList(view_->name()); });
}

CPLErr RefsDataset::readWindow(RefsWindow window) const {
    if (window.progress == nullptr && nestedReads_ != nullptr) nestedReads_->askFor(window);
    refs_error error = REFS_ERROR_INIT;
    const refs_status status =
        RefsGuard(&error, [&] { return view_->windows(readers_).read(window, &error); });
    return status == REFS_OK ? CE_None : RefsReport(error);
}

CPLErr RefsDataset::loadWindow(const RefsWindow &window) const {
    refs_error error = REFS_ERROR_INIT;
    const refs_status status =
        RefsGuard(&error, [&] { return view_->windows(readers_).load(window, &error); });
    return status == REFS_OK ? CE_None : RefsReport(error);
}

bool RefsDataset::coverage(const RefsWindow &window, double *share) const {
    const refs_status status = RefsGuard(nullptr, [&] {
        return view_->windows(readers_).coverage(window, view_->array(), share, nullptr);
    });
    return status == REFS_OK;
}

namespace {

/** An XML element with a number or a text. */
std::string element(const char *name, const std::string &text) {
    char *escaped = CPLEscapeString(text.c_str(), static_cast<int>(text.size()), CPLES_XML);
    const std::string made = std::string("<") + name + '>' + escaped + "</" + name + '>';
    CPLFree(escaped);
    return made;
}

std::string describe(const refs_array_source &source) {
    std::string xml;
    if (source.target != nullptr) xml += element("File", RefsHideSecrets(source.target));
    xml += element("Variable", source.variable);
    if (source.target == nullptr) xml += "<Absent/>";
    if (source.target == nullptr || source.is_inline || source.is_whole) return xml;
    return xml + element("Offset", std::to_string(source.offset)) +
           element("Length", std::to_string(source.length));
}

refs_status describeSource(void *user, const refs_array_source *source, refs_error *error) {
    return RefsGuard(error, [&] {
        *static_cast<std::string *>(user) += describe(*source);
        return REFS_OK;
    });
}

/** Describes the fragment of an aggregation that contains an element. */
std::string describePartition(const refs_array_meta *meta, const uint64_t *at) {
    refs_partition partition{};
    if (meta->aggregation == nullptr || meta->edges != nullptr ||
        refs_aggregation_find(meta, at, &partition, nullptr) != REFS_OK)
        return "";
    std::string index;
    for (size_t dim = 0; dim < meta->rank; dim++)
        index += (dim > 0 ? "," : "") + std::to_string(partition.index[dim]);
    return element("Partition", index);
}

} // namespace

std::string RefsDataset::locate(const RefsWindow &window) const {
    refs_error error = REFS_ERROR_INIT;
    std::string xml = "<LocationInfo>";
    const refs_status status = RefsGuard(&error, [&] {
        const auto at = view_->windows(readers_).elementOf(window);
        xml += describePartition(meta(), at.data());
        return refs_array_locate(view_->array(), at.data(), describeSource, &xml, &error);
    });
    if (status == REFS_OK) return xml + "</LocationInfo>";
    RefsReport(error);
    return "";
}

/* Only full resolution is prefetched: reads of reduced resolutions need scattered blocks. */
CPLErr RefsDataset::AdviseRead(int xOffset, int yOffset, int xSize, int ySize, int bufferXSize,
                               int bufferYSize, GDALDataType bufferType, int nBandsWanted,
                               int *bandMap, RefsAdviseOptions) {
    if (bufferXSize != xSize || bufferYSize != ySize) return CE_None;
    std::vector<int> first;
    if (bandMap == nullptr) { // the first bands, as in RasterIO(); all bands if nBandsWanted <= 0
        if (nBandsWanted <= 0 || nBandsWanted > GetRasterCount()) nBandsWanted = GetRasterCount();
        const refs_status status = RefsGuard(nullptr, [&] {
            first.resize(static_cast<size_t>(nBandsWanted));
            return REFS_OK;
        });
        if (status != REFS_OK) return CE_None; // advice may be ignored
        std::iota(first.begin(), first.end(), 1);
        bandMap = first.data();
    }
    view_->windows(readers_).advise(
        {xOffset, yOffset, xSize, ySize, bandMap, nBandsWanted, nullptr, bufferType, 0, 0, 0});
    return CE_None;
}

CPLErr RefsDataset::IRasterIO(GDALRWFlag flag, int xOffset, int yOffset, int xSize, int ySize,
                              void *data, int bufferXSize, int bufferYSize, GDALDataType bufferType,
                              int nBandsWanted, BANDMAP_TYPE bandMap, GSpacing pixelSpace,
                              GSpacing lineSpace, GSpacing bandSpace, GDALRasterIOExtraArg *extra) {
    RefsWindow window{xOffset, yOffset,    xSize,      ySize,     bandMap,  nBandsWanted,
                      data,    bufferType, pixelSpace, lineSpace, bandSpace};
    if (flag == GF_Read && bufferXSize == xSize && bufferYSize == ySize &&
        window.isWholePixels(*extra))
        return readWindow(window.reportTo(*extra));
    RefsNestedReads nested(*extra, nestedReads_);
    return GDALPamDataset::IRasterIO(flag, xOffset, yOffset, xSize, ySize, data, bufferXSize,
                                     bufferYSize, bufferType, nBandsWanted, bandMap, pixelSpace,
                                     lineSpace, bandSpace, nested.extra());
}
