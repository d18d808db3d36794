/* fetcher_test.cc -- ranges of files in memory, fetched. */
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include <vector>

#include "driven_queue.h"
#include "memory_vfs.h"
#include "refs/fetch.h"

namespace {

class Fetcher : public testing::Test {
  protected:
    void SetUp() override {
        vfs.files["digits"] = "0123456789";
        vfs.files["letters"] = "abcdefghij";
        refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
        options.policy = {2, 8};
        options.max_whole_bytes = 64;
        options.advice.moved = "do this";
        ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, &error), REFS_OK);
    }
    void TearDown() override { refs_fetcher_free(fetcher); }

    refs_status fetch(const std::vector<refs_range> &ranges) {
        got.assign(ranges.size(), "");
        DrivenQueue queue(ranges);
        queue.isNeeded = isNeeded;
        queue.take = [this](size_t index, refs_bytes bytes, refs_block *, refs_error *err) {
            if (refuse == index) return refs_fail(err, REFS_CORRUPT, "not wanted");
            got[index] += std::string(reinterpret_cast<const char *>(bytes.data), bytes.size);
            return REFS_OK;
        };
        const refs_status status = queue.run(fetcher, &error);
        failed = queue.failed;
        return status;
    }
    refs_fetch_stats stats() const {
        refs_fetch_stats counts;
        refs_fetcher_stats(fetcher, &counts);
        return counts;
    }

    MemoryVfs vfs;
    refs_error error = REFS_ERROR_INIT;
    refs_fetcher *fetcher = nullptr;
    std::vector<std::string> got;
    std::function<bool(size_t)> isNeeded = [](size_t) { return true; };
    size_t failed = 0;
    size_t refuse = SIZE_MAX;
};

using Strings = std::vector<std::string>;

TEST_F(Fetcher, HandsEachRangeOverOnceWhateverItsPlace) {
    ASSERT_EQ(fetch({{0, "digits", 8, 2, 0, REFS_RANGE_REQUIRED},
                     {1, "letters", 0, 3, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 0, 1, 0, REFS_RANGE_REQUIRED}}),
              REFS_OK);
    EXPECT_EQ(got, (Strings{"89", "abc", "0"}));
    EXPECT_EQ(failed, SIZE_MAX);
}

TEST_F(Fetcher, HandsOverWhatComesAlong) {
    ASSERT_EQ(fetch({{0, "digits", 0, 2, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 2, 2, 0, REFS_RANGE_OPTIONAL},
                     {0, "digits", 4, 2, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 8, 2, 0, REFS_RANGE_OPTIONAL},
                     {1, "letters", 0, 2, 0, REFS_RANGE_OPTIONAL}}),
              REFS_OK);
    EXPECT_EQ(got, (Strings{"01", "23", "45", "", ""}));
    EXPECT_EQ(stats().bytes, 6u);
}

TEST_F(Fetcher, SpansNothingThatIsOnItsWay) {
    std::promise<void> begun, over;
    std::atomic<bool> isFirst{true};
    vfs.onOpen = [&](const std::string &) {
        if (!isFirst.exchange(false)) return;
        begun.set_value();
        over.get_future().wait();
    };
    std::string between;
    std::thread other([&] {
        const refs_range range = {0, "digits", 2, 2, 0, REFS_RANGE_REQUIRED};
        refs_fetch_client client = {};
        client.user = &between;
        client.sink = [](void *user, size_t, refs_bytes bytes, refs_block *, refs_error *) {
            static_cast<std::string *>(user)->assign(reinterpret_cast<const char *>(bytes.data),
                                                     bytes.size);
            return REFS_OK;
        };
        EXPECT_EQ(refs_fetch(fetcher, &range, 1, &client, nullptr), REFS_OK);
    });
    begun.get_future().wait();
    EXPECT_EQ(fetch({{0, "digits", 0, 2, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 2, 2, 0, REFS_RANGE_OPTIONAL},
                     {0, "digits", 4, 2, 0, REFS_RANGE_REQUIRED}}),
              REFS_OK);
    over.set_value();
    other.join();
    EXPECT_EQ(got, (Strings{"01", "", "45"}));
    EXPECT_EQ(between, "23");
    EXPECT_EQ(stats().requests, 3u);
    EXPECT_EQ(stats().bytes, 6u);
}

