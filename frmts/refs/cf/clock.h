/* clock.h -- exact arithmetic of CF times.
 *
 * Read before this: cf.h.
 */
#ifndef REFS_CLOCK_H
#define REFS_CLOCK_H

#include "refs/cf.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A point in time: whole nanoseconds since an origin that depends on the calendar. */
typedef struct refs_cf_instant {
    int64_t seconds;
    int32_t nanoseconds; /**< 0 to 10^9 - 1 */
} refs_cf_instant;

/** A parsed unit such as "hours since 1970-01-01 06:00". */
typedef struct refs_cf_clock {
    int64_t unit; /**< nanoseconds */
    refs_cf_instant origin;
} refs_cf_clock;

/** Parses units and calendar; false if they are not those of times, or not supported. */
bool refs_cf_clock_of(const refs_cf_units *of, refs_cf_clock *clock);

/** The clock of datetime64 and timedelta64; false for any other type, and for units that are not
 * whole nanoseconds. */
bool refs_cf_clock_of_ticks(const refs_dtype *dtype, refs_cf_clock *clock);

/** Whether two calendars have the same dates (CF 4.4.1). */
typedef enum refs_cf_calendars {
    REFS_CF_CALENDARS_SAME,
    REFS_CF_CALENDARS_SAME_SINCE_REFORM, /**< from 1582-10-15 on */
    REFS_CF_CALENDARS_DIFFERENT          /**< or one of them is not known */
} refs_cf_calendars;

/** Compares two calendars by their names; an empty name is the standard calendar. */
refs_cf_calendars refs_cf_compare_calendars(refs_str one, refs_str other);

/** The number of the first day of the Gregorian calendar, 1582-10-15, in the calendars that have
 * it. */
#define REFS_CF_REFORM_DAY 2299161

/** Appends a time as ISO 8601, like refs_cf_time_text; nothing if `of` are not units of time. */
refs_status refs_cf_print_time(const refs_cf_units *of, double value, refs_buf *text,
                               refs_error *err);

/* -- exact times --------------------------------------------------------------------------------
 *
 * Times of any units are compared as instants, never as converted numbers, which are rounded: 2.4
 * hours are 0.1 days. All of these functions are thread-safe. */

/** The type in which a number is stored. */
typedef enum refs_cf_precision { REFS_CF_DOUBLE, REFS_CF_SINGLE } refs_cf_precision;

/** The instant that a stored number means: of all instants that round to the number, the roundest
 * (in days, hours, minutes, seconds, or decimals of these). For a float, these are all instants
 * nearest to it. A double in seconds or longer units is a whole number of microseconds if its
 * precision suffices for that, else it may have been rounded twice; in shorter units, it is a whole
 * number of nanoseconds. False for numbers that are not finite, and beyond 10^10 years. */
bool refs_cf_instant_of(const refs_cf_clock *clock, double value, refs_cf_precision precision,
                        refs_cf_instant *at);

/** The same, exactly. */
bool refs_cf_instant_of_integer(const refs_cf_clock *clock, int64_t value, refs_cf_instant *at);

/** Compares two instants of one calendar: below 0, 0 or above 0. */
int refs_cf_compare_instants(refs_cf_instant a, refs_cf_instant b);

/** The number of an instant, rounded once. The unit must be one that CF has. */
double refs_cf_number_of_instant(const refs_cf_clock *clock, refs_cf_instant at);

/** The same as an integer; false if it is not one. */
bool refs_cf_integer_of_instant(const refs_cf_clock *clock, refs_cf_instant at, int64_t *value);

#ifdef __cplusplus
}
#endif
#endif
