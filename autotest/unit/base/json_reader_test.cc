#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "refs/json.h"
#include "text.h"

namespace {

// A document that arrives in parts of a given size.
struct Parts {
    std::string text;
    size_t part;
    size_t at = 0;

    static refs_status Refill(void *user, uint8_t *dst, size_t capacity, size_t *got,
                              refs_error *) {
        auto *self = static_cast<Parts *>(user);
        *got = std::min({capacity, self->part, self->text.size() - self->at});
        std::memcpy(dst, self->text.data() + self->at, *got);
        self->at += *got;
        return REFS_OK;
    }
};

class Reader {
  public:
    explicit Reader(const std::string &text) : parts_{text, 0} {
        EXPECT_EQ(refs_json_reader_open_text(View(parts_.text), &reader_, nullptr), REFS_OK);
    }
    Reader(const std::string &text, size_t part, size_t max_token) : parts_{text, part} {
        EXPECT_EQ(refs_json_reader_open(Parts::Refill, &parts_, max_token, &reader_, nullptr),
                  REFS_OK);
    }
    ~Reader() { refs_json_reader_free(reader_); }

    // One letter and, where there is one, the text: "K:name", "S:text", "N:1.5".
    std::string Next() {
        refs_str text;
        status_ = refs_json_next(reader_, &token_, &text, &err_);
        if (status_ != REFS_OK) return std::string("error: ") + err_.message;
        const char *letters = "E{}[]KSNtfn";
        std::string next(1, letters[token_]);
        if (token_ == REFS_JSON_KEY || token_ == REFS_JSON_STRING || token_ == REFS_JSON_NUMBER)
            next += ":" + Text(text);
        return next;
    }

    // All that is left, up to the end or an error, separated by spaces.
    std::string Rest() {
        std::string rest;
        do {
            rest += (rest.empty() ? "" : " ") + Next();
        } while (status_ == REFS_OK && token_ != REFS_JSON_END);
        return rest;
    }

    refs_json_reader *get() { return reader_; }
    refs_json_token token() const { return token_; }
    refs_status status() const { return status_; }

  private:
    Parts parts_;
    refs_json_reader *reader_ = nullptr;
    refs_json_token token_ = REFS_JSON_END;
    refs_status status_ = REFS_OK;
    refs_error err_ = REFS_ERROR_INIT;
};

std::string Tokens(const std::string &text) {
    return Reader(text).Rest();
}

} // namespace

TEST(JsonReader, DeliversTokensInOrder) {
    EXPECT_EQ(Tokens(R"({"a": [1, "x", {}, []], "b": {"c": true}, "d": [false, null]})"),
              "{ K:a [ N:1 S:x { } [ ] ] K:b { K:c t } K:d [ f n ] } E");
}

TEST(JsonReader, ReadsScalarsAsDocuments) {
    EXPECT_EQ(Tokens(" 12 "), "N:12 E");
    EXPECT_EQ(Tokens("\"x\""), "S:x E");
    EXPECT_EQ(Tokens("null"), "n E");
}

TEST(JsonReader, StaysAtTheEnd) {
    Reader reader("1");
    EXPECT_EQ(reader.Rest(), "N:1 E");
    EXPECT_EQ(reader.Next(), "E");
}

TEST(JsonReader, KeepsNumbersAsTheyAreWritten) {
    EXPECT_EQ(Tokens("[0, -0, 10, 1.50, -1e5, 1E+05, 2e-3, 18446744073709551616]"),
              "[ N:0 N:-0 N:10 N:1.50 N:-1e5 N:1E+05 N:2e-3 N:18446744073709551616 ] E");
}

TEST(JsonReader, AcceptsTheNumbersOfPython) {
    EXPECT_EQ(Tokens("[NaN, Infinity, -Infinity]"), "[ N:NaN N:Infinity N:-Infinity ] E");
}

TEST(JsonReader, AcceptsAByteOrderMarkAndAnyWhiteSpace) {
    EXPECT_EQ(Tokens("\xef\xbb\xbf \t\r\n[\n1\r,\t2 ] \n"), "[ N:1 N:2 ] E");
}

