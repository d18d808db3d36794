/* longitudes.h -- rasters of longitudes beyond 180, which the netCDF driver moves by 360. */
#ifndef REFS_LONGITUDES_H
#define REFS_LONGITUDES_H

#include <map>
#include <mutex>

#include "gdal_compat.h"
#include "handles.h"
#include "pixel_type.h"
#include "refs/cf.h"

class RefsWindowReader;

/** Moves longitudes of a raster where the netCDF driver does. That looks at the blocks it reads:
 * one whose first row begins and ends beyond 180 is moved, and after the first that does not no
 * other is. Here the blocks are those of a band that is read from its first row to its last,
 * whatever was read before, so that every window has the same values. May be used from several
 * threads. */
class RefsLongitudes {
  public:
    /** Some rows of the raster, from column `x` on: pixels in memory, as stored so far. */
    struct Rows {
        uint64_t band; // from 0
        int x, y, width, height;
        GByte *pixels;
        GSpacing pixelSpace, lineSpace;
    };

    /** For the array `meta` that means `description`, which must outlive this. */
    RefsLongitudes(const refs_array_meta *meta, const refs_cf_description &description,
                   GDALDataType type);

    /** Whether any band could be concerned: values are longitudes that may be negative. */
    bool isNeeded() const { return needed_; }

    /** Moves those of these pixels that are to be, but for nodata. First rows of blocks up to the
     * last of them are read, each once, with `reader`. */
    refs_status move(const Rows &rows, const RefsWindowReader &reader, refs_error *error);

  private:
    /** How many blocks of a band are moved, in the order of reading, as far as it is known. */
    struct Known {
        uint64_t groups = 0; // rows of blocks that were looked at
        uint64_t moved = 0;
        bool ended = false; // at a block that is not
    };

    uint64_t groupOf(uint64_t storedRow, uint64_t *place) const;
    uint64_t orderOf(uint64_t shownRow, uint64_t blockColumn) const;
    uint64_t storedRow(uint64_t shownRow) const;
    refs_status look(uint64_t band, uint64_t nGroups, const RefsWindowReader &reader, Known *known,
                     refs_error *error) const;
    refs_status lookAtGroup(uint64_t band, const RefsWindowReader &reader, Known *known,
                            refs_error *error) const;
    bool isBeyond(const double *row, uint64_t blockColumn) const;
    bool isNodata(double value) const;
    void moveRun(GByte *pixels, size_t n, GSpacing space) const;
    template <class Pixel> void moveAs(GByte *pixels, size_t n, GSpacing space) const;

    const refs_cf_description &description_;
    GDALDataType type_;
    bool needed_;
    uint64_t width_ = 1, height_ = 1;           // of the raster
    uint64_t blockWidth_ = 1, blockHeight_ = 1; // as the netCDF driver has them
    uint64_t nColumns_ = 1;                     // of blocks
    uint64_t inFirstGroup_ = 1;                 // blocks of a column
    std::mutex lock_;                           // guards known_
    std::map<uint64_t, Known> known_;
};

#endif
