/* http_test.cc -- ranges and whole objects over HTTP, from a server in the test. */
#include <curl/curl.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "driven_queue.h"
#include "loopback_server.h"
#include "memory_vfs.h"
#include "refs/fetch.h"
#include "refs/http.h"

namespace {

/** How often the engine slept, and the longest that it would have. */
std::atomic<int> nSleeps{0}, longestSleep{0};

} // namespace

/* In the place of that of libcurl. */
extern "C" CURLMcode curl_multi_poll(CURLM *multi, curl_waitfd *more, unsigned n, int timeout_ms,
                                     int *ready) {
    using Poll = CURLMcode (*)(CURLM *, curl_waitfd *, unsigned, int, int *);
    static const Poll poll = reinterpret_cast<Poll>(dlsym(RTLD_NEXT, "curl_multi_poll"));
    if (timeout_ms > longestSleep) longestSleep = timeout_ms;
    nSleeps++;
    return poll(multi, more, n, timeout_ms, ready);
}

namespace {

/** Locations are URLs, or not to be had over HTTP. */
refs_status url(void *, const char *location, refs_buf *url, refs_error *err) {
    if (strncmp(location, "http", 4) != 0) return REFS_UNSUPPORTED;
    return refs_buf_append_str(url, refs_str_from(location), err);
}
refs_status prepare(void *, const refs_http_object *, void *, void **, refs_error *) {
    return REFS_OK;
}
const refs_http_provider host = {nullptr, url, nullptr, prepare, nullptr, nullptr, nullptr};

/** A server with "0123456789" as /d, and a fetcher that does not wait before it asks again. */
class Http : public testing::Test {
  protected:
    void SetUp() override {
        server.files["/d"] = "0123456789";
        refs_http_options httpOptions = REFS_HTTP_OPTIONS_INIT;
        httpOptions.rules.retry_delay_ms = 0;
        ASSERT_EQ(refs_http_open(&host, &httpOptions, &options.http, nullptr), REFS_OK);
        ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, nullptr), REFS_OK);
    }
    void TearDown() override {
        refs_fetcher_free(fetcher);
        refs_http_free(options.http);
        refs_error_clear(&error);
    }

    /** Bytes 3, 4, 5, 6 of a path, or "" with an error. */
    std::string read(const std::string &path) {
        const std::string location = server.url(path);
        return read({0, location.c_str(), 3, 4, 0, REFS_RANGE_REQUIRED});
    }
    std::string read(const refs_range &range) {
        refs_error_clear(&error);
        std::string text;
        const refs_fetch_client client = {take, &text, nullptr};
        const refs_status status = refs_fetch(fetcher, &range, 1, &client, &error);
        EXPECT_EQ(status, error.status);
        return text;
    }
    static refs_status take(void *user, size_t, refs_bytes bytes, refs_block *, refs_error *) {
        static_cast<std::string *>(user)->assign(reinterpret_cast<const char *>(bytes.data),
                                                 bytes.size);
        return REFS_OK;
    }

    /** That a read ends soon which is cancelled before the server answers, and the next at once. */
    template <class Read, class Cancel> void expectCancelled(Read readPath, Cancel cancel) {
        auto reading = std::async(std::launch::async, readPath, "/held/d");
        server.awaitHeld(1);
        cancel();
        EXPECT_EQ(reading.wait_for(std::chrono::seconds(20)), std::future_status::ready);
        server.answerHeld();
        EXPECT_EQ(reading.get(), "");
        EXPECT_EQ(error.status, REFS_CANCELLED);
        EXPECT_EQ(readPath("/d"), "");
        EXPECT_EQ(error.status, REFS_CANCELLED);
    }

    LoopbackServer server;
    MemoryVfs vfs;
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    refs_fetcher *fetcher = nullptr;
    refs_error error = REFS_ERROR_INIT;
};

} // namespace

/** As requests of these names resolve: to a link-local address, to that and a loopback one. */
class HttpNames : public Http {
  protected:
    static constexpr const char *linkLocal = "http://metadata.test";
    static constexpr const char *both = "http://both.test";

