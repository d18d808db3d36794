/* prefetch_test.cc -- what readers prefetch: fewer requests, nothing twice, the same values. */
#include "in_threads.h"
#include "memory_array.h"
#include "report.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <random>
#include <set>
#include <thread>

namespace {

/** Reads `n` steps from `first` on, `by` apart, in one go. */
std::vector<int32_t> read_steps(const MemoryArray &v, uint64_t first, uint64_t n, int64_t by,
                                uint64_t width) {
    std::vector<int32_t> values(n * width, -7);
    const uint64_t start[] = {first, 0}, count[] = {n, width};
    const int64_t step[] = {by, 1};
    const refs_region region = {start, count, step};
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(v.read(region, values.data(), &error), REFS_OK) << error.message;
    return values;
}

/** 400 steps of one chunk each, one behind the other in a file. */
class Prefetch : public testing::Test {
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
        v.store.vfs.onOpen =
            [](const std::string &) { /* as over a network */
                                      std::this_thread::sleep_for(std::chrono::microseconds(300));
            };
        ASSERT_EQ(refs_cache_open(cache_bytes, &cache, nullptr), REFS_OK);
        v.open(cache, MemoryArray::WithPrefetch);
    }
    /** Each step in a file of its own: no request brings bytes between two steps along. */
    void separateSteps() {
        const std::string all = v.store.vfs.files["steps.bin"];
        for (uint64_t t = 0; t < steps; t++) {
            const std::string name = "step-" + std::to_string(t);
            v.store.vfs.files[name] = all.substr(t * width * 4, width * 4);
            v.store.range("v/" + std::to_string(t) + ".0", name, 0, width * 4);
        }
    }
    void expectStep(uint64_t t) { expectStep(t, v.reader); }
    void expectStep(uint64_t t, refs_reader *reader) { expectPart(t, 0, width, reader); }
    void expectPart(uint64_t t, uint64_t begin, uint64_t end, refs_reader *reader) {
        std::vector<int32_t> values(end - begin, -7);
        const uint64_t start[] = {t, begin}, count[] = {1, end - begin};
        const refs_region region = {start, count, nullptr};
        refs_error error = REFS_ERROR_INIT;
        const refs_read_target target = {values.data(), nullptr, &v.progress};
        ASSERT_EQ(refs_reader_read_to(reader, &region, &target, &error), REFS_OK) << error.message;
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

TEST_F(Prefetch, DecodesNothingTwiceForStepByStepReads) {
    open(1 << 20);
    for (uint64_t t = 0; t < steps; t++) expectStep(t);
    EXPECT_EQ(decoded(), steps);
}

TEST_F(Prefetch, FollowsWhoGoesOnFromTheFirstChunkToTheSecond) {
    open(1 << 20);
    expectStep(0);
    expectStep(1);
    v.settle();
    EXPECT_GT(decoded(), 2u);
}

TEST_F(Prefetch, MakesFewRequestsOfManySteps) {
    open(1 << 20);
    for (uint64_t t = 0; t < steps; t++) {
        expectStep(t);
        v.settle();
    }
    EXPECT_LE(v.store.stats().requests, 20u);
    EXPECT_EQ(v.store.stats().bytes, steps * width * 4);
}

TEST_F(Prefetch, FollowsBackwards) {
    open(1 << 20);
    for (uint64_t t = steps; t-- > 0;) {
        expectStep(t);
        v.settle();
    }
    EXPECT_LE(v.store.stats().requests, 20u);
    EXPECT_EQ(decoded(), steps);
}

TEST_F(Prefetch, FollowsReadsThatLeaveOutSteps) {
    open(1 << 20);
    for (uint64_t t = 0; t < steps; t += 3) expectStep(t);
    EXPECT_LE(decoded(), steps);
}

TEST_F(Prefetch, CostsReadsHereAndThereNothing) {
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

TEST_F(Prefetch, KeepsWithinASmallCache) {
    open(20 * (width * 4 + 128));
    for (uint64_t t = 0; t < steps; t++) expectStep(t);
    EXPECT_LE(decoded(), 4 * steps);
}

TEST_F(Prefetch, TakesAdviceFromTheFirstReadOn) {
    open(1 << 20);
    const uint64_t start[] = {0, 0}, count[] = {steps, width};
    const refs_region region = {start, count, nullptr};
    std::atomic<bool> begun{false};
    v.store.vfs.onOpen = [&](const std::string &) { begun = true; };
    refs_reader_advise(v.reader, &region);
    while (!begun) std::this_thread::yield();
    for (uint64_t t = 0; t < steps; t++) expectStep(t);
    EXPECT_LE(v.store.stats().requests, 4u);
    EXPECT_EQ(decoded(), steps);
}

/** Advice about all of an array of absent chunks of one element each, and a read of the last. */
void adviseAndReadTheLast(const std::vector<uint64_t> &shape) {
    MemoryArray v;
    refs_cache *cache = nullptr;
    ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
    v.store.put("v/.zarray", R"({"zarr_format":2,"order":"C","dtype":"<i4","fill_value":-1,
        "compressor":null,"filters":null,"chunks":[1,1],"shape":)" +
                                 jsonList(shape) + "}");
    v.open(cache, MemoryArray::WithPrefetch);
    const uint64_t first[] = {0, 0}, last[] = {shape[0] - 1, 0}, count[] = {1, shape[1]};
    const refs_region region = {first, shape.data(), nullptr}, row = {last, count, nullptr};
    refs_reader_load(v.reader, &region, nullptr);
    std::vector<int32_t> values(shape[1], -7);
    EXPECT_EQ(refs_reader_read(v.reader, &row, values.data(), nullptr, nullptr), REFS_OK);
    EXPECT_EQ(values, std::vector<int32_t>(shape[1], -1));
    v.close();
    refs_cache_free(cache);
}

TEST(Advice, AboutMoreThanAnybodyReadsTakesNoMemory) {
    rusage before = {}, after = {};
    getrusage(RUSAGE_SELF, &before);
    adviseAndReadTheLast({10000000, 1});
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LE(after.ru_maxrss, before.ru_maxrss + 100 * 1024);
}

/* Else this would take an hour. */
TEST(Advice, DoesNotCountThroughWhatIsJumpedOver) {
    adviseAndReadTheLast({1000000, 10000});
}

TEST_F(Prefetch, EndsWithTheArrayWhateverIsLeft) {
    open(1 << 20);
    for (uint64_t t = 0; t < 5; t++) expectStep(t);
}

TEST_F(Prefetch, TellsAFailureToTheReaderOfThatChunkAlone) {
    v.store.range("v/30.0", "nowhere.bin", 0, 200);
    open(1 << 20);
    for (uint64_t t = 0; t < 30; t++) expectStep(t);
    int32_t values[width];
    const uint64_t start[] = {30, 0}, count[] = {1, width};
    const refs_region region = {start, count, nullptr};
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_reader_read(v.reader, &region, values, nullptr, &error), REFS_IO);
    EXPECT_EQ(std::string(error.message).find("set.json: v/30.0: nowhere.bin [0+200]"), 0u)
        << error.message;
    for (uint64_t t = 31; t < steps; t++) expectStep(t);
}

/** Readers of one array, each with a thread and a pattern of its own. */
TEST_F(Prefetch, ServesSeveralReadersOfOneArray) {
    separateSteps();
    open(1 << 20);
    inThreads<4>([this](unsigned i) {
        refs_reader *reader = nullptr;
        ASSERT_EQ(refs_reader_open(v.array, &reader, nullptr), REFS_OK);
        for (uint64_t n = 0; n < steps; n++)
            expectStep(i == 1 ? steps - 1 - n : i == 2 ? n * 7 % steps : n, reader);
        refs_reader_free(reader);
    });
    EXPECT_EQ(decoded(), steps);
    EXPECT_EQ(v.store.stats().bytes, steps * width * 4);
}

/* What a reader has left, jumped over or passed is not fetched again, and holds nobody up. */
TEST_F(Prefetch, FetchesNothingTwiceWhateverTheReaderDoes) {
    separateSteps();
    open(1 << 20);
    std::mt19937 random(3);
    for (int round = 0; round < 60; round++) {
        uint64_t t = random() % steps;
        const uint64_t n = random() % 12;
        for (uint64_t i = 0; i < n && t < steps; i++) expectStep(round % 2 == 0 ? t++ : t--);
        if (round % 9 == 8) v.settle();
    }
    for (uint64_t t = 0; t < steps; t++) expectStep(t);
    EXPECT_EQ(decoded(), steps);
    EXPECT_EQ(v.store.stats().bytes, steps * width * 4);
}

TEST_F(Prefetch, LeavesGapsToWhoFetchesThemAlready) {
    open(1 << 20);
    std::promise<void> begun, over;
    std::atomic<int> n_opened{0};
    v.store.vfs.onOpen = [&](const std::string &) {
        if (n_opened++ > 0) return;
        begun.set_value();
        over.get_future().wait();
    };
    refs_reader *other;
    ASSERT_EQ(refs_reader_open(v.array, &other, nullptr), REFS_OK);
    std::thread between([&] { expectStep(11, other); });
    begun.get_future().wait();
    const auto around = read_steps(v, 10, 2, 2, width);
    over.set_value();
    between.join();
    refs_reader_free(other);
    EXPECT_EQ(around[0], 10 * static_cast<int32_t>(width));
    EXPECT_EQ(around[width], 12 * static_cast<int32_t>(width));
    EXPECT_EQ(v.store.stats().bytes, 3 * width * 4);
}

TEST_F(Prefetch, EndsSoonWithItsReader) {
    open(1 << 20);
    for (uint64_t t = 0; t < 5; t++) expectStep(t);
    refs_reader_free(v.reader);
    v.reader = nullptr;
    const uint64_t requests = v.store.stats().requests;
    v.settle();
    EXPECT_LE(v.store.stats().requests, requests + 2);
}

/* The threads that prefetch are all held up by what others wait for. */
TEST_F(Prefetch, IsNotWaitedForWhereItHasNotBegun) {
    open(1 << 20);
    std::promise<void> way;
    const std::shared_future<void> opened = way.get_future().share();
    std::atomic<unsigned> held{0};
    std::function<void()> wait = [&] {
        held++;
        opened.wait();
    };
    const unsigned n = refs_pool_n_threads(v.prefetchPool());
    for (unsigned i = 0; i < n; i++)
        refs_pool_run(
            v.prefetchPool(),
            [](void *argument, refs_error *) {
                (*static_cast<std::function<void()> *>(argument))();
                return REFS_OK;
            },
            [](void *) {}, &wait);
    while (held < n) std::this_thread::yield();
    for (uint64_t t = 0; t < 5; t++) expectStep(t);
    const uint64_t requests = v.store.stats().requests;
    const std::future<void> closed = std::async(std::launch::async, [&] {
        refs_reader_free(v.reader);
        refs_array_free(v.array);
    });
    EXPECT_EQ(closed.wait_for(std::chrono::seconds(1)), std::future_status::ready);
    EXPECT_EQ(requests, 5u) << "nothing was prefetched";
    way.set_value();
    closed.wait();
    v.settle(); /* nobody is at the way any more */
    v.reader = nullptr;
    v.array = nullptr;
}

TEST_F(Prefetch, LeavesLocalBytesThatNeedNoDecodingAlone) {
    v.store.vfs.near = true;
    open(1 << 20);
    for (uint64_t t = 0; t < 20; t++) expectStep(t);
    v.settle();
    EXPECT_EQ(decoded(), 20u);
}

/** 500 steps of 40 kB, one behind the other in a local file: 27 of them are a mebibyte. No request
 * is made for the few that are left of a window. */
TEST(LocalSteps, TakeARequestForAboutAMebibyte) {
    const uint64_t n = 500, width = 10000;
    MemoryArray v;
    refs_cache *cache = nullptr;
    v.store.vfs.near = true;
    v.store.vfs.files["steps.bin"] = std::string(n * width * 4, 'x');
    for (uint64_t t = 0; t < n; t++)
        v.store.range("v/" + std::to_string(t) + ".0", "steps.bin", t * width * 4, width * 4);
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[500,10000],"chunks":[1,10000],)"
                             R"("order":"C","dtype":"<i4","fill_value":-1,"compressor":null,)"
                             R"("filters":[{"id":"shuffle","elementsize":4}]})");
    ASSERT_EQ(refs_cache_open(32 << 20, &cache, nullptr), REFS_OK);
    v.open(cache, MemoryArray::WithPrefetch);
    for (uint64_t t = 0; t < n; t++) {
        EXPECT_EQ(read_steps(v, t, 1, 1, width)[7], 0x78787878);
        v.settle();
    }
    EXPECT_LE(v.store.stats().requests, 21u);
    EXPECT_EQ(v.store.stats().bytes, n * width * 4);
    v.close();
    refs_cache_free(cache);
}

