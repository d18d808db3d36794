/* multidim_test.cc -- sets through the multidimensional API: groups, dimensions, attributes. */
#include "multidim_test.h"

#include <array>
#include <limits>

using namespace refs_test;

namespace {

/** An array "v" of one row that holds 0 to 5. */
Set small_set() {
    Set set;
    return add_small_array(set);
}

} // namespace

/* -- opening ----------------------------------------------------------------------------------- */

TEST(MultidimOpen, IsACapabilityOfTheDriver) {
    EXPECT_EQ(item(GDALGetDriverByName("REFS"), GDAL_DCAP_MULTIDIM_RASTER), "YES");
}

TEST(MultidimOpen, TakesSetsWithAndWithoutPrefix) {
    const std::string path = small_set().save();
    for (const std::string &name : {path, "REFS:" + path, "REFS:\"" + path + "\""}) {
        const Dataset dataset(
            GDALOpenEx(name.c_str(), GDAL_OF_MULTIDIM_RASTER, nullptr, nullptr, nullptr));
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(driver_of(dataset), "REFS");
    }
}

TEST(MultidimOpen, RefusesTheNameOfOneArray) {
    ErrorLog log;
    EXPECT_EQ(open_multidim("\"" + small_set().save() + "\":/v"), nullptr);
    EXPECT_NE(log.text().find("leave out the array /v"), std::string::npos) << log.text();
}

TEST(MultidimOpen, KeepsTheSetAsLongAsAnArrayLives) {
    MDArray array = array_of(small_set());
    ASSERT_NE(array, nullptr);
    EXPECT_EQ(values_of(array), counting<double>(6));
}

TEST(MultidimOpen, KeepsTheSetAsLongAsADimensionLives) {
    Set set;
    set.values({"x", {2}, "<i4", {}, {"x"}}, bytes_of<int32_t>({7, 8}));
    MDArray array = array_of(set, "x");
    size_t n = 0;
    GDALDimensionH *dimensions = GDALMDArrayGetDimensions(array.get(), &n);
    array.reset();
    ASSERT_EQ(n, 1u);
    const MDArray variable(GDALDimensionGetIndexingVariable(dimensions[0]));
    GDALReleaseDimensions(dimensions, n);
    ASSERT_NE(variable, nullptr);
    EXPECT_EQ(values_of(variable), (std::vector<double>{7, 8}));
}

/* -- groups ------------------------------------------------------------------------------------ */

TEST(MultidimGroup, HoldsArraysAndGroupsAndAttributes) {
    Set set;
    set.attributes("", R"("title": "t")").attributes("g", R"("level": 2)");
    set.array({"v", {2}}).array({"g/w", {2}}).array({"g/h/x", {2}});
    const Group root = root_of(set);
    ASSERT_NE(root, nullptr);
    EXPECT_STREQ(GDALGroupGetFullName(root.get()), "/");
    EXPECT_EQ(array_names(root), std::vector<std::string>{"v"});
    EXPECT_EQ(strings_of(GDALGroupGetGroupNames(root.get(), nullptr)),
              std::vector<std::string>{"g"});

    const Group inner(GDALGroupOpenGroupFromFullname(root.get(), "/g/h", nullptr));
    ASSERT_NE(inner, nullptr);
    EXPECT_STREQ(GDALGroupGetFullName(inner.get()), "/g/h");
    EXPECT_EQ(array_names(inner), std::vector<std::string>{"x"});
    const MDArray array(GDALGroupOpenMDArrayFromFullname(root.get(), "/g/h/x", nullptr));
    ASSERT_NE(array, nullptr);
    EXPECT_STREQ(GDALMDArrayGetFullName(array.get()), "/g/h/x");

    const Group outer(GDALGroupOpenGroup(root.get(), "g", nullptr));
    const Attribute level(GDALGroupGetAttribute(outer.get(), "level"));
    ASSERT_NE(level, nullptr);
    EXPECT_EQ(GDALAttributeReadAsInt(level.get()), 2);
    EXPECT_STREQ(GDALAttributeGetFullName(level.get()), "/g/_GLOBAL_/level");
}

