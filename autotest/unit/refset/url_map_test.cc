#include <gtest/gtest.h>

#include "set_under_test.h"

namespace {

struct Mapping {
    std::string base, url, location;
};

// The location, or the kind of failure and its reason.
std::string Map(const std::string &base, const std::string &url,
                const std::vector<const char *> &rewrites = {nullptr},
                bool remote_to_local = false) {
    const refs_url_context context = {base.c_str(), rewrites.data(), remote_to_local};
    refs_buf location = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    const refs_status status = refs_url_map(View(url), &context, &location, &err);
    std::string text(reinterpret_cast<const char *>(location.data), location.size);
    if (status != REFS_OK) {
        EXPECT_EQ(location.size, 0u) << "nothing is appended on failure";
        text = std::string(refs_status_text(status)) + ": " + err.message;
    }
    refs_buf_clear(&location);
    return text;
}

void Check(const std::vector<Mapping> &mappings) {
    for (const Mapping &m : mappings)
        EXPECT_EQ(Map(m.base, m.url), m.location) << m.url << " in " << m.base;
}

} // namespace

TEST(RefsetUrl, IsMappedByItsScheme) {
    const std::string base = "/data/refs.json";
    Check({{base, "http://h/a.nc", "/vsicurl/http://h/a.nc"},
           {base, "https://h:8080/a.nc?x=1&y=/z", "/vsicurl/https://h:8080/a.nc?x=1&y=/z"},
           {base, "HTTPS://h/a.nc", "/vsicurl/HTTPS://h/a.nc"},
           {base, "ftp://h/a.nc", "/vsicurl/ftp://h/a.nc"},
           {base, "s3://bucket/a/b.nc", "/vsis3/bucket/a/b.nc"},
           {base, "s3a://bucket/a/b.nc", "/vsis3/bucket/a/b.nc"},
           {base, "s3://bucket/a::b c%20d.nc", "/vsis3/bucket/a::b c%20d.nc"},
           {base, "gs://bucket/a", "/vsigs/bucket/a"},
           {base, "gcs://bucket/a", "/vsigs/bucket/a"},
           {base, "az://container/a", "/vsiaz/container/a"},
           {base, "abfs://container/a/b", "/vsiaz/container/a/b"},
           {base, "abfs://c@account.dfs.core.windows.net/a/b@c", "/vsiaz/c/a/b@c"},
           {base, "abfss://c@account.dfs.core.windows.net/a", "/vsiaz/c/a"},
           {base, "adl://c@account.dfs.core.windows.net/a", "/vsiaz/c/a"},
           {base, "oss://bucket/a", "/vsioss/bucket/a"},
           {base, "swift://container/a", "/vsiswift/container/a"},
           {base, "hdfs://namenode/a", "/vsihdfs/hdfs://namenode/a"}});
}

TEST(RefsetUrl, OfAFileIsItsPath) {
    const std::string base = "/data/refs.json";
    Check({{base, "file:///abs/a.nc", "/abs/a.nc"},
           {base, "file://localhost/abs/a.nc", "/abs/a.nc"},
           {base, "local:///abs/a%20b.nc", "/abs/a%20b.nc"},
           {base, "file://rel/a.nc", "/data/rel/a.nc"},
           {base, "file:///C:/a.nc", "C:/a.nc"},
           {base, "/abs/a.nc", "/abs/a.nc"},
           {base, "C:/a.nc", "C:/a.nc"},
           {base, "C:\\a.nc", "C:\\a.nc"},
           {base, "/vsizip/a.zip/b.nc", "/vsizip/a.zip/b.nc"},
           {base, "/vsis3/bucket/a.nc", "/vsis3/bucket/a.nc"}});
}

TEST(RefsetUrl, WithoutSchemeIsRelativeToTheFolderOfTheSet) {
    Check({{"/data/refs.json", "a.nc", "/data/a.nc"},
           {"/data/refs.json", "sub/a.nc", "/data/sub/a.nc"},
           {"/data/refs.json", "./sub/./a.nc", "/data/sub/a.nc"},
           {"/data/x/refs.json", "../a.nc", "/data/a.nc"},
           {"/data/refs.json", "../../../a.nc", "/a.nc"},
           {"/data/refs.json", "sub/../a.nc", "/data/a.nc"},
           {"/data/refs.json", "..a/b..c", "/data/..a/b..c"},
           {"/refs.json", "a.nc", "/a.nc"},
           {"refs.json", "a.nc", "a.nc"},
           {"refs.json", "../a.nc", "../a.nc"},
           {"refs.json", "../../a.nc", "../../a.nc"},
           {"d/e/refs.json", "../../../a.nc", "../a.nc"},
           {"../refs.json", "../a.nc", "../../a.nc"},
           {"", "a.nc", "a.nc"},
           {"/data/refs.parq", "a.nc", "/data/a.nc"},
           {"/data/refs.parq/", "a.nc", "/data/a.nc"},
           {"/data/refs.json", "a:b.nc", "/data/a:b.nc"},
           {"/data/refs.json", "a b://c", "/data/a b://c"},
           {"/data/refs.json", "3a://c", "/data/3a://c"},
           {"/data/refs.json", "://c", "/data/://c"},
           {"/data/refs.json", "2020-01-01T00:00/a.nc", "/data/2020-01-01T00:00/a.nc"}});
}

