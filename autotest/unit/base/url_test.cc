// url_test.cc -- which names are local, remote or link-local, and what documents may name.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <string>

#include "refs/url.h"

namespace {

refs_str View(const std::string &text) {
    return refs_str_view(text.data(), text.size());
}

// What refs_location_confine says, or "".
std::string Confine(const std::string &document, const std::string &location) {
    refs_error err = REFS_ERROR_INIT;
    const refs_status status = refs_location_confine(View(document), View(location), &err);
    EXPECT_TRUE(status == REFS_OK || status == REFS_INVALID);
    return status == REFS_OK ? "" : err.message;
}

TEST(Location, IsRemoteWhereAnotherMachineIsAsked) {
    for (const char *location : {"/vsicurl/https://h/a",
                                 "/vsicurl?max_retry=3&url=https%3A//h/a",
                                 "/vsis3/b/k",
                                 "/vsis3_streaming/b/k",
                                 "/vsicurl_streaming/http://h/a",
                                 "/vsigs/b/k",
                                 "/vsiaz/c/k",
                                 "/vsiadls/c/k",
                                 "/vsioss/b/k",
                                 "/vsiswift/c/k",
                                 "/vsiwebhdfs/http://h/a",
                                 "/vsihdfs/hdfs:/a",
                                 "/vsizip//vsicurl/https://h/a.zip/m",
                                 "/vsizip/vsis3/b/a.zip/m",
                                 "/vsizip/{/vsis3/b/a.zip}/m",
                                 "/vsitar/{/vsizip/{/vsigs/b/a.zip}/b.tar}/m",
                                 "/vsigzip//vsiaz/c/k.gz",
                                 "/vsisubfile/10_20,/vsicurl/https://h/a",
                                 "https://h/a",
                                 "http://h/a",
                                 "HTTP://h/a",
                                 "Ftp://h/a",
                                 "s3://b/k",
                                 "gs://b/k",
                                 "az://c/k",
                                 "abfss://c@a/k"}) {
        EXPECT_TRUE(refs_location_is_remote(View(location))) << location;
        EXPECT_TRUE(refs_location_may_be_remote(View(location))) << location;
    }
}

TEST(Location, IsLocalOtherwise) {
    for (const char *location : {"",
                                 "/",
                                 "a.json",
                                 "/data/a.json",
                                 "vsicurl/a",
                                 "/vsimem/a",
                                 "/vsizip/a.zip/vsicurl/m",
                                 "/vsizip/{/data/vsis3/a.zip}/m",
                                 "/data/vsicurl/https://h/a",
                                 "/vsisubfile/10_20,/data/a",
                                 "file:/a",
                                 "file:///a",
                                 "FILE:///a",
                                 "file://localhost/a",
                                 "local:///a",
                                 "C:/a",
                                 "simplecache::/a",
                                 "filecache::file:///a",
                                 "2020-01-01T00:00.nc",
                                 "a/b://c"}) {
        EXPECT_FALSE(refs_location_is_remote(View(location))) << location;
        EXPECT_FALSE(refs_location_may_be_remote(View(location))) << location;
    }
}

TEST(Location, MayBeRemoteInFileSystemsThatAreNotKnown) {
    for (const char *location : {"/vsianother/a", "/vsicached?chunk_size=1&file=/vsis3/b/k",
                                 "/vsicrypt/key=a,file=/x", "memory://a", "zip://m::https://h/a"}) {
        EXPECT_FALSE(refs_location_is_remote(View(location))) << location;
        EXPECT_TRUE(refs_location_may_be_remote(View(location))) << location;
    }
}

TEST(Location, NamesOfFilesAreTakenInAllSpellings) {
    const struct {
        const char *name, *path;
    } rows[] = {{"file:/a/b", "/a/b"},        {"file:///a/b", "/a/b"}, {"FILE:///a", "/a"},
                {"File://LocalHost/a", "/a"}, {"local:///a", "/a"},    {"file:///C:/a", "C:/a"},
                {"file://C:/a", "C:/a"},      {"file:////a", "//a"},   {"file://a", "a"}};
    for (const auto &row : rows) {
        refs_str name = refs_str_from(row.name);
        EXPECT_TRUE(refs_url_take_file(&name)) << row.name;
        EXPECT_EQ(std::string(name.data, name.size), row.path) << row.name;
    }
    for (const char *other : {"", "file", "file:", "file:a", "files:///a", "/a", "s3://b/k"}) {
        refs_str name = refs_str_from(other);
        EXPECT_FALSE(refs_url_take_file(&name)) << other;
    }
}

TEST(Url, HasAnAuthorityAndAPath) {
    const struct {
        const char *name;
        size_t authority, path;
    } rows[] = {{"s3://bucket/key", 5, 11},
                {"https://host", 8, 12},
                {"http:///host/a", 8, 12},
                {"/vsicurl/https://host/a/b", 17, 21},
                {"/vsicurl?max_retry=3&url=https%3A//host/a", 35, 39},
                {"/vsicurl?url=https%3a%2f%2fhost/a", 27, 31},
                {"/data/a.nc", SIZE_MAX, 0},
                {"12:00/a.nc", SIZE_MAX, 0}};
    for (const auto &row : rows) {
        EXPECT_EQ(refs_url_authority_begin(View(row.name)), row.authority) << row.name;
        EXPECT_EQ(refs_url_path_begin(View(row.name)), row.path) << row.name;
    }
}

// Hosts of 169.254.169.254, fe80::/10 and fd00:ec2::/32 as libcurl and resolvers take them.
const char *const linkLocalHosts[] = {"169.254.169.254",
                                      "169.254.0.1",
                                      "169.254.169.254:80",
                                      "169.254.169.254.",
                                      "user@169.254.169.254",
                                      "user:p@ss@169.254.169.254:8080",
                                      "0xA9FEA9FE",
                                      "0xa9.0xfe.0xa9.0xfe",
                                      "0251.0376.0251.0376",
                                      "2852039166",
                                      "169.254.43518",
                                      "169.16689662",
                                      "169.0xfe.0251.254",
                                      "%31%36%39.254.169.254",
                                      "169%2E254%2E169%2E254",
                                      "\xef\xbc\x91\xef\xbc\x96\xef\xbc\x99.254.169.254",
                                      "169\xe3\x80\x82"
                                      "254.169.254",
                                      "\xe2\x91\xa0\xe2\x91\xa5\xe2\x91\xa8.254.169.254",
                                      "169.25\xc2\xad"
                                      "4.169.254",
                                      "[fe80::1]",
                                      "[FE80::1]:80",
                                      "[febf::1]",
                                      "[fe80::1%25eth0]",
                                      "[::ffff:169.254.169.254]",
                                      "[::ffff:a9fe:a9fe]",
                                      "[0:0:0:0:0:ffff:a9fe:a9fe]",
                                      "[::169.254.169.254]",
                                      "[64:ff9b::a9fe:a9fe]",
                                      "[2002:a9fe:a9fe::1]",
                                      "[fd00:ec2::254]",
                                      "100.100.100.200",
                                      "[::ffff:100.100.100.200]",
                                      "[64:ff9b:1::a9fe:a9fe]",
                                      "[64:ff9b:1:a9fe:a9:fe00::]",
                                      "[::ffff:0:a9fe:a9fe]",
                                      "0xffffffffA9FEA9FE",
                                      "169.254.0xffffa9fe",
                                      "127.0.0.1\\@169.254.169.254",
                                      "x%5C@169.254.169.254",
                                      "x%2F@169.254.169.254",
                                      "x%3F%23@169.254.169.254",
                                      "x%252F@169.254.169.254",
                                      "h\\x",
                                      "h\ti",
                                      "h ",
                                      "h\x7f",
                                      "u\r@h",
                                      "168.63.129.16"};

TEST(Location, IsLinkLocalInAllSpellingsOfAddresses) {
    for (const std::string host : linkLocalHosts)
        for (const char *before :
             {"http://", "https://", "HTTP://", "http:///", "/vsicurl/http://",
              "/vsicurl_streaming/https://", "/vsizip/{/vsicurl/http://", "/vsicurl?url=http://",
              "/vsicurl?max_retry=1&url=http%3A//", "/vsicurl?url=http%3a%2f%2f",
              "/vsicurl?x=://y&url=http://", "/vsicurl_streaming?x=http://a/&url=https%3A%2F%2F"})
            for (const char *after : {"", "/latest", "?x", "#x", "\\x"})
                EXPECT_TRUE(refs_location_is_link_local(View(before + host + after)))
                    << before << host << after;
}

TEST(Location, IsNotLinkLocalElsewhere) {
    for (const char *location : {"http://169.253.1.1/",
                                 "http://169.255.1.1/",
                                 "http://127.0.0.1/",
                                 "http://100.100.100.201/",
                                 "http://168.63.129.17/",
                                 "http://10.0.0.1/",
                                 "http://h/169.254.169.254",
                                 "http://h/?url=http://169.254.169.254/",
                                 "http://169.254.169.254@h/",
                                 "http://h#@169.254.169.254",
                                 "http://169.254.169.254.h/",
                                 "http://x169.254.169.254/",
                                 "http://[::1]/",
                                 "http://[fec0::1]/",
                                 "http://[fd00::1]/",
                                 "http://[64:ff9b:1::7f00:1]/",
                                 "http://u%20v@h/a b\\c",
                                 "http://0x7f000001/",
                                 "http://h/\\@169.254.169.254",
                                 "http://h/",
                                 "http://",
                                 "",
                                 "/data/http://169.254.169.254/",
                                 "169.254.169.254",
                                 "/vsis3/169.254.169.254/k",
                                 "/vsis3/b/http://169.254.169.254/"})
        EXPECT_FALSE(refs_location_is_link_local(View(location))) << location;
}

// What refs_address_is_link_local says of an address with `size` bytes, or all of them.
bool IsLinkLocalAddress(const char *text, size_t size = SIZE_MAX) {
    sockaddr_in ipv4{};
    sockaddr_in6 ipv6{};
    if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1) {
        ipv4.sin_family = AF_INET;
        return refs_address_is_link_local(reinterpret_cast<const sockaddr *>(&ipv4),
                                          std::min(size, sizeof ipv4));
    }
    EXPECT_EQ(inet_pton(AF_INET6, text, &ipv6.sin6_addr), 1) << text;
    ipv6.sin6_family = AF_INET6;
    return refs_address_is_link_local(reinterpret_cast<const sockaddr *>(&ipv6),
                                      std::min(size, sizeof ipv6));
}

