// stream_test.cc -- references as differences, and names of what they point to.
#include <gtest/gtest.h>

#include <cstdlib>
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

/* References of all kinds, with numbers that ascend. */
std::vector<refs_stream_ref> SomeRefs(unsigned seed, int n) {
    static const std::string bytes = "some bytes";
    std::mt19937_64 chance(seed);
    std::vector<refs_stream_ref> refs;
    uint64_t number = 0;
    for (int i = 0; i < n; i++) {
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
    return refs;
}

void Put(refs_streams *streams, const std::vector<refs_stream_ref> &refs) {
    refs_stream_writer writer = {streams, 0, 0, 0, false};
    for (const refs_stream_ref &ref : refs)
        ASSERT_EQ(refs_stream_put(&writer, &ref, nullptr), REFS_OK);
}

void ExpectNext(refs_stream_reader *reader, const refs_stream_ref &ref) {
    refs_stream_ref found;
    ASSERT_TRUE(refs_stream_get(reader, &found));
    ASSERT_EQ(found.number, ref.number);
    ASSERT_EQ(found.kind, ref.kind);
    ASSERT_EQ(found.offset, ref.offset);
    ASSERT_EQ(found.length, ref.length);
    ASSERT_EQ(std::string(reinterpret_cast<const char *>(found.bytes.data), found.bytes.size),
              std::string(reinterpret_cast<const char *>(ref.bytes.data), ref.bytes.size));
    if (ref.kind != REFS_REF_INLINE) {
        ASSERT_EQ(found.url, ref.url);
    }
}

TEST(Stream, GivesBackWhatWasPut) {
    const std::vector<refs_stream_ref> refs = SomeRefs(1, 10000);
    refs_streams streams = {};
    Put(&streams, refs);
    refs_stream_reader reader = refs_streams_read(&streams, 0, refs_streams_size(&streams));
    for (const refs_stream_ref &ref : refs) ExpectNext(&reader, ref);
    refs_stream_ref found;
    EXPECT_FALSE(refs_stream_get(&reader, &found));
    EXPECT_EQ(refs_stream_close(&reader, REFS_OK, nullptr), REFS_OK);
    refs_streams_clear(&streams);
}

TEST(Stream, TakesFewBytesWhereChunksFollowEachOther) {
    refs_streams streams = {};
    refs_stream_writer writer = {&streams, 0, 0, 0, false};
    for (uint64_t i = 0; i < 1000; i++) {
        const refs_stream_ref ref = {i, REFS_REF_RANGE, 7, 1000 * i, 1000, {nullptr, 0}};
        ASSERT_EQ(refs_stream_put(&writer, &ref, nullptr), REFS_OK);
    }
    EXPECT_LT(refs_streams_size(&streams), 6000u);
    refs_streams_clear(&streams);
}

/* Parts of two arrays each, which take some 9 MiB together, read all at once. */
void ExpectManyPartsAreGivenBack(bool are_in_file) {
    const int n_parts = 20, n_refs = 30000;
    refs_spill *spill = nullptr;
    ASSERT_EQ(refs_spill_open(&spill, nullptr), REFS_OK);
    std::vector<refs_streams> parts(n_parts);
    std::vector<uint64_t> begins;
    std::vector<refs_stream_reader> readers;
    std::vector<std::vector<refs_stream_ref>> refs;
    uint64_t n_held = 0, n_all = 0;
    for (refs_streams &part : parts) {
        part.spill = spill;
        for (int array = 0; array < 2; array++) {
            begins.push_back(refs_streams_size(&part));
            refs.push_back(SomeRefs(static_cast<unsigned>(begins.size()), n_refs));
            Put(&part, refs.back());
        }
        begins.push_back(refs_streams_size(&part));
        ASSERT_EQ(refs_streams_end(&part, nullptr), REFS_OK);
        n_held += part.held.capacity;
        n_all += refs_streams_size(&part);
    }
    EXPECT_GT(n_all, 9u << 20);
    EXPECT_EQ(n_held < 6u << 20, are_in_file);
    for (size_t i = 0; i < refs.size(); i++) {
        const uint64_t *begin = &begins[i / 2 * 3 + i % 2];
        readers.push_back(refs_streams_read(&parts[i / 2], begin[0], begin[1] - begin[0]));
    }
    for (int i = 0; i < n_refs; i++)
        for (size_t k = 0; k < readers.size(); k++) ExpectNext(&readers[k], refs[k][i]);
    for (refs_stream_reader &reader : readers) {
        refs_stream_ref found;
        EXPECT_FALSE(refs_stream_get(&reader, &found));
        EXPECT_EQ(refs_stream_close(&reader, REFS_OK, nullptr), REFS_OK);
    }
    for (refs_streams &part : parts) refs_streams_clear(&part);
    refs_spill_free(spill);
}

TEST(Stream, IsInAFileOnceItTakesMuchMemory) {
    ExpectManyPartsAreGivenBack(true);
}

/* More than that limit in total, but not at any time. */
TEST(Stream, StaysInMemoryIfOthersWereCleared) {
    refs_spill *spill = nullptr;
    ASSERT_EQ(refs_spill_open(&spill, nullptr), REFS_OK);
    for (unsigned i = 0; i < 20; i++) {
        refs_streams part = {};
        part.spill = spill;
        Put(&part, SomeRefs(i, 60000));
        ASSERT_EQ(refs_streams_end(&part, nullptr), REFS_OK);
        EXPECT_EQ(part.n_spilled, 0u);
        refs_streams_clear(&part);
    }
    refs_spill_free(spill);
}

TEST(Stream, ReportsTheFirstFailure) {
    refs_streams streams = {};
    Put(&streams, SomeRefs(1, 10));
    refs_stream_reader reader = refs_streams_read(&streams, 0, refs_streams_size(&streams));
    reader.status = REFS_IO;
    refs_error err = REFS_ERROR_INIT;
    (void)refs_fail(&err, REFS_UNSUPPORTED, "two parts have this chunk");
    EXPECT_EQ(refs_stream_close(&reader, REFS_UNSUPPORTED, &err), REFS_UNSUPPORTED);
    EXPECT_STREQ(err.message, "two parts have this chunk");
    EXPECT_EQ(refs_stream_close(&reader, REFS_OK, &err), REFS_IO);
    refs_streams_clear(&streams);
}

TEST(Stream, StaysInMemoryIfNoFileCanBeWritten) {
    const char *before = getenv("TMPDIR");
    const std::string kept = before != nullptr ? before : "";
    setenv("TMPDIR", "/nonexistent", 1);
    ExpectManyPartsAreGivenBack(false);
    if (before != nullptr)
        setenv("TMPDIR", kept.c_str(), 1);
    else
        unsetenv("TMPDIR");
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