/* -- progress ---------------------------------------------------------------------------------- */

TEST_F(Prefetch, TellsProgressAndStopsWhereItIsTold) {
    open(1 << 20);
    Report report;
    v.progress = report.progress();
    expectStep(0);
    EXPECT_GE(report.told.size(), 1u);
    EXPECT_TRUE(std::is_sorted(report.told.begin(), report.told.end()));
    EXPECT_GE(report.told.front(), 0.0);
    EXPECT_LE(report.told.back(), 1.0);
    for (size_t at = 1; at <= report.told.size(); at++) {
        Report stopping;
        stopping.stopAt = at;
        v.progress = stopping.progress();
        int32_t values[width];
        const uint64_t start[] = {100 + at, 0}, count[] = {1, width};
        const refs_region region = {start, count, nullptr};
        EXPECT_EQ(v.read(region, values), REFS_CANCELLED);
    }
    v.progress = {nullptr, nullptr};
    expectStep(101);
}

TEST_F(Prefetch, CountsChunksThatWereThere) {
    open(1 << 20);
    expectStep(5);
    Report report;
    v.progress = report.progress();
    read_steps(v, 5, 2, 1, width);
    EXPECT_EQ(report.told.front(), 0.0);
    EXPECT_GE(report.told.back(), 0.5);
}

