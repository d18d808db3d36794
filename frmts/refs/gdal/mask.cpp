/* mask.cpp -- see mask.h. */
#include "mask.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

template <class Pixel> Pixel RefsMask::nodataAs() const {
    return static_cast<Pixel>(nodata_);
}
template <> int64_t RefsMask::nodataAs() const {
    return nodataInt64_;
}
template <> uint64_t RefsMask::nodataAs() const {
    return nodataUint64_;
}

namespace {

/* A pixel that is not a number is not inside any range. */
template <class Pixel> Pixel masked(Pixel pixel, double least, double most, Pixel nodata) {
    const double value = static_cast<double>(pixel);
    return value >= least && value <= most ? pixel : nodata;
}

} // namespace

template <class Pixel>
void RefsMask::applyTo(const RefsMask &mask, GByte *pixels, size_t n, GSpacing space) {
    const Pixel nodata = mask.nodataAs<Pixel>();
    const double least = mask.least_, most = mask.most_;
    if (space == static_cast<GSpacing>(sizeof(Pixel)) &&
        reinterpret_cast<uintptr_t>(pixels) % alignof(Pixel) == 0) {
        auto *row = reinterpret_cast<Pixel *>(pixels);
        for (size_t i = 0; i < n; i++) row[i] = masked(row[i], least, most, nodata);
        return;
    }
    for (size_t i = 0; i < n; i++, pixels += space) {
        Pixel pixel;
        memcpy(&pixel, pixels, sizeof pixel);
        pixel = masked(pixel, least, most, nodata);
        memcpy(pixels, &pixel, sizeof pixel);
    }
}

RefsMask::Apply RefsMask::chooseApply(GDALDataType type) {
    switch (type) {
    case GDT_Byte:
        return applyTo<GByte>;
    case GDT_UInt16:
        return applyTo<GUInt16>;
    case GDT_Int16:
        return applyTo<GInt16>;
    case GDT_UInt32:
        return applyTo<GUInt32>;
    case GDT_Int32:
        return applyTo<GInt32>;
    case GDT_Int64:
        return applyTo<int64_t>;
    case GDT_UInt64:
        return applyTo<uint64_t>;
    case GDT_Float32:
        return applyTo<float>;
    case GDT_Float64:
        return applyTo<double>;
    default:
        return nullptr;
    }
}

RefsMask::RefsMask(const refs_cf_description &description, GDALDataType type)
    : least_(-std::numeric_limits<double>::infinity()),
      most_(std::numeric_limits<double>::infinity()) {
    const bool isFloat = type == GDT_Float32 || type == GDT_Float64;
    const refs_cf_nodata_kind kind = type == GDT_Int64    ? REFS_CF_NODATA_INT64
                                     : type == GDT_UInt64 ? REFS_CF_NODATA_UINT64
                                                          : REFS_CF_NODATA_DOUBLE;
    if (description.nodata_kind != kind) return;
    nodataInt64_ = description.nodata_int64;
    nodataUint64_ = description.nodata_uint64;
    const bool isNan = kind == REFS_CF_NODATA_DOUBLE && std::isnan(description.nodata);
    const bool staysNan = !isFloat || isNan || description.keeps_nan;
    if (!description.has_valid_range && staysNan) return;
    if (!isFloat && isNan) return;
    nodata_ = description.nodata;
    if (description.has_valid_range) {
        least_ = description.valid_min;
        most_ = description.valid_max;
    }
    apply_ = chooseApply(type);
}
