#include "refs/half.h"

#include <gtest/gtest.h>

#include <cmath>

TEST(Half, IsReadAndWritten) {
    const struct {
        uint16_t half;
        double number;
    } known[] = {
        {0x0000, 0.0},       {0x3c00, 1.0},           {0xc000, -2.0},           {0x7bff, 65504.0},
        {0x0001, 0x1p-24},   {0x0400, 0x1p-14},       {0x03ff, 1023 * 0x1p-24}, {0x7c00, HUGE_VAL},
        {0xfc00, -HUGE_VAL}, {0x3555, 0.333251953125}};
    for (const auto &k : known) {
        EXPECT_EQ(refs_half_to_double(k.half), k.number);
        EXPECT_EQ(refs_half_from_double(k.number), k.half);
    }
    EXPECT_TRUE(std::isnan(refs_half_to_double(0x7e00)));
    EXPECT_TRUE(std::isnan(refs_half_to_double(0xfc01)));
    EXPECT_TRUE(std::signbit(refs_half_to_double(0x8000)));
    EXPECT_EQ(refs_half_from_double(NAN), 0x7e00);
}

TEST(Half, SurvivesTheWayThereAndBack) {
    for (unsigned bits = 0; bits <= 0xffff; bits++) {
        const auto half = static_cast<uint16_t>(bits);
        const double number = refs_half_to_double(half);
        if (std::isnan(number)) continue;
        EXPECT_EQ(refs_half_from_double(number), half);
    }
}

TEST(Half, IsTheNearestAndOfTwoTheEven) {
    const struct {
        double number;
        uint16_t half;
    } rounded[] = {
        {1.0 + 0x1p-11, 0x3c00}, {1.0 + 3 * 0x1p-11, 0x3c02}, {1.0 + 0x1p-11 + 0x1p-40, 0x3c01},
        {65519.0, 0x7bff},       {65520.0, 0x7c00},           {0x1p-25, 0x0000},
        {1.5 * 0x1p-24, 0x0002}, {0x1p-14 - 0x1p-26, 0x0400}, {2048 - 0.5, 0x6800},
        {-0.0, 0x8000}};
    for (const auto &r : rounded) EXPECT_EQ(refs_half_from_double(r.number), r.half) << r.number;
}
