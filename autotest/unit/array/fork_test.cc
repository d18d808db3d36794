/* fork_test.cc -- arrays in the child of a fork, whatever the parent's threads were doing. */
#include "forked.h"
#include "memory_array.h"

#include <array>
#include <atomic>
#include <mutex>
#include <random>
#include <thread>

#include "cache.h"
#include "refs/fork.h"
#include "refs/pool.h"

namespace {

/** Files of one step each, so that each takes a request, and requests that wait on demand. */
class Forked : public testing::Test {
  protected:
    static constexpr uint64_t steps = 200, width = 60;

    void SetUp() override {
        for (uint64_t t = 0; t < steps; t++) {
            std::string file;
            for (uint64_t x = 0; x < width; x++) {
                const int32_t value = valueAt(t, x);
                file += littleEndian<int32_t>({value});
            }
            const std::string name = "step-" + std::to_string(t);
            v.store.vfs.files[name] = file;
            v.store.range("v/" + std::to_string(t) + ".0", name, 0, width * 4);
        }
        v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[200,60],"chunks":[1,60],"order":"C",
            "dtype":"<i4","fill_value":-1,"compressor":null,"filters":null})");
        v.store.vfs.onOpen = [this](const std::string &) { pass(); };
        ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
        ASSERT_EQ(refs_pool_open(2, &pool, nullptr), REFS_OK);
        v.open(cache, MemoryArray::WithPrefetch, pool);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
        refs_pool_free(pool);
    }

    static int32_t valueAt(uint64_t t, uint64_t x) { return static_cast<int32_t>(t * width + x); }

    void expectStep(uint64_t t) {
        std::array<int32_t, width> values{};
        const uint64_t start[] = {t, 0}, count[] = {1, width};
        const refs_region region = {start, count, nullptr};
        refs_error error = REFS_ERROR_INIT;
        ASSERT_EQ(refs_reader_read(v.reader, &region, values.data(), nullptr, &error), REFS_OK)
            << error.message;
        for (uint64_t x = 0; x < width; x++) ASSERT_EQ(values[x], valueAt(t, x));
    }
    void expectAllSteps() {
        for (uint64_t t = 0; t < steps && !HasFatalFailure(); t++) expectStep(t);
    }

    /** In a critical section, for these locks are none that a child mends. */
    void pass() {
        refs_fork_hold_off();
        std::unique_lock<std::mutex> guard(lock);
        bool waits = blocked;
        if (waits) nWaiting++;
        guard.unlock();
        refs_fork_allow();
        while (waits) {
            std::this_thread::yield();
            guard.lock();
            waits = blocked;
            guard.unlock();
        }
    }
    void setBlocked(bool value) {
        std::lock_guard<std::mutex> guard(lock);
        blocked = value;
    }
    void awaitWaiting() {
        for (int n = 0; n == 0;) {
            std::this_thread::yield();
            std::lock_guard<std::mutex> guard(lock);
            n = nWaiting;
        }
    }

    MemoryArray v;
    refs_cache *cache = nullptr;
    refs_pool *pool = nullptr;
    std::mutex lock;
    bool blocked = false;
    int nWaiting = 0;
};

TEST_F(Forked, ChunkThatWasLoadingIsLoadedAnew) {
    const refs_chunk_id id = {99, 1};
    const auto claim = [&] {
        refs_chunk *chunk = nullptr;
        return refs_cache__claim(cache, id, REFS_WANT_ELEMENTS, nullptr, &chunk);
    };
    ASSERT_EQ(claim(), REFS_CLAIM_MINE);
    EXPECT_TRUE(inChild([&] {
        EXPECT_TRUE(refs_cache__await(cache, id, 20000)) << "nobody loads it";
        EXPECT_EQ(claim(), REFS_CLAIM_MINE);
        refs_cache__abandon(cache, id);
    }));
    EXPECT_EQ(claim(), REFS_CLAIM_BUSY);
    refs_cache__abandon(cache, id);
}

TEST_F(Forked, ReaderDoesNotWaitForWhatItsParentPrefetches) {
    expectStep(0);
    setBlocked(true);
    const uint64_t start[] = {1, 0}, count[] = {steps - 1, width};
    const refs_region region = {start, count, nullptr};
    refs_reader_advise(v.reader, &region); /* its chunks are claimed, and do not come */
    awaitWaiting();
    EXPECT_TRUE(inChildOfThreads([&] {
        setBlocked(false);
        expectAllSteps();
        v.close();
        refs_cache_free(cache);
        refs_pool_free(pool);
    }));
    setBlocked(false);
    expectAllSteps();
}

TEST_F(Forked, ReadersGoOnFromAnyMoment) {
    std::mt19937 random(7);
    for (int round = 0; round < 40; round++) {
        const uint64_t until = 3 + random() % 20;
        const uint64_t first = random() % (steps - until);
        for (uint64_t t = first; t < first + until; t++) expectStep(t);
        ASSERT_TRUE(inChildOfThreads([&] {
            for (uint64_t t = first; t < first + until; t++) expectStep(t);
            for (uint64_t t = 0; t < steps; t += 7) expectStep(t);
            v.close();
            refs_cache_free(cache);
        }));
    }
}

TEST_F(Forked, ReaderOfEightReadsOn) {
    std::vector<std::thread> readers;
    std::atomic<bool> stop{false};
    for (uint64_t i = 0; i < 7; i++)
        readers.emplace_back([&, i] {
            for (uint64_t t = i; !stop && !HasFailure(); t = (t + 1) % steps) expectStep(t);
        });
    for (int round = 0; round < 20 && !HasFailure(); round++)
        EXPECT_TRUE(inChildOfThreads([&] {
            expectAllSteps();
            v.close();
        }));
    stop = true;
    for (std::thread &reader : readers) reader.join();
}

} // namespace
