/* calendar_test.cc -- days and dates in all calendars. */
extern "C" {
#include "cf_internal.h"
}

#include <gtest/gtest.h>

#include <tuple>

namespace {

int64_t day(refs_cf__calendar calendar, int64_t y, int m, int d) {
    return refs_cf__day_of_date(calendar, {y, m, d});
}

/** The calendar's name and the days between two dates in it. */
TEST(Calendar, CountsTheDaysBetweenDates) {
    const struct {
        const char *name;
        refs_cf__date from, to;
        int64_t days;
    } cases[] = {
        {"standard", {1970, 1, 1}, {2000, 3, 1}, 11017},
        {"gregorian", {1582, 10, 4}, {1582, 10, 15}, 1},
        {"proleptic_gregorian", {1582, 10, 4}, {1582, 10, 15}, 11},
        {"proleptic_gregorian", {0, 1, 1}, {1, 1, 1}, 366},
        {"julian", {1900, 2, 28}, {1900, 3, 1}, 2},
        {"standard", {1900, 2, 28}, {1900, 3, 1}, 1},
        {"standard", {1500, 2, 28}, {1500, 3, 1}, 2},
        {"noleap", {2000, 2, 28}, {2000, 3, 1}, 1},
        {"365_day", {2000, 1, 1}, {2001, 1, 1}, 365},
        {"all_leap", {2001, 2, 28}, {2001, 3, 1}, 2},
        {"366_day", {2001, 1, 1}, {2002, 1, 1}, 366},
        {"360_day", {2000, 2, 30}, {2000, 3, 1}, 1},
        {"360_day", {2000, 1, 1}, {2001, 1, 1}, 360},
    };
    for (const auto &c : cases) {
        refs_cf__calendar calendar;
        ASSERT_TRUE(refs_cf__find_calendar(refs_str_from(c.name), &calendar)) << c.name;
        EXPECT_EQ(refs_cf__day_of_date(calendar, c.to) - refs_cf__day_of_date(calendar, c.from),
                  c.days)
            << c.name << " " << c.from.year;
    }
}

TEST(Calendar, MeetsTheJulianDayNumbersOfAstronomers) {
    EXPECT_EQ(day(REFS_CF__GREGORIAN, 1970, 1, 1), 2440588);
    EXPECT_EQ(day(REFS_CF__STANDARD, 1582, 10, 15), 2299161);
    EXPECT_EQ(day(REFS_CF__JULIAN, -4712, 1, 1), 0);
    EXPECT_EQ(refs_cf__date_of_day(REFS_CF__STANDARD, 2299160).day, 4);
    EXPECT_EQ(refs_cf__date_of_day(REFS_CF__STANDARD, 2299161).day, 15);
}

TEST(Calendar, FindsTheDateOfEveryDay) {
    for (int calendar = REFS_CF__STANDARD; calendar <= REFS_CF__360_DAY; calendar++) {
        const auto which = static_cast<refs_cf__calendar>(calendar);
        const int64_t begin = day(which, -401, 1, 1);
        refs_cf__date last = {-402, 12, 30};
        for (int64_t i = begin; i < begin + 1000000; i += calendar < REFS_CF__NO_LEAP ? 1 : 7) {
            const refs_cf__date date = refs_cf__date_of_day(which, i);
            ASSERT_EQ(refs_cf__day_of_date(which, date), i) << calendar << " " << i;
            ASSERT_LT(std::tie(last.year, last.month, last.day),
                      std::tie(date.year, date.month, date.day));
            ASSERT_GE(date.day, 1);
            ASSERT_LE(date.month, 12);
            last = date;
        }
    }
}

TEST(Calendar, IsStandardUnlessNamedAndUnknownNamesAreNone) {
    refs_cf__calendar calendar;
    EXPECT_TRUE(refs_cf__find_calendar(refs_str_from(""), &calendar));
    EXPECT_EQ(calendar, REFS_CF__STANDARD);
    EXPECT_TRUE(refs_cf__find_calendar(refs_str_from("NoLeap"), &calendar));
    EXPECT_EQ(calendar, REFS_CF__NO_LEAP);
    EXPECT_FALSE(refs_cf__find_calendar(refs_str_from("none"), &calendar));
}

TEST(Calendar, IsComparedByItsDates) {
    const auto compare = [](const char *one, const char *other) {
        return refs_cf_compare_calendars(refs_str_from(one), refs_str_from(other));
    };
    EXPECT_EQ(compare("", "standard"), REFS_CF_CALENDARS_SAME);
    EXPECT_EQ(compare("gregorian", "Standard"), REFS_CF_CALENDARS_SAME);
    EXPECT_EQ(compare("365_day", "noleap"), REFS_CF_CALENDARS_SAME);
    EXPECT_EQ(compare("none", "none"), REFS_CF_CALENDARS_SAME);
    EXPECT_EQ(compare("", "proleptic_gregorian"), REFS_CF_CALENDARS_SAME_SINCE_REFORM);
    EXPECT_EQ(compare("julian", "standard"), REFS_CF_CALENDARS_DIFFERENT);
    EXPECT_EQ(compare("none", "standard"), REFS_CF_CALENDARS_DIFFERENT);
}

} // namespace
