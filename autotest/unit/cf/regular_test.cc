/* regular_test.cc -- spacing. */
extern "C" {
#include "cf_internal.h"
}

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using Values = std::vector<double>;

bool isRegular(const Values &values, double relative = 0.0005, double absolute = 0) {
    return refs_cf__is_regular(values.data(), values.size(), relative, absolute);
}

TEST(Regular, NeedsTwoValuesAndBelievesTwo) {
    EXPECT_FALSE(isRegular({}));
    EXPECT_FALSE(isRegular({1}));
    EXPECT_TRUE(isRegular({1, 100}));
}

TEST(Regular, ComparesFirstMiddleAndLastSpacing) {
    EXPECT_TRUE(isRegular({0, 1, 2}));
    EXPECT_TRUE(isRegular({3, 2, 1, 0}));
    EXPECT_FALSE(isRegular({0, 1, 2, 4, 8}));
    EXPECT_FALSE(isRegular({0, 1, 2, 3, 5, 6, 7}));
    EXPECT_TRUE(isRegular({0, 1, 2, 3, 4.0004}));
    EXPECT_FALSE(isRegular({0, 1, 2, 3, 4.0006}));
}

TEST(Regular, SeesAGapAnywhere) {
    for (size_t gap = 1; gap < 40; gap++) {
        Values values;
        for (size_t i = 0; i < 40; i++) values.push_back(0.25 * static_cast<double>(i));
        EXPECT_TRUE(isRegular(values));
        for (size_t i = gap; i < 40; i++) values[i] += 0.05;
        EXPECT_FALSE(isRegular(values)) << gap;
        EXPECT_FALSE(isRegular(values, 0.0005, 0.1)) << gap << ": not even a Gaussian grid";
    }
    EXPECT_FALSE(isRegular({0, 1, 2, 3, 2.5, 5, 6, 7, 8}));
}

TEST(Regular, TakesRoundedValuesForWhatTheyWere) {
    EXPECT_FALSE(isRegular({0, 0.084, 0.167, 0.25})) << "as the netCDF driver has it";
    EXPECT_TRUE(isRegular({0, 0.083, 0.167, 0.25, 0.333, 0.416})) << "where it sees three steps";
}

TEST(Regular, NeedsNumbersThatDiffer) {
    const double nan = std::nan(""), infinity = HUGE_VAL;
    EXPECT_FALSE(isRegular({5, 5}));
    EXPECT_FALSE(isRegular({5, 5, 5, 5}, 0.0005, 0.1));
    for (const Values &values : {Values{nan, 1},
                                 {0, nan},
                                 {nan, nan, nan},
                                 {0, 1, nan, 3, 4, 5, 6},
                                 {0, infinity},
                                 {0, 1, 2, infinity}})
        EXPECT_FALSE(isRegular(values, 0.0005, 0.1));
}

TEST(Regular, ToleratesMoreWhereToldSo) {
    EXPECT_TRUE(isRegular({0, 1, 2, 3, 4.0006}, 0.002));
    const Values gaussian = {0, 1, 2.05, 3.08, 4.15, 5.2};
    EXPECT_FALSE(isRegular(gaussian));
    EXPECT_TRUE(isRegular(gaussian, 0.0005, 0.1));
}

} // namespace
