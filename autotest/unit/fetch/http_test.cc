/* http_test.cc -- ranges over HTTP: what is asked again, and what is not. */
#include <gtest/gtest.h>

#include <string>

#include "loopback_server.h"
#include "memory_vfs.h"
#include "refs/fetch.h"
#include "refs/http.h"

namespace {

refs_status url(void *, const char *location, refs_buf *url, refs_error *err) {
    return refs_buf_append_str(url, refs_str_from(location), err);
}
void *prepare(void *, const char *, const char *, void *) {
    return nullptr;
}
const refs_http_host host = {nullptr, url, nullptr, prepare, nullptr};

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
        refs_error_clear(&error);
        const std::string location = server.url(path);
        const refs_range range = {0, location.c_str(), 3, 4, 0};
        std::string text;
        const refs_status status =
            refs_fetch(fetcher, &range, 1, false, take, &text, nullptr, &error);
        EXPECT_EQ(status, error.status);
        return text;
    }
    static refs_status take(void *user, size_t, refs_bytes bytes, refs_block *, refs_error *) {
        static_cast<std::string *>(user)->assign(reinterpret_cast<const char *>(bytes.data),
                                                 bytes.size);
        return REFS_OK;
    }

    LoopbackServer server;
    MemoryVfs vfs;
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    refs_fetcher *fetcher = nullptr;
    refs_error error = REFS_ERROR_INIT;
};

} // namespace

/* Those that RFC 9110 (408, 5xx), RFC 8470 (425) and RFC 6585 (429) call temporary, and what
 * servers and those before them answer without any RFC. */
TEST_F(Http, AsksAgainAfterStatusesThatPass) {
    for (const char *status :
         {"408", "425", "429", "500", "502", "503", "504", "507", "520", "599"})
        EXPECT_EQ(read("/status/" + std::string(status) + "/d"), "3456") << error.message;
}

TEST_F(Http, BelievesStatusesThatDoNotPass) {
    for (const char *status : {"400", "401", "403", "404", "407", "409", "410", "424", "426", "428",
                               "430", "451", "499", "501", "505", "511"}) {
        EXPECT_EQ(read("/status/" + std::string(status) + "/d"), "");
        EXPECT_STREQ(error.message, ("HTTP " + std::string(status)).c_str());
    }
}
