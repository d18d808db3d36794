/* attributes.c -- reads and prints strings and numbers of attributes. */
#include "attribute_class.h"
#include "cf_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Digits with which the netCDF driver prints numbers of single and double precision. */
enum { FLOAT_DIGITS = 8, DOUBLE_DIGITS = 16 };

static const char list_separators[] = " \t\r\n,;[]{}()";

static char lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool refs_cf__same_text(refs_str one, refs_str other) {
    if (one.size != other.size) return false;
    for (size_t i = 0; i < one.size; i++)
        if (lower(one.data[i]) != lower(other.data[i])) return false;
    return true;
}

bool refs_cf__begins(refs_str text, const char *word) {
    const refs_str begin = refs_str_from(word);
    return text.size >= begin.size && refs_cf__same_text(refs_str_part(text, 0, begin.size), begin);
}

bool refs_cf__same_word(refs_str text, const char *word) {
    return refs_cf__same_text(text, refs_str_from(word));
}

static refs_str text_of(const refs_json *value) {
    if (refs_json_is_array(value) && refs_json_size(value) == 1) value = refs_json_at(value, 0);
    if (!refs_json_is_string(value)) return refs_str_view(NULL, 0);
    refs_str text = refs_json_text(value);
    return refs_str_part(text, 0, refs_str_find(text, '\0'));
}

refs_str refs_cf__text(const refs_json *attributes, const char *name) {
    return text_of(refs_json_get(attributes, name));
}

bool refs_cf_attribute_number(const refs_json *attributes, const char *name, double *number) {
    double found;
    if (!refs_cf__number(attributes, name, &found)) return false;
    *number = found;
    return true;
}

bool refs_cf_scale_of(const refs_json *attributes, double *scale, double *offset) {
    *scale = 1;
    *offset = 0;
    const bool is_scaled = refs_cf_attribute_number(attributes, "scale_factor", scale),
               is_moved = refs_cf_attribute_number(attributes, "add_offset", offset);
    return is_scaled || is_moved;
}

refs_str refs_cf_attribute_text(const refs_json *attributes, const char *name) {
    return refs_cf__text(attributes, name);
}

/* The colon follows the name of a term or measure, but that of a grid mapping (CF-1.11,
 * section 5.6) is the variable's. */
bool refs_cf_take_related(refs_cf_related *related, refs_str *name) {
    static const char *const attributes[] = {
        "grid_mapping",     "ancillary_variables", "coordinates",     "bounds",
        "climatology",      "formula_terms",       "cell_measures",   "geometry",
        "node_coordinates", "node_count",          "part_node_count", "interior_ring"};
    for (;;) {
        while (refs_str_next_word(&related->rest, REFS_BLANKS, name)) {
            const size_t colon = refs_str_find(*name, ':');
            *name = related->n_read == 1 ? refs_str_part(*name, 0, colon)
                    : colon < name->size ? refs_str_part(*name, colon + 1, name->size)
                                         : *name;
            if (name->size > 0) return true;
        }
        if (related->n_read == sizeof attributes / sizeof *attributes) return false;
        related->rest = refs_cf__text(related->attributes, attributes[related->n_read++]);
        related->is_ancillary = related->n_read == 2;
    }
}

bool refs_cf_has_type_of_variable(refs_str name) {
    return refs_cf_is_attribute_of(name, REFS_CF_MISSING | REFS_CF_VALID | REFS_CF_FLAG_NUMBERS);
}

bool refs_cf_says_time(const refs_array_meta *array) {
    return refs_str_is(refs_cf__text(array->attributes, "standard_name"), "time");
}

refs_str refs_cf__text_any_case(const refs_json *attributes, const char *name) {
    refs_str text = refs_cf__text(attributes, name);
    for (size_t i = 0; text.data == NULL && i < refs_json_size(attributes); i++)
        if (refs_cf__same_word(refs_json_name_at(attributes, i), name))
            text = text_of(refs_json_at(attributes, i));
    return text;
}

