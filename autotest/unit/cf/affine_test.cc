/* affine_test.cc -- the order of rows and the geotransform. */
#include "dataset.h"

#include <cmath>

namespace {

const char wkt[] = R"(PROJCS[\"a\",GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",)"
                   R"(6378137,298.257223563]],PRIMEM[\"Greenwich\",0],)"
                   R"(UNIT[\"degree\",0.0174532925199433]],PROJECTION[\"Transverse_Mercator\"],)"
                   R"(PARAMETER[\"latitude_of_origin\",0],PARAMETER[\"central_meridian\",-51],)"
                   R"(PARAMETER[\"scale_factor\",0.9996],PARAMETER[\"false_easting\",500000],)"
                   R"(PARAMETER[\"false_northing\",0],UNIT[\"metre\",1]])";

/** A data set with array "v" along lat and lon. */
class Affine : public testing::Test {
  protected:
    void describe(const Values &lat, const Values &lon) {
        set.latlon(lat, lon);
        set.array("v", {{"lat", "lon"}, {lat.size(), lon.size()}});
        set.describe();
    }
    Dataset set;
};

TEST_F(Affine, PutsCornersHalfAPixelOutsideTheCentres) {
    describe({3, 2, 1, 0}, {10, 12, 14, 16, 18});
    EXPECT_FALSE(set.description.flip_y);
    EXPECT_EQ(set.geotransform(), Values({9, 2, 0, 3.5, 0, -1}));
}

TEST_F(Affine, TurnsRowsThatAreStoredSouthFirst) {
    describe({0, 1, 2, 3}, {10, 12, 14, 16, 18});
    EXPECT_TRUE(set.description.flip_y);
    EXPECT_EQ(set.geotransform(), Values({9, 2, 0, 3.5, 0, -1}));
}

TEST_F(Affine, BringsLongitudesBackWestWhereAllAreEast) {
    describe({0, 1}, {200, 220, 240});
    EXPECT_EQ(set.geotransform(), Values({-170, 20, 0, 1.5, 0, -1}));
}

TEST_F(Affine, JoinsLongitudesAcrossTheMeridian) {
    describe({0, 1}, {300, 320, 340, 0, 20, 40});
    EXPECT_EQ(set.geotransform(), Values({-70, 20, 0, 1.5, 0, -1}));
}

TEST_F(Affine, LeavesLongitudesThatAreRowsAsTheyAre) {
    set.latlon({0, 1, 2}, {200, 220, 240});
    set.array("v", {{"lon", "lat"}, {3, 3}});
    set.describe();
    EXPECT_EQ(set.geotransform(), Values({-0.5, 1, 0, 250, 0, -20}));
}

TEST_F(Affine, LeavesLengthsAsTheyAre) {
    set.coordinate("lat", {0, 1}, R"("axis":"Y","units":"km")");
    set.coordinate("lon", {200, 220, 240}, R"("axis":"X","units":"km")");
    set.array("v", {{"lat", "lon"}, {2, 3}});
    set.describe();
    EXPECT_EQ(set.geotransform(), Values({190, 20, 0, 1.5, 0, -1}));
}

TEST_F(Affine, NeedsEqualSpacing) {
    describe({0, 1, 2, 3}, {0, 1, 2, 4, 8});
    EXPECT_FALSE(set.description.has_geotransform);
    EXPECT_TRUE(set.description.flip_y) << "rows are south first by custom";
}

TEST_F(Affine, ForgivesGaussianLatitudes) {
    describe({0, 1, 2.05, 3.08, 4.15, 5.2}, {0, 1, 2, 3});
    EXPECT_NEAR(set.geotransform().at(5), -1.04, 1e-12);
}

/* A tenth of a degree, as the netCDF driver has it: autotest/golden/cf compares. */
TEST_F(Affine, ForgivesLatitudesATenthOfADegreeAndNoMore) {
    describe({0, 1, 2, 3, 4.09375}, {0, 1, 2, 3});
    EXPECT_TRUE(set.description.has_geotransform);
    Dataset less_regular;
    less_regular.latlon({0, 1, 2, 3, 4.125}, {0, 1, 2, 3});
    less_regular.array("v", {{"lat", "lon"}, {5, 4}});
    EXPECT_FALSE(less_regular.describe().has_geotransform);
}

