/* subdataset_test.cc -- which arrays are offered, and their descriptions. */
#include <set>

#include "dataset.h"

namespace {

TEST(Bounds, AreArraysThatABoundsOrClimatologyAttributeNames) {
    Dataset set;
    set.coordinate("lat", {0, 1}, R"("bounds":"lat_bnds")");
    set.coordinate("time", {0, 1}, R"("climatology":"clim")");
    set.group("g", "");
    set.coordinate("g/lon", {0, 1}, R"("bounds":"lon_bnds")");
    for (const char *name : {"lat_bnds", "clim", "v", "lon_bnds", "g/lon_bnds"})
        set.array(name, {{"a", "b"}, {2, 2}});
    const refs_hierarchy *all = set.hierarchy();
    EXPECT_TRUE(refs_cf_is_bounds(all, set.find("lat_bnds")));
    EXPECT_TRUE(refs_cf_is_bounds(all, set.find("clim")));
    EXPECT_TRUE(refs_cf_is_bounds(all, set.find("g/lon_bnds")));
    EXPECT_FALSE(refs_cf_is_bounds(all, set.find("lon_bnds"))) << "the group's own comes first";
    EXPECT_FALSE(refs_cf_is_bounds(all, set.find("v")));
    EXPECT_FALSE(refs_cf_is_bounds(all, set.find("lat")));
}

TEST(Coordinates, AreArraysThatACoordinatesAttributeNames) {
    Dataset set;
    for (const char *name : {"lat", "lon", "at"}) set.array(name, {{"y", "x"}, {4, 5}});
    set.array("v", {{"y", "x"}, {4, 5}, R"("coordinates":"time  lat lon")"});
    EXPECT_TRUE(refs_cf_is_coordinate(set.hierarchy(), set.find("lat")));
    EXPECT_TRUE(refs_cf_is_coordinate(set.hierarchy(), set.find("lon")));
    EXPECT_FALSE(refs_cf_is_coordinate(set.hierarchy(), set.find("at")));
    EXPECT_FALSE(refs_cf_is_coordinate(set.hierarchy(), set.find("v")));
}

std::set<std::string> Offered(Dataset &set) {
    std::set<std::string> names;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(set.hierarchy()); i++) {
        const refs_array_meta *array = refs_hierarchy_array(set.hierarchy(), i);
        if (refs_cf_is_offered(set.hierarchy(), array)) names.insert(array->name);
    }
    return names;
}

std::string Only(Dataset &set) {
    const refs_array_meta *only = refs_cf_find_only(set.hierarchy());
    return only != nullptr ? only->name : "";
}

TEST(Subdatasets, AreArraysWithPixelsThatServeNoOthers) {
    Dataset set;
    set.coordinate("lat", {0, 1}, R"("bounds":"lat_bnds")");
    set.array("lat_bnds", {{"lat", "n"}, {2, 2}});
    set.array("v", {{"y", "x"}, {2, 2}, R"("tiff_mask":"m")"});
    set.array("m", {{"y", "x"}, {2, 2}, "", "|u1"});
    set.array("char", {{"y", "x"}, {2, 2}, "", "|S1"});
    set.array("when", {{"y", "x"}, {2, 2}, "", "<M8[s]"});
    set.array("word", {{"y", "x"}, {2, 2}, "", "|S4"});
    set.array("line", {{"x"}, {2}});
    EXPECT_EQ(Offered(set), std::set<std::string>({"char", "v", "when"}));
    EXPECT_TRUE(refs_cf_holds_pixels(set.find("line")));
    EXPECT_FALSE(refs_cf_holds_pixels(set.find("word")));
}

TEST(Subdatasets, HoldDataUnlessACoordinatesAttributeNamesThem) {
    Dataset set;
    set.global(R"("coordinates":"area")");
    set.array("v", {{"y", "x"}, {2, 2}, R"("coordinates":"lat")"});
    for (const char *name : {"lat", "area"}) set.array(name, {{"y", "x"}, {2, 2}});
    EXPECT_TRUE(refs_cf_is_data(set.hierarchy(), set.find("v")));
    EXPECT_FALSE(refs_cf_is_data(set.hierarchy(), set.find("lat")));
    EXPECT_FALSE(refs_cf_is_data(set.hierarchy(), set.find("area")));
}

TEST(TheOnlyVariable, IsTheOnlyRasterThatIsNotOfPlaces) {
    Dataset set;
    set.array("v", {{"y", "x"}, {2, 2}, R"("coordinates":"a")"});
    set.array("a", {{"y", "x"}, {2, 2}});
    set.array("b", {{"y", "x"}, {2, 2}, R"("standard_name":"latitude","units":"degrees_north")"});
    set.coordinate("t", {0}, "");
    EXPECT_EQ(Only(set), "v");
    Dataset two;
    for (const char *name : {"v", "w"}) two.array(name, {{"y", "x"}, {2, 2}});
    two.array("line", {{"z"}, {2}});
    EXPECT_EQ(Only(two), "");
}

