/* window.cpp -- see window.h. */
#include "window.h"

#include <algorithm>
#include <array>
#include <vector>

#include "interrupt.h"
#include "progress_caller.h"

namespace {

/** Limit of the buffers for conversions: windows are read in parts unless a single row is
 * larger. */
constexpr uint64_t maxBufferBytes = 64 * 1024 * 1024;

enum Space { pixelSpace, lineSpace, bandSpace };

/** Reports progress to GDAL's callback for a window whose bands are read in sequence; never goes
 * back. In Python, Ctrl-C also cancels the read. */
class Progress {
  public:
    explicit Progress(const RefsWindow &window)
        : window_(window), caller_(window.progress, window.progressData) {
        if (window.progress != nullptr) watch_ = {report, this};
    }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    /** Passed to the readers; null if there is no callback. */
    const refs_progress *watch() const { return watch_.report != nullptr ? &watch_ : nullptr; }

    /** Begins the next part, of `nPixels`. */
    void beginPart(uint64_t nPixels) {
        begin_ += share_;
        share_ = static_cast<double>(nPixels) / window_.nBands / window_.width / window_.height;
    }
    refs_status end(refs_error *error) {
        begin_ = 1;
        share_ = 0;
        return window_.progress == nullptr || report(this, 0) ? REFS_OK : fail(error);
    }
    bool isCancelled() const { return cancelled_ || interruptible_.isDue(); }
    static refs_status fail(refs_error *error) {
        return refs_fail(error, REFS_CANCELLED, "the read was cancelled");
    }

  private:
    static bool report(void *user, double done) {
        auto *self = static_cast<Progress *>(user);
        self->most_ = std::max(self->most_, std::min(1.0, self->begin_ + done * self->share_));
        if (self->interruptible_.isDue()) {
            self->caller_.tellOfEnd("");
            self->cancelled_ = true;
        } else if (!self->caller_.goesOn(self->most_, "")) {
            self->cancelled_ = true;
        }
        return !self->cancelled_;
    }

    const RefsWindow &window_;
    refs_progress watch_{nullptr, nullptr};
    double begin_ = 0, share_ = 0, most_ = 0;
    bool cancelled_ = false;
    RefsProgressCaller caller_;
    RefsInterruptible interruptible_;
};

} // namespace

bool RefsWindow::isWholePixels(const GDALRasterIOExtraArg &extra) const {
    return !extra.bFloatingPointWindowValidity ||
           (extra.dfXOff == x && extra.dfYOff == y && extra.dfXSize == width &&
            extra.dfYSize == height);
}

refs_status RefsWindowReader::read(const RefsWindow &window, refs_error *error) const {
    Progress progress(window);
    std::array<RefsWindow, 2> parts = partsOf(window);
    for (RefsWindow &part : parts) part.watch = progress.watch();
    const bool buffered = type_.promote != nullptr || window.type != type_.gdal;
    const uint64_t maxPixels = buffered ? maxBufferBytes / bufferBytesOfPixel() : UINT64_MAX;
    const uint64_t maxRows = std::max<uint64_t>(
        1, maxPixels / std::max<uint64_t>(1, static_cast<uint64_t>(window.width)));
    const uint64_t maxBands = std::max<uint64_t>(
        1, maxRows / std::max<uint64_t>(1, static_cast<uint64_t>(window.height)));
    Buffers buffers;
    for (int i = 0; i < window.nBands;) {
        int end = i + 1;
        while (end < window.nBands && window.bands[end] == window.bands[end - 1] + 1) end++;
        const auto first = static_cast<uint64_t>(window.bands[i] - 1);
        const Run run = longestRun(first, static_cast<uint64_t>(end - i), maxBands);
        for (const RefsWindow &part : parts) {
            if (part.width == 0) continue;
            for (RefsWindow rows = part; rows.y < part.y + part.height; rows.y += rows.height) {
                rows.height = rowsAtATime(part, rows.y, maxRows);
                progress.beginPart(run.n * static_cast<uint64_t>(rows.width) *
                                   static_cast<uint64_t>(rows.height));
                buffers.dst = static_cast<GByte *>(part.dst) + i * part.bandSpace +
                              (rows.y - part.y) * part.lineSpace;
                REFS_TRY(readRun(rows, run, buffers, error));
            }
        }
        if (isTurnedAfter(window))
            turnRows(window, run, static_cast<GByte *>(window.dst) + i * window.bandSpace);
        i += static_cast<int>(run.n);
    }
    return progress.end(error);
}

