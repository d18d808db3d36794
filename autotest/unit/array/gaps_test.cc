/* gaps_test.cc -- which chunks may lie in gaps. */
#include <gtest/gtest.h>

#include <vector>

#include "gaps.h"

namespace {

using Numbers = std::vector<uint64_t>;

Numbers between(Numbers numbers, uint64_t max_gap) {
    Numbers found(REFS_MAX_GAP_CHUNKS);
    found.resize(refs_gaps__list(numbers.data(), numbers.size(), max_gap, found.data()));
    return found;
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

} // namespace
