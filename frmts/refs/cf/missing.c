/* missing.c -- missing values in attributes: nodata, and others.
 *
 * CF 2.5.1: elements equal to _FillValue or missing_value are missing data. NUG, "Attribute
 * conventions": missing_value may be a vector.
 */
#include "cf_internal.h"

#include <math.h>

#include "refs/half.h"

/* -- one number -------------------------------------------------------------------------------- */

double refs_cf__as_element(const refs_dtype *dtype, double number) {
    if (dtype->type != REFS_TYPE_FLOAT) return number;
    if (dtype->size == 4 && fabs(number) < 3.5e38) return (double)(float)number;
    if (dtype->size == 2 && fabs(number) < 65520)
        return refs_half_to_double(refs_half_from_double(number));
    return number;
}

refs_cf_missing refs_cf__missing_of(const refs_dtype *dtype, const refs_json *element,
                                    double number) {
    refs_cf_missing missing = {.kind = REFS_CF_NODATA_NONE};
    const bool is_wide = dtype->size == 8, is_whole = number == floor(number);
    if (is_wide && dtype->type == REFS_TYPE_INT) {
        missing.kind = REFS_CF_NODATA_INT64;
        if (refs_json_i64(element, &missing.int64)) return missing;
        missing.int64 = is_whole && fabs(number) < 0x1p63 ? (int64_t)number : 0;
        if (is_whole && fabs(number) < 0x1p63) return missing;
    } else if (is_wide && dtype->type == REFS_TYPE_UINT) {
        missing.kind = REFS_CF_NODATA_UINT64;
        if (refs_json_u64(element, &missing.uint64)) return missing;
        missing.uint64 = is_whole && number >= 0 && number < 0x1p64 ? (uint64_t)number : 0;
        if (is_whole && number >= 0 && number < 0x1p64) return missing;
    }
    return (refs_cf_missing){REFS_CF_NODATA_DOUBLE, refs_cf__as_element(dtype, number), 0, 0};
}

refs_dtype refs_cf__type_as_read(const refs_cf_description *description, const refs_dtype *dtype) {
    refs_dtype as = *dtype;
    if (description->unsigned_values) as.type = REFS_TYPE_UINT;
    return as;
}

/* Attributes of signed integers that are read as unsigned may have signed or unsigned numbers. */
refs_cf_missing refs_cf__missing_as(const refs_dtype *dtype, const refs_dtype *as,
                                    const refs_json *element, double number) {
    const refs_cf_missing stored = refs_cf__missing_of(dtype, element, number);
    refs_cf_missing missing = refs_cf__missing_of(as, element, number);
    const bool is_signed = dtype->type == REFS_TYPE_INT && as->type == REFS_TYPE_UINT;
    if (!is_signed || missing.kind != REFS_CF_NODATA_DOUBLE) return missing;
    missing.number = refs_cf__to_unsigned(dtype, number);
    if (stored.kind != REFS_CF_NODATA_INT64) return missing;
    return (refs_cf_missing){REFS_CF_NODATA_UINT64, 0, 0, (uint64_t)stored.int64};
}

void refs_cf__set_nodata(refs_cf_description *description, refs_cf_missing missing) {
    description->nodata_kind = missing.kind;
    description->nodata = missing.number;
    description->nodata_int64 = missing.int64;
    description->nodata_uint64 = missing.uint64;
}

static refs_cf_missing nodata_of(const refs_cf_description *description) {
    return (refs_cf_missing){description->nodata_kind, description->nodata,
                             description->nodata_int64, description->nodata_uint64};
}

static bool is_same(refs_cf_missing a, refs_cf_missing b) {
    return a.kind == b.kind && (a.kind == REFS_CF_NODATA_INT64    ? a.int64 == b.int64
                                : a.kind == REFS_CF_NODATA_UINT64 ? a.uint64 == b.uint64
                                                                  : a.number == b.number);
}

/* Whether elements that are read as `as` can have this value. */
static bool is_element(const refs_dtype *as, refs_cf_missing missing) {
    if (missing.kind == REFS_CF_NODATA_NONE) return false;
    if (missing.kind != REFS_CF_NODATA_DOUBLE || as->type == REFS_TYPE_FLOAT) return true;
    const bool has_sign = as->type == REFS_TYPE_INT;
    const double end = ldexp(1, (int)as->size * 8 - has_sign);
    return missing.number == floor(missing.number) && missing.number < end &&
           missing.number >= (has_sign ? -end : 0);
}

/* Whether an integer is in the range of the type: refs_fill_value_parse would wrap it. */
static bool fits(const refs_array_meta *array, const refs_json *value) {
    const refs_dtype *dtype = &array->dtype;
    refs_dtype as = *dtype;
    double number;
    if ((as.type != REFS_TYPE_INT && as.type != REFS_TYPE_UINT) ||
        !refs_json_double(value, &number))
        return true;
    if (refs_cf_is_declared_unsigned(array)) as.type = REFS_TYPE_UINT;
    return is_element(&as, refs_cf__missing_as(dtype, &as, value, number));
}

refs_status refs_cf_read_element(const refs_array_meta *array, const refs_json *value,
                                 uint8_t *element, bool *is_element, refs_error *err) {
    *is_element = false;
    if (refs_json_is_array(value)) value = refs_json_at(value, 0);
    if (value == NULL || !fits(array, value)) return REFS_OK;
    const refs_status status =
        refs_fill_value_parse(value, &array->dtype, element, is_element, NULL);
    return status == REFS_NOMEM ? refs_fail_nomem(err) : REFS_OK;
}

