/* Escapes of URLs: read, left alone, and written. */
#include "refs/percent.h"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string decode(std::string text) {
    text.resize(refs_percent_decode(text.data(), text.size()));
    return text;
}

TEST(Percent, IsDecodedWhereItIsAnEscape) {
    EXPECT_EQ(decode("a%20b%2fc%C3%a9"), "a b/c\u00e9");
    EXPECT_EQ(decode("%41%"), "A%");
    EXPECT_EQ(decode("%4"), "%4");
    EXPECT_EQ(decode("%zz%%32"), "%zz%2");
    EXPECT_EQ(decode("%00").size(), 1U);
    EXPECT_EQ(decode(""), "");
    EXPECT_EQ(refs_percent_byte(refs_str_from("%ffx")), 255);
    EXPECT_EQ(refs_percent_byte(refs_str_from("x%ff")), -1);
    EXPECT_EQ(refs_percent_byte(refs_str_view("%41", 2)), -1);
}

TEST(Percent, IsWrittenForAllBytesThatAreNotPlain) {
    refs_buf text = REFS_BUF_INIT;
    const std::string bytes("a-_.~/:%\xff\0z", 11);
    ASSERT_EQ(refs_percent_append(refs_str_view(bytes.data(), bytes.size()), "/", &text, nullptr),
              REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(text.data), text.size),
              "a-_.~/%3A%25%FF%00z");
    EXPECT_EQ(decode(std::string(reinterpret_cast<const char *>(text.data), text.size)), bytes);
    refs_buf_clear(&text);
}

} // namespace