TEST(JsonReader, AcceptsControlCharactersInStringsAndCountsThem) {
    Reader reader("[\"a\nb\r\x01\", \"\t\", {\"\x1f\": 1}\n, 2]");
    EXPECT_EQ(reader.Rest(), "[ S:a\nb\r\x01 S:\t { K:\x1f N:1 } N:2 ] E");
    EXPECT_EQ(refs_json_reader_n_controls(reader.get()), 4u);
    Reader wrong("[\"a\nb\",\n x]");
    EXPECT_NE(wrong.Rest().find("line 3, column 2: "), std::string::npos);
}

TEST(JsonReader, ResolvesEscapes) {
    EXPECT_EQ(Tokens(R"(["\"\\\/\b\f\n\r\t"])"), "[ S:\"\\/\b\f\n\r\t ] E");
    EXPECT_EQ(Tokens(R"(["\u0041\u00e9\u20ac\uD83D\uDE00!"])"),
              "[ S:A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80! ] E");
    EXPECT_EQ(Tokens(R"({"a\/b": 1})"), "{ K:a/b N:1 } E");
}

TEST(JsonReader, TakesTabsInStrings) {
    EXPECT_EQ(Tokens("{\"a\tb\": \"\t\t\\t\"}"), "{ K:a\tb S:\t\t\t } E");
}

TEST(JsonReader, KeepsEscapedNuls) {
    EXPECT_EQ(Tokens(R"("a\u0000\u0001b")"), std::string("S:a\0\1b E", 8));
}

TEST(JsonReader, PassesBytesThatAreNoUtf8) {
    EXPECT_EQ(Tokens("\"\xff\xc3\""), "S:\xff\xc3 E");
}

TEST(JsonReader, PassesDel) {
    EXPECT_EQ(Tokens("\"\x7f\""), "S:\x7f E");
}

TEST(JsonReader, EndsTextBeforeALoneSurrogateAndSaysSo) {
    for (const char *text : {R"(["ab\ud800cd", "x"])", R"(["ab\udc00\n", "x"])",
                             R"(["ab\ud800\u0041", "x"])", R"(["ab\ud83d\ud83d\ude00", "x"])"}) {
        Reader reader(text);
        EXPECT_EQ(reader.Next(), "[");
        EXPECT_EQ(reader.Next(), "S:ab") << text;
        EXPECT_TRUE(refs_json_reader_lone_surrogate(reader.get())) << text;
        EXPECT_EQ(reader.Next(), "S:x") << text;
        EXPECT_FALSE(refs_json_reader_lone_surrogate(reader.get())) << text;
    }
}

TEST(JsonReader, ReadsTheSameFromPartsOfAnySize) {
    const std::string text = "\xef\xbb\xbf"
                             R"( {"plain": "text", "esc\u0061ped": "\ud83d\ude00\n\\",
                                 "numbers": [0, -12.5e+10, 123456789, NaN, -Infinity, true, false],
                                 "nothing": null, "nested": {"a": {"b": []}}} )";
    const std::string expected = Tokens(text);
    ASSERT_EQ(expected.find("error"), std::string::npos) << expected;
    for (size_t part = 1; part <= text.size(); part++)
        EXPECT_EQ(Reader(text, part, 1000).Rest(), expected) << part;
}

TEST(JsonReader, FindsErrorsInPartsOfAnySize) {
    const std::string text = "{\"a\": [1, 2,\n \"x\\u00g1\"]}";
    for (size_t part = 1; part <= text.size(); part++)
        EXPECT_EQ(
            Reader(text, part, 1000).Rest(),
            "{ K:a [ N:1 N:2 error: line 2, column 4: expected four hexadecimal digits after \\u")
            << part;
}

TEST(JsonReader, ReadsTokensAcrossItsWindow) {
    // Tokens at every phase around 256 KiB, where the reader's own buffer ends.
    std::string text = "[", expected = "[";
    for (int i = 0; i < 60000; i++) {
        text += (i > 0 ? ", \"s" : "\"s") + std::to_string(i) + "\", " + std::to_string(i * 7919);
        expected += " S:s" + std::to_string(i) + " N:" + std::to_string(i * 7919);
    }
    EXPECT_EQ(Tokens(text + "]"), expected + " ] E");
    EXPECT_EQ(Reader(text + "]", 1000003, 1000).Rest(), expected + " ] E");
}

