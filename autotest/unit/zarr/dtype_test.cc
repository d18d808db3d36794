/* dtype_test.cc -- NumPy's type strings. */
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "refs/zarr.h"

namespace {

struct TypeString {
    const char *text;
    refs_type type;
    size_t size, swapSize;
    bool bigEndian, numeric;
};

const TypeString kTypes[] = {
    {"|b1", REFS_TYPE_BOOL, 1, 1, false, true},
    {"|i1", REFS_TYPE_INT, 1, 1, false, true},
    {"<i2", REFS_TYPE_INT, 2, 2, false, true},
    {">i8", REFS_TYPE_INT, 8, 8, true, true},
    {"<u4", REFS_TYPE_UINT, 4, 4, false, true},
    {"<f2", REFS_TYPE_FLOAT, 2, 2, false, true},
    {">f4", REFS_TYPE_FLOAT, 4, 4, true, true},
    {"<f8", REFS_TYPE_FLOAT, 8, 8, false, true},
    {"<c8", REFS_TYPE_COMPLEX, 8, 4, false, true},
    {">c16", REFS_TYPE_COMPLEX, 16, 8, true, true},
    {"<M8[us]", REFS_TYPE_DATETIME, 8, 8, false, true},
    {">M8[25s]", REFS_TYPE_DATETIME, 8, 8, true, true},
    {"<m8", REFS_TYPE_TIMEDELTA, 8, 8, false, true},
    {"|S80", REFS_TYPE_BYTES, 80, 1, false, false},
    {"<U5", REFS_TYPE_UNICODE, 20, 4, false, false},
    {"|V16", REFS_TYPE_RAW, 16, 1, false, false},
    {"|O", REFS_TYPE_OBJECT, 0, 1, false, false},
};

refs_dtype parsed(const std::string &text) {
    refs_dtype dtype = {};
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_dtype_parse(refs_str_from(text.c_str()), &dtype, &error), REFS_OK)
        << error.message;
    return dtype;
}

TEST(DType, IsReadFromATypeString) {
    for (const TypeString &t : kTypes) {
        const refs_dtype dtype = parsed(t.text);
        EXPECT_EQ(dtype.type, t.type) << t.text;
        EXPECT_EQ(dtype.size, t.size) << t.text;
        EXPECT_EQ(dtype.big_endian, t.bigEndian) << t.text;
        EXPECT_EQ(refs_dtype_swap_size(&dtype), t.swapSize) << t.text;
        EXPECT_EQ(refs_dtype_is_numeric(&dtype), t.numeric) << t.text;
    }
}

TEST(DType, IsWrittenAsATypeString) {
    for (const TypeString &t : kTypes) {
        char text[16];
        const refs_dtype dtype = parsed(t.text);
        refs_dtype_format(&dtype, text, sizeof text);
        EXPECT_STREQ(text, t.type == REFS_TYPE_RAW ? "" : t.text);
    }
}

TEST(DType, IsCutToTheRoomForIt) {
    const refs_dtype dtype = parsed("<M8[25us]");
    for (size_t size = 1; size <= 11; size++) {
        char text[11];
        refs_dtype_format(&dtype, text, size);
        EXPECT_EQ(text, std::string("<M8[25us]").substr(0, size - 1)) << size;
    }
}

TEST(DType, HasTicksOfAUnit) {
    EXPECT_STREQ(parsed("<M8[us]").unit, "us");
    EXPECT_EQ(parsed("<M8[us]").step, 1);
    EXPECT_STREQ(parsed("<m8[25s]").unit, "s");
    EXPECT_EQ(parsed("<m8[25s]").step, 25);
    EXPECT_STREQ(parsed("<M8").unit, "");
    EXPECT_EQ(parsed("<M8").step, 1);
    EXPECT_EQ(parsed("<f8").step, 0);
}

TEST(DType, HasNoByteOrderWhereNothingCanBeSwapped) {
    EXPECT_FALSE(parsed(">i1").big_endian);
    EXPECT_FALSE(parsed(">S5").big_endian);
    EXPECT_TRUE(parsed(">U5").big_endian);
}

TEST(DType, IsTakenInThisMachinesOrderWhereNoneIsGiven) {
    EXPECT_FALSE(parsed("i4").big_endian);
    EXPECT_FALSE(parsed("=i4").big_endian);
    EXPECT_EQ(parsed("i4").size, 4u);
}

TEST(DType, NamesWhatItDoesNotKnow) {
    for (const char *text : {"",
                             "<",
                             "<x4",
                             "<i3",
                             "<i16",
                             "<f1",
                             "<f16",
                             "<c4",
                             "|b2",
                             "|S0",
                             "|S",
                             "<i04",
                             "<i 4",
                             "<i4 ",
                             "<i-4",
                             "<M8[",
                             "<M8[]",
                             "<M8[xs]",
                             "<M8[0s]",
                             "<M4[s]",
                             "<i4[s]",
                             "<<i4",
                             "|S99999999999999999999",
                             "|V2147483648",
                             "<U1073741824",
                             "float32"}) {
        refs_dtype dtype = {};
        refs_error error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_dtype_parse(refs_str_from(text), &dtype, &error), REFS_UNSUPPORTED) << text;
        EXPECT_EQ(error.message, "unknown data type \"" + std::string(text) + "\"");
    }
}

TEST(Dtype, IsEqualInAnyByteOrder) {
    const auto equal = [](const char *one, const char *other) {
        refs_dtype a = {}, b = {};
        EXPECT_EQ(refs_dtype_parse(refs_str_from(one), &a, nullptr), REFS_OK) << one;
        EXPECT_EQ(refs_dtype_parse(refs_str_from(other), &b, nullptr), REFS_OK) << other;
        return refs_dtype_equal(&a, &b);
    };
    EXPECT_TRUE(equal("<i4", ">i4"));
    EXPECT_FALSE(equal("<i4", "<u4"));
    EXPECT_FALSE(equal("<i4", "<i2"));
    EXPECT_FALSE(equal("<i4", "<f4"));
}

TEST(Dtype, HasIntegersThatComeBack) {
    const int64_t numbers[] = {-128, 0, 127, -1};
    for (const char *text : {"|i1", "<i2", "<i4", "<i8"}) {
        refs_dtype dtype = {};
        uint8_t elements[sizeof numbers];
        int64_t back[4] = {};
        ASSERT_EQ(refs_dtype_parse(refs_str_from(text), &dtype, nullptr), REFS_OK) << text;
        refs_dtype_from_integers(&dtype, numbers, 4, elements);
        EXPECT_TRUE(refs_dtype_to_integers(&dtype, elements, 4, back));
        EXPECT_EQ(memcmp(numbers, back, sizeof back), 0) << text;
    }
}

} // namespace
