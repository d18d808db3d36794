/* typed.c -- see typed.h. */
#include "typed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "refs/cf.h"
#include "refs/half.h"
#include "refs/own_attributes.h"

static const char *const hidden[] = {
    "_ARRAY_DIMENSIONS",       "_Netcdf4Dimid",       "_Netcdf4Coordinates", "_nc3_strict",
    "_NCProperties",           "_NCZARR_ARRAY",       "_NCZARR_GROUP",       "_NCZARR_ATTR",
    "_NCZARR_SUPERBLOCK",      "_nczarr_array",       "_nczarr_group",       "_nczarr_attrs",
    "_nczarr_superblock",      "DIMENSION_LIST",      "REFERENCE_LIST",      "tiff_colors",
    REFS_UNLIMITED_DIMENSIONS, REFS_UNUSED_DIMENSIONS};

#define N(list) (sizeof(list) / sizeof *(list))

bool refs_typed_is_hidden(const char *name) {
    if (*name == '\0') return true;
    for (size_t i = 0; i < N(hidden); i++)
        if (strcmp(name, hidden[i]) == 0) return true;
    return false;
}

/* -- text -------------------------------------------------------------------------------------- */

static refs_status read_text(refs_str text, refs_typed *typed, refs_error *err) {
    typed->kind = REFS_TYPED_TEXT;
    typed->n = text.size;
    typed->values = refs_calloc(text.size + 1, 1);
    if (typed->values == NULL) return refs_fail_nomem(err);
    if (text.size > 0) memcpy(typed->values, text.data, text.size);
    return REFS_OK;
}

static refs_status read_json(const refs_json *value, refs_typed *typed, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = refs_json_write(value, &text, err);
    typed->is_json = true;
    if (status == REFS_OK) status = read_text(refs_buf_text(&text), typed, err);
    return status;
}

/* Appends a text up to its first NUL; other values as JSON. */
static refs_status append_value(const refs_json *value, refs_buf *strings, refs_error *err) {
    const refs_str text = refs_json_text(value);
    const size_t end = refs_str_find(text, '\0');
    if (refs_json_is_string(value))
        REFS_TRY(refs_buf_append_str(
            strings, refs_str_part(text, 0, end < text.size ? end : text.size), err));
    else
        REFS_TRY(refs_json_write(value, strings, err));
    return refs_buf_append(strings, "", 1, err);
}

static refs_status read_texts(const refs_json *list, refs_typed *typed, refs_error *err) {
    REFS_SCOPED_BUF strings = REFS_BUF_INIT;
    const size_t n = refs_json_size(list);
    typed->kind = REFS_TYPED_TEXTS;
    typed->n = n;
    for (size_t i = 0; i < n; i++) REFS_TRY(append_value(refs_json_at(list, i), &strings, err));
    const char **pointers = typed->values = refs_alloc(n * sizeof(char *) + strings.size);
    if (pointers == NULL) return refs_fail_nomem(err);
    char *text = (char *)(pointers + n);
    if (strings.size > 0) memcpy(text, strings.data, strings.size);
    (void)refs_texts_point(text, n, pointers);
    return REFS_OK;
}

/* -- numbers ----------------------------------------------------------------------------------- */

static const refs_dtype int32 = {.type = REFS_TYPE_INT, .size = 4};
static const refs_dtype int64 = {.type = REFS_TYPE_INT, .size = 8};
static const refs_dtype uint64 = {.type = REFS_TYPE_UINT, .size = 8};
static const refs_dtype float32 = {.type = REFS_TYPE_FLOAT, .size = 4};
static const refs_dtype float64 = {.type = REFS_TYPE_FLOAT, .size = 8};

/* Element `i` of a list; a single value counts as a list of one. */
static const refs_json *item(const refs_json *value, size_t i) {
    return refs_json_is_array(value) ? refs_json_at(value, i) : value;
}

static bool is_written_as_integer(const refs_json *number) {
    refs_str text = refs_json_text(number);
    return text.size > 0 && strspn(text.data, "-0123456789") == text.size;
}

/* Whether all numbers are exact floats, and at least one has the digits of a float written as a
 * double: 0.1f is 0.100000001490116. Numbers such as 0.5, which are short in both types, prove
 * nothing. */
