/* split_test.cc -- into which fragments arrays are split. */
#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "cfa/writing.h"
}

namespace {

using Numbers = std::vector<uint64_t>;

/** Fragments of an array of floats along its dimensions. */
Numbers split(const std::vector<const char *> &dims, const Numbers &shape, uint64_t elements,
              refs_cfa_others others = REFS_CFA_OTHERS_SPLIT) {
    refs_cfa_array array{};
    array.variable.path = "/v";
    array.variable.dtype = {REFS_TYPE_FLOAT, 4, false, "", 0};
    array.variable.rank = dims.size();
    array.variable.dims = dims.data();
    array.shape = shape.data();
    refs_cfa_source source{};
    source.arrays = &array;
    source.n_arrays = 1;
    refs_cfa_write_options options = REFS_CFA_WRITE_OPTIONS_INIT;
    options.subarray_bytes = 4 * elements;
    options.others = others;
    Numbers n(dims.size());
    cfa_writing writing{};
    writing.source = &source;
    writing.options = &options;
    refs_cfa__split(&writing, 0, n.data());
    return n;
}

/* What S3netCDF4 makes of them. */
TEST(Split, BalancesTimesAndPlacesAsS3netCDF4Does) {
    const std::vector<const char *> tzyx = {"time", "level", "lat", "lon"}, tyx = {"t", "y", "x"};
    EXPECT_EQ(split(tzyx, {120, 85, 192, 288}, 50 << 20), Numbers({2, 2, 2, 2}));
    EXPECT_EQ(split(tyx, {1200, 192, 288}, 1000000), Numbers({8, 3, 3}));
    EXPECT_EQ(split({"time", "n"}, {360, 10}, 1000), Numbers({4, 1}));
    EXPECT_EQ(split({"y", "x"}, {100, 100}, 1000), Numbers({10, 1}));
    EXPECT_EQ(split(tyx, {4, 6, 8}, 30), Numbers({2, 2, 2}));
}

TEST(Split, LeavesSmallArraysWhole) {
    EXPECT_EQ(split({"t", "y", "x"}, {4, 6, 8}, 192), Numbers({1, 1, 1}));
}

TEST(Split, TellsDimensionsByTheirNamesInAnyOrder) {
    EXPECT_EQ(split({"lon", "lat", "time"}, {288, 192, 1200}, 1000000), Numbers({3, 3, 8}));
}

TEST(Split, GivesEnsemblesOneMemberEach) {
    const std::vector<const char *> dims = {"ensemble", "time", "lat", "lon"};
    EXPECT_EQ(split(dims, {5, 4, 6, 8}, 1000, REFS_CFA_OTHERS_ONE), Numbers({5, 1, 1, 1}));
    EXPECT_EQ(split(dims, {5, 4, 6, 8}, 1000, REFS_CFA_OTHERS_SPLIT), Numbers({1, 1, 1, 1}));
    EXPECT_EQ(split({"station"}, {5}, 1000, REFS_CFA_OTHERS_ONE), Numbers({1}));
}

TEST(Split, EndsWhereThereIsNothingLeftToSplit) {
    EXPECT_EQ(split({"t", "y", "x"}, {2, 2, 2}, 0), Numbers({2, 2, 2}));
}

} // namespace
