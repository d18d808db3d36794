/* fletcher32_test.cc -- HDF5's checksum. */
#include "codec_chain.h"

namespace {

std::string withChecksum(const std::string &content, uint32_t checksum) {
    std::string encoded = content;
    for (int shift = 0; shift < 32; shift += 8) encoded += static_cast<char>(checksum >> shift);
    return encoded;
}

Decoded check(const std::string &content, uint32_t checksum) {
    return decodeWith(R"({"id":"fletcher32"})", withChecksum(content, checksum), content.size());
}

/* The definition, word by word: sums in ones' complement arithmetic, where a carry is added back.
 */
uint32_t defined(const std::string &content) {
    uint32_t sum1 = 0, sum2 = 0;
    for (size_t i = 0; i < content.size(); i += 2) {
        const unsigned high = static_cast<unsigned char>(content[i]);
        const unsigned low =
            i + 1 < content.size() ? static_cast<unsigned char>(content[i + 1]) : 0;
        sum1 += high << 8 | low;
        if (sum1 > 0xffff) sum1 -= 0xffff;
        sum2 += sum1;
        if (sum2 > 0xffff) sum2 -= 0xffff;
    }
    return sum2 << 16 | sum1;
}

TEST(Fletcher32, AcceptsTheChecksumsOfHdf5) {
    // Words 0x0100 and 0x0302: sums 0x0402, and 0x0100 + 0x0402.
    EXPECT_EQ(check(bytes("\x01\x00\x03\x02"), 0x05020402).bytes, bytes("\x01\x00\x03\x02"));
    // An odd byte is the upper half of a word.
    EXPECT_EQ(check(bytes("\x01\x00\x03"), 0x05000400).status, REFS_OK);
}

TEST(Fletcher32, FoldsCarriesAndTakesNoRemainder) {
    // 0xffff stays; a remainder by 65535 would make it zero.
    EXPECT_EQ(check("\xff\xff", 0xffffffff).status, REFS_OK);
    EXPECT_EQ(check("\xff\xff", 0).status, REFS_CORRUPT);
    EXPECT_EQ(check(bytes("\x00\x00"), 0).status, REFS_OK);
}

TEST(Fletcher32, DoesNotOverflowInLongChunks) {
    for (size_t size : {719, 720, 721, 722, 1440, 1441, 100000})
        for (char byte : {'\xff', '\xfe', '\x01'}) {
            const std::string content(size, byte);
            EXPECT_EQ(check(content, defined(content)).status, REFS_OK) << size;
        }
}

TEST(Fletcher32, NamesBothChecksumsWhereTheyDiffer) {
    const Decoded decoded = check(bytes("\x01\x00\x03\x02"), 0x05020403);
    EXPECT_EQ(decoded.status, REFS_CORRUPT);
    EXPECT_EQ(decoded.message, "fletcher32: checksum mismatch: computed 05020402, stored 05020403");
}

TEST(Fletcher32, RefusesChunksWithoutRoomForAChecksum) {
    EXPECT_EQ(decodeWith(R"({"id":"fletcher32"})", "abc", 0).message,
              "fletcher32: 3 bytes are too few for a checksum");
}

TEST(Fletcher32, ExpectsTheChecksumFromTheCodecBelow) {
    CodecChain chain(R"([{"id":"fletcher32"},{"id":"shuffle","elementsize":1}])", 4);
    EXPECT_EQ(chain.decode("abcdefg").message, "shuffle: decodes to 7 bytes: expected 8");
}

} // namespace
