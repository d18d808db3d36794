/* written_test.cc -- what coordinate variables and grid mappings are written as. */
#include <gtest/gtest.h>

#include <string>

#include "dataset.h"
#include "refs/written.h"

namespace {

TEST(WordsOfAnAxis, AreReadAsThatAxis) {
    const refs_cf_grid grids[] = {REFS_CF_GRID_PLAIN, REFS_CF_GRID_LONGLAT, REFS_CF_GRID_PROJECTED};
    for (refs_cf_axis_kind kind : {REFS_CF_AXIS_X, REFS_CF_AXIS_Y})
        for (refs_cf_grid grid : grids) {
            const refs_cf_axis_words words = refs_cf_words_of_axis(kind, grid);
            std::string attributes = std::string(R"("axis":")") + words.axis + "\"";
            if (words.standard_name != nullptr)
                attributes += std::string(R"(,"standard_name":")") + words.standard_name +
                              R"(","units":")" + words.units + "\"";
            Dataset set;
            set.coordinate(words.name, {0, 1}, attributes);
            EXPECT_EQ(refs_cf_axis_kind_of(set.find(words.name)), kind) << attributes;
        }
    EXPECT_STREQ(refs_cf_words_of_axis(REFS_CF_AXIS_X, REFS_CF_GRID_LONGLAT).name, "lon");
    EXPECT_STREQ(refs_cf_words_of_axis(REFS_CF_AXIS_Y, REFS_CF_GRID_PLAIN).name, "y");
}

using Attributes = std::map<std::string, std::string>;

Attributes gridMapping(const refs_cf_written_crs &crs) {
    refs_cf_items items{};
    EXPECT_EQ(refs_cf_grid_mapping_items(&crs, &items, nullptr), REFS_OK);
    Attributes attributes = Dataset::mapOf(items);
    refs_cf_items_clear(&items);
    return attributes;
}

TEST(GridMapping, HasItsNameWhereItIsThatOfLongitudesAndLatitudes) {
    EXPECT_EQ(gridMapping({true, "GEOGCRS[]", "GEOGCS[]", nullptr}),
              (Attributes{{"grid_mapping_name", "latitude_longitude"},
                          {"crs_wkt", "GEOGCRS[]"},
                          {"spatial_ref", "GEOGCS[]"}}));
    EXPECT_EQ(gridMapping({false, "PROJCRS[A=B]", nullptr, nullptr}),
              (Attributes{{"crs_wkt", "PROJCRS[A=B]"}}));
}

TEST(GridMapping, HasTheGeotransformThatItIsGiven) {
    const double straight[] = {10, 0.5, 0, 50, 0, -0.25},
                 rotated[] = {10.1, 0.5, 0.25, 50, 1e-9, -3};
    EXPECT_EQ(gridMapping({false, nullptr, "PROJCS[]", straight}),
              (Attributes{{"spatial_ref", "PROJCS[]"}, {"GeoTransform", "10 0.5 0 50 0 -0.25"}}));
    EXPECT_EQ(gridMapping({true, "GEOGCRS[]", nullptr, rotated}),
              (Attributes{{"grid_mapping_name", "latitude_longitude"},
                          {"crs_wkt", "GEOGCRS[]"},
                          {"GeoTransform", "10.1 0.5 0.25 50 1.0000000000000001e-09 -3"}}));
}

TEST(GridMapping, HasAnEmptyWktBesideAGeotransformWithoutCrs) {
    const double rotated[] = {10, 0.5, 0.25, 50, 1, -3};
    EXPECT_EQ(gridMapping({false, nullptr, nullptr, rotated}),
              (Attributes{{"spatial_ref", ""}, {"GeoTransform", "10 0.5 0.25 50 1 -3"}}));
}

TEST(CoordinatesAlongAxes, TellTheGeotransformUnlessItIsRotatedOrOneOfThemIsAlone) {
    const double straight[] = {10, 0.5, 0, 50, 0, -0.25}, rotated[] = {10, 0.5, 0.25, 50, 0, -3};
    EXPECT_TRUE(refs_cf_has_axes(straight));
    EXPECT_FALSE(refs_cf_has_axes(rotated));
    EXPECT_TRUE(refs_cf_axes_tell_geotransform(straight, 2, 2));
    EXPECT_FALSE(refs_cf_axes_tell_geotransform(straight, 1, 2));
    EXPECT_FALSE(refs_cf_axes_tell_geotransform(straight, 2, 1));
    EXPECT_FALSE(refs_cf_axes_tell_geotransform(rotated, 2, 2));
}

} // namespace
