/* civil_test.cc -- dates as numbers of days. */
#include "refs/civil.h"

#include <gtest/gtest.h>

TEST(Civil, CountsDaysFrom1970) {
    EXPECT_EQ(refs_days_from_civil(1970, 1, 1), 0);
    EXPECT_EQ(refs_days_from_civil(1970, 3, 1), 59);
    EXPECT_EQ(refs_days_from_civil(1969, 12, 31), -1);
    EXPECT_EQ(refs_days_from_civil(2000, 2, 29), 11016);
    EXPECT_EQ(refs_days_from_civil(2000, 3, 1), 11017);
    EXPECT_EQ(refs_days_from_civil(1900, 3, 1) - refs_days_from_civil(1900, 2, 28), 1);
    EXPECT_EQ(refs_days_from_civil(0, 3, 1), -719468);
    EXPECT_EQ(refs_days_from_civil(-400, 3, 1), -719468 - 146097);
}

TEST(Civil, GoesOnDayByDay) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t expected = refs_days_from_civil(-9, 1, 1);
    for (int year = -9; year <= 2404; year++)
        for (int month = 1; month <= 12; month++) {
            const bool isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            EXPECT_EQ(refs_days_from_civil(year, month, 1), expected) << year << " " << month;
            expected += lengths[month - 1] + (month == 2 && isLeap);
        }
}

TEST(Civil, KnowsWhichDatesThereAre) {
    EXPECT_TRUE(refs_is_civil_date(2000, 2, 29));
    EXPECT_FALSE(refs_is_civil_date(1900, 2, 29));
    EXPECT_TRUE(refs_is_civil_date(1999, 12, 31));
    EXPECT_FALSE(refs_is_civil_date(1999, 12, 32));
    EXPECT_FALSE(refs_is_civil_date(1999, 4, 31));
    EXPECT_FALSE(refs_is_civil_date(1999, 13, 1));
    EXPECT_FALSE(refs_is_civil_date(1999, 0, 1));
    EXPECT_FALSE(refs_is_civil_date(1999, 1, 0));
}

TEST(Civil, DatesArePrintedInUtc) {
    char text[REFS_UTC_TEXT];
    refs_print_utc(1577836800, text);
    EXPECT_STREQ(text, "2020-01-01T00:00:00Z");
    refs_print_utc(INT64_MAX, text);
    EXPECT_STREQ(text, "9223372036854775807");
}
