/* stream_test.cc -- reading ahead: fewer requests, the same values. */
#include "ahead.h"
#include "memory_array.h"

#include <chrono>
#include <random>
#include <set>
#include <thread>

namespace {

/** 400 steps of one chunk each, one behind the other in a file. */
class Stream : public testing::Test {
  protected:
    static constexpr uint64_t steps = 400, width = 50;

    void SetUp() override {
        std::string file;
        for (uint64_t t = 0; t < steps; t++) {
            for (uint64_t x = 0; x < width; x++) {
                const int32_t value = static_cast<int32_t>(t * width + x);
                file += littleEndian<int32_t>({value});
            }
            v.store.range("v/" + std::to_string(t) + ".0", "steps.bin", t * width * 4, width * 4);
        }
        v.store.vfs.files["steps.bin"] = file;
        v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[400,50],"chunks":[1,50],"order":"C",
            "dtype":"<i4","fill_value":-1,"compressor":null,"filters":null})");
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }

    void open(size_t cache_bytes) {
        ASSERT_EQ(refs_cache_open(cache_bytes, &cache, nullptr), REFS_OK);
        v.open(cache, true);
    }
    void expectStep(uint64_t t, uint64_t begin = 0, uint64_t end = width) {
        std::vector<int32_t> values(end - begin, -7);
        const uint64_t start[] = {t, begin}, count[] = {1, end - begin};
        const refs_region region = {start, count, nullptr};
        refs_error error = REFS_ERROR_INIT;
        ASSERT_EQ(refs_array_read(v.array, &region, values.data(), nullptr, &error), REFS_OK)
            << error.message;
        for (uint64_t x = begin; x < end; x++)
            ASSERT_EQ(values[x - begin], static_cast<int32_t>(t * width + x));
    }
    uint64_t decoded() const {
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        return stats.chunks_decoded;
    }

    MemoryArray v;
    refs_cache *cache = nullptr;
};

TEST_F(Stream, DecodesNothingTwiceForStepByStepReads) {
    open(1 << 20);
    for (uint64_t t = 0; t < steps; t++) expectStep(t);
    EXPECT_EQ(decoded(), steps);
}

TEST_F(Stream, FollowsWhoGoesOnFromTheFirstChunkToTheSecond) {
    open(1 << 20);
    expectStep(0);
    expectStep(1);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (decoded() <= 2 && std::chrono::steady_clock::now() < patience)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GT(decoded(), 2u);
}

TEST_F(Stream, BringsTheSeriesOfAPointInTwoRequests) {
    open(1 << 20);
    for (uint64_t t = 0; t < steps; t++) expectStep(t, 7, 8);
    EXPECT_EQ(v.store.stats().requests, 2u);
    EXPECT_EQ(decoded(), steps);
}

TEST_F(Stream, GrowsWithReadsOfMoreThanAPoint) {
    open(1 << 20);
    for (uint64_t t = 0; t < steps; t++) expectStep(t, 7, 9);
    EXPECT_GT(v.store.stats().requests, 2u);
}

TEST_F(Stream, FollowsReadsThatLeaveOutSteps) {
    open(1 << 20);
    for (uint64_t t = 0; t < steps; t += 3) expectStep(t);
    EXPECT_LE(decoded(), steps);
}

TEST_F(Stream, CostsReadsHereAndThereNothing) {
    open(1 << 20);
    std::mt19937 random(1);
    std::set<uint64_t> read;
    for (int i = 0; i < 60; i++) {
        const uint64_t t = random() % steps;
        expectStep(t);
        read.insert(t);
    }
    EXPECT_EQ(decoded(), read.size());
}

TEST_F(Stream, KeepsWithinASmallCache) {
    open(20 * (width * 4 + 128));
    for (uint64_t t = 0; t < steps; t++) expectStep(t);
    EXPECT_LE(decoded(), 4 * steps);
}

TEST_F(Stream, TakesAdviceFromTheFirstReadOn) {
    open(1 << 20);
    const uint64_t start[] = {0, 0}, count[] = {steps, width};
    const refs_region region = {start, count, nullptr};
    refs_array_advise(v.array, &region);
    for (uint64_t t = 0; t < steps; t++) expectStep(t);
    EXPECT_LE(v.store.stats().requests, 4u);
    EXPECT_EQ(decoded(), steps);
}

TEST_F(Stream, EndsWithTheArrayWhateverIsLeft) {
    open(1 << 20);
    for (uint64_t t = 0; t < 5; t++) expectStep(t);
}

