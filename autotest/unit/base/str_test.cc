#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "refs/utf8.h"
#include "text.h"

TEST(Str, ComparesBytesAndSizes) {
    EXPECT_TRUE(refs_str_is(View("t2m"), "t2m"));
    EXPECT_FALSE(refs_str_is(View("t2m"), "t2"));
    EXPECT_FALSE(refs_str_equal(View(std::string("a\0b", 3)), View(std::string("a\0c", 3))));
    EXPECT_TRUE(refs_str_equal(refs_str_view(nullptr, 0), View("")));
}

TEST(Str, IsOrderedByItsBytes) {
    EXPECT_LT(refs_str_compare(View("a"), View("b")), 0);
    EXPECT_LT(refs_str_compare(View("a"), View("ab")), 0);
    EXPECT_LT(refs_str_compare(refs_str_view(nullptr, 0), View("a")), 0);
    EXPECT_GT(refs_str_compare(View("\xff"), View("a")), 0);
    EXPECT_EQ(refs_str_compare(View("t2m"), View("t2m")), 0);
    EXPECT_EQ(refs_str_compare(refs_str_view(nullptr, 0), View("")), 0);
}

TEST(Str, KnowsItsBeginningAndEnd) {
    EXPECT_TRUE(refs_str_starts(View("/vsis3/a"), "/vsis3/"));
    EXPECT_FALSE(refs_str_starts(View("/vsi"), "/vsis3/"));
    EXPECT_TRUE(refs_str_ends(View("x/.zarray"), "/.zarray"));
    EXPECT_FALSE(refs_str_ends(View("zarray"), "/.zarray"));
    EXPECT_TRUE(refs_str_starts(View(""), ""));
}

TEST(Str, FindsTheFirstAndTheLast) {
    EXPECT_EQ(refs_str_find(View("a/b/c"), '/'), 1u);
    EXPECT_EQ(refs_str_find_last(View("a/b/c"), '/'), 3u);
    EXPECT_EQ(refs_str_find(View("abc"), '/'), SIZE_MAX);
    EXPECT_EQ(refs_str_find_last(View(""), '/'), SIZE_MAX);
}

TEST(Str, IsAPathWithAFolderAndALastPart) {
    const char *const parts[][4] = {{"a/b/c", "a/b/", "a/b", "c"},
                                    {"/c", "/", "", "c"},
                                    {"c", "", "", "c"},
                                    {"a/", "a/", "a", ""}};
    for (const auto &part : parts) {
        const refs_str path = refs_str_from(part[0]);
        EXPECT_EQ(Text(refs_path_folder(path)), part[1]) << part[0];
        EXPECT_EQ(Text(refs_path_parent(path)), part[2]) << part[0];
        EXPECT_EQ(Text(refs_path_last(path)), part[3]) << part[0];
    }
}

TEST(Str, IsFoundInLists) {
    const char *const words[] = {"ERROR", "WARN", nullptr};
    size_t i = 7;
    EXPECT_TRUE(refs_str_is_among(View("WARN"), words));
    EXPECT_FALSE(refs_str_is_among(View("warn"), words));
    EXPECT_TRUE(refs_word_find("warn", words, &i));
    EXPECT_EQ(i, 1u);
    EXPECT_FALSE(refs_word_find("", words, &i));
    EXPECT_EQ(i, 1u);
}

TEST(Str, IsAListOfTexts) {
    const std::string list("a\0\0bc\0", 6);
    refs_str rest = View(list);
    const char *text = nullptr, *texts[3];
    EXPECT_TRUE(refs_str_next_text(&rest, &text));
    EXPECT_STREQ(text, "a");
    EXPECT_TRUE(refs_str_next_text(&rest, &text));
    EXPECT_STREQ(text, "");
    EXPECT_TRUE(refs_str_next_text(&rest, &text));
    EXPECT_STREQ(text, "bc");
    EXPECT_FALSE(refs_str_next_text(&rest, &text));
    EXPECT_EQ(refs_texts_point(list.data(), 3, texts), list.data() + list.size());
    EXPECT_STREQ(texts[2], "bc");
}

TEST(Str, ClampsItsParts) {
    EXPECT_EQ(Text(refs_str_part(View("abcdef"), 2, 4)), "cd");
    EXPECT_EQ(Text(refs_str_part(View("abcdef"), 4, 99)), "ef");
    EXPECT_EQ(Text(refs_str_part(View("abcdef"), 9, 12)), "");
    EXPECT_EQ(Text(refs_str_part(View("abcdef"), 5, 2)), "");
}

TEST(Str, IsTrimmedOfWhatItsEndsHave) {
    EXPECT_EQ(Text(refs_str_trim(View(" a b\t "), " \t")), "a b");
    EXPECT_EQ(Text(refs_str_trim(View("\ta "), " ")), "\ta");
    EXPECT_EQ(Text(refs_str_trim(View("  "), " ")), "");
    EXPECT_EQ(Text(refs_str_trim(refs_str_view(nullptr, 0), " ")), "");
    EXPECT_EQ(Text(refs_str_trim(View(std::string("a\0", 2)), " ")), std::string("a\0", 2));
}

