/* packing_test.cc -- nodata, scale, offset, unit, signs. */
#include "dataset.h"
#include "refs/refset.h"

#include <cmath>

namespace {

/** One variable "v", and what its nodata comes to; NAN stands for NaN, NONE for no nodata. */
constexpr double NONE = -12345.678;

struct Nodata {
    const char *dtype, *fill, *attributes;
    double nodata;
};

double nodataOf(Dataset &set, const Nodata &c) {
    set.array("v", {{"y", "x"}, {4, 5}, c.attributes, c.dtype, c.fill});
    const refs_cf_description &description = set.describe();
    switch (description.nodata_kind) {
    case REFS_CF_NODATA_NONE:
        return NONE;
    case REFS_CF_NODATA_DOUBLE:
        return description.nodata;
    case REFS_CF_NODATA_INT64:
        return static_cast<double>(description.nodata_int64);
    default:
        return static_cast<double>(description.nodata_uint64);
    }
}

void expectNodata(const Nodata &c, const std::string &globals = "", bool netcdf = false) {
    Dataset set;
    set.global(globals);
    if (netcdf) set.array("crs", {{}, {}, "", "<i4", "-2147483647"});
    const double nodata = nodataOf(set, c);
    EXPECT_TRUE(std::isnan(c.nodata) ? std::isnan(nodata) : nodata == c.nodata)
        << c.dtype << " " << c.fill << " {" << c.attributes << "}: " << nodata;
}

TEST(Nodata, ComesFromTheFillValueThatWasAnAttribute) {
    for (const Nodata &c : {
             Nodata{"<f4", "-9999.0", "", -9999},
             Nodata{"<f4", "1e20", "", 1.0000000200408773e+20},
             Nodata{"<f8", "\"NaN\"", "", NAN},
             Nodata{"<f2", "-0.5", "", -0.5},
             Nodata{"<i2", "-999", "", -999},
             Nodata{"|i1", "-1", "", -1},
             Nodata{"|u1", "7", "", 7},
             Nodata{">i4", "5", "", 5},
             Nodata{"<i8", "-5", "", -5},
         })
        expectNodata(c);
}

TEST(Nodata, PrefersTheAttributeFillValueThenTheFillValueThenMissingValue) {
    expectNodata({"<f4", "3", R"("_FillValue":1,"missing_value":2)", 1});
    expectNodata({"<f4", "3", R"("missing_value":2)", 3});
    expectNodata({"<f4", "null", R"("missing_value":2)", 2});
    expectNodata({"<f4", "9.969209968386869e+36", R"("missing_value":[2,3])", 2});
    expectNodata({"<i2", "0", R"("missing_value":2)", 2});
    expectNodata({"<i2", "0", R"("missing_value":2)", 0}, "", true);
}

TEST(Nodata, ReadsAttributesOfAnyForm) {
    expectNodata({"<f4", "null", R"("_FillValue":"-99")", -99});
    expectNodata({"<f4", "null", R"("_FillValue":[-99])", -99});
    expectNodata({"<f4", "null", R"("_FillValue":NaN)", NAN});
    expectNodata({"<f4", "null", R"("_FillValue":"AAAAAAAA+H8=")", NAN});
    expectNodata({"<f4", "null", R"("_FillValue":"AAAAAAAA8D8=")", 1});
    expectNodata({"|u1", "null", R"("_FillValue":"nothing")", NONE});
    expectNodata({"<f4", "null", R"("missing_value":"-99")", -99});
    expectNodata({"|u1", "null", R"("missing_value":"NaN")", NONE});
    expectNodata({"<f8", "null", R"("missing_value":"none")", 9.969209968386869e+36});
    expectNodata({"<f4", "null", R"("missing_value":NaN)", NAN});
    expectNodata({"<f4", "null", R"("missing_value":"NaN")", NAN});
    expectNodata({"<f8", "null", R"("missing_value":"nan")", NAN});
    expectNodata({"<f8", "null", R"("missing_value":["NaN"])", NAN});
    expectNodata({"<f8", "9.969209968386869e+36", R"("missing_value":["NaN",-99])", NAN});
    expectNodata({"<f8", "null", R"("missing_value":"-Infinity")", -INFINITY});
    expectNodata({"<f8", "null", R"("missing_value":"Infinity")", INFINITY});
    expectNodata({"<i4", "null", R"("missing_value":"Infinity")", -2147483647});
}

TEST(Nodata, OfWideIntegersIsOneAlsoWhereItWasAText) {
    Dataset set;
    set.array("v", {{"y", "x"}, {4, 5}, R"("missing_value":"-99")", "<i8"});
    EXPECT_EQ(set.describe().nodata_kind, REFS_CF_NODATA_INT64);
    EXPECT_EQ(set.description.nodata_int64, -99);
}

TEST(Nodata, IsTheDefaultOfTheTypeWhereNetcdfFilled) {
    for (const char *fill : {"null", "9.969209968386869e+36"})
        expectNodata({"<f4", fill, "", 9.969209968386869e+36});
    expectNodata({"<f8", "null", "", 9.969209968386869e+36});
    expectNodata({"<i2", "null", "", -32767});
    expectNodata({"<u2", "null", "", 65535});
    expectNodata({"<i4", "-2147483647", "", -2147483647});
    expectNodata({"<i8", "null", "", -9223372036854775806.});
    expectNodata({"<u8", "null", "", 18446744073709551614.});
}

TEST(Nodata, HasNoDefaultForBytes) {
    expectNodata({"|i1", "-127", "", NONE});
    expectNodata({"|u1", "255", "", NONE});
    expectNodata({"|i1", "null", "", NONE});
    expectNodata({"|u1", "255", R"("flag_values":[0,1])", 255});
}

TEST(Nodata, IsNoDefaultOfNetcdfWhereTheArrayIsFilledWithAnother) {
    const struct {
        const char *dtype, *fill, *dims;
        bool keeps;
    } cases[] = {{"<u2", "0", "x", true},
                 {"<u2", "7", "x", true},
                 {"<u2", "65535", "x", false},
                 {"<u2", "null", "x", false},
                 {"<i2", "-32767", "x", false},
                 {"|u1", "255", "x", true},
                 {"<f4", "0", "x", true},
                 {"<f4", "\"NaN\"", "x", true},
                 {"<f8", "9.969209968386869e+36", "x", false},
                 {"<i8", "0", "x", true},
                 {"<u8", "null", "", true},
                 {"<c8", "null", "x", false},
                 {"|b1", "false", "x", false}};
    for (const auto &c : cases) {
        Dataset set;
        std::vector<std::string> dims(*c.dims != '\0' ? 1 : 0, c.dims);
        set.array("v", {dims, {4}, "", c.dtype, c.fill});
        EXPECT_EQ(refs_cf_keeps_default_fill(set.find("v")), c.keeps) << c.dtype << c.fill;
    }
}

/* An index of a file has the attribute where the file has it. */
TEST(Nodata, IsNotTheLargestByteThatAFileDoesNotDeclare) {
    Dataset set;
    set.group(REFS_SOURCES_GROUP, "");
    EXPECT_EQ(nodataOf(set, {"|u1", "255", R"("flag_values":[0,1])", 0}), NONE);
}

TEST(Nodata, IsNoElementWhereTheTypeHasNoSuchNumber) {
    const struct {
        const char *dtype, *attributes;
        bool isElement;
    } cases[] = {
        {"<u2", R"("_FillValue":-9999)", false},
        {"<u2", R"("_FillValue":55537)", true},
        {"|i1", R"("_FillValue":255)", false},
        {"|i1", R"("_FillValue":255,"_Unsigned":"true")", true},
        {"|i1", R"("_FillValue":-1,"_Unsigned":"true")", true},
        {"|u1", R"("_FillValue":-1)", false},
        {"<i8", R"("_FillValue":1e30)", false},
        {"<i4", R"("_FillValue":0.5)", false},
        {"<f4", R"("_FillValue":-9999)", true},
        {"<f4", R"("_FillValue":"NaN")", true},
        {"<u4", R"("_FillValue":null)", false},
        {"<u4", R"("other":1)", false},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, c.attributes, c.dtype});
        const refs_array_meta *meta = set.find("v");
        uint8_t element[16];
        bool isElement = false;
        EXPECT_EQ(refs_cf_read_element(meta, refs_json_get(meta->attributes, "_FillValue"), element,
                                       &isElement, &set.error),
                  REFS_OK);
        EXPECT_EQ(isElement, c.isElement) << c.dtype << " " << c.attributes;
    }
}