    static curl_slist *&entries() {
        static curl_slist *list = nullptr;
        return list;
    }
    static inline bool rulesFail = false, prepareFails = false;
    static refs_status rules(void *, const char *, refs_http_rules *, refs_error *err) {
        return rulesFail ? refs_fail_nomem(err) : REFS_OK;
    }
    static refs_status resolve(void *, const refs_http_object *, void *easy, void **,
                               refs_error *err) {
        if (prepareFails) return refs_fail_nomem(err);
        curl_easy_setopt(static_cast<CURL *>(easy), CURLOPT_RESOLVE, entries());
        return REFS_OK;
    }
    void SetUp() override {
        const std::string port = portOf(server.url(""));
        for (const std::string &entry : {"metadata.test:" + port + ":169.254.169.254",
                                         std::string("refusing.test:1:[fe80::1],127.0.0.1"),
                                         "both.test:" + port + ":[fe80::1],127.0.0.1"})
            entries() = curl_slist_append(entries(), entry.c_str());
        Http::SetUp();
        refs_fetcher_free(fetcher);
        refs_http_free(options.http);
        static const refs_http_provider names = {nullptr, url,     rules,  resolve,
                                                 nullptr, nullptr, nullptr};
        ASSERT_EQ(refs_http_open(&names, nullptr, &options.http, nullptr), REFS_OK);
        ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, nullptr), REFS_OK);
    }
    void TearDown() override {
        Http::TearDown();
        curl_slist_free_all(entries());
        entries() = nullptr;
    }
    static std::string portOf(const std::string &text) { return text.substr(text.rfind(':') + 1); }
    std::string readAt(const std::string &location) {
        return read({0, location.c_str(), 3, 4, 0, REFS_RANGE_REQUIRED});
    }
    void expectRefused(const std::string &location) {
        EXPECT_EQ(readAt(location), "");
        EXPECT_EQ(error.status, REFS_INVALID);
        EXPECT_STREQ(error.message,
                     "connection refused: the host, or its proxy, has a link-local address, which "
                     "is allowed only if GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE is YES");
    }
};

TEST_F(HttpNames, OfLinkLocalAddressesAreNotConnectedTo) {
    expectRefused(linkLocal + (":" + portOf(server.url(""))) + "/d");
    EXPECT_EQ(server.nRequests(), 0);
}

TEST_F(HttpNames, OfLinkLocalAddressesAreNotConnectedToAfterRedirects) {
    const std::string away = "metadata.test:" + portOf(server.url("")) + "/d";
    expectRefused(server.url("/moved//" + away));
    EXPECT_EQ(server.nRequests(), 1);
}

TEST_F(HttpNames, WithOtherAddressesAreReadThere) {
    EXPECT_EQ(readAt(both + (":" + portOf(server.url(""))) + "/d"), "3456") << error.message;
}

/* An address that does not answer now may answer the next time. */
TEST_F(HttpNames, WhoseOtherAddressRefusesAreTriedAgain) {
    EXPECT_EQ(readAt("http://refusing.test:1/d"), "");
    EXPECT_EQ(error.status, REFS_IO);
    EXPECT_NE(std::string(error.message).find("after 2 attempts"), std::string::npos)
        << error.message;
}

/* A request without what the application sets would be one of somebody else. */
TEST_F(HttpNames, WhoseApplicationFailsAreNotAsked) {
    const std::string location = both + (":" + portOf(server.url(""))) + "/d";
    for (bool *fails : {&rulesFail, &prepareFails}) {
        *fails = true;
        EXPECT_EQ(readAt(location), "");
        EXPECT_EQ(error.status, REFS_NOMEM);
        *fails = false;
    }
    EXPECT_EQ(server.nRequests(), 0);
}

/* Those that RFC 9110 (408, 5xx), RFC 8470 (425) and RFC 6585 (429) call temporary, and what
 * servers and those before them answer without any RFC. */
TEST_F(Http, AsksAgainAfterStatusesThatPass) {
    for (const char *status :
         {"408", "425", "429", "500", "502", "503", "504", "507", "520", "599"})
        EXPECT_EQ(read("/status/" + std::string(status) + "/d"), "3456") << error.message;
}

TEST_F(Http, BelievesStatusesThatDoNotPass) {
    for (const char *status : {"400", "401", "403", "407", "409", "424", "426", "428", "430", "451",
                               "499", "501", "505", "511"}) {
        EXPECT_EQ(read("/status/" + std::string(status) + "/d"), "");
        EXPECT_STREQ(error.message, ("HTTP " + std::string(status)).c_str());
    }
}