TEST(MultidimGroup, SaysWhatThereIsWhereSomethingElseIsAskedFor) {
    Set set;
    set.attributes("g", R"("level": 2)");
    set.array({"temperature", {2}}).array({"g/wind", {2}}).array({"g/h/rain", {2}});
    const std::string path = set.save(), there = "there are /temperature, /g/wind, /g/h/rain";
    const Group root = root_of(path);
    const Group inner(GDALGroupOpenGroup(root.get(), "g", nullptr));
    const std::pair<std::string, std::string> rows[] = {
        {"temprature", "no array temprature; did you mean /temperature? " + there},
        {"wint", "no array wint; did you mean /g/wind? " + there},
        {"pressure", "no array pressure; " + there}};
    for (const auto &[name, said] : rows) {
        const ErrorLog log;
        EXPECT_EQ(array_of(root, name.c_str()), nullptr);
        EXPECT_EQ(log.failures(),
                  std::vector<std::string>{"NOT_FOUND: " + path + ": there is " + said});
    }
    const ErrorLog log;
    EXPECT_EQ(array_of(inner, "rainy"), nullptr);
    EXPECT_EQ(Group(GDALGroupOpenGroup(root.get(), "gg", nullptr)), nullptr);
    EXPECT_EQ(
        log.failures(),
        (std::vector<std::string>{
            "NOT_FOUND: " + path + ": there is no array rainy; did you mean /g/h/rain? " + there,
            "NOT_FOUND: " + path + ": there is no group gg; there are /g, /g/h"}));
}

TEST(MultidimGroup, CountsNamesWithASlashInFrontFromTheRoot) {
    Set set;
    set.array({"v", {2}}).array({"g/w", {2}});
    const Group root = root_of(set);
    const Group inner(GDALGroupOpenGroup(root.get(), "g", nullptr));
    const ErrorLog log;
    EXPECT_NE(array_of(root, "/v"), nullptr);
    EXPECT_NE(array_of(inner, "/v"), nullptr);
    EXPECT_NE(array_of(root, "/g/w"), nullptr);
    EXPECT_EQ(array_of(root, "/time"), nullptr);
    EXPECT_EQ(log.text(), "");
}

TEST(MultidimGroup, SaysNothingWhereGdalSearchesAndFinds) {
    Set set;
    set.array({"v", {2}}).array({"g/w", {2}}).array({"g/h/x", {2}});
    const Group root = root_of(set);
    ErrorLog log;
    const MDArray found(GDALGroupResolveMDArray(root.get(), "x", "/", nullptr));
    EXPECT_NE(found, nullptr);
    EXPECT_EQ(log.text(), "");
    EXPECT_EQ(MDArray(GDALGroupResolveMDArray(root.get(), "other", "/", nullptr)), nullptr);
    EXPECT_EQ(log.failures().size(), 1u) << log.text();
}

TEST(MultidimGroup, ListsWhatOptionsAskFor) {
    Set set;
    set.array({"t", {3}, "<i4", {}, {"t"}, R"("standard_name": "time", "bounds": "t_bnds")"})
        .array({"t_bnds", {3, 2}, "<i4", {}, {"t", "two"}})
        .array({"lat", {3}, "<f4", {}, {"n"}})
        .array({"v", {3, 2}, "<i4", {}, {"t", "x"}, R"("coordinates": "lat")"})
        .array({"crs", {}});
    const Group root = root_of(set);
    const std::vector<std::pair<const char *, std::vector<std::string>>> rows = {
        {nullptr, {"t", "t_bnds", "lat", "v"}},
        {"SHOW_ZERO_DIM=YES", {"t", "t_bnds", "lat", "v", "crs"}},
        {"SHOW_ALL=YES", {"t", "t_bnds", "lat", "v", "crs"}},
        {"SHOW_BOUNDS=NO", {"t", "lat", "v"}},
        {"SHOW_COORDINATES=NO", {"t", "t_bnds", "v"}},
        {"SHOW_INDEXING=NO", {"t_bnds", "lat", "v"}},
        {"SHOW_TIME=NO", {"t_bnds", "lat", "v"}},
    };
    for (const auto &row : rows)
        EXPECT_EQ(array_names(root, row.first), row.second) << (row.first ? row.first : "");
}

TEST(MultidimGroup, LeavesOutArraysThatGdalHasNoTypeForAndSaysWhyWhenAsked) {
    Set set;
    set.array({"v", {2}}).array({"w", {2}, "|V3"}).array({"x", {2}, "<q9"});
    const Group root = root_of(set);
    EXPECT_EQ(array_names(root), std::vector<std::string>{"v"});
    for (const char *name : {"w", "x"}) {
        ErrorLog log;
        EXPECT_EQ(array_of(root, name), nullptr);
        EXPECT_EQ(log.failures().size(), 1u) << name;
    }
}

