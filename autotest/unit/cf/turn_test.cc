/* turn_test.cc -- grids of longitudes that are turned to begin at -180 or at 0. */
#include "dataset.h"

extern "C" {
#include "cf_internal.h"
}

#include <cmath>

namespace {

/** Columns with centres from `first` on. */
refs_cf__columns columns(double first, double step, uint64_t n) {
    return {first - step / 2, step, n};
}

struct Turned {
    uint64_t first_column;
    double first; // centre of the first column that is shown
};

/** What becomes of columns; NaN where they stay because they cannot be turned. */
Turned turn(const refs_cf__columns &of, double low) {
    refs_cf__turn turned;
    if (!refs_cf__find_turn(&of, low, &turned)) return {0, std::nan("")};
    return {turned.first_column, turned.corner + of.step / 2};
}

/** A grid of the whole circle, or of a part, in an array "v". */
class Turn : public testing::Test {
  protected:
    void describe(double first, double step, size_t n, refs_cf_longitudes longitudes,
                  const std::string &attributes = "") {
        Values lon;
        for (size_t i = 0; i < n; i++) lon.push_back(first + step * static_cast<double>(i));
        set.latlon({1, 0}, lon);
        set.array("v", {{"lat", "lon"}, {2, n}, attributes});
        set.options.longitudes = longitudes;
        set.describe();
    }
    Dataset set;
};

Values unwrapped(Values values) {
    refs_cf__unwrap_longitudes(values.data(), values.size());
    return values;
}

TEST(Longitudes, MoveWestWhereAllAreBeyond180) {
    EXPECT_EQ(unwrapped({200, 240, 280}), Values({-160, -120, -80}));
    EXPECT_EQ(unwrapped({280, 240, 200}), Values({-80, -120, -160}));
    EXPECT_EQ(unwrapped({190, 365, 540}), Values({-170, 5, 180}));
}

TEST(Longitudes, StayWhereSomeAreWithin180OrTooLarge) {
    EXPECT_EQ(unwrapped({180, 240, 300}), Values({180, 240, 300}));
    EXPECT_EQ(unwrapped({0, 120, 240}), Values({0, 120, 240}));
    EXPECT_EQ(unwrapped({200, 400, 600}), Values({200, 400, 600}));
    EXPECT_EQ(unwrapped({}), Values());
}

TEST(Longitudes, RunOnAcrossTheMeridian) {
    EXPECT_EQ(unwrapped({300, 330, 0, 30}), Values({-60, -30, 0, 30}));
    EXPECT_EQ(unwrapped({40, 20, 0}), Values({40, 20, 0})); // falls twice: runs westwards
}

} // namespace

TEST(TurnOfColumns, BeginsWithTheFirstCentreFromTheSeamOn) {
    const struct {
        double first, step;
        uint64_t n;
        double low;
        uint64_t first_column;
        double shown;
    } cases[] = {{0, 1, 360, -180, 180, -180},     {0.5, 1, 360, -180, 180, -179.5},
                 {0, 0.25, 1440, -180, 720, -180}, {0, 2.5, 144, -180, 72, -180},
                 {0, 7.5, 48, -180, 24, -180},     {0.3, 1, 360, -180, 180, -179.7},
                 {0, 90, 4, -180, 2, -180},        {0, 120, 3, -180, 2, -120},
                 {-180, 1, 360, 0, 180, 0},        {-179.5, 1, 360, 0, 180, 0.5},
                 {20, 1, 360, -180, 160, -180},    {-330, 1, 360, -180, 150, -180},
                 {-280, 1, 360, 0, 280, 0},        {540, 1, 360, -180, 0, -180},
                 {359, -1, 360, -180, 180, 179},   {179.5, -1, 360, 0, 180, 359.5}};
    for (const auto &one : cases) {
        const Turned turned = turn(columns(one.first, one.step, one.n), one.low);
        EXPECT_EQ(turned.first_column, one.first_column) << one.first << ' ' << one.low;
        EXPECT_NEAR(turned.first, one.shown, 1e-9) << one.first << ' ' << one.low;
    }
}

TEST(TurnOfColumns, LeavesWhatIsThereAlready) {
    for (const double first : {-180., -179.5, -179., -10.})
        for (const uint64_t n : {2u, 100u, 190u}) {
            const Turned turned = turn(columns(first, 1, n), -180);
            EXPECT_EQ(turned.first_column, 0u);
            EXPECT_DOUBLE_EQ(turned.first, first);
        }
    EXPECT_DOUBLE_EQ(turn(columns(0, 1, 361), 0).first, 0) << "the last column is the first again";
}

TEST(TurnOfColumns, MovesPartsOfACircleAsAWhole) {
    EXPECT_DOUBLE_EQ(turn(columns(190, 1, 40), -180).first, -170);
    EXPECT_DOUBLE_EQ(turn(columns(-60, 1, 50), 0).first, 300);
    EXPECT_DOUBLE_EQ(turn(columns(500, 1, 10), -180).first, 140);
    EXPECT_EQ(turn(columns(190, 1, 40), -180).first_column, 0u);
}

TEST(TurnOfColumns, LeavesPartsThatLieAcrossTheSeam) {
    EXPECT_TRUE(std::isnan(turn(columns(100, 1, 200), -180).first));
    EXPECT_TRUE(std::isnan(turn(columns(-30, 1, 60), 0).first));
    EXPECT_TRUE(std::isnan(turn(columns(0, 1, 361), -180).first)) << "more than a circle";
    EXPECT_TRUE(std::isnan(turn(columns(0, 1, 359), -180).first)) << "less than a circle";
    EXPECT_TRUE(std::isnan(turn(columns(0, 0.7, 514), -180).first)) << "360 is no multiple of it";
}