static bool are_floats(const refs_json *value, size_t n) {
    enum { DIGITS = 9 }; /* enough to distinguish all floats */
    bool is_told = false;
    for (size_t i = 0; i < n; i++) {
        double real = 0;
        char text[32];
        if (!refs_json_double(item(value, i), &real)) return false;
        if (isfinite(real) && (double)(float)real != real) return false;
        snprintf(text, sizeof text, "%.*g", DIGITS, real);
        is_told |= isfinite(real) && strtod(text, NULL) != real;
    }
    return is_told;
}

/* Types of numbers: a list gets the last one of its elements' types. */
enum { AS_INT32, AS_INT64, AS_UINT64, AS_FLOAT64 };

static int type_of_number(const refs_json *number, bool *is_negative) {
    int64_t integer = 0;
    uint64_t positive = 0;
    if (!is_written_as_integer(number)) return AS_FLOAT64;
    if (!refs_json_i64(number, &integer))
        return refs_json_u64(number, &positive) ? AS_UINT64 : AS_FLOAT64;
    *is_negative |= integer < 0;
    return integer > INT32_MAX || integer < INT32_MIN ? AS_INT64 : AS_INT32;
}

/* Finds the type of a list; false if not all elements are numbers. */
static bool find_type(const refs_json *value, size_t n, refs_dtype *dtype) {
    const refs_dtype *const types[] = {&int32, &int64, &uint64, &float64};
    int found = AS_INT32;
    bool is_negative = false, truth;
    for (size_t i = 0; i < n; i++) {
        if (refs_json_bool(item(value, i), &truth)) continue;
        if (!refs_json_is_number(item(value, i))) return false;
        const int type = type_of_number(item(value, i), &is_negative);
        if (type > found) found = type;
    }
    *dtype = *types[found == AS_UINT64 && is_negative ? AS_FLOAT64 : found];
    if (found == AS_FLOAT64 && are_floats(value, n)) *dtype = float32;
    return true;
}

/* A JSON number; members of other types are zero. */
typedef struct number {
    int64_t integer;
    uint64_t positive;
    double real;
} number;

static number number_of(const refs_json *value) {
    number made = {0, 0, 0};
    bool truth = false;
    if (refs_json_bool(value, &truth)) made = (number){truth, truth, truth};
    (void)refs_json_i64(value, &made.integer);
    (void)refs_json_u64(value, &made.positive);
    (void)refs_json_double(value, &made.real);
    return made;
}

static bool put_float(const number *of, size_t size, uint8_t *dst) {
    const float narrow = (float)of->real;
    if (size == 4) memcpy(dst, &narrow, sizeof narrow);
    if (size == 8) memcpy(dst, &of->real, sizeof of->real);
    const double kept = size == 4 ? (double)narrow : of->real;
    return (size == 4 || size == 8) && (isnan(of->real) || kept == of->real) &&
           (isnan(of->real) || isinf(of->real) || of->integer == 0 ||
            (fabs(kept) < 9.2e18 && (int64_t)kept == of->integer));
}

static bool put_integer(const number *of, size_t size, uint8_t *dst) {
    const int64_t most = size == 8 ? INT64_MAX : ((int64_t)1 << (8 * size - 1)) - 1;
    refs_store_native(dst, size, (uint64_t)of->integer);
    return of->integer <= most && of->integer >= -most - 1 &&
           (of->positive <= INT64_MAX || of->integer < 0);
}

static bool put_positive(const number *of, size_t size, uint8_t *dst) {
    const uint64_t most = size == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * size)) - 1;
    const uint64_t bits = of->integer < 0 ? (uint64_t)of->integer : of->positive;
    refs_store_native(dst, size, bits);
    return of->integer < 0 ? of->integer >= -(int64_t)(most / 2) - 1 : of->positive <= most;
}

/* Writes a number; false if the type cannot represent it. */
static bool put_number(const number *of, const refs_dtype *dtype, uint8_t *dst) {
    if (dtype->type == REFS_TYPE_FLOAT) return put_float(of, dtype->size, dst);
    if (dtype->type == REFS_TYPE_INT) return put_integer(of, dtype->size, dst);
    return dtype->type == REFS_TYPE_UINT && put_positive(of, dtype->size, dst);
}

static bool put_numbers(const refs_json *value, refs_typed *typed) {
    bool is_held = true;
    for (size_t i = 0; i < typed->n; i++) {
        const number made = number_of(item(value, i));
        is_held &=
            put_number(&made, &typed->dtype, (uint8_t *)typed->values + i * typed->dtype.size);
    }
    return is_held;
}

/* Whether numbers may get the type of their variable. Reals of an integer variable keep their type:
 * sets write 0.0 for a bound of unpacked values, and 0 for one of packed values. */
