/* calendar.c -- days and dates in the calendars of CF 4.4.1. */
#include "cf_internal.h"
#include "clock.h"
#include "refs/civil.h"

/* The Julian day number of 1970-01-01; days of these calendars are Julian day numbers. */
#define EPOCH_DAY 2440588

static const struct {
    const char *name;
    refs_cf__calendar calendar;
} calendars[] = {
    {"standard", REFS_CF__STANDARD},
    {"gregorian", REFS_CF__STANDARD},
    {"proleptic_gregorian", REFS_CF__GREGORIAN},
    {"julian", REFS_CF__JULIAN},
    {"noleap", REFS_CF__NO_LEAP},
    {"365_day", REFS_CF__NO_LEAP},
    {"all_leap", REFS_CF__ALL_LEAP},
    {"366_day", REFS_CF__ALL_LEAP},
    {"360_day", REFS_CF__360_DAY},
};

bool refs_cf__find_calendar(refs_str name, refs_cf__calendar *calendar) {
    *calendar = REFS_CF__STANDARD;
    if (name.size == 0) return true;
    for (size_t i = 0; i < sizeof calendars / sizeof calendars[0]; i++) {
        if (!refs_cf__same_word(name, calendars[i].name)) continue;
        *calendar = calendars[i].calendar;
        return true;
    }
    return false;
}

static bool is_gregorian_now(refs_cf__calendar calendar) {
    return calendar == REFS_CF__STANDARD || calendar == REFS_CF__GREGORIAN;
}

refs_cf_calendars refs_cf__compare_calendars(refs_cf__calendar one, refs_cf__calendar other) {
    if (one == other) return REFS_CF_CALENDARS_SAME;
    return is_gregorian_now(one) && is_gregorian_now(other) ? REFS_CF_CALENDARS_SAME_SINCE_REFORM
                                                            : REFS_CF_CALENDARS_DIFFERENT;
}

refs_cf_calendars refs_cf_compare_calendars(refs_str one, refs_str other) {
    refs_cf__calendar a, b;
    if (refs_str_equal(one, other)) return REFS_CF_CALENDARS_SAME;
    return refs_cf__find_calendar(one, &a) && refs_cf__find_calendar(other, &b)
               ? refs_cf__compare_calendars(a, b)
               : REFS_CF_CALENDARS_DIFFERENT;
}

static int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0));
}

/* -- Julian and Gregorian: months counted from March, so that leap days come last -------------- */

/* Days from the first of March to the first of month `m` (0 is March): 31, 30, 31, 30, 31 … */
static int64_t days_before_month(int64_t m) {
    return (153 * m + 2) / 5;
}

/* 1 March of year 0 is day 1721118 of the Julian calendar, 1721120 of the Gregorian. */
static int64_t julian_day(refs_cf__date date) {
    const int64_t m = (date.month + 9) % 12, y = date.year - m / 10;
    return 365 * y + floor_divide(y, 4) + days_before_month(m) + date.day - 1 + 1721118;
}

static int64_t gregorian_day(refs_cf__date date) {
    return refs_days_from_civil(date.year, date.month, date.day) + EPOCH_DAY;
}

static refs_cf__date julian_or_gregorian_date(int64_t day, bool gregorian) {
    int64_t days = day - (gregorian ? 1721120 : 1721118);
    int64_t century = 0;
    if (gregorian) {
        century = floor_divide(4 * days + 3, 146097);
        days -= floor_divide(146097 * century, 4);
    }
    int64_t year = floor_divide(4 * days + 3, 1461);
    int64_t rest = days - floor_divide(1461 * year, 4);
    int64_t m = (5 * rest + 2) / 153;
    refs_cf__date date = {100 * century + year + m / 10, (int)(m < 10 ? m + 3 : m - 9),
                          (int)(rest - days_before_month(m)) + 1};
    return date;
}

/* -- calendars whose years are all alike ------------------------------------------------------- */

static const int month_ends[3][13] = {
    {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
    {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366},
    {0, 30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 360},
};

static const int *months_of(refs_cf__calendar calendar) {
    return month_ends[calendar == REFS_CF__NO_LEAP ? 0 : calendar == REFS_CF__ALL_LEAP ? 1 : 2];
}

static refs_cf__date uniform_date(const int *ends, int64_t day) {
    refs_cf__date date = {floor_divide(day, ends[12]), 1, 0};
    int rest = (int)(day - date.year * ends[12]);
    while (ends[date.month] <= rest) date.month++;
    date.day = rest - ends[date.month - 1] + 1;
    return date;
}

/* ---------------------------------------------------------------------------------------------- */

int64_t refs_cf__day_of_date(refs_cf__calendar calendar, refs_cf__date date) {
    switch (calendar) {
    case REFS_CF__GREGORIAN:
        return gregorian_day(date);
    case REFS_CF__JULIAN:
        return julian_day(date);
    case REFS_CF__STANDARD: {
        const int64_t day = gregorian_day(date);
        return day >= REFS_CF_REFORM_DAY ? day : julian_day(date);
    }
    default: {
        const int *ends = months_of(calendar);
        return date.year * ends[12] + ends[date.month - 1] + date.day - 1;
    }
    }
}

refs_cf__date refs_cf__date_of_day(refs_cf__calendar calendar, int64_t day) {
    switch (calendar) {
    case REFS_CF__GREGORIAN:
        return julian_or_gregorian_date(day, true);
    case REFS_CF__JULIAN:
        return julian_or_gregorian_date(day, false);
    case REFS_CF__STANDARD:
        return julian_or_gregorian_date(day, day >= REFS_CF_REFORM_DAY);
    default:
        return uniform_date(months_of(calendar), day);
    }
}
