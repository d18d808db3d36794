/* s3nc_test.cc -- the configuration file of S3netCDF4. */
#include <gtest/gtest.h>

#include <unistd.h>

#include <map>
#include <memory>
#include <string>

#include "refs/s3nc.h"
#include "temporary_folder.h"

namespace {

struct Free {
    void operator()(refs_s3nc *config) const { refs_s3nc_free(config); }
};
using Config = std::unique_ptr<refs_s3nc, Free>;

struct Parsed {
    Config config;
    std::string error;
};

Parsed parse(const std::string &text) {
    Parsed parsed;
    refs_s3nc *config = nullptr;
    refs_error err = REFS_ERROR_INIT;
    if (refs_s3nc_parse(refs_str_view(text.data(), text.size()), &config, &err) != REFS_OK)
        parsed.error = err.message;
    parsed.config.reset(config);
    return parsed;
}

using Settings = std::map<std::string, std::string>;

const char *lookUp(const void *settings, const char *name) {
    const auto &all = *static_cast<const Settings *>(settings);
    const auto found = all.find(name);
    return found != all.end() ? found->second.c_str() : nullptr;
}

/** "ALIAS in FILE", or a message. */
std::string opened(const Settings &settings, const char *file = nullptr) {
    const refs_s3nc_source source = {refs_vfs_posix(), {lookUp, &settings}, file};
    refs_s3nc *config = nullptr;
    refs_error err = REFS_ERROR_INIT;
    if (refs_s3nc_open(&source, &config, &err) != REFS_OK) return err.message;
    const Config kept(config);
    return std::string(config->n_hosts > 0 ? config->hosts[0].alias : "nothing") + " in " +
           (config->file != nullptr ? config->file : "no file");
}

std::string host(const std::string &members) {
    return R"({"version": "9", "hosts": {"s3://a": {)" + members + "}}}";
}

} // namespace

TEST(S3nc, HasHostsByKeyAndByAlias) {
    const Parsed parsed = parse(R"({"version": 9, "hosts": {"s3://key": {
        "alias": "other", "url": "https://store.example:9000/",
        "credentials": {"accessKey": "id", "secretKey": "secret"},
        "backend": "s3aioFileObject", "api": "S3v4"}},
      "backends": {"s3aioFileObject": {"maximum_part_size": "50MB", "maximum_parts": 8,
        "enable_multipart_download": false, "connect_timeout": 2.5, "read_timeout": 30}},
      "cache_location": "/nowhere",
      "resource_allocation": {"memory": "1GB", "filehandles": 20}})");
    ASSERT_EQ(parsed.error, "");
    EXPECT_EQ(parsed.config->warning, nullptr);
    ASSERT_EQ(parsed.config->n_hosts, 2U);
    EXPECT_STREQ(parsed.config->hosts[0].alias, "key");
    EXPECT_STREQ(parsed.config->hosts[1].alias, "other");
    const refs_s3nc_host &one = parsed.config->hosts[1];
    EXPECT_STREQ(one.endpoint, "store.example:9000");
    EXPECT_TRUE(one.is_https);
    EXPECT_STREQ(one.access_key, "id");
    EXPECT_STREQ(one.secret_key, "secret");
    EXPECT_FALSE(one.is_serial);
    EXPECT_FALSE(one.is_multipart);
    EXPECT_EQ(one.part_bytes, 50000000U);
    EXPECT_EQ(one.max_parts, 8U);
    EXPECT_EQ(one.connect_timeout_s, 2.5);
    EXPECT_EQ(one.read_timeout_s, 30);
    EXPECT_EQ(parsed.config->memory_bytes, 1000000000U);
    EXPECT_EQ(parsed.config->max_files, 20U);
}