uint64_t RefsWindowReader::bufferBytesOfPixel() const {
    const auto pixel = static_cast<uint64_t>(GDALGetDataTypeSizeBytes(type_.gdal));
    return type_.elementSize + (type_.promote != nullptr ? pixel : 0);
}

/* A part ends where chunks end, unless it is smaller than a chunk. */
int RefsWindowReader::rowsAtATime(const RefsWindow &window, int y, uint64_t maxRows) const {
    const int left = window.y + window.height - y;
    if (static_cast<uint64_t>(left) <= maxRows) return left;
    const auto most = static_cast<int>(maxRows);
    if (description_.y_dim == REFS_CF_NO_DIM) return most;
    const uint64_t chunk = meta_->chunk[description_.y_dim];
    const auto end = static_cast<uint64_t>(y + most);
    const uint64_t stored = description_.flip_y ? meta_->shape[description_.y_dim] - end
                                                : end; // the row at the end of the part
    const uint64_t over = description_.flip_y ? (chunk - stored % chunk) % chunk : stored % chunk;
    return over < maxRows ? most - static_cast<int>(over) : most;
}

std::array<RefsWindow, 2> RefsWindowReader::partsOf(const RefsWindow &window) const {
    const int first = static_cast<int>(description_.first_column);
    std::array<RefsWindow, 2> parts{window, window};
    parts[1].width = 0;
    if (first == 0 || isTurnedAfter(window)) return parts;
    const int seam = static_cast<int>(meta_->shape[description_.x_dim]) - first;
    parts[0].width = std::min(std::max(seam - window.x, 0), window.width);
    parts[0].x += first;
    parts[1].width = window.width - parts[0].width;
    parts[1].x += parts[0].width - seam;
    parts[1].dst = static_cast<GByte *>(window.dst) + parts[0].width * window.pixelSpace;
    return parts;
}

const RefsArrayReader &RefsWindowReader::readerOf(const RefsWindow &part) const {
    const bool isBehind = static_cast<uint64_t>(part.x + part.width) <= description_.first_column;
    return isBehind ? *readers_.behind : *readers_.ahead;
}

bool RefsWindowReader::isTurnedAfter(const RefsWindow &window) const {
    return description_.first_column != 0 &&
           static_cast<uint64_t>(window.width) == meta_->shape[description_.x_dim];
}

void RefsWindowReader::turnRows(const RefsWindow &window, const Run &run, GByte *dst) const {
    const int size = GDALGetDataTypeSizeBytes(window.type);
    const auto space = static_cast<int>(window.pixelSpace);
    const auto first = static_cast<GSpacing>(description_.first_column);
    const GSpacing after = window.width - first;
    std::vector<GByte> stored(static_cast<size_t>(window.width) * static_cast<size_t>(size));
    for (uint64_t band = 0; band < run.n; band++)
        for (int line = 0; line < window.height; line++) {
            GByte *row =
                dst + static_cast<GSpacing>(band) * window.bandSpace + line * window.lineSpace;
            GDALCopyWords64(row, window.type, space, stored.data(), window.type, size,
                            window.width);
            GDALCopyWords64(stored.data() + first * size, window.type, size, row, window.type,
                            space, after);
            GDALCopyWords64(stored.data(), window.type, size, row + after * space, window.type,
                            space, first);
        }
}

/* The longest run of bands that is one region: it may extend to the next slower axis if it begins
 * at the start of an axis and has whole rows of it. */
RefsWindowReader::Run RefsWindowReader::longestRun(uint64_t first, uint64_t n,
                                                   uint64_t maxBands) const {
    Run run{first, 1, 0, 1};
    uint64_t inner = 1;
    for (size_t axis = description_.n_band_axes; axis-- > 0;) {
        const uint64_t size = description_.band_axes[axis].n;
        const uint64_t from = first / inner % size;
        const uint64_t elements = std::min(std::min(n, maxBands) / inner, size - from);
        if (elements == 0) break;
        run = Run{first, elements * inner, axis, elements};
        inner *= size;
        if (from != 0 || elements < size) break;
    }
    return run;
}

