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
           {base, "file:/abs/a.nc", "/abs/a.nc"},
           {base, "FILE:/abs/a.nc", "/abs/a.nc"},
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
           {"/vsicurl/https:///host/x/refs.json", "../../../a.nc", "/vsicurl/https:///host/a.nc"},
           {"/vsicurl?url=https%3A%2F%2Fhost/x/refs.json", "../../../a.nc",
            "/vsicurl?url=https%3A%2F%2Fhost/a.nc"},
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
    Check({{base, "memory://x",
            "not supported: unsupported scheme \"memory\": expected one of " + known},
           {base, "x-y+z.1://x",
            "not supported: unsupported scheme \"x-y+z.1\": expected one of " + known},
           {base, "zip://m::memory://x",
            "not supported: unsupported scheme \"memory\": expected one of " + known},
           {base, "", "invalid: the URL is empty"},
           {base, "file://", "invalid: the URL is empty"},
           {"refs.json", ".", "invalid: URL \".\" does not name a file"},
           {"refs.json", "./a/..", "invalid: URL \"./a/..\" does not name a file"},
           {base, "zip://m.nc", "invalid: \"m.nc\" is a member of an archive without a name"},
           {base, "zip://a::zip://b::zip://c::zip://d::zip://e::f.zip",
            "over a limit: archives are nested deeper than the limit of 4"}});
}

