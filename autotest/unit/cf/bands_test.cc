/* bands_test.cc -- dimensions that become bands. */
#include "dataset.h"

namespace {

/** Times (3), levels (2) and members (2) over a raster of 4 by 5. */
class Bands : public testing::Test {
  protected:
    void SetUp() override {
        set.coordinate("time", {0, 6, 12.5},
                       R"("units":"hours since 2000-01-01","calendar":"noleap")");
        set.array("pressure", {{"lev"}, {2}, R"("units":"hPa","positive":"down")"});
        set.values["/pressure"] = {1000, 0.1f};
        set.array("v", {{"time", "lev", "ens", "y", "x"}, {3, 2, 2, 4, 5}});
    }
    Dataset set;
};

TEST_F(Bands, CountSlowestFirst) {
    uint64_t n = 0, index[3];
    ASSERT_TRUE(refs_cf_n_bands(&set.describe(), &n));
    EXPECT_EQ(n, 12u);
    refs_cf_band_index(&set.description, 7, index);
    EXPECT_EQ(index[0], 1u);
    EXPECT_EQ(index[1], 1u);
    EXPECT_EQ(index[2], 1u);
}

TEST_F(Bands, KnowTheirCoordinateVariablesAndWhatTheseAre) {
    const refs_cf_description &description = set.describe();
    ASSERT_EQ(description.n_band_axes, 3u);
    const refs_cf_band_axis *time = &description.band_axes[0], *level = &description.band_axes[1];
    EXPECT_STREQ(time->name, "time");
    EXPECT_EQ(time->kind, REFS_CF_AXIS_TIME);
    EXPECT_EQ(time->n, 3u);
    EXPECT_EQ(time->values[2], 12.5);
    EXPECT_STREQ(time->units, "hours since 2000-01-01");
    EXPECT_STREQ(time->calendar, "noleap");
    EXPECT_EQ(level->kind, REFS_CF_AXIS_Z);
    EXPECT_STREQ(level->coordinate->name, "pressure") << "the only variable along lev";
    EXPECT_EQ(level->calendar, nullptr);
    EXPECT_EQ(description.band_axes[2].coordinate, nullptr);
    EXPECT_EQ(description.band_axes[2].values, nullptr);
}

TEST_F(Bands, HaveNoCoordinateWhereSeveralVariablesCouldBeIt) {
    set.array("height", {{"lev"}, {2}});
    EXPECT_EQ(set.describe().band_axes[1].coordinate, nullptr);
}

TEST_F(Bands, TellAnOverflowingNumberOfBands) {
    const uint64_t huge = 1ull << 40;
    set.array("big", {{"a", "b", "y", "x"}, {huge, huge, 4, 5}});
    uint64_t n;
    EXPECT_FALSE(refs_cf_n_bands(&set.describe("big"), &n));
}

TEST_F(Bands, AreNotGivenValuesWhereThereAreTooMany) {
    const uint64_t tooMany = REFS_CF_MAX_AXIS - 2;
    set.array("long", {{"long"}, {tooMany}});
    set.array("w", {{"time", "long", "y", "x"}, {3, tooMany, 4, 5}});
    EXPECT_NE(set.describe("w").band_axes[1].coordinate, nullptr);
    EXPECT_EQ(set.description.band_axes[0].values, nullptr);
    EXPECT_EQ(set.description.band_axes[1].values, nullptr);
    EXPECT_FALSE(set.notes.empty());
}

TEST_F(Bands, ReadTextsAsLabels) {
    set.array("s", {{"s"}, {2}, "", "|S4", "null"});
    set.strings["/s"] = {"no", "so"};
    set.array("w", {{"s", "y", "x"}, {2, 4, 5}});
    const refs_cf_band_axis *axis = set.describe("w").band_axes;
    EXPECT_EQ(axis->values, nullptr);
    ASSERT_NE(axis->labels, nullptr);
    EXPECT_STREQ(axis->labels[1], "so");
}

TEST_F(Bands, MayHaveFewerLabelsThanElements) {
    set.array("s", {{"s"}, {2}, "", "|S4", "null"});
    set.strings["/s"] = {"no"};
    set.array("w", {{"s", "y", "x"}, {2, 4, 5}});
    EXPECT_EQ(set.describe("w").band_axes[0].labels[1], nullptr);
    EXPECT_EQ(set.bandItems(1, "w").at("NETCDF_DIM_s"), "2");
}

} // namespace

TEST(BandAxes, AreAnnouncedTogetherWithTheAxesOfThePicture) {
    Dataset set;
    set.latlon({10, 11, 12}, {0, 1});
    set.coordinate("time", {1, 2}, R"("units":"days since 2000-01-01")");
    set.array("v", {{"time", "lat", "lon"}, {2, 3, 2}});
    set.describe();
    using Names = std::vector<std::string>;
    EXPECT_EQ(set.announced, std::vector<Names>(1, Names{"time", "lon", "lat"}));
}

TEST(BandAxes, AreNotAnnouncedWhereTheyWillNotBeRead) {
    Dataset narrow;
    narrow.latlon({10}, {0, 1});
    narrow.coordinate("time", {1, 2}, R"("units":"days since 2000-01-01")");
    narrow.array("v", {{"time", "lat", "lon"}, {2, 1, 2}});
    narrow.describe("v");
    EXPECT_TRUE(narrow.announced.empty()) << "a single row has no spacing";

    Dataset column;
    column.latlon({10, 11}, {0});
    column.coordinate("time", {1, 2}, R"("units":"days since 2000-01-01")");
    column.array("v", {{"time", "lat", "lon"}, {2, 2, 1}});
    column.describe("v");
    using Names = std::vector<std::string>;
    EXPECT_EQ(column.announced, std::vector<Names>(1, Names{"time", "lat"})) << "tells the order";

    Dataset wide;
    wide.coordinate("lat", {10, 11}, R"("units":"degrees_north")");
    wide.array("lon", {{"lon"}, {REFS_CF_MAX_AXIS + 1}, R"("units":"degrees_east")"});
    wide.array("v", {{"lat", "lon"}, {2, REFS_CF_MAX_AXIS + 1}});
    EXPECT_NE(wide.tryToDescribe("v"), REFS_OK) << "columns without their place";
    wide.options.require_coordinates = false;
    wide.describe("v");
    EXPECT_TRUE(wide.announced.empty()) << "one is too long to be read";
}
