/* http_line_test.cc -- what is prefetched leaves the line to whoever waits. */
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "driven_queue.h"
#include "loopback_server.h"
#include "memory_vfs.h"
#include "refs/fetch.h"
#include "refs/http.h"

namespace {

/** Far more than fits into the buffers of a connection, and than libcurl reads in one go: 100 times
 * 128 KiB. */
constexpr size_t kLarge = 28 * REFS_MIB;

refs_status url(void *, const char *location, refs_buf *url, refs_error *err) {
    return refs_buf_append_str(url, refs_str_from(location), err);
}
refs_status prepare(void *, const refs_http_object *, void *, void **, refs_error *) {
    return REFS_OK;
}
/** What is large stalls after two seconds, and is then asked for again: on a machine that is busy
 * it may, once it goes on. */
refs_status rules(void *, const char *location, refs_http_rules *rules, refs_error *) {
    if (strstr(location, "large") == nullptr) return REFS_OK;
    rules->stall_ms = 2000;
    rules->max_retries = 100;
    rules->retry_delay_ms = 1;
    return REFS_OK;
}
const refs_http_provider host = {nullptr, url, rules, prepare, nullptr, nullptr, nullptr};

/** What has come. */
struct Prefetch {
    refs_status fetch(refs_fetcher *fetcher, DrivenQueue *queue) {
        queue->take = [this](size_t i, refs_bytes, refs_block *, refs_error *) {
            taken |= 1u << i;
            return REFS_OK;
        };
        return queue->run(fetcher, nullptr);
    }
    std::atomic<unsigned> taken{0};
};

/** A reader waits for an answer that is held, while two large objects are prefetched. */
class Line : public testing::Test {
  protected:
    void SetUp() override {
        server.files["/d"] = "0123456789";
        server.files["/large"] = std::string(kLarge, 'x');
        server.files["/large2"] = std::string(kLarge, 'y');
        ASSERT_EQ(refs_http_open(&host, nullptr, &options.http, nullptr), REFS_OK);
        options.policy.max_request_bytes = kLarge;
        options.max_memory_bytes = 4 * kLarge;
        ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, nullptr), REFS_OK);
        ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &readers, nullptr), REFS_OK);
        reading = std::async(std::launch::async, [this] {
            const std::string location = server.url("/held/d");
            DrivenQueue queue({{0, location.c_str(), 0, 4, 0, REFS_RANGE_REQUIRED}});
            return read.fetch(readers, &queue);
        });
        server.awaitHeld(1);
        one = server.url("/large");
        other = server.url("/large2");
        large = std::make_unique<DrivenQueue>(
            std::vector<refs_range>{{0, one.c_str(), 0, kLarge, 0, REFS_RANGE_REQUIRED},
                                    {1, other.c_str(), 0, kLarge, 0, REFS_RANGE_REQUIRED}},
            true);
        prefetching =
            std::async(std::launch::async, [this] { return ahead.fetch(fetcher, large.get()); });
    }
    void TearDown() override {
        server.answerHeld();
        if (reading.valid()) reading.wait();
        if (prefetching.valid()) prefetching.wait();
        refs_fetcher_free(fetcher);
        refs_fetcher_free(readers);
        refs_http_free(options.http);
    }

    bool standsStill(int ms) {
        return prefetching.wait_for(std::chrono::milliseconds(ms)) == std::future_status::timeout;
    }
    bool awaitTaken(unsigned taken) {
        for (int i = 0; i < 2000 && ahead.taken != taken; i++)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return ahead.taken == taken;
    }
    /** Waits until the server is asked for what is prefetched, and returns how often it was. */
    int awaitRequests() {
        for (int i = 0; i < 2000 && server.nRequests() < 3; i++)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return server.nRequests();
    }

    LoopbackServer server;
    MemoryVfs vfs;
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    refs_fetcher *fetcher = nullptr, *readers = nullptr;
    Prefetch ahead, read;
    std::string one, other;
    std::unique_ptr<DrivenQueue> large; ///< what is prefetched
    std::future<refs_status> reading, prefetching;
};

} // namespace

/* For longer than a transfer may stall: one that did would be asked for again. */
TEST_F(Line, IsLeftToThoseWhoWait) {
    ASSERT_GE(awaitRequests(), 3);
    EXPECT_TRUE(standsStill(100));
    const int n = server.nRequests();
    EXPECT_TRUE(standsStill(4500));
    EXPECT_EQ(server.nRequests(), n);
    EXPECT_EQ(ahead.taken, 0U);
    server.answerHeld();
    EXPECT_EQ(reading.get(), REFS_OK);
    EXPECT_EQ(prefetching.get(), REFS_OK);
    EXPECT_EQ(ahead.taken, 3U);
}

TEST_F(Line, IsOfTheRangeThatIsAwaitedAlone) {
    EXPECT_TRUE(standsStill(100));
    large->await(1);
    EXPECT_TRUE(awaitTaken(2));
    EXPECT_TRUE(standsStill(100));
    EXPECT_EQ(ahead.taken, 2U);
    large->await(0);
    EXPECT_EQ(prefetching.get(), REFS_OK);
    EXPECT_EQ(server.nHeld(), 1);
}

TEST_F(Line, IsFreeAgainWhenTheReaderGivesUp) {
    EXPECT_TRUE(standsStill(100));
    refs_fetcher_cancel(readers);
    EXPECT_EQ(reading.get(), REFS_CANCELLED);
    EXPECT_EQ(prefetching.get(), REFS_OK);
}

TEST_F(Line, IsLeftByWhatIsCancelledAtOnce) {
    EXPECT_TRUE(standsStill(100));
    refs_fetcher_cancel(fetcher);
    EXPECT_EQ(prefetching.get(), REFS_CANCELLED);
    EXPECT_EQ(server.nHeld(), 1);
}