TEST(Missing, IsTheFirstThatTheTypeCanHold) {
    const struct {
        const char *dtype, *attributes, *declared; /* NULL: none */
    } cases[] = {
        {"<i2", R"("_FillValue":-999,"missing_value":-998)", "-999"},
        {"<i2", R"("_FillValue":1e20,"missing_value":-998)", "-998"},
        {"<i2", R"("_FillValue":1e20,"missing_value":[-997,-996])", "-997"},
        {"<i2", R"("_FillValue":[-995],"missing_value":-998)", "-995"},
        {"<i2", R"("_FillValue":[],"missing_value":1e20)", nullptr},
        {"<i2", R"("missing_value":"NaN")", nullptr},
        {"<f4", R"("missing_value":"NaN")", "\"NaN\""},
        {"|S2", R"("missing_value":"NA")", nullptr},
        {"<i2", "", nullptr},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, c.attributes, c.dtype, "null"});
        const refs_json *value = nullptr;
        uint8_t element[16];
        refs_buf text = REFS_BUF_INIT;
        ASSERT_EQ(refs_cf_read_missing(set.find("v"), element, &value, &set.error), REFS_OK);
        ASSERT_EQ(value != nullptr, c.declared != nullptr) << c.dtype << " " << c.attributes;
        if (value == nullptr) continue;
        ASSERT_EQ(refs_json_write(value, &text, nullptr), REFS_OK);
        EXPECT_EQ(std::string((const char *)text.data, text.size), c.declared);
        EXPECT_TRUE(strcmp(c.dtype, "<f4") == 0 ||
                    refs_dtype_number(&set.find("v")->dtype, element) == atoi(c.declared));
        refs_buf_clear(&text);
    }
}

