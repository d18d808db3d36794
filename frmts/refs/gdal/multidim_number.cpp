/* multidim_number.cpp -- see multidim_number.h. */
#include "multidim_number.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "refs/cf.h"

namespace {

/** Single precision is told by nine digits: a number with more was widened by its writer. */
constexpr int singleDigits = 9;

bool isWrittenAsInteger(const refs_json *number) {
    const refs_str text = refs_json_text(number);
    return std::all_of(text.data, text.data + text.size,
                       [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

int digitsOf(const refs_json *number) {
    const refs_str text = refs_json_text(number);
    const char *const end =
        std::find_if(text.data, text.data + text.size, [](char c) { return c == 'e' || c == 'E'; });
    return static_cast<int>(
        std::count_if(text.data, end, [](char c) { return c >= '0' && c <= '9'; }));
}

/** The number that turns a negative number into the unsigned one of the same bits. */
int64_t rangeOf(GDALDataType type) {
    return type == GDT_Byte ? 256 : type == GDT_UInt16 ? 65536 : 0;
}

/** Whether `type` holds the number exactly, or, unsigned, its bits. */
bool holds(GDALDataType type, const refs_json *number) {
    double value, back;
    GByte element[sizeof(double)];
    if (!refs_json_double(number, &value)) return false;
    RefsNumberStore(number, type, element);
    GDALCopyWords(element, type, 0, &back, GDT_Float64, 0, 1);
    const double range = static_cast<double>(rangeOf(type));
    return back == value || (back == value + range && value >= -range / 2) ||
           (std::isnan(back) && std::isnan(value));
}

bool holdsAll(GDALDataType type, const refs_json *value) {
    return type != GDT_Unknown && !GDALDataTypeIsComplex(type) &&
           RefsJsonAll(value, [type](const refs_json *number) { return holds(type, number); });
}

GDALDataType integerTypeOf(const refs_json *value) {
    int64_t int64;
    uint64_t uint64;
    if (holdsAll(GDT_Int32, value)) return GDT_Int32;
    if (RefsJsonAll(value, [&](const refs_json *number) { return refs_json_i64(number, &int64); }))
        return GDT_Int64;
    if (RefsJsonAll(value, [&](const refs_json *number) { return refs_json_u64(number, &uint64); }))
        return GDT_UInt64;
    return GDT_Float64;
}

} // namespace

size_t RefsJsonCount(const refs_json *value) {
    return refs_json_is_array(value) ? refs_json_size(value) : 1;
}

const refs_json *RefsJsonAt(const refs_json *value, size_t i) {
    return refs_json_is_array(value) ? refs_json_at(value, i) : value;
}

GDALDataType RefsNumberTypeOf(const std::string &name, const refs_json *value,
                              GDALDataType variableType) {
    const bool isShort = RefsJsonAll(
        value, [](const refs_json *number) { return digitsOf(number) <= singleDigits; });
    if (!isShort && !RefsJsonAll(value, isWrittenAsInteger) && holdsAll(GDT_Float32, value))
        return GDT_Float32;
    const bool ofVariable = refs_cf_has_type_of_variable(refs_str_from(name.c_str()));
    if (ofVariable && holdsAll(variableType, value)) return variableType;
    return RefsJsonAll(value, isWrittenAsInteger) ? integerTypeOf(value) : GDT_Float64;
}

void RefsNumberStore(const refs_json *number, GDALDataType type, void *element) {
    int64_t int64;
    uint64_t uint64;
    double real = 0;
    /* An integer would lose the sign of -0.0. */
    const bool isFloating = GDALDataTypeIsFloating(type) != 0;
    if (!isFloating && refs_json_i64(number, &int64)) {
        if (int64 < 0) int64 += rangeOf(type);
        GDALCopyWords(&int64, GDT_Int64, 0, element, type, 0, 1);
    } else if (!isFloating && refs_json_u64(number, &uint64)) {
        GDALCopyWords(&uint64, GDT_UInt64, 0, element, type, 0, 1);
    } else {
        refs_json_double(number, &real);
        GDALCopyWords(&real, GDT_Float64, 0, element, type, 0, 1);
    }
}
