/* budget_test.cc -- how readers that prefetch share what there is. */
#include <gtest/gtest.h>

#include <array>

#include "budget.h"

namespace {

class Budget : public testing::Test {
  protected:
    void SetUp() override { ASSERT_NE(budget = refs_budget__new(1200), nullptr); }
    void TearDown() override { refs_budget__free(budget); }

    size_t read(size_t reader) { return refs_budget__share(budget, &readers[reader]); }

    std::array<char, 40> readers{};
    refs_budget *budget = nullptr;
};

TEST_F(Budget, IsOneReadersAlone) {
    for (int i = 0; i < 3; i++) EXPECT_EQ(read(0), 1200u);
}

TEST_F(Budget, IsSharedByThoseWhoReadInTurn) {
    EXPECT_EQ(read(0), 1200u);
    EXPECT_EQ(read(1), 600u);
    EXPECT_EQ(read(0), 600u);
    EXPECT_EQ(read(2), 400u);
}

TEST_F(Budget, OfOneWhoHasNotReadForAWhileGoesToTheOthers) {
    read(0);
    for (int i = 1; i < REFS_BUDGET_READS; i++) EXPECT_EQ(read(1), 600u);
    EXPECT_EQ(read(1), 1200u);
    EXPECT_EQ(read(0), 600u) << "and comes back with the next read";
}

TEST_F(Budget, OfOneWhoLeavesGoesToTheOthersAtOnce) {
    read(0);
    EXPECT_EQ(read(1), 600u);
    refs_budget__leave(budget, &readers[0]);
    EXPECT_EQ(read(1), 1200u);
}

/* Whatever is given out to those who have read lately is never more than there is. */
TEST_F(Budget, IsNeverGivenOutTwice) {
    std::array<size_t, 40> shares{};
    for (size_t i = 0; i < 400; i++) {
        const size_t reader = i * 7 % (1 + i / 10 % 40);
        shares[reader] = read(reader);
        EXPECT_LE(shares[reader], 1200u);
    }
    size_t total = 0;
    for (size_t reader = 0; reader < readers.size(); reader++) total += read(reader);
    EXPECT_LE(total, 1200u * 4) << "each gets what is left by those before: 1 + 1/2 + 1/3 …";
}

TEST_F(Budget, OfMoreReadersThanThereIsRoomForIsNothing) {
    for (size_t reader = 0; reader < REFS_BUDGET_READERS; reader++) EXPECT_GT(read(reader), 0u);
    EXPECT_EQ(read(REFS_BUDGET_READERS), 0u);
}

} // namespace
