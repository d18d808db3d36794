/* value.c -- values of coordinates, see combine_internal.h. */
#include <math.h>
#include <stdio.h>

#include "combine_internal.h"
#include "refs/cf.h"
#include "refs/utf8.h"

static refs_value_kind kind_of(const refs_dtype *dtype) {
    switch (dtype->type) {
    case REFS_TYPE_BOOL:
    case REFS_TYPE_INT:
    case REFS_TYPE_UINT:
    case REFS_TYPE_DATETIME:
    case REFS_TYPE_TIMEDELTA:
        return REFS_VALUE_INTEGER;
    case REFS_TYPE_FLOAT:
        return REFS_VALUE_NUMBER;
    case REFS_TYPE_COMPLEX:
        return REFS_VALUE_COMPLEX;
    case REFS_TYPE_BYTES:
    case REFS_TYPE_UNICODE:
        return REFS_VALUE_TEXT;
    default:
        return REFS_VALUE_NONE;
    }
}

refs_value refs_combine__value_at(const refs_dtype *dtype, refs_str values, uint64_t i) {
    const uint8_t *at = (const uint8_t *)values.data + i * dtype->size;
    refs_value value = {.kind = kind_of(dtype)};
    if (value.kind == REFS_VALUE_INTEGER) {
        (void)refs_dtype_to_integers(dtype, at, 1, &value.integer);
        value.is_large = dtype->type == REFS_TYPE_UINT && value.integer < 0;
        value.number = value.is_large ? (double)(uint64_t)value.integer : (double)value.integer;
        value.is_missing = refs_combine__has_ticks(dtype) && value.integer == INT64_MIN; /* NaT */
    } else if (value.kind == REFS_VALUE_NUMBER) {
        value.number = refs_dtype_number(dtype, at);
    } else if (value.kind == REFS_VALUE_COMPLEX) {
        value.number = refs_dtype_number(dtype, at);
        const refs_dtype part = {.type = REFS_TYPE_FLOAT, .size = dtype->size / 2};
        value.imaginary = refs_dtype_number(&part, at + part.size);
    } else if (value.kind == REFS_VALUE_TEXT) {
        value.text = refs_str_view((const char *)at, dtype->size);
        while (value.text.size > 0 && value.text.data[value.text.size - 1] == '\0')
            value.text.size--;
    }
    return value;
}

refs_value refs_combine__take_text(refs_str *list) {
    const char *text;
    if (!refs_str_next_text(list, &text))
        return (refs_value){.kind = REFS_VALUE_TEXT, .is_missing = true};
    return (refs_value){.kind = REFS_VALUE_TEXT, .text = refs_str_from(text)};
}

refs_status refs_combine__append_strings(const refs_dtype *dtype, refs_str values,
                                         refs_buf *strings, refs_error *err) {
    for (size_t begin = 0; begin + dtype->size <= values.size; begin += dtype->size) {
        const char *at = values.data + begin;
        for (size_t i = 0; dtype->type == REFS_TYPE_UNICODE && i + 4 <= dtype->size; i += 4) {
            uint32_t c;
            uint8_t bytes[4];
            memcpy(&c, at + i, 4);
            if (c == 0) break;
            REFS_TRY(refs_buf_append(strings, bytes, refs_utf8_encode(c, bytes), err));
        }
        if (dtype->type == REFS_TYPE_BYTES)
            REFS_TRY(refs_buf_append(strings, at, strnlen(at, dtype->size), err));
        REFS_TRY(refs_buf_append(strings, "", 1, err));
    }
    return REFS_OK;
}

bool refs_combine__is_number(const refs_value *value) {
    return value->kind == REFS_VALUE_INTEGER || value->kind == REFS_VALUE_NUMBER ||
           value->kind == REFS_VALUE_TIME;
}

static bool is_integer(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_INT || dtype->type == REFS_TYPE_UINT;
}

bool refs_combine__widen(const refs_dtype *from, const uint8_t *at, const refs_dtype *to,
                         uint8_t *widened) {
    const bool are_wide = to->size == 8 && (from->size < 8 || is_integer(from));
    if (!are_wide || !(is_integer(from) || from->type == REFS_TYPE_FLOAT)) return false;
    const refs_value value =
        refs_combine__value_at(from, refs_str_view((const char *)at, from->size), 0);
    if (to->type == REFS_TYPE_FLOAT)
        memcpy(widened, &value.number, sizeof value.number);
    else if (to->type == REFS_TYPE_INT && is_integer(from))
        memcpy(widened, &value.integer, sizeof value.integer);
    else
        return false;
    return true;
}