/* -- numbers in -------------------------------------------------------------------------------- */

/* Writes `text` in the JSON syntax of numbers: no leading plus, digits before the point and after
 * it. Returns its size, zero if it is not a number. */
static size_t to_json_number(refs_str text, char *out, size_t capacity) {
    size_t used = 0, i = 0;
    bool digits = false;
    if (text.size + 3 > capacity) return 0;
    if (i < text.size && (text.data[i] == '-' || text.data[i] == '+'))
        if (text.data[i++] == '-') out[used++] = '-';
    while (i + 1 < text.size && text.data[i] == '0' && refs_is_digit(text.data[i + 1])) i++;
    for (; i < text.size && refs_is_digit(text.data[i]); digits = true)
        out[used++] = text.data[i++];
    if (!digits) out[used++] = '0';
    if (i < text.size && text.data[i] == '.') {
        out[used++] = text.data[i++];
        if (i == text.size || !refs_is_digit(text.data[i])) out[used++] = '0';
        for (; i < text.size && refs_is_digit(text.data[i]); digits = true)
            out[used++] = text.data[i++];
    }
    if (digits && i + 1 < text.size && lower(text.data[i]) == 'e') {
        out[used++] = text.data[i++];
        if (text.data[i] == '-' || text.data[i] == '+') out[used++] = text.data[i++];
        if (i == text.size) return 0;
        while (i < text.size && refs_is_digit(text.data[i])) out[used++] = text.data[i++];
    }
    return digits && i == text.size ? used : 0;
}

bool refs_cf__parse_number(refs_str text, double *number) {
    if (refs_cf__same_word(text, "nan")) {
        *number = (double)NAN;
        return true;
    }
    char json[80];
    size_t size = to_json_number(text, json, sizeof json);
    if (size > 0) *number = refs_json_number_to_double(refs_str_view(json, size));
    return size > 0;
}

static bool parse_infinity(refs_str text, double *number) {
    bool is_signed = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
    refs_str word = refs_str_part(text, is_signed ? 1 : 0, text.size);
    if (!refs_cf__same_word(word, "inf") && !refs_cf__same_word(word, "infinity")) return false;
    *number = is_signed && text.data[0] == '-' ? (double)-INFINITY : (double)INFINITY;
    return true;
}

/* Parses a number of CDL, which may have a type suffix: "39.25f". */
static bool parse_typed_number(refs_str text, double *number) {
    if (refs_cf__parse_number(text, number) || parse_infinity(text, number)) return true;
    char last = text.size > 1 ? lower(text.data[text.size - 1]) : '\0';
    return (last == 'f' || last == 'd') &&
           refs_cf__parse_number(refs_str_part(text, 0, text.size - 1), number);
}

static size_t numbers_in_text(refs_str text, double *numbers, size_t max) {
    size_t n = 0;
    refs_str word;
    while (n < max && refs_str_next_word(&text, list_separators, &word)) {
        if (!parse_typed_number(word, &numbers[n])) return 0;
        n++;
    }
    return n;
}

size_t refs_cf__numbers(const refs_json *attributes, const char *name, double *numbers,
                        size_t max) {
    const refs_json *value = refs_json_get(attributes, name);
    if (refs_json_is_string(value)) return numbers_in_text(text_of(value), numbers, max);
    if (refs_json_is_number(value)) return max > 0 && refs_json_double(value, numbers) ? 1 : 0;
    if (!refs_json_is_array(value)) return 0;
    size_t n = refs_json_size(value) < max ? refs_json_size(value) : max;
    for (size_t i = 0; i < n; i++) {
        const refs_json *element = refs_json_at(value, i);
        if (refs_json_double(element, &numbers[i])) continue;
        if (!parse_typed_number(text_of(element), &numbers[i])) return 0;
    }
    return n;
}

