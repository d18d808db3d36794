/* mask.h -- pixels that are as good as missing are shown as nodata, as the netCDF driver does.
 *
 * That are floating-point pixels which are not a number, pixels outside of the valid range, and
 * those that have another missing value than nodata. */
#ifndef REFS_MASK_H
#define REFS_MASK_H

#include <vector>

#include "gdal_compat.h"
#include "refs/cf.h"

class RefsMask {
  public:
    /** For pixels of `type` in an array that means `description`. */
    RefsMask(const refs_cf_description &description, GDALDataType type);

    /** Whether any pixel could be concerned. */
    bool isNeeded() const { return apply_ != nullptr; }

    /** Replaces what is concerned among `n` pixels, `space` bytes apart. */
    void apply(void *pixels, size_t n, GSpacing space) const {
        apply_(*this, static_cast<GByte *>(pixels), n, space);
    }

  private:
    using Apply = void (*)(const RefsMask &mask, GByte *pixels, size_t n, GSpacing space);
    template <class Pixel>
    static void applyTo(const RefsMask &mask, GByte *pixels, size_t n, GSpacing space);
    static Apply chooseApply(GDALDataType type);
    template <class Pixel> void keepRange(Pixel *row, size_t n, Pixel nodata) const;
    template <class Pixel> void replaceMissing(Pixel *row, size_t n, Pixel nodata) const;

    refs_cf_missing nodata_{};
    double least_, most_;
    refs_cf_range valid_{}; ///< the same, of 64-bit integers exactly
    bool hasRange_ = false; ///< or what is not a number is replaced
    std::vector<refs_cf_missing> missing_;
    Apply apply_ = nullptr;
};

#endif
