/* units.c -- times, and other coordinates, in other units. */
#include "join_internal.h"
#include "refs/clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static refs_status rebase_numbers(const refs_cf_units *from, const refs_cf_units *to,
                                  refs_rebase *rebase, refs_error *err) {
    rebase->is_linear = true;
    if (refs_cf_convert_units(from, to, &rebase->scale, &rebase->offset) ==
            REFS_CF_CONVERSION_LINEAR &&
        refs_cf_convert_units(to, from, &rebase->back_scale, &rebase->back_offset) ==
            REFS_CF_CONVERSION_LINEAR)
        return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "units are \"%.*s\" and \"%.*s\"",
                     REFS_STR_ARG(from->units), REFS_STR_ARG(to->units));
}

refs_status refs_join__rebase(const refs_cf_units *from, const refs_cf_units *to,
                              refs_rebase *rebase, refs_error *err) {
    refs_cf_clock one, other;
    double scale, offset;
    *rebase = (refs_rebase){.is_same = refs_cf_convert_units(from, to, &scale, &offset) ==
                                       REFS_CF_CONVERSION_NONE};
    if (rebase->is_same) return REFS_OK;
    if (!refs_cf_clock_of(from, &one) || !refs_cf_clock_of(to, &other))
        return rebase_numbers(from, to, rebase, err);
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

/* -- other numbers ------------------------------------------------------------------------------
 *
 * People write them in decimals: those are converted, and none is that would have to be rounded. */

/* Most digits of a decimal that a double, or a float, keeps with some to spare. */
#define DOUBLE_DIGITS 13
#define FLOAT_DIGITS  6

static double to_decimal(double value, int digits) {
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL); /* of the same locale */
}

static bool convert(const refs_rebase *rebase, int digits, double *value) {
    const double now = *value * rebase->scale + rebase->offset;
    const double decimal = to_decimal(now, digits);
    const double back = to_decimal(decimal * rebase->back_scale + rebase->back_offset, digits);
    const double size = fmax(fabs(now), fabs(rebase->offset)); /* what was rounded */
    const bool is_exact = fabs(now - decimal) <= 4 * DBL_EPSILON * size && back == *value;
    *value = decimal;
    return is_exact;
}

static refs_status fail_inexact(double value, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.9g cannot be said exactly in the units of the first part", value);
}

static refs_status convert_one(const refs_rebase *rebase, const refs_dtype *dtype, uint8_t *at,
                               refs_error *err) {
    const refs_str bytes = refs_str_view((const char *)at, dtype->size);
    const refs_value was = refs_join__value_at(dtype, bytes, 0);
    const bool is_single = dtype->type == REFS_TYPE_FLOAT && dtype->size == 4;
    double value = is_single ? to_decimal(was.number, FLOAT_DIGITS) : was.number;
    if (!isfinite(value)) return REFS_OK;
    if (!convert(rebase, is_single ? FLOAT_DIGITS : DOUBLE_DIGITS, &value) ||
        (is_single && (float)to_decimal(was.number, FLOAT_DIGITS) != (float)was.number))
        return fail_inexact(was.number, err);
    const float single = (float)value;
    const int64_t wide = fabs(value) < 0x1p53 ? (int64_t)value : 0;
    const int32_t narrow = (int32_t)wide;
    if (dtype->type == REFS_TYPE_FLOAT && dtype->size == 8)
        memcpy(at, &value, 8);
    else if (is_single)
        memcpy(at, &single, 4);
    else if ((double)wide != value || (dtype->size == 4 && narrow != wide))
        return fail_inexact(was.number, err);
    else
        memcpy(at, dtype->size == 8 ? (const void *)&wide : &narrow, dtype->size);
    return REFS_OK;
}

static refs_status fail_type(refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "its values are of a type whose units cannot be changed");
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

/* A scale of zero is that of arrays that no part has. */
static bool is_packed(const refs_join_unpacking *unpacking) {
    return (unpacking->scale != 1 && unpacking->scale != 0) || unpacking->offset != 0 ||
           unpacking->is_unsigned;
}

static bool has_units(const refs_dtype *dtype) {
    return (dtype->type == REFS_TYPE_FLOAT || dtype->type == REFS_TYPE_INT) &&
           (dtype->size == 4 || dtype->size == 8);
}

refs_status refs_join__apply(const refs_rebase *rebase, const refs_join_array *array,
                             uint8_t *values, uint64_t n, refs_error *err) {
    const refs_dtype *dtype = &array->dtype;
    if (rebase->is_same) return REFS_OK;
    if (!has_units(dtype)) return fail_type(err);
    if (is_packed(&array->unpacking))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "its values are packed (scale_factor, add_offset or _Unsigned) and in "
                         "other units than those of the first part, and not converted");
    for (uint64_t i = 0; i < n; i++)
        REFS_TRY(rebase->is_linear ? convert_one(rebase, dtype, values + i * dtype->size, err)
                                   : apply_one(rebase, dtype, values + i * dtype->size, err));
    return REFS_OK;
}

bool refs_join__instant(refs_str units, refs_str calendar, double value, double *us) {
    refs_cf_clock clock;
    if (!read_clock(units, calendar, &clock)) return false;
    *us = value * clock.unit_seconds * 1e6 + clock.origin_seconds * 1e6 +
          (double)clock.origin_day * 86400e6;
    return true;
}