TEST(RefsetUrl, HoldsNoNul) {
    EXPECT_EQ(Map("/data/refs.json", std::string("s3://b/k\0x", 10)),
              "invalid: URL \"s3://b/k\" contains a NUL byte");
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

namespace {

// Places that a set may have come from another machine from.
const char *const untrusted[] = {"/vsicurl/https://h/d/refs.json",
                                 "/vsicurl?max_retry=3&url=https%3A//h/d/refs.json",
                                 "/vsicurl?url=https%3A%2F%2Fh%2Frefs.json",
                                 "/vsicurl_streaming/http://h/refs.json",
                                 "/vsis3/b/refs.json",
                                 "/vsigs/b/d/refs.json",
                                 "/vsiaz/c/refs.json",
                                 "/vsiwebhdfs/http://h/refs.json",
                                 "/vsizip/{/vsicurl/https://h/a.zip}/refs.json",
                                 "/vsizip/vsicurl/https://h/a.zip/refs.json",
                                 "/vsigzip//vsis3/b/refs.json.gz",
                                 "/vsitar/{/vsizip/{/vsis3/b/a.zip}/b.tar}/refs.json",
                                 "/vsisubfile/10_20,/vsicurl/https://h/refs.bin",
                                 "/vsicached?chunk_size=1&file=/vsicurl/https://h/refs.json",
                                 "/vsizip/{/vsicached?file=/vsis3/b/a.zip}/refs.json",
                                 "/vsicrypt/key=a,file=/vsicurl/https://h/refs.json",
                                 "/vsianother/refs.json",
                                 "https://h/refs.json",
                                 "http://h/refs.json"};

// What a set may say to get at a file of the machine that reads it.
const char *const hostile[] = {
    // plain paths
    "/etc/passwd", "//etc/passwd", "/./etc/passwd", "/../etc/passwd", "/proc/self/environ",
    "/dev/stdin", "C:/Users/me/x", "C:\\Users\\me", "c:/x", "/etc/passwd?x=1", "/etc/passwd#x",
    // file: URLs
    "file:///etc/passwd", "file://localhost/etc/passwd", "FILE:///etc/passwd",
    "File://LOCALHOST/etc/passwd", "fIlE:////etc/passwd", "local:///etc/passwd",
    "LOCAL:///etc/passwd", "file:///C:/x", "file://C:/x", "file:///./etc/passwd",
    "file:/etc/passwd", "FILE:/etc/passwd", "local:/etc/passwd", "file:/C:/x",
    "simplecache::file:/etc/passwd", "zip://m::file:/etc/x.zip", "SIMPLECACHE::/etc/passwd",
    "Simplecache::file:///etc/passwd",
    // addresses of the machine's own network
    "http://169.254.169.254/latest", "https://0xA9FEA9FE/", "http://2852039166/",
    "http://[::ffff:169.254.169.254]/", "HTTP://[fe80::1%25eth0]/", "zip://m::http://169.254.1.1/a",
    "simplecache::http://169.254.169.254/",
    // names of GDAL
    "/vsimem/x", "/vsistdin/", "/vsicurl/file:///etc/passwd", "/vsicurl?url=file%3A///etc/passwd",
    "/vsicurl?url=file:///etc/passwd", "/vsizip//etc/x.zip/m", "/vsizip/{/etc/x.zip}/m",
    "/vsigzip//etc/x.gz", "/vsitar/{/etc/x.tar}/m", "/vsisubfile/0_9,/etc/passwd", "/vsisparse/x",
    "/vsis3/private/k", "/VSIMEM/x", "/VsiCurl/https://h/x", "//vsicurl/https://h/x",
    "file:///vsimem/x", "file:///vsicurl?url=file:///etc/passwd", "local:///vsis3/private/k",
    "/vsihdfs/file:/etc/passwd", "/vsicurl//vsimem/x",
    // archives and caches around them
    "zip://m::/etc/x.zip", "zip://m::file:///etc/x.zip", "tar://m::FILE:///etc/x.tar",
    "zip://m::/vsimem/x.zip", "zip://m::zip://n::/etc/x.zip", "zip://m::tar://n::C:/x.tar",
    "zip://../../etc/passwd::/etc/x.zip", "ZIP://m::/etc/x.zip", "zip://}::/etc/x.zip",
    "zip://m::/vsicurl/https://h/x.zip", "simplecache::/etc/passwd",
    "simplecache::file:///etc/passwd", "filecache::blockcache::/etc/passwd",
    "zip://m::simplecache::/etc/x.zip", "simplecache::zip://m::filecache::file:///etc/x.zip",
    "tar://vsicurl/x::/etc/vsis3/x.tar"};

// What looks hostile and stays on the machine of the set, or is refused.
const char *const lookalikes[] = {"../../../../../../etc/passwd",
                                  "./../etc/passwd",
                                  "a/../../../../../etc/passwd",
                                  "..",
                                  "../..",
                                  ".//../..//etc/passwd",
                                  "file:etc/passwd",
                                  "file%3A///etc/passwd",
                                  "%2Fetc%2Fpasswd",
                                  "%2e%2e/%2e%2e/etc/passwd",
                                  "..%2f..%2fetc%2fpasswd",
                                  "vsimem/x",
                                  "vsicurl/file:///etc/passwd",
                                  "\\etc\\passwd",
                                  "..\\..\\etc\\passwd",
                                  "~/x",
                                  "~root/x",
                                  " /etc/passwd",
                                  "\t/etc/passwd",
                                  "x&url=file:///etc/passwd",
                                  "x%26url=file:///etc/passwd",
                                  "x?url=file:///etc/passwd",
                                  "}/../../etc/passwd",
                                  "{/etc/x.zip}/m",
                                  "link-to-etc/passwd",
                                  "s3://../../etc/passwd",
                                  "s3:///etc/passwd",
                                  "http:///etc/passwd",
                                  "https://h/../../etc/passwd",
                                  "http://h/%2e%2e/etc/passwd",
                                  "zip://}/../../etc/passwd::https://h/x.zip",
                                  "zip://m::https://h/}/../x.zip",
                                  "zip://m::s3://}/x.zip",
                                  "data:,x",
                                  "http://h/x,/vsimem/x",
                                  "hdfs://h/../etc/passwd"};

bool IsRefused(const std::string &mapped) {
    return mapped.find("invalid: a remote set may not ") == 0;
}

} // namespace

TEST(RefsetUrl, OfARemoteSetNeverNamesALocalFile) {
    for (const char *base : untrusted) {
        for (const char *url : hostile) {
            EXPECT_TRUE(IsRefused(Map(base, url)))
                << url << " in " << base << ": " << Map(base, url);
            EXPECT_FALSE(IsRefused(Map(base, url, {nullptr}, true))) << url << " in " << base;
            const std::string rewrite = std::string("s3://b/k=>") + url;
            EXPECT_TRUE(IsRefused(Map(base, "s3://b/k", {rewrite.c_str(), nullptr})))
                << rewrite << " in " << base;
        }
        for (const char *url : lookalikes) {
            const std::string mapped = Map(base, url);
            EXPECT_TRUE(mapped[0] != '/' || refs_location_is_remote(View(mapped)))
                << url << " in " << base << ": " << mapped;
        }
    }
}

TEST(RefsetUrl, OfALocalSetMayNameWhatItLikes) {
    for (const char *base : {"/data/refs.json", "refs.json", "/vsimem/refs.json",
                             "/vsizip/{/data/a.zip}/refs.json", "/vsigzip//data/refs.json.gz",
                             "/vsistdin/", "/vsisubfile/1_2,/data/x", "/data/vsis3/refs.json"})
        for (const char *url : {"/etc/passwd", "file:///etc/passwd", "/vsimem/x"})
            EXPECT_FALSE(IsRefused(Map(base, url))) << url << " in " << base;
}

TEST(RefsetUrl, IsEncodedBehindOptionsOfVsicurl) {
    Check(
        {{"/vsicurl?max_retry=3&url=https%3A//h/d/refs.json", "a b&c=%+\xc3\xa9/x.nc",
          "/vsicurl?max_retry=3&url=https%3A//h/d/a%20b%26c%3D%25%2B%C3%A9/x.nc"},
         {"/vsicurl?url=https%3A//h/d/refs.json", "../x.nc", "/vsicurl?url=https%3A//h/x.nc"},
         {"/vsicurl?url=https%3A//h/d/refs.json", "../../../x.nc", "/vsicurl?url=https%3A//h/x.nc"},
         {"/vsicurl?url=https://h/d/refs.json&max_retry=3", "x.nc",
          "/vsicurl?url=https://h/d/x.nc"}});
}

TEST(RefsetUrl, OfGdalIsRefusedInARemoteSet) {
    const std::string base = "/vsicurl/https://h/refs.json";
    for (const char *url : {"/vsis3/private/x", "/vsimem/x", "file:///vsis3/private/x"}) {
        EXPECT_EQ(Map(base, url).substr(0, 49),
                  "invalid: a remote set may not use GDAL's name \"/v");
        EXPECT_EQ(Map(base, url, {nullptr}, true)[0], '/');
    }
}

TEST(RefsetUrl, OfASetReadAsUnpackedIsRelativeToTheFolderOfItsFile) {
    EXPECT_EQ(Map("/vsigzip//d/r.json.gz", "a.nc"), "/d/a.nc");
    EXPECT_EQ(Map("/vsigzip/d/r.json.gz", "a.nc"), "d/a.nc");
    EXPECT_EQ(Map("/vsigzip/vsicurl/http://h/r.json.gz", "a.nc"), "/vsicurl/http://h/a.nc");
    EXPECT_EQ(Map("/vsigzip//vsimem/r.json.gz", "a.nc"), "/vsimem/a.nc");
}

TEST(RefsetUrl, IsTheNameOfATargetUnlessItIsRelative) {
    const char *const rows[][3] = {{"a.nc", "/d/a.nc", "/d/a.nc"},
                                   {"../a.nc", "/vsicurl/http://h/a.nc", "/vsicurl/http://h/a.nc"},
                                   {"/d/a.nc", "/d/a.nc", "/d/a.nc"},
                                   {"file:///d/a.nc", "/d/a.nc", "file:///d/a.nc"},
                                   {"s3://b/a.nc", "/vsis3/b/a.nc", "s3://b/a.nc"},
                                   {"zip://a::b.zip", "/vsizip/{/d/b.zip}/a", "zip://a::b.zip"}};
    for (const auto &[url, location, name] : rows) {
        refs_ref ref = {};
        ref.url = url;
        ref.location = location;
        EXPECT_STREQ(refs_ref_name(&ref), name);
    }
    const refs_ref none = {};
    EXPECT_EQ(refs_ref_name(&none), nullptr);
}

TEST(RefsetUrl, WithoutABucketIsRefused) {
    for (const char *url : {"s3://", "s3:///a.json", "gs:///a.json", "abfs:///a"})
        EXPECT_NE(Map("/d/r.json", url).find("expected the name of a bucket or container"),
                  std::string::npos)
            << url;
}

TEST(RefsetUrl, IsRewrittenFirst) {
    const std::vector<const char *> rewrites = {"s3://old/=>s3://new/x/", "/home/me/=>",
                                                "=>gs://b/", nullptr};
    EXPECT_EQ(Map("/d/r.json", "s3://old/a.nc", rewrites), "/vsis3/new/x/a.nc");
    EXPECT_EQ(Map("/d/r.json", "/home/me/a.nc", rewrites), "/d/a.nc");
    EXPECT_EQ(Map("/d/r.json", "era5/a.nc", rewrites), "/vsigs/b/era5/a.nc");
    EXPECT_EQ(Map("/d/r.json", "http://h/a.nc", rewrites), "/vsicurl/http://h/a.nc")
        << "an empty beginning is that of names without protocol";
    EXPECT_EQ(Map("/d/r.json", "/vsizip/a.zip/b", rewrites), "/vsizip/a.zip/b");
    EXPECT_EQ(Map("/d/r.json", "b/k.nc", {"=>s3://", nullptr}), "/vsis3/b/k.nc");
    EXPECT_EQ(Map("/d/r.json", "a", {"b", nullptr}), "invalid: rewrite \"b\": expected OLD=>NEW");
    EXPECT_EQ(Map("/vsis3/b/r.json", "s3://x/a", {"s3://x=>/etc", nullptr}).substr(0, 40),
              "invalid: a remote set may not name the l")
        << "what it is rewritten to is checked";
}

TEST(RefsetUrl, BeginningsOfPathsAreNoneOfUrls) {
    const struct {
        const char *name, *old, *rest;
    } rows[] = {
        {"file:///a/b", "/a/", "b"},
        {"/a/b", "file:///a/", "b"},
        {"file:///a/b", "file://", "/a/b"},
        {"/a/b", "file://", "/a/b"},
        {"/a/b", "/", "a/b"},
        {"a/b", "a/", "b"},
        {"a/b", "file://", nullptr},
        {"https://h/a", "file://", nullptr},
        {"s3://b/a", "file://", nullptr},
        {"s3://b/a", "/", nullptr},
        {"/vsis3/b/a", "/", nullptr},
        {"/vsis3/b/a", "file:///", nullptr},
        {"/vsis3/b/a", "/vsis3/b/", "a"},
        {"s3://b/a", "s3://b/", "a"},
        {"https://h/a", "https://", "h/a"},
        {"/a/b", "", nullptr},
    };
    for (const auto &row : rows) {
        refs_str name = refs_str_from(row.name);
        const bool begins = refs_url_take_beginning(&name, refs_str_from(row.old));
        EXPECT_EQ(begins, row.rest != nullptr) << row.name << " " << row.old;
        EXPECT_EQ(std::string(name.data, name.size), begins ? row.rest : row.name) << row.old;
    }
}

TEST(RefsetUrl, IsShownAsUsersWriteIt) {
    const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"a/b: HTTP 404 (x)", "a/b: HTTP 404 (x)"},
        {"/vsis3/bucket/key", "s3://bucket/key"},
        {"/vsis3/alias~1/bucket/k~2: gone", "s3://alias/bucket/k~2: gone"},
        {"set: /t chunk t/0: /vsigs/b/k [0+4]: no", "set: /t chunk t/0: gs://b/k [0+4]: no"},
        {"/vsiaz/c/k and /vsioss/b/k", "az://c/k and oss://b/k"},
        {"/vsicurl/https://h/a: HTTP 404", "https://h/a: HTTP 404"},
        {"\"/vsicurl/http://h/a\" and /vsicurl/ftp://h/b", "\"http://h/a\" and ftp://h/b"},
        {"/vsicurl/x, /vsizip/a.zip/b, //", "/vsicurl/x, /vsizip/a.zip/b, //"},
    };
    for (const auto &row : rows) {
        refs_buf shown = REFS_BUF_INIT;
        ASSERT_EQ(refs_url_append_shown(View(row.text), &shown, nullptr), REFS_OK);
        EXPECT_EQ(std::string(reinterpret_cast<char *>(shown.data), shown.size), row.shown);
        refs_buf_clear(&shown);
    }
}

TEST(RefsetUrl, IsAppended) {
    const refs_url_context context = {"d/refs.json", nullptr, false};
    refs_buf location = REFS_BUF_INIT;
    ASSERT_EQ(refs_buf_append(&location, "before/", 7, nullptr), REFS_OK);
    ASSERT_EQ(refs_url_map(View("../../a"), &context, &location, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(location.data), location.size), "before/../a");
    refs_buf_clear(&location);
}
