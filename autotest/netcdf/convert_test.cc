/* convert_test.cc -- numbers of one type as those of another. */
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

extern "C" {
#include "ncrefs.h"
}

namespace {

template <class From, class To>
int convert(nc_type from, const std::vector<From> &values, nc_type to, std::vector<To> &converted) {
    converted.assign(values.size(), To());
    return ncrefs_convert(from, values.data(), to, converted.data(), values.size());
}

} // namespace

TEST(NetcdfConversion, KeepsWhatFits) {
    std::vector<int8_t> bytes;
    EXPECT_EQ(convert(NC_DOUBLE, std::vector<double>{-128, 127, 0.9, -0.9}, NC_BYTE, bytes),
              NC_NOERR);
    EXPECT_EQ(bytes, (std::vector<int8_t>{-128, 127, 0, 0}));
    std::vector<uint64_t> large;
    EXPECT_EQ(convert(NC_INT64, std::vector<int64_t>{0, INT64_MAX}, NC_UINT64, large), NC_NOERR);
    EXPECT_EQ(large[1], static_cast<uint64_t>(INT64_MAX));
    std::vector<int64_t> least;
    EXPECT_EQ(convert(NC_DOUBLE, std::vector<double>{-9223372036854775808.0}, NC_INT64, least),
              NC_NOERR);
    EXPECT_EQ(least[0], INT64_MIN);
}

TEST(NetcdfConversion, TellsWhatDoesNotFitAfterAllIsConverted) {
    std::vector<int16_t> shorts;
    EXPECT_EQ(convert(NC_INT, std::vector<int32_t>{70000, 5}, NC_SHORT, shorts), NC_ERANGE);
    EXPECT_EQ(shorts[1], 5);
    std::vector<uint8_t> bytes;
    EXPECT_EQ(convert(NC_BYTE, std::vector<int8_t>{-1, 2}, NC_UBYTE, bytes), NC_ERANGE);
    EXPECT_EQ(bytes[1], 2);
    EXPECT_EQ(convert(NC_DOUBLE, std::vector<double>{256, -0.5}, NC_UBYTE, bytes), NC_ERANGE);
    EXPECT_EQ(bytes[1], 0);
    std::vector<float> floats;
    EXPECT_EQ(convert(NC_DOUBLE, std::vector<double>{1e300, 0.5}, NC_FLOAT, floats), NC_ERANGE);
    EXPECT_EQ(floats[1], 0.5F);
}

TEST(NetcdfConversion, OfNoNumberIsOutOfRangeForIntegersAlone) {
    const std::vector<double> nan = {std::nan("")};
    std::vector<int32_t> ints;
    std::vector<float> floats;
    EXPECT_EQ(convert(NC_DOUBLE, nan, NC_INT, ints), NC_ERANGE);
    EXPECT_EQ(convert(NC_DOUBLE, nan, NC_FLOAT, floats), NC_NOERR);
    EXPECT_TRUE(std::isnan(floats[0]));
}

TEST(NetcdfConversion, IsNoneBetweenTextAndNumbers) {
    std::vector<char> text;
    EXPECT_EQ(convert(NC_INT, std::vector<int32_t>{1}, NC_CHAR, text), NC_ECHAR);
    EXPECT_EQ(convert(NC_CHAR, std::vector<char>{'1'}, NC_CHAR, text), NC_ECHAR);
    EXPECT_EQ(convert(NC_INT, std::vector<int32_t>{1}, NC_NAT, text), NC_EBADTYPE);
}
