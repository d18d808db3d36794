// Logins that were refused are not sent again.
#include <gtest/gtest.h>

extern "C" {
#include "http/login.h"
#include "http/refused.h"
}

namespace {

class Refused : public testing::Test {
  protected:
    refs_refused refused = {};
};

TEST_F(Refused, PasswordsAreNeverSentAgain) {
    refs_refused__note_password(&refused, 1, 401);
    refs_refused__note_password(&refused, 2, 403);
    refs_refused__note_password(&refused, 0, 401);
    EXPECT_TRUE(refs_refused__has(&refused, 1, UINT64_MAX - 1));
    EXPECT_FALSE(refs_refused__has(&refused, 2, 1));
    EXPECT_FALSE(refs_refused__has(&refused, 0, 1));
}

TEST_F(Refused, TokensAreTriedAgainAfterAWhile) {
    refs_refused__note_token(&refused, 1, 404, 1000);
    EXPECT_FALSE(refs_refused__has(&refused, 1, 1000));
    refs_refused__note_token(&refused, 1, 401, 1000);
    EXPECT_TRUE(refs_refused__has(&refused, 1, 999 + REFS_HTTP_REFUSED_TOKEN_MS));
    EXPECT_FALSE(refs_refused__has(&refused, 1, 1000 + REFS_HTTP_REFUSED_TOKEN_MS));
}

TEST_F(Refused, TokensThatWereLetInAreNotToBlameForOneObject) {
    refs_refused__note_token(&refused, 1, 206, 1000);
    refs_refused__note_token(&refused, 1, 401, 1000);
    EXPECT_FALSE(refs_refused__has(&refused, 1, 1000));
}

TEST_F(Refused, OfMoreThanFitTheFirstAreForgotten) {
    for (uint64_t key = 1; key <= REFS_HTTP_MAX_REFUSED + 1; key++)
        refs_refused__note_password(&refused, key, 401);
    EXPECT_FALSE(refs_refused__has(&refused, 1, 1));
    EXPECT_TRUE(refs_refused__has(&refused, 2, 1));
    EXPECT_TRUE(refs_refused__has(&refused, REFS_HTTP_MAX_REFUSED + 1, 1));
}

TEST_F(Refused, AreToldApartByHostAndCredentials) {
    const refs_http_login login = {"x.org", nullptr, "login.org", "u", "p"};
    const auto key = [](const refs_http_login &of, const char *url, uint64_t netrc = 0) {
        return refs_login__key(&of, netrc, url);
    };
    const uint64_t first = key(login, "https://login.org/a");
    EXPECT_NE(first, 0U);
    EXPECT_EQ(key(login, "https://LOGIN.org/b?c"), first);
    EXPECT_EQ(key(login, "http://login.org/a"), 0U);
    EXPECT_EQ(key(login, "https://x.org/a"), 0U);
    EXPECT_NE(key({"x.org", nullptr, "login.org", "u", "q"}, "https://login.org/a"), first);
    EXPECT_NE(key({"x.org", nullptr, "login.org", "up", ""}, "https://login.org/a"), first);
    const refs_http_login token = {"x.org", "p", "login.org", nullptr, nullptr};
    EXPECT_NE(key(token, "https://x.org/a"), 0U);
    EXPECT_NE(key(token, "https://x.org/a"), key(token, "https://y.x.org/a"));
    const refs_http_login none = {"x.org", nullptr, "login.org", nullptr, nullptr};
    EXPECT_NE(key(none, "https://login.org/a", 1), 0U);
    EXPECT_NE(key(none, "https://login.org/a", 1), key(none, "https://login.org/a", 2));
    EXPECT_EQ(key(none, "https://x.org/a", 1), 0U);
    EXPECT_EQ(key(none, "https://login.org/a", 0), 0U);
}

} // namespace
