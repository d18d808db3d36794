/* http_budget_test.cc -- memory that whole objects take, whose sizes are not known beforehand. */
#include <gtest/gtest.h>

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "loopback_server.h"
#include "memory_vfs.h"
#include "refs/bytes.h"
#include "refs/fetch.h"
#include "refs/http.h"
#include "refs/queue.h"

namespace {

/* -- memory that is counted -------------------------------------------------------------------- */

std::atomic<size_t> held{0}, most{0};

void *count(void *memory) {
    const size_t now = held += malloc_usable_size(memory);
    for (size_t before = most; before < now && !most.compare_exchange_weak(before, now);) continue;
    return memory;
}
void *countedMalloc(size_t size) {
    return count(malloc(size));
}
void *countedRealloc(void *memory, size_t size) {
    held -= malloc_usable_size(memory);
    return count(realloc(memory, size));
}
void countedFree(void *memory) {
    held -= malloc_usable_size(memory);
    free(memory);
}
const refs_allocator counted = {countedMalloc, countedRealloc, countedFree};

/* -- whole objects ----------------------------------------------------------------------------- */

refs_status url(void *, const char *location, refs_buf *url, refs_error *err) {
    return refs_buf_append_str(url, refs_str_from(location), err);
}
refs_status prepare(void *, const refs_http_object *, void *, void **, refs_error *) {
    return REFS_OK;
}
const refs_http_provider host = {nullptr, url, nullptr, prepare, nullptr, nullptr, nullptr};

constexpr size_t kObjects = 12, kBytes = 12 * REFS_MIB;

class WholeObjects : public testing::Test {
  protected:
    void SetUp() override {
        for (size_t i = 0; i < kObjects; i++) {
            locations.push_back(server.url("/" + std::to_string(i)));
            server.files["/" + std::to_string(i)] = std::string(kBytes, static_cast<char>(i));
            ranges.push_back(
                {static_cast<uint32_t>(i), nullptr, 0, REFS_FETCH_WHOLE, 0, REFS_RANGE_REQUIRED});
        }
        for (size_t i = 0; i < kObjects; i++) ranges[i].location = locations[i].c_str();
        held = most = 0;
        refs_allocator_set(&counted);
        refs_http_options httpOptions = REFS_HTTP_OPTIONS_INIT;
        httpOptions.rules.retry_delay_ms = 0;
        ASSERT_EQ(refs_http_open(&host, &httpOptions, &http, nullptr), REFS_OK);
        options.http = http;
    }
    void TearDown() override {
        refs_http_free(http);
        EXPECT_EQ(held, 0u);
        refs_allocator_set(nullptr);
    }

    refs_status fetch() {
        refs_fetcher *fetcher = nullptr;
        EXPECT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, &error), REFS_OK);
        const refs_fetch_client client = {take, this, nullptr};
        const refs_status status =
            refs_fetch(fetcher, ranges.data(), ranges.size(), &client, &error);
        refs_fetcher_free(fetcher);
        return status;
    }
    static refs_status take(void *user, size_t index, refs_bytes bytes, refs_block *,
                            refs_error *) {
        EXPECT_EQ(bytes.size, kBytes);
        EXPECT_EQ(bytes.data[0], index);
        EXPECT_EQ(bytes.data[kBytes - 1], index);
        static_cast<WholeObjects *>(user)->nTaken++;
        return REFS_OK;
    }

    LoopbackServer server;
    MemoryVfs vfs;
    std::vector<std::string> locations;
    std::vector<refs_range> ranges;
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    refs_http *http = nullptr;
    refs_error error = REFS_ERROR_INIT;
    size_t nTaken = 0;
};

} // namespace

TEST_F(WholeObjects, TakeNoMoreMemoryTogetherThanTheyMay) {
    options.max_memory_bytes = 16 * REFS_MIB;
    ASSERT_EQ(fetch(), REFS_OK) << error.message;
    EXPECT_EQ(nTaken, kObjects);
    EXPECT_LT(most, 16 * REFS_MIB + kBytes); // one moves to a larger block
}

TEST_F(WholeObjects, MayEachBeLargerThanAllTogether) {
    options.max_memory_bytes = REFS_MIB;
    ASSERT_EQ(fetch(), REFS_OK) << error.message;
    EXPECT_EQ(nTaken, kObjects);
    EXPECT_LT(most, 2 * kBytes);
}

TEST_F(WholeObjects, ThatAreTooLargeAreRefused) {
    ranges[3].max_length = kBytes - 1;
    EXPECT_EQ(fetch(), REFS_LIMIT);
    EXPECT_EQ(std::string(error.message).find("12582912 bytes are more than"), 0u) << error.message;
}