/* kerchunk writes null for what nobody declared where the netCDF library noted the dimensions. */
TEST(Nodata, MayBeTheLargestByteWhereOthersHaveNone) {
    const struct {
        const char *dtype, *fill, *attributes;
        bool declared;
    } others[] = {
        {"<f4", "null", "", true},
        {"<i2", "-999", "", false},
        {"<f4", "null", R"("units":"days since 2000-01-01")", false},
    };
    for (const auto &other : others) {
        Dataset set;
        set.array("other", {{"y", "x"}, {4, 5}, other.attributes, other.dtype, other.fill});
        EXPECT_EQ(nodataOf(set, {"|u1", "255", "", 0}), other.declared ? 255 : NONE) << other.fill;
    }
    Dataset set;
    set.array("some", {{"y", "x"}, {4, 5}});
    set.array("filled", {{"y", "x"}, {4, 5}, "", "<i2", "-32767"});
    EXPECT_EQ(nodataOf(set, {"|u1", "255", "", 0}), NONE) << "defaults are not left out";
}

TEST(Nodata, HasNoDefaultInFilesThatHyraxWrote) {
    expectNodata({"<f4", "null", "", NONE}, R"("build_dmrpp_metadata.bes":"3.20")");
    expectNodata({"<f4", "-1", "", -1}, R"("build_dmrpp_metadata.bes":"3.20")");
}

TEST(Nodata, HasNoDefaultInHdf5FilesWithoutDimensions) {
    Dataset set;
    set.array("v", {{"phony_dim_0", "phony_dim_1"}, {4, 5}, "", "<i4"});
    set.array("w", {{}, {4, 5}, "", "<i4"});
    EXPECT_EQ(set.describe("v").nodata_kind, REFS_CF_NODATA_NONE);
    EXPECT_EQ(set.describe("w").nodata_kind, REFS_CF_NODATA_NONE);
}

TEST(Nodata, IsNotANumberInGrib) {
    expectNodata({"<f8", "null", R"("GRIB_missingValue":9999)", NAN});
}

TEST(Nodata, IsZeroOnlyWhereNobodyElseFillsWithZero) {
    expectNodata({"<i2", "0", "", NONE});
    expectNodata({"<i2", "0", "", 0}, "", true);
    expectNodata({">i2", "0", "", 0});
    Dataset set;
    set.array("v", {{"phony_dim_0", "phony_dim_1"}, {4, 5}, "", ">i2", "0"});
    EXPECT_EQ(set.describe().nodata_kind, REFS_CF_NODATA_NONE) << "HDF5, not netCDF-3";
}

/* HDF5 and Zarr fill with zero where nobody said anything. */
TEST(Nodata, IsZeroOnlyWhereItMustHaveBeenDeclared) {
    const ArraySpec rates = {{"y", "x"}, {4, 5}, "", "<f4", "0.0"};
    const struct {
        const char *what, *name;
        ArraySpec other;
        bool declared;
    } rows[] = {
        {"h5netcdf and others mark dimensions alone", "y", {{"y"}, {4}, "", "<f8", "null"}, false},
        {"kerchunk leaves out what is not declared",
         "other",
         {{"y", "x"}, {4, 5}, "", "<f4", "null"},
         true},
        {"the netCDF library filled", "crs", {{}, {}, "", "<i4", "-2147483647"}, true},
        {"zero without a word", "crs", {{}, {}, "", "<i4", "0"}, false},
        {"zero without a word", "y", {{"y"}, {4}, "", "<f8", "0.0"}, false},
        {"zero of a time that was joined",
         "time",
         {{"time"}, {2}, R"("units":"days since 2000-01-01")", "<f8", "0.0"},
         false},
    };
    for (const auto &row : rows) {
        Dataset set;
        set.array(row.name, row.other);
        set.array("rates", rates);
        EXPECT_EQ(set.describe("rates").nodata_kind != REFS_CF_NODATA_NONE, row.declared)
            << row.what;
        if (row.other.fill == "null" || row.other.fill[0] == '-') continue;
        EXPECT_EQ(set.describe(row.name).nodata_kind, REFS_CF_NODATA_NONE) << row.what;
    }
}

