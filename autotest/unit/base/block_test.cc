/* block_test.cc -- memory that several hold. */
#include <gtest/gtest.h>

#include "refs/block.h"

namespace {

TEST(Block, TellsWhenItIsFreed) {
    size_t freed = 0;
    refs_block *block = refs_block_new(
        10, [](void *user, size_t n) { *static_cast<size_t *>(user) += n; }, &freed);
    refs_block_release(refs_block_hold(block));
    EXPECT_EQ(freed, 0u);
    refs_block_release(block);
    EXPECT_EQ(freed, 10u);
}

} // namespace