/* More chunks than are asked for at once. */
TEST(Progress, GoesOnFromOneFetchToTheNext) {
    constexpr uint64_t n = 40000;
    MemoryArray v;
    v.addIntegers({{n, 1}, {1, 1}});
    v.open();
    Report report;
    v.progress = report.progress();
    const auto values = read_steps(v, 0, n, 1, 1);
    EXPECT_EQ(values.back(), static_cast<int32_t>(n) - 1);
    EXPECT_TRUE(std::is_sorted(report.told.begin(), report.told.end()));
    EXPECT_GE(report.told.back(), 0.8);
    EXPECT_LE(report.told.back(), 1.0);
}

namespace {

/** A read by one of several threads that share a reader: it is asked on its own thread alone. */
struct OwnReport {
    const std::thread::id thread = std::this_thread::get_id();
    int nAsked = 0;
    bool isStrange = false;

    static bool report(void *user, double) {
        auto *self = static_cast<OwnReport *>(user);
        self->nAsked++;
        self->isStrange = self->isStrange || self->thread != std::this_thread::get_id();
        return true;
    }
};

} // namespace

TEST_F(Prefetch, AsksTheProgressOfEachOfTheThreadsThatShareAReader) {
    open(1 << 20);
    inThreads<4>([this](unsigned n) {
        for (uint64_t t = n; t < steps; t += 4) {
            OwnReport own; /* gone when the read has returned */
            const refs_progress progress = {OwnReport::report, &own};
            std::vector<int32_t> values(width, -7);
            const refs_read_target target = {values.data(), nullptr, &progress};
            const uint64_t start[] = {t, 0}, count[] = {1, width};
            const refs_region region = {start, count, nullptr};
            EXPECT_EQ(refs_reader_read_to(v.reader, &region, &target, nullptr), REFS_OK);
            EXPECT_EQ(values[0], static_cast<int32_t>(t * width));
            EXPECT_GE(own.nAsked, 1);
            EXPECT_FALSE(own.isStrange);
        }
    });
}