/* -- dimensions -------------------------------------------------------------------------------- */

TEST(MultidimDimension, HasTypeAndDirectionByTheAttributesOfItsVariable) {
    const std::vector<std::array<const char *, 3>> rows = {
        {"v", R"("units": "degrees_east")", " HORIZONTAL_X EAST"},
        {"v", R"("units": "degrees_north")", " HORIZONTAL_Y NORTH"},
        {"v", R"("units": ["degrees_east"])", " HORIZONTAL_X EAST"},
        {"v", R"("units": "degree_north")", " HORIZONTAL_Y NORTH"},
        {"v", R"("standard_name": "longitude", "units": "degrees")", " HORIZONTAL_X"},
        {"v", R"("standard_name": "longitude", "units": "m", "positive": "up")", " VERTICAL UP"},
        {"v", R"("standard_name": "projection_x_coordinate")", " HORIZONTAL_X"},
        {"v", R"("standard_name": "projection_y_coordinate", "units": "1")", ""},
        {"v", R"("axis": "y")", " HORIZONTAL_Y"},
        {"v", R"("axis": "Z", "positive": "down")", " VERTICAL DOWN"},
        {"v", R"("units": "hPa")", " VERTICAL"},
        {"v", R"("standard_name": "ocean_s_coordinate")", " VERTICAL"},
        {"v", R"("axis": "T")", " TEMPORAL"},
        {"v", R"("units": "days since 2000-01-01")", " TEMPORAL"},
        {"v", R"("units": "K")", ""},
        {"lat", R"("comment": "named only")", " HORIZONTAL_Y"},
        {"lat", R"("units": "K")", ""},
        {"x", R"("units": "m")", " HORIZONTAL_X"},
    };
    for (const auto &row : rows) {
        Set set;
        set.array({row[0], {2}, "<f4", {}, {row[0]}, row[1]});
        const std::string name = std::string("/") + row[0];
        EXPECT_EQ(dimensions_of(root_of(set)),
                  std::vector<std::string>{name + " 2" + row[2] + " " + name})
            << row[1];
    }
}

TEST(MultidimDimension, HasTheOnlyVariableAlongItWhereNoneIsCalledLikeIt) {
    Set one, two;
    one.array({"lat", {3}, "<f4", {}, {"n"}}).array({"v", {3, 3}, "<f4", {}, {"n", "m"}});
    two.array({"lat", {3}, "<f4", {}, {"n"}}).array({"lon", {3}, "<f4", {}, {"n"}});
    EXPECT_EQ(dimensions_of(root_of(one)),
              (std::vector<std::string>{"/n 3 HORIZONTAL_Y /lat", "/m 3"}));
    EXPECT_EQ(dimensions_of(root_of(two)), std::vector<std::string>{"/n 3"});
}

TEST(MultidimDimension, IsAtHomeInTheOutermostGroupThatSharesIt) {
    Set set;
    set.array({"lat", {2}, "<f4", {}, {"lat"}})
        .array({"g/v", {2, 3}, "<f4", {}, {"lat", "x"}})
        .array({"g/h/w", {2, 3, 4}, "<f4", {}, {"lat", "x", "y"}})
        .array({"g/h/lat", {5}, "<f4", {}, {"lat"}})
        .array({"g/u", {5}, "<f4", {}, {"g/h/lat"}});
    const Group root = root_of(set);
    EXPECT_EQ(dimensions_of(root), std::vector<std::string>{"/lat 2 HORIZONTAL_Y /lat"});
    const Group g(GDALGroupOpenGroup(root.get(), "g", nullptr));
    EXPECT_EQ(dimensions_of(g), std::vector<std::string>{"/g/x 3"});
    const Group h(GDALGroupOpenGroup(g.get(), "h", nullptr));
    EXPECT_EQ(dimensions_of(h),
              (std::vector<std::string>{"/g/h/y 4", "/g/h/lat 5 HORIZONTAL_Y /g/h/lat"}));
    EXPECT_EQ(dimensions_of(array_of(h, "w")),
              (std::vector<std::string>{"/lat 2 HORIZONTAL_Y /lat", "/g/x 3", "/g/h/y 4"}));
    EXPECT_EQ(dimensions_of(array_of(g, "u")),
              std::vector<std::string>{"/g/h/lat 5 HORIZONTAL_Y /g/h/lat"});
}

