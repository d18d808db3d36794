/* grib_test.cc -- sets made of GRIB messages. */
#include <cmath>

#include "dataset.h"

namespace {

// The grid of NOAA's HRRR model, four by three points of it, and latitudes that share it.
const std::string lambert = R"("GRIB_gridType":"lambert","GRIB_LaDInDegrees":38.5,
    "GRIB_LoVInDegrees":262.5,"GRIB_Latin1InDegrees":38.5,"GRIB_Latin2InDegrees":38.5,
    "GRIB_latitudeOfFirstGridPointInDegrees":21.138123,
    "GRIB_longitudeOfFirstGridPointInDegrees":237.280472,
    "GRIB_DxInMetres":3000,"GRIB_DyInMetres":2000,"GRIB_Nx":4,"GRIB_Ny":3)";

class Grib : public testing::Test {
  protected:
    void describe(const std::string &keys, const std::string &name = "t") {
        set.array("t", {{"time", "y", "x"}, {2, 3, 4}, keys});
        set.array("latitude", {{"y", "x"}, {3, 4}, R"("units":"degrees_north")"});
        set.describe(name);
    }

    void expectGeotransform(const Values &expected) {
        ASSERT_TRUE(set.description.has_geotransform);
        for (size_t i = 0; i < 6; i++)
            EXPECT_NEAR(set.description.geotransform[i], expected[i], 1e-6) << i;
    }

    Dataset set;
};

// GDAL's GRIB driver has the corner of the first pixel at these coordinates, on this sphere.
const double left = -2699020.142521929, bottom = -1588806.153;

TEST_F(Grib, PlacesTheFirstPointByTheProjection) {
    describe(lambert + R"(,"GRIB_jScansPositively":1)");
    EXPECT_TRUE(set.description.flip_y);
    ASSERT_TRUE(set.description.has_geotransform);
    EXPECT_NEAR(set.description.geotransform[0], left, 1e-3);
    EXPECT_NEAR(set.description.geotransform[3], bottom + 1500 - 1000 + 3 * 2000, 1e-3);
    EXPECT_EQ(set.description.geotransform[1], 3000);
    EXPECT_EQ(set.description.geotransform[5], -2000);
    EXPECT_NE(std::string(set.description.crs).find("6371229"), std::string::npos);
    EXPECT_NE(std::string(set.description.crs).find("-97.5"), std::string::npos);
}

TEST_F(Grib, GoesDownFromTheFirstPointUnlessRowsGoUp) {
    describe(lambert + R"(,"GRIB_jScansPositively":0)");
    EXPECT_FALSE(set.description.flip_y);
    ASSERT_TRUE(set.description.has_geotransform);
    EXPECT_NEAR(set.description.geotransform[3], bottom + 1500 + 1000, 1e-3);
}

TEST_F(Grib, PlacesLatitudesAsTheArraysOfTheirGrid) {
    describe(lambert + R"(,"GRIB_jScansPositively":0)", "latitude");
    EXPECT_FALSE(set.description.flip_y);
    EXPECT_TRUE(set.description.has_geotransform);
}

TEST_F(Grib, TakesTheSphereOfEditionOne) {
    set.global(R"("GRIB_edition":1)");
    describe(lambert + R"(,"GRIB_jScansPositively":1)");
    EXPECT_NE(std::string(set.description.crs).find("6367470"), std::string::npos);
}

TEST_F(Grib, MeasuresRotatedGridsInTheirOwnDegrees) {
    describe(R"("GRIB_gridType":"rotated_ll","GRIB_latitudeOfSouthernPoleInDegrees":-30,
        "GRIB_longitudeOfSouthernPoleInDegrees":190,"GRIB_angleOfRotationInDegrees":0,
        "GRIB_iDirectionIncrementInDegrees":0.5,"GRIB_jDirectionIncrementInDegrees":0.25,
        "GRIB_latitudeOfFirstGridPointInDegrees":10,"GRIB_iScansNegatively":0,
        "GRIB_longitudeOfFirstGridPointInDegrees":350,"GRIB_jScansPositively":1)");
    expectGeotransform({-10.25, 0.5, 0, 10.625, 0, -0.25});
    EXPECT_NE(std::string(set.description.crs).find("GRIB convention"), std::string::npos);
    EXPECT_NE(std::string(set.description.crs).find("-170"), std::string::npos);
}

TEST_F(Grib, GivesRegularGridsTheSphereThatAttributesDoNotTell) {
    set.latlon({50, 49, 48}, {10, 11, 12, 13});
    set.array("t2m", {{"lat", "lon"}, {3, 4}, R"("GRIB_gridType":"regular_ll")"});
    set.describe("t2m");
    expectGeotransform({9.5, 1, 0, 50.5, 0, -1});
    EXPECT_NE(std::string(set.description.crs).find("6371229"), std::string::npos);
    EXPECT_FALSE(set.description.crs_assumed);
}

TEST_F(Grib, LeavesGridsUnplacedOfWhichKeysAreMissing) {
    for (const char *keys : {R"("GRIB_gridType":"polar_stereographic","GRIB_jScansPositively":1)",
                             R"("GRIB_gridType":"lambert","GRIB_DxInMetres":3000)",
                             R"("GRIB_gridType":"space_view")"}) {
        Dataset other;
        other.array("t", {{"y", "x"}, {3, 4}, keys});
        other.describe("t");
        EXPECT_FALSE(other.description.has_geotransform) << keys;
        EXPECT_EQ(other.description.crs, nullptr) << keys;
    }
}

TEST_F(Grib, LeavesGridsUnplacedThatAreNotStoredRowByRow) {
    describe(lambert + R"(,"GRIB_jScansPositively":1,"GRIB_jPointsAreConsecutive":1)");
    EXPECT_FALSE(set.description.has_geotransform);
}

} // namespace