TEST(RefsetUrl, StaysOnTheMachineOfTheSet) {
    const std::string http = "/vsicurl/https://host/x/refs.json";
    Check({{http, "a.nc", "/vsicurl/https://host/x/a.nc"},
           {http, "../a.nc", "/vsicurl/https://host/a.nc"},
           {http, "../../../../etc/passwd", "/vsicurl/https://host/etc/passwd"},
           {"/vsicurl/https://host/refs.json?sig=a/b", "a.nc", "/vsicurl/https://host/a.nc"},
           {"/vsicurl/https://host", "a.nc", "/vsicurl/https://a.nc"},
           {"/vsis3/bucket/x/refs.json", "../../../a.nc", "/vsis3/bucket/a.nc"},
           {"/vsizip/{/vsicurl/https://host/a.zip}/x/refs.json", "../../../a.nc",
            "/vsizip/{/vsicurl/https://host/a.zip}/a.nc"},
           {"/vsizip/{/data/a.zip}/refs.json", "../b.nc", "/vsizip/{/data/a.zip}/b.nc"}});
}

TEST(RefsetUrl, InAnArchiveNamesBoth) {
    const std::string base = "/data/refs.json";
    Check({{base, "zip://a/m.nc::s3://b/x.zip", "/vsizip/{/vsis3/b/x.zip}/a/m.nc"},
           {base, "zip://m.nc::x.zip", "/vsizip/{/data/x.zip}/m.nc"},
           {base, "tar://m.nc::https://h/x.tar", "/vsitar/{/vsicurl/https://h/x.tar}/m.nc"},
           {base, "zip://m::tar://x.zip::/y.tar", "/vsizip/{/vsitar/{/y.tar}/x.zip}/m"},
           {base, "simplecache::s3://b/k", "/vsis3/b/k"},
           {base, "blockcache::filecache::zip://m::s3://b/x.zip", "/vsizip/{/vsis3/b/x.zip}/m"},
           {base, "zip://m::simplecache::s3://b/x.zip", "/vsizip/{/vsis3/b/x.zip}/m"}});
}

TEST(RefsetUrl, IsRefusedWhereItMeansNothing) {
    const std::string base = "/data/refs.json";
    const std::string known =
        "http, https, ftp, s3, s3a, gs, gcs, az, abfs, abfss, adl, oss, swift, hdfs, file, local, "
        "zip, tar";
    Check({{base, "memory://x", "not supported: scheme \"memory\" is none of " + known},
           {base, "x-y+z.1://x", "not supported: scheme \"x-y+z.1\" is none of " + known},
           {base, "zip://m::memory://x", "not supported: scheme \"memory\" is none of " + known},
           {base, "", "invalid: URL is empty"},
           {base, "file://", "invalid: URL is empty"},
           {base, "zip://m.nc", "invalid: \"m.nc\" lies in an archive that is not named"},
           {base, "zip://a::zip://b::zip://c::zip://d::zip://e::f.zip",
            "over a limit: more than 4 archives in archives"}});
}

TEST(RefsetUrl, HoldsNoNul) {
    EXPECT_EQ(Map("/data/refs.json", std::string("s3://b/k\0x", 10)),
              "invalid: URL \"s3://b/k\" holds a NUL");
}

TEST(RefsetUrl, OfALocalFileIsRefusedInARemoteSet) {
    for (const char *url : {"/etc/passwd", "file:///etc/passwd", "file://localhost/etc/passwd",
                            "local:///etc/passwd", "zip://m::file:///x.zip", "C:/x",
                            "simplecache::/etc/passwd", "tar://vsicurl/x::/etc/vsis3/x.tar"}) {
        for (const char *base : {"/vsicurl/https://h/refs.json", "/vsis3/b/refs.json",
                                 "/vsizip/{/vsigs/b/x.zip}/refs.json", "https://h/refs.json"}) {
            EXPECT_NE(Map(base, url).find("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE"),
                      std::string::npos)
                << url << " in " << base;
            EXPECT_EQ(Map(base, url, {nullptr}, true).find("invalid"), std::string::npos) << url;
        }
    }
}

TEST(RefsetUrl, OfGdalIsRefusedInARemoteSet) {
    const std::string base = "/vsicurl/https://h/refs.json";
    for (const char *url : {"/vsis3/private/x", "/vsimem/x", "file:///vsis3/private/x"}) {
        EXPECT_EQ(Map(base, url).substr(0, 49),
                  "invalid: a remote set may not use GDAL's name \"/v");
        EXPECT_EQ(Map(base, url, {nullptr}, true)[0], '/');
    }
}

TEST(RefsetUrl, IsRewrittenFirst) {
    const std::vector<const char *> rewrites = {"s3://old/=>s3://new/x/", "/home/me/=>",
                                                "=>gs://b/", nullptr};
    EXPECT_EQ(Map("/d/r.json", "s3://old/a.nc", rewrites), "/vsis3/new/x/a.nc");
    EXPECT_EQ(Map("/d/r.json", "/home/me/a.nc", rewrites), "/d/a.nc");
    EXPECT_EQ(Map("/d/r.json", "era5/a.nc", rewrites), "/vsigs/b/era5/a.nc");
    EXPECT_EQ(Map("/d/r.json", "a", {"b", nullptr}), "invalid: rewrite \"b\" has no \"=>\"");
    EXPECT_EQ(Map("/vsis3/b/r.json", "s3://x/a", {"s3://x=>/etc", nullptr}).substr(0, 40),
              "invalid: a remote set may not name the l")
        << "what it is rewritten to is checked";
}

TEST(RefsetUrl, IsAppended) {
    const refs_url_context context = {"d/refs.json", nullptr, false};
    refs_buf location = REFS_BUF_INIT;
    ASSERT_EQ(refs_buf_append(&location, "before/", 7, nullptr), REFS_OK);
    ASSERT_EQ(refs_url_map(View("../../a"), &context, &location, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(location.data), location.size), "before/../a");
    refs_buf_clear(&location);
}