refs_status refs_cf_read_missing(const refs_array_meta *array, uint8_t *element,
                                 const refs_json **value, refs_error *err) {
    static const char *const names[] = {"_FillValue", "missing_value"};
    bool is_element = false;
    for (size_t i = 0; i < 2 && !is_element && refs_dtype_is_numeric(&array->dtype); i++) {
        *value = refs_json_get(array->attributes, names[i]);
        REFS_TRY(refs_cf_read_element(array, *value, element, &is_element, err));
    }
    if (!is_element) *value = NULL;
    if (refs_json_is_array(*value)) *value = refs_json_at(*value, 0);
    return REFS_OK;
}

/* -- all attributes ---------------------------------------------------------------------------- */

static bool is_known(const refs_cf_description *description, refs_cf_missing missing) {
    if (is_same(nodata_of(description), missing)) return true;
    for (size_t i = 0; i < description->n_missing; i++)
        if (is_same(description->missing[i], missing)) return true;
    return false;
}

/* NaN is always missing, unless keeps_nan. A nodata that no element can have is replaced. */
static void add_missing(const refs_cf__input *input, const refs_dtype *as, refs_cf_missing missing,
                        refs_cf_description *description) {
    const bool is_nan = missing.kind == REFS_CF_NODATA_DOUBLE && isnan(missing.number);
    if (is_nan || !is_element(as, missing) || is_known(description, missing)) return;
    if (!is_element(as, nodata_of(description)))
        refs_cf__set_nodata(description, missing);
    else if (description->nodata_kind != missing.kind)
        return;
    else if (description->n_missing < REFS_CF_MAX_MISSING)
        description->missing[description->n_missing++] = missing;
    else
        refs_note(&input->options.notes, REFS_NOTE_WARNING,
                  "%s: missing value %.17g is read as data: expected at most %d missing values",
                  input->array->path, missing.number, REFS_CF_MAX_MISSING + 1);
}

static void add_attribute(const refs_cf__input *input, const char *name,
                          refs_cf_description *description) {
    const refs_array_meta *array = input->array;
    const refs_json *value = refs_json_get(array->attributes, name);
    double numbers[REFS_CF_MAX_MISSING + 2];
    const size_t n =
        refs_cf__numbers(array->attributes, name, numbers, sizeof numbers / sizeof *numbers);
    const refs_dtype as = refs_cf__type_as_read(description, &array->dtype);
    for (size_t i = 0; i < n; i++) {
        const refs_json *element = refs_json_is_array(value) ? refs_json_at(value, i) : value;
        add_missing(input, &as, refs_cf__missing_as(&array->dtype, &as, element, numbers[i]),
                    description);
    }
}

void refs_cf__describe_missing(const refs_cf__input *input, refs_cf_description *description) {
    add_attribute(input, "_FillValue", description);
    add_attribute(input, "missing_value", description);
}

double refs_cf_missing_number(refs_cf_missing missing) {
    return missing.kind == REFS_CF_NODATA_DOUBLE   ? missing.number
           : missing.kind == REFS_CF_NODATA_INT64  ? (double)missing.int64
           : missing.kind == REFS_CF_NODATA_UINT64 ? (double)missing.uint64
                                                   : (double)NAN;
}

static bool is_number(refs_cf_missing missing, double element) {
    return element == refs_cf_missing_number(missing);
}

bool refs_cf_range_equal(const refs_cf_range *one, const refs_cf_range *other) {
    return is_same(one->least, other->least) && is_same(one->most, other->most);
}

/* NaN is not less than any end. */
static bool is_less(refs_cf_missing end, uint64_t bits, double number) {
    return end.kind == REFS_CF_NODATA_INT64    ? (int64_t)bits < end.int64
           : end.kind == REFS_CF_NODATA_UINT64 ? bits < end.uint64
                                               : number < end.number;
}

static bool is_more(refs_cf_missing end, uint64_t bits, double number) {
    return end.kind == REFS_CF_NODATA_INT64    ? (int64_t)bits > end.int64
           : end.kind == REFS_CF_NODATA_UINT64 ? bits > end.uint64
                                               : number > end.number;
}

bool refs_cf_range_has(const refs_cf_range *range, uint64_t bits, double number) {
    return !is_less(range->least, bits, number) && !is_more(range->most, bits, number);
}

bool refs_cf_is_missing(const refs_cf_description *description, double element) {
    bool is_missing = isnan(element) || is_number(nodata_of(description), element);
    for (size_t i = 0; i < description->n_missing; i++)
        is_missing = is_missing || is_number(description->missing[i], element);
    return is_missing || (description->has_valid_range &&
                          (element < refs_cf_missing_number(description->valid.least) ||
                           element > refs_cf_missing_number(description->valid.most)));
}

/* `number` is `element` as a double, rounded. */
static bool is_integer(refs_cf_missing missing, uint64_t element, double number) {
    return missing.kind == REFS_CF_NODATA_INT64    ? element == (uint64_t)missing.int64
           : missing.kind == REFS_CF_NODATA_UINT64 ? element == missing.uint64
                                                   : is_number(missing, number);
}

bool refs_cf_is_missing_integer(const refs_cf_description *description, const refs_dtype *dtype,
                                int64_t element) {
    const uint64_t bits = (uint64_t)element;
    const bool is_unsigned = dtype->type == REFS_TYPE_UINT || description->unsigned_values;
    const double number = is_unsigned ? (double)bits : (double)element;
    bool is_missing = is_integer(nodata_of(description), bits, number);
    for (size_t i = 0; i < description->n_missing; i++)
        is_missing = is_missing || is_integer(description->missing[i], bits, number);
    return is_missing ||
           (description->has_valid_range && !refs_cf_range_has(&description->valid, bits, number));
}
