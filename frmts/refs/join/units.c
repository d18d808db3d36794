/* units.c -- times in other units. */
#include "join_internal.h"
#include "refs/clock.h"

#include <math.h>

static bool read_clock(refs_str units, refs_str calendar, refs_cf_clock *clock) {
    const refs_cf_units of = {units, calendar};
    return refs_cf_clock_of(&of, clock);
}

refs_cf_units refs_join__count_of(const refs_join *join, const refs_join_array *array) {
    return (refs_cf_units){refs_join__text(join, array->units),
                           refs_join__text(join, array->calendar)};
}

refs_cf_conversion refs_join__conversion(const refs_join *join, const refs_join_array *from,
                                         const refs_join_array *to) {
    const refs_cf_units one = refs_join__count_of(join, from);
    const refs_cf_units other = refs_join__count_of(join, to);
    double scale, offset;
    const bool has_units = one.units.size > 0 && other.units.size > 0;
    if (from->units == to->units && from->calendar == to->calendar) return REFS_CF_CONVERSION_NONE;
    return has_units ? refs_cf_convert_units(&one, &other, &scale, &offset)
                     : REFS_CF_CONVERSION_UNKNOWN;
}

bool refs_join__counts_time(const refs_join *join, const refs_join_array *array) {
    const refs_cf_units units = refs_join__count_of(join, array);
    refs_cf_clock clock;
    return refs_cf_clock_of(&units, &clock);
}

/* Whole microseconds, or 0. */
static int64_t whole_us(double seconds) {
    double us = seconds * 1e6;
    return us >= 1 && us == floor(us) && us < 1e15 ? (int64_t)us : 0;
}

refs_status refs_join__rebase(const refs_cf_units *from, const refs_cf_units *to,
                              refs_rebase *rebase, refs_error *err) {
    refs_cf_clock one, other;
    double scale, offset;
    *rebase = (refs_rebase){.is_same = refs_cf_convert_units(from, to, &scale, &offset) ==
                                       REFS_CF_CONVERSION_NONE};
    if (rebase->is_same) return REFS_OK;
    if (!refs_cf_clock_of(from, &one) || !refs_cf_clock_of(to, &other))
        return refs_fail(err, REFS_UNSUPPORTED, "units are \"%.*s\" and \"%.*s\"",
                         REFS_STR_ARG(from->units), REFS_STR_ARG(to->units));
    rebase->unit = one.unit_seconds;
    rebase->to_unit = other.unit_seconds;
    rebase->unit_us = whole_us(one.unit_seconds);
    rebase->to_unit_us = whole_us(other.unit_seconds);
    double seconds = one.origin_seconds - other.origin_seconds;
    rebase->add_us =
        (one.origin_day - other.origin_day) * INT64_C(86400000000) + llround(seconds * 1e6);
    return REFS_OK;
}

static refs_status apply_integer(const refs_rebase *rebase, int64_t *value, refs_error *err) {
    int64_t us;
    if (rebase->unit_us == 0 || rebase->to_unit_us == 0 ||
        __builtin_mul_overflow(*value, rebase->unit_us, &us) ||
        __builtin_add_overflow(us, rebase->add_us, &us) || us % rebase->to_unit_us != 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the time %lld is not a whole number in the units of the first part",
                         (long long)*value);
    *value = us / rebase->to_unit_us;
    return REFS_OK;
}

/* Times are rounded to microseconds: so that another change of units gives what one would have. */
static double apply_number(const refs_rebase *rebase, double value) {
    return isfinite(value) ? (round(value * rebase->unit * 1e6) + (double)rebase->add_us) / 1e6 /
                                 rebase->to_unit
                           : value;
}

static refs_status fail_type(refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "its times are of a type whose units cannot be changed");
}

static refs_status apply_one(const refs_rebase *rebase, const refs_dtype *dtype, uint8_t *at,
                             refs_error *err) {
    int64_t integer;
    double number;
    int32_t narrow;
    float single;
    if (dtype->type == REFS_TYPE_FLOAT && dtype->size == 8) {
        memcpy(&number, at, 8);
        number = apply_number(rebase, number);
        memcpy(at, &number, 8);
        return REFS_OK;
    }
    if (dtype->type == REFS_TYPE_FLOAT && dtype->size == 4) {
        memcpy(&single, at, 4);
        single = (float)apply_number(rebase, (double)single);
        memcpy(at, &single, 4);
        return REFS_OK;
    }
    if (dtype->type != REFS_TYPE_INT || (dtype->size != 4 && dtype->size != 8))
        return fail_type(err);
    memcpy(&integer, at, dtype->size == 8 ? 8 : 0);
    if (dtype->size == 4) {
        memcpy(&narrow, at, 4);
        integer = narrow;
    }
    REFS_TRY(apply_integer(rebase, &integer, err));
    narrow = (int32_t)integer;
    if (dtype->size == 4 && narrow != integer) return fail_type(err);
    memcpy(at, dtype->size == 8 ? (const void *)&integer : &narrow, dtype->size);
    return REFS_OK;
}

refs_status refs_join__apply(const refs_rebase *rebase, const refs_dtype *dtype, uint8_t *values,
                             uint64_t n, refs_error *err) {
    if (rebase->is_same) return REFS_OK;
    for (uint64_t i = 0; i < n; i++)
        REFS_TRY(apply_one(rebase, dtype, values + i * dtype->size, err));
    return REFS_OK;
}

bool refs_join__instant(refs_str units, refs_str calendar, double value, double *us) {
    refs_cf_clock clock;
    if (!read_clock(units, calendar, &clock)) return false;
    *us = value * clock.unit_seconds * 1e6 + clock.origin_seconds * 1e6 +
          (double)clock.origin_day * 86400e6;
    return true;
}
