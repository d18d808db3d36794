#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "refs/json.h"
#include "text.h"

namespace {

using Doc = std::unique_ptr<refs_json_doc, void (*)(refs_json_doc *)>;

Doc Parse(const std::string &text) {
    refs_json_doc *doc = nullptr;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_json_parse(View(text), &doc, &err), REFS_OK) << err.message;
    return Doc(doc, refs_json_doc_free);
}

std::string Written(const refs_json *value) {
    Buf text;
    EXPECT_EQ(refs_json_write(value, &text, nullptr), REFS_OK);
    return text.Text();
}

} // namespace

TEST(JsonTree, HoldsEveryKindOfValue) {
    Doc doc = Parse(R"([null, true, "x", 1.5, [], {}])");
    const refs_json *root = refs_json_root(doc.get());
    ASSERT_TRUE(refs_json_is_array(root));
    ASSERT_EQ(refs_json_size(root), 6u);
    const refs_json_kind kinds[] = {REFS_JSON_KIND_NULL,   REFS_JSON_KIND_BOOL,
                                    REFS_JSON_KIND_STRING, REFS_JSON_KIND_NUMBER,
                                    REFS_JSON_KIND_ARRAY,  REFS_JSON_KIND_OBJECT};
    for (size_t i = 0; i < 6; i++) EXPECT_EQ(refs_json_kind_of(refs_json_at(root, i)), kinds[i]);
    EXPECT_EQ(refs_json_at(root, 6), nullptr);
}

TEST(JsonTree, FindsMembersByNameAndByPlace) {
    Doc doc = Parse(R"({"b": 1, "a": {"c": "x"}, "": 3, "aa": 4})");
    const refs_json *root = refs_json_root(doc.get());
    EXPECT_EQ(Text(refs_json_name_at(root, 0)), "b");
    EXPECT_EQ(Text(refs_json_name_at(root, 2)), "");
    EXPECT_EQ(Text(refs_json_text(refs_json_get(root, "aa"))), "4");
    EXPECT_EQ(Text(refs_json_text(refs_json_get(root, ""))), "3");
    EXPECT_EQ(refs_json_get(root, "c"), nullptr);
    EXPECT_EQ(Text(refs_json_text(refs_json_get(refs_json_get(root, "a"), "c"))), "x");
    EXPECT_EQ(refs_json_get(root, "b"), refs_json_at(root, 0));
}

TEST(JsonTree, FindsMembersOfLargeObjects) {
    std::string text = "{";
    for (int i = 0; i < 50000; i++)
        text += "\"k" + std::to_string(i * 7919 % 50000) + "\": " + std::to_string(i) + ",";
    Doc doc = Parse(text + "\"last\": 0}");
    const refs_json *root = refs_json_root(doc.get());
    ASSERT_EQ(refs_json_size(root), 50001u);
    for (int i = 0; i < 50000; i++) {
        uint64_t value = 0;
        ASSERT_TRUE(refs_json_u64(
            refs_json_get_str(root, View("k" + std::to_string(i * 7919 % 50000))), &value));
        ASSERT_EQ(value, static_cast<uint64_t>(i));
    }
}

TEST(JsonTree, KeepsOnlyTheLastOfDuplicates) {
    Doc doc = Parse(R"({"a": 1, "b": 2, "a": 3, "c": 4, "a": [5], "b": 6})");
    EXPECT_EQ(Written(refs_json_root(doc.get())), R"({"c":4,"a":[5],"b":6})");
    EXPECT_EQ(Written(refs_json_get(refs_json_root(doc.get()), "a")), "[5]");
    EXPECT_EQ(Written(refs_json_root(Parse(R"({"z": 1, "z": 2})").get())), R"({"z":2})");
}

TEST(JsonTree, TellsNamesWithNulsApart) {
    Doc doc = Parse(R"({"a\u0000b": 1, "a\u0000c": 2, "a": 3})");
    const refs_json *root = refs_json_root(doc.get());
    EXPECT_EQ(refs_json_size(root), 3u);
    EXPECT_EQ(Written(refs_json_get_str(root, View(std::string("a\0c", 3)))), "2");
}

TEST(JsonTree, TreatsNoValueAsNull) {
    bool truth;
    uint64_t u64;
    double number;
    EXPECT_EQ(refs_json_kind_of(nullptr), REFS_JSON_KIND_NULL);
    EXPECT_EQ(refs_json_size(nullptr), 0u);
    EXPECT_EQ(refs_json_at(nullptr, 0), nullptr);
    EXPECT_EQ(refs_json_get(nullptr, "x"), nullptr);
    EXPECT_EQ(Text(refs_json_text(nullptr)), "");
    EXPECT_EQ(Text(refs_json_name_at(nullptr, 0)), "");
    EXPECT_FALSE(refs_json_bool(nullptr, &truth));
    EXPECT_FALSE(refs_json_u64(nullptr, &u64));
    EXPECT_FALSE(refs_json_double(nullptr, &number));
    EXPECT_EQ(Written(nullptr), "null");
}

