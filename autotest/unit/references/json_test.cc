// Sets in JSON that are large, come in parts, or are opened with options; values and versions are
// golden cases.

#include <gtest/gtest.h>

#include "set_under_test.h"

TEST(RefsetJson, IsNotFoundWhereThereIsNoFile) {
    MemoryVfs vfs;
    refs_set *set = nullptr;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_set_open(vfs.get(), "none.json", nullptr, &set, &err), REFS_NOT_FOUND);
    EXPECT_EQ(set, nullptr);
    EXPECT_STREQ(err.message, "none.json: no such file");
}

TEST(RefsetJson, IsReadInParts) {
    std::string json = R"({"version": 1, "refs": {"v/.zarray": "{}")";
    for (int i = 0; i < 30000; i++)
        json += ",\n\"v/" + std::to_string(i / 100) + "." + std::to_string(i % 100) +
                "\": [\"s3://bucket/file_" + std::to_string(i / 1000) + ".nc\", " +
                std::to_string(i * 100) + ", 100]";
    SetUnderTest set;
    ASSERT_EQ(set.Open(json + "}}"), REFS_OK) << set.error.message;
    EXPECT_EQ(refs_set_size(set.set), 30001u);
    EXPECT_EQ(refs_set_n_locations(set.set), 30u);
    for (int i : {0, 1, 99, 100, 12345, 29999})
        EXPECT_EQ(set.At("v/" + std::to_string(i / 100) + "." + std::to_string(i % 100)),
                  "[s3://bucket/file_" + std::to_string(i / 1000) + ".nc, " +
                      std::to_string(i * 100) + ", 100]");
    EXPECT_LT(set.vfs.reads, 20);
}

TEST(RefsetJson, TellsWhereAMistakeIsInALargeDocument) {
    std::string json = "{";
    for (int i = 0; i < 50000; i++) json += "\"v/" + std::to_string(i) + "\": [\"u\"],\n";
    SetUnderTest broken, wrong;
    EXPECT_EQ(broken.Open(json + "\"x\" 5}"), REFS_CORRUPT);
    EXPECT_STREQ(broken.error.message, "refs.json: line 50001, column 5: expected ':', found '5'");
    ASSERT_EQ(wrong.Open(json + "\"x\": 5}"), REFS_OK);
    EXPECT_EQ(
        wrong.At("x"),
        "invalid: line 50001, column 6: expected a string, an object or an array as reference");
}

TEST(RefsetJson, HoldsALargeInlineValue) {
    const std::string value(3000000, 'x');
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"a": ")" + value + R"(", "b": {"c": ")" + value + R"("}})"), REFS_OK);
    EXPECT_EQ(set.At("a"), "\"" + value + "\"");
    EXPECT_EQ(set.At("b"), "\"{\\\"c\\\": \\\"" + value + "\\\"}\"");
}

TEST(RefsetJson, LimitsOneValue) {
    for (const char *json :
         {R"({"a": "%"})", R"({"a": {"b": "%"}})", R"({"a": "base64:%"})", R"({"a": ["%"]})"}) {
        std::string text = json;
        text.replace(text.find('%'), 1, std::string(4000, 'A'));
        SetUnderTest set;
        set.options.limits.max_value_bytes = 2500;
        EXPECT_EQ(set.Open(text), REFS_LIMIT) << json;
    }
}

TEST(RefsetJson, AcceptsBase64OfAValueAtTheLimit) {
    const std::string encoded(4000, 'A');
    SetUnderTest set;
    set.options.limits.max_value_bytes = 3000;
    EXPECT_EQ(set.Open(R"({"a": "base64:)" + encoded + R"("})"), REFS_OK) << set.error.message;
}

TEST(RefsetJson, LimitsAllInlineValues) {
    SetUnderTest set;
    set.options.limits.max_inline_bytes = 5;
    EXPECT_EQ(set.Open(R"({"a": "123", "b": "base64:MTIz"})"), REFS_LIMIT);
    EXPECT_STREQ(set.error.message, "refs.json: limit of 5 inline bytes exceeded");
}