/** If types differ, converts elements to pixels of the band's type and these to pixels of the
 * caller's type, through two buffers. */
refs_status RefsWindowReader::readRun(const RefsWindow &window, const Run &run, Buffers &buffers,
                                      refs_error *error) const {
    const size_t width = static_cast<size_t>(window.width);
    const size_t plane = width * static_cast<size_t>(window.height);
    const size_t n = plane * static_cast<size_t>(run.n);
    const bool isDirect = type_.promote == nullptr && window.type == type_.gdal;
    Spaces spaces{window.pixelSpace, window.lineSpace, window.bandSpace};
    if (!isDirect) spaces = packedSpaces(static_cast<int64_t>(type_.elementSize), width, plane);
    GByte *pixels = isDirect ? buffers.dst
                             : buffers.elements.resize(n * static_cast<size_t>(type_.elementSize));
    const Region region = regionOf(window, run, spaces);
    const refs_region view = region.view();
    const refs_read_target target = {pixels, region.stride.data(), window.watch};
    REFS_TRY(readerOf(window).read(view, target, error));
    if (type_.promote != nullptr) {
        const int pixelSize = GDALGetDataTypeSizeBytes(type_.gdal);
        GByte *promoted = buffers.promoted.resize(n * static_cast<size_t>(pixelSize));
        type_.promote(pixels, promoted, n);
        pixels = promoted;
        spaces = packedSpaces(pixelSize, width, plane);
    }
    maskRows(window, run, pixels, spaces);
    REFS_TRY(wrapRows(window, run, pixels, spaces, error));
    if (!isDirect) copyPixels(window, run, pixels, buffers.dst);
    return REFS_OK;
}

RefsWindowReader::Spaces RefsWindowReader::packedSpaces(int64_t size, size_t width, size_t plane) {
    return {size, size * static_cast<int64_t>(width), size * static_cast<int64_t>(plane)};
}

/** Copies packed pixels of the band's type to the caller's buffer. */
void RefsWindowReader::copyPixels(const RefsWindow &window, const Run &run, const GByte *from,
                                  GByte *dst) const {
    const int pixelSize = GDALGetDataTypeSizeBytes(type_.gdal);
    for (uint64_t band = 0; band < run.n; band++)
        for (int row = 0; row < window.height;
             row++, from += static_cast<GSpacing>(pixelSize) * window.width)
            GDALCopyWords64(from, type_.gdal, pixelSize,
                            dst + static_cast<GSpacing>(band) * window.bandSpace +
                                row * window.lineSpace,
                            window.type, static_cast<int>(window.pixelSpace), window.width);
}

/* Not std::vector, which would write zeros first. */
GByte *RefsWindowReader::Buffer::resize(size_t size) {
    if (size > capacity_) {
        bytes_.reset(); // frees the old buffer before it allocates
        bytes_.reset(new GByte[size]);
        capacity_ = size;
    }
    return bytes_.get();
}

void RefsWindowReader::maskRows(const RefsWindow &window, const Run &run, GByte *pixels,
                                const Spaces &spaces) const {
    if (!mask_.isNeeded()) return;
    for (uint64_t band = 0; band < run.n; band++)
        for (int row = 0; row < window.height; row++)
            mask_.apply(pixels + static_cast<int64_t>(band) * spaces[bandSpace] +
                            row * spaces[lineSpace],
                        static_cast<size_t>(window.width), spaces[pixelSpace]);
}

refs_status RefsWindowReader::wrapRows(const RefsWindow &window, const Run &run, GByte *pixels,
                                       const Spaces &spaces, refs_error *error) const {
    if (longitudes_ == nullptr) return REFS_OK;
    for (uint64_t band = 0; band < run.n; band++)
        REFS_TRY(
            longitudes_->wrap({run.first + band, window.x, window.y, window.width, window.height,
                               pixels + static_cast<int64_t>(band) * spaces[bandSpace],
                               spaces[pixelSpace], spaces[lineSpace]},
                              *this, error));
    return REFS_OK;
}