static bool may_have_type(const refs_dtype *found, const refs_dtype *of) {
    const bool is_number =
        of->type == REFS_TYPE_INT || of->type == REFS_TYPE_UINT || of->type == REFS_TYPE_FLOAT;
    if (!is_number || of->size > 8 || (of->type == REFS_TYPE_FLOAT && of->size < 4)) return false;
    return found->type != REFS_TYPE_FLOAT || (of->type == REFS_TYPE_FLOAT && of->size == 4);
}

static refs_status read_numbers(refs_str name, const refs_json *value, const refs_dtype *of,
                                refs_typed *typed, refs_error *err) {
    const refs_dtype found = typed->dtype;
    typed->kind = REFS_TYPED_NUMBERS;
    typed->values = refs_calloc(typed->n + 1, sizeof(double));
    if (typed->values == NULL) return refs_fail_nomem(err);
    if (of != NULL && may_have_type(&found, of) && refs_cf_has_type_of_variable(name)) {
        typed->dtype = *of;
        typed->dtype.big_endian = false;
        if (put_numbers(value, typed)) return REFS_OK;
        typed->dtype = found;
    }
    /* Reals are rounded; other numbers were checked to fit. */
    if (put_numbers(value, typed) || found.type == REFS_TYPE_FLOAT) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "attribute %.*s: its numbers have no common type",
                     (int)name.size, name.data);
}

/* -- all --------------------------------------------------------------------------------------- */

size_t refs_typed_fill_place(const refs_json *attributes) {
    size_t place = 0;
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        const char *name = refs_json_name_at(attributes, i).data;
        if (strcmp(name, "_FillValue") == 0) return place;
        place += !refs_typed_is_hidden(name);
    }
    return 0;
}

bool refs_typed_is_odd_fill(const refs_json *value, const refs_dtype *of) {
    const refs_json *first = item(value, 0);
    return of->type != REFS_TYPE_FLOAT && refs_json_is_number(first) &&
           !is_written_as_integer(first);
}

refs_status refs_typed_read(refs_str name, const refs_json *value, const refs_dtype *of,
                            refs_typed *typed, refs_error *err) {
    memset(typed, 0, sizeof *typed);
    typed->is_list = refs_json_is_array(value);
    typed->n = typed->is_list ? refs_json_size(value) : 1;
    if (refs_json_is_string(value)) return read_text(refs_json_text(value), typed, err);
    if (refs_json_is_object(value) || refs_json_kind_of(value) == REFS_JSON_KIND_NULL)
        return read_json(value, typed, err);
    if (find_type(value, typed->n, &typed->dtype)) return read_numbers(name, value, of, typed, err);
    return typed->is_list ? read_texts(value, typed, err) : read_json(value, typed, err);
}

static const char *const packing[] = {"scale_factor", "add_offset"};

/* Whether scale_factor and add_offset were floats, which makes unpacked values floats, too
 * (CF 8.1): one of them must have been, or the variable has floats, and floats hold both. */
static bool is_packed_by_floats(const refs_json *attributes, const refs_dtype *of) {
    bool is_told = of != NULL && of->type == REFS_TYPE_FLOAT && of->size == float32.size;
    for (size_t i = 0; i < N(packing); i++) {
        const refs_json *value = refs_json_get(attributes, packing[i]);
        const refs_json *first = value != NULL ? item(value, 0) : NULL;
        double real = 0;
        if (first == NULL || !refs_json_is_number(first) || is_written_as_integer(first)) continue;
        if (!refs_json_double(first, &real) || (double)(float)real != real) return false;
        is_told |= are_floats(value, 1);
    }
    return is_told;
}

refs_status refs_typed_read_one_of(const refs_json *attributes, size_t i, const refs_dtype *of,
                                   refs_typed *typed, refs_error *err) {
    const refs_str name = refs_json_name_at(attributes, i);
    const refs_json *value = refs_json_at(attributes, i);
    REFS_TRY(refs_typed_read(name, value, of, typed, err));
    if ((!refs_str_is(name, packing[0]) && !refs_str_is(name, packing[1])) ||
        typed->kind != REFS_TYPED_NUMBERS || typed->n != 1 || typed->dtype.type != REFS_TYPE_FLOAT)
        return REFS_OK;
    typed->dtype = is_packed_by_floats(attributes, of) ? float32 : float64;
    (void)put_numbers(value, typed); /* rounding is exact, because the number was a float */
    return REFS_OK;
}
