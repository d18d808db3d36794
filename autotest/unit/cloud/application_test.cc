/* application_test.cc -- a refs_cloud that asks an application for settings, signatures and files.
 */
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "refs/cloud.h"
#include "temporary_folder.h"

extern "C" {
#include "cloud_internal.h"
}

namespace {

/** An application that signs by adding what it was asked for, and counts what it is asked. */
class Application : public testing::Test {
  protected:
    void SetUp() override {
        refs_cloud_options options = REFS_CLOUD_OPTIONS_INIT;
        options.application = &functions;
        ASSERT_EQ(refs_cloud_open(&options, &cloud, nullptr), REFS_OK);
        asked = refs_cloud_functions(cloud);
    }
    void TearDown() override { refs_cloud_free(cloud); }

    std::string url(const char *location) const {
        refs_buf text = REFS_BUF_INIT;
        refs_error error = REFS_ERROR_INIT;
        const refs_status status = asked->url(asked->self, location, &text, &error);
        const std::string made(text.data, text.data + text.size);
        refs_buf_clear(&text);
        if (status == REFS_UNSUPPORTED && error.status == REFS_OK) return "-";
        return status == REFS_OK ? made : error.message;
    }
    /** The same with keys that a service gave out. */
    std::string urlWithGrant(const char *location) const {
        char access[] = "ASIA", secret[] = "S", session[] = "T";
        const refs_grant grant = {nullptr, access, secret, session, INT64_MAX};
        refs_object object = {};
        refs_buf text = REFS_BUF_INIT;
        refs_error error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_cloud__parse(cloud, location, &object, nullptr), REFS_OK);
        object.grant = &grant;
        EXPECT_TRUE(refs_cloud__is_signed_here(&object));
        const refs_status status = refs_cloud__url(cloud, &object, &text, &error);
        const std::string made(text.data, text.data + text.size);
        refs_buf_clear(&text);
        return status == REFS_OK ? made.substr(0, made.find('?')) : error.message;
    }
    refs_http_rules rules(const char *location) const {
        refs_http_rules made = {};
        EXPECT_EQ(asked->rules(asked->self, location, &made, nullptr), REFS_OK);
        return made;
    }
    bool answer(const char *location, const refs_http_signed_answer &answer) const {
        return asked->signed_answer(asked->self, location, &answer);
    }

    std::string advice(const char *location) const {
        const char *text = asked->advice(asked->self, location, 403);
        return text != nullptr ? text : "";
    }

    /** "location NAME" or " NAME" -> value */
    std::map<std::string, std::string> settings;
    bool canRead = false;
    int nTried = 0;
    refs_cloud *cloud = nullptr;
    const refs_http_provider *asked = nullptr;

  private:
    static const char *getOption(void *self, const char *location, const char *name) {
        const auto &all = static_cast<Application *>(self)->settings;
        auto found = all.find(std::string(location) + " " + name);
        if (found == all.end()) found = all.find(std::string(" ") + name);
        return found != all.end() ? found->second.c_str() : nullptr;
    }
    static refs_status sign(void *, const refs_signing *signing, refs_buf *url, refs_error *err) {
        if (strstr(signing->location, "foreign") != nullptr) return REFS_UNSUPPORTED;
        return refs_buf_printf(url, err, "https://signer%s?%s%s", signing->location,
                               signing->is_signed ? "signed " : "plain ",
                               signing->region != nullptr ? signing->region : "");
    }
    static bool tryToRead(void *self, const char *) {
        auto *application = static_cast<Application *>(self);
        application->nTried++;
        return application->canRead;
    }
    static const refs_s3nc_host *findAlias(void *, refs_str name, const char **file) {
        static char alias[] = "mine", endpoint[] = "h:9000", none[] = "";
        static refs_s3nc_host server = {};
        server.alias = alias;
        server.endpoint = endpoint;
        server.access_key = server.secret_key = none;
        server.read_timeout_s = 2;
        *file = "aliases.json";
        return refs_str_is(name, "mine~1") ? &server : nullptr;
    }
    refs_application functions = {this, getOption, nullptr, sign, tryToRead, findAlias, nullptr};
};

} // namespace