/* A chunk that another reader loads, and that does not come. */
TEST_F(Prefetch, StopsWhileItWaitsForOthers) {
    open(1 << 20);
    std::atomic<bool> blocked{true}, opening{false};
    v.store.vfs.onOpen = [&](const std::string &) {
        opening = true;
        while (blocked) std::this_thread::yield();
    };
    std::thread other([this] {
        int32_t values[width];
        const uint64_t start[] = {7, 0}, count[] = {1, width};
        const refs_region region = {start, count, nullptr};
        EXPECT_EQ(refs_array_read(v.array, &region, values, nullptr, nullptr), REFS_OK);
    });
    while (!opening) std::this_thread::yield();
    Report report;
    report.stopAt = 3;
    v.progress = report.progress();
    int32_t values[width];
    const uint64_t start[] = {7, 0}, count[] = {1, width};
    const refs_region region = {start, count, nullptr};
    EXPECT_EQ(v.read(region, values), REFS_CANCELLED);
    blocked = false;
    other.join();
}

/* Chunks of 8 steps each. */
class Steps : public testing::Test {
  protected:
    void SetUp() override {
        v.addIntegers({{96, 50}, {8, 50}});
        ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
        v.open(cache, MemoryArray::WithPrefetch);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }
    void read(uint64_t t) { read_steps(v, t, 1, 1, 50); }

