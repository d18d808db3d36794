/* window.cpp -- see window.h. */
#include "window.h"

#include <algorithm>
#include <array>
#include <vector>

namespace {

/** Pixels that are converted by way of a buffer are read in parts of at most this many bytes. */
constexpr uint64_t maxBufferBytes = 64 * 1024 * 1024;

enum Space { pixelSpace, lineSpace, bandSpace };

} // namespace

refs_status RefsWindowReader::read(const RefsWindow &window, refs_error *error) const {
    const bool buffered = type_.promote != nullptr || window.type != type_.gdal;
    const uint64_t planeBytes = static_cast<uint64_t>(window.width) *
                                static_cast<uint64_t>(window.height) *
                                static_cast<uint64_t>(GDALGetDataTypeSizeBytes(type_.gdal));
    const uint64_t maxBands =
        buffered ? std::max<uint64_t>(1, maxBufferBytes / std::max<uint64_t>(1, planeBytes))
                 : UINT64_MAX;
    for (int i = 0; i < window.nBands;) {
        int end = i + 1;
        while (end < window.nBands && window.bands[end] == window.bands[end - 1] + 1) end++;
        const auto first = static_cast<uint64_t>(window.bands[i] - 1);
        const Run run = longestRun(first, static_cast<uint64_t>(end - i), maxBands);
        REFS_TRY(
            readRun(window, run, static_cast<GByte *>(window.dst) + i * window.bandSpace, error));
        i += static_cast<int>(run.n);
    }
    return REFS_OK;
}

/* Bands are numbered row by row over the band axes: a run that starts where an axis starts and
 * holds whole rows of it is a box that reaches into the next slower axis. */
RefsWindowReader::Run RefsWindowReader::longestRun(uint64_t first, uint64_t n,
                                                   uint64_t maxBands) const {
    Run run{first, 1, 0, 1};
    uint64_t inner = 1;
    for (size_t axis = meaning_.n_band_axes; axis-- > 0;) {
        const uint64_t size = meaning_.band_axes[axis].n;
        const uint64_t from = first / inner % size;
        const uint64_t elements = std::min(std::min(n, maxBands) / inner, size - from);
        if (elements == 0) break;
        run = Run{first, elements * inner, axis, elements};
        inner *= size;
        if (from != 0 || elements < size) break;
    }
    return run;
}

refs_status RefsWindowReader::readRun(const RefsWindow &window, const Run &run, GByte *dst,
                                      refs_error *error) const {
    if (type_.promote == nullptr && window.type == type_.gdal) {
        const int64_t spaces[3] = {window.pixelSpace, window.lineSpace, window.bandSpace};
        return readRegion(window, run, dst, spaces, error);
    }
    const size_t width = static_cast<size_t>(window.width);
    const size_t plane = width * static_cast<size_t>(window.height);
    const size_t n = plane * static_cast<size_t>(run.n);
    const auto size = static_cast<int64_t>(type_.elementSize);
    const int64_t spaces[3] = {size, size * static_cast<int64_t>(width),
                               size * static_cast<int64_t>(plane)};
    const int pixelSize = GDALGetDataTypeSizeBytes(type_.gdal);

    std::vector<GByte> elements, pixels;
    try {
        elements.resize(n * type_.elementSize);
        if (type_.promote != nullptr) pixels.resize(n * static_cast<size_t>(pixelSize));
    } catch (const std::bad_alloc &) {
        return refs_fail_nomem(error);
    }
    REFS_TRY(readRegion(window, run, elements.data(), spaces, error));
    if (type_.promote != nullptr) type_.promote(elements.data(), pixels.data(), n);

    GByte *from = type_.promote != nullptr ? pixels.data() : elements.data();
    for (uint64_t band = 0; band < run.n; band++)
        for (int row = 0; row < window.height;
             row++, from += width * static_cast<size_t>(pixelSize))
            GDALCopyWords64(from, type_.gdal, pixelSize,
                            dst + static_cast<GSpacing>(band) * window.bandSpace +
                                row * window.lineSpace,
                            window.type, static_cast<int>(window.pixelSpace), window.width);
    return REFS_OK;
}

refs_status RefsWindowReader::readRegion(const RefsWindow &window, const Run &run, void *dst,
                                         const int64_t spaces[3], refs_error *error) const {
    std::array<uint64_t, REFS_MAX_RANK> start{}, count{}, index{};
    std::array<int64_t, REFS_MAX_RANK> step, stride{};
    count.fill(1);
    step.fill(1);
    if (meaning_.x_dim != REFS_CF_NO_DIM) {
        start[meaning_.x_dim] = static_cast<uint64_t>(window.x);
        count[meaning_.x_dim] = static_cast<uint64_t>(window.width);
        stride[meaning_.x_dim] = spaces[pixelSpace];
    }
    if (meaning_.y_dim != REFS_CF_NO_DIM) {
        const size_t y = meaning_.y_dim;
        const uint64_t rows = refs_array_meta_of(array_)->shape[y];
        start[y] = static_cast<uint64_t>(window.y);
        count[y] = static_cast<uint64_t>(window.height);
        stride[y] = spaces[lineSpace];
        if (meaning_.flip_y) {
            start[y] = rows - 1 - start[y];
            step[y] = -1;
        }
    }
    refs_cf_band_index(&meaning_, run.first, index.data());
    int64_t space = spaces[bandSpace];
    for (size_t axis = meaning_.n_band_axes; axis-- > 0;) {
        const refs_cf_band_axis &band = meaning_.band_axes[axis];
        start[band.dim] = index[axis];
        count[band.dim] = axis > run.axis ? band.n : axis == run.axis ? run.elements : 1;
        stride[band.dim] = space;
        space *= static_cast<int64_t>(band.n);
    }
    const refs_region region = {start.data(), count.data(), step.data()};
    return refs_array_read(array_, &region, dst, stride.data(), error);
}
