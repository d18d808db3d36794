/* instant.c -- numbers of times as exact instants, and back; see clock.h. */
#include "cf_internal.h"
#include "clock.h"

#include <math.h>

#define SECOND INT64_C(1000000000)

/* Instants further than this from their origin are none: 7 * 10^10 years. */
static const int64_t max_seconds = INT64_C(1) << 61;

static int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static refs_cf_instant normalise(int64_t seconds, int64_t nanoseconds) {
    const int64_t carry = floor_divide(nanoseconds, SECOND);
    return (refs_cf_instant){seconds + carry, (int32_t)(nanoseconds - carry * SECOND)};
}

int refs_cf_compare_instants(refs_cf_instant a, refs_cf_instant b) {
    if (a.seconds != b.seconds) return a.seconds < b.seconds ? -1 : 1;
    return (a.nanoseconds > b.nanoseconds) - (a.nanoseconds < b.nanoseconds);
}

bool refs_cf__clock_from(const refs_cf__clock *ticks, refs_cf_clock *clock) {
    const double unit = ticks->unit_seconds * 1e9, whole = floor(ticks->origin_seconds);
    if (ticks->is_date || !(unit >= 0.5 && unit < 0x1p62)) return false;
    clock->unit = llround(unit);
    clock->origin = normalise(ticks->origin_day * 86400 + (int64_t)whole,
                              llround((ticks->origin_seconds - whole) * (double)SECOND));
    return true;
}

/* -- numbers as instants ----------------------------------------------------------------------- */

static bool is_instant(refs_cf_instant at) {
    return at.seconds > -max_seconds && at.seconds < max_seconds;
}

/* `units` of the clock and `rest` nanoseconds behind its origin. */
static bool count(const refs_cf_clock *clock, int64_t units, int64_t rest, refs_cf_instant *at) {
    const int64_t whole = clock->unit / SECOND, part = clock->unit % SECOND;
    const int64_t many = units / SECOND, few = units % SECOND; /* few * part < 10^18 */
    const refs_cf_instant parts = normalise(many * part, few * part);
    int64_t seconds;
    if (__builtin_mul_overflow(units, whole, &seconds) ||
        __builtin_add_overflow(seconds, parts.seconds, &seconds))
        return false;
    *at = (refs_cf_instant){seconds, 0};
    if (!is_instant(*at)) return false;
    *at = normalise(seconds + clock->origin.seconds + rest / SECOND,
                    parts.nanoseconds + clock->origin.nanoseconds + rest % SECOND);
    return is_instant(*at);
}

bool refs_cf_instant_of_integer(const refs_cf_clock *clock, int64_t value, refs_cf_instant *at) {
    return count(clock, value, 0, at);
}

/* Nanoseconds that people count times in, the roundest first. */
static const int64_t round_units[] = {
    86400 * SECOND,
    43200 * SECOND,
    21600 * SECOND,
    10800 * SECOND,
    3600 * SECOND,
    1800 * SECOND,
    900 * SECOND,
    600 * SECOND,
    300 * SECOND,
    60 * SECOND,
    30 * SECOND,
    10 * SECOND,
    SECOND,
    SECOND / 10,
    SECOND / 100,
    1000000,
    100000,
    10000,
    1000,
    100,
    10,
    1,
};

/* Nanoseconds from an instant to the next multiple of `unit` on either side. */
static int64_t distance(refs_cf_instant at, int64_t unit) {
    const int64_t seconds = unit >= SECOND ? unit / SECOND : 1;
    int64_t beyond = (at.seconds - floor_divide(at.seconds, seconds) * seconds) * SECOND;
    beyond = (beyond + at.nanoseconds) % unit;
    return beyond > unit / 2 ? unit - beyond : -beyond;
}

