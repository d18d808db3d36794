/* civil.h -- dates of the Gregorian calendar as numbers of days.
 *
 * Read before this: nothing.
 */
#ifndef REFS_CIVIL_H
#define REFS_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar: `month` from 1 to 12; `day`
 * may lie outside the month; `year` within 10^15 of 0. */
int64_t refs_days_from_civil(int64_t year, int month, int64_t day);

#define REFS_UTC_TEXT 32

/** Prints seconds since 1970 as "2020-01-01T00:00:00Z"; as a number if there is no such date. */
void refs_print_utc(int64_t seconds, char text[REFS_UTC_TEXT]);

/** Whether the date exists in the proleptic Gregorian calendar. */
bool refs_is_civil_date(int64_t year, int64_t month, int64_t day);

#ifdef __cplusplus
}
#endif
#endif
