/* deflate_test.cc -- zlib and gzip, with bytes that Python's modules wrote. */
#include "codec_chain.h"

namespace {

const std::string kText = "refs refs refs refs";
const std::string kZlib = bytes("\x78\xda\x2b\x4a\x4d\x2b\x56\x28\x42\x21\x00\x47\x4b\x07\x21");
const std::string kEmptyZlib = bytes("\x78\x9c\x03\x00\x00\x00\x00\x01");

// "refs refs " and "refs refs", and nothing at all.
const std::string kMember1 = bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x2b\x4a\x4d\x2b\x56"
                                   "\x28\x02\x11\x00\x75\x96\xa6\x37\x0a\x00\x00\x00");
const std::string kMember2 = bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x2b\x4a\x4d\x2b\x56"
                                   "\x28\x02\x12\x00\xed\xf5\xc7\x71\x09\x00\x00\x00");
const std::string kEmptyMember = bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x03\x00\x00\x00"
                                       "\x00\x00\x00\x00\x00\x00");

Decoded zlib(const std::string &encoded, size_t size = kText.size()) {
    return decodeWith(R"({"id":"zlib","level":9})", encoded, size);
}

Decoded gzip(const std::string &encoded, size_t size = kText.size()) {
    return decodeWith(R"({"id":"gzip"})", encoded, size);
}

TEST(Zlib, DecodesAStream) {
    EXPECT_EQ(zlib(kZlib).bytes, kText);
    EXPECT_EQ(zlib(kZlib, 0).bytes, kText) << "the size is not known";
}

TEST(Zlib, IgnoresWhatFollowsTheStream) {
    EXPECT_EQ(zlib(kZlib + "more").bytes, kText);
    EXPECT_EQ(zlib(kZlib + kZlib).bytes, kText);
}

TEST(Zlib, RefusesCutStreams) {
    for (size_t size = 0; size < kZlib.size(); size++) {
        const Decoded decoded = zlib(kZlib.substr(0, size));
        EXPECT_EQ(decoded.status, REFS_CORRUPT) << size;
        EXPECT_EQ(decoded.message,
                  "zlib: the stream of " + std::to_string(size) + " bytes is cut or damaged");
    }
}

TEST(Zlib, VerifiesTheChecksum) {
    std::string damaged = kZlib;
    damaged.back() ^= 1;
    EXPECT_EQ(zlib(damaged).status, REFS_CORRUPT);
}

TEST(Zlib, GrowsWithStreamsOfUnknownSize) {
    const std::string zeros = bytes("\x78\xda\xed\xc1\x31\x01\x00\x00\x00\xc2\xa0\xf5\x4f\x6d"
                                    "\x06\x7f\xa0") +
                              std::string(193, '\0') + bytes("\x80\xd7\x00\x0d\x6d\x00\x01");
    EXPECT_EQ(zlib(zeros, 0).bytes, std::string(200000, '\0')) << zlib(zeros, 0).message;
    EXPECT_EQ(zlib(kEmptyZlib, 0).status, REFS_OK);
    EXPECT_EQ(zlib(kEmptyZlib, 0).bytes, "");
}

TEST(Gzip, JoinsMembers) {
    EXPECT_EQ(gzip(kMember1 + kMember2).bytes, kText);
    EXPECT_EQ(gzip(kMember1 + kMember2, 0).bytes, kText);
    EXPECT_EQ(gzip(kMember1 + kEmptyMember + kMember2 + kEmptyMember).bytes, kText);
}

TEST(Gzip, IgnoresZerosAtTheEndAndNothingElse) {
    EXPECT_EQ(gzip(kMember1 + kMember2 + std::string(7, '\0')).bytes, kText);
    EXPECT_EQ(gzip(kMember1 + kMember2 + "more").status, REFS_CORRUPT);
}

TEST(Gzip, RefusesMoreThanExpected) {
    const Decoded decoded = gzip(kMember1 + kMember2, 10);
    EXPECT_EQ(decoded.status, REFS_CORRUPT);
    EXPECT_EQ(decoded.message, "gzip: decodes past the expected 10 bytes");
}

TEST(Gzip, RefusesCutMembers) {
    const std::string both = kMember1 + kMember2;
    for (size_t size = 0; size < both.size(); size++)
        EXPECT_EQ(gzip(both.substr(0, size)).status, REFS_CORRUPT) << size;
}

} // namespace
