/* identity_test.cc -- settings that say who asks. */
#include "refs/identity.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace {

using Settings = std::map<std::string, std::string>;

refs_setting_lookup lookupIn(const Settings &settings) {
    return {[](const void *user, const char *name) -> const char * {
                const auto &in = *static_cast<const Settings *>(user);
                const auto found = in.find(name);
                return found != in.end() ? found->second.c_str() : nullptr;
            },
            &settings};
}

uint64_t numberOf(const Settings &settings) {
    const refs_setting_lookup lookup = lookupIn(settings);
    return refs_identity_number(&lookup);
}

/** What is wrong with settings; "" where nothing is. */
std::string refusalOf(const Settings &settings) {
    const refs_setting_lookup lookup = lookupIn(settings);
    refs_error error = REFS_ERROR_INIT;
    return refs_identity_check(&lookup, &error) == REFS_OK ? "" : error.message;
}

std::string tokenOf(const char *text) {
    const refs_str token = refs_identity_token(text);
    return std::string(token.data, token.size);
}

TEST(Identity, IsToldBySettingsThatSayWhoAsks) {
    const std::set<uint64_t> numbers = {
        numberOf({}),
        numberOf({{"GDAL_HTTP_USERPWD", "a:b"}}),
        numberOf({{"GDAL_HTTP_USERPWD", "a:c"}}),
        numberOf({{"GDAL_HTTP_BEARER", "a:b"}}),
        numberOf({{"EARTHDATA_TOKEN", "a:b"}}),
        numberOf({{"EARTHDATA_USERNAME", "a:b"}}),
        numberOf({{"EARTHDATA_USERNAME", "a"}, {"EARTHDATA_PASSWORD", ":b"}})};
    EXPECT_EQ(numbers.size(), 7U);
}

TEST(Identity, IsAnotherWithTheServerOfABucket) {
    const Settings none;
    const refs_setting_lookup nothing = lookupIn(none);
    for (const char *name :
         {"AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_HTTPS",
          "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_SECRET_ACCESS_KEY", "AWS_VIRTUAL_HOSTING"}) {
        const Settings one = {{name, "a"}};
        const refs_setting_lookup lookup = lookupIn(one);
        EXPECT_NE(refs_identity_access_number(&lookup), refs_identity_access_number(&nothing))
            << name;
        EXPECT_NE(refs_identity_bucket_number(&lookup), refs_identity_bucket_number(&nothing))
            << name;
    }
}

void writeFile(const std::string &path, const std::string &content) {
    std::ofstream(path, std::ios::binary) << content;
}

TEST(Identity, IsAnotherWhenTheFileThatSaysItIsReplaced) {
    const std::string path = testing::TempDir() + "refs_identity";
    for (const char *name : {"GDAL_HTTP_HEADER_FILE", "GDAL_HTTP_NETRC_FILE", "NETRC",
                             "GDAL_HTTP_COOKIEFILE", "GDAL_HTTP_USERAGENT"}) {
        writeFile(path, "alice");
        const uint64_t before = numberOf({{name, path}});
        EXPECT_EQ(numberOf({{name, path}}), before) << name;
        writeFile(path, "mallory");
        EXPECT_EQ(numberOf({{name, path}}) == before, strcmp(name, "GDAL_HTTP_USERAGENT") == 0)
            << name;
    }
    writeFile(path, "a cookie");
    const Settings written = {{"GDAL_HTTP_COOKIEFILE", path}, {"GDAL_HTTP_COOKIEJAR", path}};
    const uint64_t before = numberOf(written);
    writeFile(path, "a cookie that a server has set");
    EXPECT_EQ(numberOf(written), before);
}

TEST(Identity, IsTheSameWhateverElseIsSet) {
    EXPECT_EQ(numberOf({}), numberOf({{"GDAL_HTTP_TIMEOUT", "3"}, {"GDAL_HTTP_USERPWD", ""}}));
}

TEST(Identity, IsNotSentWhereItWouldEndALine) {
    EXPECT_EQ(refusalOf({{"EARTHDATA_TOKEN", "a\r\nX-Other: b"}}),
              "EARTHDATA_TOKEN has a control character (0x0d): the request is not sent");
    EXPECT_EQ(refusalOf({{"GDAL_HTTP_COOKIE", "a=b\nc=d"}}),
              "GDAL_HTTP_COOKIE has a control character (0x0a): the request is not sent");
    EXPECT_EQ(refusalOf({{"EARTHDATA_TOKEN", "a b"}}),
              "EARTHDATA_TOKEN contains a space: expected a token without spaces");
    EXPECT_EQ(refusalOf({{"EARTHDATA_TOKEN", "a\n"}, {"EARTHDATA_PASSWORD", " my pass\r\n"}}), "");
}

TEST(Identity, LeavesAwayWhatTokensAreWrittenWith) {
    for (const char *text : {"abc.d-e_f=", "abc.d-e_f=\n", "  abc.d-e_f=\t", "\"abc.d-e_f=\"\r\n",
                             "Bearer abc.d-e_f=", "\"bearer  abc.d-e_f=\"", "'abc.d-e_f='\n",
                             "Bearer  \"abc.d-e_f=\"\n", "Bearer\t'abc.d-e_f='",
                             "\xef\xbb\xbf"
                             "abc.d-e_f=",
                             "\xef\xbb\xbf\"Bearer abc.d-e_f=\"\r\n"})
        EXPECT_EQ(tokenOf(text), "abc.d-e_f=") << text;
    EXPECT_EQ(tokenOf("Bearer"), "Bearer");
    EXPECT_EQ(tokenOf("''"), "");
    EXPECT_EQ(tokenOf(nullptr), "");
    const refs_str value = refs_identity_value("\xef\xbb\xbfit's\r\n");
    EXPECT_EQ(std::string(value.data, value.size), "it's");
}

TEST(Identity, TakesHeadersOfOneLine) {
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_identity_check_header("X-A: b\tc", nullptr), REFS_OK);
    EXPECT_EQ(refs_identity_check_header("X-A: b\nX-C: d", &error), REFS_IO);
    EXPECT_STREQ(error.message, "a header of GDAL_HTTP_HEADERS or GDAL_HTTP_HEADER_FILE has a "
                                "control character (0x0a): the request is not sent");
}

} // namespace
