/* block_test.cc -- memory that several hold. */
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "refs/block.h"

namespace {

constexpr size_t size = 4 * REFS_MIB, part = 100000;

/** A block of parts, each filled with its number; the last one is shorter. */
class Parts {
  public:
    Parts() : block(refs_block_new(size, nullptr, nullptr)) {
        const size_t n = (size + part - 1) / part;
        auto *begins = static_cast<size_t *>(refs_calloc(n, sizeof(size_t)));
        for (size_t i = 0; i < n; i++) {
            begins[i] = i * part;
            memset(refs_block_data(block) + begins[i], static_cast<int>(i + 1), length(i));
            order.push_back(i);
        }
        refs_block_split(block, begins, n);
    }
    ~Parts() { refs_block_release(block); }

    static size_t length(size_t i) { return std::min(part, size - i * part); }
    const uint8_t *data(size_t i) const { return refs_block_data(block) + i * part; }
    void finish(size_t i) { refs_block_finish(block, data(i)); }
    bool isWhole(size_t i) const {
        const auto filled = static_cast<uint8_t>(i + 1);
        return std::all_of(data(i), data(i) + length(i), [=](uint8_t b) { return b == filled; });
    }

    refs_block *block;
    std::vector<size_t> order;
};

TEST(BlockParts, StayUntilAllBeforeThemAreDone) {
    Parts parts;
    std::shuffle(parts.order.begin(), parts.order.end(), std::mt19937(7));
    std::vector<bool> done(parts.order.size(), false);
    for (const size_t i : parts.order) {
        ASSERT_TRUE(parts.isWhole(i)) << i;
        parts.finish(i);
        done[i] = true;
        for (size_t k = 0; k < done.size(); k++)
            ASSERT_TRUE(done[k] || parts.isWhole(k)) << k << " after " << i;
    }
}

TEST(BlockParts, AreLetGoOfFromTheFirstOn) {
    Parts parts;
    parts.finish(1);
    EXPECT_TRUE(parts.isWhole(1)) << "the first is not done";
    parts.finish(0);
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_FALSE(parts.isWhole(1));
#endif
    EXPECT_TRUE(parts.isWhole(2));
}

TEST(BlockParts, MayBeginAtTheSamePlace) {
    refs_block *block = refs_block_new(size, nullptr, nullptr);
    auto *begins = static_cast<size_t *>(refs_calloc(3, sizeof(size_t)));
    begins[2] = size / 2;
    memset(refs_block_data(block), 5, size);
    refs_block_split(block, begins, 3);
    refs_block_finish(block, refs_block_data(block));
    EXPECT_EQ(refs_block_data(block)[size / 4], 5) << "somebody else reads the same bytes";
    refs_block_finish(block, refs_block_data(block));
    refs_block_finish(block, refs_block_data(block)); // once too often
    EXPECT_EQ(refs_block_data(block)[size / 2], 5);
    refs_block_release(block);
}

TEST(BlockParts, AreFinishedByManyThreads) {
    Parts parts;
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; t++)
        threads.emplace_back([&parts, t] {
            for (size_t i = t; i < parts.order.size(); i += 4) {
                EXPECT_TRUE(parts.isWhole(i));
                parts.finish(i);
            }
        });
    for (auto &thread : threads) thread.join();
}

TEST(Block, TellsWhenItIsFreed) {
    size_t freed = 0;
    refs_block *block = refs_block_new(
        10, [](void *user, size_t n) { *static_cast<size_t *>(user) += n; }, &freed);
    refs_block_finish(block, refs_block_data(block));
    refs_block_release(refs_block_hold(block));
    EXPECT_EQ(freed, 0u);
    refs_block_release(block);
    EXPECT_EQ(freed, 10u);
    refs_block_finish(nullptr, nullptr);
}

} // namespace