TEST(TurnOfColumns, LeavesWhatIsNotOnEarth) {
    for (const double first : {1e20, -1e20, 1e300})
        for (const double step : {10., -10., 1e300, 1e-300})
            EXPECT_TRUE(std::isnan(turn(columns(first, step, 36), -180).first)) << first << step;
}

TEST(TurnOfColumns, ForgivesStepsThatWereRounded) {
    const Turned turned = turn(columns(0, 1.40625 - 0.0001, 256), -180);
    EXPECT_EQ(turned.first_column, 128u);
    EXPECT_NEAR(turned.first, -180, 0.02);
}

/* Each column stays where it was on Earth, and the columns go on in equal steps. */
TEST(TurnOfColumns, MovesEachColumnByWholeCircles) {
    for (const double low : {-180., 0.})
        for (const double step : {1., -1., 0.75, 7.2})
            for (double first = -400; first < 500; first += 12.1) {
                const auto n = static_cast<uint64_t>(std::lround(360 / std::fabs(step)));
                const Turned turned = turn(columns(first, step, n), low);
                for (uint64_t i = 0; i < n; i++) {
                    const uint64_t stored = (turned.first_column + i) % n;
                    const double centre = turned.first + static_cast<double>(i) * step;
                    const double circles =
                        (centre - (first + static_cast<double>(stored) * step)) / 360;
                    ASSERT_NEAR(circles, std::round(circles), 1e-9) << first << ' ' << step;
                    ASSERT_GE(centre, low - std::fabs(step) * 0.11) << first << ' ' << step;
                    ASSERT_LE(centre, low + 360 + 0.11 * std::fabs(step)) << first << ' ' << step;
                }
            }
}

TEST_F(Turn, IsNoneUnlessItIsAskedFor) {
    describe(0, 10, 36, REFS_CF_LONGITUDES_AS_IS);
    EXPECT_EQ(set.description.first_column, 0u);
    EXPECT_EQ(set.geotransform(), Values({-5, 10, 0, 1.5, 0, -1}));
}

TEST_F(Turn, GivesTheGeotransformOfTheTurnedGrid) {
    describe(0, 10, 36, REFS_CF_LONGITUDES_FROM_180, R"("coordinates":"lat lon")");
    EXPECT_EQ(set.description.first_column, 18u);
    EXPECT_EQ(set.geotransform(), Values({-185, 10, 0, 1.5, 0, -1}));
    EXPECT_EQ(set.description.geolocation_x, nullptr) << "its columns are not turned";
    EXPECT_EQ(set.description.geolocation.n, 0u);
    EXPECT_STREQ(set.description.crs, "EPSG:4326");
    EXPECT_TRUE(set.notes.empty());
}

TEST_F(Turn, UndoesWhatTheNetcdfDriverMoves) {
    describe(200, 10, 5, REFS_CF_LONGITUDES_FROM_0);
    EXPECT_EQ(set.geotransform(), Values({195, 10, 0, 1.5, 0, -1}));
}

TEST_F(Turn, SaysWhyAGridStays) {
    describe(100, 1, 200, REFS_CF_LONGITUDES_FROM_180);
    EXPECT_EQ(set.geotransform(), Values({99.5, 1, 0, 1.5, 0, -1}));
    ASSERT_EQ(set.notes.size(), 1u);
    EXPECT_EQ(set.notes[0], "/v: LONGITUDES=-180 is ignored: 200 columns of 1 degrees cross 180 "
                            "but do not cover 360 degrees");
}

TEST_F(Turn, SaysSoOfUnevenLongitudes) {
    set.latlon({1, 0}, {0, 1, 5, 100});
    set.array("v", {{"lat", "lon"}, {2, 4}});
    set.options.longitudes = REFS_CF_LONGITUDES_FROM_0;
    set.describe();
    ASSERT_EQ(set.notes.size(), 1u);
    EXPECT_EQ(set.notes[0], "/v: LONGITUDES=0 is ignored: its longitudes are not evenly spaced");
}

TEST(TurnOfOtherGrids, IsNone) {
    Dataset set;
    set.projected();
    set.mapped(R"("grid_mapping_name":"lambert_azimuthal_equal_area")");
    set.options.longitudes = REFS_CF_LONGITUDES_FROM_180;
    set.describe();
    EXPECT_EQ(set.description.first_column, 0u);
    EXPECT_TRUE(set.notes.empty());
}

TEST(TurnOfOverviews, NeedsASeamBetweenTheirColumns) {
    refs_cf_description full = {};
    full.first_column = 180;
    uint64_t first = 0;
    EXPECT_TRUE(refs_cf_turn_overview(&full, 360, 180, &first));
    EXPECT_EQ(first, 90u);
    EXPECT_TRUE(refs_cf_turn_overview(&full, 360, 2, &first));
    EXPECT_EQ(first, 1u);
    EXPECT_FALSE(refs_cf_turn_overview(&full, 360, 45, &first)) << "in the middle of column 22";
    full.first_column = 0;
    EXPECT_TRUE(refs_cf_turn_overview(&full, 361, 45, &first));
    EXPECT_EQ(first, 0u);
}