refs_status RefsWindowReader::load(const RefsWindow &window, refs_error *error) const {
    const Progress progress(window);
    RefsWindow watched = window;
    watched.watch = progress.watch();
    askFor(watched, [](const RefsArrayReader &reader, const refs_region &region,
                       const refs_progress *watch) { reader.load(region, watch); });
    return progress.isCancelled() ? progress.fail(error) : REFS_OK;
}

namespace {

/** Limit of chunks that are checked for coverage. */
constexpr uint64_t maxLookedFor = 100000;

} // namespace

refs_status RefsWindowReader::coverage(const RefsWindow &window, refs_array *array, double *share,
                                       refs_error *error) const {
    const Spaces noSpaces{};
    const Run run = longestRun(static_cast<uint64_t>(window.bands[0] - 1), 1, UINT64_MAX);
    uint64_t there = 0;
    for (const RefsWindow &part : partsOf(window)) {
        uint64_t n = 0;
        if (part.width == 0) continue;
        const Region region = regionOf(part, run, noSpaces);
        const refs_region view = region.view();
        REFS_TRY(refs_array_count_present(array, &view, maxLookedFor, &n, error));
        there += n;
    }
    *share = static_cast<double>(there) / window.width / window.height;
    return REFS_OK;
}

std::array<uint64_t, REFS_MAX_RANK> RefsWindowReader::elementOf(const RefsWindow &window) const {
    const Spaces noSpaces{};
    const Run run = longestRun(static_cast<uint64_t>(window.bands[0] - 1), 1, UINT64_MAX);
    const std::array<RefsWindow, 2> parts = partsOf(window);
    return regionOf(parts[0].width > 0 ? parts[0] : parts[1], run, noSpaces).start;
}

void RefsWindowReader::askFor(const RefsWindow &window,
                              void (*ask)(const RefsArrayReader &reader, const refs_region &region,
                                          const refs_progress *progress)) const {
    const Spaces noSpaces{};
    int n = 1;
    while (n < window.nBands && window.bands[n] == window.bands[n - 1] + 1) n++;
    const Run run = longestRun(static_cast<uint64_t>(window.bands[0] - 1), static_cast<uint64_t>(n),
                               UINT64_MAX);
    for (const RefsWindow &part : partsOf(window)) {
        if (part.width == 0) continue;
        const Region region = regionOf(part, run, noSpaces);
        const refs_region view = region.view();
        ask(readerOf(part), view, part.watch);
    }
}

RefsWindowReader::Region RefsWindowReader::regionOf(const RefsWindow &window, const Run &run,
                                                    const Spaces &spaces) const {
    Region region;
    region.count.fill(1);
    region.step.fill(1);
    if (description_.x_dim != REFS_CF_NO_DIM) {
        region.start[description_.x_dim] = static_cast<uint64_t>(window.x);
        region.count[description_.x_dim] = static_cast<uint64_t>(window.width);
        region.stride[description_.x_dim] = spaces[pixelSpace];
    }
    if (description_.y_dim != REFS_CF_NO_DIM) {
        const size_t y = description_.y_dim;
        const uint64_t row = static_cast<uint64_t>(window.y);
        region.start[y] = description_.flip_y ? meta_->shape[y] - 1 - row : row;
        region.count[y] = static_cast<uint64_t>(window.height);
        region.step[y] = description_.flip_y ? -1 : 1;
        region.stride[y] = spaces[lineSpace];
    }
    std::array<uint64_t, REFS_MAX_RANK> index{};
    refs_cf_band_index(&description_, run.first, index.data());
    int64_t space = spaces[bandSpace];
    for (size_t axis = description_.n_band_axes; axis-- > 0;) {
        const refs_cf_band_axis &band = description_.band_axes[axis];
        region.start[band.dim] = band.first + index[axis];
        region.count[band.dim] = axis > run.axis ? band.n : axis == run.axis ? run.elements : 1;
        region.stride[band.dim] = space;
        space *= static_cast<int64_t>(band.n);
    }
    return region;
}
