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

/** Appends a time as ISO 8601, as refs_cf_time_text has it; nothing where it is none. */
refs_status refs_cf_print_time(const refs_cf_units *of, double value, refs_buf *text,
                               refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
