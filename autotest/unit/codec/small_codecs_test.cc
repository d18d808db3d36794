/* small_codecs_test.cc -- checksums, bits, text, casts, elements of variable length. */
#include "codec_chain.h"
#include "little_endian.h"

namespace {

Decoded decode(const std::string &codec, const std::string &encoded, size_t size) {
    return decodeWith(codec, encoded, size);
}

TEST(Checksums, AreWhereNumcodecsPutsThem) {
    // Of "123456789", as in the catalogues of such sums.
    const struct {
        const char *codec;
        std::string before, behind;
    } sums[] = {
        {R"({"id":"crc32"})", bytes("\x26\x39\xf4\xcb"), ""},
        {R"({"id":"crc32","location":"end"})", "", bytes("\x26\x39\xf4\xcb")},
        {R"({"id":"crc32c"})", "", bytes("\x83\x92\x06\xe3")},
        {R"({"id":"crc32c","location":"start"})", bytes("\x83\x92\x06\xe3"), ""},
        {R"({"id":"adler32"})", bytes("\xde\x01\x1e\x09"), ""},
    };
    for (const auto &s : sums) {
        const std::string encoded = s.before + "123456789" + s.behind;
        EXPECT_EQ(decode(s.codec, encoded, 9).bytes, "123456789") << s.codec;
        EXPECT_EQ(decode(s.codec, s.behind + "123456789" + s.before, 9).status, REFS_CORRUPT);
    }
}

TEST(Checksums, AreNamedWhereTheyDiffer) {
    EXPECT_EQ(decode(R"({"id":"crc32"})",
                     bytes("\x26\x39\xf4\xcb"
                           "123456780"),
                     9)
                  .message,
              "crc32: checksum mismatch: computed b2288182, stored cbf43926");
}

TEST(Checksums, HaveNoOtherPlaces) {
    EXPECT_EQ(decode(R"({"id":"crc32","location":"middle"})", "", 9).message,
              "crc32: location: expected start or end, found \"middle\"");
    EXPECT_EQ(decode(R"({"id":"crc32","location":1})", "", 9).status, REFS_INVALID);
}

TEST(PackBits, UnpacksTheHighestBitFirst) {
    const std::string codec = R"({"id":"packbits"})";
    EXPECT_EQ(decode(codec, bytes("\x00\x81"), 8).bytes, bytes("\1\0\0\0\0\0\0\1"));
    EXPECT_EQ(decode(codec, bytes("\x07\xff"), 1).bytes, bytes("\1"));
    EXPECT_EQ(decode(codec, bytes("\x00"), 0).bytes, "");
    for (const std::string &wrong : {bytes("\x08\x00"), bytes("\x01"), bytes("\xff\xff")})
        EXPECT_EQ(decode(codec, wrong, 0).status, REFS_CORRUPT);
}

TEST(Base64, IsDecodedOrRefused) {
    EXPECT_EQ(decode(R"({"id":"base64"})", "cmVmcw==", 4).bytes, "refs");
    EXPECT_EQ(decode(R"({"id":"base64"})", "cmVm*w==", 4).status, REFS_CORRUPT);
}

TEST(AsType, CastsNumbers) {
    EXPECT_EQ(decode(R"({"id":"astype","encode_dtype":"<f4","decode_dtype":"<f8"})",
                     littleEndian<float>({1.5f, -2}), 16)
                  .bytes,
              littleEndian<double>({1.5, -2}));
    EXPECT_EQ(decode(R"({"id":"astype","encode_dtype":"<i8","decode_dtype":"<i4"})",
                     littleEndian<int64_t>({-1, INT64_C(1) << 40}), 8)
                  .bytes,
              littleEndian<int32_t>({-1, 0}));
    EXPECT_EQ(
        decode(R"({"id":"astype","encode_dtype":"|b1","decode_dtype":"<u8"})", bytes("\1\0"), 16)
            .bytes,
        littleEndian<uint64_t>({1, 0}));
}

TEST(Vlen, HandsItemsOnAsTheyAreFramed) {
    const std::string framed = bytes("\2\0\0\0\3\0\0\0abc\0\0\0\0");
    EXPECT_EQ(decode(R"({"id":"vlen-utf8"})", framed, 0).bytes, framed);
    EXPECT_EQ(decode(R"({"id":"vlen-bytes"})", framed, 0).bytes, framed);
}

TEST(Vlen, FramesTexts) {
    refs_buf framed = REFS_BUF_INIT;
    EXPECT_EQ(refs_vlen_encode(refs_str_view("abc\0", 5), &framed, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(framed.data), framed.size),
              bytes("\2\0\0\0\3\0\0\0abc\0\0\0\0"));
    refs_buf_clear(&framed);
}

TEST(Vlen, RefusesItemsThatAreCut) {
    const std::string codec = R"({"id":"vlen-utf8"})";
    EXPECT_EQ(decode(codec, bytes("\2\0\0\0\3\0\0\0abc\0\0\0"), 0).message,
              "vlen-utf8: item 1 of 2 is truncated at byte 11 of 14");
    EXPECT_EQ(decode(codec,
                     bytes("\1\0\0\0\xff\xff\xff\xff"
                           "abc"),
                     0)
                  .status,
              REFS_CORRUPT);
    EXPECT_EQ(decode(codec, bytes("\xff\xff\xff\xff"), 0).status, REFS_CORRUPT);
    EXPECT_EQ(decode(codec, bytes("\1\0\0\0\4\0\0\0abc"), 0).status, REFS_CORRUPT);
    EXPECT_EQ(decode(codec, "abc", 0).message, "vlen-utf8: 3 bytes are too few for a count");
}

TEST(Szip, RefusesBlocksOfAnOddNumberOfPixels) {
    const refs_codec_type *szip = refs_codec_find(refs_str_from("szip"));
    if (szip->missing != nullptr) GTEST_SKIP() << "needs " << szip->missing;
    EXPECT_EQ(decode(R"({"id":"szip","options_mask":169,"pixels_per_block":9,"bits_per_pixel":8,
                         "pixels_per_scanline":24})",
                     "", 24)
                  .message,
              "imagecodecs_szip: pixels_per_block is odd: 9");
}

TEST(Aec, RefusesBlocksOfAnOddNumberOfSamples) {
    const refs_codec_type *aec = refs_codec_find(refs_str_from("imagecodecs_aec"));
    if (aec->missing != nullptr) GTEST_SKIP() << "needs " << aec->missing;
    EXPECT_EQ(decode(R"({"id":"imagecodecs_aec","blocksize":9})", "", 24).message,
              "imagecodecs_aec: blocksize is odd: 9");
}

} // namespace

TEST(Zfp, RefusesParametersThatHoldNoHeader) {
    const std::string begin = R"({"id":"hdf5_zfp","parameters":)";
    const Decoded unknown = decode(begin + "[1]}", "", 4);
    if (unknown.status == REFS_UNSUPPORTED) GTEST_SKIP() << unknown.message;
    EXPECT_EQ(unknown.message,
              "zfpy: expected 2 to 9 parameters, which hold a header of zfp, found 1");
    EXPECT_EQ(decode(begin + "[1,1,2,3,4,5,6,7,8,9]}", "", 4).status, REFS_CORRUPT);
    EXPECT_EQ(decode(begin + "[1,-2]}", "", 4).message,
              "zfpy: parameter 1: expected a word of 32 bits");
    EXPECT_EQ(decode(begin + "[1,4294967296]}", "", 4).status, REFS_CORRUPT);
    EXPECT_EQ(decode(begin + "[1,2]}", "12345678", 4).message,
              "zfpy: 4 bytes do not begin with a header of zfp");
}