TEST(Nodata, IsNoZeroWhereTheWriterKeepsTheAttribute) {
    Dataset set;
    set.array("crs", {{}, {}, "", "<i4", "-2147483647"});
    set.array("rates", {{"y", "x"}, {4, 5}, "", "<f4", "0.0"});
    set.array("other", {{"y", "x"}, {4, 5}, R"("_FillValue":-1)", "<f4", "0.0"});
    EXPECT_EQ(set.describe("rates").nodata_kind, REFS_CF_NODATA_NONE);
    EXPECT_EQ(set.describe("other").nodata, -1);
}

TEST(Nodata, KeepsAllDigitsOfWideIntegers) {
    Dataset set;
    set.array("v", {{"y", "x"}, {4, 5}, "", "<i8", "9007199254740993"});
    set.array("w", {{"y", "x"}, {4, 5}, R"("_FillValue":18446744073709551615)", "<u8"});
    EXPECT_EQ(set.describe("v").nodata_int64, 9007199254740993);
    EXPECT_EQ(set.describe("w").nodata_kind, REFS_CF_NODATA_UINT64);
    EXPECT_EQ(set.description.nodata_uint64, 18446744073709551615u);
}

/** Other missing values than nodata, in order. */
std::vector<double> missingOf(const refs_cf_description &description) {
    std::vector<double> values;
    for (size_t i = 0; i < description.n_missing; i++) {
        const refs_cf_missing &missing = description.missing[i];
        EXPECT_EQ(missing.kind, description.nodata_kind);
        values.push_back(missing.kind == REFS_CF_NODATA_INT64 ? static_cast<double>(missing.int64)
                         : missing.kind == REFS_CF_NODATA_UINT64
                             ? static_cast<double>(missing.uint64)
                             : missing.number);
    }
    return values;
}

TEST(Missing, AreAllValuesOfBothAttributesThatElementsCanHave) {
    const struct {
        Nodata nodata;
        std::vector<double> others;
    } rows[] = {
        {{"<i2", "-1", R"("missing_value":-9999)", -1}, {-9999}},
        {{"<i2", "null", R"("_FillValue":-1,"missing_value":[-1,-9999,-9999,-8888])", -1},
         {-9999, -8888}},
        {{"<i2", "null", R"("missing_value":[-1,-9999])", -1}, {-9999}},
        {{"<i2", "null", R"("_FillValue":[-1,-2],"missing_value":-3)", -1}, {-2, -3}},
        {{"<i2", "-1", R"("missing_value":-1)", -1}, {}},
        {{"<i2", "-1", R"("missing_value":40000)", -1}, {}},
        {{"<i2", "-1", R"("missing_value":1e20)", -1}, {}},
        {{"<i2", "-1", R"("missing_value":2.5)", -1}, {}},
        {{"<i2", "-1", R"("missing_value":"none")", -1}, {}},
        {{"<i2", "-1", R"("missing_value":"-9999")", -1}, {-9999}},
        {{"<i2", "-1", R"("missing_value":"[-9999. -3.]")", -1}, {-9999, -3}},
        {{"|u1", "7", R"("missing_value":255)", 7}, {255}},
        {{"|u1", "null", R"("_FillValue":300,"missing_value":9)", 9}, {}},
        {{"|u1", "null", R"("missing_value":["NaN",9])", 9}, {}},
        {{"|i1", "-1", R"("missing_value":-2,"_Unsigned":"true")", 255}, {254}},
        {{"<i2", "-1", R"("missing_value":-2,"_Unsigned":"true")", 65535}, {65534}},
        {{"<f4", "-1", R"("missing_value":1e20)", -1}, {static_cast<double>(1e20f)}},
        {{"<f4", "-1", R"("missing_value":0.1)", -1}, {static_cast<double>(0.1f)}},
        {{"<f2", "-1", R"("missing_value":0.1)", -1}, {0.0999755859375}},
        {{"<f8", "-1", R"("missing_value":[0.1,"Infinity"])", -1}, {0.1, INFINITY}},
        {{"<f4", "-1", R"("missing_value":NaN)", -1}, {}},
        {{"<f4", "\"NaN\"", R"("missing_value":-9999)", NAN}, {-9999}},
        {{"<i8", "-1", R"("missing_value":-9007199254740995)", -1}, {-9007199254740995.}},
        {{"<u8", "1", R"("missing_value":18446744073709551615)", 1}, {18446744073709551615.}},
        {{"<i8", "null", R"("_FillValue":-9223372036854775806,"missing_value":[-7,1e30])",
          -9223372036854775806.},
         {-7}},
    };
    for (const auto &row : rows) {
        Dataset set;
        const double nodata = nodataOf(set, row.nodata);
        EXPECT_TRUE(std::isnan(row.nodata.nodata) ? std::isnan(nodata)
                                                  : nodata == row.nodata.nodata)
            << row.nodata.dtype << row.nodata.attributes << nodata;
        EXPECT_EQ(missingOf(set.description), row.others)
            << row.nodata.dtype << row.nodata.attributes;
        EXPECT_TRUE(set.notes.empty());
        if (!row.others.empty()) {
            EXPECT_TRUE(refs_cf_is_missing(&set.description, row.others[0]));
        }
        EXPECT_TRUE(refs_cf_is_missing(&set.description, nodata));
        EXPECT_FALSE(refs_cf_is_missing(&set.description, 3.25));
    }
}

