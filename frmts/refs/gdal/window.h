/* window.h -- a window of bands -> regions of an array -> the caller's pixels. */
#ifndef REFS_WINDOW_H
#define REFS_WINDOW_H

#include <array>
#include <memory>

#include "array_reader.h"
#include "longitudes.h"
#include "mask.h"
#include "pixel_type.h"

/** A reader of an array for one dataset. The parts before and behind the seam of a grid that was
 * turned move on by steps of their own. */
struct RefsReaders {
    std::unique_ptr<const RefsArrayReader> ahead;
    std::unique_ptr<const RefsArrayReader> behind; ///< null where there is no seam
};

/** Which pixels, and where they go: as GDAL's RasterIO has it, at full resolution. */
struct RefsWindow {
    int x, y, width, height;
    const int *bands; ///< from 1
    int nBands;
    void *dst;
    GDALDataType type;
    GSpacing pixelSpace, lineSpace, bandSpace; ///< bytes
    GDALProgressFunc progress = nullptr;       ///< may cancel; or null
    const refs_progress *watch = nullptr;      ///< the same for the reader while it reads; or null
    void *progressData = nullptr;

    /** Reports progress to the caller's callback in `extra`. */
    RefsWindow &reportTo(const GDALRasterIOExtraArg &extra) {
        progress = extra.pfnProgress;
        progressData = extra.pProgressData;
        return *this;
    }

    /** Whether all that `extra` adds to the call is these pixels again. Windows that lie between
     * pixels are resampled, by GDAL, also where the buffer has their size. */
    bool isWholePixels(const GDALRasterIOExtraArg &extra) const;
};

/** Reads windows of one array, as bands are numbered by its description. */
class RefsWindowReader {
  public:
    /** `readers` are of the array with `meta`; `longitudes` of the same array tells which bands to
     * wrap; NULL wraps none. */
    RefsWindowReader(const RefsReaders &readers, const refs_array_meta *meta,
                     const refs_cf_description &description, const RefsPixelType &type,
                     RefsLongitudes *longitudes)
        : readers_(readers), meta_(meta), description_(description), type_(type),
          mask_(description, type.gdal),
          longitudes_(longitudes != nullptr && longitudes->isNeeded() ? longitudes : nullptr) {}

    /** Consecutive bands are read as one region, so that their fetches are planned together. */
    /** The share of the window's pixels that are stored somewhere; REFS_LIMIT where that takes
     * looking for too many chunks. */
    refs_status coverage(const RefsWindow &window, refs_array *array, double *share,
                         refs_error *error) const;

    /** The element of the array that the first pixel of a window is. */
    std::array<uint64_t, REFS_MAX_RANK> elementOf(const RefsWindow &window) const;

    refs_status read(const RefsWindow &window, refs_error *error) const;

    /** Reads one band, with columns and longitudes as they are stored. */
    refs_status readStored(const RefsWindow &window, refs_error *error) const {
        const auto band = static_cast<uint64_t>(window.bands[0] - 1);
        Buffers buffers;
        buffers.dst = static_cast<GByte *>(window.dst);
        return RefsWindowReader(readers_, meta_, description_, type_, nullptr)
            .readRun(window, longestRun(band, 1, 1), buffers, error);
    }

    /** Says that a window is going to be read soon: as much of it as is one region. */
    void advise(const RefsWindow &window) const {
        askFor(window, [](const RefsArrayReader &reader, const refs_region &region,
                          const refs_progress *) { reader.advise(region); });
    }

    /** Loads as much of a window as is one region, for it is going to be read in small parts. That
     * its progress cancels it is the one failure. */
    refs_status load(const RefsWindow &window, refs_error *error) const;

  private:
    /** Bands [first, first + n), from 0, that are one box of the array: elements of the band axis
     * `axis`, and all of the axes behind it. */
    struct Run {
        uint64_t first, n;
        size_t axis;
        uint64_t elements; ///< along `axis`
    };

    /** Bytes from a pixel, a line and a band to the next. */
    using Spaces = std::array<int64_t, 3>;
    static Spaces packedSpaces(int64_t size, size_t width, size_t plane);

    /** Memory that the runs of one read have in common. Its bytes are not set. */
    class Buffer {
      public:
        GByte *resize(size_t size);

      private:
        std::unique_ptr<GByte[]> bytes_;
        size_t capacity_ = 0;
    };
    /** The destination of a run, and the buffer in between if its type is not the caller's. */
    struct Buffers {
        GByte *dst = nullptr;
        Buffer elements, promoted;
    };

    /** Bytes of the buffers that pixels are converted in, for each of them. */
    uint64_t bufferBytesOfPixel() const;
    /** How many rows of a window are read next, from row `y` on: not more than `maxRows`. */
    int rowsAtATime(const RefsWindow &window, int y, uint64_t maxRows) const;

    /** The part of a window before the seam of a grid that was turned, and the one behind it, in
     * the columns of the array. All of it, and nothing, where there is no seam; and where it has
     * all columns, which are turned when they are read: their chunks are then fetched together. */
    std::array<RefsWindow, 2> partsOf(const RefsWindow &window) const;
    bool isTurnedAfter(const RefsWindow &window) const;
    void turnRows(const RefsWindow &window, const Run &run, GByte *dst) const;
    const RefsArrayReader &readerOf(const RefsWindow &part) const;
    void askFor(const RefsWindow &window,
                void (*ask)(const RefsArrayReader &reader, const refs_region &region,
                            const refs_progress *progress)) const;
    Run longestRun(uint64_t first, uint64_t n, uint64_t maxBands) const;
    refs_status readRun(const RefsWindow &window, const Run &run, Buffers &buffers,
                        refs_error *error) const;
    void copyPixels(const RefsWindow &window, const Run &run, const GByte *from, GByte *dst) const;
    void maskRows(const RefsWindow &window, const Run &run, GByte *pixels,
                  const Spaces &spaces) const;
    refs_status wrapRows(const RefsWindow &window, const Run &run, GByte *pixels,
                         const Spaces &spaces, refs_error *error) const;
    /** A window of a run of bands in the array's own dimensions; strides for `spaces`. */
    struct Region {
        std::array<uint64_t, REFS_MAX_RANK> start{}, count{};
        std::array<int64_t, REFS_MAX_RANK> step{}, stride{};
        refs_region view() const { return {start.data(), count.data(), step.data()}; }
    };
    Region regionOf(const RefsWindow &window, const Run &run, const Spaces &spaces) const;

    const RefsReaders &readers_;
    const refs_array_meta *meta_;
    const refs_cf_description &description_;
    const RefsPixelType &type_;
    RefsMask mask_;
    RefsLongitudes *longitudes_;
};

#endif
