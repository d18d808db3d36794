/* origin_test.cc -- scheme, host and port of URLs. */
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "http/origin.h"
}

namespace {

/** "scheme host port", or "" where there is none. */
std::string shown(const refs_origin &origin) {
    if (origin.scheme[0] == '\0') return "";
    return std::string(origin.scheme) + " " + origin.host + " " + origin.port;
}

std::string originOf(const std::string &url) {
    refs_origin origin;
    const bool is_one = refs_origin_of(url.c_str(), &origin);
    EXPECT_EQ(is_one, origin.scheme[0] != '\0') << url;
    return shown(origin);
}

std::string ofAuthority(const std::string &text) {
    refs_origin origin;
    (void)refs_origin_of_authority(refs_str_view(text.data(), text.size()), &origin);
    return shown(origin);
}

} // namespace

TEST(Origin, IsSchemeHostAndPort) {
    EXPECT_EQ(originOf("http://a/x?y#z"), "http a 80");
    EXPECT_EQ(originOf("HTTPS://A.Org"), "https a.org 443");
    EXPECT_EQ(originOf("https://a:8443/x"), "https a 8443");
    EXPECT_EQ(originOf("http://[::1]:81/x"), "http [::1] 81");
    EXPECT_EQ(originOf("http://a./x"), "http a. 80");
}

TEST(Origin, IsNotThatOfAUser) {
    EXPECT_EQ(originOf("http://good.org@evil.org/"), "http evil.org 80");
    EXPECT_EQ(originOf("http://good.org:80@evil.org:81/"), "http evil.org 81");
    EXPECT_EQ(originOf("http://evil.org/@good.org"), "http evil.org 80");
    EXPECT_EQ(originOf("http://evil.org?@good.org"), "http evil.org 80");
    EXPECT_EQ(originOf("http://evil.org#@good.org"), "http evil.org 80");
}

TEST(Origin, IsNoneOfWhatIsNotHttp) {
    for (const char *url : {"", "a", "/a", "ftp://a/x", "file:///a", "http://", "http:///x",
                            "http:/x", "data:,x", "httpsx://a", "http://a:99999/"})
        EXPECT_EQ(originOf(url), "") << url;
    EXPECT_EQ(originOf("http://" + std::string(300, 'a') + "/"), "");
}

TEST(Origin, OfAnAuthorityIsOneOfHttps) {
    EXPECT_EQ(ofAuthority("a.org"), "https a.org 443");
    EXPECT_EQ(ofAuthority("a.org:80"), "https a.org 80");
    for (const std::string text : {"", ":8443", "a/b", "u@a", "a?b", "a#b", "[::1", "a\\b"})
        EXPECT_EQ(ofAuthority(text), "") << text;
    EXPECT_EQ(ofAuthority(std::string("a\0b", 3)), "");
    EXPECT_EQ(ofAuthority(std::string(1000, 'a')), "");
}

TEST(Origin, WritesItsAuthorityWithoutTheUsualPort) {
    for (const auto &[url, text] :
         {std::pair("https://A:443/", "a"), std::pair("http://a:443", "a:443"),
          std::pair("http://a:80/x", "a")}) {
        refs_origin origin;
        refs_buf authority = REFS_BUF_INIT;
        ASSERT_TRUE(refs_origin_of(url, &origin));
        ASSERT_EQ(refs_origin_append_authority(&origin, &authority, nullptr), REFS_OK);
        EXPECT_EQ(std::string(authority.data, authority.data + authority.size), text) << url;
        refs_buf_clear(&authority);
    }
}
