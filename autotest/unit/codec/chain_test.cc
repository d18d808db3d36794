/* chain_test.cc -- what a chain does with any codec. */
#include "codec_chain.h"

namespace {

const std::string kText = "refs refs refs refs";
const std::string kZlib = bytes("\x78\xda\x2b\x4a\x4d\x2b\x56\x28\x42\x21\x00\x47\x4b\x07\x21");

TEST(Chain, CopiesWithoutCodecs) {
    CodecChain chain("[]", 4);
    ASSERT_EQ(chain.status, REFS_OK);
    EXPECT_TRUE(refs_chain_is_empty(chain.get()));
    EXPECT_EQ(chain.decode("abcd").bytes, "abcd");
}

TEST(Chain, ChecksTheSizeWithoutCodecs) {
    CodecChain chain("[]", 4);
    const Decoded decoded = chain.decode("abc");
    EXPECT_EQ(decoded.status, REFS_CORRUPT);
    EXPECT_EQ(decoded.message, "it has 3 bytes: expected 4");
}

TEST(Chain, UndoesTheLastCodecFirst) {
    // Shuffled in pairs, then compressed: "aabb" -> "abab".
    CodecChain chain(R"([{"id":"shuffle","elementsize":2},{"id":"gzip"}])", 4);
    const std::string gzip = bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\x4c\x4a\x4c\x02"
                                   "\x00\xa6\x0a\xd7\x36\x04\x00\x00\x00");
    EXPECT_EQ(chain.decode(gzip).bytes, "aabb") << chain.decode(gzip).message;
}

CodecChain chainWithout(uint32_t skipped, const std::string &codecs, size_t size) {
    return CodecChain(codecs, size, "|u1", 0, {}, skipped);
}

TEST(Chain, LeavesOutCodecsThatWereSkipped) {
    const char *codecs = R"([{"id":"shuffle","elementsize":19},{"id":"zlib"}])";
    EXPECT_EQ(chainWithout(1, codecs, 19).decode(kZlib).bytes, kText);
    EXPECT_EQ(chainWithout(2, codecs, 19).decode(kText).bytes, kText);
    EXPECT_EQ(chainWithout(3, codecs, 19).decode(kText).bytes, kText);
    EXPECT_TRUE(refs_chain_is_empty(chainWithout(3, codecs, 19).get()));
    EXPECT_EQ(chainWithout(2, codecs, 19).decode(kZlib).status, REFS_CORRUPT);
}

// Behind a checksum that was skipped, the next codec gives four bytes less.
TEST(Chain, KnowsTheSizesBetweenCodecsWhereSomeWereSkipped) {
    const char *codecs = R"([{"id":"fletcher32"},{"id":"zlib"}])";
    EXPECT_EQ(chainWithout(1, codecs, 19).decode(kZlib).bytes, kText);
    EXPECT_EQ(chainWithout(0, codecs, 19).decode(kZlib).status, REFS_CORRUPT);
}

TEST(Chain, RefusesToSkipCodecsThatThereAreNot) {
    const CodecChain chain = chainWithout(4, R"([{"id":"zlib"},{"id":"zlib"}])", 19);
    EXPECT_EQ(chain.status, REFS_CORRUPT);
    EXPECT_EQ(chain.message(), "the filter mask 0x4 has bits for more than the 2 codecs");
}

TEST(Chain, NeverDecodesABufferIntoItself) {
    CodecChain chain(R"([{"id":"bitround"},{"id":"shuffle","elementsize":2},{"id":"bitround"}])",
                     4);
    EXPECT_EQ(chain.decode("abcd").bytes, "acbd");
}

TEST(Chain, NamesBothSizesWhereTheyDiffer) {
    const Decoded shorter = decodeWith(R"({"id":"zlib"})", kZlib, 1024);
    EXPECT_EQ(shorter.status, REFS_CORRUPT);
    EXPECT_EQ(shorter.message, "zlib: decodes to 19 bytes: expected 1024");
    const Decoded longer = decodeWith(R"({"id":"zlib"})", kZlib, 18);
    EXPECT_EQ(longer.status, REFS_CORRUPT);
    EXPECT_EQ(longer.message, "zlib: decodes past the expected 18 bytes");
}

