/* cache_test.cc -- which chunks stay. */
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "array_internal.h"

namespace {

class Cache : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(refs_cache_open(5000, &cache, nullptr), REFS_OK); }
    void TearDown() override { refs_cache_free(cache); }

    void add(uint64_t owner, uint64_t number, size_t size = 1000) {
        refs_chunk *chunk = refs_chunk__new(size);
        ASSERT_NE(chunk, nullptr);
        memset(refs_chunk__data(chunk), static_cast<int>(number), size);
        refs_cache__add(cache, {owner, number}, chunk, REFS_USE_NOW);
        refs_chunk__release(chunk);
    }
    bool has(uint64_t owner, uint64_t number) {
        refs_chunk *chunk = refs_cache__await(cache, {owner, number});
        if (chunk == nullptr) return false;
        EXPECT_EQ(refs_chunk__data(chunk)[0], static_cast<uint8_t>(number));
        refs_chunk__release(chunk);
        return true;
    }

    refs_cache *cache = nullptr;
};

TEST_F(Cache, KeepsChunksOfSeveralOwnersApart) {
    add(1, 7);
    EXPECT_TRUE(has(1, 7));
    EXPECT_FALSE(has(2, 7));
    EXPECT_FALSE(has(1, 8));
}

TEST_F(Cache, LetsTheLeastRecentlyUsedGo) {
    for (uint64_t number = 0; number < 4; number++) add(1, number);
    EXPECT_TRUE(has(1, 0));
    add(1, 4);
    EXPECT_TRUE(has(1, 0));
    EXPECT_FALSE(has(1, 1));
    EXPECT_TRUE(has(1, 4));
}

TEST_F(Cache, KeepsTheNewestWhateverItsSize) {
    add(1, 0);
    add(1, 1, 100000);
    EXPECT_FALSE(has(1, 0));
    EXPECT_TRUE(has(1, 1));
}

TEST_F(Cache, LeavesAChunkToThoseWhoStillReadIt) {
    add(1, 3);
    refs_chunk *chunk = refs_cache__await(cache, {1, 3});
    ASSERT_NE(chunk, nullptr);
    refs_cache__drop_owner(cache, 1);
    EXPECT_FALSE(has(1, 3));
    EXPECT_EQ(refs_chunk__data(chunk)[999], 3);
    refs_chunk__release(chunk);
}

TEST_F(Cache, DropsTheChunksOfOneOwnerOnly) {
    add(1, 1);
    add(2, 1);
    refs_cache__drop_owner(cache, 1);
    EXPECT_FALSE(has(1, 1));
    EXPECT_TRUE(has(2, 1));
}

TEST_F(Cache, FindsEachOfManySmallChunks) {
    refs_cache *large = nullptr;
    ASSERT_EQ(refs_cache_open(16 << 20, &large, nullptr), REFS_OK);
    std::swap(cache, large);
    refs_cache_free(large);
    for (uint64_t number = 0; number < 5000; number++) add(1, number, 8);
    for (uint64_t number = 0; number < 5000; number++) EXPECT_TRUE(has(1, number));
}

TEST_F(Cache, ServesManyThreads) {
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; t++)
        threads.emplace_back([this, t] {
            for (uint64_t i = 0; i < 2000; i++) {
                if (!has(t % 2, i % 9)) add(t % 2, i % 9);
                if (i % 500 == 499) refs_cache__drop_owner(cache, t % 2);
            }
        });
    for (auto &thread : threads) thread.join();
}

} // namespace
