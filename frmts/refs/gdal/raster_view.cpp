/* raster_view.cpp -- see raster_view.h. */
#include "raster_view.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

#include "dataset.h"
#include "fork_guard.h"
#include "geotiff.h"
#include "guard.h"
#include "report.h"

namespace {

/** GDAL's own limit on bands. */
constexpr uint64_t maxBands = 65536;

/** Tags of a TIFF file are read only from its beginning. */
constexpr uint64_t maxHeadBytes = 64 * REFS_KIB;

/** A raster dimension of GDAL, or REFS_LIMIT. */
refs_status rasterSize(const refs_array_meta *meta, size_t dim, int *size, refs_error *error) {
    const uint64_t n = dim == REFS_CF_NO_DIM ? 1 : meta->shape[dim];
    if (n == 0)
        return refs_fail(error, REFS_INVALID, "%s: no pixels: dimension %s is empty", meta->path,
                         meta->dims[dim]);
    if (n > INT_MAX)
        return refs_fail(error, REFS_LIMIT, "%s: dimension %s is longer than GDAL's limit of %d",
                         meta->path, meta->dims[dim], INT_MAX);
    *size = static_cast<int>(n);
    return REFS_OK;
}

refs_cf_longitudes longitudesOf(CSLConstList options) {
    const char *option = CSLFetchNameValueDef(options, "LONGITUDES", "AS_IS");
    return EQUAL(option, "-180") ? REFS_CF_LONGITUDES_FROM_180
           : EQUAL(option, "0")  ? REFS_CF_LONGITUDES_FROM_0
                                 : REFS_CF_LONGITUDES_AS_IS;
}

refs_status failOnTooManyBands(const refs_array_meta *meta, const refs_cf_description &description,
                               refs_error *error) {
    RefsBuffer axes;
    REFS_TRY(refs_cf_list_band_axes(&description, &axes, error));
    return refs_fail(
        error, REFS_LIMIT,
        "%s: more bands than the limit of %d: select fewer along %s, as in %s[%s=#0:#99]",
        meta->path, static_cast<int>(maxBands), axes.text().c_str(), meta->path,
        description.band_axes[0].name);
}

/** Handles notes about an array with a missing file. Those that name the file are demoted to debug
 * messages, because a warning was already reported. */
struct NotesBeside {
    const std::string &gone; ///< its name, or ""

    static void take(void *self, refs_note_kind kind, const char *text) {
        const refs_notes notes = RefsReportNotes();
        const std::string &gone = static_cast<const NotesBeside *>(self)->gone;
        const bool isSaid = !gone.empty() && strstr(text, gone.c_str()) != nullptr;
        refs_note(&notes, isSaid ? REFS_NOTE_DEBUG : kind, "%s", text);
    }
};

} // namespace

RefsRasterView::RefsRasterView(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                               const refs_array_meta *meta, CSLConstList options)
    : name_(name), archive_(std::move(archive)), meta_(meta), options_(CSLDuplicate(options)) {}

std::shared_ptr<RefsRasterView> RefsRasterView::make(const RefsName &name,
                                                     std::shared_ptr<RefsArchive> archive,
                                                     const refs_array_meta *meta,
                                                     CSLConstList options, refs_error *error) {
    std::shared_ptr<RefsRasterView> view(
        new RefsRasterView(name, std::move(archive), meta, options));
    view->array_ = view->archive_->array(meta, error);
    if (view->array_ == nullptr) return nullptr; // the message names the set already
    if (view->describe(error) != REFS_OK || view->measure(error) != REFS_OK) {
        refs_error_prefix(error, "%s", name.location.c_str());
        return nullptr;
    }
    return view;
}

std::shared_ptr<const RefsRasterView>
RefsRasterView::create(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                       const refs_array_meta *meta, CSLConstList options, refs_error *error) {
    auto view = make(name, std::move(archive), meta, options, error);
    if (view != nullptr) view->findOverviews();
    return view;
}

refs_status RefsRasterView::describe(refs_error *error) {
    const refs_cf_values values = archive_->values();
    const std::string gone = archive_->warnOfGoneTarget(meta_);
    NotesBeside notes{gone};
    refs_cf_options cfOptions = REFS_CF_OPTIONS_INIT;
    cfOptions.assume_longlat = CPLFetchBool(options(), "ASSUME_LONGLAT", true);
    cfOptions.require_coordinates =
        EQUAL(CSLFetchNameValueDef(options(), "COORDINATES", "REQUIRED"), "REQUIRED");
    cfOptions.honour_valid_range = CPLFetchBool(options(), "HONOUR_VALID_RANGE", true);
    cfOptions.values = &values;
    cfOptions.notes = {NotesBeside::take, &notes};
    cfOptions.selection = name_.selection.c_str();
    cfOptions.geotiff = RefsGeoTiff();
    cfOptions.placement = refsPlacement;
    cfOptions.longitudes = longitudesOf(options());
    REFS_TRY(refs_cf_describe(archive_->hierarchy(), meta_, &cfOptions, &description_, error));

    pixelType_ =
        RefsPixelTypeOf(meta_->dtype, description_.unsigned_values ? RefsIntegers::Unsigned
                                                                   : RefsIntegers::AsStored);
    if (pixelType_.gdal == GDT_Unknown)
        return refs_fail(error, REFS_UNSUPPORTED, "%s: expected numbers, found other elements",
                         meta_->path);
    longitudes_.reset(new RefsLongitudes(meta_, description_, pixelType_.gdal));
    if (!name_.array.empty()) return REFS_OK;
    // The whole set was opened, which may have further arrays.
    return RefsListSubdatasets(name_, archive_->hierarchy(), RefsListingOf(options()), subdatasets_,
                               error);
}

