// Sets in JSON that are compressed, told by their first bytes.

#include <gtest/gtest.h>

#include <zlib.h>
#include <zstd.h>

#include "set_under_test.h"

namespace {

std::string Gzip(const std::string &text) {
    z_stream stream = {};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(deflateBound(&stream, text.size()), '\0');
    std::string in = text;
    stream.next_in = reinterpret_cast<Bytef *>(&in[0]);
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef *>(&packed[0]);
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

std::string Zstd(const std::string &text) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(&packed[0], packed.size(), text.data(), text.size(), 3));
    return packed;
}

struct Packer {
    const char *name;
    std::string (*pack)(const std::string &);
};

class CompressedSet : public testing::TestWithParam<Packer> {
  protected:
    std::string Pack(const std::string &text) const { return GetParam().pack(text); }
};

const char kSmall[] = R"({"version": 1, "refs": {".zgroup": "{}", "a": ["u", 1, 2]}})";

// A set with n chunks.
std::string Large(int n) {
    std::string json = R"({"version": 1, "refs": {"v/.zarray": "{}")";
    for (int i = 0; i < n; i++)
        json += ",\n\"v/" + std::to_string(i) + "\": [\"s3://bucket/file\", " +
                std::to_string(i * 7919) + ", 100]";
    return json + "}}";
}

bool Sniff(const std::string &head) {
    return refs_set_sniff(refs_bytes_view(head.data(), head.size()));
}

} // namespace

TEST_P(CompressedSet, OpensWhateverItsNameIs) {
    for (const char *name : {"refs.json", "refs.json.gz", "refs.json.zst", "refs"}) {
        SetUnderTest set;
        set.location = name;
        ASSERT_EQ(set.Open(Pack(kSmall)), REFS_OK) << set.error.message;
        EXPECT_EQ(set.At("a"), "[u, 1, 2]");
    }
}

TEST_P(CompressedSet, IsReadInParts) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(Pack(Large(100000))), REFS_OK) << set.error.message;
    EXPECT_EQ(refs_set_size(set.set), 100001u);
    EXPECT_EQ(set.At("v/99999"), "[s3://bucket/file, 791892081, 100]");
}

TEST_P(CompressedSet, MayConsistOfSeveralMembers) {
    const std::string text = kSmall;
    SetUnderTest set;
    ASSERT_EQ(set.Open(Pack(text.substr(0, 20)) + Pack("") + Pack(text.substr(20))), REFS_OK)
        << set.error.message;
    EXPECT_EQ(set.At("a"), "[u, 1, 2]");
}

TEST_P(CompressedSet, IsReadAgainWhereItsVersionComesLast) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(Pack(R"({"a": 1, "refs": {"b": "x"}, "version": 1})")), REFS_OK)
        << set.error.message;
    EXPECT_EQ(set.At("b"), "\"x\"");
}

TEST_P(CompressedSet, FailsWhereItIsCut) {
    const std::string packed = Pack(Large(1000));
    for (size_t size : {packed.size() / 2, packed.size() - 1}) {
        SetUnderTest set;
        EXPECT_EQ(set.Open(packed.substr(0, size)), REFS_CORRUPT) << size;
        EXPECT_NE(std::string(set.error.message).find("document is truncated after"),
                  std::string::npos)
            << set.error.message;
    }
}

TEST_P(CompressedSet, FailsWhereItsBytesAreWrong) {
    std::string packed = Pack(Large(1000));
    for (size_t i = packed.size() / 2; i < packed.size() / 2 + 40; i++) packed[i] = '\x55';
    SetUnderTest set;
    EXPECT_EQ(set.Open(packed), REFS_CORRUPT);
}

TEST_P(CompressedSet, MayNotUnpackToMoreThanTheLimit) {
    SetUnderTest set;
    set.options.limits.max_unpacked_bytes = 100000;
    EXPECT_EQ(set.Open(Pack(std::string(10000000, ' ') + kSmall)), REFS_LIMIT);
    EXPECT_EQ(std::string(set.error.message),
              std::string("refs.json: ") + GetParam().name +
                  ": the document decompresses to more than the limit of 100000 bytes");
}

TEST(CompressedSetByZstd, MayNotLookBackFurtherThanTheLimit) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    const std::string text = Large(1000);
    for (int window_log : {27, 28}) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
        std::string packed(ZSTD_compressBound(text.size()), '\0');
        ZSTD_outBuffer out = {&packed[0], packed.size(), 0};
        ZSTD_inBuffer start = {text.data(), 1, 0}, rest = {text.data(), text.size(), 1};
        ZSTD_compressStream2(context, &out, &start, ZSTD_e_continue); // its size is not known
        ASSERT_EQ(ZSTD_compressStream2(context, &out, &rest, ZSTD_e_end), 0u);
        packed.resize(out.pos);
        SetUnderTest set;
        EXPECT_EQ(set.Open(packed), window_log == 27 ? REFS_OK : REFS_CORRUPT) << window_log;
        const std::string said = set.error.message;
        EXPECT_EQ(said.find("too much memory") != std::string::npos, window_log == 28) << said;
    }
    ZSTD_freeCCtx(context);
}

TEST_P(CompressedSet, IsSniffedByWhatItHolds) {
    EXPECT_TRUE(Sniff(Pack(kSmall)));
    EXPECT_FALSE(Sniff(Pack(R"({"type": "FeatureCollection", "features": []})")));
    EXPECT_FALSE(Sniff(Pack("")));
    const std::string packed = Pack(Large(100000));
    EXPECT_TRUE(Sniff(packed.substr(0, packed.size() / 4))) << packed.size();
}

TEST_P(CompressedSet, MayBeAListOfSets) {
    SetUnderTest set;
    set.options.set_index = 1;
    ASSERT_EQ(set.Open(Pack(R"([{"a": "0"}, {"a": "1"}])")), REFS_OK) << set.error.message;
    EXPECT_EQ(set.At("a"), "\"1\"");
}

INSTANTIATE_TEST_SUITE_P(By, CompressedSet,
                         testing::Values(Packer{"gzip", Gzip}, Packer{"zstd", Zstd}),
                         [](const testing::TestParamInfo<Packer> &packer) {
                             return std::string(packer.param.name);
                         });