/* Of wide steps, too, of which a tenth is more than that. */
TEST(AffineOfGaussianGrids, ForgivesATenthOfADegreeOfStepsOfAnyWidth) {
    for (const double step : {2.5, 3.0, 10.0})
        for (const double excess : {0.09375, 0.125, 0.1875}) {
            Dataset set;
            set.latlon({0, step, 2 * step + excess}, {0, 1, 2});
            set.array("v", {{"lat", "lon"}, {3, 3}});
            EXPECT_EQ(set.describe().has_geotransform, excess < 0.1) << step << " " << excess;
        }
}

TEST(AffineOfGaussianGrids, KeepsLatitudesAsTheyAre) {
    Dataset gaussian;
    gaussian.latlon({89.05, 86, 83}, {0, 1, 2});
    gaussian.array("g", {{"lat", "lon"}, {3, 3}});
    EXPECT_EQ(Dataset::mapOf(gaussian.describe("g").geolocation2)["Y_VALUES"], "{89.05,86,83}");
    Dataset regular;
    regular.latlon({89, 86, 83}, {0, 1, 2});
    regular.array("g", {{"lat", "lon"}, {3, 3}});
    EXPECT_EQ(regular.describe("g").geolocation2.n, 0u);
}

TEST_F(Affine, HasNoPixelSizeForASingleRowOrColumn) {
    describe({0}, {0, 1, 2});
    EXPECT_FALSE(set.description.has_geotransform);
}

TEST(AffineOfOneColumn, HasNorthernRowsFirst) {
    const struct {
        std::vector<double> latitudes;
        bool turns;
    } cases[] = {{{30, 20, 10}, false},
                 {{10, 20, 30}, true},
                 {{89.05, 86, 83}, false}, // of a Gaussian grid
                 {{30, 29, 10}, true},     // irregular: by custom, as where there are more columns
                 {{30}, true}};
    for (const auto &one : cases) {
        Dataset set;
        set.latlon(one.latitudes, {5});
        set.array("v", {{"lat", "lon"}, {one.latitudes.size(), 1}});
        set.describe();
        EXPECT_EQ(set.description.flip_y, one.turns) << one.latitudes[0];
        EXPECT_FALSE(set.description.has_geotransform) << "no width is known";
        EXPECT_EQ(set.description.geolocation2.n, 0u);
    }
}

TEST(AffineOfFloats, ForgivesWhatSinglePrecisionRounds) {
    Dataset set;
    Values lon, lat = {0, 1};
    for (int i = 0; i < 3600; i++) lon.push_back(static_cast<float>(i * 0.1 - 179.95));
    set.latlon(lat, lon, "<f4");
    set.array("v", {{"lat", "lon"}, {lat.size(), lon.size()}});
    set.describe();
    ASSERT_TRUE(set.description.has_geotransform);
    EXPECT_NEAR(set.geotransform().at(1), 0.1, 1e-8);
}

TEST(AffineOfFloats, AreForgivenMoreThanDoubles) {
    for (const char *dtype : {"<f4", "<f8"}) {
        Dataset set;
        set.latlon({0, 1}, {0, 1, 2, 3, 4.001}, dtype);
        set.array("v", {{"lat", "lon"}, {2, 5}});
        EXPECT_EQ(set.describe().has_geotransform, dtype == std::string("<f4"));
    }
}

TEST(AffineOfPackedAxes, UnpacksWithScaleAndOffsetOrOneOfThem) {
    const struct {
        const char *attributes;
        double west, width;
    } rows[] = {{R"("scale_factor":0.5,"add_offset":20)", 17.5, 5},
                {R"("scale_factor":0.5)", -2.5, 5},
                {R"("add_offset":-20)", -25, 10},
                {R"("scale_factor":[0.5],"actual_range":[0,10])", -2.5, 5}};
    for (const auto &row : rows) {
        Dataset set;
        set.coordinate("lat", {0, 10, 20},
                       R"("units":"degrees_north","scale_factor":-0.5,"add_offset":50)", "<i2");
        set.coordinate("lon", {0, 10, 20},
                       std::string(R"("units":"degrees_east",)") + row.attributes, "<i2");
        set.array("v", {{"lat", "lon"}, {3, 3}});
        EXPECT_FALSE(set.describe().flip_y);
        EXPECT_EQ(set.geotransform(), Values({row.west, row.width, 0, 52.5, 0, -5}))
            << row.attributes;
    }
}