TEST(Missing, AreExactAboveTwoToThe53) {
    Dataset set;
    set.array("v",
              {{"y", "x"}, {4, 5}, R"("_FillValue":-1,"missing_value":9007199254740993)", "<i8"});
    ASSERT_EQ(set.describe().n_missing, 1u);
    EXPECT_EQ(set.description.missing[0].int64, 9007199254740993);
}

TEST(Missing, AreLimitedWithAWarning) {
    Dataset set;
    std::string list = "-1";
    for (int i = 2; i <= 17; i++) list += ",-" + std::to_string(i);
    set.array("v", {{"y", "x"}, {4, 5}, "\"missing_value\":[" + list + "]", "<i2"});
    EXPECT_EQ(set.describe().n_missing, static_cast<size_t>(REFS_CF_MAX_MISSING));
    ASSERT_EQ(set.notes.size(), 1u);
    EXPECT_NE(set.notes[0].find(
                  "/v: missing value -17 is read as data: expected at most 16 missing values"),
              std::string::npos)
        << set.notes[0];
}

TEST(DefaultFill, IsTheSameAsText) {
    for (const char *name : {"<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f4", "<f8"}) {
        refs_dtype dtype = {};
        uint8_t fill[16] = {}, read[16] = {};
        refs_json_doc *doc = nullptr;
        bool has_fill = false;
        ASSERT_EQ(refs_dtype_parse(refs_str_from(name), &dtype, nullptr), REFS_OK);
        ASSERT_TRUE(refs_cf_default_fill(&dtype, fill));
        ASSERT_EQ(refs_json_parse(refs_str_from(refs_cf_default_fill_text(&dtype)), &doc, nullptr),
                  REFS_OK);
        EXPECT_EQ(refs_fill_value_parse(refs_json_root(doc), &dtype, read, &has_fill, nullptr),
                  REFS_OK);
        EXPECT_EQ(memcmp(fill, read, dtype.size), 0) << name;
        refs_json_doc_free(doc);
    }
    refs_dtype byte = {};
    byte.type = REFS_TYPE_UINT;
    byte.size = 1;
    EXPECT_EQ(refs_cf_default_fill_text(&byte), nullptr);
}

struct Signs {
    const char *dtype, *attributes;
    bool isUnsigned;
    double nodata; // of fill value -3
};

TEST(Unsigned, ChangesSignedIntegersAndTheirNodata) {
    for (const Signs &c : {
             Signs{"|i1", R"("_Unsigned":"true")", true, 253},
             Signs{"<i2", R"("_Unsigned":"TRUE")", true, 65533},
             Signs{"<i4", R"("_Unsigned":"true")", true, 4294967293},
             Signs{"<i4", R"("_Unsigned":"false")", false, -3},
             Signs{"<i2", R"("_Unsigned":"false")", false, -3},
             Signs{"|i1", R"("valid_range":[0,255])", true, 253},
             Signs{"|i1", R"("valid_range":[-128,127],"_Unsigned":"true")", false, -3},
             Signs{"|i1", R"("valid_range":[0,100],"_Unsigned":"true")", false, -3},
             Signs{"|i1", R"("valid_min":0,"valid_max":100,"_Unsigned":"true")", false, -3},
             Signs{"|i1", R"("valid_range":[0,-2],"_Unsigned":"true")", true, 253},
             Signs{"<i2", R"("valid_range":[0,100],"_Unsigned":"true")", true, 65533},
         }) {
        Dataset set;
        EXPECT_EQ(nodataOf(set, {c.dtype, "-3", c.attributes, 0}), c.nodata) << c.attributes;
        EXPECT_EQ(set.description.unsigned_values, c.isUnsigned) << c.dtype << c.attributes;
    }
}

