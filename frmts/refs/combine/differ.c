/* differ.c -- finds why two arrays cannot be combined, and edits documents. */
#include <math.h>
#include <stdlib.h>

#include "combine_internal.h"
#include "refs/attribute_class.h"

refs_status refs_combine__replace(refs_str document, const char *const *pairs, refs_buf *text,
                                  refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(document, &doc, err));
    const refs_json *root = refs_json_root(doc);
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(root); i++) {
        refs_str name = refs_json_name_at(root, i);
        bool is_replaced = false;
        for (const char *const *pair = pairs; *pair != NULL; pair += 2)
            is_replaced = is_replaced || refs_str_is(name, *pair);
        if (!is_replaced) REFS_TRY(refs_json_write_member(name, refs_json_at(root, i), text, err));
    }
    for (const char *const *pair = pairs; *pair != NULL; pair += 2)
        if (pair[1] != NULL) {
            REFS_TRY(refs_json_write_name(refs_str_from(pair[0]), text, err));
            REFS_TRY(refs_buf_append_str(text, refs_str_from(pair[1]), err));
        }
    return refs_buf_append(text, "}", 1, err);
}

size_t refs_combine__left_out(const refs_combine_result *result, const char **pairs) {
    const unsigned stored = REFS_CF_VALID | REFS_CF_MISSING | REFS_CF_ACTUAL;
    const unsigned classes = (result->drops_range ? (unsigned)REFS_CF_VALID : 0) |
                             (result->drops_stored ? stored : 0) |
                             (result->drops_actual ? (unsigned)REFS_CF_ACTUAL : 0) |
                             (result->drops_flags ? (unsigned)REFS_CF_FLAGS : 0) |
                             (result->drops_start ? (unsigned)REFS_CF_START : 0) |
                             (result->drops_length ? (unsigned)REFS_CF_LENGTH : 0);
    const char *name;
    size_t n = 0;
    for (; (name = refs_cf_attribute_at(classes, n / 2)) != NULL; n += 2) {
        pairs[n] = name;
        pairs[n + 1] = NULL;
    }
    return n;
}

refs_status refs_combine__write_list(const uint64_t *numbers, size_t n, refs_buf *text,
                                     refs_error *err) {
    REFS_TRY(refs_buf_append(text, "[", 1, err));
    for (size_t i = 0; i < n; i++)
        REFS_TRY(
            refs_buf_printf(text, err, "%s%llu", i > 0 ? "," : "", (unsigned long long)numbers[i]));
    return refs_buf_printf(text, err, "]");
}

/* Descriptions are a sequence of "name=JSON;". A semicolon inside a JSON string only shortens the
 * reported difference. */
static refs_str next_part(refs_str *rest, refs_str *name) {
    size_t end = refs_str_find(*rest, ';');
    refs_str part = refs_str_part(*rest, 0, end);
    *rest = refs_str_part(*rest, end == SIZE_MAX ? rest->size : end + 1, rest->size);
    size_t equals = refs_str_find(part, '=');
    *name = refs_str_part(part, 0, equals);
    return refs_str_part(part, equals == SIZE_MAX ? part.size : equals + 1, part.size);
}

/* Whether two texts are one number of a floating-point type, such as 9e+36 and 9e36. */
static bool are_one_number(const refs_dtype *dtype, refs_str a, refs_str b) {
    char copies[2][REFS_VALUE_TEXT], *ends[2];
    double numbers[2];
    const refs_str texts[2] = {a, b};
    if (dtype->type != REFS_TYPE_FLOAT) return false;
    for (size_t i = 0; i < 2; i++) {
        if (texts[i].size == 0 || texts[i].size >= sizeof copies[i]) return false;
        memcpy(copies[i], texts[i].data, texts[i].size);
        copies[i][texts[i].size] = '\0';
        numbers[i] = strtod(copies[i], &ends[i]);
        if (*ends[i] != '\0' || !isfinite(numbers[i])) return false;
    }
    return dtype->size == sizeof(float) ? (float)numbers[0] == (float)numbers[1]
                                        : numbers[0] == numbers[1];
}