TEST(MultidimDimension, BelongsToItsArrayAloneWithoutANameOrWithAnotherSize) {
    Set set;
    set.array({"v", {2, 3}, "<f4", {}, {"y", "x"}})
        .array({"w", {4}, "<f4", {}, {"x"}})
        .array({"u", {5}});
    const Group root = root_of(set);
    EXPECT_EQ(dimensions_of(root), (std::vector<std::string>{"/y 2", "/x 3"}));
    EXPECT_EQ(dimensions_of(array_of(root, "w")), std::vector<std::string>{"x 4"});
    EXPECT_EQ(dimensions_of(array_of(root, "u")), std::vector<std::string>{"dim0 5"});
}

/* -- attributes -------------------------------------------------------------------------------- */

namespace {

/** Attribute "x" of an array of 16-bit integers, given in JSON. */
Attribute attribute_of(const std::string &json) {
    Set set;
    set.array({"v", {2}, "<i2", {}, {}, R"("x": )" + json});
    return Attribute(GDALMDArrayGetAttribute(array_of(set).get(), "x"));
}

std::string type_of(const Attribute &attribute) {
    return type_name(DataType(GDALAttributeGetDataType(attribute.get())));
}

} // namespace

TEST(MultidimAttribute, IsATextWhereItsJsonIsOneOrNoNumber) {
    const std::vector<std::pair<const char *, std::vector<std::string>>> rows = {
        {R"("K")", {"K"}},
        {R"("")", {""}},
        {R"(["a", "b"])", {"a", "b"}},
        {R"(["a"])", {"a"}},
        {"true", {"true"}},
        {"null", {"null"}},
        {R"({"a": [1, 2]})", {R"({"a":[1,2]})"}},
        {R"([1, "a"])", {R"([1,"a"])"}},
        {"[[1, 2], [3, 4]]", {"[[1,2],[3,4]]"}},
        {"[]", {"[]"}},
    };
    for (const auto &row : rows) {
        const Attribute attribute = attribute_of(row.first);
        ASSERT_NE(attribute, nullptr) << row.first;
        EXPECT_EQ(type_of(attribute), "String") << row.first;
        EXPECT_EQ(strings_of(GDALAttributeReadAsStringArray(attribute.get())), row.second);
        EXPECT_EQ(GDALAttributeGetDimensionCount(attribute.get()), row.second.size() > 1 ? 1u : 0u);
    }
}

TEST(MultidimAttribute, IsANumberOfTheTypeThatItsDigitsSuggest) {
    constexpr double single = static_cast<double>(0.2f);
    const struct {
        const char *json, *type;
        std::vector<double> values;
    } rows[] = {
        {"3", "Int32", {3}},
        {"-2147483648", "Int32", {-2147483648.0}},
        {"2147483648", "Int64", {2147483648.0}},
        {"18446744073709551615", "UInt64", {18446744073709551615.0}},
        {"[1, 2147483648]", "Int64", {1, 2147483648.0}},
        {"[5]", "Int32", {5}},
        {"1.5", "Float64", {1.5}},
        {"[1, 2.5]", "Float64", {1, 2.5}},
        {"1e3", "Float64", {1000}},
        {"0.2", "Float64", {0.2}},
        {"0.20000000298023224", "Float32", {single}},
        {"[0.20000000298023224, 1.0]", "Float32", {single, 1}},
        {"[0.20000000298023224, 0.1]", "Float64", {single, 0.1}},
        {"0.2000000029802", "Float64", {0.2000000029802}},
        {"Infinity", "Float64", {std::numeric_limits<double>::infinity()}},
    };
    for (const auto &row : rows) {
        const Attribute attribute = attribute_of(row.json);
        ASSERT_NE(attribute, nullptr) << row.json;
        EXPECT_EQ(type_of(attribute), row.type) << row.json;
        size_t n = 0;
        double *values = GDALAttributeReadAsDoubleArray(attribute.get(), &n);
        EXPECT_EQ(std::vector<double>(values, values + n), row.values) << row.json;
        CPLFree(values);
    }
}