TEST_F(Http, SaysWhatToDoWhereTheObjectIsGone) {
    EXPECT_EQ(read("/status/404/d"), "");
    EXPECT_STREQ(error.message, "HTTP 404 (check the URL)");
    refs_fetcher_free(fetcher);
    options.advice.moved = "do this";
    ASSERT_EQ(refs_fetcher_open(vfs.get(), &options, &fetcher, nullptr), REFS_OK);
    EXPECT_EQ(read("/status/410/d"), "");
    EXPECT_STREQ(error.message, "HTTP 410 (check the URL; where files moved, do this)");
}

TEST_F(Http, RefusesAnotherRangeThanItAskedFor) {
    EXPECT_EQ(read("/shifted/d"), "");
    EXPECT_STREQ(error.message, "the server sent the range [4+4]: expected [3+4] (HTTP 206)");
}

/* It comes in many pieces, and more follow the last one of the range. */
/* Chunks that somebody else loads are known when the request is made, not when it is planned. */
TEST_F(Http, RequestsNoBytesThatAreNotNeededAnyLonger) {
    const std::string location = server.url("/d");
    const std::vector<refs_range> ranges = {{0, location.c_str(), 0, 3, 0, REFS_RANGE_REQUIRED},
                                            {0, location.c_str(), 3, 4, 0, REFS_RANGE_REQUIRED},
                                            {0, location.c_str(), 7, 3, 0, REFS_RANGE_REQUIRED}};
    for (size_t other : {0, 1, 2}) {
        std::string text;
        DrivenQueue queue(ranges);
        queue.isNeeded = [other](size_t index) { return index != other; };
        queue.take = [&text](size_t, refs_bytes bytes, refs_block *, refs_error *) {
            text.append(reinterpret_cast<const char *>(bytes.data), bytes.size);
            return REFS_OK;
        };
        refs_fetch_stats before, after;
        refs_fetcher_stats(fetcher, &before);
        EXPECT_EQ(queue.run(fetcher, &error), REFS_OK) << error.message;
        refs_fetcher_stats(fetcher, &after);
        EXPECT_EQ(after.bytes - before.bytes, 10 - ranges[other].length);
        EXPECT_EQ(after.requests - before.requests, other == 1 ? 2u : 1u);
        const std::string all = "0123456789";
        EXPECT_EQ(text.size(), 10 - ranges[other].length);
        EXPECT_EQ(text.find(all.substr(ranges[other].offset, ranges[other].length)),
                  std::string::npos);
    }
}

TEST_F(Http, CutsARangeOutOfAnObjectWithoutAnEnd) {
    const std::string location = server.url("/endless/d");
    const std::string text =
        read({0, location.c_str(), 1003, 600 * REFS_KIB, 0, REFS_RANGE_REQUIRED});
    ASSERT_EQ(text.size(), 600 * REFS_KIB) << error.message;
    for (size_t i = 0; i < text.size(); i++) ASSERT_EQ(text[i], '0' + (i + 3) % 10) << i;
}

TEST_F(Http, RefusesObjectsThatAreTooLargeBeforeTheyCome) {
    server.files["/large"] = std::string(4 * REFS_MIB, 'x');
    const std::string location = server.url("/large");
    EXPECT_EQ(read({0, location.c_str(), 0, REFS_FETCH_WHOLE, REFS_MIB, REFS_RANGE_REQUIRED}), "");
    EXPECT_EQ(error.status, REFS_LIMIT);
    EXPECT_EQ(std::string(error.message).find("4194304 bytes are more than"), 0u) << error.message;
}

/* After a connection that ended in the middle of a whole object, its other half alone is requested;
 * all of it where that is of another state, or the server sends all. */