/* Others search the plan of a queue, also while transfers that it dropped are left out of it. */
TEST_F(Fetcher, SpansNothingThatIsOnItsWayBehindWhatWasDropped) {
    refs_request first[3] = {};
    for (size_t i = 0; i < 3; i++) {
        first[i].is_present = true;
        first[i].ref.kind = REFS_REF_RANGE;
        first[i].ref.location = "digits";
        first[i].ref.offset = 4 * i;
        first[i].ref.length = 1;
        first[i].next = i < 2 ? &first[i + 1] : nullptr;
    }
    refs_queue *queue = nullptr;
    refs_offer offer, along;
    ASSERT_EQ(refs_queue_open(fetcher, first, &queue, &error), REFS_OK);
    ASSERT_EQ(refs_queue_offer(queue, &offer, &error), REFS_OK);
    ASSERT_EQ(offer.n, 3u) << "they are read in one go";
    first[0].is_dropped = first[1].is_dropped = true;
    ASSERT_EQ(refs_submit(queue, &along, &error), REFS_OK);
    EXPECT_EQ(fetch({{0, "digits", 7, 1, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 9, 1, 0, REFS_RANGE_REQUIRED}}),
              REFS_OK);
    EXPECT_EQ(stats().requests, 3u);
    EXPECT_EQ(stats().bytes, 2u);
    refs_request *finished = nullptr;
    while (finished == nullptr && !refs_queue_is_done(queue))
        ASSERT_EQ(refs_next(queue, 50, &finished, &error), REFS_OK);
    ASSERT_EQ(finished, &first[2]);
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(finished->bytes.data), 1), "8");
    refs_block_release(finished->block);
    finished->block = nullptr;
    EXPECT_TRUE(refs_queue_is_done(queue));
    refs_queue_close(queue);
}

TEST_F(Fetcher, OpensALocationOnceAndReadsNeighboursInOneRequest) {
    ASSERT_EQ(fetch({{0, "digits", 0, 2, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 2, 2, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 5, 2, 0, REFS_RANGE_REQUIRED}}),
              REFS_OK);
    EXPECT_EQ(got, (Strings{"01", "23", "56"}));
    EXPECT_EQ(vfs.opens, 1);
    EXPECT_EQ(stats().requests, 1u);
    EXPECT_EQ(stats().bytes, 7u);
}

TEST_F(Fetcher, OpensNoLocationThatNobodyNeedsAnyLonger) {
    isNeeded = [](size_t index) { return index == 3; };
    std::vector<std::string> opened;
    vfs.onOpen = [&](const std::string &name) { opened.push_back(name); };
    ASSERT_EQ(fetch({{0, "digits", 0, 1, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 9, 1, 0, REFS_RANGE_REQUIRED},
                     {1, "letters", 0, 1, 0, REFS_RANGE_REQUIRED},
                     {1, "letters", 9, 1, 0, REFS_RANGE_REQUIRED}}),
              REFS_OK);
    EXPECT_EQ(got, (Strings{"", "", "", "j"}));
    EXPECT_EQ(opened, (Strings{"letters"}));
    EXPECT_EQ(stats().requests, 1u);
    EXPECT_EQ(stats().bytes, 1u) << "nor bytes of another transfer";
}

TEST_F(Fetcher, HasOneFileOpenAtATime) {
    std::vector<std::string> names;
    for (int i = 0; i < 50; i++) names.push_back("file" + std::to_string(i));
    std::vector<refs_range> ranges;
    for (uint32_t i = 0; i < 100; i++) {
        vfs.files[names[i % 50]] = "0123456789";
        ranges.push_back({i % 50, names[i % 50].c_str(), i / 50, 2, 0, REFS_RANGE_REQUIRED});
    }
    ASSERT_EQ(fetch(ranges), REFS_OK);
    EXPECT_EQ(vfs.opens, 50);
    EXPECT_EQ(vfs.mostOpen, 1);
    EXPECT_EQ(vfs.nOpen, 0);
}

TEST_F(Fetcher, SharesTheFetchOfAWholeLocation) {
    ASSERT_EQ(fetch({{0, "digits", 4, 2, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 0, REFS_FETCH_WHOLE, 0, REFS_RANGE_REQUIRED}}),
              REFS_OK);
    EXPECT_EQ(got, (Strings{"45", "0123456789"}));
    EXPECT_EQ(stats().requests, 1u);
}

