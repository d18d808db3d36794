/* redirect_test.cc -- where redirects may lead. */
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "http/redirect.h"
}

TEST(Redirect, IsOfTheStatusesThatNameAnotherUrl) {
    for (const long status : {301, 302, 303, 307, 308}) EXPECT_TRUE(refs_redirect__is_one(status));
    for (const long status : {200, 206, 300, 304, 305, 306, 400})
        EXPECT_FALSE(refs_redirect__is_one(status));
}

TEST(Redirect, LeadsToHttpAndNeverFromHttpsToIt) {
    const struct {
        const char *from, *to;
        bool may;
    } rows[] = {
        {"http://a/x", "http://b/y", true},    {"http://a/x", "https://b/y", true},
        {"https://a/x", "HTTPS://b/y", true},  {"https://a/x", "http://a/x", false},
        {"https:///a/x", "http://a/x", false}, {"http://a/x", "file:///etc/passwd", false},
        {"http://a/x", "ftp://a/x", false},    {"http://a/x", "gopher://a/x", false},
        {"http://a/x", "data:,x", false},      {"http://a/x", "", false},
    };
    for (const auto &row : rows) {
        refs_error error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_redirect__check(row.from, row.to, &error) == REFS_OK, row.may) << row.to;
        EXPECT_EQ(error.status == REFS_OK, row.may) << row.to;
    }
}

TEST(Redirect, LeadsToLinkLocalAddressesFromThereAlone) {
    const struct {
        const char *from, *to;
        bool may;
    } rows[] = {
        {"http://a/x", "http://b/y", true},
        {"http://a/x", "http://127.0.0.1/y", true},
        {"http://a/x", "http://169.254.169.254/latest", false},
        {"http://a/x", "http://u@0xA9FEA9FE:80/", false},
        {"http://a/x", "http://[fe80::1]/", false},
        {"http://169.254.1.1/x", "http://169.254.1.1/y", true},
    };
    for (const auto &row : rows) {
        refs_error error = REFS_ERROR_INIT;
        const refs_status status = refs_redirect__confine(row.from, row.to, &error);
        EXPECT_EQ(status, row.may ? REFS_OK : REFS_IO) << row.to;
        EXPECT_EQ(error.status, status) << row.to;
    }
}

TEST(Redirect, TellsOrigins) {
    const struct {
        const char *one, *other;
        bool same;
    } rows[] = {
        {"http://a/x", "http://a/y?z", true},
        {"http://a/x", "http://A:80/y", true},
        {"https://a/x", "https://a:443/", true},
        {"http://u:p@a/x", "http://a/x", true},
        {"http://a/x", "https://a/x", false},
        {"http://a/x", "http://a:81/x", false},
        {"http://a/x", "http://b/x", false},
        {"http://a/x", "http://a.b/x", false},
        {"http://a/x", "http://a@b/x", false},
        {"http://a/x", "not a url", false},
        {"", "", false},
    };
    for (const auto &row : rows)
        EXPECT_EQ(refs_redirect__same_origin(row.one, row.other), row.same)
            << row.one << ' ' << row.other;
}

TEST(Redirect, KnowsSignedUrls) {
    const struct {
        const char *url;
        bool is_signed;
    } rows[] = {
        {"https://b/k?X-Amz-Algorithm=A&X-Amz-Signature=0", true},
        {"https://b/k?x-goog-signature=0", true},
        {"https://b/k?AWSAccessKeyId=i&Signature=s&Expires=1", true},
        {"https://b/k?Signature=s&Key-Pair-Id=k", true},
        {"https://b/k?sv=1&sig=s#part", true},
        {"https://b/k", false},
        {"https://b/k?Signature=s", false},
        {"https://b/k?sig=1&svg=2", false},
        {"https://b/k?X-Amz-Signature", false},
        {"https://b/k#?X-Amz-Signature=0", false},
        {"https://b/k?a=X-Amz-Signature=0", false},
        {"https://b/k?", false},
    };
    for (const auto &row : rows)
        EXPECT_EQ(refs_redirect__is_signed(row.url), row.is_signed) << row.url;
}

TEST(Redirect, KeepsTheUserWithinAnOrigin) {
    const struct {
        const char *from, *to, *url;
    } rows[] = {
        {"http://u:p@a/x", "http://a/y?z=1", "http://u:p@a/y?z=1"},
        {"http://u:p%40@a/x", "http://a/y", "http://u:p%40@a/y"},
        {"http://u:p@a/x", "http://v:q@a/y", "http://v:q@a/y"},
        {"http://u:p@a/x", "http://b/y", "http://b/y"},
        {"http://a/x", "http://a/y", "http://a/y"},
    };
    for (const auto &row : rows) {
        char *url = refs_redirect__with_user(row.from, row.to);
        EXPECT_STREQ(url, row.url);
        refs_free(url);
    }
}