TEST(MultidimAttribute, HasTheTypeOfItsVariableWhereCfSaysSo) {
    const std::vector<std::array<const char *, 4>> rows = {
        // element type, other attributes, attribute, type
        {"<i2", "", R"("valid_range": [0, 100])", "Int16"},
        {"<i2", "", R"("valid_range": [0, 100000])", "Int32"},
        {"<i2", "", R"("other_range": [0, 100])", "Int32"},
        {"<f4", "", R"("missing_value": -999.0)", "Float32"},
        {"<f4", "", R"("missing_value": -999)", "Float32"},
        {"<f8", "", R"("missing_value": -999.0)", "Float64"},
        {"<i2", "", R"("valid_min": 0.0)", "Float64"},
        {"|u1", "", R"("flag_values": [0, 255])", "Byte"},
        {"|u1", "", R"("flag_values": [0, -1])", "Byte"},
        {"<i2", R"("_Unsigned": "true", )", R"("valid_range": [0, -2])", "UInt16"},
    };
    for (const auto &row : rows) {
        Set set;
        set.array({"v", {2}, row[0], {}, {}, std::string(row[1]) + row[2]});
        const MDArray array = array_of(set);
        const std::string text(row[2]);
        const std::string name = text.substr(1, text.find('"', 1) - 1);
        const Attribute attribute(GDALMDArrayGetAttribute(array.get(), name.c_str()));
        ASSERT_NE(attribute, nullptr) << row[2];
        EXPECT_EQ(type_of(attribute), row[3]) << row[0] << row[2];
    }
}

TEST(MultidimAttribute, OfAnUnsignedVariableIsUnsigned) {
    Set set;
    set.array({"v", {2}, "<i2", {}, {}, R"("_Unsigned": "true", "valid_range": [0, -2])"});
    const MDArray array = array_of(set);
    const Attribute range(GDALMDArrayGetAttribute(array.get(), "valid_range"));
    size_t n = 0;
    int *values = GDALAttributeReadAsIntArray(range.get(), &n);
    EXPECT_EQ(std::vector<int>(values, values + n), (std::vector<int>{0, 65534}));
    CPLFree(values);
}

namespace {

std::vector<std::string> attribute_names(const MDArray &array, const char *option = nullptr) {
    const char *const options[] = {option, nullptr};
    size_t n = 0;
    GDALAttributeH *attributes = GDALMDArrayGetAttributes(array.get(), &n, options);
    std::vector<std::string> names;
    for (size_t i = 0; i < n; i++) names.push_back(GDALAttributeGetName(attributes[i]));
    GDALReleaseAttributes(attributes, n);
    return names;
}

} // namespace

TEST(MultidimAttribute, IsNotListedWhereAMethodStandsForIt) {
    const std::string attributes = R"("long_name": "n", "units": "K", "scale_factor": 2,
        "add_offset": 1, "grid_mapping": "crs", "_FillValue": 0, "missing_value": 0)";
    Set set;
    set.array({"v", {2}, "<i2", {}, {"x"}, attributes});
    const MDArray array = array_of(set);
    EXPECT_EQ(attribute_names(array), std::vector<std::string>{"long_name"});
    EXPECT_EQ(attribute_names(array, "SHOW_ALL=YES").size(), 7u);
    EXPECT_EQ(Attribute(GDALMDArrayGetAttribute(array.get(), "_ARRAY_DIMENSIONS")), nullptr);
}

TEST(MultidimAttribute, MissingValueIsListedWhereThereIsNoNodata) {
    Set set;
    set.array({"v", {1}, "|S3", {}, {"x"}, R"("missing_value": [1, 2])"});
    EXPECT_EQ(attribute_names(array_of(set)), std::vector<std::string>{"missing_value"});
}

/* GDAL's masks read missing_value, and copies of the array need it. */
TEST(MultidimAttribute, MissingValueIsListedWhereNodataIsAnother) {
    Set set;
    set.values({"v", {3}, "<i2", {}, {"x"}, R"("_FillValue": 0, "missing_value": 7)"},
               bytes_of<int16_t>({0, 7, 5}));
    const MDArray array = array_of(set);
    EXPECT_EQ(attribute_names(array), std::vector<std::string>{"missing_value"});
    EXPECT_EQ(values_of(array), (std::vector<double>{0, 7, 5}));
    const MDArray mask(GDALMDArrayGetMask(array.get(), nullptr));
    ASSERT_NE(mask, nullptr);
    EXPECT_EQ(values_of(mask), (std::vector<double>{0, 0, 1}));
}