TEST_F(Http, ResumesWholeObjectsWhereTheConnectionEnded) {
    std::string content;
    while (content.size() < REFS_MIB) content += std::to_string(content.size()) + " ";
    for (const char *file : {"/a", "/b", "/c"}) server.files[file] = content;
    uint32_t id = 0;
    const struct {
        const char *path;
        int nRequests;
        uint64_t nBytes;
    } expected[] = {{"/broken/a", 2, content.size()},
                    {"/rangeless/broken/b", 2, content.size() + content.size() / 2},
                    {"/changing/broken/c", 3, 0}};
    for (const auto &each : expected) {
        const std::string location = server.url(each.path);
        const int before = server.nRequests();
        refs_fetch_stats was, now;
        refs_fetcher_stats(fetcher, &was);
        EXPECT_TRUE(content ==
                    read({id++, location.c_str(), 0, REFS_FETCH_WHOLE, 0, REFS_RANGE_REQUIRED}))
            << each.path << ": " << error.message;
        refs_fetcher_stats(fetcher, &now);
        EXPECT_EQ(server.nRequests() - before, each.nRequests) << each.path;
        if (each.nBytes > 0) {
            EXPECT_EQ(now.bytes - was.bytes, each.nBytes) << each.path;
        }
    }
}

TEST_F(Http, RemembersLocationsApartThatShareAPlace) {
    server.files["/other"] = "abcdefghijklmnopqrst";
    const std::string one = server.url("/d"), other = server.url("/other");
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(read({7, one.c_str(), 3, 4, 0, REFS_RANGE_REQUIRED}), "3456") << error.message;
        EXPECT_EQ(read({7 + (1 << 20), other.c_str(), 3, 4, 0, REFS_RANGE_REQUIRED}), "defg")
            << error.message;
    }
    EXPECT_FALSE(refs_fetcher_is_current(fetcher, 1000000)) << "not all of them are remembered";
}

/* -- cancelling -------------------------------------------------------------------------------- */

TEST_F(Http, EndsRequestsUnderWayWhenCancelled) {
    expectCancelled([&](const char *path) { return read(path); },
                    [&] { refs_fetcher_cancel(fetcher); });
    refs_fetch_stats stats;
    refs_fetcher_stats(fetcher, &stats);
    EXPECT_EQ(stats.requests, static_cast<uint64_t>(server.nRequests()));
}

/* libcurl (7.88) may read bytes of one transfer along with those of another, and does not wake up
 * for them. Which protocol a connection has, is not known before the first answer. */
TEST_F(Http, SleepsShortlyWhereConnectionsMayBeShared) {
    const std::string location = "https" + server.url("/d").substr(4);
    longestSleep = nSleeps = 0;
    auto reading = std::async(std::launch::async, [&] {
        return read({0, location.c_str(), 3, 4, 0, REFS_RANGE_REQUIRED});
    });
    while (nSleeps < 20) std::this_thread::yield(); /* the server says nothing */
    EXPECT_LE(longestSleep, 10);
    refs_fetcher_cancel(fetcher);
    EXPECT_EQ(reading.get(), "");
    EXPECT_EQ(error.status, REFS_CANCELLED);
}

/* -- whole objects as a refs_vfs --------------------------------------------------------------- */

namespace {

/** Whole objects of up to 100 KiB over HTTP; larger ones, and files, by `vfs`. */
class HttpVfs : public Http {
  protected:
    void SetUp() override {
        Http::SetUp();
        other = *vfs.get();
        ASSERT_EQ(refs_http_vfs_open(options.http, &other, 100 * REFS_KIB, &opened, nullptr),
                  REFS_OK);
        files = refs_http_vfs_functions(opened);
        vfs.files["local"] = "abcdefghij";
        server.files["/large"] = vfs.files[server.url("/large")] = std::string(200000, 'x');
    }
    void TearDown() override {
        refs_http_vfs_free(opened);
        Http::TearDown();
    }

    /** All of it, or "" with an error. */
    std::string readWhole(const std::string &location) {
        refs_error_clear(&error);
        refs_buf content = REFS_BUF_INIT;
        std::string text;
        if (refs_vfs_read_whole(files, location.c_str(), REFS_MIB, &content, &error) == REFS_OK)
            text.assign(reinterpret_cast<const char *>(content.data), content.size);
        refs_buf_clear(&content);
        return text;
    }

    /** Two bytes each at `first` and at 8, in one call, or "" with an error. */
    std::string readTwo(const std::string &location, uint64_t first) {
        refs_error_clear(&error);
        void *handle = nullptr;
        std::string text(4, ' ');
        auto *bytes = reinterpret_cast<uint8_t *>(&text[0]);
        const refs_vfs_range ranges[] = {{first, 2, bytes}, {8, 2, bytes + 2}};
        if (files->open(files->self, location.c_str(), &handle, &error) != REFS_OK) return "";
        const refs_status status = files->read_many(files->self, handle, ranges, 2, &error);
        files->close(files->self, handle);
        return status == REFS_OK ? text : "";
    }

