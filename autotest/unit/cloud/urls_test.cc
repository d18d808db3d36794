/* urls_test.cc -- which URL a refs_cloud gives for a location, by its settings. */
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "refs/cloud.h"
#include "temporary_folder.h"

namespace {

struct Free {
    void operator()(refs_cloud *cloud) const { refs_cloud_free(cloud); }
};

/** A refs_cloud that sees these settings and no files. */
class Host {
  public:
    explicit Host(std::vector<std::string> settings) {
        for (const char *file : {"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"})
            settings.insert(settings.begin(), std::string(file) + "=/nonexistent");
        settings.insert(settings.begin(), "S3NC_CONFIG=NONE");
        std::vector<const char *> items;
        for (const std::string &setting : settings) items.push_back(setting.c_str());
        items.push_back(nullptr);
        refs_cloud_options options = REFS_CLOUD_OPTIONS_INIT;
        options.settings = items.data();
        refs_cloud *made = nullptr;
        EXPECT_EQ(refs_cloud_open(&options, &made, nullptr), REFS_OK);
        host_.reset(made);
    }

    /** Without its signature; or the failure, or "-" where it is none of HTTP. */
    std::string url(const char *location) const {
        const refs_http_provider *functions = refs_cloud_functions(host_.get());
        refs_buf text = REFS_BUF_INIT;
        refs_error err = REFS_ERROR_INIT;
        const refs_status status = functions->url(functions->self, location, &text, &err);
        std::string shown(text.data, text.data + text.size);
        refs_buf_clear(&text);
        if (status == REFS_UNSUPPORTED && err.status == REFS_OK) return "-";
        if (status != REFS_OK) return err.message;
        const size_t signature = shown.find("X-Amz-Algorithm");
        return signature == std::string::npos ? shown : shown.substr(0, signature) + "SIGNED";
    }

    bool isSigned(const char *location) const {
        const refs_http_provider *functions = refs_cloud_functions(host_.get());
        refs_http_rules rules = {};
        EXPECT_EQ(functions->rules(functions->self, location, &rules, nullptr), REFS_OK);
        return rules.is_signed;
    }

    std::string bearer(const char *location) const {
        const refs_http_provider *functions = refs_cloud_functions(host_.get());
        refs_http_rules rules = {};
        EXPECT_EQ(functions->rules(functions->self, location, &rules, nullptr), REFS_OK);
        return rules.auth.bearer != nullptr ? rules.auth.bearer : "";
    }

    bool answer(const char *location, const refs_http_signed_answer &answer) const {
        const refs_http_provider *functions = refs_cloud_functions(host_.get());
        return functions->signed_answer(functions->self, location, &answer);
    }

    std::string advice(const char *location, long status) const {
        const refs_http_provider *functions = refs_cloud_functions(host_.get());
        const char *text = functions->advice(functions->self, location, status);
        return text != nullptr ? text : "";
    }

  private:
    std::unique_ptr<refs_cloud, Free> host_;
};

const char keys[] = "AWS_ACCESS_KEY_ID=A";
const char secret[] = "AWS_SECRET_ACCESS_KEY=S";

} // namespace

TEST(Urls, OfFilesThereAreNone) {
    const Host host({});
    EXPECT_EQ(host.url("/home/set.json"), "-");
    EXPECT_EQ(host.url("set.json"), "-");
}

TEST(Urls, AreKeptWithTheirBlanksEncoded) {
    const Host host({});
    EXPECT_EQ(host.url("/vsicurl/https://h/a b?c=%20"), "https://h/a%20b?c=%20");
    EXPECT_EQ(host.url("http://h/a"), "http://h/a");
    EXPECT_EQ(host.url("/vsicurl/ftp://h/a"), "this program reads only http and https URLs");
    EXPECT_NE(host.url("/vsitar/{/vsicurl/http://h/a.tar}/b").find("GDAL"), std::string::npos);
    EXPECT_EQ(host.url("/vsizip/{/vsicurl/http://h/a.zip}/b"),
              "-"); // storage reads it from the URL of the archive
}

TEST(Urls, OfPublicBucketsAreThoseOfAmazon) {
    const Host host({});
    EXPECT_EQ(host.url("/vsis3/noaa-goes17/a/b c+d=1.nc"),
              "https://noaa-goes17.s3.amazonaws.com/a/b%20c%2Bd%3D1.nc");
    EXPECT_EQ(host.url("/vsis3/with.points/k"), "https://s3.amazonaws.com/with.points/k");
    EXPECT_FALSE(host.isSigned("/vsis3/noaa-goes17/a"));
    EXPECT_EQ(host.url("/vsis3//k"), "expected the name of a bucket");
}

