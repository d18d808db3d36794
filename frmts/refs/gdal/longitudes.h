/* longitudes.h -- rasters of longitudes, whose values beyond 180 are wrapped as cf.h says. */
#ifndef REFS_LONGITUDES_H
#define REFS_LONGITUDES_H

#include <map>
#include <mutex>

#include "gdal_compat.h"
#include "refs/cf.h"

class RefsWindowReader;

/** Wraps longitudes of pixels, and keeps what is known of each band. May be used from several
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

    /** For pixels of `type` of the array `meta` that means `description`. */
    RefsLongitudes(const refs_array_meta *meta, const refs_cf_description &description,
                   GDALDataType type);

    /** Whether any band could be concerned: values are longitudes that may be negative. */
    bool isNeeded() const { return wrapRun_ != nullptr; }

    /** Wraps those of these pixels that are to be. The values needed for it are read with `reader`.
     */
    refs_status wrap(const Rows &rows, const RefsWindowReader &reader, refs_error *error);

  private:
    refs_cf_wrapped known(uint64_t band);
    void remember(uint64_t band, const refs_cf_wrapped &wrapped);

    refs_cf_wrap wrap_{};
    void (*wrapRun_)(const refs_cf_wrap &wrap, GByte *pixels, uint64_t n, GSpacing space) = nullptr;
    std::mutex lock_; // guards known_
    std::map<uint64_t, refs_cf_wrapped> known_;
};

#endif