TEST(S3nc, HasFileHandlesByAllTheirSpellings) {
    for (const char *name : {"filehandles", "file_handles", "disk_handles"}) {
        const Parsed parsed = parse(std::string(R"({"version": "9", "resource_allocation": {")") +
                                    name + R"(": 4}})");
        ASSERT_EQ(parsed.error, "");
        EXPECT_EQ(parsed.config->max_files, 4U) << name;
    }
}

TEST(S3nc, HasSizesWithDecimalUnits) {
    const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {{"1", 1},
                {"1000", 1000},
                {"1kB", 1000},
                {"1KB", 1000},
                {"50MB", 50000000},
                {"2.5 GB", 2500000000U},
                {" 1TB ", 1000000000000U},
                {"1PB", 1000000000000000U},
                {"1EB", 1000000000000000000U},
                {"7B", 7},
                {"1YB", 9000000000000000000U},
                {"", 0},
                {"MB", 0},
                {"0", 0},
                {"-1", 0},
                {"1e3", 0},
                {"1.2.3MB", 0},
                {"1MiB", 0},
                {"1 2", 0},
                {".", 0}};
    for (const auto &row : rows) {
        uint64_t bytes = 0;
        EXPECT_EQ(refs_s3nc_parse_size(refs_str_from(row.text), &bytes), row.bytes != 0)
            << row.text;
        EXPECT_EQ(bytes, row.bytes) << row.text;
    }
}