TEST(Unsigned, HaveNodataOf64BitsOfEitherSign) {
    const struct {
        const char *fill, *attributes;
        uint64_t nodata, other; // 0: none
    } cases[] = {
        {"-3", "", UINT64_MAX - 2, 0},
        {"0", R"("_FillValue":-3,"missing_value":18446744073709551615,)", UINT64_MAX - 2,
         UINT64_MAX},
        {"0", R"("_FillValue":18446744073709551613,"missing_value":7,)", UINT64_MAX - 2, 7},
        {"0", R"("_FillValue":9007199254740993,)", 9007199254740993, 0}};
    for (const auto &c : cases) {
        Dataset set;
        const std::string attributes = std::string(c.attributes) + R"("_Unsigned":"true")";
        nodataOf(set, {"<i8", c.fill, attributes.c_str(), 0});
        EXPECT_TRUE(set.description.unsigned_values) << attributes;
        EXPECT_EQ(set.description.nodata_kind, REFS_CF_NODATA_UINT64) << attributes;
        EXPECT_EQ(set.description.nodata_uint64, c.nodata) << attributes;
        ASSERT_EQ(set.description.n_missing, c.other != 0 ? 1U : 0U) << attributes;
        if (c.other != 0) {
            EXPECT_EQ(set.description.missing[0].uint64, c.other) << attributes;
        }
        refs_dtype dtype = {};
        dtype.type = REFS_TYPE_INT;
        dtype.size = 8;
        EXPECT_TRUE(refs_cf_is_missing_integer(&set.description, &dtype, (int64_t)c.nodata));
        EXPECT_FALSE(refs_cf_is_missing_integer(&set.description, &dtype, -9));
    }
}

TEST(Unsigned, AreElementsOfAnySize) {
    const struct {
        refs_type type;
        size_t size;
        const char *attributes;
        bool isUnsigned;
    } cases[] = {{REFS_TYPE_INT, 4, R"({"_Unsigned":"true"})", true},
                 {REFS_TYPE_INT, 8, R"({"_Unsigned":"True"})", true},
                 {REFS_TYPE_INT, 4, R"({"_Unsigned":"false"})", false},
                 {REFS_TYPE_INT, 1, R"({"valid_range":[0,255]})", true},
                 {REFS_TYPE_INT, 2, R"({"valid_range":[0,255]})", false},
                 {REFS_TYPE_UINT, 4, "{}", true},
                 {REFS_TYPE_FLOAT, 4, R"({"_Unsigned":"true"})", false}};
    for (const auto &c : cases) {
        refs_json_doc *doc = nullptr;
        ASSERT_EQ(refs_json_parse(refs_str_from(c.attributes), &doc, nullptr), REFS_OK);
        refs_array_meta meta = {};
        meta.dtype.type = c.type;
        meta.dtype.size = c.size;
        meta.attributes = refs_json_root(doc);
        EXPECT_EQ(refs_cf_has_unsigned_elements(&meta), c.isUnsigned) << c.attributes << c.size;
        refs_json_doc_free(doc);
    }
}

/* Bytes of netCDF-3, in which all numbers are big-endian, by GDAL. */
TEST(Unsigned, AreBytesThatGdalWroteWhereNothingElseIsTold) {
    const struct {
        const char *globals, *axis, *attributes;
        bool isUnsigned;
    } cases[] = {
        {R"("GDAL":"GDAL 3.6.2, released")", ">f8", "", true},
        {R"("GDAL":"GDAL 3.6.2, released")", ">f8", R"("_Unsigned":"false")", false},
        {R"("GDAL":"GDAL 3.6.2, released")", ">f8", R"("valid_range":[2,60])", true},
        {R"("GDAL":"GDAL 3.6.2, released")", ">f8", R"("valid_range":[-128,127])", false},
        {R"("GDAL":"GDAL 3.6.2, released")", "<f8", "", false},
        {"", ">f8", "", false},
        {"", ">f8", R"("grid_mapping":"crs")", true},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.global(c.globals);
        set.coordinate("y", {1, 2, 3, 4}, "", c.axis);
        set.array("crs",
                  {{}, {}, R"("spatial_ref":"GEOGCS[]","GeoTransform":"1 2 0 3 0 4")", "|S1"});
        set.array("v", {{"y", "x"}, {4, 5}, c.attributes, "|i1"});
        EXPECT_EQ(set.describe().unsigned_values, c.isUnsigned) << c.axis << c.attributes;
    }
}

