/* keys_test.cc -- chunks along a dimension, of one size and of several. */
#include <gtest/gtest.h>

#include "refs/array.h"

namespace {

TEST(ChunksAlongADimension, AreOfOneSizeButTheLast) {
    refs_array_meta meta{};
    meta.rank = 1;
    meta.shape[0] = 7;
    meta.chunk[0] = 3;
    uint64_t start, length;
    EXPECT_EQ(refs_array_meta_chunk_of(&meta, 0, 5), 1u);
    ASSERT_TRUE(refs_array_meta_interval(&meta, 0, 2, &start, &length));
    EXPECT_EQ(start, 6u);
    EXPECT_EQ(length, 1u);
    EXPECT_FALSE(refs_array_meta_interval(&meta, 0, 3, &start, &length));
    EXPECT_FALSE(refs_array_meta_interval(&meta, 0, UINT64_MAX, &start, &length));
}

TEST(ChunksAlongADimension, FollowEachOtherInRuns) {
    const refs_chunk_run runs[] = {{2, 2, 2}, {5, 5, 1}, {1, 1, 3}};
    const refs_chunk_edges edges = {runs, 3};
    refs_array_meta meta{};
    meta.rank = 1;
    meta.shape[0] = 12;
    meta.chunk[0] = 5;
    meta.edges = &edges;
    const uint64_t starts[] = {0, 2, 4, 9, 10, 11, 12};
    for (uint64_t chunk = 0; chunk < 6; chunk++) {
        uint64_t start, length;
        ASSERT_TRUE(refs_array_meta_interval(&meta, 0, chunk, &start, &length)) << chunk;
        EXPECT_EQ(start, starts[chunk]);
        EXPECT_EQ(start + length, starts[chunk + 1]);
        for (uint64_t i = start; i < start + length; i++)
            EXPECT_EQ(refs_array_meta_chunk_of(&meta, 0, i), chunk) << i;
    }
    uint64_t n[REFS_MAX_RANK];
    refs_array_meta_n_keys(&meta, n);
    EXPECT_EQ(n[0], 6u);
}

} // namespace
