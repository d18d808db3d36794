/* civil.c -- see civil.h. */
#include "refs/civil.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* Years begin in March here, so that leap days are last: the months before month m (0 is March)
 * have (153 m + 2) / 5 days. 400 years have 146097 days, and 1970-01-01 is day 719468 of year 0. */
int64_t refs_days_from_civil(int64_t year, int month, int64_t day) {
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

bool refs_is_civil_date(int64_t year, int64_t month, int64_t day) {
    if (month < 1 || month > 12 || day < 1) return false;
    const int64_t next = refs_days_from_civil(year + month / 12, (int)(month % 12 + 1), 1);
    return refs_days_from_civil(year, (int)month, day) < next;
}

void refs_print_utc(int64_t seconds, char text[REFS_UTC_TEXT]) {
    const time_t when = (time_t)seconds;
    struct tm date;
    if (gmtime_r(&when, &date) == NULL ||
        strftime(text, REFS_UTC_TEXT, "%Y-%m-%dT%H:%M:%SZ", &date) == 0)
        (void)snprintf(text, REFS_UTC_TEXT, "%" PRId64, seconds);
}