TEST(Urls, OfAmazonNameTheRegion) {
    const Host host({keys, secret, "AWS_REGION=cn-north-1"});
    EXPECT_EQ(host.url("/vsis3/bucket/k"),
              "https://bucket.s3.cn-north-1.amazonaws.com.cn/k?SIGNED");
    EXPECT_TRUE(host.isSigned("/vsis3/bucket/k"));
    EXPECT_FALSE(host.isSigned("/vsicurl/http://h/k"));
}

TEST(Urls, OfBucketsFollowTheRegionThatTheServerNames) {
    const Host host({keys, secret});
    EXPECT_EQ(host.url("/vsis3/bucket/k"), "https://bucket.s3.us-east-1.amazonaws.com/k?SIGNED");
    EXPECT_TRUE(host.answer("/vsis3/bucket/k", {400, "eu-west-1", 1}));
    EXPECT_EQ(host.url("/vsis3/bucket/k"), "https://bucket.s3.eu-west-1.amazonaws.com/k?SIGNED");
    EXPECT_EQ(host.url("/vsis3/other/k"), "https://other.s3.us-east-1.amazonaws.com/k?SIGNED");
    EXPECT_TRUE(host.answer("/vsis3/bucket/l", {400, "eu-west-1", 1})); /* it was signed before */
    EXPECT_FALSE(host.answer("/vsis3/bucket/k", {400, "eu-west-1", 2}));
    EXPECT_FALSE(host.answer("/vsis3/bucket/k", {400, "no region/", 1}));
}

TEST(Urls, ThatWereRefusedAreSignedAnewOnce) {
    const Host host({keys, secret});
    EXPECT_TRUE(host.answer("/vsis3/bucket/k", {403, "", 1}));
    EXPECT_FALSE(host.answer("/vsis3/bucket/k", {403, "", 2}));
    EXPECT_FALSE(host.answer("/vsis3/bucket/k", {200, "", 0}));
}

