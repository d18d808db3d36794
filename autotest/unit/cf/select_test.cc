/* select_test.cc -- selections in names. */
#include "dataset.h"

namespace {

/** Six-hourly times of two days and a bit, levels from below, members without coordinate, and
 * names of sites. */
class Select : public testing::Test {
  protected:
    void SetUp() override {
        set.coordinate("time", {0, 6, 12, 18, 24, 30, 36, 42, 48, 744},
                       R"("units":"hours since 2020-01-01")");
        set.coordinate("level", {1000, 850, 500, 250}, R"("units":"hPa")", "<f4");
        set.array("site", {{"site"}, {3}, "", "|S4", "null"});
        set.strings["/site"] = {"oslo", "a:b", "7"};
        set.array("v", {{"time", "level", "ens", "site", "y", "x"}, {10, 4, 5, 3, 4, 5}});
    }

    /** What a selection keeps along an axis, "first+n", or the message of its failure. */
    std::string kept(const std::string &selection, size_t axis) {
        set.options.selection = selection.c_str();
        refs_error_clear(&set.error);
        if (set.tryToDescribe() != REFS_OK) return set.error.message;
        const refs_cf_band_axis &of = set.description.band_axes[axis];
        return std::to_string(of.first) + "+" + std::to_string(of.n);
    }
    std::string time(const std::string &text) { return kept("time=" + text, 0); }
    std::string level(const std::string &text) { return kept("level=" + text, 1); }
    std::string member(const std::string &text) { return kept("ens=" + text, 2); }
    std::string site(const std::string &text) { return kept("site=" + text, 3); }

    static bool holds(const std::string &text, const std::string &part) {
        return text.find(part) != std::string::npos;
    }

