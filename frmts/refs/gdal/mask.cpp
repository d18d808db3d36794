/* mask.cpp -- see mask.h. */
#include "mask.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if REFS_HAS_FLOAT16
#include <cpl_float.h>
#endif

namespace {

template <class Pixel> Pixel pixelOf(const refs_cf_missing &missing) {
    return static_cast<Pixel>(missing.number);
}
template <> int64_t pixelOf(const refs_cf_missing &missing) {
    return missing.int64;
}
template <> uint64_t pixelOf(const refs_cf_missing &missing) {
    return missing.uint64;
}

/** Pixels that are not contiguous, or not aligned, are masked through a buffer. */
constexpr size_t maxBuffered = 256;

template <class Pixel>
void copyPixels(const GByte *from, GSpacing fromSpace, GByte *to, GSpacing toSpace, size_t n) {
    for (size_t i = 0; i < n; i++, from += fromSpace, to += toSpace)
        memcpy(to, from, sizeof(Pixel));
}

} // namespace

/* NaN is outside of any range. */
template <class Pixel> void RefsMask::keepRange(Pixel *row, size_t n, Pixel nodata) const {
    if constexpr (std::is_integral_v<Pixel> && sizeof(Pixel) == sizeof(uint64_t)) {
        for (size_t i = 0; i < n; i++)
            if (!refs_cf_range_has(&valid_, static_cast<uint64_t>(row[i]),
                                   static_cast<double>(row[i])))
                row[i] = nodata;
        return;
    }
    const double least = least_, most = most_;
    for (size_t i = 0; i < n; i++) {
        const double value = static_cast<double>(row[i]);
        row[i] = value >= least && value <= most ? row[i] : nodata;
    }
}

template <class Pixel> void RefsMask::replaceMissing(Pixel *row, size_t n, Pixel nodata) const {
    for (const refs_cf_missing &value : missing_) {
        const Pixel missing = pixelOf<Pixel>(value);
        for (size_t i = 0; i < n; i++) row[i] = row[i] == missing ? nodata : row[i];
    }
}

template <class Pixel>
void RefsMask::applyTo(const RefsMask &mask, GByte *pixels, size_t n, GSpacing space) {
    const Pixel nodata = pixelOf<Pixel>(mask.nodata_);
    const auto apply = [&](Pixel *row, size_t count) {
        if (mask.hasRange_) mask.keepRange(row, count, nodata);
        mask.replaceMissing(row, count, nodata);
    };
    constexpr auto size = static_cast<GSpacing>(sizeof(Pixel));
    if (space == size && reinterpret_cast<uintptr_t>(pixels) % alignof(Pixel) == 0)
        return apply(reinterpret_cast<Pixel *>(pixels), n);
    std::array<Pixel, maxBuffered> buffer;
    for (size_t part; n > 0; n -= part, pixels += static_cast<GSpacing>(part) * space) {
        part = std::min(n, maxBuffered);
        auto *bytes = reinterpret_cast<GByte *>(buffer.data());
        copyPixels<Pixel>(pixels, space, bytes, size, part);
        apply(buffer.data(), part);
        copyPixels<Pixel>(bytes, size, pixels, space, part);
    }
}

RefsMask::Apply RefsMask::chooseApply(GDALDataType type) {
    switch (type) {
    case GDT_Byte:
        return applyTo<GByte>;
#if REFS_HAS_INT8
    case GDT_Int8:
        return applyTo<GInt8>;
#endif
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
#if REFS_HAS_FLOAT16
    case GDT_Float16:
        return applyTo<GFloat16>;
#endif
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
    const bool isFloat = GDALDataTypeIsFloating(type) && !GDALDataTypeIsComplex(type);
    const refs_cf_nodata_kind kind = type == GDT_Int64    ? REFS_CF_NODATA_INT64
                                     : type == GDT_UInt64 ? REFS_CF_NODATA_UINT64
                                                          : REFS_CF_NODATA_DOUBLE;
    if (description.nodata_kind != kind) return;
    nodata_ = {kind, description.nodata, description.nodata_int64, description.nodata_uint64};
    const bool isNan = kind == REFS_CF_NODATA_DOUBLE && std::isnan(description.nodata);
    if (!isFloat && isNan) return;
    const bool staysNan = !isFloat || isNan || description.keeps_nan;
    missing_.assign(description.missing, description.missing + description.n_missing);
    hasRange_ = description.has_valid_range || !staysNan;
    if (!hasRange_ && missing_.empty()) return;
    if (description.has_valid_range) {
        least_ = refs_cf_missing_number(description.valid.least);
        most_ = refs_cf_missing_number(description.valid.most);
        valid_ = description.valid;
    }
    apply_ = chooseApply(type);
}