TEST(Address, IsLinkLocalAsItsTextIs) {
    for (const char *address :
         {"169.254.0.0", "169.254.169.254", "169.254.255.255", "100.100.100.200", "168.63.129.16",
          "fe80::1", "febf:ffff::1", "fd00:ec2::254", "fd00:ec2:ffff::", "::ffff:169.254.1.1",
          "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "::ffff:0:a9fe:a9fe", "2002:a9fe:a9fe::1",
          "::ffff:100.100.100.200"})
        EXPECT_TRUE(IsLinkLocalAddress(address)) << address;
    for (const char *address :
         {"169.253.255.255", "169.255.0.0", "127.0.0.1", "10.0.0.1", "100.100.100.199", "::1",
          "fec0::1", "fd00:ec1::254", "2001:db8::1", "::ffff:127.0.0.1"})
        EXPECT_FALSE(IsLinkLocalAddress(address)) << address;
    EXPECT_FALSE(IsLinkLocalAddress("169.254.1.1", 4)); // cut off
    EXPECT_FALSE(IsLinkLocalAddress("fe80::1", sizeof(sockaddr_in)));
    const sockaddr other{};
    EXPECT_FALSE(refs_address_is_link_local(&other, sizeof other));
}

TEST(Location, LongHostsAreTakenForLinkLocalOnes) {
    EXPECT_TRUE(
        refs_location_is_link_local(View("http://0x" + std::string(300, '0') + "a9fea9fe/")));
    EXPECT_TRUE(refs_location_is_link_local(
        View("http://" + std::string(10000, 'u') + "@169.254.169.254/")));
    EXPECT_FALSE(refs_location_is_link_local(View("http://" + std::string(10000, 'u') + "@h/")));
}