bool refs_cf__number(const refs_json *attributes, const char *name, double *number) {
    return refs_cf__numbers(attributes, name, number, 1) == 1;
}

static bool is_single(double number) {
    return fabs(number) < 3.4e38 && (double)(float)number == number;
}

size_t refs_cf__parameters(const refs_json *attributes, const char *name, double *numbers,
                           size_t max) {
    size_t n = refs_cf__numbers(attributes, name, numbers, max);
    for (size_t i = 0; i < n; i++) {
        char printed[64];
        if (is_single(numbers[i]) &&
            snprintf(printed, sizeof printed, "%.*e", FLOAT_DIGITS - 1, numbers[i]) > 0)
            numbers[i] = strtod(printed, NULL); /* of the same locale */
    }
    return n;
}

bool refs_cf__parameter(const refs_json *attributes, const char *name, double *number) {
    return refs_cf__parameters(attributes, name, number, 1) == 1;
}

/* -- numbers out ------------------------------------------------------------------------------- */

refs_status refs_cf__print_number(double number, int digits, refs_buf *text, refs_error *err) {
    if (isnan(number)) return refs_buf_printf(text, err, "nan");
    if (isinf(number)) return refs_buf_printf(text, err, number > 0 ? "inf" : "-inf");
    char printed[64];
    snprintf(printed, sizeof printed, "%.*g", digits, number);
    /* Any other character there is the decimal point of the process's locale. */
    bool point = false;
    for (const char *c = printed; *c != '\0'; c++) {
        bool plain = refs_is_digit(*c) || *c == '-' || *c == '+' || *c == 'e';
        if (plain) REFS_TRY(refs_buf_append(text, c, 1, err));
        if (!plain && !point) REFS_TRY(refs_buf_append(text, ".", 1, err));
        point = point || !plain;
    }
    return REFS_OK;
}

refs_status refs_cf__print_typed(double number, const refs_dtype *dtype, refs_buf *text,
                                 refs_error *err) {
    bool real = dtype->type == REFS_TYPE_FLOAT || dtype->type == REFS_TYPE_COMPLEX;
    if (!real && fabs(number) < 0x1p63) return refs_buf_printf(text, err, "%.0f", number);
    bool single = dtype->type == REFS_TYPE_FLOAT && dtype->size <= 4;
    return refs_cf__print_number(number, single ? FLOAT_DIGITS : DOUBLE_DIGITS, text, err);
}

static refs_status print_json_number(const refs_json *value, refs_buf *text, refs_error *err) {
    refs_str written = refs_json_text(value);
    bool integer = true;
    for (size_t i = 0; i < written.size; i++)
        integer = integer && (refs_is_digit(written.data[i]) || written.data[i] == '-');
    if (integer) return refs_buf_append_str(text, written, err);
    double number = 0;
    refs_json_double(value, &number);
    return refs_cf__print_number(number, is_single(number) ? FLOAT_DIGITS : DOUBLE_DIGITS, text,
                                 err);
}

static refs_status print_scalar(const refs_json *value, refs_buf *text, refs_error *err) {
    switch (refs_json_kind_of(value)) {
    case REFS_JSON_KIND_STRING:
        return refs_buf_append_str(text, text_of(value), err);
    case REFS_JSON_KIND_NUMBER:
        return print_json_number(value, text, err);
    default:
        return refs_json_write(value, text, err);
    }
}

refs_status refs_cf__print_attribute(const refs_json *value, refs_buf *text, refs_error *err) {
    if (!refs_json_is_array(value)) return print_scalar(value, text, err);
    size_t n = refs_json_size(value);
    if (n != 1) REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < n; i++) {
        if (i > 0) REFS_TRY(refs_buf_append(text, ",", 1, err));
        REFS_TRY(print_scalar(refs_json_at(value, i), text, err));
    }
    if (n != 1) REFS_TRY(refs_buf_append(text, "}", 1, err));
    return REFS_OK;
}
