/* grib_codecs_test.cc -- configurations of codecs of GRIB messages that contradict the message;
 * what the codecs decode is tested with samples of other encoders (autotest/conform). */
#include <string>

#include "codec_chain.h"

namespace {

/** Section 7 of four points of 8 bits. */
const std::string data = bytes("\0\0\0\x09\x07\x01\x02\x03\x04");

/** A configuration in which `changed`, such as "nx", has another value. */
std::string config(const std::string &changed = "", const std::string &value = "") {
    std::string text = R"([{"id":"grib2io")";
    const std::pair<const char *, const char *> members[] = {{"drtn", "0"},
                                                             {"drt", "[0,0,0,8,0]"},
                                                             {"nx", "2"},
                                                             {"ny", "2"},
                                                             {"number_of_data_points", "4"},
                                                             {"number_of_packed_values", "4"},
                                                             {"bitmap_flag", "255"},
                                                             {"bitmap_length", "null"}};
    for (const auto &[name, usual] : members)
        text += std::string(",\"") + name + "\":" + (changed == name ? value : usual);
    return text + "}]";
}

Decoded decode(const std::string &configuration, const std::string &encoded) {
    CodecChain chain(configuration, 16, "<f4", 0, {{2, 2}, ""});
    if (chain.status != REFS_OK) return {chain.status, "", chain.message()};
    return chain.decode(encoded);
}

TEST(Grib2io, DecodesSection7ByTheNumbersOfTheConfiguration) {
    EXPECT_EQ(decode(config(), data).bytes,
              bytes("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40"));
}

TEST(Grib2io, NamesTheMemberThatIsWrong) {
    EXPECT_EQ(decode(config("drtn", "50"), data).message,
              "grib2io: data representation template 5.50 (drtn) is not supported");
    EXPECT_EQ(decode(config("drt", "[0,0,0,8]"), data).message,
              "grib2io: drt[4]: expected a number of 1 bytes");
    EXPECT_EQ(decode(config("drt", "[0,40000,0,8,0]"), data).message,
              "grib2io: drt[1]: expected a number of 2 bytes");
    EXPECT_EQ(decode(config("nx", "3"), data).message,
              "grib2io: number_of_data_points: expected nx times ny, 3 times 2, found 4");
    EXPECT_EQ(decode(config("ny", "-2"), data).message,
              "grib2io: ny: expected a number of 32 bits");
}

TEST(Grib2io, SaysWhatOfTheMessageContradictsTheConfiguration) {
    EXPECT_EQ(decode(config("drt", "[0,0,0,9,0]"), data).message,
              "grib2io: 4 bytes do not hold 4 values");
    EXPECT_EQ(decode(config(), bytes("\0\0\0\x06\x06\xff")).message,
              "grib2io: expected section 7 of a GRIB message, found 6");
    EXPECT_EQ(decode(config(), data + "7777").message, "grib2io: 4 bytes follow section 7");
    EXPECT_EQ(decode(config("number_of_packed_values", "3"), data).message,
              "grib2io: 3 values for 4 points, without the bitmap of section 6: make references "
              "that begin at section 6");
}

TEST(Grib2io, NeedsTheBitmapThatIsAnnounced) {
    std::string configuration = config("bitmap_flag", "0");
    configuration.replace(configuration.find("null"), 4, "7");
    configuration.replace(configuration.find("values\":4") + 8, 1, "3");
    const std::string cut = bytes("\0\0\0\x08\x07\x01\x02\x03");
    EXPECT_EQ(decode(configuration, bytes("\0\0\0\x07\x06\0\xd0") + cut).bytes,
              bytes("\0\0\x80\x3f\0\0\0\x40\0\0\xc0\x7f\0\0\x40\x40"));
    EXPECT_EQ(decode(configuration, bytes("\0\0\0\x07\x06\0\xf0") + cut).message,
              "grib2io: 3 values for 4 points");
    EXPECT_EQ(decode(configuration, bytes("\0\0\0\x08\x06\0\xd0\0") + cut).message,
              "grib2io: bitmap_length: expected the 8 bytes of section 6, found 7");
}

std::string section(char number, const std::string &content) {
    return bytes("\0\0\0") + static_cast<char>(content.size() + 5) + number + content;
}

/** Four points of two rows whose values are the reference, 1.5, in no bits. */
std::string constantMessage() {
    const std::string sections = section(1, std::string(16, '\0')) +
                                 section(3, bytes("\0\0\0\0\4\0\0\0\0") + std::string(16, '\0') +
                                                bytes("\0\0\0\2\0\0\0\2") + std::string(34, '\0')) +
                                 section(4, std::string(5, '\0')) +
                                 section(5, bytes("\0\0\0\4\0\0\x3f\xc0\0\0\0\0\0\0\0\0")) +
                                 section(6, "\xff") + section(7, "") + "7777";
    return bytes("GRIB\xff\xff\0\2\0\0\0\0\0\0\0") + static_cast<char>(sections.size() + 16) +
           sections;
}

TEST(Gribberish, TakesTrueAndFalseOnly) {
    CodecChain chain(R"([{"id":"gribberish","var":"t","north_up":"yes"}])", 16, "<f8");
    EXPECT_EQ(chain.message(), "gribberish: north_up: expected true or false");
}

TEST(Gribberish, HasTheTypeThatACastBeforeItEncodesTo) {
    const std::string message = constantMessage();
    CodecChain chain(R"([{"id":"cast_value","data_type":"float64"},{"id":"gribberish"}])", 8, "<i2",
                     0, {{2, 2}, ""});
    const Decoded decoded = chain.decode(message);
    EXPECT_EQ(decoded.message, "");
    EXPECT_EQ(decoded.bytes, bytes("\1\0\1\0\1\0\1\0"));
}

} // namespace