/* A gibibyte, says the server, and sends five mebibytes. */
TEST_F(WholeObjects, GetNoMemoryForWhatTheServerOnlyClaims) {
    server.files["/few"] = std::string(5 * REFS_MIB, 'x');
    locations[0] = server.url("/cut/few");
    ranges = {{0, locations[0].c_str(), 0, REFS_FETCH_WHOLE, 0, REFS_RANGE_REQUIRED}};
    EXPECT_EQ(fetch(), REFS_IO);
    EXPECT_LT(most, 32 * REFS_MIB);
}

/* -- what whole objects cost ------------------------------------------------------------------- */

namespace {

struct Objects {
    size_t n, bytes;
};

/** Whole objects that are one file by many names, and are held for a moment after they came. */
class WholeObjectsCost : public testing::TestWithParam<Objects> {
  protected:
    void SetUp() override {
        server.files["/d"] = std::string(GetParam().bytes, 'x');
        for (size_t i = 0; i < GetParam().n; i++)
            locations.push_back(server.url("/d?" + std::to_string(i)));
        for (size_t i = 0; i < GetParam().n; i++)
            ranges.push_back({static_cast<uint32_t>(i), locations[i].c_str(), 0, REFS_FETCH_WHOLE,
                              0, REFS_RANGE_REQUIRED});
        ASSERT_EQ(refs_http_open(&host, nullptr, &options.http, nullptr), REFS_OK);
        ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, nullptr), REFS_OK);
    }
    void TearDown() override {
        refs_fetcher_free(fetcher);
        refs_http_free(options.http);
    }
    static refs_status take(void *user, size_t, refs_bytes bytes, refs_block *, refs_error *) {
        static_cast<WholeObjectsCost *>(user)->nBytes += bytes.size;
        return REFS_OK;
    }

    LoopbackServer server;
    MemoryVfs vfs;
    std::vector<std::string> locations;
    std::vector<refs_range> ranges;
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    refs_fetcher *fetcher = nullptr;
    refs_error error = REFS_ERROR_INIT;
    uint64_t nBytes = 0;
};

} // namespace

TEST_P(WholeObjectsCost, TheirOwnBytesAndOneRequestEach) {
    const refs_fetch_client client = {take, this, nullptr};
    ASSERT_EQ(refs_fetch(fetcher, ranges.data(), ranges.size(), &client, &error), REFS_OK)
        << error.message;
    const uint64_t payload = static_cast<uint64_t>(GetParam().n) * GetParam().bytes;
    EXPECT_EQ(nBytes, payload);
    EXPECT_EQ(server.nRequests(), static_cast<int>(GetParam().n));
    EXPECT_LE(static_cast<double>(server.nBytes()) / static_cast<double>(payload), 1.02);
    refs_fetch_stats stats;
    refs_fetcher_stats(fetcher, &stats);
    EXPECT_EQ(stats.requests, GetParam().n);
    EXPECT_EQ(stats.bytes, payload);
}

INSTANTIATE_TEST_SUITE_P(OfMebibytes, WholeObjectsCost,
                         testing::Values(Objects{40, 3 * REFS_MIB}, Objects{40, 6 * REFS_MIB},
                                         Objects{20, 12 * REFS_MIB}, Objects{12, 24 * REFS_MIB},
                                         Objects{3, 96 * REFS_MIB}),
                         [](const testing::TestParamInfo<Objects> &one) {
                             return std::to_string(one.param.bytes / REFS_MIB);
                         });

/* -- reserving --------------------------------------------------------------------------------- */

namespace {

/* Objects grow while the URL of the next one is made. */
refs_status slowUrl(void *, const char *location, refs_buf *url, refs_error *err) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return refs_buf_append_str(url, refs_str_from(location), err);
}
const refs_http_provider slowHost = {nullptr, slowUrl, nullptr, prepare, nullptr, nullptr, nullptr};

} // namespace