static int compare_numbers(double a, double b) {
    if (isnan(a) || isnan(b)) return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

int refs_combine__compare_values(const refs_value *a, const refs_value *b) {
    if (a->kind == REFS_VALUE_TEXT) return refs_str_compare(a->text, b->text);
    if (a->kind == REFS_VALUE_TIME && b->kind == REFS_VALUE_TIME)
        return refs_cf_compare_instants(a->instant, b->instant);
    if (a->kind == REFS_VALUE_INTEGER && b->kind == REFS_VALUE_INTEGER &&
        a->is_large != b->is_large)
        return a->is_large ? 1 : -1;
    if (a->kind == REFS_VALUE_INTEGER && b->kind == REFS_VALUE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    const int order = compare_numbers(a->number, b->number);
    return order != 0 ? order : compare_numbers(a->imaginary, b->imaginary);
}

const char *refs_combine__print_value(const refs_value *value, char text[REFS_VALUE_TEXT]) {
    if (value->is_missing)
        (void)snprintf(text, REFS_VALUE_TEXT, "missing");
    else if (value->is_large)
        (void)snprintf(text, REFS_VALUE_TEXT, "%llu", (unsigned long long)value->integer);
    else if (value->kind == REFS_VALUE_INTEGER || value->is_stored_integer)
        (void)snprintf(text, REFS_VALUE_TEXT, "%lld", (long long)value->integer);
    else if (value->kind == REFS_VALUE_NUMBER || value->kind == REFS_VALUE_TIME)
        (void)snprintf(text, REFS_VALUE_TEXT, "%.15g", value->number);
    else if (value->kind == REFS_VALUE_COMPLEX)
        (void)snprintf(text, REFS_VALUE_TEXT, "%.15g%+.15gi", value->number, value->imaginary);
    else
        (void)snprintf(text, REFS_VALUE_TEXT, "\"%.*s\"",
                       (int)(value->text.size < 40 ? value->text.size : 40),
                       value->text.data != NULL ? value->text.data : "");
    return text;
}

refs_combine_unpacking refs_combine__unpacking_of(const refs_array_meta *meta) {
    refs_combine_unpacking unpacking = {.is_unsigned = refs_cf_is_declared_unsigned(meta)};
    (void)refs_cf_scale_of(meta->attributes, &unpacking.scale, &unpacking.offset);
    return unpacking;
}

bool refs_combine__has_ticks(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_DATETIME || dtype->type == REFS_TYPE_TIMEDELTA;
}

bool refs_combine__is_one_type(const refs_dtype *a, const refs_dtype *b) {
    return refs_dtype_equal(a, b) &&
           (!refs_combine__has_ticks(a) || (strcmp(a->unit, b->unit) == 0 && a->step == b->step));
}

void refs_combine__set_clock(refs_values *values, const refs_cf_units *units) {
    values->are_times = refs_combine__has_ticks(values->dtype)
                            ? refs_cf_clock_of_ticks(values->dtype, &values->clock)
                            : refs_cf_clock_of(units, &values->clock);
}

refs_values refs_combine__coordinates_of(const refs_combine *combine,
                                         const refs_combine_array *array) {
    const refs_cf_units units = refs_combine__count_of(combine, array);
    refs_values values = {.dtype = &array->dtype,
                          .unpacking = array->unpacking,
                          .bytes = refs_combine__text(combine, array->values)};
    refs_combine__set_clock(&values, &units);
    return values;
}

static bool is_packed(const refs_values *values) {
    return values->unpacking.scale != 1 || values->unpacking.offset != 0;
}

static bool is_single(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_FLOAT && dtype->size == 4;
}

/* Sets the instant of a time; a number that is no instant, such as NaN, stays a number. */
static void set_instant(const refs_values *values, refs_value *value) {
    const bool is_integer = value->kind == REFS_VALUE_INTEGER && !value->is_large;
    const refs_cf_precision precision =
        is_single(values->dtype) && !is_packed(values) ? REFS_CF_SINGLE : REFS_CF_DOUBLE;
    if (is_integer ? !refs_cf_instant_of_integer(&values->clock, value->integer, &value->instant)
                   : !refs_cf_instant_of(&values->clock, value->number, precision, &value->instant))
        return;
    value->is_stored_integer = is_integer;
    value->kind = REFS_VALUE_TIME;
}

refs_value refs_combine__unpacked_at(const refs_values *values, uint64_t i) {
    refs_value value = refs_combine__value_at(values->dtype, values->bytes, i);
    const bool is_missing = i < values->missing.size && values->missing.data[i] != 0;
    if (is_missing) value.is_missing = true;
    if (!refs_combine__is_number(&value)) return value;
    if (values->unpacking.is_unsigned) {
        const refs_dtype as = {.type = REFS_TYPE_UINT, .size = values->dtype->size};
        value = refs_combine__value_at(&as, values->bytes, i);
        value.is_missing = is_missing;
    }
    if (is_packed(values)) {
        value.kind = REFS_VALUE_NUMBER;
        value.number = value.number * values->unpacking.scale + values->unpacking.offset;
    }
    if (values->are_times && !value.is_missing) set_instant(values, &value);
    return value;
}

bool refs_combine__is_float_of(const refs_value *single, const refs_cf_clock *clock,
                               const refs_value *other) {
    const double number = single->kind == REFS_VALUE_TIME
                              ? refs_cf_number_of_instant(clock, other->instant)
                              : other->number;
    return single->kind == other->kind && (float)single->number == (float)number;
}

/* Whether values are equal except for the rounding of unpacking; `step` is one step of the packed
 * values. */
static bool are_equal(const refs_value *a, const refs_value *b, bool as_singles, double step) {
    if (a->is_missing || b->is_missing) return a->is_missing == b->is_missing;
    if (a->kind != b->kind && !(refs_combine__is_number(a) && refs_combine__is_number(b)))
        return false;
    if (as_singles && refs_combine__is_number(a))
        return (float)a->number == (float)b->number || fabs(a->number - b->number) <= 1e-6 * step ||
               (isnan(a->number) && isnan(b->number));
    return refs_combine__compare_values(a, b) == 0;
}

static bool have_one_clock(const refs_values *a, const refs_values *b) {
    return a->are_times == b->are_times &&
           (!a->are_times || (a->clock.unit == b->clock.unit &&
                              refs_cf_compare_instants(a->clock.origin, b->clock.origin) == 0));
}

/* Whether values that are not instants are equal: missing, NaN, or too far from now, which are only
 * compared in one unit. */
static bool are_without_instant(const refs_values *a, const refs_value *one, const refs_values *b,
                                const refs_value *other) {
    return one->kind != REFS_VALUE_TIME && other->kind != REFS_VALUE_TIME &&
           are_equal(one, other, false, 0) &&
           (one->is_missing || !isfinite(one->number) || have_one_clock(a, b));
}

static bool are_one_time(const refs_values *a, const refs_value *one, const refs_values *b,
                         const refs_value *other) {
    if (one->kind != REFS_VALUE_TIME || other->kind != REFS_VALUE_TIME)
        return are_without_instant(a, one, b, other);
    if (refs_cf_compare_instants(one->instant, other->instant) == 0) return true;
    if (is_single(a->dtype) == is_single(b->dtype)) return false;
    return is_single(a->dtype) ? refs_combine__is_float_of(one, &a->clock, other)
                               : refs_combine__is_float_of(other, &b->clock, one);
}

static bool are_unpacked_alike(const refs_values *a, const refs_values *b) {
    return refs_combine__is_one_type(a->dtype, b->dtype) &&
           a->unpacking.scale == b->unpacking.scale && a->unpacking.offset == b->unpacking.offset &&
           a->unpacking.is_unsigned == b->unpacking.is_unsigned &&
           refs_str_equal(a->missing, b->missing) && have_one_clock(a, b);
}

static double step_of(const refs_values *values) {
    return is_packed(values) ? fabs(values->unpacking.scale) : 0;
}

refs_str refs_combine__constant_of(refs_str all, refs_str missing, size_t size) {
    refs_str constant = {NULL, 0};
    for (size_t i = 0; size > 0 && (i + 1) * size <= all.size; i++) {
        const refs_str element = refs_str_part(all, i * size, (i + 1) * size);
        if (i < missing.size && missing.data[i] != 0) continue;
        if (constant.size == 0) constant = element;
        if (!refs_str_equal(constant, element)) return (refs_str){NULL, 0};
    }
    return constant;
}

uint64_t refs_combine__first_difference(const refs_values *a, const refs_values *b) {
    return refs_combine__next_difference(a, b, 0);
}

uint64_t refs_combine__next_difference(const refs_values *a, const refs_values *b, uint64_t begin) {
    const uint64_t n_a = a->dtype->size > 0 ? a->bytes.size / a->dtype->size : 0;
    const uint64_t n_b = b->dtype->size > 0 ? b->bytes.size / b->dtype->size : 0;
    const bool are_alike = are_unpacked_alike(a, b);
    /* If one is stored as float and the other as double, they are equal as floats. */
    const bool as_singles = is_single(a->dtype) != is_single(b->dtype) ||
                            (!are_alike && (is_packed(a) || is_packed(b)));
    const double step = fmax(step_of(a), step_of(b));
    if (are_alike && (a->bytes.data == b->bytes.data || refs_str_equal(a->bytes, b->bytes)))
        return UINT64_MAX;
    for (uint64_t i = begin; i < n_a && i < n_b; i++) {
        const refs_value one = refs_combine__unpacked_at(a, i),
                         other = refs_combine__unpacked_at(b, i);
        const bool are_same = a->are_times && b->are_times
                                  ? are_one_time(a, &one, b, &other)
                                  : are_equal(&one, &other, as_singles, step);
        if (!are_same) return i;
    }
    return n_a == n_b ? UINT64_MAX : (n_a < n_b ? n_a : n_b);
}

/* -- which are missing ------------------------------------------------------------------------- */

static bool may_be_missing(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_BOOL || dtype->type == REFS_TYPE_INT ||
           dtype->type == REFS_TYPE_UINT || dtype->type == REFS_TYPE_FLOAT;
}

/* The number of elements whose missing values are found at once. */
enum { MISSING_BLOCK = 512 };

static bool is_missing_integer(const refs_cf_description *description, const refs_dtype *dtype,
                               const uint8_t *element) {
    int64_t integer;
    (void)refs_dtype_to_integers(dtype, element, 1, &integer);
    return refs_cf_is_missing_integer(description, dtype, integer);
}

/* Marks which of `n` elements are missing: at most MISSING_BLOCK. */
static void mark_missing(const refs_cf_description *description, const refs_dtype *dtype,
                         const uint8_t *elements, size_t n, uint8_t *missing) {
    double numbers[MISSING_BLOCK];
    const double above = description->unsigned_values ? ldexp(1, (int)(8 * dtype->size)) : 0;
    if (dtype->size == 8 && kind_of(dtype) == REFS_VALUE_INTEGER) {
        for (size_t i = 0; i < n; i++)
            missing[i] = is_missing_integer(description, dtype, elements + i * dtype->size);
        return;
    }
    (void)refs_dtype_to_doubles(dtype, elements, n, numbers);
    for (size_t i = 0; i < n; i++)
        missing[i] =
            refs_cf_is_missing(description, numbers[i] < 0 ? numbers[i] + above : numbers[i]);
}

static refs_status find(const refs_combine_kept_bytes *of, const refs_cf_description *description,
                        refs_buf *found, refs_error *err) {
    const refs_dtype *dtype = &of->meta->dtype;
    uint8_t missing[MISSING_BLOCK];
    const size_t n = of->values.size / dtype->size;
    for (size_t begin = 0, count; begin < n; begin += count) {
        count = n - begin < MISSING_BLOCK ? n - begin : MISSING_BLOCK;
        mark_missing(description, dtype, of->values.data + begin * dtype->size, count, missing);
        if (found->size == 0 && memchr(missing, true, count) == NULL) continue;
        if (found->size == 0) {
            REFS_TRY(refs_buf_resize(found, n, err));
            memset(found->data, false, n);
        }
        memcpy(found->data + begin, missing, count);
    }
    return REFS_OK;
}

refs_status refs_combine_find_missing(const refs_combine_kept_bytes *of, refs_buf *missing,
                                      refs_buf *invalid, refs_error *err) {
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    options.honour_valid_range = true;
    refs_cf_description description;
    if (!may_be_missing(&of->meta->dtype)) return REFS_OK;
    REFS_TRY(refs_cf_describe_elements(of->hierarchy, of->meta, &options, &description, err));
    REFS_TRY(find(of, &description, invalid, err));
    if (!description.has_valid_range)
        return refs_buf_append(missing, invalid->data, invalid->size, err);
    description.has_valid_range = false;
    return find(of, &description, missing, err);
}
