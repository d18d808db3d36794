/* time_test.cc -- what times mean. */
#include "dataset.h"

#include <cmath>

namespace {

/** The text of a time in a one-element axis with these units. */
std::string timeOf(double value, const std::string &units, const std::string &calendar = "",
                   const std::string &dtype = "<f8") {
    Dataset set;
    std::string attributes = "\"axis\":\"T\"";
    if (!units.empty()) attributes += ",\"units\":\"" + units + "\"";
    if (!calendar.empty()) attributes += ",\"calendar\":\"" + calendar + "\"";
    set.coordinate("time", {value}, attributes, dtype);
    set.array("v", {{"time", "y", "x"}, {1, 4, 5}});
    set.describe();
    auto items = set.bandItems(0);
    return items.count("TIME") > 0 ? items["TIME"] : "";
}

TEST(Time, CountsInAnyUnitFromAnyOrigin) {
    EXPECT_EQ(timeOf(0, "days since 1970-01-01"), "1970-01-01T00:00:00");
    EXPECT_EQ(timeOf(1016832, "hours since 1900-01-01 00:00:0.0"), "2016-01-01T00:00:00");
    EXPECT_EQ(timeOf(90, "minutes since 2000-02-28T23:00:00Z"), "2000-02-29T00:30:00");
    EXPECT_EQ(timeOf(1577880000, "seconds since 1970-01-01 00:00:00 UTC"), "2020-01-01T12:00:00");
    EXPECT_EQ(timeOf(872712.659688, "seconds since 2016-12-19T10:27:29.687763"),
              "2016-12-29T12:52:42.347");
    EXPECT_EQ(timeOf(1500, "milliseconds since 2000-1-1"), "2000-01-01T00:00:01.500");
    EXPECT_EQ(timeOf(2, "weeks since 2000-01-01"), "2000-01-15T00:00:00");
    EXPECT_EQ(timeOf(-1, "day since 1-1-1"), "0000-12-31T00:00:00");
    EXPECT_EQ(timeOf(1, "h since 1600"), "1600-01-01T01:00:00");
    EXPECT_EQ(timeOf(1.5e9, "nanoseconds since 2000-01-01"), "2000-01-01T00:00:01.500");
    EXPECT_EQ(timeOf(1, "DAYS since 2000-01-01"), "2000-01-02T00:00:00");
    EXPECT_EQ(timeOf(1, "DAYS SINCE 2000-01-01"), "2000-01-02T00:00:00");
    EXPECT_EQ(timeOf(12, "Hours Since 1999-12-31 12"), "2000-01-01T00:00:00");
}

TEST(Time, MayBeADateAsCdoWritesIt) {
    const std::string units = "day as %Y%m%d.%f";
    EXPECT_EQ(timeOf(20000102, units), "2000-01-02T00:00:00");
    EXPECT_EQ(timeOf(20000102.5, units), "2000-01-02T12:00:00");
    EXPECT_EQ(timeOf(20240229 + 5 / 24.0, units), "2024-02-29T05:00:00");
    EXPECT_EQ(timeOf(20010230.25, units, "360_day"), "2001-02-30T06:00:00");
    EXPECT_EQ(timeOf(-440315, units, "proleptic_gregorian"), "-0044-03-15T00:00:00");
    EXPECT_EQ(timeOf(20011301, units, "noleap"), "");
    for (double none : {20010229.0, 20001301.0, 20000100.0, 1e12})
        EXPECT_EQ(timeOf(none, units), "") << none;
}

TEST(Time, UndoesTheTimeZoneOfTheOrigin) {
    EXPECT_EQ(timeOf(0, "days since 2000-01-01 00:00 +1:00"), "1999-12-31T23:00:00");
    EXPECT_EQ(timeOf(0, "days since 2000-01-01 00:00 -0530"), "2000-01-01T05:30:00");
    EXPECT_EQ(timeOf(0, "days since 2000-01-01 00:00 5:00"), "2000-01-01T00:00:00");
}

TEST(Time, KeepsToTheCalendar) {
    EXPECT_EQ(timeOf(59, "days since 2000-01-01", "noleap"), "2000-03-01T00:00:00");
    EXPECT_EQ(timeOf(59, "days since 2000-01-01", "360_day"), "2000-02-30T00:00:00");
    EXPECT_EQ(timeOf(59, "days since 2001-01-01", "all_leap"), "2001-02-29T00:00:00");
    EXPECT_EQ(timeOf(0, "days since 1582-10-15", "julian"), "1582-10-15T00:00:00");
    EXPECT_EQ(timeOf(1, "days since 1582-10-04", "gregorian"), "1582-10-15T00:00:00");
    EXPECT_EQ(timeOf(1, "days since 1582-10-04", "proleptic_gregorian"), "1582-10-05T00:00:00");
}

TEST(Time, KnowsMonthsAndYearsWhereAllAreEqual) {
    EXPECT_EQ(timeOf(1.5, "months since 1960-01-01", "360_day"), "1960-02-16T00:00:00");
    EXPECT_EQ(timeOf(2, "years since 1960-02-30", "360_day"), "1962-02-30T00:00:00");
    EXPECT_EQ(timeOf(41, "common_years since 1960-03-01", "noleap"), "2001-03-01T00:00:00");
    EXPECT_EQ(timeOf(1, "year since 2001-02-29", "all_leap"), "2002-02-29T00:00:00");
    EXPECT_EQ(timeOf(1, "months since 1960-01-01"), "");
    EXPECT_EQ(timeOf(1, "months since 1960-01-01", "noleap"), "");
}

TEST(Time, MayBePacked) {
    Dataset set;
    set.coordinate("time", {3},
                   R"("units":"days since 2000-01-01","scale_factor":0.5,"add_offset":10)", "<i2");
    set.array("v", {{"time", "y", "x"}, {1, 4, 5}});
    set.describe();
    EXPECT_EQ(set.bandItems(0)["TIME"], "2000-01-12T12:00:00");
}

TEST(Time, RoundsToMillisecondsAndCarries) {
    EXPECT_EQ(timeOf(347921.1666666716, "hours since 1970-01-01 00:00:00"), "2009-09-09T17:10:00");
    EXPECT_EQ(timeOf(0.99999999999, "days since 1999-12-31"), "2000-01-01T00:00:00");
}

TEST(Time, ReadsTicksOfNumpy) {
    EXPECT_EQ(timeOf(1577880000e6, "", "", "<M8[us]"), "2020-01-01T12:00:00");
    EXPECT_EQ(timeOf(18262, "", "", "<M8[D]"), "2020-01-01T00:00:00");
    EXPECT_EQ(timeOf(-9223372036854775808., "", "", "<M8[ns]"), "") << "not a time";
    EXPECT_EQ(timeOf(600, "", "", "<M8[M]"), "") << "months have no fixed length";
}

TEST(Time, SaysNothingWhereItUnderstandsNothing) {
    EXPECT_EQ(timeOf(1, ""), "");
    EXPECT_EQ(timeOf(1, "days"), "");
    EXPECT_EQ(timeOf(1, "months since 2000-01-01"), "");
    EXPECT_EQ(timeOf(1, "days since yesterday"), "");
    EXPECT_EQ(timeOf(1, "days since 2000-13-01"), "");
    EXPECT_EQ(timeOf(1, "days since 2000-01-01", "none"), "");
    EXPECT_EQ(timeOf(NAN, "days since 2000-01-01"), "");
    EXPECT_EQ(timeOf(1e300, "days since 2000-01-01"), "");
    EXPECT_EQ(timeOf(9.969209968386869e+36, "seconds since 2000-01-01"), "");
    EXPECT_EQ(timeOf(0, "days since 2000-01-01 " + std::string(60, '7') + ":00"), "");
}

} // namespace