TEST(Reserving, NeverWaitsForWhatTheSameThreadGivesBack) {
    LoopbackServer server;
    MemoryVfs vfs;
    constexpr uint32_t n = 60;
    server.files["/d"] = std::string(3 * REFS_MIB, 'x');
    std::vector<std::string> locations;
    std::vector<refs_range> ranges;
    for (uint32_t i = 0; i < n; i++)
        locations.push_back(server.url("/unsized/d?" + std::to_string(i)));
    for (uint32_t i = 0; i < n; i++)
        ranges.push_back({i, locations[i].c_str(), 0, REFS_FETCH_WHOLE, 0, REFS_RANGE_REQUIRED});
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    options.max_memory_bytes = 10 * REFS_MIB;
    refs_fetcher *fetcher = nullptr;
    ASSERT_EQ(refs_http_open(&slowHost, nullptr, &options.http, nullptr), REFS_OK);
    ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, nullptr), REFS_OK);
    const auto ignore = [](void *, size_t, refs_bytes, refs_block *, refs_error *) {
        return REFS_OK;
    };
    const refs_fetch_client client = {ignore, nullptr, nullptr};
    auto reading = std::async(std::launch::async, [&] {
        return refs_fetch(fetcher, ranges.data(), n, &client, nullptr);
    });
    if (reading.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
        fprintf(stderr, "the read waits without end\n");
        abort(); /* nothing ends it */
    }
    EXPECT_EQ(reading.get(), REFS_OK);
    refs_fetcher_free(fetcher);
    refs_http_free(options.http);
}

/* -- ranges ------------------------------------------------------------------------------------ */

namespace {

/** A fetcher that has so many requests in flight, or as many as it has by default. */
class Fetching : public testing::Test {
  protected:
    void open(unsigned maxInFlight = 0) {
        refs_http_options httpOptions = REFS_HTTP_OPTIONS_INIT;
        if (maxInFlight > 0) httpOptions.max_in_flight = maxInFlight;
        ASSERT_EQ(refs_http_open(&host, &httpOptions, &options.http, nullptr), REFS_OK);
        ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, nullptr), REFS_OK);
    }
    void close() {
        refs_fetcher_free(fetcher);
        refs_http_free(options.http);
        fetcher = nullptr;
        options.http = nullptr;
    }
    void TearDown() override { close(); }

    refs_status fetch(const refs_range *ranges, size_t n, bool ahead = false,
                      refs_error *err = nullptr) {
        const auto ignore = [](void *, size_t, refs_bytes, refs_block *, refs_error *) {
            return REFS_OK;
        };
        refs_awaited nobody = {};
        const refs_fetch_client client = {ignore, nullptr, ahead ? &nobody : nullptr};
        return refs_fetch(fetcher, ranges, n, &client, err);
    }

    LoopbackServer server;
    MemoryVfs vfs;
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    refs_fetcher *fetcher = nullptr;
    refs_error error = REFS_ERROR_INIT;
};

class Rangeless : public Fetching {};
class Headers : public Fetching {};
class Connections : public Fetching {};
class ReadingAhead : public Fetching {};

} // namespace

/* -- servers that ignore ranges ---------------------------------------------------------------- */

TEST_F(Rangeless, IsNotReadOverForever) {
    open();
    const std::string location = server.url("/endless/d");
    const refs_range far = {0, location.c_str(),   REFS_HTTP_MAX_SKIPPED_BYTES + 1, 4,
                            0, REFS_RANGE_REQUIRED};
    EXPECT_EQ(fetch(&far, 1, false, &error), REFS_LIMIT);
    EXPECT_STREQ(error.message, "the server ignores ranges, and the 4294967297 bytes before this "
                                "one are too many to skip (HTTP 200)");
    const refs_range near = {0, location.c_str(), 1000, 4, 0, REFS_RANGE_REQUIRED};
    EXPECT_EQ(fetch(&near, 1), REFS_OK);
}

namespace {

/** Reads whole objects; with the first, another thread finds out that the server ignores ranges. */
struct WholeReader {
    refs_fetcher *fetcher;
    refs_range range; ///< of the first object
    size_t nTaken = 0;

    static refs_status take(void *user, size_t, refs_bytes, refs_block *, refs_error *) {
        auto *self = static_cast<WholeReader *>(user);
        if (self->nTaken++ > 0) return REFS_OK;
        return std::async(std::launch::async,
                          [self] {
                              const auto ignore = [](void *, size_t, refs_bytes, refs_block *,
                                                     refs_error *) { return REFS_OK; };
                              const refs_fetch_client client = {ignore, nullptr, nullptr};
                              return refs_fetch(self->fetcher, &self->range, 1, &client, nullptr);
                          })
            .get();
    }
};

} // namespace

