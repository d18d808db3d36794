/* units.c -- times, and other coordinates, in other units. */
#include "combine_internal.h"
#include "refs/clock.h"

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

static refs_status fail_inexact(double value, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "cannot convert %.9g to the units of the first source exactly", value);
}

static refs_status fail_type(refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "its values are of a type whose units cannot be changed");
}

/* Levels, heights: of a decimal that single precision holds. Times are made double before. */
static refs_status apply_float(const refs_cf_rebase *rebase, uint8_t *at, refs_error *err) {
    float single;
    char text[40];
    memcpy(&single, at, sizeof single);
    if (!isfinite(single)) return REFS_OK;
    snprintf(text, sizeof text, "%.*g", REFS_CF_FLOAT_DIGITS, (double)single);
    double value = strtod(text, NULL); /* of the same locale */
    const bool is_decimal = (float)value == single;
    if (!refs_cf_rebase_number(rebase, REFS_CF_FLOAT_DIGITS, &value) || !is_decimal)
        return fail_inexact((double)single, err);
    single = (float)value;
    memcpy(at, &single, sizeof single);
    return REFS_OK;
}

static refs_status apply_double(const refs_cf_rebase *rebase, uint8_t *at, refs_error *err) {
    double value, before;
    memcpy(&value, at, sizeof value);
    before = value;
    if (!refs_cf_rebase_number(rebase, REFS_CF_DOUBLE_DIGITS, &value))
        return fail_inexact(before, err);
    memcpy(at, &value, sizeof value);
    return REFS_OK;
}

static refs_status convert_integer(const refs_cf_rebase *rebase, int64_t *value, refs_error *err) {
    double number = (double)*value;
    if (!rebase->is_linear)
        return refs_cf_rebase_integer(rebase, value)
                   ? REFS_OK
                   : refs_fail(
                         err, REFS_UNSUPPORTED,
                         "cannot convert the time %lld to the units of the first source exactly",
                         (long long)*value);
    if (!refs_cf_rebase_number(rebase, REFS_CF_DOUBLE_DIGITS, &number) || fabs(number) >= 0x1p53 ||
        number != floor(number))
        return fail_inexact((double)*value, err);
    *value = (int64_t)number;
    return REFS_OK;
}

static refs_status apply_integer(const refs_cf_rebase *rebase, size_t size, uint8_t *at,
                                 refs_error *err) {
    int64_t value;
    int32_t narrow;
    if (size == 8) {
        memcpy(&value, at, 8);
    } else {
        memcpy(&narrow, at, 4);
        value = narrow;
    }
    REFS_TRY(convert_integer(rebase, &value, err));
    narrow = (int32_t)value;
    if (size == 4 && narrow != value) return fail_type(err);
    memcpy(at, size == 8 ? (const void *)&value : &narrow, size);
    return REFS_OK;
}

static refs_status apply_one(const refs_cf_rebase *rebase, const refs_dtype *dtype, uint8_t *at,
                             refs_error *err) {
    if (dtype->type == REFS_TYPE_INT) return apply_integer(rebase, dtype->size, at, err);
    return dtype->size == 8 ? apply_double(rebase, at, err) : apply_float(rebase, at, err);
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

bool refs_join__is_single(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_FLOAT && dtype->size == 4;
}

refs_status refs_join__widen_values(refs_buf *values, refs_error *err) {
    const size_t n = values->size / sizeof(float);
    REFS_TRY(refs_buf_resize(values, n * sizeof(double), err));
    for (size_t i = n; i-- > 0;) {
        float single;
        memcpy(&single, values->data + i * sizeof single, sizeof single);
        const double wide = (double)single;
        memcpy(values->data + i * sizeof wide, &wide, sizeof wide);
    }
    return REFS_OK;
}

refs_status refs_join__apply(const refs_cf_rebase *rebase, const refs_join_array *array,
                             refs_buf *values, refs_dtype *dtype, refs_error *err) {
    *dtype = array->dtype;
    if (rebase->is_same) return REFS_OK;
    if (!has_units(dtype)) return fail_type(err);
    if (is_packed(&array->unpacking))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "its values are packed (scale_factor, add_offset or _Unsigned) and in "
                         "other units than those of the first part, and not converted");
    if (!rebase->is_linear && refs_join__is_single(dtype)) {
        REFS_TRY(refs_join__widen_values(values, err));
        dtype->size = sizeof(double);
    }
    for (size_t i = 0; i < values->size / dtype->size; i++)
        REFS_TRY(apply_one(rebase, dtype, values->data + i * dtype->size, err));
    return REFS_OK;
}

bool refs_join__instant(refs_str units, refs_str calendar, double value, double *us) {
    refs_cf_clock clock;
    if (!read_clock(units, calendar, &clock)) return false;
    *us = value * clock.unit_seconds * 1e6 + clock.origin_seconds * 1e6 +
          (double)clock.origin_day * 86400e6;
    return true;
}