TEST(Location, OfARemoteDocumentIsConfined) {
    for (const char *document : {"/vsicurl/https://h/s.json", "https://h/s.json", "s3://b/s.json",
                                 "/vsizip/{/vsis3/b/a.zip}/s.json", "/vsianother/s.json"}) {
        EXPECT_EQ(Confine(document, "/vsicurl/https://h/a"), "");
        EXPECT_EQ(Confine(document, "s3://b/k"), "");
        for (const char *local : {"/etc/passwd", "file:/etc/passwd", "a", "", "/vsimem/a",
                                  "/vsizip//etc/a.zip", "/vsisubfile/0_9,/etc/passwd"})
            EXPECT_NE(Confine(document, local).find(REFS_REMOTE_TO_LOCAL), std::string::npos)
                << local;
        EXPECT_NE(Confine(document, "http://169.254.169.254/latest").find("link-local"),
                  std::string::npos);
    }
}

TEST(Location, OfALocalDocumentMayBeAny) {
    for (const char *document : {"", "s.json", "/data/s.json", "file:///s.json", "/vsimem/s.json"})
        for (const char *location : {"/etc/passwd", "http://169.254.169.254/", "s3://b/k"})
            EXPECT_EQ(Confine(document, location), "") << document << ' ' << location;
}

std::string StoreOf(const std::string &name) {
    refs_str object{nullptr, 0};
    const refs_url_scheme *scheme = refs_url_store_of(View(name), &object);
    return scheme == nullptr ? "" : scheme->prefix + std::string(object.data, object.size);
}

