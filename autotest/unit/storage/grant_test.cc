// Answers of services that give out access for a while, and which requests carry a login.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

extern "C" {
#include "http/login.h"
#include "refs/earthdata.h"
#include "refs/grant.h"
}

namespace {

constexpr int64_t kNow = 1700000000;

class Grant : public testing::Test {
  protected:
    ~Grant() override { refs_grant_clear(&grant); }

    refs_status Parse(const char *answer) {
        refs_error_clear(&error);
        refs_grant_clear(&grant);
        return refs_grant_parse(refs_str_from(answer), kNow, &grant, &error);
    }

    int64_t ExpiresIn(const char *answer) {
        EXPECT_EQ(Parse(answer), REFS_OK) << answer << error.message;
        return grant.expires_s - kNow;
    }

    refs_grant grant = {};
    refs_error error = REFS_ERROR_INIT;
};

TEST_F(Grant, MayBeKeysOfS3) {
    ASSERT_EQ(
        Parse(
            R"({"accessKeyId": "a", "secretAccessKey": "b", "sessionToken": "c", "expiration": "2023-11-14 22:13:30+00:00"})"),
        REFS_OK);
    EXPECT_STREQ(grant.access_key, "a");
    EXPECT_STREQ(grant.secret_key, "b");
    EXPECT_STREQ(grant.session_token, "c");
    EXPECT_EQ(grant.expires_s - kNow, 10);
}

TEST_F(Grant, MayBeATokenAsJsonOrAsText) {
    ASSERT_EQ(Parse(R"({"msft:expiry": "2023-11-14T22:13:20Z", "token": "st=1&sig=2"})"), REFS_OK);
    EXPECT_STREQ(grant.token, "st=1&sig=2");
    EXPECT_EQ(grant.expires_s, kNow);
    ASSERT_EQ(Parse(" ?st=1&sig=2\n"), REFS_OK);
    EXPECT_STREQ(grant.token, "st=1&sig=2");
    EXPECT_EQ(grant.expires_s, INT64_MAX);
}

TEST_F(Grant, TellsWhenItExpiresInManyWays) {
    EXPECT_EQ(ExpiresIn(R"({"token": "a", "expiry": "2023-11-15T00:13:20.75+02:00"})"), 0);
    EXPECT_EQ(ExpiresIn(R"({"token": "a", "expiry": "2023-11-14T20:43:20-01:30"})"), 0);
    EXPECT_EQ(ExpiresIn(R"({"token": "a", "expires_at": 1700000060})"), 60);
    EXPECT_EQ(ExpiresIn(R"({"token": "a", "expires_in": 90})"), 90);
    EXPECT_EQ(ExpiresIn(R"({"token": "a", "expiry": "2024-02-29T00:00:00Z"})"), 9164800);
    EXPECT_EQ(ExpiresIn(R"({"token": "a", "expiry": "soon"})"), INT64_MAX - kNow);
}

TEST_F(Grant, IsNoneWithoutKeysOrToken) {
    for (const char *answer :
         {"", "{}", "[1]", R"({"accessKeyId": "a"})", R"({"token": 1})", R"({"token": ""})",
          "<html>a=b</html>", "please log in = here", "{\"token\": "}) {
        EXPECT_NE(Parse(answer), REFS_OK) << answer;
        EXPECT_STRNE(error.message, "") << answer;
    }
}

TEST_F(Grant, IsRenewedBeforeItExpires) {
    grant.expires_s = kNow + 3600;
    EXPECT_TRUE(refs_grant_is_good(&grant, kNow, kNow + 3299));
    EXPECT_FALSE(refs_grant_is_good(&grant, kNow, kNow + 3300));
    grant.expires_s = kNow + 100;
    EXPECT_TRUE(refs_grant_is_good(&grant, kNow, kNow + 89));
    EXPECT_FALSE(refs_grant_is_good(&grant, kNow, kNow + 90));
    grant.expires_s = kNow - 5;
    EXPECT_FALSE(refs_grant_is_good(&grant, kNow, kNow));
    grant.expires_s = INT64_MAX;
    EXPECT_TRUE(refs_grant_is_good(&grant, kNow, kNow * 2));
}

TEST(Login, TokenGoesToItsHostsByHttpsAlone) {
    const refs_http_login login = {"earthdata.nasa.gov, x.org:8443", "t", "urs.earthdata.nasa.gov",
                                   "u", "p"};
    for (const char *url :
         {"https://data.x.earthdata.nasa.gov/a", "https://EARTHDATA.NASA.GOV",
          "HTTPS://x.org:8443/a?b", "https://urs.earthdata.nasa.gov/oauth",
          "https://a@b.earthdata.nasa.gov/", "https://data.earthdata.nasa.gov:443/a"})
        EXPECT_EQ(refs_login__part(&login, url), REFS_LOGIN_TOKEN) << url;
    for (const char *url :
         {"http://data.earthdata.nasa.gov/a", "https://notearthdata.nasa.gov/", "https://x.org/",
          "https://earthdata.nasa.gov.evil.org/", "https://evil.org/earthdata.nasa.gov",
          "https://earthdata.nasa.gov@evil.org/", "https://evil.org?earthdata.nasa.gov", "nonsense",
          ""})
        EXPECT_EQ(refs_login__part(&login, url), REFS_LOGIN_NOTHING) << url;
}

TEST(Login, AdviceIsOfWhatWasSent) {
    const refs_http_login token = {"a.org", "t", "login.org", nullptr, nullptr},
                          password = {"a.org", nullptr, "login.org", "u", "p"},
                          none = {"a.org", nullptr, "login.org", nullptr, nullptr};
    EXPECT_NE(strstr(refs_login__advice(&token, 0, "https://a.org/"), "TOKEN may have"), nullptr);
    EXPECT_NE(strstr(refs_login__advice(&password, 0, "https://login.org/"), "PASSWORD"), nullptr);
    EXPECT_NE(strstr(refs_login__advice(&none, 1, "https://login.org/"), ".netrc"), nullptr);
    for (const char *url : {"https://b.org/", "http://a.org/", "http://login.org/"})
        for (const refs_http_login *login : {&token, &password, &none})
            EXPECT_EQ(refs_login__advice(login, 1, url), nullptr) << url;
    EXPECT_EQ(refs_login__advice(&none, 0, "https://login.org/"), nullptr);
    const char data[] = "/vsicurl/https://d.earthdatacloud.nasa.gov/";
    EXPECT_NE(strstr(refs_earthdata_advice(&password, data), "the licence"), nullptr);
    EXPECT_NE(strstr(refs_earthdata_advice(&token, data), "was not sent"), nullptr);
    EXPECT_NE(strstr(refs_earthdata_advice(&none, data), "log in"), nullptr);
    EXPECT_EQ(refs_earthdata_advice(&password, "/vsicurl/https://b.org/"), nullptr);
}

TEST(Login, NetrcIsForWhoWasNotSentInTheClear) {
    const refs_http_login login = {"x.org:8443", nullptr, "login.org", nullptr, nullptr};
    const struct {
        const char *first, *url;
        bool may;
    } rows[] = {{"https://a/x", "https://b/y", true},
                {"http://a/x", "https://urs.earthdata.nasa.gov/", true},
                {"http://a/x", "http://A:81/y", true},
                {"http://a/x", "http://b/y", false},
                {"http://a@b/x", "http://a/y", false},
                {"http://x.org/", "http://x.org/", false},
                {"http://d.x.org:80/", "http://d.x.org:80/", false},
                {"http://login.org./", "http://login.org./", false},
                {"http://xx.org/", "http://xx.org/", true},
                {"HTTP://Urs.Earthdata.nasa.gov/", "HTTP://Urs.Earthdata.nasa.gov/", false},
                {"http://d.earthdatacloud.nasa.gov/", "http://d.earthdatacloud.nasa.gov/", false}};
    for (const auto &row : rows)
        EXPECT_EQ(refs_login__may_use_netrc(&login, row.first, row.url), row.may) << row.url;
}

TEST(Grants, AreOfTheServiceWhosePrefixFits) {
    const char *list =
        "/vsis3/a/=>https://one, https://h/b/ => https://two?x=1 ,,\n/vsis3/=>http://three";
    const auto service = [&](const char *location) {
        refs_str found;
        EXPECT_EQ(refs_grant_service(list, location, &found, nullptr), REFS_OK);
        return std::string(found.data, found.size);
    };
    EXPECT_EQ(service("/vsis3/a/k"), "https://one");
    EXPECT_EQ(service("/vsis3/ab/k"), "http://three");
    EXPECT_EQ(service("https://h/b/c"), "https://two?x=1");
    EXPECT_EQ(service("/vsicurl/https://h/b/c"), "https://two?x=1");
    EXPECT_EQ(service("/vsicurl/https://h/bc"), "");
    EXPECT_EQ(service("/vsis"), "");
    refs_str found;
    EXPECT_EQ(refs_grant_service("https://one", "/vsis3/a/k", &found, nullptr), REFS_OK);
    EXPECT_EQ(found.size, 0U);
    EXPECT_EQ(refs_grant_service("s3://b=>https://one", "/vsis3/b/k", &found, nullptr), REFS_OK);
    EXPECT_EQ(found.size, 11U);
    EXPECT_EQ(refs_grant_service("s3://b=>https://one", "/vsigs/b/k", &found, nullptr), REFS_OK);
    EXPECT_EQ(found.size, 0U);
}

TEST(Grants, ThatCanHoldNowhereAreErrorsThatNameThem) {
    for (const char *item :
         {"nonsense", "/vsis3/b/=>", "=>https://one", "b=>https://one", "ftp://b/=>https://one",
          "/vsis3/b/=>one", "=>", "https://h/naip/->https://one",
          "s3://b/=>https://one;s3://c/=>https://two", "s3://b/=>https://one s3://c/=>https://two",
          "s3://b/=>https://one\ns3://c/=>https://two", "s3://b/=>https://one=>https://two",
          "s3://b/=>https://one https://two", "https://one https://two",
          "https://h/naip/=https://one"}) {
        refs_error error = REFS_ERROR_INIT;
        refs_str found;
        const std::string list = std::string("/vsis3/a/=>https://one,") + item;
        EXPECT_EQ(refs_grant_service(list.c_str(), "/vsis3/a/k", &found, &error), REFS_INVALID)
            << item;
        EXPECT_NE(strstr(error.message, item), nullptr) << error.message;
    }
}

TEST(Grants, AreOfTheLongestPrefixThatFits) {
    for (const char *list : {"https://h/a/=>https://one,https://h/a/b/=>https://two",
                             "https://h/a/b/=>https://two,https://h/a/=>https://one",
                             "/vsicurl/https://h/a/=>https://one,https://h/a/b=>https://two"}) {
        refs_str found;
        EXPECT_EQ(refs_grant_service(list, "/vsicurl/https://h/a/b/c", &found, nullptr), REFS_OK);
        EXPECT_EQ(std::string(found.data, found.size), "https://two") << list;
        EXPECT_EQ(refs_grant_service(list, "/vsicurl/https://h/a/c", &found, nullptr), REFS_OK);
        EXPECT_EQ(std::string(found.data, found.size), "https://one") << list;
    }
    refs_str found;
    EXPECT_EQ(refs_grant_service("/vsis3/b/=>https://one,s3://b/c=>https://two", "/vsis3/b/c/d",
                                 &found, nullptr),
              REFS_OK);
    EXPECT_EQ(std::string(found.data, found.size), "https://two");
}

TEST(Grants, OfPrefixesThatBeginNoNameAreErrors) {
    for (const char *prefix : {"https://*.h.net/", "https://h/a/../", "https://h/a/?x",
                               "https://h/a#b", "s3://b*/", "/vsis3/b/./c", "https://h/a/%2e%2E/",
                               "https://h/a/.%2e", "https://h/a/%2E/b", "https://h/a%2f../b"}) {
        refs_error error = REFS_ERROR_INIT;
        refs_str found;
        EXPECT_EQ(refs_grant_service((std::string(prefix) + "=>https://one").c_str(), "/vsis3/a/k",
                                     &found, &error),
                  REFS_INVALID)
            << prefix;
        EXPECT_NE(strstr(error.message, "invalid prefix"), nullptr) << error.message;
    }
}

TEST(Grants, OfPrefixesWithAUserAreErrorsThatHideIt) {
    for (const char *list : {"https://user:secret@h/a/=>https://one",
                             "/vsicurl/https://user:secret@h/a/=>https://one"}) {
        refs_error error = REFS_ERROR_INIT;
        refs_str found;
        EXPECT_EQ(refs_grant_service(list, "/vsis3/a/k", &found, &error), REFS_INVALID) << list;
        EXPECT_NE(strstr(error.message, "h/a/"), nullptr) << error.message;
        EXPECT_EQ(strstr(error.message, "secret"), nullptr) << error.message;
    }
    refs_str found;
    for (const char *list :
         {"https://h/a@b/=>https://one", "https://one?for=https://two",
          "https://h/a/=>https://one?for=https://two", "https://h/..a/=>http://o"})
        EXPECT_EQ(refs_grant_service(list, "/vsis3/a/k", &found, nullptr), REFS_OK) << list;
}

TEST_F(Grant, TokensAndQueriesStayWhole) {
    const std::string token = "sv=1&skoid=" + std::string(900, 'a') + "&sig=n";
    const std::string url = "https://h/a?x=" + std::string(900, 'b');
    refs_buf with = REFS_BUF_INIT;
    EXPECT_EQ(refs_grant_url(refs_str_from(url.c_str()), token.c_str(), &with, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(with.data), with.size), url + "&" + token);
    refs_buf_clear(&with);
}

TEST(Grants, GoIntoUrlsInPlaceOfOldOnes) {
    const struct {
        const char *url, *token, *with;
    } rows[] = {
        {"https://h/a", "sv=1&sig=n", "https://h/a?sv=1&sig=n"},
        {"https://h/a?x=1&&y", "sv=1&sig=n", "https://h/a?x=1&y&sv=1&sig=n"},
        {"https://h/a#b", "sv=1&sig=n", "https://h/a?sv=1&sig=n"},
        {"https://h/a?sv=0&st=1&se=2&sp=rl&sig=o", "sv=1&sig=n", "https://h/a?sv=1&sig=n"},
        {"https://h/a?sv=0&snapshot=3&skoid=4&sig=o", "sv=1&sig=n",
         "https://h/a?snapshot=3&sv=1&sig=n"},
        {"https://h/a?key=old&x=1", "key=new", "https://h/a?x=1&key=new"},
        {"https://h/a?X-Amz-Signature=s&x=1", "key=new", "https://h/a?X-Amz-Signature=s&x=1"},
        {"https://h/a?sv=0&sig=o", "key=new", "https://h/a?sv=0&sig=o"},
        {"https://h/a?SV=0&SIG=o", "sv=1&sig=n", "https://h/a?sv=1&sig=n"},
    };
    for (const auto &row : rows) {
        refs_buf with = REFS_BUF_INIT;
        EXPECT_EQ(refs_grant_url(refs_str_from(row.url), row.token, &with, nullptr), REFS_OK);
        EXPECT_EQ(std::string(reinterpret_cast<const char *>(with.data), with.size), row.with);
        refs_buf_clear(&with);
    }
}

TEST(Grants, LeaveSignaturesOfOtherKindsAlone) {
    for (const char *query :
         {"X-Amz-Algorithm=a&X-Amz-Signature=b", "x-amz-signature=b", "X-Goog-Signature=b",
          "AWSAccessKeyId=a&Signature=b&Expires=1", "Signature=b&AWSAccessKeyId=a",
          "GoogleAccessId=a&Signature=b", "Policy=c&Signature=b&Key-Pair-Id=a"}) {
        const std::string url = std::string("https://h/a?") + query;
        refs_buf with = REFS_BUF_INIT;
        EXPECT_EQ(refs_grant_url(refs_str_from(url.c_str()), "sv=1&sig=n", &with, nullptr),
                  REFS_OK);
        EXPECT_EQ(std::string(reinterpret_cast<const char *>(with.data), with.size), url);
        refs_buf_clear(&with);
    }
}

TEST(Grants, AreRenewedOnceInAWhileWhereTheyAreRefused) {
    EXPECT_TRUE(refs_grant_may_renew(0, 1000));
    EXPECT_FALSE(refs_grant_may_renew(1000, 1000));
    EXPECT_FALSE(refs_grant_may_renew(1000, 1000 + REFS_GRANT_REFUSED_S - 1));
    EXPECT_TRUE(refs_grant_may_renew(1000, 1000 + REFS_GRANT_REFUSED_S));
    EXPECT_TRUE(refs_grant_may_renew(1000, 900)) << "the clock was put back";
}

TEST(Grants, AreOfWholeHostsBucketsAndFolders) {
    const struct {
        const char *prefix, *location;
        bool is_of;
    } rows[] = {
        {"https://acc.net", "/vsicurl/https://acc.net/x", true},
        {"https://acc.net", "https://acc.net", true},
        {"https://acc.net", "https://acc.net?x", true},
        {"https://acc.net", "/vsicurl/https://acc.net@evil.com/", false},
        {"https://acc.net", "/vsicurl/https://acc.net.evil.com/", false},
        {"https://acc.net", "https://acc.net:81/", false},
        {"https://acc.net/a/", "https://ACC.net:443/a/x", true},
        {"HTTPS://Acc.net:443/a/", "/vsicurl/https://acc.net/a/x", true},
        {"http://acc.net:80/", "http://acc.net/x", true},
        {"http://acc.net/", "http://acc.net:443/x", false},
        {"http://acc.net/", "https://acc.net/x", false},
        {"https://acc.net/", "http://acc.net/x", false},
        {"https://acc.net/a/", "https://acc.net/A/x", false},
        {"https://acc.net", "https://acc.net\\@evil.com/", false},
        {"/vsicurl/https://acc.net", "/vsicurl/https://acc.net.evil.com/", false},
        {"/vsicurl/https://acc.net", "/vsicurl/https://acc.net/x", true},
        {"/vsis3/lp-prod", "/vsis3/lp-prod/k", true},
        {"/vsis3/lp-prod", "/vsis3/lp-prod2/k", false},
        {"/vsis3/lp-prod", "/vsis3/lp-prod?x/k", false},
        {"https://h/naip/", "https://h/naip/a/../b/./c", true},
        {"https://h/naip/", "https://h/naip/...//x", true},
        {"https://h/naip/", "https://h/naip/../other/x", false},
        {"https://h/naip", "https://h/naip/../other/x", false},
        {"https://h/naip", "https://h/naip2/x", false},
        {"https://h/naip/", "https://h/naip/a/../../other/x", false},
        {"https://h/naip/", "https://h/naip/./../other/x", false},
        {"https://h/naip/", "https://h/naip/%2E%2e/other/x", false},
        {"https://h/naip/", "https://h/naip/.%2e%2Fother/x", false},
        {"https://h/naip/", "https://h/naip/..%5Cother/x", false},
        {"https://h/naip/", "https://h/naip/..\\other/x", false},
        {"https://h/naip/", "https://h/naip/..", false},
        {"https://h/naip/", "https://h/naip/x?a=/../../b", true},
        {"/vsis3/b/naip/", "/vsis3/b/naip/../other/x", false},
        {"", "https://h/", false},
    };
    for (const auto &row : rows) {
        const std::string list = std::string(row.prefix) + "=>https://issuer/";
        refs_str service = refs_str_from("");
        (void)refs_grant_service(list.c_str(), row.location, &service, nullptr);
        EXPECT_EQ(service.size > 0, row.is_of) << row.prefix << " " << row.location;
    }
}

TEST(Login, PasswordGoesToTheLoginAlone) {
    const refs_http_login login = {"earthdata.nasa.gov", nullptr, "urs.earthdata.nasa.gov", "u",
                                   "p"};
    EXPECT_EQ(refs_login__part(&login, "https://urs.earthdata.nasa.gov/oauth?x"),
              REFS_LOGIN_PASSWORD);
    EXPECT_EQ(refs_login__part(&login, "https://URS.earthdata.nasa.gov:443/oauth?x"),
              REFS_LOGIN_PASSWORD);
    for (const char *url :
         {"http://urs.earthdata.nasa.gov/", "https://a.urs.earthdata.nasa.gov/",
          "https://data.earthdata.nasa.gov/", "https://urs.earthdata.nasa.gov:444/"})
        EXPECT_EQ(refs_login__part(&login, url), REFS_LOGIN_NOTHING) << url;
    const refs_http_login none = REFS_HTTP_LOGIN_INIT;
    EXPECT_EQ(refs_login__part(&none, "https://urs.earthdata.nasa.gov/"), REFS_LOGIN_NOTHING);
}

} // namespace
