// stream_test.cc -- references as differences, and names of what they point to.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

extern "C" {
#include "combine_internal.h"
}

namespace {

std::string Url(const char *location, const char *relative_to, const char *rewrite = nullptr) {
    const char *const rewrites[] = {rewrite, nullptr};
    const refs_combine_urls urls = {relative_to, rewrites, nullptr};
    refs_buf url = REFS_BUF_INIT;
    EXPECT_EQ(refs_combine_url(&urls, refs_str_from(location), &url, nullptr), REFS_OK);
    const std::string text(reinterpret_cast<const char *>(url.data), url.size);
    refs_buf_clear(&url);
    return text;
}

TEST(Stream, GivesBackWhatWasPut) {
    std::mt19937_64 chance(1);
    std::vector<refs_stream_ref> refs;
    const std::string bytes = "some bytes";
    uint64_t number = 0;
    for (int i = 0; i < 10000; i++) {
        refs_stream_ref ref = {};
        number += i == 0 ? 0 : 1 + (chance() % 4 == 0 ? chance() % 100000 : 0);
        ref.number = number;
        ref.kind = static_cast<refs_ref_kind>(chance() % 3);
        if (ref.kind == REFS_REF_INLINE) {
            ref.bytes = refs_bytes_view(bytes.data(), chance() % bytes.size());
        } else {
            ref.url = static_cast<uint32_t>(chance() % 3);
            if (ref.kind == REFS_REF_RANGE) {
                ref.offset = chance() >> (1 + chance() % 63);
                ref.length = 1 + (chance() >> (2 + chance() % 62));
            }
        }
        refs.push_back(ref);
    }
    refs_buf packed = REFS_BUF_INIT;
    refs_stream_writer writer = {&packed, 0, 0, 0, false};
    for (const refs_stream_ref &ref : refs)
        ASSERT_EQ(refs_stream_put(&writer, &ref, nullptr), REFS_OK);
    refs_stream_reader reader = {packed.data, packed.data + packed.size, 0, 0, 0, false};
    refs_stream_ref found;
    for (const refs_stream_ref &ref : refs) {
        ASSERT_TRUE(refs_stream_get(&reader, &found));
        ASSERT_EQ(found.number, ref.number);
        ASSERT_EQ(found.kind, ref.kind);
        ASSERT_EQ(found.offset, ref.offset);
        ASSERT_EQ(found.length, ref.length);
        ASSERT_EQ(found.bytes.size, ref.bytes.size);
        if (ref.kind != REFS_REF_INLINE) {
            ASSERT_EQ(found.url, ref.url);
        }
    }
    EXPECT_FALSE(refs_stream_get(&reader, &found));
    refs_buf_clear(&packed);
}

TEST(Stream, TakesFewBytesWhereChunksFollowEachOther) {
    refs_buf packed = REFS_BUF_INIT;
    refs_stream_writer writer = {&packed, 0, 0, 0, false};
    for (uint64_t i = 0; i < 1000; i++) {
        const refs_stream_ref ref = {i, REFS_REF_RANGE, 7, 1000 * i, 1000, {nullptr, 0}};
        ASSERT_EQ(refs_stream_put(&writer, &ref, nullptr), REFS_OK);
    }
    EXPECT_LT(packed.size, 6000u);
    refs_buf_clear(&packed);
}

TEST(Urls, OfLocalFilesAreAbsoluteOrRelative) {
    EXPECT_EQ(Url("/a/b/./c/../d.nc", nullptr), "/a/b/d.nc");
    EXPECT_EQ(Url("/a/b/d.nc", "/a"), "b/d.nc");
    EXPECT_EQ(Url("/a/b/d.nc", "/a/bc"), "../b/d.nc");
    EXPECT_EQ(Url("/a/b/d.nc", "/x/y"), "../../a/b/d.nc");
    EXPECT_EQ(Url("/a/b/d.nc", "/"), "a/b/d.nc");
}

TEST(Urls, OfRemoteFilesAreTheirs) {
    EXPECT_EQ(Url("/vsicurl/https://h/a.nc", "/a"), "https://h/a.nc");
    EXPECT_EQ(Url("/vsis3/bucket/a.nc", nullptr), "s3://bucket/a.nc");
    EXPECT_EQ(Url("https://h/a.nc", nullptr), "https://h/a.nc");
    EXPECT_EQ(Url("/vsimem/a.nc", nullptr), "/vsimem/a.nc");
}

TEST(Urls, AreMappedToWhatTheyCameFrom) {
    for (const char *location :
         {"/vsicurl/https://h/a.nc", "/vsis3/b/k", "/vsis3//k", "/vsiaz/c/k@l", "/vsiaz/c@d/k",
          "/vsiadls/c/k", "/vsihdfs/hdfs://n/a", "/vsihdfs/hdfs:/a", "/vsioss/b/k", "/vsiswift/c/k",
          "/vsizip/{/vsis3/b/a.zip}/m", "/vsizip/{/vsis3/b/a.zip}/m::n",
          "/vsitar/{/vsizip/{/vsigs/b/a.zip}/b.tar}/m", "/vsizip/{/data/a{.zip}/m",
          "/vsizip/{/data/a.zip}/m", "/vsizip/{/data/x::a.zip}/m", "/data/a::b", "/other/b"})
        for (const char *relative_to : {static_cast<const char *>(nullptr), "/data"}) {
            const std::string url = Url(location, relative_to);
            const refs_url_context context = {"/data/set.json", nullptr, false};
            refs_buf mapped = REFS_BUF_INIT;
            EXPECT_EQ(refs_url_map(refs_str_from(url.c_str()), &context, &mapped, nullptr), REFS_OK)
                << url;
            EXPECT_EQ(std::string(reinterpret_cast<const char *>(mapped.data), mapped.size),
                      location)
                << url;
            refs_buf_clear(&mapped);
        }
    EXPECT_EQ(Url("/vsizip/{/data/x/a.zip}/m", "/data"), "zip://m::x/a.zip");
    EXPECT_EQ(Url("/vsihdfs/hdfs://n/a", nullptr), "hdfs://n/a");
}

TEST(Urls, AreRewrittenAtTheirBeginning) {
    EXPECT_EQ(Url("/a/b.nc", nullptr, "/a/=>s3://bucket/"), "s3://bucket/b.nc");
    EXPECT_EQ(Url("/x/a/b.nc", nullptr, "/a/=>s3://bucket/"), "/x/a/b.nc");
}

} // namespace