TEST(S3nc, AsksWithoutSignatureWhereCredentialsAreEmptyOrBlank) {
    for (const char *credentials :
         {"", R"(, "credentials": {})", R"(, "credentials": {"accessKey": "", "secretKey": ""})",
          R"(, "credentials": {"accessKey": "blank", "secretKey": "blank"})"}) {
        const Parsed parsed = parse(host(R"("url": "http://h")" + std::string(credentials)));
        ASSERT_EQ(parsed.error, "") << credentials;
        EXPECT_STREQ(parsed.config->hosts[0].access_key, "") << credentials;
        EXPECT_STREQ(parsed.config->hosts[0].secret_key, "") << credentials;
    }
}

TEST(S3nc, WarnsOfOtherVersions) {
    EXPECT_EQ(parse(R"({"version": "9"})").config->warning, nullptr);
    EXPECT_EQ(parse(R"({"version": 9})").config->warning, nullptr);
    for (const char *text : {R"({"version": "8"})", R"({"version": 10})", "{}"}) {
        const Parsed parsed = parse(text);
        ASSERT_NE(parsed.config->warning, nullptr) << text;
        EXPECT_NE(std::string(parsed.config->warning).find("expected version \"9\""),
                  std::string::npos);
    }
}

TEST(S3nc, IsReadWhereSettingsSay) {
    const TemporaryFolder folder;
    folder.Write("named.json", R"({"hosts": {"s3://named": {"url": "http://h"}}})");
    folder.Write(".s3nc.json", R"({"hosts": {"s3://home": {"url": "http://h"}}})");
    folder.Write("broken.json", "{");
    const std::string named = folder / "named.json", absent = folder / "absent.json";
    EXPECT_EQ(opened({{"S3NC_CONFIG", named}}), "named in " + named);
    EXPECT_EQ(opened({{"S3_NC_CONFIG", named}}), "named in " + named);
    EXPECT_EQ(opened({{"S3NC_CONFIG", named}, {"S3_NC_CONFIG", absent}}), "named in " + named);
    EXPECT_EQ(opened({{"HOME", folder.path}}), "home in " + folder / ".s3nc.json");
    EXPECT_EQ(opened({{"HOME", folder.path}}, named.c_str()), "named in " + named);
    EXPECT_EQ(opened({{"HOME", folder.path}, {"S3NC_CONFIG", "none"}}), "nothing in no file");
    EXPECT_EQ(opened({{"HOME", "/nowhere"}}), "nothing in no file");
    const std::string loop = folder / "loop"; /* nobody can look into it, as into others' homes */
    ASSERT_EQ(symlink("loop", loop.c_str()), 0);
    EXPECT_EQ(opened({{"HOME", loop}}), "nothing in no file");
    EXPECT_NE(opened({{"S3NC_CONFIG", loop}}).find(loop + ": "), std::string::npos);
    EXPECT_EQ(opened({}), "nothing in no file");
    EXPECT_EQ(opened({{"S3NC_CONFIG", absent}}), "nothing in " + absent);
    EXPECT_EQ(opened({}, absent.c_str()), absent + ": no such file");
    EXPECT_EQ(opened({{"S3NC_CONFIG", folder / "broken.json"}}).find(folder / "broken.json" + ": "),
              0U);
}

TEST(S3nc, RefusesWhatMakesNoSense) {
    const struct {
        std::string text;
        const char *error;
    } rows[] = {
        {"", "line 1"},
        {"[]", "expected a JSON object"},
        {R"({"hosts": []})", "file.hosts: expected an object"},
        {R"({"hosts": {"s3://a": 1}})", "hosts: \"a\": expected an object"},
        {R"({"hosts": {"s3://a/b": {"url": "http://h"}}})", "expected s3:// followed by"},
        {R"({"hosts": {"ftp://a": {"url": "http://h"}}})", "expected s3:// followed by"},
        {host(""), "host.url: expected http:// or https://"},
        {host(R"("url": "ftp://h")"), "host.url: expected http:// or https://"},
        {host(R"("url": "http://")"), "host.url: expected http:// or https://"},
        {host(R"("url": "http://h/path")"), "host.url: expected http:// or https://"},
        {host(R"("url": "http://user:secret@h")"), "host.url: expected http:// or https://"},
        {host(R"("url": "http://h", "credentials": {"accessKey": "id"})"),
         "expected both accessKey and secretKey"},
        {host(R"("url": "http://h", "credentials": {"accessKey": 1})"), "expected a string"},
        {R"({"resource_allocation": {"memory": "much"}})",
         "resource_allocation.memory: expected a size"},
        {R"({"resource_allocation": {"filehandles": 0}})", "expected a whole number from 1"},
        {R"({"hosts": {"s3://a": {"url": "http://h", "backend": "b"}},
             "backends": {"b": {"connect_timeout": "long"}}})",
         "backend.connect_timeout: expected a number of seconds"},
        {R"({"hosts": {"s3://a": {"url": "http://h", "backend": "b"}},
             "backends": {"b": {"multipart_download": 1}}})",
         "backend.multipart_download: expected true or false"},
    };
    for (const auto &row : rows) {
        const Parsed parsed = parse(row.text);
        EXPECT_NE(parsed.error.find(row.error), std::string::npos)
            << row.text << ": " << parsed.error;
        EXPECT_EQ(parsed.error.find("secret@"), std::string::npos);
    }
}

TEST(S3nc, TakesWhatABackendSaysWhereHostsNameNone) {
    for (const char *name : {"s3aioFileObject", "only"}) {
        const Parsed parsed =
            parse(std::string(R"({"version": "9", "hosts": {"s3://a": {"url": "http://h"}},
              "backends": {")") +
                  name + R"(": {"connect_timeout": 2, "read_timeout": 3}}})");
        ASSERT_EQ(parsed.error, "");
        EXPECT_EQ(parsed.config->hosts[0].connect_timeout_s, 2);
        EXPECT_EQ(parsed.config->hosts[0].read_timeout_s, 3);
        EXPECT_FALSE(parsed.config->hosts[0].is_serial);
    }
}

TEST(S3nc, ShowsNoSecretWhereTheFileIsBroken) {
    const std::string text =
        host(R"("url": "http://h", "credentials": {"accessKey": "id", "secretKey": "topsecret)");
    const Parsed parsed = parse(text.substr(0, text.size() - 3));
    EXPECT_NE(parsed.error, "");
    EXPECT_EQ(parsed.error.find("topsecret"), std::string::npos);
}