TEST(Str, IsCutIntoWords) {
    const std::string text = " lat\tlon,time ";
    refs_str left = View(text), word;
    EXPECT_TRUE(refs_str_next_word(&left, REFS_BLANKS, &word));
    EXPECT_EQ(Text(word), "lat");
    EXPECT_TRUE(refs_str_next_word(&left, " ,\t", &word));
    EXPECT_EQ(Text(word), "lon");
    EXPECT_TRUE(refs_str_next_word(&left, ",", &word));
    EXPECT_EQ(Text(word), "time ");
    EXPECT_FALSE(refs_str_next_word(&left, REFS_BLANKS, &word));
    EXPECT_EQ(Text(word), "");
    left = refs_str_view(nullptr, 0);
    EXPECT_FALSE(refs_str_next_word(&left, REFS_BLANKS, &word));
}

TEST(Str, HasCharactersOfUnicode) {
    const struct {
        uint32_t c;
        const char *bytes;
    } cases[] = {{'A', "A"},
                 {0x7F, "\x7F"},
                 {0x80, "\xC2\x80"},
                 {0x7FF, "\xDF\xBF"},
                 {0x800, "\xE0\xA0\x80"},
                 {0x20AC, "\xE2\x82\xAC"},
                 {0xFFFF, "\xEF\xBF\xBF"},
                 {0x10000, "\xF0\x90\x80\x80"},
                 {0x10FFFF, "\xF4\x8F\xBF\xBF"}};
    for (const auto &one : cases) {
        uint8_t bytes[4];
        const size_t size = refs_utf8_encode(one.c, bytes);
        EXPECT_EQ(std::string(reinterpret_cast<char *>(bytes), size), one.bytes) << one.c;
    }
}

TEST(Str, IsCopiedWithANulBehind) {
    char *copy = refs_str_copy(refs_str_part(View("abcdef"), 0, 3));
    EXPECT_STREQ(copy, "abc");
    refs_free(copy);
}

TEST(Str, ReadsPlainDecimalNumbersOnly) {
    uint64_t number = 0;
    EXPECT_TRUE(refs_str_to_u64(View("0"), &number));
    EXPECT_EQ(number, 0u);
    EXPECT_TRUE(refs_str_to_u64(View("18446744073709551615"), &number));
    EXPECT_EQ(number, UINT64_MAX);
    for (const char *bad : {"", "-1", "+1", " 1", "1 ", "01", "1.0", "1e3", "0x1", "/", ":",
                            "18446744073709551616", "99999999999999999999"})
        EXPECT_FALSE(refs_str_to_u64(View(bad), &number)) << bad;
    EXPECT_EQ(number, UINT64_MAX) << "left alone";
}
TEST(Str, IsCutInMessagesAndWholeInNames) {
    const std::string text(500, 'x');
    const refs_str str = refs_str_view(text.data(), text.size());
    char shown[600];
    EXPECT_EQ(snprintf(shown, sizeof shown, "%.*s", REFS_STR_ARG(str)), 400);
    EXPECT_EQ(snprintf(shown, sizeof shown, "%.*s", REFS_STR_WHOLE(str)), 500);
}

TEST(Str, IsCutIntoLines) {
    const auto lines = [](const char *text) {
        refs_str rest = refs_str_from(text), line;
        std::string all;
        while (refs_str_next_line(&rest, &line)) all += std::string(line.data, line.size) + "|";
        return all;
    };
    EXPECT_EQ(lines(""), "");
    EXPECT_EQ(lines("a"), "a|");
    EXPECT_EQ(lines("a\nb\n"), "a|b|");
    EXPECT_EQ(lines("a\rb\r\nc"), "a|b|c|");
    EXPECT_EQ(lines("\n\r\n\ra"), "|||a|");
    EXPECT_EQ(lines("\n\r"), "||");
}

TEST(Str, ListsHaveTextsEachWithANulBehindIt) {
    const refs_str list = refs_str_view("ab\0\0c", 6);
    EXPECT_EQ(refs_str_count_texts(list), 3u);
    EXPECT_EQ(refs_str_count_texts(refs_str_view("", 0)), 0u);
    for (const char *text : {"ab", "", "c"})
        EXPECT_TRUE(refs_str_has_text(list, View(text))) << text;
    for (const char *text : {"a", "b", "abc"}) EXPECT_FALSE(refs_str_has_text(list, View(text)));
    EXPECT_FALSE(refs_str_has_text(refs_str_view("", 0), View("")));
    size_t begins[5];
    refs_str_find_texts(list, 4, begins);
    EXPECT_EQ(std::vector<size_t>(begins, begins + 5), (std::vector<size_t>{0, 3, 4, 6, 6}));
}