TEST(ValidRange, IsToldInStoredValues) {
    const struct {
        const char *dtype, *attributes;
        bool has;
        double min, max;
    } cases[] = {
        {"<f4", R"("valid_range":[-1,1.5])", true, -1, 1.5},
        {"<f4", R"("valid_min":-1,"valid_max":2)", true, -1, 2},
        {"<f4", R"("valid_min":-1)", true, -1, HUGE_VAL},
        {"<i2", R"("valid_max":20)", true, -HUGE_VAL, 20},
        {"<i2", R"("valid_max":-1,"_Unsigned":"true")", true, -HUGE_VAL, 65535},
        {"|i1", R"("valid_min":0)", true, 0, HUGE_VAL},
        {"<f4", R"("valid_min":"none")", false, 0, 0},
        {"<f4", R"("valid_range":[NaN,1])", false, 0, 0},
        {"<f4", R"("valid_range":[-Infinity,Infinity])", false, 0, 0},
        {"<f4", R"("valid_range":[1,-1])", false, 0, 0},
        {"<i2", R"("valid_range":[9200,-9536],"_Unsigned":"true")", true, 9200, 56000},
        {"|i1", R"("valid_range":[0,255])", false, 0, 0},
        {"<i2", R"("valid_range":[-2.5,20.5])", true, -2, 20},
        {"<i2", R"("valid_range":"[ 3 30]")", true, 3, 30},
        {"<i2", R"("valid_range":"3 30")", false, 0, 0},
        {"<i2", R"("valid_range":[3,4,5])", false, 0, 0},
        {"<f4", R"("valid_range":[-Infinity,20])", true, -HUGE_VAL, 20},
        {"<i8", R"("valid_range":[9007199254740993,9007199254740992])", false, 0, 0},
        {"<i8", R"("valid_range":[-9223372036854775808,9223372036854775807],"_Unsigned":"true")",
         false, 0, 0},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, c.attributes, c.dtype});
        ASSERT_EQ(set.describe().has_valid_range, c.has) << c.attributes;
        if (!c.has) continue;
        EXPECT_EQ(refs_cf_missing_number(set.description.valid.least), c.min);
        EXPECT_EQ(refs_cf_missing_number(set.description.valid.most), c.max);
    }
}

/* NUG: a range of the type of unpacked values is one of those. */
TEST(ValidRange, OfPackedValuesIsOfTheTypeItHas) {
    const struct {
        const char *dtype, *attributes;
        double min, max;
    } cases[] = {
        {"<i2", R"("valid_range":[200,300],"scale_factor":0.01,"add_offset":250)", 200, 300},
        {"<i2", R"("valid_range":[200.0,300.0],"scale_factor":0.01,"add_offset":250)", -5000, 5000},
        {"<i2", R"("valid_range":"[200. 300.]","scale_factor":0.01,"add_offset":250)", -5000, 5000},
        {"<i2", R"("valid_range":"[200 300]","scale_factor":0.01,"add_offset":250)", 200, 300},
        {"<i2", R"("valid_min":200.0,"scale_factor":-0.5)", -HUGE_VAL, -400},
        {"<i2", R"("valid_max":1.05,"add_offset":0.5)", -HUGE_VAL, 0},
        {"<i2", R"("valid_range":[0.0,0.3],"scale_factor":0.10000000149011612)", 0, 3},
        {"<u2", R"("valid_range":[0.0,6553.5],"scale_factor":0.1)", 0, 65535},
        {"<i2", R"("valid_range":[0.0,60000.0],"_Unsigned":"true","scale_factor":2)", 0, 30000},
        {"|i1", R"("valid_range":[0.0,255.0],"scale_factor":1.5)", 0, 170},
        {"<f4", R"("valid_range":[0.0,2.0],"scale_factor":0.5)", 0, 2},
        {"<f4", R"("valid_max":0.1)", -HUGE_VAL, static_cast<double>(0.1f)},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, c.attributes, c.dtype});
        ASSERT_TRUE(set.describe().has_valid_range) << c.attributes;
        EXPECT_EQ(refs_cf_missing_number(set.description.valid.least), c.min) << c.attributes;
        EXPECT_EQ(refs_cf_missing_number(set.description.valid.most), c.max) << c.attributes;
    }
}

TEST(ValidRange, CountsUnlessTheHostSaysOtherwise) {
    Dataset set;
    set.options.honour_valid_range = false;
    set.array("v", {{"y", "x"}, {4, 5}, R"("valid_range":[0,255])", "|i1"});
    EXPECT_FALSE(set.describe().has_valid_range);
    EXPECT_TRUE(set.description.unsigned_values);
}

TEST(Packing, TakesUnitsOfAnyKindButABlank) {
    const std::pair<const char *, const char *> rows[] = {
        {R"("units":3)", "3"}, {R"("units":" ")", nullptr}, {R"("units":" K")", " K"}};
    for (const auto &[attributes, unit] : rows) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, attributes});
        EXPECT_STREQ(set.describe().unit, unit) << attributes;
    }
}