    Dataset set;
};

TEST_F(Select, ByIndexAndByRangeOfIndicesFromZero) {
    EXPECT_EQ(member("0"), "0+1");
    EXPECT_EQ(member("4"), "4+1");
    EXPECT_EQ(member("1:3"), "1+3");
    EXPECT_EQ(member("3:1"), "1+3") << "in either order";
    EXPECT_EQ(member(" 2 "), "2+1");
    EXPECT_EQ(time("#0:#9"), "0+10");
}

TEST_F(Select, ByPeriodsOfWhichAllIsMeant) {
    EXPECT_EQ(time("2020-01-01T06:00"), "1+1");
    EXPECT_EQ(time("2020-01-01T06:00:00.000Z"), "1+1");
    EXPECT_EQ(time("2020-01-01 06"), "1+1");
    EXPECT_EQ(time("2020-01-01"), "0+4");
    EXPECT_EQ(time("2020-01"), "0+9");
    EXPECT_EQ(time("2020-02"), "9+1");
    EXPECT_EQ(time("2020"), "0+10");
}

TEST_F(Select, ByRangesOfTimesWhoseColonsSeparateNothing) {
    EXPECT_EQ(time("2020-01-01T06:00:2020-01-02T06:00"), "1+5");
    EXPECT_EQ(time("2020-01-01T06:00:00:2020-01-02T06:00:00"), "1+5");
    EXPECT_EQ(time("2020-01-01T06:2020-01-02T06"), "1+5");
    EXPECT_EQ(time("2020-01-02:2020-01-02T06"), "4+2");
    EXPECT_EQ(time("2020-01:2020-03"), "0+10");
    EXPECT_EQ(time("2020-01-01T06:00:2020"), "1+9");
    EXPECT_EQ(time("2019:2020-01-01T00"), "0+1") << "an end need not be there";
}

/** Lead times in seconds, or in the unit of NumPy's timedelta64. */
TEST_F(Select, ByDurations) {
    set.coordinate("level", {0, 3600, 21600, 129600}, R"("units":"seconds")");
    EXPECT_EQ(level("6h"), "2+1");
    EXPECT_EQ(level("PT6H"), "2+1");
    EXPECT_EQ(level("60 min"), "1+1");
    EXPECT_EQ(level("1d12h"), "3+1");
    EXPECT_EQ(level("P1DT12H"), "3+1");
    EXPECT_EQ(level("1.5 days"), "3+1");
    EXPECT_EQ(level("1h:6h"), "1+2");
    EXPECT_EQ(level("PT0S:PT6H"), "0+3");
    EXPECT_EQ(level("21600"), "2+1") << "a value";
    EXPECT_TRUE(holds(level("7h"), "has no value")) << level("7h");
    for (const char *wrong : {"P1M", "P", "PT", "6", "6x", "h", "P1DT", "1h6", "-6h", "12h6h",
                              "6h1d", "30min 1h", "PT12H6H"})
        EXPECT_NE(level(wrong).find("has no"), std::string::npos) << wrong << level(wrong);
}

TEST_F(Select, ByDurationsOfTimedeltas) {
    set.coordinate("level", {0, 1, 6, 36}, "", "<m8[h]");
    EXPECT_EQ(level("P1DT12H"), "3+1");
}

TEST_F(Select, ByDurationsOfNumbersThatWereTimedeltas) {
    set.coordinate("level", {0, 1, 6, 36}, R"("units":"hours","dtype":"timedelta64[us]")");
    EXPECT_EQ(level("6h"), "2+1");
}

TEST_F(Select, ByNoDurationsAlongAnAxisOfSomethingElse) {
    EXPECT_TRUE(holds(level("6h"), "has no value"));
    EXPECT_TRUE(holds(time("6h"), "has no value")) << "times are none";
}

TEST_F(Select, ByTimesOfTheAxisOwnCalendar) {
    set.coordinate("time", {58, 59, 60, 61, 62, 63, 64, 65, 66, 67},
                   R"("units":"days since 2001-01-01","calendar":"360_day")");
    EXPECT_EQ(time("2001-02-30"), "1+1");
    EXPECT_EQ(time("2001-02"), "0+2");
    EXPECT_TRUE(holds(time("2001-02-31"), "has no value"));
}

TEST_F(Select, ByValuesThatAreNoIndices) {
    EXPECT_EQ(level("850"), "1+1");
    EXPECT_EQ(level("850.0"), "1+1");
    EXPECT_EQ(level("900:300"), "1+2") << "along an axis that descends";
    EXPECT_EQ(level("0:850"), "1+3") << "both ends are values where one is no index";
    EXPECT_EQ(time("6."), "1+1") << "a number with its point is a value, also of a time";
}

TEST_F(Select, ByTheValueWhereANumberIsAnIndexToo) {
    set.coordinate("level", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "", "<i4");
    set.array("v", {{"time", "level", "ens", "site", "y", "x"}, {10, 10, 5, 3, 4, 5}});
    EXPECT_EQ(level("5"), "4+1");
    ASSERT_EQ(set.notes.size(), 1u) << "it is told, once";
    EXPECT_TRUE(holds(set.notes[0], "[level=5]: treated as values of level")) << set.notes[0];
    EXPECT_EQ(level("2:4"), "1+3");
    EXPECT_EQ(set.notes.size(), 2u);
    set.notes.clear();

    EXPECT_EQ(level("#5"), "5+1");
    EXPECT_EQ(level("#2:#4"), "2+3");
    EXPECT_EQ(level("5."), "4+1");
    EXPECT_EQ(level("10"), "9+1") << "no index";
    EXPECT_EQ(member("3"), "3+1") << "no coordinate";
    EXPECT_TRUE(set.notes.empty()) << set.notes[0];

    EXPECT_TRUE(holds(level("0:5"), " (for indices write #0:#5, for all values between 0.:5.); "))
        << "one of them is no value";
    EXPECT_EQ(level("0.:5."), "0+5");
    for (const char *text : {"#10", "#", "#-1", "#1.", "##1", "# 1", "#1:2"})
        EXPECT_TRUE(holds(level(text), "has no value")) << text << ": " << level(text);
}

TEST_F(Select, SaysNothingWhereIndexAndValueAreOneElement) {
    set.coordinate("level", {0, 1, 2, 3}, "", "<i4");
    EXPECT_EQ(level("2"), "2+1");
    EXPECT_EQ(level("1:3"), "1+3");
    EXPECT_TRUE(set.notes.empty()) << set.notes[0];
}

TEST_F(Select, ByTheLabelWhereItIsAnIndexToo) {
    set.strings["/site"] = {"2", "1", "0"};
    EXPECT_EQ(site("0"), "2+1");
    EXPECT_EQ(site("#0"), "0+1");
    EXPECT_EQ(set.notes.size(), 1u);
}

TEST_F(Select, ByTheYearWhereItIsAnIndexToo) {
    Values hours(3000);
    for (size_t i = 0; i < hours.size(); i++) hours[i] = 6. * static_cast<double>(i) + 0.5;
    set.coordinate("time", hours, R"("units":"hours since 2020-01-01")");
    set.array("v", {{"time", "y", "x"}, {3000, 4, 5}});
    EXPECT_EQ(time("2020"), "0+1464");
    EXPECT_EQ(time("#2020"), "2020+1");
    EXPECT_TRUE(holds(time("2030"), "has no value 2030 (for the index write #2030)"));
}

TEST_F(Select, ByValuesToThePrecisionOfTheirType) {
    set.coordinate("level", {0.1f, 0.2f, 1e6f, 1e6f + 1}, "", "<f4");
    EXPECT_EQ(level("0.1"), "0+1");
    EXPECT_EQ(level("1000001"), "3+1");
    EXPECT_TRUE(holds(level("0.1001"), "has no value"));
}

TEST_F(Select, ByLabels) {
    EXPECT_EQ(site("oslo"), "0+1");
    EXPECT_EQ(site("a:b"), "1+1");
    EXPECT_EQ(site("oslo:a:b"), "0+2");
    EXPECT_EQ(site("7"), "2+1");
    EXPECT_STREQ(set.description.band_axes[3].labels[0], "7");
}

TEST_F(Select, ByTheNameOfTheCoordinateVariableToo) {
    set.array("pressure", {{"lev"}, {2}, R"("units":"hPa")"});
    set.values["/pressure"] = {1000, 850};
    set.array("w", {{"lev", "y", "x"}, {2, 4, 5}});
    set.options.selection = "pressure=850";
    EXPECT_EQ(set.describe("w").band_axes[0].first, 1u);
}

TEST_F(Select, SeveralAxesAtOnce) {
    EXPECT_EQ(kept("time=2020-01-01T06:00, level=850:500, ens = 3", 0), "1+1");
    EXPECT_EQ(set.description.band_axes[1].first, 1u);
    EXPECT_EQ(set.description.band_axes[1].n, 2u);
    EXPECT_EQ(set.description.band_axes[2].first, 3u);
    uint64_t n = 0;
    EXPECT_TRUE(refs_cf_n_bands(&set.description, &n));
    EXPECT_EQ(n, 6u);
}

TEST_F(Select, ShowsInMetadataWhatIsKept) {
    ASSERT_EQ(kept("time=2020-01-02,level=#1:#2,ens=3:4,site=#1", 0), "4+4");
    const auto items = Dataset::mapOf(set.description.metadata);
    EXPECT_EQ(items.at("NETCDF_DIM_time_DEF"), "{4,6}");
    EXPECT_EQ(items.at("NETCDF_DIM_time_VALUES"), "{24,30,36,42}");
    auto band = set.bandItems(15);
    EXPECT_EQ(band["NETCDF_DIM_time"], "42");
    EXPECT_EQ(band["TIME"], "2020-01-02T18:00:00");
    EXPECT_EQ(band["NETCDF_DIM_level"], "500");
    EXPECT_EQ(band["NETCDF_DIM_ens"], "5") << "counted from 1, as the netCDF driver does";
    EXPECT_EQ(band["NETCDF_DIM_site"], "a:b");
}

TEST_F(Select, GivesBandsDescriptions) {
    ASSERT_EQ(kept("time=2020-01-02,level=#1:#2,ens=3:4,site=#1", 0), "4+4");
    refs_buf text = REFS_BUF_INIT;
    ASSERT_EQ(refs_cf_band_description(&set.description, 1, &text, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(text.data), text.size),
              "time=2020-01-02T00:00:00 level=850 ens=#4 site=a:b");
    refs_buf_clear(&text);
}

TEST_F(Select, SaysWhatThereIsWhereNothingIsFound) {
    EXPECT_EQ(time("2021"), "[time=2021]: dimension \"time\" has no value 2021; there are 10: "
                            "2020-01-01T00:00:00, 2020-01-01T06:00:00, 2020-01-01T12:00:00, ..., "
                            "2020-02-01T00:00:00");
    EXPECT_EQ(set.error.status, REFS_NOT_FOUND);
    EXPECT_EQ(
        level("851"),
        "[level=851]: dimension \"level\" has no value 851; there are 4: 1000, 850, 500, 250");
    for (const char *text : {"#0:1", "0:#1"})
        EXPECT_TRUE(
            holds(level(text), " (indices have # before both: [level=#0:#1]); there are 4: "))
            << level(text);
    EXPECT_EQ(member("5"),
              "[ens=5]: dimension \"ens\" has no value 5; there are 5: #0, #1, #2, ..., #4");
}

TEST_F(Select, RefusesWhatMakesNoSense) {
    const char *const axes = "), level (4), ens (5), site (3)";
    for (const char *text : {"height=3", "time", "time=#1,", ",", "=", " ", "time=#1,,ens=2"})
        EXPECT_TRUE(holds(kept(text, 0), axes)) << text << ": " << set.error.message;
    EXPECT_EQ(kept("ens=1,time=#2,ens=3", 0), "[ens=3]: ens is selected twice");
    for (const char *text : {"2020-13", "2020-1-1", "2020-01-01T25", "2020-02-30",
                             "2020-01-01T06:60", "2020-01-01T06:00:00.", "nan", "x"})
        EXPECT_TRUE(holds(time(text), "has no value")) << text << ": " << time(text);
}

TEST_F(Select, SaysWhichAxesThereAre) {
    EXPECT_EQ(kept("tim=2", 0), "[tim=2]: unknown band axis \"tim\"; did you mean time? band axes: "
                                "time (10), level (4), ens (5), site (3)");
    EXPECT_EQ(kept("x=3", 0),
              "[x=3]: x is an axis of the raster, not of its bands: leave it out, and select a "
              "window when you read (-projwin or -srcwin of gdal_translate)");
}

TEST_F(Select, SaysWhatIsMissing) {
    EXPECT_TRUE(holds(time(""), "[time=]: expected a value after =; there are 10: "));
    for (const char *text : {":", "1:", ":1"})
        EXPECT_TRUE(holds(member(text), ": expected a range as first:last; there are 5: "))
            << text << ": " << set.error.message;
}

/** A loop over values would read another field where one is missing. */
TEST_F(Select, TakesNumbersForIndicesOnlyWithoutACoordinate) {
    EXPECT_EQ(level("1"), "[level=1]: dimension \"level\" has no value 1 (for the index write #1); "
                          "there are 4: 1000, 850, 500, 250");
    EXPECT_TRUE(holds(level("1:2"), "has no value 1:2 (for indices write #1:#2, "));
    EXPECT_EQ(level("#1"), "1+1");
    EXPECT_EQ(member("1"), "1+1") << "no coordinate";
    EXPECT_TRUE(set.notes.empty()) << set.notes[0];
}

TEST_F(Select, NamesTheNeighboursOfAMissingValue) {
    set.coordinate("time", {0, 1, 2, 3, 5, 6, 7, 8, 9, 10}, R"("units":"days since 2020-01-01")");
    EXPECT_EQ(time("2020-01-05"),
              "[time=2020-01-05]: dimension \"time\" has no value 2020-01-05, which lies between "
              "2020-01-04T00:00:00 and 2020-01-06T00:00:00; there are 10: 2020-01-01T00:00:00, "
              "2020-01-02T00:00:00, 2020-01-03T00:00:00, ..., 2020-01-11T00:00:00");
    for (const char *text : {"20200102", "2.1.2020"})
        EXPECT_TRUE(holds(time(text), " (write 2020-01-02); there are 10: ")) << time(text);
    for (const char *text : {"20201302", "2.1.20200", "2020010"})
        EXPECT_FALSE(holds(time(text), "(write")) << time(text);
}

TEST_F(Select, RefusesElementsThatAreNotSideBySide) {
    set.coordinate("level", {1, 30, 2, 40}, "", "<f4");
    EXPECT_TRUE(holds(level("25:45"), "not adjacent"));
    EXPECT_EQ(set.error.status, REFS_UNSUPPORTED);
    EXPECT_EQ(level("1.:40."), "0+4");
}

/** Callers may ignore an axis that has nothing of a selection, not one that has a part of it. */
TEST_F(Select, TellsAPartOfTheSelectionFromNothingOfIt) {
    for (const char *text : {"#3:#5", "3:5", "#5:#3"}) {
        EXPECT_TRUE(holds(member(text), "has no value")) << text;
        EXPECT_EQ(set.error.status, REFS_INVALID) << text;
    }
    EXPECT_TRUE(holds(site("oslo:rome"), "has no value"));
    EXPECT_EQ(set.error.status, REFS_INVALID);
    for (const char *text : {"#5:#6", "5:6", "#7"}) {
        EXPECT_TRUE(holds(member(text), "has no value")) << text;
        EXPECT_EQ(set.error.status, REFS_NOT_FOUND) << text;
    }
    EXPECT_TRUE(holds(time("2020-01-01T06:30"), "has no value"));
    EXPECT_EQ(set.error.status, REFS_NOT_FOUND) << "06 is an hour of the axis, 06:30 is no range";
}

TEST_F(Select, RefusesValuesThatAreMissing) {
    set.values.erase("/level");
    set.options.require_coordinates = false;
    EXPECT_EQ(level("1"), "1+1");
    EXPECT_TRUE(holds(level("850"), "has no value")) << set.error.message;
}

TEST_F(Select, FindsNoAxesInAPicture) {
    set.array("flat", {{"y", "x"}, {4, 5}});
    set.options.selection = "time=1";
    EXPECT_NE(set.tryToDescribe("flat"), REFS_OK);
    EXPECT_TRUE(holds(set.error.message, "band axes: none"));
}

} // namespace