    /** Chunks decoded when the threads that read ahead have had time. */
    uint64_t decoded() const {
        refs_array_stats stats;
        v.settle();
        refs_array_get_stats(v.array, &stats);
        return stats.chunks_decoded;
    }

    MemoryArray v;
    refs_cache *cache = nullptr;
};

TEST_F(Steps, InsideAChunkAreFollowedIntoTheNext) {
    for (uint64_t t = 0; t < 4; t++) read(t);
    EXPECT_GT(decoded(), 1u);
}

TEST_F(Steps, AreNotFollowedForThreeBandsOfAPicture) {
    for (uint64_t t = 0; t < 3; t++) read(t);
    EXPECT_EQ(decoded(), 1u);
}

TEST_F(Steps, AreNotFollowedWhereTheyDiffer) {
    for (uint64_t t : {0, 1, 3, 4, 6, 7}) read(t);
    EXPECT_EQ(decoded(), 1u);
}

TEST_F(Steps, AreNotFollowedBackwards) {
    for (uint64_t t = 31; t > 24; t--) read(t);
    EXPECT_EQ(decoded(), 1u);
}

TEST_F(Steps, DecodeNothingTwice) {
    for (uint64_t t = 0; t < 96; t++) read(t);
    EXPECT_EQ(decoded(), 12u);
}

TEST(LongSteps, AreNotFollowedBeforeAThirdOfTheWay) {
    MemoryArray v;
    refs_cache *cache = nullptr;
    v.addIntegers({{200, 50}, {100, 50}});
    ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
    v.open(cache, MemoryArray::WithPrefetch);
    refs_array_stats stats;
    for (uint64_t t = 0; t < 33; t++) read_steps(v, t, 1, 1, 50);
    v.settle();
    refs_array_get_stats(v.array, &stats);
    EXPECT_EQ(stats.chunks_decoded, 1u);
    for (uint64_t t = 33; t < 200; t++) read_steps(v, t, 1, 1, 50);
    refs_array_get_stats(v.array, &stats);
    EXPECT_EQ(stats.chunks_decoded, 2u);
    v.close();
    refs_cache_free(cache);
}

class InPlace : public Prefetch {
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

TEST_F(InPlace, LeavesChunksToOthersAsSoonAsTheyAreDecoded) {
    separateSteps();
    open(100);
    std::promise<void> way, begun;
    const std::shared_future<void> opened = way.get_future().share();
    v.store.vfs.onOpen = [&](const std::string &name) {
        if (name != "step-1") return;
        begun.set_value();
        opened.wait();
    };
    refs_reader *other = nullptr;
    ASSERT_EQ(refs_reader_open(v.array, &other, nullptr), REFS_OK);
    const std::future<void> reading = std::async(std::launch::async, [&] { expectSteps(0, 2, 1); });
    begun.get_future().wait();
    const std::future<void> first = std::async(std::launch::async, [&] { expectStep(0, other); });
    EXPECT_EQ(first.wait_for(std::chrono::seconds(1)), std::future_status::ready);
    way.set_value();
    reading.wait();
    first.wait();
    refs_reader_free(other);
    EXPECT_EQ(copied(), 0u);
}

/* -- stored bytes ------------------------------------------------------------------------------ */

/** Chunks of a megabyte, of which a few are decoded ahead, and others kept as they are stored. */
class Stored : public testing::Test {
  protected:
    static constexpr uint64_t n = 40, width = REFS_MIB / 4;
    static constexpr uint64_t fit = 16, decodedAhead = 8;