/* What the first object takes would be kept for other ranges of it, and the others wait for it. */
TEST_F(Rangeless, FoundOutMeanwhileKeepsNoMemoryThatOthersWaitFor) {
    options.max_memory_bytes = REFS_MIB;
    open();
    constexpr uint32_t n = 6;
    std::vector<std::string> locations;
    std::vector<refs_range> ranges;
    for (uint32_t i = 0; i < n; i++) {
        const std::string path = "/" + std::to_string(i);
        server.files[path] = std::string(REFS_MIB * 3 / 4, 'x');
        locations.push_back(server.url("/rangeless" + path));
    }
    for (uint32_t i = 0; i < n; i++)
        ranges.push_back({i, locations[i].c_str(), 0, REFS_FETCH_WHOLE, 0, REFS_RANGE_REQUIRED});
    WholeReader reader{fetcher, {0, locations[0].c_str(), 8, 4, 0, REFS_RANGE_REQUIRED}};
    const refs_fetch_client client = {WholeReader::take, &reader, nullptr};
    auto reading = std::async(
        std::launch::async, [&] { return refs_fetch(fetcher, ranges.data(), n, &client, &error); });
    if (reading.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
        ADD_FAILURE() << "it waits without end";
        refs_fetcher_cancel(fetcher);
    }
    EXPECT_EQ(reading.get(), REFS_OK) << error.message;
    EXPECT_EQ(reader.nTaken, n);
}

/* -- the process ------------------------------------------------------------------------------- */

