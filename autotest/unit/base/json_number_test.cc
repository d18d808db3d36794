#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "refs/json.h"
#include "text.h"

namespace {

struct IntegerCase {
    std::string text;
    std::optional<uint64_t> u64;
    std::optional<int64_t> i64;
    bool integral; // written as an integer
};

const IntegerCase kIntegers[] = {
    {"0", 0, 0, true},
    {"-0", 0, 0, true},
    {"0.0", 0, 0, false},
    {"0e999999999999999999999", 0, 0, false},
    {"1.0", 1, 1, false},
    {"1e3", 1000, 1000, false},
    {"12.34e2", 1234, 1234, false},
    {"120e-1", 12, 12, false},
    {"0.0012e4", 12, 12, false},
    {"-5", {}, -5, true},
    {"-5.00", {}, -5, false},
    {"9223372036854775807", 9223372036854775807u, INT64_MAX, true},
    {"9223372036854775808", 9223372036854775808u, {}, true},
    {"-9223372036854775808", {}, INT64_MIN, true},
    {"-9223372036854775809", {}, {}, true},
    {"18446744073709551615", UINT64_MAX, {}, true},
    {"18446744073709551616", {}, {}, true},
    {"18446744073709551615.0", UINT64_MAX, {}, false},
    {"1e19", 10000000000000000000u, {}, false},
    {"1e20", {}, {}, false},
    {"1e99999999999", {}, {}, false},
    {"1.5", {}, {}, false},
    {"1e-1", {}, {}, false},
    {"0.9999999999999999999999", {}, {}, false},
    {"NaN", {}, {}, true},
    {"Infinity", {}, {}, true},
    {"-Infinity", {}, {}, true},
};

} // namespace

TEST(JsonNumber, IsAnUnsignedIntegerWhereItIsOne) {
    for (const IntegerCase &c : kIntegers) {
        uint64_t number = 77;
        bool integral = !c.integral;
        ASSERT_EQ(refs_json_number_to_u64(View(c.text), &number, &integral), c.u64.has_value())
            << c.text;
        EXPECT_EQ(number, c.u64.value_or(77)) << c.text;
        if (c.u64) {
            EXPECT_EQ(integral, c.integral) << c.text;
        }
    }
}

TEST(JsonNumber, IsASignedIntegerWhereItIsOne) {
    for (const IntegerCase &c : kIntegers) {
        int64_t number = 77;
        bool integral = !c.integral;
        ASSERT_EQ(refs_json_number_to_i64(View(c.text), &number, &integral), c.i64.has_value())
            << c.text;
        EXPECT_EQ(number, c.i64.value_or(77)) << c.text;
        if (c.i64) {
            EXPECT_EQ(integral, c.integral) << c.text;
        }
    }
}

TEST(JsonNumber, IsTheNearestDouble) {
    const struct {
        std::string text;
        double value;
    } cases[] = {{"0", 0.0},
                 {"1.5", 1.5},
                 {"-273.15", -273.15},
                 {"9.969209968386869e+36", 9.969209968386869e+36},
                 {"3.4028234663852886e38", 3.4028234663852886e+38},
                 {"0.1", 0.1},
                 {"0.000123", 0.000123},
                 {"123456789012345678901234567890", 123456789012345678901234567890.0},
                 {"2.2250738585072011e-308", 2.2250738585072011e-308},
                 {"5e-324", 5e-324},
                 {"1e999", INFINITY},
                 {"-1e999", -INFINITY},
                 {"1e-999", 0.0},
                 {"Infinity", INFINITY},
                 {"-Infinity", -INFINITY},
                 {std::string(5000, '9') + "e-5000", 1.0},
                 {"0." + std::string(5000, '0') + "1e5000", 0.1}};
    for (const auto &c : cases)
        EXPECT_EQ(refs_json_number_to_double(View(c.text)), c.value) << c.text.substr(0, 40);
    EXPECT_TRUE(std::isnan(refs_json_number_to_double(View("NaN"))));
    EXPECT_TRUE(std::signbit(refs_json_number_to_double(View("-0.0"))));
}

TEST(JsonNumber, ReadsNoFurtherThanItsText) {
    EXPECT_EQ(refs_json_number_to_double(refs_str_view("12345", 2)), 12.0);
}
