/* cache_test.cc -- which chunks stay. */
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cache.h"
#include "in_threads.h"

namespace {

class Cache : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(refs_cache_open(5000, &cache, nullptr), REFS_OK); }
    void TearDown() override { refs_cache_free(cache); }

    void add(uint64_t owner, uint64_t number, size_t size = 1000) {
        refs_chunk *chunk = refs_chunk__new(size);
        ASSERT_NE(chunk, nullptr);
        memset(refs_chunk__data(chunk), static_cast<int>(number), size);
        refs_cache__add_decoded(cache, {owner, number}, chunk);
        refs_chunk__release(chunk);
    }
    refs_claim claim(uint64_t owner, uint64_t number, refs_chunk **chunk,
                     refs_want want = REFS_WANT_ELEMENTS) {
        return refs_cache__claim(cache, {owner, number}, want, nullptr, chunk);
    }
    bool has(uint64_t owner, uint64_t number) {
        refs_chunk *chunk = nullptr;
        const refs_claim claimed = claim(owner, number, &chunk);
        if (claimed == REFS_CLAIM_MINE) refs_cache__abandon(cache, {owner, number});
        if (claimed != REFS_CLAIM_DECODED) return false;
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

TEST_F(Cache, DoesNotKeepWhatIsLargerThanIt) {
    add(1, 0);
    add(1, 1, 100000);
    EXPECT_TRUE(has(1, 0));
    EXPECT_FALSE(has(1, 1));
}

TEST_F(Cache, LeavesAChunkToThoseWhoStillReadIt) {
    add(1, 3);
    refs_chunk *chunk = nullptr;
    ASSERT_EQ(claim(1, 3, &chunk), REFS_CLAIM_DECODED);
    refs_cache__drop_owner(cache, 1, UINT64_MAX);
    EXPECT_FALSE(has(1, 3));
    EXPECT_EQ(refs_chunk__data(chunk)[999], 3);
    refs_chunk__release(chunk);
}

TEST_F(Cache, LetsGoOfAnArrayOfFewChunksByTheirNumbers) {
    for (uint64_t number : {0, 1, 2}) add(1, number);
    add(2, 1);
    refs_cache__drop_owner(cache, 2, 3);
    EXPECT_FALSE(has(2, 1));
    refs_cache__drop_owner(cache, 1, 2);
    EXPECT_FALSE(has(1, 0));
    EXPECT_FALSE(has(1, 1));
    EXPECT_TRUE(has(1, 2));
}

TEST_F(Cache, HoldsMoreForReadersWhoNeedMore) {
    refs_cache__hold(cache, 0, 12000);
    for (uint64_t number = 0; number < 10; number++) add(1, number);
    for (uint64_t number = 0; number < 10; number++) EXPECT_TRUE(has(1, number));
    refs_cache__hold(cache, 12000, 0);
    EXPECT_FALSE(has(1, 5)) << "at once";
    EXPECT_TRUE(has(1, 9));
}

/** A strict cache of `most` bytes holds no more for readers, or one chunk. */
TEST_F(Cache, ThatIsStrictHoldsNoMoreForReaders) {
    refs_cache_make_strict(cache);
    refs_cache__hold(cache, 0, 12000);
    size_t n = 0;
    for (uint64_t number = 0; number < 10; number++) add(1, number);
    for (uint64_t number = 0; number < 10; number++) n += has(1, number);
    EXPECT_LE(n * 1000, 5000u);
    EXPECT_EQ(refs_cache__max_held(cache), 5000u);
    add(2, 0, 20000);
    EXPECT_TRUE(has(2, 0));
    EXPECT_FALSE(has(1, 9)) << "it is alone";
    add(1, 0);
    EXPECT_FALSE(has(2, 0));
    EXPECT_TRUE(has(1, 0));
}

TEST_F(Cache, LetsWhatWasPassedGoBeforeTheOldest) {
    for (uint64_t number = 0; number < 4; number++) add(1, number);
    refs_cache__pass(cache, {1, 2});
    refs_cache__pass(cache, {1, 9}); // which is not there
    add(1, 4);
    EXPECT_TRUE(has(1, 0));
    EXPECT_FALSE(has(1, 2));
}

TEST_F(Cache, UsesMemoryOfWhatWasPassedAgain) {
    add(1, 0);
    add(1, 1);
    refs_cache__pass(cache, {1, 1});
    refs_chunk *chunk = refs_chunk__new_for(cache, 1000);
    EXPECT_FALSE(has(1, 1));
    EXPECT_TRUE(has(1, 0));
    refs_chunk__release(chunk);
}

TEST_F(Cache, KeepsWhatWasPassedAndIsUsedAgain) {
    for (uint64_t number = 0; number < 4; number++) add(1, number);
    refs_cache__pass(cache, {1, 2});
    EXPECT_TRUE(has(1, 2));
    add(1, 4);
    EXPECT_TRUE(has(1, 2));
    EXPECT_FALSE(has(1, 0));
}

TEST_F(Cache, LetsWhatWasLeftUnusedGoBeforeTheOldest) {
    for (uint64_t number = 0; number < 4; number++) add(1, number);
    EXPECT_TRUE(has(1, 3));
    refs_cache__leave(cache, {1, 2});
    refs_cache__leave(cache, {1, 3}); // which somebody has used
    refs_cache__leave(cache, {1, 9}); // which is not there
    add(1, 4);
    EXPECT_FALSE(has(1, 2));
    EXPECT_TRUE(has(1, 0));
    add(1, 5);
    EXPECT_FALSE(has(1, 1)) << "the oldest";
    EXPECT_TRUE(has(1, 3));
}

TEST_F(Cache, LetsWhatWasPassedGoBeforeWhatWasLeft) {
    for (uint64_t number = 0; number < 4; number++) add(1, number);
    refs_cache__pass(cache, {1, 2});
    refs_cache__leave(cache, {1, 1});
    add(1, 4);
    EXPECT_FALSE(has(1, 2));
    EXPECT_TRUE(has(1, 1));
}

TEST_F(Cache, OfNoBytesKeepsNothingForAnybody) {
    refs_cache *empty = nullptr;
    ASSERT_EQ(refs_cache_open(0, &empty, nullptr), REFS_OK);
    std::swap(cache, empty);
    refs_cache_free(empty);
    refs_cache__hold(cache, 0, 100000);
    add(1, 1);
    EXPECT_FALSE(has(1, 1));
}

/** A chunk that one caller loads, and others want. */
class Loading : public Cache {
  protected:
    void SetUp() override {
        Cache::SetUp();
        ASSERT_EQ(claim(1, 5, &chunk), REFS_CLAIM_MINE);
    }
    void TearDown() override {
        refs_cache__abandon(cache, {1, 5});
        Cache::TearDown();
    }
    void store(size_t size) {
        std::string stored(size, 7);
        ASSERT_TRUE(
            refs_cache__add_stored(cache, {1, 5}, {refs_bytes_view(stored.data(), size), 6}));
    }

    refs_chunk *chunk = nullptr;
};

TEST_F(Loading, IsOneCallersBusiness) {
    EXPECT_EQ(claim(1, 5, &chunk, REFS_WANT_BYTES), REFS_CLAIM_NOTHING);
    EXPECT_EQ(claim(1, 5, &chunk, REFS_WANT_DECODED), REFS_CLAIM_NOTHING);
    EXPECT_FALSE(refs_cache__is_awaited(cache, {1, 5}));
    EXPECT_EQ(claim(1, 5, &chunk), REFS_CLAIM_BUSY);
    EXPECT_TRUE(refs_cache__is_awaited(cache, {1, 5})) << "who needs it has found it busy";
    EXPECT_FALSE(refs_cache__await(cache, {1, 5}, 1));
    refs_cache__abandon(cache, {1, 5});
    EXPECT_TRUE(refs_cache__await(cache, {1, 5}, 1));
    EXPECT_EQ(claim(1, 5, &chunk), REFS_CLAIM_MINE);
}

TEST_F(Loading, EndsWithStoredBytesThatOneCallerDecodes) {
    store(100);
    EXPECT_EQ(claim(1, 5, &chunk, REFS_WANT_BYTES), REFS_CLAIM_NOTHING) << "they are there";
    ASSERT_EQ(claim(1, 5, &chunk), REFS_CLAIM_STORED);
    EXPECT_EQ(refs_chunk__stored(chunk).bytes.size, 100u);
    EXPECT_EQ(refs_chunk__data(chunk)[99], 7);
    EXPECT_EQ(refs_chunk__stored(chunk).filter_mask, 6u);
    refs_chunk__release(chunk);
    EXPECT_EQ(claim(1, 5, &chunk), REFS_CLAIM_BUSY);
    add(1, 5);
    EXPECT_TRUE(has(1, 5));
}

TEST_F(Loading, EndsForThoseWhoWaitWhateverBecomesOfIt) {
    for (int round = 0; round < 3; round++) {
        std::thread other([&] {
            while (!refs_cache__is_awaited(cache, {1, 5})) std::this_thread::yield();
            if (round == 0) refs_cache__abandon(cache, {1, 5});
            if (round == 1) store(100000); // which is not kept
            if (round == 2) add(1, 5);
        });
        EXPECT_TRUE(refs_cache__await(cache, {1, 5}, 20000));
        other.join();
        EXPECT_EQ(claim(1, 5, &chunk), round < 2 ? REFS_CLAIM_MINE : REFS_CLAIM_DECODED);
    }
    refs_chunk__release(chunk);
}

/* Who waits looks up in time whether it was cancelled, however much others load meanwhile. */
TEST_F(Loading, IsNotAwaitedLongerBecauseOfOtherChunks) {
    std::atomic<bool> stop{false};
    std::thread others([&] {
        const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        refs_chunk *none = nullptr;
        while (!stop && std::chrono::steady_clock::now() < patience) {
            EXPECT_EQ(claim(1, 6, &none), REFS_CLAIM_MINE);
            refs_cache__abandon(cache, {1, 6});
        }
        if (!stop) refs_cache__abandon(cache, {1, 5});
    });
    EXPECT_FALSE(refs_cache__await(cache, {1, 5}, 200));
    stop = true;
    others.join();
}

TEST_F(Cache, DropsTheChunksOfOneOwnerOnly) {
    add(1, 1);
    add(2, 1);
    refs_cache__drop_owner(cache, 1, UINT64_MAX);
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
    inThreads<4>([this](unsigned t) {
        for (uint64_t i = 0; i < 2000; i++) {
            if (!has(t % 2, i % 9)) add(t % 2, i % 9);
            if (i % 500 == 499) refs_cache__drop_owner(cache, t % 2, UINT64_MAX);
        }
    });
}

/* Chunks of the cache's span (pages.h): no two of them lie in one place, and they outlive the
 * cache's hold of them. */
TEST_F(Cache, GivesThreadsMemoryOfTheirOwn) {
    constexpr size_t kSize = 100000;
    refs_cache *large = nullptr;
    ASSERT_EQ(refs_cache_open(40 * kSize, &large, nullptr), REFS_OK);
    std::swap(cache, large);
    refs_cache_free(large);
    for (uint64_t number = 0; number < 30; number++) add(9, number, kSize);
    inThreads<4>([this](unsigned t) {
        for (uint64_t i = 0; i < 300; i++) {
            refs_chunk *chunk = refs_chunk__new_for(cache, kSize);
            const int value = static_cast<int>(4 * i + t) & 255;
            memset(refs_chunk__data(chunk), value, kSize);
            refs_cache__add_decoded(cache, {t, i}, chunk);
            if (i % 100 == 99) refs_cache__drop_owner(cache, t, UINT64_MAX);
            for (size_t at = 0; at < kSize; at += 4096)
                EXPECT_EQ(refs_chunk__data(chunk)[at], value);
            refs_chunk__release(chunk);
        }
    });
}

} // namespace