/* Nothing arrives before all calls have reserved what they can. */
TEST_F(Fetching, OfAllCallsTakesNoMoreMemoryThanTheProcessMay) {
    constexpr size_t kCalls = 8, kRanges = 40, kRangeBytes = 2 * REFS_MIB;
    server.files["/d"] = std::string(kRangeBytes, 'x');
    std::vector<std::string> locations;
    for (size_t i = 0; i < kCalls * kRanges; i++)
        locations.push_back(server.url("/held/d?" + std::to_string(i)));
    held = most = 0;
    refs_allocator_set(&counted);
    open();
    std::vector<std::future<refs_status>> calls;
    for (size_t i = 0; i < kCalls; i++)
        calls.push_back(std::async(std::launch::async, [&, i] {
            std::vector<refs_range> ranges;
            for (size_t k = 0; k < kRanges; k++)
                ranges.push_back({static_cast<uint32_t>(i * kRanges + k),
                                  locations[i * kRanges + k].c_str(), 0, kRangeBytes, 0,
                                  REFS_RANGE_REQUIRED});
            return fetch(ranges.data(), kRanges);
        }));
    server.awaitHeld(16);
    for (size_t before = 0; before != most;) { /* until no call reserves more */
        before = most;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    server.answerHeld();
    for (auto &call : calls) EXPECT_EQ(call.get(), REFS_OK);
    EXPECT_LE(most, 2 * options.max_memory_bytes + kRangeBytes + 8 * REFS_MIB);
    close();
    refs_allocator_set(nullptr);
}

/** Calls with one range of 24 MiB each, of which eight fit into the limit of first requests. */
class ManyCalls : public Fetching {
  protected:
    static constexpr size_t n = 14, rangeBytes = 24 * REFS_MIB, limit = 192 * REFS_MIB;

    void SetUp() override {
        server.files["/d"] = std::string(rangeBytes, 'x');
        held = most = 0;
        refs_allocator_set(&counted);
        open();
        for (size_t i = 0; i < n; i++)
            calls.push_back(std::async(std::launch::async, [this, i] {
                const std::string location = server.url("/held/d?" + std::to_string(i));
                const refs_range range = {
                    static_cast<uint32_t>(i), location.c_str(), 0, rangeBytes, 0,
                    REFS_RANGE_REQUIRED};
                return fetch(&range, 1);
            }));
        for (unsigned i = 0; i < 6000 && most < limit; i++)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_GE(most, limit) << "fewer readers at a time are slower";
    }
    void TearDown() override {
        server.answerHeld();
        for (auto &each : calls) EXPECT_EQ(each.get(), REFS_OK);
        close();
        refs_allocator_set(nullptr);
    }
    std::vector<std::future<refs_status>> calls;
};

TEST_F(ManyCalls, TakeTurnsBeyondTheLimit) {
    server.awaitHeld(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    server.answerHeld();
    for (auto &each : calls) each.wait();
    EXPECT_LE(most, limit + rangeBytes + 8 * REFS_MIB);
}

/* What is read as a whole to stay in memory does not wait for what is read to be decoded. */
TEST_F(ManyCalls, KeepNoSetFromBeingOpened) {
    refs_http *http = nullptr;
    refs_http_vfs *sets = nullptr;
    refs_buf set = REFS_BUF_INIT;
    server.files["/set"] = std::string(30 * REFS_MIB, 's');
    ASSERT_EQ(refs_http_open(&host, nullptr, &http, nullptr), REFS_OK);
    ASSERT_EQ(refs_http_vfs_open(http, vfs.get(), REFS_HTTP_MAX_WHOLE_BYTES, &sets, nullptr),
              REFS_OK);
    EXPECT_EQ(refs_vfs_read_whole(refs_http_vfs_functions(sets), server.url("/set").c_str(),
                                  REFS_HTTP_MAX_WHOLE_BYTES, &set, &error),
              REFS_OK)
        << error.message;
    EXPECT_EQ(set.size, 30 * REFS_MIB);
    for (auto &each : calls)
        EXPECT_EQ(each.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    refs_buf_clear(&set);
    refs_http_vfs_free(sets);
    refs_http_free(http);
}

namespace {

/** A call that, while it holds its bytes, waits for another one: as a progress callback may. */
struct Nested {
    refs_fetcher *fetcher;
    std::string location;
    size_t depth;
    std::launch thread; ///< of the other one

    refs_status run() {
        const refs_range range = {
            static_cast<uint32_t>(depth), location.c_str(), 0, 60 * REFS_MIB, 0,
            REFS_RANGE_REQUIRED};
        const refs_fetch_client client = {wait, this, nullptr};
        return refs_fetch(fetcher, &range, 1, &client, nullptr);
    }
    static refs_status wait(void *user, size_t, refs_bytes, refs_block *, refs_error *) {
        const auto *outer = static_cast<Nested *>(user);
        if (outer->depth == 0) return REFS_OK;
        Nested inner{outer->fetcher, outer->location + "i", outer->depth - 1, outer->thread};
        return std::async(outer->thread, [&] { return inner.run(); }).get();
    }
};

} // namespace

TEST_F(Fetching, GivesTheTurnToCallsThatAreWaitedFor) {
    server.files["/d"] = std::string(60 * REFS_MIB, 'x');
    open();
    const auto begin = std::chrono::steady_clock::now();
    for (const std::launch thread : {std::launch::deferred, std::launch::async})
        EXPECT_EQ((Nested{fetcher, server.url("/d?"), 3, thread}.run()), REFS_OK);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(Headers, DoNotComeForever) {
    open();
    const std::string location = server.url("/headers/d");
    const refs_range range = {0, location.c_str(), 0, 4, 0, REFS_RANGE_REQUIRED};
    EXPECT_EQ(fetch(&range, 1, false, &error), REFS_LIMIT);
    EXPECT_STREQ(error.message, "the headers of the answer exceed their limit");
}

/* -- connections ------------------------------------------------------------------------------- */

TEST_F(Connections, AreKeptFourTimesAsManyAsRequestsAtATime) {
    constexpr uint32_t kServers = 12;
    std::vector<std::unique_ptr<LoopbackServer>> servers;
    std::vector<std::string> locations;
    for (uint32_t i = 0; i < kServers; i++) {
        servers.push_back(std::make_unique<LoopbackServer>());
        servers[i]->files["/d"] = "0123456789";
        locations.push_back(servers[i]->url("/d"));
    }
    open(2);
    for (uint32_t i = 0; i < kServers; i++) {
        const refs_range range = {i, locations[i].c_str(), 0, 4, 0, REFS_RANGE_REQUIRED};
        EXPECT_EQ(fetch(&range, 1), REFS_OK);
    }
    const auto nConnected = [&] {
        int n = 0;
        for (const auto &each : servers) n += each->nConnected();
        return n;
    };
    /* The servers learn a little later that a connection was ended. */
    for (int i = 0; i < 1000 && nConnected() > 8; i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(nConnected(), 8);
}

/* -- reading ahead ----------------------------------------------------------------------------- */

/* Two of three requests that may be in flight are held up: whoever waits for bytes gets them. */
TEST_F(ReadingAhead, LeavesARequestToThoseWhoWait) {
    std::vector<std::string> locations;
    std::vector<refs_range> ahead;
    for (uint32_t i = 0; i < 6; i++) {
        const std::string path = "/" + std::to_string(i);
        server.files[path] = "0123456789";
        locations.push_back(server.url("/held" + path));
    }
    for (uint32_t i = 0; i < 6; i++)
        ahead.push_back({i, locations[i].c_str(), 0, 4, 0, REFS_RANGE_REQUIRED});
    const std::string plain = server.url("/0");
    const refs_range wanted = {6, plain.c_str(), 0, 4, 0, REFS_RANGE_REQUIRED};

    open(3);
    auto readingAhead =
        std::async(std::launch::async, [&] { return fetch(ahead.data(), ahead.size(), true); });
    server.awaitHeld(2);
    auto reading = std::async(std::launch::async, [&] { return fetch(&wanted, 1); });
    EXPECT_EQ(reading.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    EXPECT_EQ(server.nHeld(), 2);
    server.answerHeld();
    EXPECT_EQ(reading.get(), REFS_OK);
    EXPECT_EQ(readingAhead.get(), REFS_OK);
}
