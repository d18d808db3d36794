/* overview_test.cc -- the levels of a pyramid are shown as the raster that they are of. */
#include "dataset.h"

namespace {

/** Groups 0, 1 and 2, each with an array "t" of half the size of the one before. */
class Overview : public testing::Test {
  protected:
    Overview() {
        set.global(R"("multiscales":{"layout":[{"asset":"0"},{"asset":"1"},{"asset":"2"}]})");
        for (int i = 0; i < 3; i++) {
            set.group(std::to_string(i), "");
            set.array(std::to_string(i) + "/t", {{"y", "x"}, {8u >> i, 16u >> i}});
        }
    }
    /** Coordinates of a level, y from `y` on. */
    void place(const std::string &level, double y, double dy, double x, double dx,
               const std::string &units = "degrees_") {
        const size_t n = 8u >> std::stoi(level);
        Values ys(n), xs(2 * n);
        for (size_t i = 0; i < ys.size(); i++) ys[i] = y + dy * static_cast<double>(i);
        for (size_t i = 0; i < xs.size(); i++) xs[i] = x + dx * static_cast<double>(i);
        const bool isIndex = units.empty();
        set.coordinate(level + "/y", ys, isIndex ? R"("axis":"Y")" : R"("units":"degrees_north")");
        set.coordinate(level + "/x", xs, isIndex ? R"("axis":"X")" : R"("units":"degrees_east")");
    }
    bool isTurned(const std::string &level) { return set.describe(level + "/t").flip_y; }
    Dataset set;
};

TEST_F(Overview, WithoutAPlaceHasTheOrderOfTheFullResolution) {
    place("0", 50, -1, 10, 1);
    for (const char *level : {"0", "1", "2"}) EXPECT_FALSE(isTurned(level)) << level;
}

TEST_F(Overview, OfRowsFromTheSouthIsTurnedAsTheyAre) {
    place("0", 40, 1, 10, 1);
    for (const char *level : {"0", "1", "2"}) EXPECT_TRUE(isTurned(level)) << level;
}

TEST_F(Overview, OfARasterWithoutAPlaceIsTurnedAsItIs) {
    place("1", 50, -2, 10, 2);
    for (const char *level : {"0", "1", "2"}) EXPECT_TRUE(isTurned(level)) << level;
    EXPECT_EQ(set.describe("1/t").geotransform[5], 2) << "lies where it did";
    EXPECT_EQ(set.describe("1/t").geotransform[3], 43);
}

TEST_F(Overview, WithNumbersOfRowsHasTheOrderOfTheFullResolution) {
    place("0", 50, -1, 10, 1);
    place("1", 0, 1, 0, 1, "");
    place("2", 0, 1, 0, 1, "");
    for (const char *level : {"0", "1", "2"}) EXPECT_FALSE(isTurned(level)) << level;
}

TEST_F(Overview, ThatLiesInTheSamePlaceFromTheSouthIsTurned) {
    place("0", 50, -1, 10, 1);
    place("1", 43.5, 2, 10.5, 2);
    place("2", 42, 4, 10, 4);
    EXPECT_FALSE(isTurned("0"));
    EXPECT_TRUE(isTurned("1"));
    EXPECT_TRUE(isTurned("2"));
}

TEST_F(Overview, HasTheRasterOfTheFullResolution) {
    Dataset bands;
    bands.global(R"("multiscales":{"layout":[{"asset":"t"},{"asset":"half"}]})");
    bands.array("t", {{"y", "x", "band"},
                      {8, 16, 3},
                      R"("zarr_conventions":[{"uuid":"689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"}],)"
                      R"("spatial:dimensions":["y","x"],"spatial:transform":[1,0,0,0,-1,8])"});
    bands.group("half", "");
    bands.array("half/t", {{"y", "x", "band"}, {4, 8, 3}});
    bands.describe("half/t");
    EXPECT_EQ(bands.description.y_dim, 0u);
    EXPECT_EQ(bands.description.x_dim, 1u);
    EXPECT_FALSE(bands.description.flip_y);
    const refs_array_meta *overviews[REFS_CF_MAX_OVERVIEWS];
    EXPECT_EQ(refs_cf_find_overviews(bands.hierarchy(), bands.find("t"), overviews), 1u);
}

TEST_F(Overview, AreAtMostAsManyAsTheLimit) {
    constexpr size_t n = REFS_CF_MAX_OVERVIEWS + 6;
    Dataset levels;
    std::string layout = R"({"asset":"0"})";
    for (size_t i = 1; i < n; i++) layout += R"(,{"asset":")" + std::to_string(i) + "\"}";
    levels.global(R"("multiscales":{"layout":[)" + layout + "]}");
    for (size_t i = 0; i < n; i++) {
        levels.group(std::to_string(i), "");
        levels.array(std::to_string(i) + "/t", {{"y", "x"}, {2 * n - i, 2 * n - i}});
    }
    const refs_array_meta *overviews[REFS_CF_MAX_OVERVIEWS];
    EXPECT_EQ(refs_cf_find_overviews(levels.hierarchy(), levels.find("0/t"), overviews),
              size_t{REFS_CF_MAX_OVERVIEWS} - 1);
}

} // namespace