TEST(Chain, ChecksTheSizesBetweenCodecs) {
    // Shuffle does not change sizes, so that zlib must give the chunk's.
    const char *codecs = R"([{"id":"shuffle","elementsize":1},{"id":"zlib"}])";
    CodecChain chain(codecs, 20);
    EXPECT_EQ(chain.decode(kZlib).message, "zlib: decodes to 19 bytes: expected 20");
}

TEST(Chain, DecodesToAnySizeWhereNoneIsKnown) {
    CodecChain chain(R"([{"id":"zlib"}])", 0);
    EXPECT_EQ(chain.decode(kZlib).bytes, kText);
    CodecChain empty("[]", 0);
    EXPECT_EQ(empty.decode("abc").bytes, "abc");
    EXPECT_EQ(empty.decode("").bytes, "");
}

TEST(Chain, KeepsToItsBudget) {
    CodecChain small(R"([{"id":"zlib"}])", 0, "|O", 18);
    const Decoded decoded = small.decode(kZlib);
    EXPECT_EQ(decoded.status, REFS_LIMIT);
    EXPECT_EQ(decoded.message, "zlib: decodes to more than the limit of 18 bytes");
    EXPECT_EQ(CodecChain("[]", 19, "|u1", 18).status, REFS_LIMIT);
    EXPECT_EQ(CodecChain("[]", 18, "|u1", 18).status, REFS_OK);
}

TEST(Chain, KeepsTheStepsBetweenToItsBudget) {
    const std::string codecs = R"([{"id":"delta","dtype":"|i1","astype":"<i8"},{"id":"zlib"}])";
    CodecChain chain(codecs, 16, "|i1", 127);
    EXPECT_EQ(chain.status, REFS_LIMIT);
    EXPECT_EQ(chain.message(), "zlib: decodes to 128 bytes: expected at most 127");
    EXPECT_EQ(CodecChain(codecs, 16, "|i1", 128).status, REFS_OK);
}

TEST(Chain, RefusesChunksWhoseSizeOverflows) {
    const refs_chain_spec spec = {nullptr, 0,       0,       "<f8",   8, SIZE_MAX / 4,
                                  0,       nullptr, nullptr, nullptr, 0};
    refs_chain *chain = nullptr;
    EXPECT_EQ(refs_chain_open(&spec, &chain, nullptr), REFS_LIMIT);
}

TEST(Chain, NamesACodecThatNobodyKnows) {
    CodecChain chain(R"([{"id":"zlib"},{"id":"foo"}])", 4);
    EXPECT_EQ(chain.status, REFS_UNSUPPORTED);
    EXPECT_EQ(chain.message(), "unknown codec \"foo\"");
    EXPECT_EQ(
        CodecChain(R"([{"id":"imagecodecs_ccittfax4"}])", 4).message(),
        "codec \"imagecodecs_ccittfax4\" (CCITT Group 4 fax, TIFF compression 4) is not supported");
    EXPECT_EQ(CodecChain(R"([{"id":"hdf5_filter_32017"}])", 4).message(),
              "codec \"hdf5_filter_32017\" (SZ, HDF5 filter 32017) is not supported");
    EXPECT_EQ(CodecChain(R"([{"id":"imagecodecs_jpegxr"}])", 4).message(),
              "codec \"imagecodecs_jpegxr\" (JPEG XR (jxrlib)) is not supported");
}

TEST(Chain, RefusesPicklesWithoutReadingThem) {
    CodecChain chain(R"([{"id":"pickle"}])", 4);
    EXPECT_EQ(chain.status, REFS_UNSUPPORTED);
    EXPECT_EQ(chain.message().rfind("pickle: ", 0), 0u) << chain.message();
}

TEST(Chain, FindsCodecsByAllTheirNames) {
    const refs_codec_type *zlib = refs_codec_find(refs_str_from("zlib"));
    ASSERT_NE(zlib, nullptr);
    EXPECT_EQ(refs_codec_find(refs_str_from("numcodecs.zlib")), zlib);
    EXPECT_EQ(refs_codec_find(refs_str_from("imagecodecs_zlib")), zlib);
    EXPECT_EQ(refs_codec_find(refs_str_from("zlib2")), nullptr);
    EXPECT_EQ(refs_codec_find(refs_str_from("")), nullptr);
}

