// thrift_test.cc -- the compact protocol, byte by byte.

#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "parquet/parquet_internal.h"
}
#include "parquet_writer.h"

namespace {

// Bytes, and a place in them.
struct Reader {
    explicit Reader(std::string text) : bytes(std::move(text)) {
        thrift.bytes = refs_bytes_view(bytes.data(), bytes.size());
    }
    std::string bytes;
    refs_thrift thrift = {};
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
};

// The fields of a struct as "number:type", with values skipped; the failure in words at the end.
std::string Fields(const std::string &bytes) {
    Reader reader(bytes);
    refs_thrift_field field = {0, REFS_THRIFT_STOP};
    refs_error err = REFS_ERROR_INIT;
    std::string text;
    while (refs_thrift__next(&reader.thrift, &field, &err) == REFS_OK &&
           field.type != REFS_THRIFT_STOP) {
        text += std::to_string(field.id) + ":" + std::to_string(field.type) + " ";
        if (refs_thrift__skip(&reader.thrift, field.type, &err) != REFS_OK) break;
    }
    return text + err.message;
}

int64_t Integer(const std::string &bytes, refs_thrift_type type) {
    Reader reader(bytes);
    int64_t value = 0;
    EXPECT_EQ(refs_thrift__integer(&reader.thrift, type, &value, nullptr), REFS_OK);
    EXPECT_EQ(reader.thrift.at, bytes.size());
    return value;
}

// A list of one list of one list … and so on.
std::string Nested(size_t depth) {
    return std::string(depth, '\x19') + '\x05';
}

} // namespace

TEST(ParquetThrift, ReadsIntegersOfEverySize) {
    for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{63}, int64_t{-65},
                                int64_t{300}, INT64_MAX, INT64_MIN}) {
        EXPECT_EQ(Integer(parquet::Zigzag(value), REFS_THRIFT_I64), value);
        EXPECT_EQ(Integer(parquet::Zigzag(value), REFS_THRIFT_I32), value);
    }
    EXPECT_EQ(Integer("\xff", REFS_THRIFT_BYTE), -1);
    EXPECT_EQ(Integer("", REFS_THRIFT_TRUE), 1);
    EXPECT_EQ(Integer("", REFS_THRIFT_FALSE), 0);
}

TEST(ParquetThrift, RefusesWhatIsNoInteger) {
    int64_t value = 0;
    Reader text("\x01x");
    EXPECT_EQ(refs_thrift__integer(&text.thrift, REFS_THRIFT_BINARY, &value, nullptr),
              REFS_CORRUPT);
    const std::string endless(11, '\xff');
    Reader number(endless);
    EXPECT_EQ(refs_thrift__integer(&number.thrift, REFS_THRIFT_I64, &value, nullptr), REFS_CORRUPT);
}

TEST(ParquetThrift, NumbersFieldsByStepsAndInFull) {
    parquet::Struct fields;
    fields.Integer(1, 5).Flag(3, true).Flag(4, false).Integer(400, 1).Text(401, "ab");
    EXPECT_EQ(Fields(fields.Bytes()), "1:6 3:1 4:2 400:6 401:8 ");
}

TEST(ParquetThrift, SkipsEveryType) {
    using S = parquet::Struct;
    const std::string two = "\x02";
    const struct {
        int type;
        std::string value;
    } cases[] = {
        {REFS_THRIFT_TRUE, ""},
        {REFS_THRIFT_BYTE, "x"},
        {REFS_THRIFT_I16, "\xac\x02"},
        {REFS_THRIFT_DOUBLE, "12345678"},
        {REFS_THRIFT_BINARY, "\x03"
                             "abc"},
        {REFS_THRIFT_LIST, std::string("\x31\x01\x02\x01")},   // of three truths
        {REFS_THRIFT_SET, std::string("\xf5\x02\x01\x01", 4)}, // with its size in full
        {REFS_THRIFT_MAP, two + "\x85" + "\x01" + "a" + "\x01" + "\x01" + "b" + "\x01"},
        {REFS_THRIFT_MAP, std::string(1, '\0')}, // without types where it is empty
        {REFS_THRIFT_STRUCT, S().Integer(1, 2).Inner(2, S().Flag(1, true)).Bytes()},
        {REFS_THRIFT_UUID, "0123456789abcdef"},
    };
    for (const auto &c : cases) {
        S fields;
        fields.Field(1, c.type, c.value).Integer(2, 7);
        EXPECT_EQ(Fields(fields.Bytes()), "1:" + std::to_string(c.type) + " 2:6 ");
    }
}

TEST(ParquetThrift, NestsToALimit) {
    Reader shallow(Nested(20)), deep(Nested(40));
    EXPECT_EQ(refs_thrift__skip(&shallow.thrift, REFS_THRIFT_LIST, nullptr), REFS_OK);
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_thrift__skip(&deep.thrift, REFS_THRIFT_LIST, &err), REFS_CORRUPT);
    EXPECT_STREQ(err.message, "its metadata are nested too deeply");
}

TEST(ParquetThrift, BelievesNoCountThatTheBytesCannotHold) {
    const std::string huge = parquet::Varint(UINT64_MAX);
    refs_thrift_type type;
    size_t n = 0;
    refs_bytes value;
    Reader list('\xfc' + huge + "xx"), text(huge + "xx"), map(huge + "xx");
    EXPECT_EQ(refs_thrift__list(&list.thrift, &type, &n, nullptr), REFS_CORRUPT);
    EXPECT_EQ(refs_thrift__binary(&text.thrift, &value, nullptr), REFS_CORRUPT);
    EXPECT_EQ(refs_thrift__skip(&map.thrift, REFS_THRIFT_MAP, nullptr), REFS_CORRUPT);
}

TEST(ParquetThrift, RefusesTypesThatThereAreNot) {
    EXPECT_EQ(Fields("\x1e"), "its metadata are invalid at byte 1");
    EXPECT_EQ(Fields("\x10"), "its metadata are invalid at byte 1");
    EXPECT_EQ(Fields('\x05' + parquet::Zigzag(70000)), "its metadata are invalid at byte 4");
    EXPECT_EQ(Fields(std::string("\x19\x10x")),
              "1:9 its metadata: expected a number, found type 0");
}

TEST(ParquetThrift, TellsWhereBytesEnd) {
    parquet::Struct fields;
    fields.Integer(1, 500).Text(2, "text").Inner(3, parquet::Struct().Integer(1, 9));
    fields.List(4, {parquet::Struct().Flag(1, true)});
    const std::string bytes = fields.Bytes();
    for (size_t size = 0; size < bytes.size(); size++)
        EXPECT_NE(Fields(bytes.substr(0, size)).find("metadata are truncated at byte"),
                  std::string::npos)
            << size;
}