TEST_F(Stream, TellsAFailureToTheReaderOfThatChunkAlone) {
    v.store.range("v/30.0", "nowhere.bin", 0, 200);
    open(1 << 20);
    for (uint64_t t = 0; t < 30; t++) expectStep(t);
    int32_t values[width];
    const uint64_t start[] = {30, 0}, count[] = {1, width};
    const refs_region region = {start, count, nullptr};
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_array_read(v.array, &region, values, nullptr, &error), REFS_IO);
    EXPECT_EQ(std::string(error.message).find("set.json: v/30.0: nowhere.bin [0+200]"), 0u)
        << error.message;
    for (uint64_t t = 31; t < steps; t++) expectStep(t);
}

TEST_F(Stream, ServesSeveralReadersOfOneArray) {
    open(1 << 20);
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; i++)
        readers.emplace_back([this] {
            for (uint64_t t = 0; t < steps; t++) expectStep(t);
        });
    for (auto &reader : readers) reader.join();
    EXPECT_LE(decoded(), 4 * steps); // chunks that one reader has spent make room
}

/** Reads `n` steps from `first` on, `by` apart, in one go. */
std::vector<int32_t> read_steps(const MemoryArray &v, uint64_t first, uint64_t n, int64_t by,
                                uint64_t width) {
    std::vector<int32_t> values(n * width, -7);
    const uint64_t start[] = {first, 0}, count[] = {n, width};
    const int64_t step[] = {by, 1};
    const refs_region region = {start, count, step};
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_array_read(v.array, &region, values.data(), nullptr, &error), REFS_OK)
        << error.message;
    return values;
}

/* Chunks of 8 steps each. */
class Steps : public testing::Test {
  protected:
    void SetUp() override {
        v.addIntegers({{96, 50}, {8, 50}});
        ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
        v.open(cache, true);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }
    void read(uint64_t t) { read_steps(v, t, 1, 1, 50); }

    /** Chunks decoded when the threads that read ahead, if there are any, have had time. */
    uint64_t decoded(uint64_t at_least) const {
        refs_array_stats stats;
        const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        do {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            refs_array_get_stats(v.array, &stats);
        } while (stats.chunks_decoded < at_least && std::chrono::steady_clock::now() < patience);
        return stats.chunks_decoded;
    }

    MemoryArray v;
    refs_cache *cache = nullptr;
};

TEST_F(Steps, InsideAChunkAreFollowedIntoTheNext) {
    for (uint64_t t = 0; t < 4; t++) read(t);
    EXPECT_GT(decoded(2), 1u);
}

TEST_F(Steps, AreNotFollowedForThreeBandsOfAPicture) {
    for (uint64_t t = 0; t < 3; t++) read(t);
    EXPECT_EQ(decoded(1), 1u);
}

TEST_F(Steps, AreNotFollowedWhereTheyDiffer) {
    for (uint64_t t : {0, 1, 3, 4, 6, 7}) read(t);
    EXPECT_EQ(decoded(1), 1u);
}

TEST_F(Steps, AreNotFollowedBackwards) {
    for (uint64_t t = 31; t > 24; t--) read(t);
    EXPECT_EQ(decoded(1), 1u);
}

TEST_F(Steps, DecodeNothingTwice) {
    for (uint64_t t = 0; t < 96; t++) read(t);
    EXPECT_EQ(decoded(12), 12u);
}

TEST(LongSteps, AreNotFollowedBeforeAThirdOfTheWay) {
    MemoryArray v;
    refs_cache *cache = nullptr;
    v.addIntegers({{200, 50}, {100, 50}});
    ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
    v.open(cache, true);
    refs_array_stats stats;
    for (uint64_t t = 0; t < 33; t++) read_steps(v, t, 1, 1, 50);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    refs_array_get_stats(v.array, &stats);
    EXPECT_EQ(stats.chunks_decoded, 1u);
    for (uint64_t t = 33; t < 200; t++) read_steps(v, t, 1, 1, 50);
    refs_array_get_stats(v.array, &stats);
    EXPECT_EQ(stats.chunks_decoded, 2u);
    v.close();
    refs_cache_free(cache);
}

class InPlace : public Stream {
  protected:
    uint64_t copied() const {
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        return stats.bytes_copied;
    }
    void expectSteps(uint64_t first, uint64_t n, int64_t by, uint64_t columns = width) {
        const auto values = read_steps(v, first, n, by, columns);
        for (uint64_t i = 0; i < n; i++)
            for (uint64_t x = 0; x < columns; x++)
                ASSERT_EQ(
                    values[i * columns + x],
                    static_cast<int32_t>((first + i * static_cast<uint64_t>(by)) * width + x));
    }
};

