/* geolocation_test.cc -- longitude and latitude arrays. */
#include "dataset.h"

namespace {

/** A set with two-dimensional lat and lon along projected y and x. */
class Grid : public Dataset {
  public:
    explicit Grid(const std::string &latitude = R"("units":"degrees_north")") {
        projected();
        array("lat", {{"y", "x"}, {4, 5}, latitude});
        array("lon", {{"y", "x"}, {4, 5}, R"("units":"degrees_east")"});
    }
    void addV(const std::string &attributes) {
        array("v", {{"y", "x"}, {4, 5}, attributes});
        describe();
    }
};

class Geolocation : public testing::Test {
  protected:
    void addV(const std::string &attributes) { set.addV(attributes); }
    Grid set;
};

TEST_F(Geolocation, ReplacesTheGeotransformOfAGridThatIsNotOnEarth) {
    addV(R"("coordinates":"time lat lon gone")");
    ASSERT_NE(set.description.geolocation_x, nullptr);
    EXPECT_STREQ(set.description.geolocation_x->path, "/lon");
    EXPECT_STREQ(set.description.geolocation_y->path, "/lat");
    EXPECT_FALSE(set.description.has_geotransform);
    auto items = Dataset::mapOf(set.description.geolocation);
    EXPECT_EQ(items["PIXEL_STEP"], "1");
    EXPECT_EQ(items["GEOREFERENCING_CONVENTION"], "PIXEL_CENTER");
    EXPECT_EQ(items["SRS"].substr(0, 15), "GEOGCS[\"WGS 84\"");
    EXPECT_EQ(items.count("SWAP_XY"), 0u);
}

TEST_F(Geolocation, StandsBesideTheGeotransformOfAMappedGrid) {
    set.array("crs", {{}, {}, R"("grid_mapping_name":"transverse_mercator")", "<i4"});
    addV(R"("coordinates":"lat lon","grid_mapping":"crs")");
    EXPECT_NE(set.description.geolocation_x, nullptr);
    EXPECT_TRUE(set.description.has_geotransform);
}

TEST_F(Geolocation, NeedsBothArrays) {
    addV(R"("coordinates":"lat time")");
    EXPECT_EQ(set.description.geolocation_x, nullptr);
    EXPECT_EQ(set.description.geolocation_y, nullptr);
    EXPECT_EQ(set.description.geolocation.n, 0u);
    EXPECT_TRUE(set.description.has_geotransform);
}

TEST_F(Geolocation, MayBeListedOnceForTheWholeGroup) {
    set.global(R"("coordinates":"lat lon")");
    set.array("w", {{"x", "y"}, {5, 4}});
    addV("");
    EXPECT_NE(set.description.geolocation_x, nullptr);
    EXPECT_EQ(set.describe("w").geolocation_x, nullptr) << "its dimensions are others";
}

TEST(GeolocationByName, IsFoundWhereTheHostSaysSo) {
    for (bool said : {false, true}) {
        Grid set;
        set.options.placement.lonlat_by_name = said;
        set.addV("");
        EXPECT_EQ(set.description.geolocation_x != nullptr, said);
        EXPECT_EQ(set.description.has_geotransform, !said);
        EXPECT_EQ(set.describe("lat").geolocation_x != nullptr, said) << "of the arrays, too";
    }
}

TEST(GeolocationByName, IsNotFoundWhereCoordinatesAreTold) {
    for (const char *told : {R"("coordinates":"")", R"("coordinates":"time")"}) {
        Grid set;
        set.options.placement.lonlat_by_name = true;
        set.addV(told);
        EXPECT_EQ(set.description.geolocation_x, nullptr) << told;
    }
}

TEST(GeolocationByName, IsNotFoundInAnotherGroupOrAlongOtherDimensions) {
    Grid set;
    set.options.placement.lonlat_by_name = true;
    set.group("g", "");
    set.array("g/v", {{"y", "x"}, {4, 5}});
    set.array("w", {{"x", "y"}, {5, 4}});
    EXPECT_EQ(set.describe("g/v").geolocation_x, nullptr);
    EXPECT_EQ(set.describe("w").geolocation_x, nullptr);
}

TEST(GeolocationByName, IsNotFoundWhereLatIsNoLatitude) {
    Grid set(R"("units":"m")");
    set.options.placement.lonlat_by_name = true;
    set.addV("");
    EXPECT_EQ(set.description.geolocation_x, nullptr);
}

TEST(GeolocationOnEarth, IsOnTheEllipsoidOfTheCrsWhereTheHostSaysSo) {
    const std::string sphere = R"(,"earth_radius":6371229)";
    for (const char *name :
         {R"("grid_mapping_name":"transverse_mercator")",
          R"("grid_mapping_name":"rotated_latitude_longitude","grid_north_pole_latitude":40)"})
        for (bool said : {false, true}) {
            Grid set;
            set.options.placement.lonlat_on_crs = said;
            set.array("crs", {{}, {}, name + sphere, "<i4"});
            set.addV(R"("coordinates":"lat lon","grid_mapping":"crs")");
            const std::string srs = Dataset::mapOf(set.description.geolocation)["SRS"];
            EXPECT_EQ(srs.substr(0, 8), said ? "GEOGCRS[" : "GEOGCS[\"") << srs;
            EXPECT_EQ(srs.find("6371229") != std::string::npos, said) << srs;
            EXPECT_EQ(srs.find("otated"), std::string::npos) << srs;
        }
}

TEST(GeolocationOnEarth, WithoutACrsIsOnWgs84) {
    Grid set;
    set.options.placement.lonlat_on_crs = true;
    set.addV(R"("coordinates":"lat lon")");
    EXPECT_EQ(Dataset::mapOf(set.description.geolocation)["SRS"].substr(0, 15),
              "GEOGCS[\"WGS 84\"");
}

TEST(GeolocationOfGroups, LiesBesideTheArray) {
    Dataset set;
    set.group("geo", "");
    set.group("data", "");
    set.array("geo/lon", {{"y", "x"}, {4, 5}, R"("units":"degrees_east")"});
    set.array("geo/lat", {{"y", "x"}, {4, 5}, R"("units":"degrees_north")"});
    set.array("data/v", {{"y", "x"}, {4, 5}, R"("coordinates":"lat lon")"});
    EXPECT_EQ(set.describe("data/v").geolocation_x, set.find("geo/lon"));
    EXPECT_EQ(set.description.geolocation_y, set.find("geo/lat"));
}

/* A variable that is called like a dimension but is no coordinate has another name in HDF5. */
TEST(GeolocationOfGroups, MayBeCalledLikeDimensions) {
    Dataset set;
    set.array("_nc4_non_coord_lon", {{"lat", "lon"}, {4, 5}, R"("units":"degrees_east")"});
    set.array("lat", {{"lat", "lon"}, {4, 5}, R"("units":"degrees_north")"});
    set.array("v", {{"lat", "lon"}, {4, 5}, R"("coordinates":"lat lon")"});
    EXPECT_STREQ(set.find("lon")->name, "lon");
    EXPECT_EQ(set.describe().geolocation_x, set.find("lon"));
}

TEST(GeolocationOfAxes, KeepsTheGeotransformWhereItNamesTheAxesThemselves) {
    Dataset set;
    set.latlon({0, 1}, {0, 1, 2});
    set.array("v", {{"lat", "lon"}, {2, 3}, R"("coordinates":"lat lon")"});
    EXPECT_TRUE(set.describe().has_geotransform);
    EXPECT_STREQ(set.description.geolocation_x->path, "/lon");
}

TEST(GeolocationOfAxes, KeepsTheGeotransformOfTransposedArrays) {
    Dataset set;
    set.global(R"("Conventions":"CF-1.8")");
    set.projected();
    set.array("lat", {{"y", "x"}, {4, 5}, R"("units":"degrees_north")"});
    set.array("lon", {{"y", "x"}, {4, 5}, R"("units":"degrees_east")"});
    set.array("v", {{"x", "y"}, {5, 4}, R"("coordinates":"lat lon")"});
    EXPECT_TRUE(set.describe().has_geotransform);
}

TEST(GeolocationOfAxes, DropsItWhereTheyAreTheOtherWayRound) {
    Dataset set;
    set.latlon({0, 1}, {0, 1, 2});
    set.array("v", {{"lon", "lat"}, {3, 2}, R"("coordinates":"lat lon")"});
    EXPECT_FALSE(set.describe().has_geotransform);
}

TEST(GeolocationOfAxes, SwapsInTransposedArrays) {
    Dataset set;
    set.global(R"("Conventions":"CF-1.8")");
    set.latlon({0, 1}, {0, 1, 2});
    set.array("v", {{"lon", "lat"}, {3, 2}, R"("coordinates":"lat lon")"});
    EXPECT_TRUE(set.describe().has_geotransform);
    EXPECT_STREQ(set.description.geolocation_x->path, "/lat");
    EXPECT_EQ(Dataset::mapOf(set.description.geolocation)["SWAP_XY"], "YES");
}

/* An axis of the raster that is not evenly spaced has no geotransform. */
TEST(GeolocationOfAxes, IsTheAxesWhereTheyAreUnevenAndTheHostSaysSo) {
    for (bool said : {false, true}) {
        Dataset set;
        set.options.placement.lonlat_by_axes = said;
        set.latlon({0, 1, 3, 9}, {0, 1, 2});
        set.array("v", {{"lat", "lon"}, {4, 3}});
        EXPECT_FALSE(set.describe().has_geotransform);
        EXPECT_EQ(set.description.geolocation_x, said ? set.find("lon") : nullptr);
        EXPECT_EQ(set.description.geolocation_y, said ? set.find("lat") : nullptr);
    }
}

TEST(GeolocationOfAxes, IsNoneWhereTheyAreEven) {
    Dataset set;
    set.options.placement.lonlat_by_axes = true;
    set.latlon({0, 1, 2}, {0, 1, 2});
    set.array("v", {{"lat", "lon"}, {3, 3}});
    EXPECT_EQ(set.describe().geolocation_x, nullptr);
}

TEST(GeolocationOfAxes, IsNoneWhereTheyAreNoDegrees) {
    Dataset set;
    set.options.placement.lonlat_by_axes = true;
    set.coordinate("y", {0, 1, 9}, R"("standard_name":"projection_y_coordinate","units":"m")");
    set.coordinate("x", {0, 1, 9}, R"("standard_name":"projection_x_coordinate","units":"m")");
    set.array("v", {{"y", "x"}, {3, 3}});
    EXPECT_FALSE(set.describe().has_geotransform);
    EXPECT_EQ(set.description.geolocation_x, nullptr);
}

/* Met Office files have such: the CRS is that of the rotated grid, on which they are longitudes. */
TEST(GeolocationOfRotatedGrids, OfUnevenAxesIsOnTheirCrs) {
    Dataset set;
    set.coordinate("rlat", {0, 1, 3}, R"("standard_name":"grid_latitude","axis":"Y")");
    set.coordinate("rlon", {0, 1, 3, 9}, R"("standard_name":"grid_longitude","axis":"X")");
    set.array("crs", {{},
                      {},
                      R"("grid_mapping_name":"rotated_latitude_longitude","earth_radius":6371229,)"
                      R"("grid_north_pole_latitude":"39.25f","grid_north_pole_longitude":"-162.")",
                      "<i4"});
    set.array("t", {{"rlat", "rlon"}, {3, 4}, R"("grid_mapping":"crs")"});
    set.array("height", {{"rlat", "rlon"}, {3, 4}});
    EXPECT_EQ(set.describe("t").geolocation_x, nullptr) << "before GDAL 3.7";
    set.options.placement.lonlat_by_axes = true;
    for (const char *name : {"t", "height"}) {
        const refs_cf_description &description = set.describe(name);
        ASSERT_NE(description.geolocation_x, nullptr) << name;
        EXPECT_STREQ(description.geolocation_x->path, "/rlon");
        EXPECT_STREQ(description.geolocation_y->path, "/rlat");
        const std::string srs = Dataset::mapOf(description.geolocation)["SRS"];
        EXPECT_NE(srs.find("Pole rotation"), std::string::npos) << srs;
        EXPECT_NE(srs.find("39.25"), std::string::npos) << srs;
        EXPECT_FALSE(description.has_geotransform);
    }
}

TEST(GeolocationOfRotatedGrids, IsSwappedWhereTheArrayIsTransposed) {
    Dataset set;
    set.global(R"("Conventions":"CF-1.5")");
    set.options.placement.lonlat_by_axes = true;
    set.coordinate("rlat", {0, 1, 3}, R"("standard_name":"grid_latitude","axis":"Y")");
    set.coordinate("rlon", {0, 1, 3, 9}, R"("standard_name":"grid_longitude","axis":"X")");
    set.array("crs", {{},
                      {},
                      R"("grid_mapping_name":"rotated_latitude_longitude","earth_radius":6371229,)"
                      R"("grid_north_pole_latitude":39.25,"grid_north_pole_longitude":-162)",
                      "<i4"});
    set.array("t", {{"rlat", "rlon"}, {3, 4}, R"("grid_mapping":"crs")"});
    set.array("height", {{"rlon", "rlat"}, {4, 3}});
    const refs_cf_description &description = set.describe("height");
    ASSERT_NE(description.geolocation_x, nullptr);
    EXPECT_STREQ(description.geolocation_x->path, "/rlat") << "along the columns";
    EXPECT_EQ(Dataset::mapOf(description.geolocation)["SWAP_XY"], "YES");
}

TEST(GeolocationOfRotatedGrids, NeedsThePole) {
    for (const char *pole : {R"("grid_north_pole_latitude":"north")", ""}) {
        Dataset set;
        set.options.placement.lonlat_by_axes = true;
        set.coordinate("rlat", {0, 1, 3}, R"("standard_name":"grid_latitude","axis":"Y")");
        set.coordinate("rlon", {0, 1, 3, 9}, R"("standard_name":"grid_longitude","axis":"X")");
        if (*pole != '\0')
            set.array("crs", {{},
                              {},
                              std::string(R"("grid_mapping_name":"rotated_latitude_longitude",)") +
                                  R"("earth_radius":6371229,)" + pole,
                              "<i4"});
        set.array("t", {{"rlat", "rlon"}, {3, 4}, R"("grid_mapping":"crs")"});
        EXPECT_EQ(set.describe("t").geolocation_x, nullptr);
        EXPECT_EQ(set.description.geolocation.n, 0u);
        EXPECT_EQ(set.description.crs, nullptr) << "no other place on Earth";
    }
}

} // namespace
