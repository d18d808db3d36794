/* mask.h -- pixels that are as good as missing are shown as nodata, as the netCDF driver does.
 *
 * That are floating-point pixels which are not a number, and pixels outside of the valid range. */
#ifndef REFS_MASK_H
#define REFS_MASK_H

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
    template <class Pixel> Pixel nodataAs() const;

    double nodata_ = 0, least_, most_;
    int64_t nodataInt64_ = 0;
    uint64_t nodataUint64_ = 0;
    Apply apply_ = nullptr;
};

#endif
