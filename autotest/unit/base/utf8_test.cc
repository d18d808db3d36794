// utf8_test.cc -- what is UTF-8, and what only looks like it.
#include <gtest/gtest.h>

#include <string>

#include "refs/utf8.h"

namespace {

bool IsValid(const std::string &text) {
    return refs_utf8_is_valid(refs_str_view(text.data(), text.size()));
}

TEST(Utf8, TakesWhatItWrites) {
    for (const uint32_t c : {0x0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xffffu, 0x10000u, 0x10ffffu}) {
        uint8_t bytes[4];
        const size_t size = refs_utf8_encode(c, bytes);
        refs_str text = refs_str_view(reinterpret_cast<const char *>(bytes), size);
        uint32_t taken = 1;
        ASSERT_TRUE(refs_utf8_take(&text, &taken)) << c;
        EXPECT_EQ(taken, c);
        EXPECT_EQ(text.size, 0u);
    }
}

TEST(Utf8, RefusesWhatIsNone) {
    EXPECT_TRUE(IsValid("") && IsValid("t2m") && IsValid("na\xc3\xafve \xf0\x9f\x8c\x8d"));
    for (const char *text : {"\xff", "\xc3", "a\xc3(", "\x80", "\xf0\x9f\x8c"})
        EXPECT_FALSE(IsValid(text)) << text;
    EXPECT_FALSE(IsValid("\xc0\xaf")) << "too long";
    EXPECT_FALSE(IsValid("\xe0\x80\xaf")) << "too long";
    EXPECT_FALSE(IsValid("\xed\xa0\x80")) << "a surrogate";
    EXPECT_FALSE(IsValid("\xf4\x90\x80\x80")) << "beyond U+10FFFF";
}

} // namespace