TEST(Url, OfAStoreIsAnObjectInOneSpellingOrAnother) {
    for (const char *name : {"s3://b/k", "S3A://b/k", "/vsis3/b/k"})
        EXPECT_EQ(StoreOf(name), "/vsis3/b/k") << name;
    for (const char *name : {"gs://b/k", "gcs://b/k", "/vsigs/b/k"})
        EXPECT_EQ(StoreOf(name), "/vsigs/b/k") << name;
    for (const char *name : {"az://c/k", "abfs://c/k", "/vsiaz/c/k"})
        EXPECT_EQ(StoreOf(name), "/vsiaz/c/k") << name;
    for (const char *name : {"https://h/k", "/vsicurl/https://h/k", "file:///k", "k", "s3:/b", ""})
        EXPECT_EQ(StoreOf(name), "") << name;
}

TEST(Url, OfAWebServerIsOfTwoSchemes) {
    for (const char *name : {"http://h/k", "HTTPS://h/k"})
        EXPECT_TRUE(refs_url_is_http(View(name))) << name;
    for (const char *name : {"ftp://h/k", "s3://h/k", "https:/h", "/vsicurl/http://h", ""})
        EXPECT_FALSE(refs_url_is_http(View(name))) << name;
}

TEST(Url, OfAFileIsItsPath) {
    EXPECT_STREQ(refs_url_file_path("file:///d/a.nc"), "/d/a.nc");
    EXPECT_STREQ(refs_url_file_path("file://localhost/d/a.nc"), "/d/a.nc");
    for (const char *name : {"d/a.nc", "https://h/k", "file:a.nc", ""})
        EXPECT_STREQ(refs_url_file_path(name), name);
}

TEST(Location, OfALinkLocalDocumentMayBeLinkLocal) {
    EXPECT_EQ(Confine("http://169.254.1.1/s.json", "http://169.254.1.1/a.nc"), "");
    EXPECT_NE(Confine("http://169.254.1.1/s.json", "/etc/passwd"), "");
}

} // namespace

TEST(Location, IsOfTheFileBehindItsWrappers) {
    const struct {
        const char *location, *file;
    } rows[] = {
        {"/data/a.zip", "/data/a.zip"},
        {"vsizip/a.zip", "vsizip/a.zip"}, // a folder of that name
        {"/vsizip//data/a.zip/b", "/data/a.zip/b"},
        {"/vsizip/a.zip/b", "a.zip/b"},
        {"/vsizip/{/data/a.zip}/b", "/data/a.zip"},
        {"/vsizip/{/vsitar/{/data/a.tar}/b.zip}/c", "/data/a.tar"},
        {"/vsigzip//vsistdin/", "/vsistdin/"},
        {"/vsigzip/vsistdin/", "vsistdin/"},
        {"/vsisubfile/10_20,/data/a", "/data/a"},
        {"/vsisubfile/10_20", "/vsisubfile/10_20"},
        {"/vsicached?file=/data/a", "/data/a"},
        {"/vsisparse/a.xml", "a.xml"},
        {"/vsicrypt//data/a", "/data/a"},
        {"/vsimem/a", "/vsimem/a"},
    };
    for (const auto &row : rows) {
        const refs_str file = refs_location_file(refs_str_from(row.location));
        EXPECT_EQ(std::string(file.data, file.size), row.file) << row.location;
    }
}

/* They may name files of this machine. */
TEST(Location, OfAFileThatNamesOthersIsNotRemote) {
    for (const char *location :
         {"/vsisparse//vsicurl/http://host/a.xml", "/vsicrypt//vsicurl/http://host/a"})
        EXPECT_FALSE(refs_location_is_remote(refs_str_from(location))) << location;
}

TEST(Url, OfTheWebIsRecognisedInAnyCase) {
    for (const char *url : {"http://host/a", "https://host/a", "HTTP://host/a", "hTTps://host/a"}) {
        refs_str rest = refs_str_from(url);
        EXPECT_TRUE(refs_url_is_http(rest)) << url;
        EXPECT_TRUE(refs_url_take_http(&rest)) << url;
        EXPECT_TRUE(refs_str_is(rest, "host/a")) << url;
    }
    for (const char *name :
         {"", "http:/host", "https:", "ftp://host/a", "s3://http://", "a/http://b"}) {
        refs_str rest = refs_str_from(name);
        EXPECT_FALSE(refs_url_take_http(&rest)) << name;
        EXPECT_TRUE(refs_str_is(rest, name)) << name;
    }
}
