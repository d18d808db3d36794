/* units.c -- converts times and other coordinates to other units. */
#include "combine_internal.h"
#include "refs/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

refs_cf_units refs_combine__count_of(const refs_combine *combine, const refs_combine_array *array) {
    return (refs_cf_units){refs_combine__text(combine, array->units),
                           refs_combine__text(combine, array->calendar)};
}

refs_cf_conversion_kind refs_combine__conversion(const refs_combine *combine,
                                                 const refs_combine_array *from,
                                                 const refs_combine_array *to) {
    const refs_cf_units one = refs_combine__count_of(combine, from);
    const refs_cf_units other = refs_combine__count_of(combine, to);
    const bool has_units = one.units.size > 0 && other.units.size > 0;
    if (from->units == to->units && from->calendar == to->calendar) return REFS_CF_CONVERSION_NONE;
    return has_units ? refs_cf_compare_units(&one, &other) : REFS_CF_CONVERSION_UNKNOWN;
}

bool refs_combine__counts_time(const refs_combine *combine, const refs_combine_array *array) {
    const refs_cf_units units = refs_combine__count_of(combine, array);
    refs_cf_clock clock;
    return refs_cf_clock_of(&units, &clock);
}

static refs_status fail_type(refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED, "cannot convert the units of values of this type");
}

refs_status refs_combine__fail_packed(refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "cannot convert packed values (scale_factor, add_offset or _Unsigned) to the "
                     "units of the first source");
}

static refs_status fail_time(const refs_value *time, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "cannot convert the time %lld to the units of the first source exactly",
                     (long long)time->integer);
}

/* Converts levels and heights in single precision by their decimal values. */
static refs_status apply_float(const refs_cf_conversion *by, uint8_t *at, refs_error *err) {
    float single;
    char text[40];
    memcpy(&single, at, sizeof single);
    if (!isfinite(single)) return REFS_OK;
    snprintf(text, sizeof text, "%.*g", REFS_CF_FLOAT_DIGITS, (double)single);
    double value = strtod(text, NULL); /* of the same locale */
    const bool is_decimal = (float)value == single;
    if (!is_decimal) return refs_cf_fail_inexact(by, (double)single, err);
    REFS_TRY(refs_cf_convert_number(by, REFS_CF_FLOAT_DIGITS, &value, err));
    single = (float)value;
    memcpy(at, &single, sizeof single);
    return REFS_OK;
}

static refs_status apply_double(const refs_cf_conversion *by, uint8_t *at, refs_error *err) {
    double value;
    memcpy(&value, at, sizeof value);
    REFS_TRY(refs_cf_convert_number(by, REFS_CF_DOUBLE_DIGITS, &value, err));
    memcpy(at, &value, sizeof value);
    return REFS_OK;
}

static refs_status convert_integer(const refs_cf_conversion *by, int64_t *value, refs_error *err) {
    double number = (double)*value;
    REFS_TRY(refs_cf_convert_number(by, REFS_CF_DOUBLE_DIGITS, &number, err));
    if (fabs(number) >= 0x1p53 || number != floor(number))
        return refs_cf_fail_inexact(by, (double)*value, err);
    *value = (int64_t)number;
    return REFS_OK;
}

static refs_status apply_integer(const refs_cf_conversion *by, const refs_dtype *dtype, uint8_t *at,
                                 refs_error *err) {
    int64_t value;
    (void)refs_dtype_to_integers(dtype, at, 1, &value);
    REFS_TRY(convert_integer(by, &value, err));
    if (dtype->size == 4 && (int32_t)value != value) return fail_type(err);
    refs_store_native(at, dtype->size, (uint64_t)value);
    return REFS_OK;
}

static refs_status apply_one(const refs_cf_conversion *by, const refs_dtype *dtype, uint8_t *at,
                             refs_error *err) {
    if (dtype->type == REFS_TYPE_INT) return apply_integer(by, dtype, at, err);
    return dtype->size == 8 ? apply_double(by, at, err) : apply_float(by, at, err);
}

/* A scale of zero means that no part has the array. */
bool refs_combine__is_packed(const refs_combine_unpacking *unpacking) {
    return (unpacking->scale != 1 && unpacking->scale != 0) || unpacking->offset != 0 ||
           unpacking->is_unsigned;
}

static bool has_units(const refs_dtype *dtype) {
    return (dtype->type == REFS_TYPE_FLOAT || dtype->type == REFS_TYPE_INT) &&
           (dtype->size == 4 || dtype->size == 8);
}

bool refs_combine__is_single(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_FLOAT && dtype->size == 4;
}

refs_status refs_combine__apply(const refs_cf_conversion *by, const refs_combine_array *array,
                                refs_buf *values, refs_error *err) {
    const refs_dtype *dtype = &array->dtype;
    if (by->kind == REFS_CF_CONVERSION_NONE) return REFS_OK;
    if (!has_units(dtype)) return fail_type(err);
    if (refs_combine__is_packed(&array->unpacking)) return refs_combine__fail_packed(err);
    for (size_t i = 0; i < values->size / dtype->size; i++)
        REFS_TRY(apply_one(by, dtype, values->data + i * dtype->size, err));
    return REFS_OK;
}

/* -- times ------------------------------------------------------------------------------------- */

/* Whether a type's integers are instants. */
static bool is_integer(const refs_cf_clock *clock, const refs_value *time, size_t size,
                       int64_t *value) {
    return refs_cf_integer_of_instant(clock, time->instant, value) &&
           (size == 8 || (*value >= INT32_MIN && *value <= INT32_MAX));
}

void refs_combine__common_time_type(const refs_cf_clock *clock, const refs_dtype *dtype,
                                    const refs_value *time, refs_dtype *type) {
    const bool is_time = time->kind == REFS_VALUE_TIME;
    int64_t value;
    if (type->type == REFS_TYPE_FLOAT) return;
    if (dtype->type == REFS_TYPE_FLOAT || (is_time && !is_integer(clock, time, 8, &value)))
        *type = (refs_dtype){.type = REFS_TYPE_FLOAT, .size = sizeof(double)};
    else if (dtype->size == 8 || (is_time && !is_integer(clock, time, 4, &value)))
        type->size = 8;
}

static refs_status write_integer(const refs_cf_clock *clock, const refs_value *time, size_t size,
                                 refs_buf *values, refs_error *err) {
    int64_t value;
    if (time->kind != REFS_VALUE_TIME || !is_integer(clock, time, size, &value))
        return fail_time(time, err);
    const int32_t narrow = (int32_t)value;
    return refs_buf_append(values, size == 8 ? (const void *)&value : &narrow, size, err);
}

refs_status refs_combine__write_time(const refs_cf_clock *clock, const refs_value *time,
                                     const refs_dtype *type, refs_buf *values, refs_error *err) {
    const bool is_time = time->kind == REFS_VALUE_TIME;
    const double value = is_time ? refs_cf_number_of_instant(clock, time->instant) : time->number;
    refs_cf_instant back;
    if (type->type == REFS_TYPE_INT || refs_combine__has_ticks(type))
        return write_integer(clock, time, type->size, values, err);
    if (time->is_stored_integer && (!refs_cf_instant_of(clock, value, REFS_CF_DOUBLE, &back) ||
                                    refs_cf_compare_instants(back, time->instant) != 0))
        return fail_time(time, err);
    return refs_buf_append(values, &value, sizeof value, err);
}