TEST(TheOnlyVariable, IsWithoutRastersTheOnlyArrayThatServesNoOthers) {
    Dataset set;
    set.coordinate("t", {0, 1}, "");
    set.array("v", {{"t"}, {2}});
    EXPECT_EQ(Only(set), "v");
    Dataset axis;
    axis.coordinate("t", {0, 1}, "");
    EXPECT_EQ(Only(axis), "t");
}

TEST(Description, IsThatOfTheNetcdfDriver) {
    const struct {
        const char *dtype, *type;
    } types[] = {
        {"|i1", "8-bit integer"},
        {"|u1", "8-bit unsigned integer"},
        {"|S1", "8-bit character"},
        {"<i2", "16-bit integer"},
        {"<u4", "32-bit unsigned integer"},
        {"<i8", "64-bit integer"},
        {"<f4", "32-bit floating-point"},
        {"<f8", "64-bit floating-point"},
        {"<c8", "64-bit complex floating-point"},
    };
    for (const auto &c : types) {
        Dataset set;
        set.array("v", {{"t", "y", "x"}, {1, 585, 1386}, "", c.dtype});
        refs_buf text = REFS_BUF_INIT;
        ASSERT_EQ(
            refs_cf_subdataset_description(set.hierarchy(), set.find("v"), nullptr, &text, nullptr),
            REFS_OK);
        EXPECT_EQ(std::string(reinterpret_cast<char *>(text.data), text.size),
                  std::string("[1x585x1386] v (") + c.type + ")");
        refs_buf_clear(&text);
    }
}

TEST(Description, PrefersTheStandardNameToTheName) {
    Dataset set;
    set.group("g", "");
    set.array("g/v", {{"y", "x"}, {4, 5}});
    set.array("w", {{"y", "x"}, {4, 5}, R"("standard_name":"air_temperature")"});
    refs_buf text = REFS_BUF_INIT;
    for (const char *path : {"g/v", "w"})
        ASSERT_EQ(refs_cf_subdataset_description(set.hierarchy(), set.find(path), nullptr, &text,
                                                 nullptr),
                  REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(text.data), text.size),
              "[4x5] /g/v (32-bit floating-point)[4x5] air_temperature (32-bit floating-point)");
    refs_buf_clear(&text);
}

TEST(Description, OfAGribMessageHasItsParameterAndLevel) {
    const std::pair<const char *, const char *> rows[] = {
        {R"("standard_name": "air_temperature", "long_name": "Temperature", "GRIB_paramId": 130,
            "GRIB_typeOfLevel": "isobaricInhPa")",
         "air_temperature, isobaricInhPa"},
        {R"("standard_name": "unknown", "long_name": "Pressure reduced to MSL", "GRIB_paramId": 1,
            "GRIB_typeOfLevel": "meanSea")",
         "Pressure reduced to MSL, meanSea"},
        {R"("standard_name": "unknown", "long_name": "unknown", "GRIB_name": "Rain rate",
            "GRIB_typeOfLevel": "unknown")",
         "Rain rate"},
        {R"("standard_name": "unknown", "GRIB_shortName": "tp", "GRIB_paramId": 228,
            "GRIB_typeOfLevel": "surface")",
         "tp, parameter 228, surface"},
        {R"("standard_name": "unknown", "long_name": "unknown", "GRIB_name": "unknown",
            "GRIB_shortName": "unknown", "GRIB_paramId": 0, "GRIB_typeOfLevel": "surface")",
         "v, surface"},
        {R"("standard_name": "air_temperature", "long_name": "2 metre temperature, percentile 50",
            "GRIB_percentileValue": 50, "GRIB_typeOfLevel": "heightAboveGround")",
         "2 metre temperature, percentile 50, heightAboveGround"},
        {R"("standard_name": "air_temperature", "long_name": "2 metre temperature, maximum",
            "GRIB_stepType": "max", "GRIB_typeOfLevel": "heightAboveGround")",
         "air_temperature, max, heightAboveGround"},
        {R"("standard_name": "air_temperature", "GRIB_stepType": "instant",
            "GRIB_typeOfLevel": "heightAboveGround")",
         "air_temperature, heightAboveGround"},
        {R"("standard_name": "precipitation_amount", "GRIB_stepType": "accum",
            "GRIB_typeOfLevel": "surface")",
         "precipitation_amount, surface"},
        {R"("standard_name": "unknown", "long_name": "2 metre temperature, maximum",
            "GRIB_stepType": "max", "GRIB_typeOfLevel": "heightAboveGround")",
         "2 metre temperature, maximum, heightAboveGround"},
        {R"("standard_name": "unknown", "long_name": "Rain")", "unknown"}};
    for (const auto &[attributes, name] : rows) {
        Dataset set;
        set.array("v", {{"y", "x"}, {33, 49}, attributes});
        refs_buf text = REFS_BUF_INIT;
        ASSERT_EQ(
            refs_cf_subdataset_description(set.hierarchy(), set.find("v"), nullptr, &text, nullptr),
            REFS_OK);
        EXPECT_EQ(std::string(reinterpret_cast<char *>(text.data), text.size),
                  std::string("[33x49] ") + name + " (32-bit floating-point)");
        refs_buf_clear(&text);
    }
}

} // namespace