    void SetUp() override {
        auto &file = v.store.vfs.files["all.bin"];
        file.resize(n * REFS_MIB);
        for (uint64_t t = 0; t < n; t++) {
            for (const uint64_t x : marked)
                putValue(&file[(t * width + x) * 4], shape.valueAt({t, x}));
            v.store.range("v/" + std::to_string(t) + ".0", "all.bin", t * REFS_MIB, REFS_MIB);
        }
        v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[40,262144],"chunks":[1,262144],
            "order":"C","dtype":"<i4","fill_value":-1,"compressor":null,"filters":null})");
        ASSERT_EQ(refs_cache_open(2 * fit * REFS_MIB, &cache, nullptr), REFS_OK);
        ASSERT_EQ(refs_pool_open(2, &pool, nullptr), REFS_OK);
        v.open(cache, MemoryArray::WithPrefetch, pool);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
        refs_pool_free(pool);
    }
    static void putValue(char *to, int32_t value) {
        for (int i = 0; i < 4; i++) to[i] = static_cast<char>(value >> 8 * i);
    }
    void settle() const {
        v.settle();
        Meeting::hold(pool);
    }
    void advise() const {
        const uint64_t start[] = {0, 0}, count[] = {n, width};
        const refs_region all = {start, count, nullptr};
        refs_reader_advise(v.reader, &all);
        settle();
    }
    void expectStep(uint64_t t) const {
        const auto values = read_steps(v, t, 1, 1, width);
        for (const uint64_t x : marked) ASSERT_EQ(values[x], shape.valueAt({t, x})) << t;
        settle();
    }
    uint64_t decoded() const {
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        return stats.chunks_decoded;
    }

    const ArrayShape shape = {{n, width}, {1, width}};
    const std::vector<uint64_t> marked = {0, 1000, width - 1};
    MemoryArray v;
    refs_cache *cache = nullptr;
    refs_pool *pool = nullptr;
};

TEST_F(Stored, BytesAreFetchedAsFarAsTheyFit) {
    advise();
    EXPECT_EQ(v.store.stats().bytes, fit * REFS_MIB);
    EXPECT_EQ(decoded(), decodedAhead);
}

TEST_F(Stored, BytesAreDecodedWhenTheReaderComesNear) {
    advise();
    for (uint64_t t = 0; t + decodedAhead < fit; t++) {
        expectStep(t);
        EXPECT_EQ(decoded(), t + 1 + decodedAhead);
    }
}

TEST_F(Stored, BytesAreFetchedOnceAndDecodedOnce) {
    advise();
    for (uint64_t t = 0; t < n; t++) expectStep(t);
    EXPECT_EQ(v.store.stats().bytes, n * REFS_MIB);
    EXPECT_EQ(decoded(), n);
}

/* -- lines of large chunks --------------------------------------------------------------------- */

/** Three chunks side by side, each larger than what the cache has. */
class Lines : public testing::Test {
  protected:
    void SetUp() override {
        v.addIntegers(shape);
        ASSERT_EQ(refs_cache_open(cacheBytes, &cache, nullptr), REFS_OK);
        v.open(cache, MemoryArray::WithPrefetch);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }
    void expectLine(uint64_t y, refs_reader *reader) {
        std::vector<int32_t> values(120, -7);
        const uint64_t start[] = {y, 0}, count[] = {1, 120};
        const refs_region region = {start, count, nullptr};
        ASSERT_EQ(refs_reader_read(reader, &region, values.data(), nullptr, nullptr), REFS_OK);
        for (uint64_t x = 0; x < 120; x++) ASSERT_EQ(values[x], shape.valueAt({y, x}));
    }
    uint64_t decoded() const {
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        return stats.chunks_decoded;
    }

    static constexpr size_t cacheBytes = 4000;
    const ArrayShape shape = {{100, 120}, {50, 40}};
    MemoryArray v;
    refs_cache *cache = nullptr;
};

TEST_F(Lines, DecodeEachChunkOnceWhateverTheCacheHolds) {
    for (uint64_t y = 0; y < 100; y++) expectLine(y, v.reader);
    EXPECT_EQ(decoded(), 6u);
}

TEST_F(Lines, OfSeveralReadersDoSoToo) {
    std::vector<refs_reader *> readers(3);
    for (auto &reader : readers) ASSERT_EQ(refs_reader_open(v.array, &reader, nullptr), REFS_OK);
    for (uint64_t y = 0; y < 50; y++)
        for (uint64_t i = 0; i < 3; i++) expectLine((y + 50 * i) % 100, readers[i]);
    EXPECT_LE(decoded(), 9u);
    for (auto *reader : readers) refs_reader_free(reader);
}

/** Two by three chunks of 9 MiB, each in three blocks, as GDAL reads what is larger than a block.
 */