TEST(JsonReader, ReadsStringsLongerThanItsWindow) {
    const std::string lengthy(3000000, 'x');
    EXPECT_EQ(Tokens("[\"" + lengthy + "\", 1]"), "[ S:" + lengthy + " N:1 ] E");
}

TEST(JsonReader, LimitsTheSizeOfStrings) {
    for (const char *text : {"\"123456789\"", "\"12345678\\n\""}) {
        EXPECT_EQ(Reader(text, 100, 9).Rest()[0], 'S');
        Reader reader(text, 100, 8);
        EXPECT_NE(reader.Rest().find("longer than the limit of 8 bytes"), std::string::npos);
        EXPECT_EQ(reader.status(), REFS_LIMIT);
    }
    Reader digits(std::string(600000, '1'), 600000, 100);
    digits.Next();
    EXPECT_EQ(digits.status(), REFS_LIMIT);
}

TEST(JsonReader, LimitsNesting) {
    const std::string deep(REFS_JSON_MAX_DEPTH, '[');
    const std::string closed = deep + std::string(REFS_JSON_MAX_DEPTH, ']');
    EXPECT_EQ(Tokens(closed).find("error"), std::string::npos);
    Reader reader("[" + closed + "]");
    EXPECT_NE(reader.Rest().find("line 1, column 129: "), std::string::npos);
    EXPECT_EQ(reader.status(), REFS_LIMIT);
}

namespace {

// What is peeked at behind the first key of a document, and what follows it: "text 1 2 | ...".
std::string Peeked(const std::string &text, size_t part) {
    Reader reader(text, part, 100);
    if (reader.Next() != "{" || reader.Next() != "K:k") return "no key";
    refs_json_range range;
    if (!refs_json_peek_range(reader.get(), &range)) return "nothing";
    const std::string peeked = Text(range.text) + " " + std::to_string(range.numbers[0]) + " " +
                               std::to_string(range.numbers[1]);
    uint64_t line, column, position;
    refs_json_take_range(reader.get(), &range);
    refs_json_where(reader.get(), &line, &column, &position);
    return peeked + " at " + std::to_string(position) + " | " + reader.Rest();
}

} // namespace

TEST(JsonReader, PeeksAtRanges) {
    EXPECT_EQ(Peeked(R"({"k": ["u/v", 0, 9999999999999999999], "l": 1})", 100),
              "u/v 0 9999999999999999999 at 6 | K:l N:1 } E");
    EXPECT_EQ(Peeked(R"({"k":["",1,2]})", 100), " 1 2 at 5 | } E");
    EXPECT_EQ(Peeked(R"({"k"  :  [  "a"  ,  1  ,  2  ]  })", 100), "a 1 2 at 9 | } E");
    EXPECT_EQ(Peeked(R"({"k": ["é", 1, 2], 5})", 100),
              "é 1 2 at 6 | error: line 1, column 21: expected the name of a member, found '5'");
}

TEST(JsonReader, PeeksAtNothingElse) {
    for (const char *value : {R"(["a"])",
                              R"(["a", 1])",
                              R"(["a", 1, 2, 3])",
                              R"(["a\n", 1, 2])",
                              R"([null, 1, 2])",
                              R"(["a", 1.0, 2])",
                              R"(["a", 1, 2e3])",
                              R"(["a", -1, 2])",
                              R"(["a", 01, 2])",
                              R"(["a", 1, 10000000000000000000])",
                              R"(["a", "1", 2])",
                              R"(["a",1,2)",
                              R"(["a",1,])",
                              R"(["a",,2])",
                              R"(["a" 1,2])",
                              R"("a")",
                              R"({"a": 1})",
                              "[\"a\",\n1, 2]",
                              "[]",
                              ""})
        EXPECT_EQ(Peeked(std::string("{\"k\": ") + value + "}", 200), "nothing") << value;
    EXPECT_EQ(Peeked(R"({"k" ["a", 1, 2]})", 200), "nothing");
    EXPECT_EQ(Peeked(R"({"k": [")" + std::string(101, 'x') + R"(", 1, 2]})", 200), "nothing");
}