TEST_F(Fetcher, FailsForARangeThatReachesBeyondTheEnd) {
    EXPECT_EQ(fetch({{1, "letters", 0, 1, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 8, 5, 0, REFS_RANGE_REQUIRED}}),
              REFS_CHANGED);
    EXPECT_STREQ(error.message,
                 "the file has only 10 bytes: expected bytes 8 to 12: it was truncated or "
                 "replaced: open it again or, if a set refers to it, make that set again");
    EXPECT_EQ(failed, 1u);
}

TEST_F(Fetcher, FailsForARangeOfAWholeLocationThatReachesBeyondTheEnd) {
    EXPECT_EQ(fetch({{0, "digits", 8, 5, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 0, REFS_FETCH_WHOLE, 0, REFS_RANGE_REQUIRED}}),
              REFS_CHANGED);
    EXPECT_EQ(failed, 0u);
}

TEST_F(Fetcher, AdvisesNothingThatItsProgramDoesNotHave) {
    refs_fetcher_free(fetcher);
    ASSERT_EQ(refs_fetcher_open(vfs.get(), nullptr, &fetcher, &error), REFS_OK);
    EXPECT_EQ(fetch({{0, "nowhere", 0, 1, 0, REFS_RANGE_REQUIRED}}), REFS_IO);
    EXPECT_STREQ(error.message, "nowhere: no such file");
}

TEST_F(Fetcher, TakesAnAbsentLocationForAFailureAndNotForAbsence) {
    EXPECT_EQ(fetch({{0, "nowhere", 0, 1, 0, REFS_RANGE_REQUIRED}}), REFS_IO);
    EXPECT_EQ(error.status, REFS_IO);
    EXPECT_STREQ(error.message, "nowhere: no such file (where files moved, do this)");
    EXPECT_EQ(failed, 0u);
}

TEST_F(Fetcher, PassesOnWhyBytesDoNotArrive) {
    vfs.failReadsOf = "letters";
    EXPECT_EQ(fetch({{0, "digits", 0, 1, 0, REFS_RANGE_REQUIRED},
                     {1, "letters", 0, 1, 0, REFS_RANGE_REQUIRED}}),
              REFS_IO);
    EXPECT_STREQ(error.message, "the line is cut");
    EXPECT_EQ(failed, 1u);
}

TEST_F(Fetcher, StopsWhereTheSinkFails) {
    refuse = 0;
    EXPECT_EQ(fetch({{0, "digits", 0, 1, 0, REFS_RANGE_REQUIRED},
                     {0, "digits", 9, 1, 0, REFS_RANGE_REQUIRED}}),
              REFS_CORRUPT);
    EXPECT_EQ(got, (Strings{"", ""}));
    EXPECT_EQ(failed, 0u);
}

TEST_F(Fetcher, RefusesAWholeLocationAboveTheLimit) {
    vfs.files["digits"] = std::string(65, 'x');
    EXPECT_EQ(fetch({{0, "digits", 0, REFS_FETCH_WHOLE, 0, REFS_RANGE_REQUIRED}}), REFS_LIMIT);
    EXPECT_STREQ(error.message, "65 bytes are more than the limit of 64");
}

TEST_F(Fetcher, RefusesAWholeLocationThatIsLongerThanItsReaderWants) {
    EXPECT_EQ(fetch({{0, "digits", 0, REFS_FETCH_WHOLE, 10, REFS_RANGE_REQUIRED}}), REFS_OK);
    EXPECT_EQ(fetch({{0, "digits", 0, REFS_FETCH_WHOLE, 9, REFS_RANGE_REQUIRED}}), REFS_LIMIT);
    EXPECT_STREQ(error.message, "10 bytes are more than the limit of 9");
    EXPECT_EQ(vfs.reads, 1);
    refs_error_clear(&error);
    EXPECT_EQ(fetch({{0, "digits", 0, REFS_FETCH_WHOLE, 10, REFS_RANGE_REQUIRED},
                     {0, "digits", 0, REFS_FETCH_WHOLE, 9, REFS_RANGE_REQUIRED}}),
              REFS_LIMIT);
    EXPECT_EQ(failed, 1u);
}

} // namespace