/* The roundest instant within `margin` nanoseconds: of units of which two never are. */
static refs_cf_instant find_roundest(refs_cf_instant at, double margin) {
    for (size_t i = 0; i < sizeof round_units / sizeof round_units[0]; i++) {
        if ((double)round_units[i] < 2 * margin) break;
        const int64_t to = distance(at, round_units[i]);
        if (fabs((double)to) <= margin) return normalise(at.seconds, at.nanoseconds + to);
    }
    return at;
}

/* The largest rounding error of a number, in nanoseconds. Doubles are products and sums of others,
 * which are rounded, too. */
static double margin_of(const refs_cf_clock *clock, double value, refs_cf_precision precision) {
    const double unit = (double)clock->unit, size = fabs(value);
    if (precision == REFS_CF_SINGLE)
        return ((double)nextafterf((float)size, INFINITY) - size) * unit / 2;
    const double rounded = 2 * (nextafter(size, INFINITY) - size) * unit;
    return fmax(rounded, clock->unit >= SECOND ? 500 : 0.5);
}

bool refs_cf_instant_of(const refs_cf_clock *clock, double value, refs_cf_precision precision,
                        refs_cf_instant *at) {
    const double units = floor(value);
    if (!(fabs(value) < 0x1p62)) return false;
    const int64_t rest = llround((value - units) * (double)clock->unit);
    if (!count(clock, (int64_t)units, rest, at)) return false;
    *at = find_roundest(*at, margin_of(clock, value, precision));
    return true;
}

/* -- instants as numbers ----------------------------------------------------------------------- */

static refs_cf_instant since(const refs_cf_clock *clock, refs_cf_instant at) {
    return normalise(at.seconds - clock->origin.seconds,
                     at.nanoseconds - clock->origin.nanoseconds);
}

/* Whole units from the origin of a clock, and the nanoseconds that are left; false where the unit
 * neither is whole seconds nor divides one, or where there are too many. */
static bool divide(const refs_cf_clock *clock, refs_cf_instant at, int64_t *units, int64_t *rest) {
    const refs_cf_instant passed = since(clock, at);
    if (clock->unit % SECOND == 0) {
        const int64_t whole = clock->unit / SECOND;
        *units = floor_divide(passed.seconds, whole);
        *rest = passed.seconds - *units * whole;
        return !__builtin_mul_overflow(*rest, SECOND, rest) &&
               !__builtin_add_overflow(*rest, passed.nanoseconds, rest);
    }
    if (SECOND % clock->unit != 0) return false;
    *rest = passed.nanoseconds % clock->unit;
    return !__builtin_mul_overflow(passed.seconds, SECOND / clock->unit, units) &&
           !__builtin_add_overflow(*units, passed.nanoseconds / clock->unit, units);
}

/* A quotient of numbers that a double holds is rounded once. */
static bool is_quotient(const refs_cf_clock *clock, refs_cf_instant passed, int64_t step,
                        double *number) {
    const int64_t per_second = SECOND / step;
    int64_t steps;
    if (passed.nanoseconds % step != 0 || clock->unit % step != 0 ||
        __builtin_mul_overflow(passed.seconds, per_second, &steps) ||
        __builtin_add_overflow(steps, passed.nanoseconds / step, &steps) ||
        steps > INT64_C(1) << 53 || steps < -(INT64_C(1) << 53))
        return false;
    *number = (double)steps / (double)(clock->unit / step);
    return true;
}

double refs_cf_number_of_instant(const refs_cf_clock *clock, refs_cf_instant at) {
    const refs_cf_instant passed = since(clock, at);
    int64_t units, rest;
    double number;
    for (int64_t step = SECOND; step >= 1; step /= 1000)
        if (is_quotient(clock, passed, step, &number)) return number;
    if (!divide(clock, at, &units, &rest)) /* more units than an int64_t holds */
        return ((double)passed.seconds * SECOND + passed.nanoseconds) / (double)clock->unit;
    return (double)units + (double)rest / (double)clock->unit;
}

bool refs_cf_integer_of_instant(const refs_cf_clock *clock, refs_cf_instant at, int64_t *value) {
    int64_t rest;
    return divide(clock, at, value, &rest) && rest == 0;
}