refs_status RefsRasterView::measure(refs_error *error) {
    REFS_TRY(rasterSize(meta_, description_.x_dim, &width_, error));
    REFS_TRY(rasterSize(meta_, description_.y_dim, &height_, error));
    uint64_t n;
    if (!refs_cf_n_bands(&description_, &n) || n > maxBands)
        return failOnTooManyBands(meta_, description_, error);
    nBands_ = static_cast<int>(n);
    return REFS_OK;
}

void RefsRasterView::findOverviews() {
    const refs_array_meta *found[REFS_CF_MAX_OVERVIEWS];
    const size_t n = refs_cf_find_overviews(archive_->hierarchy(), meta_, found);
    for (size_t i = 0; i < n; i++) {
        Overview overview{found[i], 0, nullptr};
        if (description_.first_column == 0 ||
            refs_cf_turn_overview(&description_, meta_->shape[description_.x_dim],
                                  found[i]->shape[description_.x_dim], &overview.firstColumn))
            overviews_.push_back(overview);
    }
}

std::shared_ptr<const RefsRasterView> RefsRasterView::overview(int i, refs_error *error) const {
    Overview &overview = overviews_[static_cast<size_t>(i)];
    {
        RefsLocked guard(overviewsLock_);
        if (overview.view != nullptr) return overview.view;
    }
    RefsName name = name_;
    name.array = overview.meta->path;
    CPLStringList asStored(options_);
    asStored.SetNameValue("LONGITUDES", "AS_IS");
    auto made = make(name, archive_, overview.meta, asStored.List(), error);
    if (made != nullptr) made->description_.first_column = overview.firstColumn;
    RefsLocked guard(overviewsLock_);
    if (overview.view == nullptr) overview.view = made; // otherwise another thread was faster
    return overview.view;
}

std::shared_ptr<const RefsRasterView> RefsRasterView::mask(refs_error *error) const {
    const refs_array_meta *found = refs_cf_find_mask(archive_->hierarchy(), meta_);
    if (found == nullptr) return nullptr;
    RefsName name = name_;
    name.array = found->path;
    name.selection.clear();
    auto made = make(name, archive_, found, options_.List(), error);
    const bool fits = made != nullptr && made->width() == width_ && made->height() == height_ &&
                      description_.first_column == 0;
    return fits ? made : nullptr;
}

std::vector<GDALColorInterp> RefsRasterView::readColors() const {
    const uint64_t n = meta_->shape[description_.band_axes[description_.sample_axis].dim];
    RefsBuffer head;
    refs_error error = REFS_ERROR_INIT;
    std::vector<GDALColorInterp> colors;
    if (archive_->readHead(meta_, maxHeadBytes, &head, &error) == REFS_OK && head.size > 0)
        colors = RefsTiffColors(refs_buf_view(&head));
    refs_error_clear(&error);
    return colors.size() == n ? colors : std::vector<GDALColorInterp>{};
}

/* Reads the file without the lock: another thread may read it, too. */
void RefsRasterView::loadColors() const {
    {
        RefsLocked guard(colorsLock_);
        if (areColorsKnown_) return;
    }
    std::vector<GDALColorInterp> read;
    (void)RefsGuard(nullptr, [&] {
        read = readColors();
        return REFS_OK;
    });
    RefsLocked guard(colorsLock_);
    if (!areColorsKnown_) colors_ = std::move(read);
    areColorsKnown_ = true;
}

static GDALColorInterp colorInterpOf(refs_cf_band_color color) {
    switch (color) {
    case REFS_CF_BAND_PLAIN:
        return GCI_Undefined;
    case REFS_CF_BAND_GRAY:
        return GCI_GrayIndex;
    case REFS_CF_BAND_RED:
        return GCI_RedBand;
    case REFS_CF_BAND_GREEN:
        return GCI_GreenBand;
    case REFS_CF_BAND_BLUE:
        return GCI_BlueBand;
    }
    return GCI_Undefined;
}

GDALColorInterp RefsRasterView::colorOf(int band) const {
    const uint64_t number = static_cast<uint64_t>(band - 1);
    if (description_.sample_axis != REFS_CF_NO_DIM) {
        loadColors();
        const uint64_t sample = refs_cf_sample_number(&description_, number);
        if (sample < colors_.size()) return colors_[static_cast<size_t>(sample)];
    }
    return colorInterpOf(refs_cf_band_color_of(meta_, &description_, number));
}

RefsReaders RefsRasterView::openReaders() const {
    RefsReaders readers{openReader(), nullptr};
    if (description_.first_column != 0) readers.behind = openReader();
    return readers;
}

std::unique_ptr<const RefsArrayReader> RefsRasterView::openReader() const {
    std::array<uint64_t, REFS_MAX_RANK> start{}, count{};
    std::copy_n(meta_->shape, meta_->rank, count.begin());
    for (size_t axis = 0; axis < description_.n_band_axes; axis++) {
        const refs_cf_band_axis &band = description_.band_axes[axis];
        start[band.dim] = band.first;
        count[band.dim] = band.n;
    }
    const refs_region selected = {start.data(), count.data(), nullptr};
    return std::unique_ptr<const RefsArrayReader>(new RefsArrayReader(archive_, array_, &selected));
}

bool RefsRasterView::hasCommonSpatialRef() const {
    return description_.crs != nullptr && strcmp(description_.crs, "EPSG:4326") == 0;
}

OGRSpatialReference RefsRasterView::spatialRef(std::string &problem) const {
    OGRSpatialReference spatialRef;
    spatialRef.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    if (description_.crs == nullptr) return spatialRef;
    RefsQuietErrors quiet;
    if (spatialRef.SetFromUserInput(description_.crs) != OGRERR_NONE) {
        spatialRef.Clear();
        problem = quiet.said();
    }
    return spatialRef;
}
