/* rebase.c -- exact conversion of numbers into other units; see clock.h. */
#include "clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Whole microseconds, or 0. */
static int64_t whole_us(double seconds) {
    double us = seconds * 1e6;
    return us >= 1 && us == floor(us) && us < 1e15 ? (int64_t)us : 0;
}

static refs_status open_linear(const refs_cf_units *from, const refs_cf_units *to,
                               refs_cf_rebase *rebase, refs_error *err) {
    rebase->is_linear = true;
    if (refs_cf_convert_units(from, to, &rebase->scale, &rebase->offset) ==
            REFS_CF_CONVERSION_LINEAR &&
        refs_cf_convert_units(to, from, &rebase->back_scale, &rebase->back_offset) ==
            REFS_CF_CONVERSION_LINEAR)
        return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "cannot convert units \"%.*s\" to \"%.*s\"",
                     REFS_STR_ARG(from->units), REFS_STR_ARG(to->units));
}

refs_status refs_cf_rebase_open(const refs_cf_units *from, const refs_cf_units *to,
                                refs_cf_rebase *rebase, refs_error *err) {
    refs_cf_clock one, other;
    double scale, offset;
    const refs_cf_conversion conversion = refs_cf_convert_units(from, to, &scale, &offset);
    *rebase = (refs_cf_rebase){.is_same = conversion == REFS_CF_CONVERSION_NONE};
    if (rebase->is_same) return REFS_OK;
    if (!refs_cf_clock_of(from, &one) || !refs_cf_clock_of(to, &other))
        return open_linear(from, to, rebase, err);
    rebase->unit = one.unit_seconds;
    rebase->to_unit = other.unit_seconds;
    rebase->unit_us = whole_us(one.unit_seconds);
    rebase->to_unit_us = whole_us(other.unit_seconds);
    double seconds = one.origin_seconds - other.origin_seconds;
    rebase->add_us =
        (one.origin_day - other.origin_day) * INT64_C(86400000000) + llround(seconds * 1e6);
    return REFS_OK;
}

bool refs_cf_rebase_integer(const refs_cf_rebase *rebase, int64_t *value) {
    int64_t us;
    if (rebase->is_same) return true;
    if (rebase->unit_us == 0 || rebase->to_unit_us == 0 ||
        __builtin_mul_overflow(*value, rebase->unit_us, &us) ||
        __builtin_add_overflow(us, rebase->add_us, &us) || us % rebase->to_unit_us != 0)
        return false;
    *value = us / rebase->to_unit_us;
    return true;
}

/* A double that cannot tell microseconds apart (days since the year 1 are 10 of them apart) stands
 * for the roundest time within its precision: the second, else the millisecond, and so on. */
static int64_t roundest(int64_t us, int64_t precision) {
    for (int64_t unit = 1000000; unit > 1; unit /= 10) {
        int64_t beyond = us % unit;
        if (beyond > unit / 2) beyond -= unit;
        if (beyond < -unit / 2) beyond += unit;
        if (beyond <= precision && beyond >= -precision) return us - beyond;
    }
    return us;
}

/* Microseconds since the origin of the value, in whole numbers; false beyond int64_t. */
static bool count_us(const refs_cf_rebase *rebase, double value, int64_t *us) {
    const double units = floor(value), unit_us = (double)rebase->unit_us;
    const double ulp_us = (nextafter(fabs(value), INFINITY) - fabs(value)) * unit_us;
    if (fabs(value) * unit_us >= 9e18) return false;
    *us = (int64_t)units * rebase->unit_us + llround((value - units) * unit_us);
    if (ulp_us > 1) *us = roundest(*us, llround(ulp_us / 2));
    return !__builtin_add_overflow(*us, rebase->add_us, us);
}

/* Rounded to microseconds, so that another change of units gives what one would have. A double
 * holds 2^53 of them, 285 years: they are counted in whole numbers. */
static double convert_time(const refs_cf_rebase *rebase, double value) {
    int64_t us;
    if (rebase->unit_us != 0 && rebase->to_unit_us != 0 && count_us(rebase, value, &us))
        return (double)(us / rebase->to_unit_us) +
               (double)(us % rebase->to_unit_us) / (double)rebase->to_unit_us;
    const double rounded = round(value * rebase->unit * 1e6) + (double)rebase->add_us;
    return rebase->to_unit_us != 0 ? rounded / (double)rebase->to_unit_us
                                   : rounded / 1e6 / rebase->to_unit;
}

/* -- other numbers ------------------------------------------------------------------------------
 *
 * People write them in decimals: those are converted. */

static double to_decimal(double value, int digits) {
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL); /* of the same locale */
}

static bool convert_linear(const refs_cf_rebase *rebase, int digits, double *value) {
    const double now = *value * rebase->scale + rebase->offset;
    const double decimal = to_decimal(now, digits);
    const double back = to_decimal(decimal * rebase->back_scale + rebase->back_offset, digits);
    const double size = fmax(fabs(now), fabs(rebase->offset)); /* what was rounded */
    const bool is_exact = fabs(now - decimal) <= 4 * DBL_EPSILON * size && back == *value;
    *value = decimal;
    return is_exact;
}

bool refs_cf_rebase_number(const refs_cf_rebase *rebase, int digits, double *value) {
    if (rebase->is_same || !isfinite(*value)) return true;
    if (rebase->is_linear) return convert_linear(rebase, digits, value);
    *value = convert_time(rebase, *value);
    return true;
}