TEST(Chain, ReusesScratchForChunksOfOtherSizes) {
    refs_scratch scratch = {};
    const char *codecs = R"([{"id":"shuffle","elementsize":1},{"id":"zlib"}])";
    CodecChain known(codecs, kText.size());
    CodecChain unknown(codecs, 0);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(known.decode(kZlib, &scratch).bytes, kText);
        EXPECT_EQ(unknown.decode(kZlib, &scratch).bytes, kText);
    }
    refs_scratch_clear(&scratch);
}

/** A zstd frame (RFC 8878) of so many blocks of 128 KiB of zeros, four bytes each. */
std::string zeros(size_t n_blocks) {
    std::string frame = bytes("\x28\xb5\x2f\xfd\x00\x58"); // a window of 2 MiB, no size
    for (size_t i = 0; i < n_blocks; i++) {
        const uint32_t header = 131072u << 3 | 1u << 1 | (i + 1 == n_blocks ? 1 : 0);
        for (int shift = 0; shift < 24; shift += 8) frame += static_cast<char>(header >> shift);
        frame += '\0';
    }
    return frame;
}

TEST(Chain, DecodesMuchFromLittle) {
    CodecChain chain(R"([{"id":"zstd"}])", 64 * 131072);
    EXPECT_EQ(chain.decode(zeros(64)).bytes, std::string(64 * 131072, '\0'));
}

TEST(Chain, RefusesBombs) {
    const size_t n_blocks = 8 * 256 + 1;
    CodecChain chain(R"([{"id":"zstd"}])", n_blocks * 131072);
    const Decoded decoded = chain.decode(zeros(n_blocks));
    EXPECT_EQ(decoded.status, REFS_LIMIT);
    EXPECT_EQ(decoded.message, "8202 bytes are too few to decode to 268566528");
}

TEST(Chain, RefusesBombsBetweenCodecs) {
    CodecChain chain(R"([{"id":"zlib"},{"id":"zstd"}])", 4);
    const Decoded decoded = chain.decode(zeros(8 * 16 + 1));
    EXPECT_EQ(decoded.status, REFS_LIMIT);
    EXPECT_EQ(decoded.message, "zstd: decodes to more than the limit of 16777472 bytes");
    CodecChain strings(R"([{"id":"zstd"}])", 0);
    EXPECT_EQ(strings.decode(zeros(8 * 256 + 1)).status, REFS_LIMIT);
}

TEST(Chain, KnowsHowMuchAChunkMayTakeAsItIsStored) {
    const auto most = [](const char *codecs, size_t size, size_t max_bytes = 0) {
        return refs_chain_max_encoded(CodecChain(codecs, size, "|u1", max_bytes).get());
    };
    EXPECT_EQ(most("[]", 10), 10u);
    EXPECT_EQ(most(R"([{"id":"shuffle","elementsize":2}])", 10), 10u);
    EXPECT_EQ(most(R"([{"id":"shuffle","elementsize":2},{"id":"crc32"}])", 10), 14u);
    EXPECT_EQ(most(R"([{"id":"zlib"}])", 10), 640u + 16 * REFS_MIB);
    EXPECT_EQ(most(R"([{"id":"crc32"},{"id":"zlib"},{"id":"base64"}])", 10), 896u + 16 * REFS_MIB);
    EXPECT_EQ(most(R"([{"id":"zlib"}])", 512 * REFS_MIB), 1040 * REFS_MIB);
    EXPECT_EQ(most(R"([{"id":"zlib"}])", 10, 50), 50u + 16 * REFS_MIB);
    EXPECT_EQ(most("[]", 0), 1040 * REFS_MIB);
}

TEST(Chain, RefusesTooManyCodecs) {
    std::string codecs;
    for (int i = 0; i < 16; i++) codecs += R"({"id":"bitround"},)";
    EXPECT_EQ(CodecChain("[" + codecs.substr(0, codecs.size() - 1) + "]", 4).status, REFS_OK);
    CodecChain more("[" + codecs + R"({"id":"bitround"}])", 4);
    EXPECT_EQ(more.status, REFS_LIMIT);
    EXPECT_EQ(more.message(), "17 codecs: expected at most 16");
}

} // namespace
