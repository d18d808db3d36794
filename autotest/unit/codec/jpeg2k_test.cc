/* jpeg2k_test.cc -- what the header of a picture may ask for. */
#include "codec_chain.h"

namespace {

void put(std::string *to, uint32_t number, int size) {
    for (int i = size - 1; i >= 0; i--) *to += static_cast<char>(number >> 8 * i);
}

/** The first markers of a codestream of so many tiles of one sample, each of so many kinds. */
std::string codestream(uint32_t across, uint32_t down, uint32_t n_kinds) {
    std::string header = "\xff\x4f\xff\x51";
    put(&header, 38 + 3 * n_kinds, 2);
    put(&header, 0, 2);
    for (const uint32_t number : {across, down, 0U, 0U, 1U, 1U, 0U, 0U}) put(&header, number, 4);
    put(&header, n_kinds, 2);
    for (uint32_t i = 0; i < n_kinds; i++) header += "\x07\x01\x01";
    return header;
}

/** In a file, behind a box that looks like one. */
std::string file(const std::string &codestream) {
    const std::string signature = bytes("\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a");
    const std::string decoy = bytes("\x00\x00\x00\x32") + "free" + ::codestream(1, 1, 0);
    std::string box;
    put(&box, static_cast<uint32_t>(8 + codestream.size()), 4);
    return signature + decoy + box + "jp2c" + codestream;
}

Decoded decode(const std::string &picture) {
    return decodeWith(R"({"id":"imagecodecs_jpeg2k"})", picture, 1);
}

} // namespace

TEST(Jpeg2k, HasNoMoreTilesThanThereIsMemoryFor) {
    const struct {
        uint32_t across, down, n_kinds;
    } rows[] = {{60000, 1, 1}, {1, 60000, 1}, {300, 300, 1}, {2, 2, 16384}, {0xFFFFFFFF, 2, 1}};
    for (const auto &row : rows) {
        const std::string picture = codestream(row.across, row.down, row.n_kinds);
        for (const auto &encoded : {picture, file(picture)}) {
            const Decoded refused = decode(encoded);
            EXPECT_EQ(refused.status, REFS_LIMIT) << refused.message;
            EXPECT_NE(refused.message.find(" tiles of "), std::string::npos) << refused.message;
        }
    }
    EXPECT_EQ(decode(codestream(50, 50, 3)).status, REFS_CORRUPT) << "for it is cut";
    EXPECT_EQ(decode(file(codestream(50, 50, 3))).status, REFS_CORRUPT);
}

TEST(Jpeg2k, BeginsWithItsSize) {
    const std::string unknown = bytes("\xff\x4f\xff\x52\x00\x02") + codestream(1, 1, 1).substr(2);
    for (const auto &encoded : {unknown, file(unknown), file("").substr(0, 62)}) {
        const Decoded refused = decode(encoded);
        EXPECT_EQ(refused.status, REFS_CORRUPT);
        EXPECT_NE(refused.message.find("expected a JPEG 2000 codestream"), std::string::npos)
            << refused.message;
    }
}
