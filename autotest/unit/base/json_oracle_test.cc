/* json_oracle_test.cc -- the JSON reader against jansson (decision 2): strings that test suites of
 * JSON are made of, sets, documents that are made at random, and all of them with mistakes. */
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "json_oracle.h"
#include "text.h"

namespace fs = std::filesystem;

namespace {

/* Both accept these. */
const std::vector<std::string> strings = {"null",
                                          "true",
                                          "false",
                                          "0",
                                          "-0",
                                          "-0.0",
                                          "1",
                                          "-1",
                                          "123456789012345678",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "1.5",
                                          "-1.5e-3",
                                          "1E5",
                                          "1e+5",
                                          "0e0",
                                          "0.0e-0",
                                          "1e-400",
                                          "4.9e-324",
                                          "2.2250738585072011e-308",
                                          "1.7976931348623157e308",
                                          "0.1",
                                          "1e23",
                                          "8.41e21",
                                          "9007199254740993.0",
                                          "123456789.123456789e-9",
                                          "\"\"",
                                          "\"a\"",
                                          R"("\"\\\/\b\f\n\r\t")",
                                          R"("\u0041\u00e9\u20ac\ud83d\ude00")",
                                          R"("\u0000")",
                                          "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"",
                                          "\"\x7F\"",
                                          "\"\xEF\xBF\xBF\"",
                                          "[]",
                                          "[ ]",
                                          "[1,2,3]",
                                          " [ 1 , 2 ] ",
                                          "\t[\r\n1\n]\n",
                                          "{}",
                                          "{ }",
                                          R"({"a":1})",
                                          R"({"a":{"b":[{"c":null}]}})",
                                          R"({"":0})",
                                          R"({"a":1,"a":2})",
                                          R"({"b":1,"a":2,"b":3})",
                                          R"({"\u0061":1,"a":2})",
                                          R"([[],[[]],{},[{}]])",
                                          R"({"k":["s3://b/f",0,10]})",
                                          R"({"k" : [ "f" , 18446744073 , 7 ] , "l" : ["g"]})",
                                          R"(["x",1,2,3])",
                                          R"({"k":["x",1.5,2]})",
                                          "[1e1,1E1,1e+1,1e-1]"};

/* Both refuse these. */
const std::vector<std::string> noStrings = {"",
                                            " ",
                                            "[",
                                            "]",
                                            "{",
                                            "}",
                                            "[1",
                                            "[1,",
                                            "[1,]",
                                            "[,1]",
                                            "[,]",
                                            "[1,,2]",
                                            "[1 2]",
                                            "[1}",
                                            "{\"a\":1]",
                                            "{\"a\"}",
                                            "{\"a\":}",
                                            "{\"a\":1,}",
                                            "{,}",
                                            "{\"a\" 1}",
                                            "{\"a\"::1}",
                                            "{a:1}",
                                            "{1:2}",
                                            "{'a':1}",
                                            "{null:1}",
                                            "{\"a\":1 \"b\":2}",
                                            "'a'",
                                            "\"a",
                                            "\"\\",
                                            "\"\\x\"",
                                            "\"\\u12\"",
                                            "\"\\u12g4\"",
                                            "\"\\U0041\"",
                                            "tru",
                                            "nul",
                                            "True",
                                            "nulll",
                                            "truefalse",
                                            "nan",
                                            "inf",
                                            "01",
                                            "-01",
                                            "00",
                                            "1.",
                                            ".5",
                                            "-.5",
                                            "+1",
                                            "-",
                                            "--1",
                                            "- 1",
                                            "1e",
                                            "1e+",
                                            "1.e5",
                                            "1..2",
                                            "1.2.3",
                                            "0x1",
                                            "1_000",
                                            "1a",
                                            "1 2",
                                            "[] []",
                                            "{}{}",
                                            "// c",
                                            "[1]/**/",
                                            "[1]#",
                                            "\xFF",
                                            "\xC2\xA0[]",
                                            "[\v1]",
                                            "[1]\f",
                                            R"({"k":["x",1,2})",
                                            R"({"k":["x" 1,2]})",
                                            R"({"k":["x",1,2,]})",
                                            R"({"k":["x",01,2]})",
                                            R"({"k":["x",1,-]})"};

void ExpectSame(const std::string &text) {
    const char *difference = json_oracle_difference(View(text));
    EXPECT_EQ(difference, nullptr) << difference << ": " << text.substr(0, 400);
}

bool IsRead(const std::string &text) {
    refs_json_doc *doc = nullptr;
    const refs_status status = refs_json_parse(View(text), &doc, nullptr);
    refs_json_doc_free(doc);
    return status == REFS_OK;
}

std::vector<std::string> FilesIn(const std::string &folder) {
    std::vector<std::string> contents;
    for (const auto &entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file(entry.path(), std::ios::binary);
        std::ostringstream content;
        content << file.rdbuf();
        contents.push_back(content.str());
    }
    return contents;
}

/* The reader accepts these as well, see json.h. */
const std::vector<std::string> moreStrings = {"NaN",
                                              "-Infinity",
                                              "[Infinity]",
                                              "123456789012345678901234567890",
                                              "1e400",
                                              "\"\t\n\x01\"",
                                              R"("\ud800")",
                                              R"("\udc00x")",
                                              R"({"\u0000":1})",
                                              "\xEF\xBB\xBF[]",
                                              "\"\xFF\"",
                                              "\"\xC0\x80\"",
                                              "\"\xE0\x80\x80\"",
                                              "\"\xED\xA0\x80\"",
                                              "\"\xF4\x90\x80\x80\"",
                                              "\"\xF0\x80\x80\x80\"",
                                              "\"\xC3\"",
                                              "\"\xE2\x82\"",
                                              "\"\x80\""};