TEST(Blocks, OfLargeChunksDecodeEachChunkOnce) {
    const uint64_t side = 1536;
    MemoryArray v;
    refs_cache *cache = nullptr;
    for (const char *key : {"v/0.0", "v/0.1", "v/0.2", "v/1.0", "v/1.1", "v/1.2"})
        v.store.put(key, std::string(side * side * 4, key[4]));
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[3000,4500],"chunks":[1536,1536],)"
                             R"("order":"C","dtype":"<i4","fill_value":-1,"compressor":null,)"
                             R"("filters":[{"id":"shuffle","elementsize":4}]})");
    ASSERT_EQ(refs_cache_open(20 << 20, &cache, nullptr), REFS_OK);
    v.open(cache, MemoryArray::WithPrefetch);
    std::vector<int32_t> block(side * side / 3);
    for (uint64_t y = 0; y < 3000; y += side / 3)
        for (uint64_t x = 0; x < 4500; x += side) {
            const uint64_t start[] = {y, x};
            const uint64_t count[] = {std::min(side / 3, 3000 - y), std::min(side, 4500 - x)};
            const refs_region region = {start, count, nullptr};
            ASSERT_EQ(refs_reader_read(v.reader, &region, block.data(), nullptr, nullptr), REFS_OK);
            ASSERT_EQ(reinterpret_cast<char *>(block.data())[0], static_cast<char>('0' + x / side));
        }
    refs_array_stats stats;
    refs_array_get_stats(v.array, &stats);
    EXPECT_EQ(stats.chunks_decoded, 6u);
    v.close();
    refs_cache_free(cache);
}

/** 24 chunks of a mebibyte side by side, each in eight blocks. Readahead has the blocks of a row
 * loaded in turn, and must not have chunks thrown away that the next row needs. */
TEST(Blocks, OfChunksDecodeEachOnceThoughTheReaderComesBack) {
    const uint64_t side = 512, n = 24;
    MemoryArray v;
    refs_cache *cache = nullptr;
    for (uint64_t i = 0; i < n; i++)
        v.store.put("v/0." + std::to_string(i),
                    std::string(side * side * 4, static_cast<char>('a' + i)));
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[512,12288],"chunks":[512,512],)"
                             R"("order":"C","dtype":"<i4","fill_value":-1,"compressor":null,)"
                             R"("filters":[{"id":"shuffle","elementsize":4}]})");
    ASSERT_EQ(refs_cache_open(8 << 20, &cache, nullptr), REFS_OK);
    v.open(cache, MemoryArray::WithPrefetch);
    std::vector<int32_t> block(side * side / 8);
    for (uint64_t y = 0; y < side; y += side / 8)
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t start[] = {y, i * side}, count[] = {side / 8, side};
            const refs_region region = {start, count, nullptr};
            ASSERT_EQ(refs_reader_read(v.reader, &region, block.data(), nullptr, nullptr), REFS_OK);
            ASSERT_EQ(reinterpret_cast<char *>(block.data())[0], static_cast<char>('a' + i));
        }
    refs_array_stats stats;
    refs_array_get_stats(v.array, &stats);
    EXPECT_EQ(stats.chunks_decoded, n);
    v.close();
    refs_cache_free(cache);
}

/** Twelve bands of two chunks of 128 KiB, of each in turn some lines. */
class LinesOfBands : public testing::Test {
  protected:
    void SetUp() override {
        v.addIntegers(shape);
        ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
        v.open(cache, MemoryArray::NoPrefetch);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }
    uint64_t decodedBy(const std::vector<uint64_t> &firstLines) {
        std::vector<int32_t> values(32 * 256);
        for (uint64_t line : firstLines)
            for (uint64_t band = 0; band < 12; band++) {
                const uint64_t start[] = {band, line, 0}, count[] = {1, 32, 256};
                const refs_region region = {start, count, nullptr};
                EXPECT_EQ(refs_reader_read(v.reader, &region, values.data(), nullptr, nullptr),
                          REFS_OK);
                EXPECT_EQ(values[5], shape.valueAt({band, line, 5}));
            }
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        return stats.chunks_decoded;
    }

    const ArrayShape shape = {{12, 512, 256}, {1, 256, 128}};
    MemoryArray v;
    refs_cache *cache = nullptr;
};

TEST_F(LinesOfBands, DecodeEachChunkOnceWhenTheReaderHasComeBack) {
    const uint64_t first = decodedBy({0, 32, 64, 96, 128, 160, 192, 224});
    EXPECT_LE(first, 48u) << "24, and what is gone when it comes back";
    EXPECT_EQ(decodedBy({256, 288, 320, 352, 384, 416, 448, 480}), first + 24);
}

TEST_F(LinesOfBands, ReadBackwardsDoSoToo) {
    EXPECT_LE(decodedBy({480, 448, 416, 384, 352, 320, 288, 256}), 48u);
}