TEST(Urls, OfOtherServersNameTheBucketInTheirPath) {
    EXPECT_EQ(Host({"AWS_ENDPOINT_URL=http://127.0.0.1:9000/"}).url("/vsis3/bucket/k"),
              "http://127.0.0.1:9000/bucket/k");
    EXPECT_EQ(Host({"AWS_S3_ENDPOINT=h:9000", "AWS_HTTPS=NO"}).url("/vsis3/bucket/k"),
              "http://h:9000/bucket/k");
    EXPECT_EQ(Host({"AWS_S3_ENDPOINT=h", "AWS_VIRTUAL_HOSTING=YES"}).url("/vsis3/bucket/k"),
              "https://bucket.h/k");
    EXPECT_EQ(Host({"AWS_ENDPOINT_URL=https://h:443/s3"}).url("/vsis3/bucket/k"),
              "https://h/s3/bucket/k");
    EXPECT_EQ(Host({"AWS_ENDPOINT_URL=https://h", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true"})
                  .url("/vsis3/bucket/k"),
              "https://bucket.s3.amazonaws.com/k");
}

TEST(Urls, SayWhoPays) {
    EXPECT_EQ(Host({keys, secret, "AWS_REQUEST_PAYER=requester", "AWS_ENDPOINT_URL=http://h"})
                  .url("/vsis3/bucket/k"),
              "http://h/bucket/k?SIGNED");
    EXPECT_EQ(
        Host({"AWS_REQUEST_PAYER=requester", "AWS_ENDPOINT_URL=http://h"}).url("/vsis3/bucket/k"),
        "http://h/bucket/k");
}

TEST(Urls, AreNotSignedWhereThatIsSaid) {
    const Host host({keys, secret, "AWS_NO_SIGN_REQUEST=YES"});
    EXPECT_EQ(host.url("/vsis3/bucket/k"), "https://bucket.s3.amazonaws.com/k");
    EXPECT_NE(host.advice("/vsis3/bucket/k", 403).find("AWS_ACCESS_KEY_ID"), std::string::npos);
    EXPECT_NE(Host({keys, secret}).advice("/vsis3/bucket/k", 403).find("AWS_NO_SIGN_REQUEST"),
              std::string::npos);
}

TEST(Urls, NeedKeysOfTheProfileOnlyWhereTheyAreSigned) {
    const TemporaryFolder folder;
    folder.Write("config", "[default]\nsso_session = mine\nregion = eu-west-1\n");
    const std::string config = "AWS_CONFIG_FILE=" + folder.path + "/config";
    EXPECT_EQ(Host({config, "AWS_NO_SIGN_REQUEST=YES"}).url("/vsis3/bucket/k"),
              "https://bucket.s3.eu-west-1.amazonaws.com/k");
    EXPECT_NE(Host({config})
                  .url("/vsis3/bucket/k")
                  .find("profile \"default\" uses sso_session, which is not supported here"),
              std::string::npos);
    EXPECT_NE(Host({config, "AWS_PROFILE=none"}).url("/vsis3/bucket/k").find("profile \"none\""),
              std::string::npos);
}

TEST(Urls, OfGoogleAreSignedWithItsOwnKeys) {
    EXPECT_EQ(Host({keys, secret}).url("/vsigs/bucket/k"),
              "https://storage.googleapis.com/bucket/k");
    EXPECT_EQ(Host({"GS_ACCESS_KEY_ID=A", "GS_SECRET_ACCESS_KEY=S"}).url("/vsigs/bucket/k"),
              "https://storage.googleapis.com/bucket/k?SIGNED");
}

TEST(Urls, OfAzureCarryTheToken) {
    EXPECT_EQ(Host({"AZURE_STORAGE_ACCOUNT=acc"}).url("/vsiaz/c/k l"),
              "https://acc.blob.core.windows.net/c/k%20l");
    EXPECT_EQ(Host({"AZURE_STORAGE_ACCOUNT=acc", "AZURE_STORAGE_SAS_TOKEN=?sv=1&sig=x"})
                  .url("/vsiaz/c/k"),
              "https://acc.blob.core.windows.net/c/k?sv=1&sig=x");
    EXPECT_EQ(Host({"AZURE_STORAGE_CONNECTION_STRING=BlobEndpoint=http://h:1/acc/;"
                    "SharedAccessSignature=sv=1&sig=x"})
                  .url("/vsiaz/c/k"),
              "http://h:1/acc/c/k?sv=1&sig=x");
    EXPECT_EQ(Host({}).url("/vsiaz/c/k"),
              "az:// needs AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING");
}

TEST(Urls, OfAliasesAreThoseOfTheirServers) {
    const TemporaryFolder folder;
    const std::string name = folder.path + "/s3nc.json";
    folder.Write("s3nc.json",
                 R"({"version": "9", "hosts": {"s3://open": {"url": "http://h:9000"}, "s3://mine":
          {"url": "https://i", "credentials": {"accessKey": "A", "secretKey": "S"}}}})");
    const Host host({"S3NC_CONFIG=" + name, "AWS_ENDPOINT_URL=http://other", keys, secret});
    EXPECT_EQ(host.url("/vsis3/open/bucket/k"), "http://h:9000/bucket/k");
    EXPECT_EQ(host.url("/vsis3/mine/bucket/k"), "https://i/bucket/k?SIGNED");
    EXPECT_EQ(host.url("/vsis3/bucket/k"), "http://other/bucket/k?SIGNED");
    EXPECT_EQ(host.url("/vsis3/open/bucket?list-type=2#7"), "http://h:9000/bucket?list-type=2");
}

TEST(Urls, OfNoAliasAreToldWithTheFileThatWasLookedIn) {
    const TemporaryFolder folder;
    const std::string name = folder.path + "/s3nc.json";
    folder.Write("s3nc.json", R"({"version": "9", "hosts": {"s3://open": {"url": "http://h"}}})");
    EXPECT_EQ(Host({"S3NC_CONFIG=" + name}).advice("/vsis3/opne/bucket/k", 404),
              "no alias s3://opne is defined in " + name);
    EXPECT_EQ(Host({"S3NC_CONFIG=NONE"}).advice("/vsis3/opne/bucket/k", 404), "");
}

TEST(Urls, AreRefusedWithAFileOfAliasesThatCannotBeRead) {
    const TemporaryFolder folder;
    const std::string name = folder.path + "/s3nc.json";
    folder.Write("s3nc.json", "{");
    EXPECT_EQ(Host({"S3NC_CONFIG=" + name}).url("/vsis3/bucket/k").rfind(name + ": ", 0), 0U);
}

TEST(Urls, AreAskedWithATokenUnlessThereIsAnotherWayToLogIn) {
    const char token[] = "GDAL_HTTP_BEARER=token";
    EXPECT_EQ(Host({token}).bearer("http://h/a"), "token");
    EXPECT_EQ(Host({token, "GDAL_HTTP_AUTH=BEARER"}).bearer("http://h/a"), "token");
    EXPECT_EQ(Host({token, "GDAL_HTTP_AUTH=BASIC"}).bearer("http://h/a"), "");
}
