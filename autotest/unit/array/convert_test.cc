/* convert_test.cc -- elements as numbers and as strings. */
#include <algorithm>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "array_internal.h"

namespace {

refs_dtype type(refs_type kind, size_t size, bool big_endian = false) {
    refs_dtype dtype = {};
    dtype.type = kind;
    dtype.size = size;
    dtype.big_endian = big_endian;
    return dtype;
}

template <class T>
std::vector<double> doublesOf(const refs_dtype &dtype, const std::vector<T> &elements) {
    std::vector<double> values(elements.size());
    EXPECT_TRUE(refs_dtype_to_doubles(&dtype, reinterpret_cast<const uint8_t *>(elements.data()),
                                      elements.size(), values.data()));
    return values;
}

using Doubles = std::vector<double>;

TEST(ArrayConvert, WidensEveryKindOfNumber) {
    EXPECT_EQ(doublesOf<int8_t>(type(REFS_TYPE_INT, 1), {-1, 127}), (Doubles{-1, 127}));
    EXPECT_EQ(doublesOf<uint8_t>(type(REFS_TYPE_UINT, 1), {255}), (Doubles{255}));
    EXPECT_EQ(doublesOf<uint8_t>(type(REFS_TYPE_BOOL, 1), {0, 1}), (Doubles{0, 1}));
    EXPECT_EQ(doublesOf<int16_t>(type(REFS_TYPE_INT, 2), {-300}), (Doubles{-300}));
    EXPECT_EQ(doublesOf<uint16_t>(type(REFS_TYPE_UINT, 2), {65535}), (Doubles{65535}));
    EXPECT_EQ(doublesOf<int32_t>(type(REFS_TYPE_INT, 4), {-70000}), (Doubles{-70000}));
    EXPECT_EQ(doublesOf<uint32_t>(type(REFS_TYPE_UINT, 4), {1u << 31}), (Doubles{2147483648.0}));
    EXPECT_EQ(doublesOf<int64_t>(type(REFS_TYPE_INT, 8), {-5}), (Doubles{-5}));
    EXPECT_EQ(doublesOf<uint64_t>(type(REFS_TYPE_UINT, 8), {1u << 31}), (Doubles{2147483648.0}));
    EXPECT_EQ(doublesOf<float>(type(REFS_TYPE_FLOAT, 4), {1.5f}), (Doubles{1.5}));
    EXPECT_EQ(doublesOf<double>(type(REFS_TYPE_FLOAT, 8), {0.1}), (Doubles{0.1}));
    EXPECT_EQ(doublesOf<int64_t>(type(REFS_TYPE_DATETIME, 8), {86400}), (Doubles{86400}));
}

TEST(ArrayConvert, TakesTheRealPartOfComplexNumbers) {
    const refs_dtype dtype = type(REFS_TYPE_COMPLEX, 8);
    const float elements[] = {1, 2, 3, 4};
    double values[2];
    ASSERT_TRUE(
        refs_dtype_to_doubles(&dtype, reinterpret_cast<const uint8_t *>(elements), 2, values));
    EXPECT_EQ(values[0], 1);
    EXPECT_EQ(values[1], 3);
}

TEST(ArrayConvert, ReadsHalfFloats) {
    const auto values = doublesOf<uint16_t>(
        type(REFS_TYPE_FLOAT, 2), {0x3C00, 0xC000, 0x0001, 0x7C00, 0xFC00, 0x7E00, 0x7BFF});
    EXPECT_EQ(values[0], 1);
    EXPECT_EQ(values[1], -2);
    EXPECT_EQ(values[2], std::ldexp(1, -24));
    EXPECT_EQ(values[3], INFINITY);
    EXPECT_EQ(values[4], -INFINITY);
    EXPECT_TRUE(std::isnan(values[5]));
    EXPECT_EQ(values[6], 65504);
}

TEST(ArrayConvert, SwapsBothPartsOfComplexNumbers) {
    const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const refs_dtype dtype = type(REFS_TYPE_COMPLEX, 8, host_is_little);
    uint8_t elements[] = {1, 2, 3, 4, 5, 6, 7, 8};
    refs_array__to_host_order(&dtype, elements, 1);
    const uint8_t expected[] = {4, 3, 2, 1, 8, 7, 6, 5};
    EXPECT_EQ(memcmp(elements, expected, 8), 0);
}

TEST(ArrayConvert, SwapsAnyNumberOfElementsWhereverTheyLie) {
    const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (size_t size : {2, 4, 8})
        for (size_t n : {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100}) {
            const refs_dtype dtype = type(REFS_TYPE_INT, size, host_is_little);
            const size_t before = n % 3;
            std::string elements, expected;
            for (size_t i = 0; i < before + n * size + 8; i++)
                elements += static_cast<char>(i * 37);
            expected = elements;
            for (size_t i = 0; i < n; i++) {
                auto begin = expected.begin() + static_cast<std::ptrdiff_t>(before + i * size);
                std::reverse(begin, begin + static_cast<std::ptrdiff_t>(size));
            }
            auto *at = reinterpret_cast<uint8_t *>(&elements[before]);
            refs_array__to_host_order(&dtype, at, n);
            EXPECT_EQ(elements, expected) << n << " elements of " << size;
        }
}

TEST(ArrayConvert, WritesUnicodeAsUtf8) {
    const refs_dtype dtype = type(REFS_TYPE_UNICODE, 16);
    const uint32_t elements[] = {'a', 0xE9, 0x20AC, 0x1F30D, 'b', 0, 0, 0};
    refs_buf strings = REFS_BUF_INIT;
    ASSERT_EQ(refs_array__to_strings(&dtype, reinterpret_cast<const uint8_t *>(elements), 2,
                                     &strings, nullptr),
              REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(strings.data), strings.size),
              std::string("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\x8D\0b\0", 13));
    refs_buf_clear(&strings);
}

TEST(ArrayConvert, TakesAsManyBytesAsACharacterNeeds) {
    const refs_dtype dtype = type(REFS_TYPE_UNICODE, 4);
    const std::vector<std::pair<uint32_t, std::string>> expected = {
        {0x7F, "\x7F"},
        {0x80, "\xC2\x80"},
        {0x7FF, "\xDF\xBF"},
        {0x800, "\xE0\xA0\x80"},
        {0xD7FF, "\xED\x9F\xBF"},
        {0xE000, "\xEE\x80\x80"},
        {0xFFFF, "\xEF\xBF\xBF"},
        {0x10000, "\xF0\x90\x80\x80"},
        {0x10FFFF, "\xF4\x8F\xBF\xBF"},
    };
    for (const auto &character : expected) {
        refs_buf strings = REFS_BUF_INIT;
        EXPECT_EQ(refs_array__to_strings(&dtype,
                                         reinterpret_cast<const uint8_t *>(&character.first), 1,
                                         &strings, nullptr),
                  REFS_OK);
        EXPECT_EQ(std::string(reinterpret_cast<char *>(strings.data)), character.second);
        refs_buf_clear(&strings);
    }
}

TEST(ArrayConvert, RefusesWhatIsNoCharacter) {
    const refs_dtype dtype = type(REFS_TYPE_UNICODE, 4);
    for (uint32_t element : {0x110000u, 0xD800u, 0xDFFFu}) {
        refs_buf strings = REFS_BUF_INIT;
        EXPECT_EQ(refs_array__to_strings(&dtype, reinterpret_cast<const uint8_t *>(&element), 1,
                                         &strings, nullptr),
                  REFS_CORRUPT);
        refs_buf_clear(&strings);
    }
}

} // namespace
