/* clock.h -- where times of CF count from, and in which steps.
 *
 * Read before this: cf.h.
 */
#ifndef REFS_CLOCK_H
#define REFS_CLOCK_H

#include "refs/cf.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A point in time: whole nanoseconds since an origin that each calendar has for itself. */
typedef struct refs_cf_instant {
    int64_t seconds;
    int32_t nanoseconds; /**< from 0 on, below 10^9 */
} refs_cf_instant;

/** "hours since 1970-01-01 06:00", understood. */
typedef struct refs_cf_clock {
    int64_t unit; /**< nanoseconds */
    refs_cf_instant origin;
} refs_cf_clock;

/** Reads it; false where units and calendar are not those of times, or not understood. */
bool refs_cf_clock_of(const refs_cf_units *of, refs_cf_clock *clock);

/** The clock of datetime64 and timedelta64; false for any other type, and for units that are no
 * whole nanoseconds. */
bool refs_cf_clock_of_ticks(const refs_dtype *dtype, refs_cf_clock *clock);

/** How the dates of two calendars compare (CF 4.4.1). */
typedef enum refs_cf_calendars {
    REFS_CF_CALENDARS_SAME,
    REFS_CF_CALENDARS_SAME_SINCE_REFORM, /**< from 1582-10-15 on */
    REFS_CF_CALENDARS_DIFFERENT          /**< also: one is not known */
} refs_cf_calendars;

/** Compares two by their names; an empty one is the standard one. */
refs_cf_calendars refs_cf_compare_calendars(refs_str one, refs_str other);

/** The first day of the Gregorian calendar, 1582-10-15, as calendars that have it number days. */
#define REFS_CF_REFORM_DAY 2299161

/** Appends a time as ISO 8601, as refs_cf_time_text has it; nothing where it is none. */
refs_status refs_cf_print_time(const refs_cf_units *of, double value, refs_buf *text,
                               refs_error *err);

/* -- exact times --------------------------------------------------------------------------------
 *
 * Times of any units are compared as instants, never as numbers that were converted: 2.4 hours are
 * 0.1 days. All of these are thread-safe. */

/** The type in which a number is stored. */
typedef enum refs_cf_precision { REFS_CF_DOUBLE, REFS_CF_SINGLE } refs_cf_precision;

/** The instant that a number means: the roundest (of days, hours, minutes, seconds, and decimals of
 * these) of those that it may have been before it was rounded to be stored. A float may have been
 * any that has no other float closer to it. A double of seconds or longer units is a whole number
 * of microseconds where it can tell these apart, else it may have been rounded twice; in shorter
 * units of nanoseconds. False for numbers that are not finite, and beyond 10^10 years. */
bool refs_cf_instant_of(const refs_cf_clock *clock, double value, refs_cf_precision precision,
                        refs_cf_instant *at);

/** The same, exactly. */
bool refs_cf_instant_of_integer(const refs_cf_clock *clock, int64_t value, refs_cf_instant *at);

/** Below 0, 0 or above. Of one calendar. */
int refs_cf_compare_instants(refs_cf_instant a, refs_cf_instant b);

/** The number that stands for an instant, rounded once. The unit is one of those that CF has. */
double refs_cf_number_of_instant(const refs_cf_clock *clock, refs_cf_instant at);

/** The same as an integer; false where it is none. */
bool refs_cf_integer_of_instant(const refs_cf_clock *clock, refs_cf_instant at, int64_t *value);

#ifdef __cplusplus
}
#endif
#endif