TEST_F(InPlace, DecodesReadsThatAreLargerThanTheCache) {
    open(steps * width);
    expectSteps(0, steps, 1);
    EXPECT_EQ(copied(), 0u);
    EXPECT_EQ(decoded(), steps);
    expectSteps(3, steps - 5, 1);
    EXPECT_EQ(copied(), 0u);
}

TEST_F(InPlace, KeepsWhatFitsInTheCache) {
    open(1 << 20);
    expectSteps(0, steps, 1);
    EXPECT_EQ(copied(), steps * width * 4);
    expectSteps(0, steps, 1);
    EXPECT_EQ(decoded(), steps);
}

TEST_F(InPlace, CopiesPartsOfChunksAndOtherOrders) {
    open(steps * width);
    expectSteps(0, steps, 1, width - 1);
    EXPECT_EQ(copied(), steps * (width - 1) * 4);
    expectSteps(steps - 1, steps, -1);
    expectSteps(0, steps / 2, 2);
}

/* Of each step one chunk, and far away from it another one. */
class Riders : public testing::Test {
  protected:
    static constexpr uint64_t steps = 6, chunk_bytes = 40, far_away = 1 << 20;

    void SetUp() override {
        std::string file(far_away + steps * chunk_bytes, '\0');
        for (uint64_t t = 0; t < steps; t++)
            for (uint64_t x = 0; x < 2; x++) {
                const uint64_t offset = t * chunk_bytes + x * far_away;
                v.store.range("v/" + std::to_string(t) + "." + std::to_string(x), "steps.bin",
                              offset, chunk_bytes);
                memset(&file[offset], static_cast<int>(10 * t + x), chunk_bytes);
            }
        v.store.vfs.files["steps.bin"] = file;
        v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[6,20],"chunks":[1,10],"order":"C",
            "dtype":"<i4","fill_value":-1,"compressor":null,"filters":null})");
        ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
        v.open(cache, true);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }
    void bring(uint64_t begin, uint64_t end, uint64_t end_riders, refs_chunk_use use) {
        EXPECT_EQ(ahead_bring(v.array, begin, end, end_riders, use), REFS_OK);
    }
    refs_array_stats stats() const {
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        return stats;
    }

    MemoryArray v;
    refs_cache *cache = nullptr;
};

TEST_F(Riders, ComeAlongWithWhatIsReadAhead) {
    bring(0, 2, 12, REFS_USE_AHEAD);
    EXPECT_EQ(v.store.stats().requests, 2u);
    EXPECT_EQ(stats().chunks_decoded, 4u) << "not more of them than were wanted";
    bring(2, 4, 12, REFS_USE_AHEAD);
    EXPECT_EQ(stats().chunks_decoded, 4u) << "they are there";
    bring(0, 4, 4, REFS_USE_NOW);
    EXPECT_EQ(v.store.stats().requests, 2u);
    EXPECT_EQ(stats().chunks_decoded, 4u);
}

TEST_F(Riders, AreCountedAsAheadWhenTheirTurnComes) {
    refs_ahead ahead;
    bring(0, 2, 12, REFS_USE_AHEAD);
    refs_cache__get_ahead(cache, &ahead);
    EXPECT_EQ(ahead.bytes, 2 * chunk_bytes);
    bring(2, 4, 4, REFS_USE_AHEAD);
    refs_cache__get_ahead(cache, &ahead);
    EXPECT_EQ(ahead.bytes, 4 * chunk_bytes);
    bring(0, 4, 4, REFS_USE_NOW);
    refs_cache__get_ahead(cache, &ahead);
    EXPECT_EQ(ahead.bytes, 0u);
}

TEST_F(Riders, DoNotComeWithWhatIsReadNow) {
    bring(0, 2, 12, REFS_USE_NOW);
    EXPECT_EQ(stats().chunks_decoded, 2u);
}

TEST_F(Riders, StayWhereTheyAreNear) {
    v.store.vfs.near = true;
    bring(0, 2, 12, REFS_USE_AHEAD);
    EXPECT_EQ(stats().chunks_decoded, 2u) << "a read of a local file costs nothing";
}

TEST(Room, IsGivenWhileLittleIsAheadOrSomebodyWaits) {
    refs_cache *cache = nullptr;
    ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
    EXPECT_TRUE(ahead_await_room(cache, 100, 50, false, false));
    EXPECT_FALSE(ahead_await_room(cache, 100, 50, false, true)) << "it is to end";
    std::thread other([&] { ahead_give_room(cache, 100); });
    EXPECT_TRUE(ahead_await_room(cache, 100, 50, false, false)) << "when it is given back";
    other.join();
    EXPECT_TRUE(ahead_await_room(cache, 100, 50, true, false));
    refs_cache_free(cache);
}

} // namespace