/* Compares descriptions. Fill values compare as numbers of `dtype`. */
static refs_status append_differences_but(const char *const *ignored, const refs_dtype *dtype,
                                          const refs_str described[2], refs_buf *text,
                                          refs_error *err) {
    static const char *const fills[] = {"fill_value", "_FillValue", "missing_value", NULL};
    refs_str one = described[0], other = described[1];
    while (one.size > 0 && other.size > 0) {
        refs_str name, other_name;
        refs_str a = next_part(&one, &name), b = next_part(&other, &other_name);
        if (refs_str_equal(a, b) || refs_str_is_among(name, ignored) ||
            (refs_str_is_among(name, fills) && are_one_number(dtype, a, b)))
            continue;
        REFS_TRY(refs_buf_printf(text, err, "%s%.*s %.*s and %.*s", text->size > 0 ? ", " : "",
                                 REFS_STR_ARG(name), a.size > 0 ? (int)a.size : 4,
                                 a.size > 0 ? a.data : "none", b.size > 0 ? (int)b.size : 4,
                                 b.size > 0 ? b.data : "none"));
    }
    return REFS_OK;
}

static refs_status append_differences(const refs_dtype *dtype, const refs_str described[2],
                                      refs_buf *text, refs_error *err) {
    static const char *const none[] = {NULL};
    return append_differences_but(none, dtype, described, text, err);
}

/* Ignores units of times that are stored as values, and units of equal size. */
static refs_status differ_in_units(const refs_combine *combine, const refs_combine_array *a,
                                   const refs_combine_array *b, refs_buf *text, refs_error *err) {
    refs_str one = refs_combine__text(combine, a->units),
             other = refs_combine__text(combine, b->units);
    const bool are_times =
        refs_combine__counts_time(combine, a) && refs_combine__counts_time(combine, b);
    const bool one_has_none = a->units == REFS_COMBINE_NONE || b->units == REFS_COMBINE_NONE;
    if (a->units == b->units || (a->is_thin && b->is_thin && (are_times || one_has_none)))
        return REFS_OK;
    const refs_cf_conversion_kind found = refs_combine__conversion(combine, a, b);
    const bool is_converted = refs_combine__is_of_fields(combine) && a->is_thin && b->is_thin &&
                              found != REFS_CF_CONVERSION_UNKNOWN;
    if (found == REFS_CF_CONVERSION_NONE || is_converted) return REFS_OK;
    return refs_buf_printf(text, err, "%sunits \"%.*s\" and \"%.*s\"", text->size > 0 ? ", " : "",
                           REFS_STR_ARG(one), REFS_STR_ARG(other));
}

/* Ignores types of times, which become double, and of floats that serve fields. */
static bool get_one_type(const refs_combine *combine, const refs_combine_place *one,
                         const refs_combine_place *other) {
    const refs_cf_units units = refs_combine__count_in(combine, one->member, one->array),
                        theirs = refs_combine__count_in(combine, other->member, other->array);
    const refs_dtype *a = &one->array->dtype, *b = &other->array->dtype;
    refs_cf_clock clock;
    const bool are_times = refs_cf_clock_of(&units, &clock) && refs_cf_clock_of(&theirs, &clock);
    const bool are_packed = refs_combine__is_packed(&one->array->unpacking) ||
                            refs_combine__is_packed(&other->array->unpacking);
    if (are_times && !are_packed) return a->type <= REFS_TYPE_FLOAT && b->type <= REFS_TYPE_FLOAT;
    return a->type == REFS_TYPE_FLOAT && b->type == REFS_TYPE_FLOAT && a->size >= 4 &&
           b->size >= 4 && (refs_combine__is_of_fields(combine) || are_times);
}

/* -- fill values ------------------------------------------------------------------------------- */

/* NaN counts as missing even if it is not declared. */
static bool declares_number(const refs_combine_array *array) {
    if (!array->declares_fill) return false;
    const refs_str fill = refs_str_view((const char *)array->declared, array->dtype.size);
    return !isnan(refs_combine__value_at(&array->dtype, fill, 0).number);
}

bool refs_combine__holds(const refs_combine *combine, const refs_combine_array *array,
                         const uint8_t *element) {
    const refs_str values = refs_combine__text(combine, array->values);
    const size_t size = array->dtype.size;
    for (size_t at = 0; at + size <= values.size; at += size)
        if (memcmp(values.data + at, element, size) == 0) return true;
    return false;
}

static bool holds_declared(const refs_combine *combine, const refs_combine_array *array,
                           const refs_combine_array *declaring) {
    return declares_number(declaring) && refs_combine__holds(combine, array, declaring->declared);
}

static bool declare_one_fill(const refs_combine_array *a, const refs_combine_array *b) {
    return declares_number(a) == declares_number(b) &&
           (!declares_number(a) || memcmp(a->declared, b->declared, a->dtype.size) == 0);
}

