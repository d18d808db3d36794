/* gaps_test.cc -- which chunks may lie in gaps. */
#include <gtest/gtest.h>

#include <vector>

#include "gaps.h"

namespace {

using Numbers = std::vector<uint64_t>;

Numbers between(Numbers numbers, uint64_t max_gap) {
    std::vector<refs_gap_chunk> found(REFS_MAX_GAP_CHUNKS);
    found.resize(refs_gaps__between(numbers.data(), numbers.size(), max_gap, found.data()));
    Numbers listed;
    for (const refs_gap_chunk &chunk : found) listed.push_back(chunk.number);
    return listed;
}

TEST(Gaps, HoldTheChunksBetweenThoseThatAreFetched) {
    EXPECT_EQ(between({7, 1, 4, 4, 5}, 3), (Numbers{2, 3, 6}));
    EXPECT_EQ(between({1, 4, 9}, 3), (Numbers{2, 3}));
}

TEST(Gaps, AreNotBeforeTheFirstOrAfterTheLast) {
    EXPECT_EQ(between({}, 10), Numbers{});
    EXPECT_EQ(between({5}, 10), Numbers{});
    EXPECT_EQ(between({5, 6}, 10), Numbers{});
}

TEST(Gaps, AreListedUpToALimit) {
    EXPECT_EQ(between({0, 1000000, 1000002}, UINT64_MAX).size(), size_t{REFS_MAX_GAP_CHUNKS});
    EXPECT_EQ(between({0, UINT64_MAX}, 1000), Numbers{});
}

TEST(Gaps, MayHoldAnyOfFewChunks) {
    std::vector<refs_gap_chunk> all(REFS_MAX_GAP_CHUNKS);
    EXPECT_EQ(refs_gaps__all(3, all.data()), 3u);
    EXPECT_EQ(all[2].number, 2u);
    EXPECT_EQ(refs_gaps__all(REFS_MAX_GAP_CHUNKS, all.data()), size_t{REFS_MAX_GAP_CHUNKS});
    EXPECT_EQ(refs_gaps__all(REFS_MAX_GAP_CHUNKS + 1, all.data()), 0u);
}

} // namespace