TEST(JsonReader, PeeksOnlyBehindKeys) {
    Reader reader(R"([["a", 1, 2]])");
    refs_json_range range;
    EXPECT_FALSE(refs_json_peek_range(reader.get(), &range));
    EXPECT_EQ(reader.Next(), "[");
    EXPECT_FALSE(refs_json_peek_range(reader.get(), &range));
}

TEST(JsonReader, PeeksNoFurtherThanItsWindow) {
    const std::string text = R"({"k": ["abc", 12, 34], "l": 1})";
    for (size_t part = 1; part < text.size(); part++) {
        const std::string peeked = Peeked(text, part);
        EXPECT_TRUE(peeked == "nothing" || peeked == "abc 12 34 at 6 | K:l N:1 } E") << peeked;
    }
}

TEST(JsonReader, TellsWhereTokensBegin) {
    Reader reader("{\n  \"a\": 1,\n\"b\":\n   [2]}");
    const struct {
        const char *token;
        uint64_t line, column, position;
    } expected[] = {{"{", 1, 1, 0},  {"K:a", 2, 3, 4},  {"N:1", 2, 8, 9}, {"K:b", 3, 1, 12},
                    {"[", 4, 4, 20}, {"N:2", 4, 5, 21}, {"]", 4, 6, 22},  {"}", 4, 7, 23}};
    for (const auto &e : expected) {
        uint64_t line, column, position;
        EXPECT_EQ(reader.Next(), e.token);
        refs_json_where(reader.get(), &line, &column, &position);
        EXPECT_EQ(line, e.line) << e.token;
        EXPECT_EQ(column, e.column) << e.token;
        EXPECT_EQ(position, e.position) << e.token;
    }
}

TEST(JsonReader, RefusesMalformedDocuments) {
    const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1, column 1: expected a value, found the end of the text"},
        {" \n ", "line 2, column 2: expected a value, found the end of the text"},
        {"{", "line 1, column 2: expected the name of a member, found the end of the text"},
        {"[", "line 1, column 2: expected a value, found the end of the text"},
        {"[1", "line 1, column 3: expected ',' or ']', found the end of the text"},
        {"[1,]", "line 1, column 4: expected a value, found ']'"},
        {"[1 2]", "line 1, column 4: expected ',' or ']', found '2'"},
        {"[1}", "line 1, column 3: expected ',' or ']', found '}'"},
        {"{\"a\"}", "line 1, column 5: expected ':', found '}'"},
        {"{\"a\":}", "line 1, column 6: expected a value, found '}'"},
        {"{\"a\":1,}", "line 1, column 8: expected the name of a member, found '}'"},
        {"{\"a\":1]", "line 1, column 7: expected ',' or '}', found ']'"},
        {"{a:1}", "line 1, column 2: expected the name of a member, found 'a'"},
        {"{1:1}", "line 1, column 2: expected the name of a member, found '1'"},
        {"1 2", "line 1, column 3: expected the end of the document, found '2'"},
        {"{} x", "line 1, column 4: expected the end of the document, found 'x'"},
        {"]", "line 1, column 1: expected a value, found ']'"},
        {"\"abc", "line 1, column 5: expected a closing quote, found the end of the text"},
        {"\"a\nb", "line 2, column 2: expected a closing quote, found the end of the text"},
        {"\"\\x\"", "line 1, column 2: unknown escape sequence in a string"},
        {"\"\\", "line 1, column 2: unknown escape sequence in a string"},
        {"\"\\u12\"", "line 1, column 2: expected four hexadecimal digits after \\u"},
        {"01", "line 1, column 2: expected the end of the document, found '1'"},
        {"[01]", "line 1, column 3: expected ',' or ']', found '1'"},
        {"1.", "line 1, column 3: expected a digit, found the end of the text"},
        {"[1.x]", "line 1, column 4: expected a digit, found 'x'"},
        {"1e", "line 1, column 3: expected a digit, found the end of the text"},
        {"1e+", "line 1, column 4: expected a digit, found the end of the text"},
        {"-", "line 1, column 2: expected a digit, found the end of the text"},
        {"-x", "line 1, column 2: expected a digit, found 'x'"},
        {".5", "line 1, column 1: expected a value, found '.'"},
        {"+1", "line 1, column 1: expected a value, found '+'"},
        {"tru", "line 1, column 1: expected a value, found 't'"},
        {"truex", "line 1, column 5: expected the end of the document, found 'x'"},
        {"nan", "line 1, column 1: expected a value, found 'n'"},
        {"'a'", "line 1, column 1: expected a value, found '''"},
        {"\xef\xbb\xbf", "line 1, column 4: expected a value, found the end of the text"},
        {" \xef\xbb\xbf 1", "line 1, column 2: expected a value, found byte 0xef"},
    };
    for (const auto &c : cases) {
        Reader reader(c.text);
        const std::string tokens = reader.Rest();
        const size_t at = tokens.find("error: ");
        ASSERT_NE(at, std::string::npos) << c.text;
        EXPECT_EQ(tokens.substr(at + 7), c.message) << c.text;
        EXPECT_EQ(reader.status(), REFS_CORRUPT) << c.text;
    }
}

