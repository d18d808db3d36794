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

/** "hours since 1970-01-01 06:00", understood. */
typedef struct refs_cf_clock {
    double unit_seconds;
    int64_t origin_day;    /**< since an origin that each calendar has for itself */
    double origin_seconds; /**< since the beginning of that day, time zone undone */
} refs_cf_clock;

/** Reads it; false where units and calendar are not those of times, or not understood. */
bool refs_cf_clock_of(const refs_cf_units *of, refs_cf_clock *clock);

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

/* -- exact conversion ---------------------------------------------------------------------------
 */

/** How numbers in one unit become numbers in another. Times go by way of whole microseconds and are
 * rounded once: 2.4 hours are 0.1 days, whatever units they had before. */
typedef struct refs_cf_rebase {
    bool is_same;   /**< nothing is to be done */
    bool is_linear; /**< not times: the next four hold, and nothing else */
    double scale, offset, back_scale, back_offset;
    int64_t unit_us, to_unit_us; /**< microseconds; 0: not a whole number of them */
    int64_t add_us;
    double unit, to_unit; /**< seconds */
} refs_cf_rebase;

/** Decimal digits that a double, or a float, keeps with some to spare. */
#define REFS_CF_DOUBLE_DIGITS 13
#define REFS_CF_FLOAT_DIGITS  6

/** Finds the conversion. REFS_UNSUPPORTED, with both units, where it is not known. Calendars are
 * not compared: the caller knows whether all times are ones that both have. Thread-safe. */
refs_status refs_cf_rebase_open(const refs_cf_units *from, const refs_cf_units *to,
                                refs_cf_rebase *rebase, refs_error *err);

/** Converts a number of so many decimal digits in place. False where the result had to be rounded;
 * never for times. Numbers that are not finite stay. Thread-safe. */
bool refs_cf_rebase_number(const refs_cf_rebase *rebase, int digits, double *value);

/** Converts a time that is a whole number in place; false, and nothing changes, where it is none in
 * the other units, or overflows. Not for linear conversions. Thread-safe. */
bool refs_cf_rebase_integer(const refs_cf_rebase *rebase, int64_t *value);

#ifdef __cplusplus
}
#endif
#endif
