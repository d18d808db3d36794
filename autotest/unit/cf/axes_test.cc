/* axes_test.cc -- which variables place the raster. */
#include "dataset.h"

namespace {

/** A data set of four rows and five columns along these variables. */
struct Axes {
    const char *y, *x, *yAttributes, *xAttributes;
    bool placed;
};

const Axes cases[] = {
    {"a", "b", R"("units":"degrees_north")", R"("units":"degrees_east")", true},
    {"a", "b", R"("units":"degree_north")", R"("units":"degree_east")", true},
    {"a", "b", R"("units":"degrees_N")", R"("units":"degrees_E")", true},
    {"a", "b", R"("units":"degreeN")", R"("units":"Degree_E")", true},
    {"a", "b", R"("standard_name":"latitude")", R"("standard_name":"longitude")", true},
    {"a", "b", R"("long_name":"Latitude")", R"("long_name":"LONGITUDE")", true},
    {"a", "b", R"("axis":"Y")", R"("axis":"X")", true},
    {"a", "b", R"("standard_name":"projection_y_coordinate","units":"m")",
     R"("standard_name":"projection_x_coordinate","units":"m")", true},
    {"lat", "lon", "", "", true},
    {"Latitude", "LONGITUDE", "", "", true},
    {"lat", "lon", R"("units":"m")", R"("units":"m")", true},
    {"y", "x", "", "", false},
    {"y", "x", R"("units":"m")", R"("units":"m")", false},
    {"lat", "x", "", "", false},
    {"a", "b", R"("units":"degrees_north")", R"("standard_name":"longitude","units":"1")", false},
    {"a", "b", R"("units":"degrees")", R"("units":"degrees")", false},
};

TEST(Axes, AreKnownByAttributesElseByTheNamesOfLongitudeAndLatitude) {
    for (const Axes &c : cases) {
        Dataset set;
        set.coordinate(c.y, {0, 1, 2, 3}, c.yAttributes);
        set.coordinate(c.x, {0, 1, 2, 3, 4}, c.xAttributes);
        set.array("v", {{c.y, c.x}, {4, 5}});
        EXPECT_EQ(set.describe().has_geotransform, c.placed)
            << c.y << " " << c.yAttributes << " " << c.x << " " << c.xAttributes;
    }
}

TEST(Axes, AreTheLastTwoDimensionsOfTheArray) {
    Dataset set;
    set.array("v4", {{"t", "z", "y", "x"}, {2, 3, 4, 5}});
    set.array("v2", {{"y", "x"}, {4, 5}});
    set.array("v1", {{"x"}, {5}});
    set.array("v0", {{}, {}});
    EXPECT_EQ(set.describe("v4").x_dim, 3u);
    EXPECT_EQ(set.description.y_dim, 2u);
    EXPECT_EQ(set.description.n_band_axes, 2u);
    EXPECT_EQ(set.describe("v2").x_dim, 1u);
    EXPECT_EQ(set.description.y_dim, 0u);
    EXPECT_EQ(set.describe("v1").x_dim, 0u);
    EXPECT_EQ(set.description.y_dim, REFS_CF_NO_DIM);
    EXPECT_FALSE(set.description.flip_y);
    EXPECT_EQ(set.describe("v0").x_dim, REFS_CF_NO_DIM);
    EXPECT_EQ(set.description.y_dim, REFS_CF_NO_DIM);
}

TEST(Axes, AreThoseOfXAndYWhereverTheyStand) {
    Dataset set;
    set.latlon({0, 1, 2, 3}, {0, 1, 2, 3, 4});
    set.coordinate("z", {10, 20}, R"("axis":"Z")");
    set.array("last", {{"lat", "lon", "z"}, {4, 5, 2}});
    set.array("between", {{"lat", "z", "lon"}, {4, 2, 5}});
    set.array("turned", {{"lon", "lat", "z"}, {5, 4, 2}});
    set.array("section", {{"lat", "z"}, {4, 2}});
    set.array("twice", {{"lat", "lon", "lat", "z"}, {4, 5, 4, 2}});
    set.describe("last");
    EXPECT_EQ(std::make_pair(set.description.y_dim, set.description.x_dim),
              std::make_pair(size_t(0), size_t(1)));
    EXPECT_EQ(set.geotransform(), Values({-0.5, 1, 0, 3.5, 0, -1}));
    EXPECT_EQ(set.description.n_band_axes, 1u);
    set.describe("between");
    EXPECT_EQ(std::make_pair(set.description.y_dim, set.description.x_dim),
              std::make_pair(size_t(0), size_t(2)));
    set.describe("turned");
    EXPECT_EQ(std::make_pair(set.description.y_dim, set.description.x_dim),
              std::make_pair(size_t(0), size_t(1)));
    set.describe("section");
    EXPECT_EQ(set.description.x_dim, 1u);
    set.describe("twice");
    EXPECT_EQ(std::make_pair(set.description.y_dim, set.description.x_dim),
              std::make_pair(size_t(2), size_t(3)));
}

TEST(Axes, OfRotatedGridsAreToldByTheirStandardNamesFromGdal311On) {
    for (const bool rotated_by_name : {false, true}) {
        Dataset set;
        set.options.placement.rotated_by_name = rotated_by_name;
        set.coordinate("rlat", {0, 1, 2, 3}, R"("standard_name":"grid_latitude")");
        set.coordinate("rlon", {0, 1, 2, 3, 4}, R"("standard_name":"grid_longitude")");
        set.array("v", {{"rlat", "rlon"}, {4, 5}});
        EXPECT_EQ(set.describe().has_geotransform, rotated_by_name);
    }
}

TEST(Axes, AreFoundInGroupsAboveAndByTheBareNameOfADimension) {
    Dataset set;
    set.latlon({0, 1, 2, 3}, {0, 1, 2, 3, 4});
    set.group("g", "");
    set.array("g/v", {{"lat", "lon"}, {4, 5}});
    set.array("g/w", {{"g/lat", "g/lon"}, {4, 5}});
    EXPECT_EQ(set.describe("g/v").has_geotransform, true);
    EXPECT_EQ(set.describe("g/w").has_geotransform, true);
}

TEST(Axes, TieNothingTogetherWhereNamesWereMadeUp) {
    Dataset set;
    set.coordinate("phony_dim_0", {0, 1, 2, 3}, R"("units":"degrees_north")");
    set.coordinate("phony_dim_1", {0, 1, 2, 3, 4}, R"("units":"degrees_east")");
    set.array("v", {{"phony_dim_0", "phony_dim_1"}, {4, 5}});
    EXPECT_FALSE(set.describe().has_geotransform);
}

TEST(Axes, IgnoreVariablesOfAnotherShape) {
    Dataset set;
    set.latlon({0, 1, 2}, {0, 1, 2, 3, 4});
    set.array("v", {{"lat", "lon"}, {4, 5}});
    EXPECT_FALSE(set.describe().has_geotransform);
}

TEST(Axes, MayBeTransposedInFilesThatFollowCf) {
    Dataset set;
    set.global(R"("Conventions":"CF-1.8")");
    set.latlon({10, 11, 12, 13}, {0, 1, 2, 3, 4});
    set.array("v", {{"lon", "lat"}, {5, 4}});
    EXPECT_FALSE(set.describe().flip_y);
    EXPECT_EQ(set.geotransform(), Values({9.5, 1, 0, -0.5, 0, 1}));
    EXPECT_EQ(set.description.crs, nullptr);
}

TEST(Axes, AreTakenAsTheyComeInOtherFiles) {
    Dataset set;
    set.latlon({10, 11, 12, 13}, {0, 1, 2, 3, 4});
    set.array("v", {{"lon", "lat"}, {5, 4}});
    EXPECT_TRUE(set.describe().flip_y);
    EXPECT_EQ(set.geotransform(), Values({9.5, 1, 0, 4.5, 0, -1}));
}

TEST(Axes, AreTransposedAlsoByNameAlone) {
    Dataset set;
    set.global(R"("Conventions":"cf-1.6")");
    set.array("v", {{"lon", "lat"}, {5, 4}});
    set.array("w", {{"lat", "lon"}, {4, 5}});
    EXPECT_FALSE(set.describe("v").flip_y);
    EXPECT_TRUE(set.describe("w").flip_y);
}

TEST(Axes, CountWithoutAttributesInGridsOfGmt) {
    for (const bool gmt : {true, false}) {
        Dataset set;
        set.global(gmt ? R"("GMT_version":"6.0.0")" : "");
        set.coordinate("y", {0, 1, 2, 3}, R"("long_name":"y")");
        set.coordinate("x", {0, 1, 2, 3, 4}, R"("long_name":"x")");
        set.array("z", {{"y", "x"}, {4, 5}});
        EXPECT_EQ(set.describe("z").has_geotransform, gmt);
    }
}

TEST(Axes, CountWithoutAttributesWhereTheVariableHasATransform) {
    Dataset set;
    set.coordinate("y", {0, 1, 2, 3}, "");
    set.coordinate("x", {0, 1, 2, 3, 4}, "");
    set.array("v", {{"y", "x"}, {4, 5}, R"("res":[1,1],"transform":[1,0,0,0,1,0])"});
    EXPECT_TRUE(set.describe().has_geotransform);
}

TEST(Axes, OfPressureAreVerticalAlongBandsAndForOtherHosts) {
    Dataset set;
    set.coordinate("level", {1000, 850}, R"("units":["hPa"])");
    set.array("v", {{"level", "y", "x"}, {2, 4, 5}});
    EXPECT_EQ(set.describe().band_axes[0].kind, REFS_CF_AXIS_Z);
    EXPECT_EQ(refs_cf_axis_kind_of(set.find("level")), REFS_CF_AXIS_Z);
    EXPECT_STREQ(refs_cf_axis_direction_of(set.find("level")), "");
    EXPECT_EQ(refs_cf_axis_kind_of(nullptr), REFS_CF_AXIS_OTHER);
}

} // namespace