TEST(AffineOfPackedAxes, MovesLongitudesAndNotWhatTheyArePackedAs) {
    Dataset set;
    set.latlon({1, 0}, {});
    set.coordinate("lon", {200, 300, 400}, R"("units":"degrees_east","scale_factor":0.1)", "<i2");
    set.array("v", {{"lat", "lon"}, {2, 3}});
    set.describe();
    EXPECT_EQ(set.geotransform(), Values({15, 10, 0, 1.5, 0, -1}));
}

TEST(AffineOfAxes, HaveNoPixelsWithoutSizeOrNumber) {
    const double nan = std::nan("");
    for (const Values &lat :
         {Values{5, 5}, {5, 5, 5}, {nan, 1}, {1, nan, 3}, {0, 1, 2, 3, 4.5, 5, 6}}) {
        Dataset set;
        set.latlon(lat, {0, 1, 2});
        set.array("v", {{"lat", "lon"}, {lat.size(), 3}});
        EXPECT_FALSE(set.describe().has_geotransform) << lat[0];
    }
    for (const char *bad : {R"("scale_factor":0)", R"("add_offset":NaN)"}) {
        Dataset set;
        set.latlon({0, 1}, {});
        set.coordinate("lon", {0, 1, 2}, std::string(R"("units":"degrees_east",)") + bad);
        set.array("v", {{"lat", "lon"}, {2, 3}});
        EXPECT_FALSE(set.describe().has_geotransform) << bad;
    }
}

TEST(AffineOfRanges, RefineTheEndsInTheOrderOfValues) {
    for (const char *range : {"[-0.0625,3.03125]", "[3.03125,-0.0625]", "\"[-0.0625  3.03125]\""}) {
        Dataset set;
        set.coordinate("lat", {0, 1, 2, 3},
                       std::string(R"("units":"degrees_north","actual_range":)") + range);
        set.coordinate("lon", {0, 1, 2}, R"("units":"degrees_east","actual_range":"0, 2.05")");
        set.array("v", {{"lat", "lon"}, {4, 3}});
        EXPECT_TRUE(set.describe().flip_y);
        EXPECT_EQ(set.geotransform(), Values({-0.5, 1, 0, 3.546875, 0, -1.03125})) << range;
    }
}

TEST(AffineOfRanges, NeverReplaceTheValues) {
    for (const char *range : {"[-90,90]", "[4e-317,-1e301]", "[0,NaN]", "[0,7]", "[3,3]",
                              "[-0.5,3.5]", "[-Infinity,Infinity]", "[1,2,3]", "[0]"}) {
        Dataset set;
        set.coordinate("lat", {0, 1, 2, 3},
                       std::string(R"("units":"degrees_north","actual_range":)") + range);
        set.coordinate("lon", {0, 1, 2}, R"("units":"degrees_east")");
        set.array("v", {{"lat", "lon"}, {4, 3}});
        EXPECT_TRUE(set.describe().flip_y);
        EXPECT_EQ(set.geotransform(), Values({-0.5, 1, 0, 3.5, 0, -1})) << range;
    }
}

TEST(AffineOfRanges, ReachFromEdgeToEdgeWithGmtsNodeOffset) {
    Dataset set;
    set.global(R"("node_offset":1)");
    set.coordinate("lat", {0.5, 1.5}, R"("units":"degrees_north","actual_range":[0,2.05])");
    set.coordinate("lon", {0.5, 1.5, 2.5}, R"("units":"degrees_east","actual_range":[0,3.03])");
    set.array("v", {{"lat", "lon"}, {2, 3}});
    set.describe();
    EXPECT_EQ(set.geotransform(), Values({0, 1.01, 0, 2.05, 0, -1.025}));
}