/** Documents of all kinds of values, with white space anywhere. */
class Writer {
  public:
    std::string document() { return blank() + value(4) + blank(); }

    size_t below(size_t n) { return random_() % n; }
    template <class T> const T &oneOf(const std::vector<T> &of) { return of[below(of.size())]; }

  private:
    std::string blank() {
        static const std::vector<std::string> blanks = {"", "", "", " ", "\n", "\t ", "\r\n"};
        return oneOf(blanks);
    }
    std::string digits(size_t n) {
        std::string text(1, static_cast<char>('1' + below(9)));
        while (text.size() < n) text += static_cast<char>('0' + below(10));
        return text;
    }
    std::string number() {
        std::string text = below(3) == 0 ? "-" : "";
        text += below(5) == 0 ? "0" : digits(1 + below(18));
        if (below(3) == 0) text += "." + std::string(below(3), '0') + digits(1 + below(20));
        if (below(4) == 0) text += std::string(below(2) == 0 ? "e" : "E-") + digits(1 + below(2));
        return text;
    }
    std::string string() {
        static const std::vector<std::string> parts = {
            "a",       "time",           "/",        "0.0",          " ",
            "\\n",     "\\\"",           "\\\\",     "\\/",          "\\u0041",
            "\\u00e9", "\\ud83d\\ude00", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
            "base64:", "{{u}}"};
        std::string text = "\"";
        for (size_t n = below(6); n > 0; n--) text += oneOf(parts);
        return text + "\"";
    }
    std::string list(char open, char close, size_t depth) {
        std::string text(1, open);
        const size_t n = below(5);
        for (size_t i = 0; i < n; i++) {
            if (i > 0) text += ",";
            text += blank();
            if (open == '{') text += string() + blank() + ":" + blank();
            text += value(depth - 1) + blank();
        }
        return text + blank() + close;
    }
    std::string value(size_t depth) {
        static const std::vector<std::string> words = {"true", "false", "null"};
        switch (below(depth == 0 ? 3 : 6)) {
        case 0:
            return oneOf(words);
        case 1:
            return number();
        case 2:
            return string();
        case 3:
            return "[" + string() + "," + blank() + number() + "," + number() + "]";
        case 4:
            return list('[', ']', depth);
        default:
            return list('{', '}', depth);
        }
    }

    std::minstd_rand random_{1};
};

/** One to three bytes changed, taken away, or put in. */
std::string WithMistakes(std::string text, Writer &random) {
    static const std::string bytes = "{}[]\",:\\/u09.-+eEtfn \n\x80\xC3\xE2\xFF";
    for (size_t n = 1 + random.below(3); n > 0; n--) {
        const size_t at = random.below(text.size() + 1);
        const char byte = bytes[random.below(bytes.size())];
        const size_t kind = random.below(3);
        if (kind == 0)
            text.insert(at, 1, byte);
        else if (at < text.size() && kind == 1)
            text.erase(at, 1);
        else if (at < text.size())
            text[at] = byte;
    }
    return text;
}

class JsonOracle : public testing::Test {
  protected:
    void SetUp() override {
        if (!json_oracle_accepts(View("1"))) GTEST_SKIP() << "without jansson";
    }
    Writer random;
};

} // namespace

TEST_F(JsonOracle, AcceptsWhatIsAccepted) {
    for (const std::string &text : strings) {
        EXPECT_TRUE(json_oracle_accepts(View(text))) << text;
        EXPECT_TRUE(IsRead(text)) << text;
        ExpectSame(text);
    }
}

TEST_F(JsonOracle, RefusesWhatIsRefused) {
    for (const std::string &text : noStrings) {
        EXPECT_FALSE(json_oracle_accepts(View(text))) << text;
        EXPECT_FALSE(IsRead(text)) << text;
    }
}

TEST_F(JsonOracle, RefusesWhatIsMoreThanJson) {
    for (const std::string &text : moreStrings) {
        EXPECT_FALSE(json_oracle_accepts(View(text))) << text;
        EXPECT_TRUE(IsRead(text)) << text;
        ExpectSame(text);
    }
}

TEST_F(JsonOracle, HasTheValuesOfSets) {
    size_t n = 0;
    for (const char *folder : {REFS_SAMPLES, REFS_GOLDEN_SETS, REFS_JSON_CORPUS})
        for (const std::string &text : FilesIn(folder)) {
            ExpectSame(text);
            n += json_oracle_accepts(View(text)) ? 1 : 0;
        }
    EXPECT_GT(n, 10u);
}

TEST_F(JsonOracle, HasTheValuesOfAnyDocument) {
    for (int i = 0; i < 5000; i++) {
        const std::string text = random.document();
        EXPECT_TRUE(json_oracle_accepts(View(text))) << text;
        ExpectSame(text);
    }
}

TEST_F(JsonOracle, RefusesTheSameMistakes) {
    std::vector<std::string> from = strings;
    from.insert(from.end(), noStrings.begin(), noStrings.end());
    for (int i = 0; i < 200; i++) from.push_back(random.document());
    for (int i = 0; i < 50000; i++) ExpectSame(WithMistakes(random.oneOf(from), random));
}