/** Seven chunks fit, and stay: of the others each is decoded for each of its eight parts. */
TEST_F(LinesOfBands, ThatAreMoreThanFitKeepThoseThatFit) {
    refs_cache_make_strict(cache);
    const uint64_t all = 8 * 24;
    const uint64_t first = decodedBy({0, 32, 64, 96, 128, 160, 192, 224});
    EXPECT_EQ(first, all - 7 * 7);
    EXPECT_LE(decodedBy({256, 288, 320, 352, 384, 416, 448, 480}), first + all - 6 * 7)
        << "the next row of chunks as well, but for a chunk that is begun late";
}

/** A chunk that is read several times in a row is kept although the reader came back to more chunks
 * than fit before. */
TEST_F(LinesOfBands, ThatAreReadAgainAtOnceAreKept) {
    refs_cache_make_strict(cache);
    decodedBy({0, 32, 64});
    std::vector<int32_t> values(16 * 128);
    const auto readBand = [&](uint64_t band) {
        refs_array_stats stats;
        const uint64_t start[] = {band, 300, 0}, count[] = {1, 16, 128};
        const refs_region region = {start, count, nullptr};
        EXPECT_EQ(refs_reader_read(v.reader, &region, values.data(), nullptr, nullptr), REFS_OK);
        refs_array_get_stats(v.array, &stats);
        return stats.chunks_decoded;
    };
    for (uint64_t band = 0; band < 12; band++) {
        const uint64_t first = readBand(band);
        for (int i = 0; i < 5; i++) EXPECT_LE(readBand(band), first + 1);
    }
}

/** 300 bands of one chunk of 128 KiB, which are the same bytes; seven fit into the cache. */
class ManyBands : public testing::Test {
  protected:
    static constexpr uint64_t nBands = 300, nLines = 32, width = 1024;

    void SetUp() override {
        v.store.vfs.files["one.bin"] = std::string(nLines * width * 4, 'x');
        for (uint64_t band = 0; band < nBands; band++)
            v.store.range("v/" + std::to_string(band) + ".0", "one.bin", 0, nLines * width * 4);
        v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[9600,1024],"chunks":[32,1024],)"
                                 R"("order":"C","dtype":"<i4","fill_value":-1,"compressor":null,)"
                                 R"("filters":null})");
        ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
        refs_cache_make_strict(cache);
        v.open(cache, MemoryArray::NoPrefetch);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }
    uint64_t decodedBy(uint64_t firstLine, uint64_t n) {
        std::vector<int32_t> values(n * width);
        const uint64_t start[] = {firstLine, 0}, count[] = {n, width};
        const refs_region region = {start, count, nullptr};
        EXPECT_EQ(refs_reader_read(v.reader, &region, values.data(), nullptr, nullptr), REFS_OK);
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        return stats.chunks_decoded;
    }
    /** Reads four lines of each of twelve bands. */
    void readInTurn(uint64_t line) {
        for (uint64_t band = 0; band < 12; band++) decodedBy(band * nLines + line, 4);
    }

    MemoryArray v;
    refs_cache *cache = nullptr;
};

TEST_F(ManyBands, ThatAreReadAtOnceEndTheCycleOfAReader) {
    for (uint64_t line = 0; line < 12; line += 4) readInTurn(line);
    const uint64_t first = decodedBy(200 * nLines, 4);
    EXPECT_EQ(decodedBy(200 * nLines + 4, 4), first + 1) << "others stay in the cache";
    readInTurn(12);
    const uint64_t all = decodedBy(0, nBands * nLines);
    const uint64_t next = decodedBy(100 * nLines, 4);
    EXPECT_GE(next, all);
    EXPECT_EQ(decodedBy(100 * nLines + 4, 4), next) << "it stays in the cache";
}

TEST_F(LinesOfBands, HereAndThereAreNotHeld) {
    EXPECT_EQ(decodedBy({0, 64, 128, 192}), 96u) << "the cache is as large as it shall be";
}

TEST_F(Lines, GiveBackWhatTheyHeldWithTheirReader) {
    expectLine(0, v.reader);
    refs_reader_free(v.reader);
    v.reader = nullptr;
    refs_reader *other = nullptr;
    ASSERT_EQ(refs_reader_open(v.array, &other, nullptr), REFS_OK);
    expectLine(0, other);
    EXPECT_EQ(decoded(), 6u) << "nothing was left of what the first one had";
    refs_reader_free(other);
}

} // namespace