TEST(AffineOfUnits, ScalesAxesToTheUnitOfACrsThatIsGivenAsText) {
    Dataset set;
    set.projected("km");
    set.mapped(std::string("\"crs_wkt\":\"") + wkt + "\"");
    set.describe();
    EXPECT_EQ(set.geotransform(), Values({-500, 1000, 0, 3500, 0, -1000}));
}

TEST(AffineOfUnits, LeavesAxesInTheUnitThatTheCrsTakesFromThem) {
    Dataset set;
    set.projected("km");
    set.mapped(R"("grid_mapping_name":"transverse_mercator")");
    set.describe();
    EXPECT_EQ(set.geotransform(), Values({-0.5, 1, 0, 3.5, 0, -1}));
}

TEST(AffineOfUnits, ScalesAxesToMetresWhereTheHostSaysSo) {
    const struct {
        const char *unit;
        double metres;
    } cases[] = {{"km", 1000}, {"m", 1}, {"US_survey_foot", 1200.0 / 3937}};
    for (const auto &c : cases) {
        Dataset set;
        set.options.placement.in_metres = true;
        set.projected(c.unit);
        set.mapped(R"("grid_mapping_name":"transverse_mercator")");
        set.describe();
        EXPECT_NEAR(set.geotransform()[1], c.metres, 1e-9) << c.unit;
        EXPECT_NEAR(set.geotransform()[3], 3.5 * c.metres, 1e-9) << c.unit;
    }
}

TEST(AffineOfUnits, TurnsScanningAnglesIntoLengthsAtTheSatellite) {
    const struct {
        const char *unit;
        double factor;
    } cases[] = {{"rad", 1}, {"radians", 1}, {"microradian", 1e-6}, {"m", 1e-3}};
    for (const auto &c : cases) {
        Dataset set;
        set.projected(c.unit);
        set.mapped(R"("grid_mapping_name":"geostationary","perspective_point_height":1000)");
        set.describe();
        EXPECT_NEAR(set.geotransform().at(1), 1000 * c.factor, 1e-9) << c.unit;
    }
}

