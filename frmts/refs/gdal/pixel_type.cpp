/* pixel_type.cpp -- see pixel_type.h. */
#include "pixel_type.h"

#include <array>
#include <cstdint>

#include "refs/half.h"

namespace {

[[maybe_unused]] void promoteInt8(const void *elements, void *pixels, size_t n) {
    const auto *from = static_cast<const int8_t *>(elements);
    auto *to = static_cast<int16_t *>(pixels);
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

[[maybe_unused]] void promoteHalf(const void *elements, void *pixels, size_t n) {
    const auto *from = static_cast<const uint16_t *>(elements);
    auto *to = static_cast<float *>(pixels);
    for (size_t i = 0; i < n; i++) to[i] = static_cast<float>(refs_half_to_double(from[i]));
}

#if REFS_HAS_INT8
constexpr RefsPixelType int8Type{GDT_Int8, 1, nullptr};
#else
constexpr RefsPixelType int8Type{GDT_Int16, 1, promoteInt8};
#endif
#if REFS_HAS_FLOAT16
constexpr RefsPixelType halfType{GDT_Float16, 2, nullptr};
#else
constexpr RefsPixelType halfType{GDT_Float32, 2, promoteHalf};
#endif

struct Row {
    refs_type type;
    RefsPixelType pixels;
};

const std::array<Row, 18> rows{{
    {REFS_TYPE_BOOL, {GDT_Byte, 1, nullptr}},
    {REFS_TYPE_UINT, {GDT_Byte, 1, nullptr}},
    {REFS_TYPE_UINT, {GDT_UInt16, 2, nullptr}},
    {REFS_TYPE_UINT, {GDT_UInt32, 4, nullptr}},
    {REFS_TYPE_UINT, {GDT_UInt64, 8, nullptr}},
    {REFS_TYPE_INT, int8Type},
    {REFS_TYPE_INT, {GDT_Int16, 2, nullptr}},
    {REFS_TYPE_INT, {GDT_Int32, 4, nullptr}},
    {REFS_TYPE_INT, {GDT_Int64, 8, nullptr}},
    {REFS_TYPE_FLOAT, halfType},
    {REFS_TYPE_FLOAT, {GDT_Float32, 4, nullptr}},
    {REFS_TYPE_FLOAT, {GDT_Float64, 8, nullptr}},
    {REFS_TYPE_COMPLEX, {GDT_CFloat32, 8, nullptr}},
    {REFS_TYPE_COMPLEX, {GDT_CFloat64, 16, nullptr}},
    {REFS_TYPE_DATETIME, {GDT_Int64, 8, nullptr}},
    {REFS_TYPE_TIMEDELTA, {GDT_Int64, 8, nullptr}},
    // GDAL reads netCDF's character variables as bytes.
    {REFS_TYPE_BYTES, {GDT_Byte, 1, nullptr}},
}};

} // namespace

RefsIntegers RefsIntegersOf(const refs_array_meta *array) {
    return refs_cf_is_marked_unsigned(array) ? RefsIntegers::Unsigned : RefsIntegers::AsStored;
}

RefsPixelType RefsPixelTypeOf(const refs_dtype &dtype, RefsIntegers integers) {
    const refs_type type = integers == RefsIntegers::Unsigned && dtype.type == REFS_TYPE_INT
                               ? REFS_TYPE_UINT
                               : dtype.type;
    for (const Row &row : rows)
        if (row.type == type && row.pixels.elementSize == dtype.size) return row.pixels;
    return RefsPixelType();
}