    refs_vfs other;
    refs_http_vfs *opened = nullptr;
    const refs_vfs *files = nullptr;
};

} // namespace

TEST_F(HttpVfs, ReadsSeveralRangesOfWhatItHas) {
    EXPECT_EQ(readTwo(server.url("/d"), 3), "3489");
    EXPECT_EQ(vfs.opens, 0);
    EXPECT_EQ(readTwo(server.url("/d"), 9), "");
    EXPECT_STREQ(error.message, "ranges did not arrive");
}

TEST_F(HttpVfs, LeavesFilesAndLargeObjectsToTheOther) {
    EXPECT_EQ(readTwo("local", 3), "deij");
    EXPECT_EQ(readTwo(server.url("/rangeless/large"), 3), "");
    EXPECT_EQ(error.status, REFS_LIMIT) << "it is there, and the other cannot read it";
    EXPECT_NE(strstr(error.message, "its server ignores ranges"), nullptr) << error.message;
    vfs.files[server.url("/rangeless/large")] = server.files["/large"];
    EXPECT_EQ(readTwo(server.url("/rangeless/large"), 3), "xxxx");
    EXPECT_EQ(vfs.nOpen, 0);
    EXPECT_EQ(vfs.reads, 4) << "the other has no way to read several ranges at once";
    EXPECT_EQ(readWhole(server.url("/large")), server.files["/large"]);
    EXPECT_EQ(vfs.reads, 5);
}

TEST_F(HttpVfs, LeavesSeveralRangesAtOnceToTheOtherWhereItCan) {
    other.read_many = [](void *, void *, const refs_vfs_range *ranges, size_t n, refs_error *) {
        for (size_t i = 0; i < n; i++) memset(ranges[i].dst, 'm', ranges[i].length);
        return REFS_OK;
    };
    EXPECT_EQ(readTwo("local", 3), "mmmm");
    EXPECT_EQ(readTwo(server.url("/d"), 3), "3489");
}

TEST_F(HttpVfs, ReadsObjectsByRangesWhateverTheirNames) {
    std::string content(200000, ' ');
    for (size_t i = 0; i < content.size(); i++) content[i] = static_cast<char>(i * 7 + i / 256);
    server.files["/x.nc"] = server.files["/x.json"] = server.files["/download"] = content;
    for (const char *name : {"/x.nc", "/x.json", "/download?id=3", "/moved/download?id=3"}) {
        SCOPED_TRACE(name);
        void *handle = nullptr;
        uint64_t size = 0;
        ASSERT_EQ(files->open(files->self, server.url(name).c_str(), &handle, &error), REFS_OK);
        EXPECT_EQ(files->size(files->self, handle, &size, &error), REFS_OK);
        EXPECT_EQ(size, content.size());
        std::string bytes(100, ' ');
        auto *dst = reinterpret_cast<uint8_t *>(&bytes[0]);
        for (size_t offset : {0, 65436, 65500, 65536, 199900, 199950}) {
            const refs_vfs_range range = {offset, 100, dst};
            size_t got = 0;
            EXPECT_EQ(files->read(files->self, handle, &range, &got, &error), REFS_OK);
            EXPECT_EQ(bytes.substr(0, got), content.substr(offset, 100)) << offset;
        }
        const refs_vfs_range ranges[] = {
            {10, 20, dst}, {65530, 20, dst + 20}, {150000, 60, dst + 40}};
        EXPECT_EQ(files->read_many(files->self, handle, ranges, 3, &error), REFS_OK);
        EXPECT_EQ(bytes,
                  content.substr(10, 20) + content.substr(65530, 20) + content.substr(150000, 60));
        files->close(files->self, handle);
    }
    EXPECT_EQ(vfs.opens, 0);
}

TEST_F(HttpVfs, ReadsSmallObjectsWithOneRequest) {
    EXPECT_EQ(readTwo(server.url("/d"), 3), "3489");
    EXPECT_EQ(readWhole(server.url("/d")), "0123456789") << "which was looked at";
    EXPECT_EQ(server.nRequests(), 1);
    EXPECT_EQ(readTwo(server.url("/rangeless/d"), 3), "3489");
    EXPECT_EQ(server.nRequests(), 2);
    EXPECT_EQ(vfs.opens, 0);
}

