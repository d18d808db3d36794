/* units.c -- times in other units. */
#include "join_internal.h"
#include "refs/clock.h"

#include <math.h>

static bool read_clock(refs_str units, refs_str calendar, refs_cf_clock *clock) {
    const refs_cf_units of = {units, calendar};
    return refs_cf_clock_of(&of, clock);
}

/* Whole microseconds, or 0. */
static int64_t whole_us(double seconds) {
    double us = seconds * 1e6;
    return us >= 1 && us == floor(us) && us < 1e15 ? (int64_t)us : 0;
}

refs_status refs_join__rebase(refs_str from, refs_str to, refs_str calendar, refs_rebase *rebase,
                              refs_error *err) {
    refs_cf_clock one, other;
    *rebase = (refs_rebase){.is_same = refs_str_equal(from, to)};
    if (rebase->is_same) return REFS_OK;
    if (!read_clock(from, calendar, &one) || !read_clock(to, calendar, &other))
        return refs_fail(err, REFS_UNSUPPORTED, "units are \"%.*s\" and \"%.*s\"",
                         REFS_STR_ARG(from), REFS_STR_ARG(to));
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
