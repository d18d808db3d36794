/* local_test.cc -- ranges of files that are at hand: read in pieces, in memory that is used again.
 */
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <vector>

#include "driven_queue.h"
#include "in_threads.h"
#include "memory_vfs.h"
#include "refs/fetch.h"

namespace {

class Near : public testing::Test {
  protected:
    static constexpr size_t fileBytes = 12 << 20;

    void SetUp() override {
        std::string content(fileBytes, '\0');
        std::minstd_rand random(1);
        for (char &byte : content) byte = static_cast<char>(random());
        vfs.files["file"] = content;
        vfs.near = true;
        refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
        ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, &error), REFS_OK);
    }
    void TearDown() override { refs_fetcher_free(fetcher); }

    /** Ranges of `length` bytes, one behind the other. */
    static std::vector<refs_range> row(size_t n, uint64_t length) {
        std::vector<refs_range> ranges;
        for (size_t i = 0; i < n; i++)
            ranges.push_back({0, "file", i * length, length, 0, REFS_RANGE_REQUIRED});
        return ranges;
    }
    refs_status fetch(const std::vector<refs_range> &asked) {
        ranges = asked;
        times.assign(ranges.size(), 0);
        DrivenQueue queue(ranges);
        queue.take = [this](size_t index, refs_bytes bytes, refs_block *block, refs_error *) {
            const refs_range &range = ranges[index];
            const char *expected = vfs.files["file"].data() + range.offset;
            EXPECT_EQ(bytes.size, range.length);
            EXPECT_EQ(memcmp(bytes.data, expected, bytes.size), 0);
            times[index]++;
            places.insert(bytes.data);
            if (holds) holdForAWhile(bytes, expected, block);
            return REFS_OK;
        };
        const refs_status status = queue.run(fetcher, &error);
        failed = queue.failed;
        return status;
    }
    /** As a worker does, which lets go on its own thread. */
    void holdForAWhile(refs_bytes bytes, const char *expected, refs_block *block) {
        refs_block_hold(block);
        workers.emplace_back([=] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            EXPECT_EQ(memcmp(bytes.data, expected, bytes.size), 0);
            refs_block_release(block);
        });
    }
    refs_fetch_stats stats() const {
        refs_fetch_stats counts;
        refs_fetcher_stats(fetcher, &counts);
        return counts;
    }

    MemoryVfs vfs;
    refs_error error = REFS_ERROR_INIT;
    refs_fetcher *fetcher = nullptr;
    std::vector<refs_range> ranges;
    std::vector<int> times;
    std::set<const uint8_t *> places;
    std::vector<std::thread> workers;
    bool holds = false;
    size_t failed = 0;
};

/** One of several calls at the same time. */
struct Call {
    const std::vector<refs_range> &asked;
    const char *file;
    size_t n = 0;

    static refs_status check(void *user, size_t index, refs_bytes bytes, refs_block *,
                             refs_error *) {
        auto *call = static_cast<Call *>(user);
        EXPECT_EQ(memcmp(bytes.data, call->file + call->asked[index].offset, bytes.size), 0);
        call->n++;
        return REFS_OK;
    }
};

TEST_F(Near, ReadsPieceByPieceIntoThreePlaces) {
    ASSERT_EQ(fetch(row(24, 400000)), REFS_OK);
    EXPECT_EQ(times, std::vector<int>(24, 1));
    EXPECT_EQ(vfs.reads, 24);
    EXPECT_EQ(vfs.opens, 1);
    EXPECT_LE(places.size(), 3u);
    EXPECT_EQ(stats().bytes, 24 * 400000u);
}

TEST_F(Near, ReadsSmallNeighboursTogether) {
    ASSERT_EQ(fetch(row(1000, 1000)), REFS_OK);
    EXPECT_EQ(times, std::vector<int>(1000, 1));
    EXPECT_EQ(vfs.reads, 2);
    EXPECT_EQ(stats().requests, 1u);
}

TEST_F(Near, LeavesAPieceAloneUntilWorkersLetGoOfIt) {
    holds = true;
    ASSERT_EQ(fetch(row(24, 400000)), REFS_OK);
    for (auto &worker : workers) worker.join();
    EXPECT_EQ(times, std::vector<int>(24, 1));
}

TEST_F(Near, GivesEveryCallPlacesOfItsOwn) {
    inThreads<4>([this](unsigned) {
        const auto asked = row(24, 400000);
        Call call = {asked, vfs.files["file"].data()};
        const refs_fetch_client client = {Call::check, &call, nullptr};
        EXPECT_EQ(refs_fetch(fetcher, asked.data(), asked.size(), &client, nullptr), REFS_OK);
        EXPECT_EQ(call.n, asked.size());
    });
}

TEST_F(Near, GivesALargePieceMemoryOfItsOwn) {
    ASSERT_EQ(fetch(row(3, 3 << 20)), REFS_OK);
    EXPECT_EQ(times, std::vector<int>(3, 1));
    EXPECT_EQ(stats().bytes, 9u << 20);
}

TEST_F(Near, HandsOverRangesThatOverlap) {
    std::minstd_rand random(2);
    std::vector<refs_range> asked;
    for (int i = 0; i < 300; i++) {
        const uint64_t length = random() % 5 == 0 ? random() % 900000 : random() % 3000;
        asked.push_back(
            {0, "file", random() % (fileBytes - length), length, 0, REFS_RANGE_REQUIRED});
    }
    ASSERT_EQ(fetch(asked), REFS_OK) << error.message;
    EXPECT_EQ(times, std::vector<int>(300, 1));
}

TEST_F(Near, SaysWhichRangeReachesBeyondTheEnd) {
    auto asked = row(2, 400000);
    asked.push_back({0, "file", fileBytes - 10, 20, 0, REFS_RANGE_REQUIRED});
    EXPECT_EQ(fetch(asked), REFS_CHANGED);
    EXPECT_EQ(std::string(error.message)
                  .find("the file has only 12582912 bytes: expected bytes 12582902 to 12582921"),
              0u)
        << error.message;
    EXPECT_EQ(failed, 2u);
}

} // namespace