TEST(RefsetJson, ReadsAgainOnlyWhereTheVersionComesTooLate) {
    SetUnderTest early, late;
    ASSERT_EQ(early.Open(R"({"refs": {"a": "x"}, "version": 1})"), REFS_OK);
    ASSERT_EQ(late.Open(R"({"made_by": "me", "refs": {"a": "x"}, "version": 1})"), REFS_OK);
    EXPECT_GT(late.vfs.reads, early.vfs.reads);
    EXPECT_EQ(refs_set_size(late.set), 1u);
}

TEST(RefsetJson, IsNamedInMessagesByItsLocation) {
    SetUnderTest set;
    set.location = "/vsicurl/https://h/x.json";
    EXPECT_EQ(set.Open("{\"version\": 3}"), REFS_INVALID);
    EXPECT_STREQ(set.error.message, "/vsicurl/https://h/x.json: line 1, column 13: expected "
                                    "version 1 of a reference set, found \"3\"");
}

TEST(RefsetJson, AppliesRewrites) {
    SetUnderTest set;
    set.rewrites = {"/home/me/=>s3://bucket/"};
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"u": "/home/me/d"},
                           "refs": {"a": ["{{u}}/x.nc"]}})"),
              REFS_OK);
    EXPECT_EQ(set.At("a"), "[/home/me/d/x.nc]") << "people see what the set says";
    EXPECT_EQ(set.LocationAt("a"), "/vsis3/bucket/d/x.nc");
}

TEST(RefsetJson, RefusesATemplateOptionWithoutValue) {
    SetUnderTest set;
    set.templates = {"u"};
    EXPECT_EQ(set.Open(R"({"version": 1, "refs": {}})"), REFS_INVALID);
    EXPECT_STREQ(set.error.message, "refs.json: template \"u\": expected NAME=VALUE");
}

TEST(RefsetJson, LetsRemoteSetsNameLocalFilesWhenTold) {
    SetUnderTest set;
    set.location = "/vsis3/b/refs.json";
    set.options.remote_to_local = true;
    ASSERT_EQ(set.Open(R"({"a": ["/data/x.nc"]})"), REFS_OK);
    EXPECT_EQ(set.LocationAt("a"), "/data/x.nc");
}

TEST(RefsetJson, NotesHowManyReferencesWereReplaced) {
    SetUnderTest set, plain;
    ASSERT_EQ(set.Open(R"({"a": "1", "v/0.0": ["u"], "a": "2", "/a": "3", "v/0.0": ["w"],
                           "v/0.1": ["u"]})"),
              REFS_OK);
    EXPECT_EQ(set.debug_notes,
              (std::vector<std::string>{
                  "refs.json: 3 keys occur more than once: the last reference of each is used"}));
    EXPECT_EQ(set.At("a") + set.At("v/0.0"), "\"3\"[w]");
    ASSERT_EQ(plain.Open(R"({"a": "1", "b": "2"})"), REFS_OK);
    EXPECT_TRUE(plain.debug_notes.empty());
}

TEST(RefsetJson, LimitsWhatATemplateRendersTo) {
    const char *json = R"({"version": 1, "templates": {"u": "12345"},
                           "gen": [{"key": "g/{{i}}", "url": "{{u}}{{u}}",
                                    "dimensions": {"i": {"stop": 1}}}],
                           "refs": {"a": ["{{u}}{{u}}{{u}}"]}})";
    SetUnderTest ten, nine;
    ten.options.limits.max_rendered_bytes = 10;
    ASSERT_EQ(ten.Open(json), REFS_OK) << ten.error.message;
    EXPECT_EQ(ten.At("g/0"), "[1234512345]");
    EXPECT_EQ(ten.At("a"), "over a limit: template \"{{u}}{{u}}{{u}}\": it renders to more than "
                           "10 bytes");
    nine.options.limits.max_rendered_bytes = 9;
    EXPECT_EQ(nine.Open(json), REFS_LIMIT);
    EXPECT_STREQ(nine.error.message, "refs.json: gen[0]: template \"{{u}}{{u}}\": it renders to "
                                     "more than 9 bytes");
}

