/* pictures_test.cc -- images of JPEG-LS as no library writes them, and a JPEG XL that is too large.
 */
#include "codec_chain.h"

namespace {

Decoded decode(const std::string &picture, size_t size = 0) {
    return decodeWith(R"({"id":"imagecodecs_jpegls"})", picture, size);
}

/** A header of the scan of component 1: its mapping table, NEAR, interleave mode and point
 * transform. */
std::string header(const std::string &parameters) {
    return bytes("\xff\xda\x00\x08\x01\x01") + parameters;
}

/** A frame of 2 by 2 samples of 8 bits, whose scan has these bytes, with what comes before. */
std::string picture(const std::string &scan, const std::string &before = "",
                    const std::string &parameters = bytes("\x00\x00\x00\x00")) {
    return bytes("\xff\xd8") + before +
           bytes("\xff\xf7\x00\x0b\x08\x00\x02\x00\x02\x01\x01\x11\x00") + header(parameters) +
           scan;
}

const std::string end = "\xff\xd9";
/** Two lines that are runs of zero. */
const std::string runs = "\xf0";

} // namespace

TEST(JpegLs, HasRunsOfTheSampleBeforeTheFirst) {
    EXPECT_EQ(decode(picture(runs + end), 4).bytes, std::string(4, '\0'));
}

TEST(JpegLs, HasPaddingBeforeMarkers) {
    const std::string padding("\0", 1);
    EXPECT_EQ(decode(picture(runs + padding + end), 4).bytes, std::string(4, '\0'));
    EXPECT_EQ(decode(picture(runs + "\xff" + end), 4).bytes, std::string(4, '\0'));
}

TEST(JpegLs, EndsWhereBitsDo) {
    for (const std::string &scan : {std::string(), std::string("\xff"), std::string(200, '\0')}) {
        EXPECT_EQ(decode(picture(scan + end), 4).status, REFS_CORRUPT);
        EXPECT_EQ(decode(picture(scan), 4).status, REFS_CORRUPT);
    }
    EXPECT_EQ(decode(picture(runs), 4).status, REFS_CORRUPT) << "for no marker ends it";
}

TEST(JpegLs, HasComments) {
    const std::string comment = bytes("\xff\xfe\x00\x04xy") + bytes("\xff\xe8\x00\x07mrfx\x00");
    EXPECT_EQ(decode(picture(runs + end, comment), 4).bytes, std::string(4, '\0'));
}

TEST(JpegLs, NamesWhatIsNotSupported) {
    const struct {
        std::string before, word;
    } rows[] = {{bytes("\xff\xe8\x00\x07mrfx\x01"), "colour transform"},
                {bytes("\xff\xdd\x00\x04\x00\x01"), "marker 0xDD"},
                {bytes("\xff\xf8\x00\x04\x02\x01"), "parameters of type 2"}};
    for (const auto &row : rows) {
        const Decoded refused = decode(picture(runs + end, row.before), 4);
        EXPECT_EQ(refused.status, REFS_UNSUPPORTED);
        EXPECT_NE(refused.message.find(row.word), std::string::npos) << refused.message;
    }
}

TEST(JpegLs, NamesWhatIsNotSupportedInAScan) {
    const struct {
        std::string parameters, word;
    } rows[] = {{bytes("\x01\x00\x00\x00"), "mapping tables are not supported"},
                {bytes("\x00\x00\x00\x01"), "point transforms are not supported"}};
    for (const auto &row : rows) {
        const Decoded refused = decode(picture(runs + end, "", row.parameters), 4);
        EXPECT_EQ(refused.status, REFS_UNSUPPORTED);
        EXPECT_NE(refused.message.find(row.word), std::string::npos) << refused.message;
    }
}

TEST(JpegLs, RefusesParametersThatMakeNoSense) {
    const std::string wrong[] = {bytes("\x00\xff\x00\x09\x00\x08\x00\x15\x00\x40"), // T2 < T1
                                 bytes("\x00\xff\x00\x03\x00\x07\x00\x15\x00\x02"), // RESET
                                 bytes("\x01\x00\x00\x03\x00\x07\x00\x15\x00\x40"), // MAXVAL
                                 bytes("\x00\xff\x00\x03\x00\x07\x00\x15")};
    for (const std::string &values : wrong) {
        const std::string preset =
            bytes("\xff\xf8") + '\0' + static_cast<char>(3 + values.size()) + '\x01' + values;
        EXPECT_EQ(decode(picture(runs + end, preset), 4).status, REFS_CORRUPT);
    }
}

TEST(JpegXl, IsNoLargerThanThereIsMemoryFor) {
    const std::string picture = bytes("\xff\x0a\x3c\x00\x21\x20\x28\x6e\x04\x08\x02\x01\x00\x78"
                                      "\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00");
    const Decoded refused =
        decodeWith(R"({"id":"imagecodecs_jpegxl"})", picture, size_t{8200} * 8200);
    if (refused.message.find("not in this build") != std::string::npos) GTEST_SKIP();
    EXPECT_EQ(refused.status, REFS_LIMIT);
    EXPECT_NE(refused.message.find("8200 x 8200 pixels of 1 samples"), std::string::npos)
        << refused.message;
}