TEST(JsonReader, RefusesRawNuls) {
    const struct {
        std::string text;
        const char *message;
    } cases[] = {
        {std::string("\"a\0b\"", 5), "line 1, column 3: expected a closing quote, found byte 0x00"},
        {std::string("\0", 1), "line 1, column 1: expected a value, found byte 0x00"},
        {std::string("1\0", 2),
         "line 1, column 2: expected the end of the document, found byte 0x00"}};
    for (const auto &c : cases)
        EXPECT_NE(Tokens(c.text).find(c.message), std::string::npos) << Tokens(c.text);
}

TEST(JsonReader, PassesOnFailuresOfItsSource) {
    auto fail = [](void *, uint8_t *, size_t, size_t *, refs_error *err) {
        return refs_fail(err, REFS_IO, "connection reset");
    };
    refs_json_reader *reader = nullptr;
    ASSERT_EQ(refs_json_reader_open(fail, nullptr, 100, &reader, nullptr), REFS_OK);
    refs_error err = REFS_ERROR_INIT;
    refs_json_token token;
    EXPECT_EQ(refs_json_next(reader, &token, nullptr, &err), REFS_IO);
    EXPECT_STREQ(err.message, "connection reset");
    refs_json_reader_free(reader);
}

TEST(JsonReader, SkipsWholeValues) {
    Reader reader(R"({"a": [1, {"b": []}], "c": 2})");
    reader.Next();
    reader.Next();
    EXPECT_EQ(reader.Next(), "[");
    EXPECT_EQ(refs_json_skip(reader.get(), reader.token(), nullptr), REFS_OK);
    EXPECT_EQ(reader.Next(), "K:c");
    EXPECT_EQ(reader.Next(), "N:2");
    EXPECT_EQ(refs_json_skip(reader.get(), reader.token(), nullptr), REFS_OK);
    EXPECT_EQ(reader.Rest(), "} E");
}

TEST(JsonReader, CapturesTextAsItStands) {
    const std::string value = "{ \"x\\u0041\" : [1.50,\n NaN], \"y\":{}}";
    const std::string text = "[" + value + ", 7]";
    for (size_t part = 1; part <= text.size(); part++) {
        Reader reader(text, part, 1000);
        Buf captured;
        reader.Next();
        EXPECT_EQ(reader.Next(), "{");
        ASSERT_EQ(refs_json_capture(reader.get(), reader.token(), &captured, nullptr), REFS_OK);
        EXPECT_EQ(captured.Text(), value) << part;
        EXPECT_EQ(reader.Rest(), "N:7 ] E") << part;
    }
}

TEST(JsonReader, LimitsWhatItCaptures) {
    Reader reader("[1,2,3,4,5,6,7,8,9]", 3, 10);
    Buf captured;
    refs_error err = REFS_ERROR_INIT;
    reader.Next();
    EXPECT_EQ(refs_json_capture(reader.get(), reader.token(), &captured, &err), REFS_LIMIT);
    EXPECT_LE(captured.buf.size, 11u);
}