TEST(JsonTree, ConvertsOnlyWhatIsOfTheKind) {
    Doc doc = Parse(R"([true, 5, "5", -5, 1.5, NaN, 5.0])");
    const refs_json *root = refs_json_root(doc.get());
    bool truth = false;
    uint64_t u64 = 0;
    int64_t i64 = 0;
    double number = 0;
    EXPECT_TRUE(refs_json_bool(refs_json_at(root, 0), &truth) && truth);
    EXPECT_FALSE(refs_json_bool(refs_json_at(root, 1), &truth));
    EXPECT_TRUE(refs_json_u64(refs_json_at(root, 1), &u64) && u64 == 5);
    EXPECT_FALSE(refs_json_u64(refs_json_at(root, 2), &u64));
    EXPECT_FALSE(refs_json_u64(refs_json_at(root, 3), &u64));
    EXPECT_TRUE(refs_json_i64(refs_json_at(root, 3), &i64) && i64 == -5);
    EXPECT_FALSE(refs_json_i64(refs_json_at(root, 4), &i64));
    EXPECT_TRUE(refs_json_double(refs_json_at(root, 4), &number) && number == 1.5);
    EXPECT_TRUE(refs_json_double(refs_json_at(root, 5), &number) && std::isnan(number));
    EXPECT_TRUE(refs_json_u64(refs_json_at(root, 6), &u64) && u64 == 5);
    EXPECT_FALSE(refs_json_double(refs_json_at(root, 2), &number));
}

TEST(JsonTree, EndsTextsWithANul) {
    Doc doc = Parse(R"({"name": "text"})");
    const refs_json *root = refs_json_root(doc.get());
    EXPECT_STREQ(refs_json_name_at(root, 0).data, "name");
    EXPECT_STREQ(refs_json_text(refs_json_at(root, 0)).data, "text");
}

TEST(JsonTree, IsWrittenCompactly) {
    const char *compact = R"({"a":[1,2.50,NaN,-Infinity,true,false,null],"b":{},"c":[],"d":"x"})";
    EXPECT_EQ(Written(refs_json_root(Parse(compact).get())), compact);
    EXPECT_EQ(Written(refs_json_root(Parse(" [ 1 , { \"a\" : 2 } ] ").get())), R"([1,{"a":2}])");
}

TEST(JsonTree, IsWrittenByMembers) {
    const auto one = Parse("[1]");
    Buf text;
    ASSERT_EQ(refs_buf_append(&text, "{", 1, nullptr), REFS_OK);
    ASSERT_EQ(refs_json_write_member(View("a"), refs_json_root(one.get()), &text, nullptr),
              REFS_OK);
    ASSERT_EQ(refs_json_write_member(View("b{"), refs_json_root(one.get()), &text, nullptr),
              REFS_OK);
    ASSERT_EQ(refs_buf_append(&text, ",", 1, nullptr), REFS_OK);
    ASSERT_EQ(refs_json_write_name(View("\""), &text, nullptr), REFS_OK);
    EXPECT_EQ(text.Text(), R"({"a":[1],"b{":[1],"\"":)");
}

TEST(JsonTree, SurvivesWritingAndReading) {
    const std::string bytes("\"\\/\b\f\n\r\t\0\x1f\x7f\xc3\xa9\xff", 14);
    Buf text;
    ASSERT_EQ(refs_json_write_string(View(bytes), &text, nullptr), REFS_OK);
    EXPECT_EQ(text.Text(), "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\xc3\xa9\xff\"");
    EXPECT_EQ(Text(refs_json_text(refs_json_root(Parse(text.Text()).get()))), bytes);
}

TEST(JsonTree, IsNotMadeFromMalformedText) {
    for (const char *text : {"", "{", "[1,]", "{\"a\":1} x", "{\"a\" 1}", "nul"}) {
        refs_json_doc *doc = nullptr;
        refs_error err = REFS_ERROR_INIT;
        EXPECT_EQ(refs_json_parse(View(text), &doc, &err), REFS_CORRUPT) << text;
        EXPECT_EQ(doc, nullptr);
        EXPECT_NE(std::string(err.message).find("line 1, column "), std::string::npos) << text;
    }
}

TEST(JsonTree, TakesNoMoreMemoryThanItMay) {
    std::string text = "[";
    for (size_t i = 0; i < 9 << 20; i++) text += "0,";
    refs_json_doc *doc = nullptr;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_json_parse(View(text + "0]"), &doc, &err), REFS_LIMIT);
    EXPECT_STREQ(err.message,
                 "JSON of 18874371 bytes needs more memory than the limit of 335544320 bytes");
    EXPECT_EQ(doc, nullptr);
}

TEST(JsonTree, CountsNoCommasOfStringsAsValues) {
    const std::string text = "[\"\\\"" + std::string(30 << 20, ',') + "\"]";
    refs_json_doc *doc = nullptr;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_json_parse(View(text), &doc, &err), REFS_OK) << err.message;
    refs_json_doc_free(doc);
}