TEST(RefsetJson, LimitsWhatAllTemplatesMake) {
    SetUnderTest set;
    std::string json = R"({"version": 1, "templates": {"u": ")" + std::string(65000, 'x') +
                       R"("}, "refs": {"a": "b")";
    for (int i = 0; i < 6400; i++)
        json += ",\"v/" + std::to_string(i) + "\": [\"{{u}}" + std::to_string(i) + "\"]";
    EXPECT_EQ(set.Open((json + "}}").c_str()), REFS_LIMIT);
    EXPECT_NE(
        std::string(set.error.message).find("the rendered URLs need more than the limit of 40"),
        std::string::npos)
        << set.error.message;
}

TEST(RefsetJson, KeepsApartAndTogetherWhatTemplatesMake) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"u": "s3://b", "w": "s3://b"},
        "refs": {"plain": ["s3://b/x"], "a": ["{{u}}/x", 1, 2], "v/0": ["{{w}}/x", 3, 4],
                 "v/1": ["{{u}}/y", 0, 9000000000], "b": ["{{no}}"], "v/2": ["{{u}}/y"]},
        "gen": [{"key": "v/3", "url": "{{u}}/{{'x'}}", "dimensions": {}},
                {"key": "v/4", "url": "s3://b/z", "dimensions": {}}]})"),
              REFS_OK)
        << set.error.message;
    EXPECT_EQ(refs_set_n_locations(set.set), 3u);
    EXPECT_EQ(set.At("plain"), "[s3://b/x]");
    EXPECT_EQ(set.At("a"), "[s3://b/x, 1, 2]");
    EXPECT_EQ(set.At("v/0"), "[s3://b/x, 3, 4]");
    EXPECT_EQ(set.At("v/1"), "[s3://b/y, 0, 9000000000]");
    EXPECT_EQ(set.At("v/2"), "[s3://b/y]");
    EXPECT_EQ(set.At("v/3"), "[s3://b/x]");
    EXPECT_EQ(set.At("v/4"), "[s3://b/z]");
    EXPECT_EQ(set.At("b"), "invalid: template \"{{no}}\": \"no\" is not defined");
}

TEST(RefsetJson, LimitsHowDeepTemplatesCallEachOther) {
    const char *json = R"({"version": 1, "templates": {"f": "{{c}}", "g": "{{f(c=c)}}"},
                           "refs": {"a": ["{{f(c='x')}}"]}})";
    SetUnderTest none, one;
    none.options.limits.max_template_depth = 0;
    one.options.limits.max_template_depth = 1;
    ASSERT_EQ(none.Open(json), REFS_OK);
    EXPECT_EQ(none.At("a").find("over a limit: "), 0u) << none.At("a");
    EXPECT_NE(none.At("a").find("more than 0 deep"), std::string::npos) << none.At("a");
    ASSERT_EQ(one.Open(json), REFS_OK);
    EXPECT_EQ(one.At("a"), "[x]");
}

TEST(RefsetJson, WarnsOnceForAllFractions) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"a": ["u", 1.0, 2.0], "b": ["u", 3.0, 4]})"), REFS_OK);
    ASSERT_EQ(set.warnings.size(), 1u);
    EXPECT_EQ(set.warnings[0], "3 offsets or lengths are not integers, but have a fraction of 0");
    SetUnderTest other;
    ASSERT_EQ(other.Open(R"({"a": ["u", 1.0, 2]})"), REFS_OK);
    EXPECT_EQ(other.warnings.size(), 1u);
}
