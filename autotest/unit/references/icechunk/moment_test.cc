// Times that users write.

#include <gtest/gtest.h>

#include <ctime>

extern "C" {
#include "icechunk/moment.h"
}

namespace {

int64_t Parse(const char *text) {
    int64_t microseconds = -1;
    refs_error err = REFS_ERROR_INIT;
    if (refs_icechunk__moment_parse(refs_str_from(text), &microseconds, &err) != REFS_OK)
        return INT64_MIN;
    return microseconds;
}

constexpr int64_t second = 1000000;

TEST(Moment, IsTheEndOfWhatIsWritten) {
    EXPECT_EQ(Parse("1970-01-01"), 86400 * second - 1);
    EXPECT_EQ(Parse("1970-01-01T00:00"), 60 * second - 1);
    EXPECT_EQ(Parse("1970-01-01T00:00:00"), second - 1);
    EXPECT_EQ(Parse("1970-01-01 00:00:01Z"), 2 * second - 1);
    EXPECT_EQ(Parse("1970-01-01T00:00:00.5"), 600000 - 1);
    EXPECT_EQ(Parse("1970-01-01T00:00:00.123456"), 123456);
    EXPECT_EQ(Parse("1970-01-01T00:00:00.123456789"), 123456);
}

TEST(Moment, TakesOffsetsFromUtc) {
    EXPECT_EQ(Parse("1970-01-01T02:00:00+02:00"), second - 1);
    EXPECT_EQ(Parse("1969-12-31T22:30:00-0130"), second - 1);
}

TEST(Moment, KnowsTheCalendarAsTheSystemDoes) {
    for (int year : {1970, 1999, 2000, 2024, 2100})
        for (int month = 1; month <= 12; month++) {
            char text[32];
            snprintf(text, sizeof text, "%04d-%02d-15T00:00:00.000000", year, month);
            std::tm date{};
            date.tm_year = year - 1900;
            date.tm_mon = month - 1;
            date.tm_mday = 15;
            EXPECT_EQ(Parse(text), static_cast<int64_t>(timegm(&date)) * second) << text;
        }
}

TEST(Moment, IsNothingElse) {
    for (const char *text :
         {"", "yesterday", "2024", "2024-13-01", "2024-02-30", "2023-02-29", "2100-02-29",
          "2024-05-01T", "2024-05-01T25:00", "2024-05-01T12:60", "2024-05-01T12:00+99:00",
          "2024-05-01T12:00Zz", "2024-05-01 ", "2024-05-01T12:00:00."})
        EXPECT_EQ(Parse(text), INT64_MIN) << text;
    EXPECT_NE(Parse("2024-02-29"), INT64_MIN);
    EXPECT_NE(Parse("2000-02-29"), INT64_MIN);
}

} // namespace
