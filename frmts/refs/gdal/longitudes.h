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

/** Tells which bands are moved: those whose first row begins and ends beyond 180. The netCDF driver
 * asks this of every block and stops at the first that does not; here a band is moved as a whole,
 * so that neighbours stay neighbours. May be used from several threads. */
class RefsLongitudes {
  public:
    /** For the array `meta` that means `meaning`, which must outlive this. */
    RefsLongitudes(const refs_array_meta *meta, const refs_cf_meaning &meaning, GDALDataType type);

    /** Whether any band could be concerned: values are longitudes that may be negative. */
    bool isNeeded() const { return needed_; }

    /** Whether band number `band`, from 0, is moved. Its first row is read once, with `reader`. */
    refs_status isMoved(uint64_t band, const RefsWindowReader &reader, bool *moved,
                        refs_error *error);

    /** Moves `n` pixels, `space` bytes apart, but for nodata. */
    void move(void *pixels, size_t n, GSpacing space) const;

  private:
    refs_status readEnds(uint64_t band, const RefsWindowReader &reader, double ends[2],
                         refs_error *error) const;
    int firstRow() const;
    bool isNodata(double value) const;
    template <class Pixel>
    static void moveAs(const RefsLongitudes &self, GByte *pixels, size_t n, GSpacing space);

    const refs_array_meta *meta_;
    const refs_cf_meaning &meaning_;
    GDALDataType type_;
    bool needed_;
    std::mutex lock_; // guards known_
    std::map<uint64_t, bool> known_;
};

#endif