TEST(AffineOfUnits, KnowsTheSatellitesHeightInAnyUnit) {
    Dataset set;
    set.projected("rad");
    set.mapped(R"("crs_wkt":"PROJCS[\"g\",GEOGCS[\"a\",DATUM[\"b\",SPHEROID[\"c\",6378137,298]],)"
               R"(PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]],)"
               R"(PROJECTION[\"Geostationary_Satellite\"],PARAMETER[\"central_meridian\",0],)"
               R"(PARAMETER[\"satellite_height\",7],PARAMETER[\"false_easting\",0],)"
               R"(PARAMETER[\"false_northing\",0],UNIT[\"kilometre\",1000]]")");
    set.describe();
    EXPECT_NEAR(set.geotransform().at(1), 7, 1e-9);
}

TEST(AffineOfMappings, FallsBackToGdalsAttributeBesideWkt) {
    Dataset set;
    set.mapped(std::string(R"("GeoTransform":"100 10 0 200 0 -10 ","spatial_ref":")") + wkt + "\"");
    EXPECT_FALSE(set.describe().flip_y) << "GDAL wrote such files north first";
    EXPECT_EQ(set.geotransform(), Values({100, 10, 0, 200, 0, -10}));
}

TEST(AffineOfMappings, GdalsAttributeCountsBesideEmptyWkt) {
    Dataset set;
    set.mapped(R"("GeoTransform":"100 10 3 200 2 -10 ","spatial_ref":"")");
    EXPECT_FALSE(set.describe().flip_y);
    EXPECT_EQ(set.geotransform(), Values({100, 10, 3, 200, 2, -10}));
    EXPECT_EQ(set.description.crs, nullptr);
}

TEST(AffineOfMappings, GdalsAttributeTellsTheRowsOfAColumn) {
    for (const bool isFromSouth : {false, true}) {
        Dataset set;
        const Values north = {30, 20, 10, 0}, south = {0, 10, 20, 30};
        set.coordinate("y", isFromSouth ? south : north, R"("axis":"Y")");
        set.coordinate("x", {5}, R"("axis":"X")");
        set.array("crs", {{}, {}, R"("GeoTransform":"0 10 0 35 0 -10","spatial_ref":"")", "<i4"});
        set.array("v", {{"y", "x"}, {4, 1}, R"("grid_mapping":"crs")"});
        EXPECT_FALSE(set.describe().flip_y);
        EXPECT_EQ(set.geotransform(), Values({0, 10, 0, 35, 0, -10}));
    }
}

TEST(AffineOfMappings, KnowsFilesThatGdalMarkedAsSouthFirst) {
    Dataset set;
    set.global(R"("GDAL":"GDAL 3.6.2, released 2023/01/02")");
    set.mapped(std::string(R"("GeoTransform":"100 10 0 200 0 -10","spatial_ref":")") + wkt + "\"");
    EXPECT_TRUE(set.describe().flip_y);
}

TEST(AffineOfMappings, KnowsFilesOfGdalBeforeItFollowedCf) {
    const std::pair<const char *, bool> rows[] = {{"GDAL 1.8.1, released 2011/07/09", false},
                                                  {"GDAL 1.9.0, released 2011/12/29", true},
                                                  {"GDAL 3.6.2, released 2023/01/02", true},
                                                  {"some tool", false}};
    for (const auto &[version, southFirst] : rows) {
        Dataset set;
        set.global(std::string(R"("GDAL":")") + version + "\"");
        set.mapped(R"("spatial_ref":"EPSG:32632","GeoTransform":"1 2 0 3 0 -4")");
        EXPECT_EQ(set.describe().flip_y, southFirst) << version;
    }
}

TEST(AffineOfMappings, IgnoresGdalsAttributeWithoutWktOrWithoutSixNumbers) {
    for (const std::string &mapping :
         {std::string(R"("GeoTransform":"100 10 0 200 0 -10")"),
          std::string(R"("GeoTransform":"100 10 0 200 -10","spatial_ref":")") + wkt + "\""}) {
        Dataset set;
        set.mapped(mapping);
        EXPECT_FALSE(set.describe().has_geotransform) << mapping;
    }
}

TEST(AffineOfMappings, FallsBackToCorners) {
    Dataset set;
    set.mapped(R"("Northernmost_Northing":400,"Southernmost_Northing":100,)"
               R"("Easternmost_Easting":500,"Westernmost_Easting":100)");
    set.describe();
    EXPECT_EQ(set.geotransform(), Values({50, 100, 0, 450, 0, -100}));
}

TEST(AffineOfUnreadableAxes, WarnsWhenValuesDoNotArrive) {
    Dataset set;
    set.latlon({0, 1}, {0, 1});
    set.array("v", {{"lat", "lon"}, {2, 2}});
    set.readStatus = REFS_IO;
    set.options.require_coordinates = false;
    EXPECT_FALSE(set.describe().has_geotransform);
    ASSERT_FALSE(set.notes.empty());
    EXPECT_EQ(set.notes[0], "/lon: coordinate variable ignored, and with it georeferencing or band "
                            "values: /lon: no values");
}

TEST(AffineOfUnreadableAxes, FailsUnlessCoordinatesAreOptional) {
    for (const refs_status status : {REFS_IO, REFS_UNSUPPORTED, REFS_CORRUPT, REFS_NOT_FOUND}) {
        Dataset set;
        set.latlon({0, 1}, {0, 1});
        set.array("v", {{"lat", "lon"}, {2, 2}});
        set.readStatus = status;
        EXPECT_EQ(set.tryToDescribe(), status);
        EXPECT_STREQ(set.error.message,
                     "/lon: cannot read this coordinate variable: /lon: no values (without "
                     "georeferencing, COORDINATES=OPTIONAL opens the array)");
        ASSERT_NE(set.description.unread, nullptr);
        EXPECT_STREQ(set.description.unread->path, "/lon");
    }
}

/* Whatever else would place the raster, or turn its rows. */
TEST(AffineOfUnreadableAxes, LeavesRowsAsTheyAreStored) {
    for (const std::string &mapping :
         {std::string(R"("grid_mapping_name":"latitude_longitude")"),
          std::string(R"("grid_mapping_name":"latitude_longitude","spatial_ref":"EPSG:4326",)"
                      R"("GeoTransform":"100 10 0 200 0 -10")"),
          std::string(R"("Northernmost_Northing":4,"Southernmost_Northing":1,)"
                      R"("Easternmost_Easting":5,"Westernmost_Easting":1)")})
        for (const char *lost : {"/lat", "/lon"})
            for (const size_t columns : {size_t{1}, size_t{3}})
                for (const Values &rows : {Values{2, 1, 0}, Values{0, 1, 2}}) {
                    Dataset set;
                    set.latlon(rows, columns == 1 ? Values{7} : Values{7, 8, 9});
                    set.array("crs", {{}, {}, mapping});
                    set.array("v", {{"lat", "lon"}, {3, columns}, R"("grid_mapping":"crs")"});
                    set.options.require_coordinates = false;
                    set.values.erase(lost);
                    /* GeoTransform places a column, whose axes are not read. */
                    if (columns == 1 && mapping.find("GeoTransform") != std::string::npos) continue;
                    const bool isKnown = lost == std::string("/lon");
                    EXPECT_EQ(set.describe().flip_y, isKnown && rows[0] == 0) << mapping << lost;
                    if (columns == 1 && isKnown) continue;
                    EXPECT_FALSE(set.description.has_geotransform) << mapping << lost;
                    EXPECT_EQ(set.description.geolocation_x, nullptr) << mapping << lost;
                    EXPECT_NE(set.description.unread, nullptr) << mapping << lost;
                }
}

/* An axis that exists and is not understood places nothing, and is not absent. */
TEST(AffineOfUnreadableAxes, FailsWhereTheirMetadataCannotBeRead) {
    for (const bool isRequired : {true, false}) {
        Dataset set;
        set.array("lat", {{"lat"}, {3}, R"("units":"degrees_north")", "no type"});
        set.array("lon", {{"lon"}, {3}, R"("units":"degrees_east")"});
        set.array("v", {{"lat", "lon"}, {3, 3}});
        set.values["/lon"] = {1, 2, 3};
        set.options.require_coordinates = isRequired;
        if (isRequired) {
            EXPECT_NE(set.tryToDescribe(), REFS_OK);
            EXPECT_EQ(
                std::string(set.error.message).find("/lat: cannot read this coordinate variable"),
                0u)
                << set.error.message;
            continue;
        }
        EXPECT_FALSE(set.describe().flip_y);
        EXPECT_FALSE(set.description.has_geotransform);
        EXPECT_TRUE(set.noted("/lat: coordinate variable ignored"));
    }
}

TEST(AffineOfUnreadableAxes, DoesWithoutValuesThatThisBuildCannotDecode) {
    Dataset set;
    set.latlon({0, 1}, {0, 1});
    set.array("v", {{"lat", "lon"}, {2, 2}});
    set.readStatus = REFS_UNSUPPORTED;
    set.options.require_coordinates = false;
    EXPECT_FALSE(set.describe().has_geotransform);
    ASSERT_FALSE(set.notes.empty());
    EXPECT_EQ(set.notes[0], "/lon: coordinate variable ignored, and with it georeferencing or band "
                            "values: /lon: no values");
}

/* A set whose files are gone in part still opens. */
TEST(AffineOfUnreadableAxes, RowsAreOrderedByLatitudesWithoutLongitudes) {
    for (const bool isFromSouth : {false, true}) {
        Dataset set;
        set.latlon(isFromSouth ? Values{0, 1} : Values{1, 0}, {0, 1});
        set.array("v", {{"lat", "lon"}, {2, 2}});
        set.values.erase("/lon");
        set.options.require_coordinates = false;
        EXPECT_EQ(set.describe().flip_y, isFromSouth);
        EXPECT_FALSE(set.description.has_geotransform);
        EXPECT_TRUE(set.noted("/lon: coordinate variable ignored"));
    }
}

TEST(AffineOfAxes, RowsAreOrderedByLatitudesBesideUnevenLongitudes) {
    for (const bool isFromSouth : {false, true}) {
        Dataset set;
        set.latlon(isFromSouth ? Values{10, 20, 30} : Values{30, 20, 10}, {0, 1, 5, 6});
        set.array("v", {{"lat", "lon"}, {3, 4}});
        EXPECT_EQ(set.describe().flip_y, isFromSouth);
        EXPECT_FALSE(set.description.has_geotransform);
    }
}

} // namespace