TEST_F(HttpVfs, ReadsAgainWhatItLookedAtLongAgo) {
    server.files["/changing"] = "0123456789";
    EXPECT_EQ(readTwo(server.url("/changing"), 3), "3489");
    server.files["/changing"] = "abcdefghij";
    std::this_thread::sleep_for(std::chrono::milliseconds(5100));
    EXPECT_EQ(readWhole(server.url("/changing")), "abcdefghij");
    EXPECT_EQ(server.nRequests(), 2);
}

/* As many threads may look at objects as there are; the oldest of these are fetched again. */
TEST_F(HttpVfs, HoldsFewBytesOfWhatManyThreadsLookedAt) {
    refs_http_vfs *large = nullptr;
    ASSERT_EQ(refs_http_vfs_open(options.http, &other, REFS_MIB, &large, nullptr), REFS_OK);
    files = refs_http_vfs_functions(large);
    std::promise<void> over;
    const std::shared_future<void> isOver(over.get_future());
    std::vector<std::thread> threads;
    const auto path = [](int i) { return "/rangeless/o" + std::to_string(i); };
    for (int i = 0; i < 12; i++) {
        server.files["/o" + std::to_string(i)] = std::string(REFS_MIB, 'o');
        std::promise<void> looked;
        threads.emplace_back([&, i] {
            EXPECT_EQ(readTwo(server.url(path(i)), 3), "oooo");
            looked.set_value();
            isOver.wait();
        });
        looked.get_future().wait();
    }
    over.set_value();
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(server.nRequests(), 12);
    for (int i = 11; i >= 0; i--) EXPECT_EQ(readWhole(server.url(path(i))).size(), REFS_MIB);
    EXPECT_EQ(server.nRequests(), 12 + 4);
    refs_http_vfs_free(large);
}

TEST_F(HttpVfs, ReadsWhatIsWantedWholeWithOneRequest) {
    server.files["/set"] = std::string(99999, 's');
    EXPECT_EQ(readWhole(server.url("/set")), server.files["/set"]);
    EXPECT_EQ(server.nRequests(), 1);
}

TEST_F(HttpVfs, ReadsWhatWasLookedAtWholeWithOneMore) {
    server.files["/set"] = std::string(99999, 's');
    EXPECT_EQ(readTwo(server.url("/set"), 3), "ssss");
    EXPECT_EQ(readWhole(server.url("/set")), server.files["/set"]);
    EXPECT_EQ(server.nRequests(), 2);
    EXPECT_EQ(readTwo(server.url("/rangeless/set"), 3), "ssss");
    EXPECT_EQ(readWhole(server.url("/rangeless/set")), server.files["/set"]);
    EXPECT_EQ(server.nRequests(), 3) << "all came for the beginning";
    EXPECT_EQ(vfs.opens, 0);
}

TEST_F(HttpVfs, ReadsEmptyObjects) {
    server.files["/empty"] = "";
    EXPECT_EQ(readWhole(server.url("/empty")), "");
    EXPECT_EQ(error.status, REFS_OK);
    void *handle = nullptr;
    uint64_t size = 7;
    ASSERT_EQ(files->open(files->self, server.url("/empty").c_str(), &handle, &error), REFS_OK);
    EXPECT_EQ(files->size(files->self, handle, &size, &error), REFS_OK);
    EXPECT_EQ(size, 0u);
    files->close(files->self, handle);
}

TEST_F(HttpVfs, BeginsAnewWhatWasInterrupted) {
    EXPECT_EQ(readTwo(server.url("/flaky/rangeless/d"), 3), "3489");
    EXPECT_EQ(readTwo(server.url("/flaky/d"), 3), "3489");
    EXPECT_EQ(server.nRequests(), 4);
}

TEST_F(HttpVfs, IsNearWhereTheOtherIs) {
    EXPECT_FALSE(files->is_local(files->self, "local"));
    vfs.near = true;
    EXPECT_TRUE(files->is_local(files->self, "local"));
    other.is_local = nullptr;
    EXPECT_FALSE(files->is_local(files->self, "local"));
}

TEST_F(HttpVfs, EndsRequestsUnderWayWhenCancelled) {
    expectCancelled([&](const char *path) { return readTwo(server.url(path), 3); },
                    [&] { refs_http_vfs_cancel(opened); });
}