TEST_F(Application, SignsObjectsOfStores) {
    EXPECT_EQ(url("/vsis3/b/k"), "https://signer/vsis3/b/k?signed%20");
    EXPECT_TRUE(rules("/vsis3/b/k").is_signed);
    settings[" AWS_NO_SIGN_REQUEST"] = "YES";
    EXPECT_EQ(url("/vsis3/b/k"), "https://signer/vsis3/b/k?plain%20");
    EXPECT_EQ(url("/vsioss/b/k"), "https://signer/vsioss/b/k?signed%20");
    EXPECT_FALSE(rules("/vsis3/b/k").is_signed);
}

TEST_F(Application, ReadsItselfWhatItDoesNotSign) {
    for (const char *location : {"/vsis3/foreign/k", "/vsizip/a.zip/b", "/vsicurl/ftp://h/a", "a"})
        EXPECT_EQ(url(location), "-");
    EXPECT_EQ(url("/vsicurl/http://h/a b"), "http://h/a%20b");
}

TEST_F(Application, HasSettingsForPartsOfTheNameSpace) {
    settings["/vsicurl/http://h/a GDAL_HTTP_MAX_RETRY"] = "7 ";
    settings[" GDAL_HTTP_MAX_RETRY"] = "3";
    EXPECT_EQ(rules("/vsicurl/http://h/a").max_retries, 7U);
    EXPECT_EQ(rules("/vsicurl/http://h/b").max_retries, 3U);
    settings["/vsicurl/http://h/a GDAL_HTTP_BEARER"] = "token";
    EXPECT_NE(rules("/vsicurl/http://h/a").credentials, rules("/vsicurl/http://h/b").credentials);
}

TEST_F(Application, SendsATokenOnlyWhereThatIsTheWayToLogIn) {
    settings[" GDAL_HTTP_BEARER"] = "token";
    EXPECT_EQ(rules("/vsicurl/http://h/a").auth.bearer, nullptr);
    settings[" GDAL_HTTP_AUTH"] = "BASIC";
    EXPECT_EQ(rules("/vsicurl/http://h/a").auth.bearer, nullptr);
    settings[" GDAL_HTTP_AUTH"] = "Bearer";
    EXPECT_STREQ(rules("/vsicurl/http://h/a").auth.bearer, "token");
}

TEST_F(Application, IsToldTheRegionThatAServerNamed) {
    EXPECT_TRUE(answer("/vsis3/b/k", {301, "eu-west-1", 1}));
    EXPECT_EQ(url("/vsis3/b/k"), "https://signer/vsis3/b/k?signed%20eu-west-1");
    EXPECT_EQ(url("/vsigs/b/k"), "https://signer/vsigs/b/k?signed%20");
    settings[" AWS_ACCESS_KEY_ID"] = "of somebody else";
    EXPECT_EQ(url("/vsis3/b/k"), "https://signer/vsis3/b/k?signed%20");
}

TEST_F(Application, IsAskedOnceToReadWhatIsRefused) {
    canRead = true;
    EXPECT_TRUE(answer("/vsis3/b/k", {403, "", 1})); /* it may have expired */
    EXPECT_EQ(nTried, 0);
    EXPECT_TRUE(answer("/vsis3/b/k", {403, "", 2}));
    EXPECT_EQ(nTried, 1);
    EXPECT_EQ(url("/vsis3/b/k"), "-");
    EXPECT_TRUE(answer("/vsis3/b/other", {403, "", 1}));
    EXPECT_EQ(nTried, 1);
    EXPECT_NE(url("/vsis3/c/k"), "-");
}

TEST_F(Application, IsNotAskedToReadWhereASignatureWasAnswered) {
    canRead = true;
    EXPECT_FALSE(answer("/vsis3/b/k", {206, "", 0}));
    EXPECT_TRUE(answer("/vsis3/b/k", {403, "", 1}));
    EXPECT_FALSE(answer("/vsis3/b/k", {403, "", 2}));
    EXPECT_EQ(nTried, 0);
}

