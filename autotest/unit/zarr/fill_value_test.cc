/* fill_value_test.cc -- fill values in all the ways in which writers spell them. */
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "refs/zarr.h"

namespace {

struct Fill {
    refs_status status = REFS_OK;
    bool hasFill = false;
    std::vector<uint8_t> bytes;
    std::string message;

    template <class T> T as(size_t at = 0) const {
        T number = {};
        EXPECT_GE(bytes.size(), (at + 1) * sizeof number);
        memcpy(&number, bytes.data() + at * sizeof number, sizeof number);
        return number;
    }
};

Fill parse(const std::string &type, const std::string &json) {
    Fill fill;
    refs_error error = REFS_ERROR_INIT;
    refs_dtype dtype = {};
    refs_json_doc *doc = nullptr;
    EXPECT_EQ(refs_dtype_parse(refs_str_from(type.c_str()), &dtype, &error), REFS_OK);
    EXPECT_EQ(refs_json_parse(refs_str_from(json.c_str()), &doc, &error), REFS_OK) << json;
    fill.bytes.assign(dtype.size + 1, 0xee);
    fill.status = refs_fill_value_parse(refs_json_root(doc), &dtype, fill.bytes.data(),
                                        &fill.hasFill, &error);
    EXPECT_EQ(fill.bytes.back(), 0xee) << "nothing is written behind the element";
    fill.bytes.pop_back();
    fill.message = error.message;
    refs_json_doc_free(doc);
    return fill;
}

template <class T> T number(const std::string &type, const std::string &json) {
    const Fill fill = parse(type, json);
    EXPECT_EQ(fill.status, REFS_OK) << fill.message;
    EXPECT_TRUE(fill.hasFill);
    return fill.as<T>();
}

std::string text(const std::string &type, const std::string &json) {
    const Fill fill = parse(type, json);
    EXPECT_EQ(fill.status, REFS_OK) << fill.message;
    return std::string(fill.bytes.begin(), fill.bytes.end());
}

TEST(FillValue, IsZeroWhereThereIsNone) {
    for (const char *type : {"<f4", "<i8", "|b1", "<c16", "<M8[s]", "|S3", "<U2", "|V5", "|O"}) {
        const Fill fill = parse(type, "null");
        EXPECT_EQ(fill.status, REFS_OK);
        EXPECT_FALSE(fill.hasFill);
        EXPECT_EQ(fill.bytes, std::vector<uint8_t>(fill.bytes.size(), 0)) << type;
    }
}

TEST(FillValue, IsInThisMachinesOrderWhateverThatOfTheArray) {
    EXPECT_EQ(number<int16_t>(">i2", "-2"), -2);
    EXPECT_EQ(number<float>(">f4", "1.5"), 1.5f);
    EXPECT_EQ(number<uint32_t>(">u4", "16909060"), 0x01020304u);
}

TEST(FillValue, KeepsIntegersExactly) {
    EXPECT_EQ(number<int64_t>("<i8", "9007199254740993"), 9007199254740993);
    EXPECT_EQ(number<uint64_t>("<u8", "18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(number<int64_t>("<i8", "-9223372036854775808"), INT64_MIN);
    EXPECT_EQ(number<int64_t>("<M8[us]", "4611686018427387904"), INT64_C(1) << 62);
}

TEST(FillValue, TakesIntegersThatFitSignedOrNot) {
    EXPECT_EQ(number<uint8_t>("|u1", "-1"), 255);
    EXPECT_EQ(number<int8_t>("|i1", "255"), -1);
    EXPECT_EQ(number<int8_t>("|i1", "-128"), -128);
    EXPECT_EQ(number<int32_t>("<i4", "-999.0"), -999);
    EXPECT_EQ(number<int16_t>("<i2", "true"), 1);
    for (const char *json : {"256", "-129", "1.5", "NaN", "1e30", "[1]", "{}", "\"one\""})
        EXPECT_EQ(parse("|i1", json).status, REFS_INVALID) << json;
}

TEST(FillValue, RoundsToTheSizeOfFloats) {
    EXPECT_EQ(number<float>("<f4", "9.969209968386869e+36"), 9.969209968386869e+36f);
    EXPECT_EQ(number<float>("<f4", "3.4028234663852886e+38"), 3.4028234663852886e+38f);
    EXPECT_EQ(number<float>("<f4", "1e39"), HUGE_VALF);
    EXPECT_EQ(number<double>("<f8", "9.969209968386869e+36"), 9.969209968386869e+36);
    EXPECT_EQ(number<float>("<f4", "1"), 1.0f);
}

TEST(FillValue, RoundsToHalfFloats) {
    EXPECT_EQ(number<uint16_t>("<f2", "1.5"), 0x3e00);
    EXPECT_EQ(number<uint16_t>("<f2", "65504"), 0x7bff);
    EXPECT_EQ(number<uint16_t>("<f2", "65520"), 0x7c00);
    EXPECT_EQ(number<uint16_t>("<f2", "-5.960464477539063e-08"), 0x8001);
    EXPECT_EQ(number<uint16_t>("<f2", "\"NaN\"") & 0x7e00, 0x7e00);
}

TEST(FillValue, KnowsTheNamesOfNoNumbers) {
    for (const char *json : {"NaN", "\"NaN\"", "\"nan\""})
        EXPECT_TRUE(std::isnan(number<float>("<f4", json))) << json;
    for (const char *json : {"Infinity", "\"Infinity\"", "\"inf\""})
        EXPECT_EQ(number<double>("<f8", json), HUGE_VAL) << json;
    for (const char *json : {"-Infinity", "\"-Infinity\"", "\"-inf\""})
        EXPECT_EQ(number<double>("<f8", json), -HUGE_VAL) << json;
    EXPECT_EQ(number<int64_t>("<M8[ns]", "\"NaT\""), INT64_MIN);
    EXPECT_EQ(parse("<i8", "\"NaT\"").status, REFS_INVALID);
}

TEST(FillValue, ReadsBitPatterns) {
    EXPECT_TRUE(std::isnan(number<float>("<f4", "\"0x7fc00000\"")));
    EXPECT_EQ(number<float>("<f4", "\"0x3F800000\""), 1.0f);
    EXPECT_EQ(number<uint8_t>("|u1", "\"0xfE\""), 254);
    for (const char *json : {"\"0x\"", "\"0x100\"", "\"0xg\"", "\"0x1 \""})
        EXPECT_EQ(parse("|u1", json).status, REFS_INVALID) << json;
}

TEST(FillValue, ReadsBase64OfNumbers) {
    EXPECT_TRUE(std::isnan(number<double>("<f8", R"("AAAAAAAA+H8=")")));
    EXPECT_EQ(number<double>(">f8", R"("AAAAAAAA8D8=")"), 1.0);
    EXPECT_EQ(number<int32_t>("<i4", R"("AQIAAA==")"), 0x201);
    EXPECT_EQ(parse("<f4", R"("AAAAAAAA+H8=")").status, REFS_INVALID) << "eight bytes";
}

TEST(FillValue, IsTrueOrFalse) {
    EXPECT_EQ(number<uint8_t>("|b1", "true"), 1);
    EXPECT_EQ(number<uint8_t>("|b1", "false"), 0);
    EXPECT_EQ(number<uint8_t>("|b1", "1"), 1);
    EXPECT_EQ(parse("|b1", "2").status, REFS_INVALID);
}

TEST(FillValue, HasTwoPartsWhereItIsComplex) {
    const Fill pair = parse("<c8", R"([1.5, "NaN"])");
    EXPECT_EQ(pair.as<float>(0), 1.5f);
    EXPECT_TRUE(std::isnan(pair.as<float>(1)));
    const Fill real = parse("<c16", "-2");
    EXPECT_EQ(real.as<double>(0), -2);
    EXPECT_EQ(real.as<double>(1), 0);
    const Fill base64 = parse(">c8", R"("AACAPwAAAEA=")");
    EXPECT_EQ(base64.as<float>(0), 1.0f);
    EXPECT_EQ(base64.as<float>(1), 2.0f);
    for (const char *json : {"[1]", "[1,2,3]", "[1,[2]]", "{}"})
        EXPECT_EQ(parse("<c8", json).status, REFS_INVALID) << json;
}

TEST(FillValue, IsBase64WhereElementsAreBytes) {
    EXPECT_EQ(text("|S3", R"("IA==")"), std::string(" \0\0", 3));
    EXPECT_EQ(text("|S3", R"("")"), std::string(3, '\0'));
    EXPECT_EQ(text("|S3", "0"), std::string(3, '\0'));
    EXPECT_EQ(text("|V2", R"("AQI=")"), "\x01\x02");
    EXPECT_EQ(parse("|S3", R"("AAAAAA==")").status, REFS_INVALID) << "four bytes";
    EXPECT_EQ(parse("|S3", R"("@")").status, REFS_INVALID);
    EXPECT_EQ(parse("|S3", "1").status, REFS_INVALID);
}

TEST(FillValue, IsPlainTextWhereElementsAre) {
    const Fill fill = parse(">U4", R"("a\u00e9\ud83d\ude00")");
    EXPECT_EQ(fill.as<uint32_t>(0), 'a');
    EXPECT_EQ(fill.as<uint32_t>(1), 0xe9u);
    EXPECT_EQ(fill.as<uint32_t>(2), 0x1f600u);
    EXPECT_EQ(fill.as<uint32_t>(3), 0u);
    EXPECT_EQ(parse("<U2", R"("abc")").status, REFS_INVALID);
    EXPECT_TRUE(parse("|O", R"("any text")").hasFill);
}

TEST(FillValue, IsNoneWhereItDoesNotFit) {
    /* Without padding it would be base64 of two bytes. */
    for (const char *type : {"|i1", "<i2", "<i4", "<u8", "|b1"})
        for (const char *value : {"\"NaN\"", "NaN", "1e20"}) {
            const Fill fill = parse(type, value);
            EXPECT_EQ(fill.status, REFS_INVALID) << type << " " << value;
            EXPECT_FALSE(fill.hasFill) << type << " " << value;
        }
}

TEST(FillValue, IsNamedWhereItDoesNotFit) {
    EXPECT_EQ(parse("|i1", "1000").message, "fill_value 1000 does not fit the data type");
    const std::string longText = "\"" + std::string(100, 'x') + "\"";
    EXPECT_EQ(parse("<U2", longText).message,
              "fill_value " + longText.substr(0, 60) + "... does not fit the data type");
}

} // namespace
