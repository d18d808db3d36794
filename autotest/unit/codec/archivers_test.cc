/* archivers_test.cc -- bz2 and lzma, with bytes that Python's modules wrote. */
#include "codec_chain.h"

namespace {

const std::string kText = "refs refs refs refs";

Decoded bz2(const std::string &encoded, size_t size = kText.size()) {
    return decodeWith(R"({"id":"bz2"})", encoded, size);
}

Decoded lzma(const std::string &more, const std::string &encoded, size_t size = kText.size()) {
    return decodeWith(R"({"id":"lzma")" + more + "}", encoded, size);
}

// "refs " and "refs refs refs".
const std::string kBz2A = bytes("\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xe5\x7b\xf5\xea\x00\x00"
                                "\x01\x91\x80\x40\x00\x03\x00\x18\x00\x20\x00\x30\xcd\x00\xc1\xa0"
                                "\x6c\x71\x77\x24\x53\x85\x09\x0e\x57\xbf\x5e\xa0");
const std::string kBz2B = bytes("\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x46\xfd\x00\x0e\x00\x00"
                                "\x04\x11\x80\x40\x00\x03\x00\x18\x00\x20\x00\x21\xb5\x1b\x41\x9a"
                                "\x06\x25\x3e\xc4\xc2\xee\x48\xa7\x0a\x12\x08\xdf\xa0\x01\xc0");

TEST(Bz2, JoinsStreams) {
    EXPECT_EQ(bz2(kBz2A + kBz2B).bytes, kText) << bz2(kBz2A + kBz2B).message;
    EXPECT_EQ(bz2(kBz2A + kBz2B, 0).bytes, kText);
}

TEST(Bz2, IgnoresWhatFollowsTheStreams) {
    EXPECT_EQ(bz2(kBz2A + kBz2B + "more").bytes, kText);
    EXPECT_EQ(bz2("more").status, REFS_CORRUPT) << "but for a stream there must be";
}

TEST(Bz2, RefusesCutStreams) {
    for (size_t size = 0; size < kBz2B.size(); size++)
        EXPECT_EQ(bz2(kBz2B.substr(0, size), 14).status, REFS_CORRUPT) << size;
}

TEST(Bz2, RefusesMoreThanExpected) {
    EXPECT_EQ(bz2(kBz2A + kBz2B, 5).message, "bz2: decodes past the expected 5 bytes");
}

const std::string kXzA = bytes("\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01"
                               "\x16\x00\x00\x00\x74\x2f\xe5\xa3\x01\x00\x04\x72\x65\x66\x73\x20"
                               "\x00\x00\x00\x00\x88\x10\xda\x4a\x00\x1d\x9f\x6e\x00\x01\x1d\x05"
                               "\xb8\x2d\x80\xaf\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a");
const std::string kXzB = bytes("\xfd\x37\x7a\x58\x5a\x00\x00\x00\xff\x12\xd9\x41\x02\x00\x21\x01"
                               "\x16\x00\x00\x00\x74\x2f\xe5\xa3\xe0\x00\x0d\x00\x0b\x5d\x00\x39"
                               "\x19\x49\x05\xcf\x5b\xa9\x91\x90\x00\x00\x00\x00\x00\x01\x1f\x0e"
                               "\xb2\x96\x64\x0a\x06\x72\x9e\x7a\x01\x00\x00\x00\x00\x00\x59\x5a");
const std::string kAlone = bytes("\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x39\x19"
                                 "\x49\x05\xcf\x5c\x24\xc4\x1c\xaf\xff\xff\xf5\xf5\x00\x00");
const std::string kRaw = bytes("\xe0\x00\x12\x00\x0b\x5d\x00\x39\x19\x49\x05\xcf\x5c\x24\xae\xc0"
                               "\x00\x00\x00");

TEST(Lzma, JoinsXzStreamsUnlessToldOtherwise) {
    EXPECT_EQ(lzma("", kXzA + kXzB).bytes, kText) << lzma("", kXzA + kXzB).message;
    EXPECT_EQ(lzma(R"(,"format":1,"check":-1,"preset":null,"filters":null)", kXzA + kXzB).bytes,
              kText);
    EXPECT_EQ(lzma("", kXzA + kXzB, 0).bytes, kText);
}

TEST(Lzma, ReadsLzmaFiles) {
    EXPECT_EQ(lzma(R"(,"format":2)", kAlone).bytes, kText);
    EXPECT_EQ(lzma(R"(,"format":2)", kAlone + "more").bytes, kText) << "what follows is ignored";
    EXPECT_EQ(lzma(R"(,"format":2)", kXzA).status, REFS_CORRUPT);
}

TEST(Lzma, HasNoLargerDictionaryThanItsLimit) {
    std::string stream = kAlone;
    stream[4] = '\x0f'; // of 240 MiB and a bit
    EXPECT_EQ(lzma(R"(,"format":2)", stream).bytes, kText);
    stream[4] = '\x10';
    const Decoded refused = lzma(R"(,"format":2)", stream);
    EXPECT_EQ(refused.status, REFS_LIMIT);
    EXPECT_NE(refused.message.find("needs more memory than the limit of 268435456 bytes"),
              std::string::npos)
        << refused.message;
}

TEST(Lzma, ReadsRawStreamsOfTheFiltersGiven) {
    EXPECT_EQ(lzma(R"(,"format":3,"filters":[{"id":33,"preset":1}])", kRaw).bytes, kText);
    const std::string differences = bytes("\x01\x00\x07\x61\x62\x02\x02\x02\x02\x02\x02\x00");
    EXPECT_EQ(lzma(R"(,"format":3,"filters":[{"id":3,"dist":2},{"id":33}])", differences, 8).bytes,
              "abcdefgh");
}

TEST(Lzma, RefusesFiltersItDoesNotHave) {
    const struct {
        const char *more;
        refs_status status;
    } broken[] = {
        {R"(,"format":3)", REFS_INVALID},
        {R"(,"format":3,"filters":[])", REFS_INVALID},
        {R"(,"format":3,"filters":[{},{},{},{},{}])", REFS_INVALID},
        {R"(,"format":3,"filters":[{"id":33,"preset":77}])", REFS_INVALID},
        {R"(,"format":3,"filters":[{"id":1234}])", REFS_UNSUPPORTED},
        {R"(,"format":3,"filters":[{"id":33,"dict_size":4294967295}])", REFS_LIMIT},
        {R"(,"format":0)", REFS_UNSUPPORTED},
        {R"(,"format":"xz")", REFS_UNSUPPORTED},
    };
    for (const auto &b : broken) EXPECT_EQ(lzma(b.more, kRaw).status, b.status) << b.more;
}

TEST(Lzma, RefusesCutStreams) {
    for (size_t size = 0; size < kXzB.size(); size++)
        EXPECT_EQ(lzma("", kXzB.substr(0, size), 14).status, REFS_CORRUPT) << size;
}

} // namespace
