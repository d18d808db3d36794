#include <gtest/gtest.h>

#include "text.h"

TEST(Buf, CollectsBytesAndText) {
    Buf buf;
    ASSERT_EQ(refs_buf_append(&buf, "a\0b", 3, nullptr), REFS_OK);
    ASSERT_EQ(refs_buf_append_str(&buf, View("cd"), nullptr), REFS_OK);
    ASSERT_EQ(refs_buf_printf(&buf, nullptr, "%03d", 7), REFS_OK);
    EXPECT_EQ(buf.Text(), std::string("a\0bcd007", 8));
    EXPECT_EQ(buf.buf.data[buf.buf.size], 0) << "a NUL follows printed text";
}

TEST(Buf, AcceptsNothing) {
    Buf buf;
    ASSERT_EQ(refs_buf_append(&buf, nullptr, 0, nullptr), REFS_OK);
    ASSERT_EQ(refs_buf_append_str(&buf, refs_str_view(nullptr, 0), nullptr), REFS_OK);
    EXPECT_EQ(buf.buf.size, 0u);
}

TEST(Buf, KeepsItsContentWhileItGrows) {
    Buf buf;
    std::string expected;
    for (int i = 0; i < 5000; i++) {
        ASSERT_EQ(refs_buf_printf(&buf, nullptr, "%d,", i), REFS_OK);
        expected += std::to_string(i) + ",";
    }
    EXPECT_EQ(buf.Text(), expected);
}

TEST(Buf, ReservesWithoutChangingTheSize) {
    Buf buf;
    ASSERT_EQ(refs_buf_reserve(&buf, 100, nullptr), REFS_OK);
    EXPECT_EQ(buf.buf.size, 0u);
    EXPECT_GE(buf.buf.capacity, 100u);
}

TEST(Buf, IsResizedBothWays) {
    Buf buf;
    ASSERT_EQ(refs_buf_append_str(&buf, View("abcdef"), nullptr), REFS_OK);
    ASSERT_EQ(refs_buf_resize(&buf, 3, nullptr), REFS_OK);
    EXPECT_EQ(buf.Text(), "abc");
    ASSERT_EQ(refs_buf_resize(&buf, 1000, nullptr), REFS_OK);
    EXPECT_EQ(buf.buf.size, 1000u);
}

TEST(Buf, FailsWhereSizesOverflow) {
    Buf buf;
    ASSERT_EQ(refs_buf_append_str(&buf, View("x"), nullptr), REFS_OK);
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_buf_append(&buf, "", SIZE_MAX, &err), REFS_NOMEM);
    EXPECT_EQ(err.status, REFS_NOMEM);
}

TEST(Buf, GivesItsTextAway) {
    Buf buf;
    ASSERT_EQ(refs_buf_append_str(&buf, View("abc"), nullptr), REFS_OK);
    char *text = refs_buf_take_text(&buf);
    EXPECT_STREQ(text, "abc");
    EXPECT_EQ(buf.buf.data, nullptr);
    EXPECT_EQ(buf.buf.size, 0u);
    refs_free(text);
}
