/* handle_test.cc -- settings that libcurl gets, or does not take. */
#include <curl/curl.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "cloud_internal.h"
}

namespace {

/** What preparing a request fails with; "" where it does not. */
std::string prepare(std::vector<std::string> items, const char *url = "https://host/a") {
    const std::unique_ptr<CURL, void (*)(CURL *)> easy(curl_easy_init(), curl_easy_cleanup);
    std::vector<char *> pointers;
    for (std::string &item : items) pointers.push_back(item.data());
    pointers.push_back(nullptr);
    const refs_settings settings = {pointers.data(), nullptr, nullptr};
    const refs_http_object object = {url, url};
    void *headers = nullptr;
    refs_error error = REFS_ERROR_INIT;
    const refs_status status =
        refs_cloud__prepare(&settings, &object, easy.get(), &headers, &error);
    curl_slist_free_all(static_cast<curl_slist *>(headers));
    EXPECT_EQ(status, error.status);
    return error.message;
}

TEST(Handle, IsNotUsedWithoutASettingThatLibcurlDoesNotTake) {
    const std::string large(9000000, 'a'); // CURL_MAX_INPUT_LENGTH is 8000000
    for (const char *name : {"GDAL_HTTP_PROXY", "GDAL_HTTPS_PROXY", "GDAL_HTTP_USERPWD",
                             "GDAL_HTTP_PROXYUSERPWD", "GDAL_HTTP_COOKIE"}) {
        const std::string said = prepare({std::string(name) + "=" + large});
        EXPECT_EQ(said.find(std::string(name) + ": rejected by libcurl: "), 0u) << said;
        EXPECT_EQ(prepare({std::string(name) + "=a"}), "") << name;
    }
    EXPECT_EQ(prepare({"GDAL_HTTPS_PROXY=" + large}, "http://host/a"), "");
}

TEST(Handle, TakesTimesOfAnyLength) {
    for (const char *time : {"0.5", "2147483", "5000000", "999999999"})
        EXPECT_EQ(prepare({std::string("GDAL_HTTP_TIMEOUT=") + time}), "") << time;
    EXPECT_EQ(refs_cloud__ms(0.5), 500u);
    EXPECT_EQ(refs_cloud__ms(5e6), 2147483647u);
    EXPECT_EQ(refs_cloud__ms(1e300), 2147483647u);
}

} // namespace