/* kerchunk leaves an empty text of netCDF-3 empty. */
TEST(Packing, TakesABlankUnitOfNetcdf3) {
    Dataset set;
    set.array("v", {{"y", "x"}, {4, 5}, R"("units":" ")", ">f4"});
    EXPECT_STREQ(set.describe().unit, " ");
}

TEST(Packing, KnowsLongitudes) {
    const std::pair<const char *, bool> rows[] = {
        {R"("units":"degrees_east")", true},
        {R"("standard_name":"longitude","units":"m")", false},
        {R"("units":"degrees_north")", false}};
    for (const auto &[attributes, longitudes] : rows) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, attributes});
        EXPECT_EQ(set.describe().longitudes, longitudes) << attributes;
    }
}

TEST(Packing, ReadsScaleOffsetAndUnit) {
    Dataset set;
    set.array("v", {{"y", "x"}, {4, 5}, R"("scale_factor":[0.5],"add_offset":"2","Units":"K")"});
    set.array("w", {{"y", "x"}, {4, 5}});
    EXPECT_TRUE(set.describe("v").has_scale);
    EXPECT_EQ(set.description.scale, 0.5);
    EXPECT_TRUE(set.description.has_offset);
    EXPECT_EQ(set.description.offset, 2);
    EXPECT_STREQ(set.description.unit, "K");
    EXPECT_FALSE(set.describe("w").has_scale);
    EXPECT_FALSE(set.description.has_offset);
    EXPECT_EQ(set.description.unit, nullptr);
}

TEST(Packing, GivesTimesOfNumPyTheUnitOfTheirTicks) {
    const struct {
        const char *dtype, *attributes, *unit;
    } cases[] = {
        {"<M8[s]", "", "seconds since 1970-01-01"},
        {">M8[10us]", "", "10 microseconds since 1970-01-01"},
        {"<m8[D]", "", "days"},
        {"<m8[ns]", R"("units":"hours")", "hours"},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, c.attributes, c.dtype});
        set.describe();
        EXPECT_STREQ(set.description.unit, c.unit) << c.dtype;
        EXPECT_EQ(set.description.nodata_kind, REFS_CF_NODATA_INT64) << c.dtype;
        EXPECT_EQ(set.description.nodata_int64, INT64_MIN) << c.dtype;
    }
}

TEST(AsStored, NodataIsWhatAttributesDeclare) {
    Dataset set;
    set.options.as_stored = true;
    set.array("v", {{"y", "x"}, {4, 5}, R"("_FillValue":-1)", "<i2"});
    EXPECT_EQ(set.describe().nodata_kind, REFS_CF_NODATA_DOUBLE);
    EXPECT_EQ(set.description.nodata, -1);
}

TEST(AsStored, NodataOfDataMayBeTheDefaultOfNetcdf) {
    Dataset set;
    set.options.as_stored = true;
    const std::string fill = "9.969209968386869e+36";
    set.array("v", {{"y", "x"}, {4, 5}, R"("coordinates":"lat lat4")", "<f8", fill});
    set.array("lat", {{"y", "x"}, {4, 5}, "", "<f8", fill});
    set.array("lat4", {{"y", "x"}, {4, 5}, R"("bounds":"b")", ">f8", fill});
    set.array("b", {{"y", "n"}, {4, 2}, "", "<f8", fill});
    set.array("y", {{"y"}, {4}, "", "<f8", fill});
    set.array("none", {{"y", "x"}, {4, 5}, "", "<f8"});
    const std::pair<const char *, bool> cases[] = {{"v", true},  {"lat", false}, {"lat4", true},
                                                   {"b", false}, {"y", false},   {"none", false}};
    for (const auto &c : cases)
        EXPECT_EQ(set.describe(c.first).nodata_kind != REFS_CF_NODATA_NONE, c.second) << c.first;
}

TEST(AsStored, BytesKeepTheirSignsUnlessTheyAreMarkedUnsigned) {
    Dataset set;
    const std::string range = R"("_FillValue":-1,"valid_range":[0,255])";
    set.array("v", {{"y", "x"}, {4, 5}, range, "|i1"});
    set.array("u", {{"y", "x"}, {4, 5}, R"("_FillValue":-1,"_Unsigned":"true")", "|i1"});
    EXPECT_TRUE(set.describe("v").unsigned_values);
    EXPECT_EQ(set.description.nodata, 255);
    set.options.as_stored = true;
    EXPECT_FALSE(set.describe("v").unsigned_values);
    EXPECT_EQ(set.description.nodata, -1);
    EXPECT_TRUE(set.describe("u").unsigned_values);
    EXPECT_EQ(set.description.nodata, 255);
}

} // namespace