TEST_F(Application, IsNotAskedForEver) {
    for (unsigned n = 1; n < 10; n++)
        EXPECT_EQ(answer("/vsis3/b/k", {301, n % 2 == 0 ? "here" : "there", n}), n <= 4) << n;
}

TEST_F(Application, HasServersByAlias) {
    EXPECT_EQ(url("/vsis3/mine~1/bucket/k"), "http://h:9000/bucket/k");
    EXPECT_EQ(rules("/vsis3/mine~1/bucket/k").stall_ms, 2000U);
    EXPECT_FALSE(rules("/vsis3/mine~1/bucket/k").is_signed);
    EXPECT_NE(advice("/vsis3/mine~1/bucket/k").find("s3://mine"), std::string::npos);
    EXPECT_NE(advice("/vsis3/mine~1/bucket/k").find("aliases.json"), std::string::npos);
    EXPECT_NE(advice("/vsis3/other/k").find("AWS_NO_SIGN_REQUEST=YES; no alias s3://other"),
              std::string::npos);
}

TEST_F(Application, LeavesToTheCoreWhoPays) {
    settings[" AWS_REQUEST_PAYER"] = "requester";
    settings[" AWS_SHARED_CREDENTIALS_FILE"] = settings[" AWS_CONFIG_FILE"] = "/nonexistent";
    EXPECT_EQ(url("/vsis3/b/k"), "-"); /* it has keys that are not known here */
    settings[" AWS_ACCESS_KEY_ID"] = "A";
    settings[" AWS_SECRET_ACCESS_KEY"] = "S";
    EXPECT_NE(url("/vsis3/b/k").find("x-amz-request-payer=requester"), std::string::npos);
    settings["/vsis3/b/k AWS_REGION"] = "eu-north-1";
    EXPECT_NE(url("/vsis3/b/k").find("s3.eu-north-1.amazonaws.com"), std::string::npos);
    EXPECT_EQ(url("/vsis3/b/l").find("s3.eu-north-1.amazonaws.com"), std::string::npos);
    canRead = true;
    EXPECT_TRUE(answer("/vsis3/b/l", {403, "", 2}));
    EXPECT_EQ(url("/vsis3/b/l"), "-");
}

TEST_F(Application, SignsWithKeysOfServicesWhateverTheProfileOfTheUserIs) {
    const TemporaryFolder folder;
    folder.Write("config", "[default]\nsso_session = mine\n[profile role]\nrole_arn = arn\n"
                           "[profile command]\ncredential_process = keys\n"
                           "[profile half]\naws_access_key_id = A\n");
    settings[" AWS_SHARED_CREDENTIALS_FILE"] = "/nonexistent";
    settings[" AWS_CONFIG_FILE"] = folder / "config";
    for (const char *profile : {"", "role", "command", "half", "none"}) {
        settings[" AWS_PROFILE"] = profile;
        EXPECT_EQ(urlWithGrant("/vsis3/bucket/k"), "https://bucket.s3.us-east-1.amazonaws.com/k")
            << profile;
    }
}

TEST_F(Application, SendsKeysOfServicesToNoServerOfTheUsersOwn) {
    const TemporaryFolder folder;
    folder.Write("config", "[default]\nendpoint_url = http://mine\n");
    settings[" AWS_SHARED_CREDENTIALS_FILE"] = "/nonexistent";
    settings[" AWS_CONFIG_FILE"] = folder / "config";
    const std::string amazon = "https://bucket.s3.us-east-1.amazonaws.com/k";
    EXPECT_EQ(urlWithGrant("/vsis3/bucket/k"), amazon);
    settings[" AWS_ENDPOINT_URL"] = "http://mine";
    EXPECT_EQ(urlWithGrant("/vsis3/bucket/k"), amazon);
    settings[" AWS_ENDPOINT_URL_S3"] = "http://mine";
    EXPECT_EQ(urlWithGrant("/vsis3/bucket/k"), amazon);
    settings[" AWS_S3_ENDPOINT"] = "http://other";
    EXPECT_EQ(urlWithGrant("/vsis3/bucket/k"), "http://other/bucket/k");
}