static const char *print_declared(const refs_combine_array *array, char text[REFS_VALUE_TEXT]) {
    const refs_str fill = refs_str_view((const char *)array->declared, array->dtype.size);
    if (!array->declares_fill) return "none";
    const refs_value value = refs_combine__value_at(&array->dtype, fill, 0);
    return refs_combine__print_value(&value, text);
}

/* Stored values need a fill value that all parts agree on. */
static refs_status differ_in_fill(const refs_combine *combine, const refs_combine_array *a,
                                  const refs_combine_array *b, refs_buf *text, refs_error *err) {
    char shown[2][REFS_VALUE_TEXT];
    if (a->packing != b->packing || a->dtype.size != b->dtype.size || declare_one_fill(a, b) ||
        !(holds_declared(combine, a, a) || holds_declared(combine, a, b) ||
          holds_declared(combine, b, a) || holds_declared(combine, b, b)))
        return REFS_OK;
    return refs_buf_printf(text, err, "%sfill value %s and %s", text->size > 0 ? ", " : "",
                           print_declared(a, shown[0]), print_declared(b, shown[1]));
}

/* Without a declared one, that is netCDF's default, unless it is a value. */
static refs_status differ_in_default(const refs_combine *combine, const refs_combine_array *a,
                                     const refs_combine_array *b, refs_buf *text, refs_error *err) {
    uint8_t fill[sizeof(double)];
    if (a->declares_fill || b->declares_fill || a->dtype.size != b->dtype.size ||
        refs_combine__has_only_values(a) == refs_combine__has_only_values(b) ||
        !refs_cf_default_fill(&a->dtype, fill) ||
        !(refs_combine__holds(combine, a, fill) || refs_combine__holds(combine, b, fill)))
        return REFS_OK;
    return refs_buf_printf(text, err,
                           "%snetCDF's default fill value, which one of them has as a value",
                           text->size > 0 ? ", " : "");
}

/* Masters declare a fill value for values that no fragment has (refs_combine__declare_fill). */
static bool has_added_fill(const refs_combine_place *master, const refs_combine_place *fragment) {
    return master->member->role != REFS_COMBINE_IS_FRAGMENT &&
           fragment->member->role == REFS_COMBINE_IS_FRAGMENT && master->array->is_thin &&
           master->array->declares_fill && !fragment->array->declares_fill;
}

refs_status refs_combine__differ(const refs_combine *combine, const refs_combine_place *one,
                                 const refs_combine_place *other, refs_buf *text, refs_error *err) {
    const refs_combine_array *a = one->array, *b = other->array;
    bool are_thin = a->is_thin && b->is_thin;
    const refs_str layouts[2] = {refs_combine__text(combine, a->layout),
                                 refs_combine__text(combine, b->layout)},
                   packings[2] = {refs_combine__text(combine, a->packing),
                                  refs_combine__text(combine, b->packing)},
                   ranges[2] = {refs_combine__text(combine, a->range),
                                refs_combine__text(combine, b->range)};
    if (!are_thin && a->layout != b->layout)
        REFS_TRY(append_differences(&a->dtype, layouts, text, err));
    bool is_other_type = !refs_combine__is_one_type(&a->dtype, &b->dtype);
    if (are_thin && is_other_type && !get_one_type(combine, one, other) &&
        (a->dtype.type != REFS_TYPE_BYTES || b->dtype.type != REFS_TYPE_BYTES))
        REFS_TRY(refs_buf_printf(text, err, "the types of their values"));
    static const char *const missing[] = {"missing_value", "_FillValue", NULL};
    const bool is_coordinate = refs_combine__is_coordinate(combine, one->member, a) ||
                               refs_combine__is_coordinate(combine, other->member, b);
    const bool is_added = has_added_fill(one, other) || has_added_fill(other, one);
    if (a->packing != b->packing)
        REFS_TRY(append_differences_but(missing + (is_coordinate ? 0
                                                   : is_added    ? 1
                                                                 : 2),
                                        &a->dtype, packings, text, err));
    if (a->range != b->range && !is_coordinate)
        REFS_TRY(append_differences(&a->dtype, ranges, text, err));
    if (are_thin && !is_other_type && !is_coordinate) {
        REFS_TRY(differ_in_fill(combine, a, b, text, err));
        REFS_TRY(differ_in_default(combine, a, b, text, err));
    }
    return is_coordinate ? REFS_OK : differ_in_units(combine, a, b, text, err);
}
