/* template_value.c -- see template_value.h. */
#include "refs/template_value.h"

#include "refs/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ALIGNMENT 16

refs_status refs_value_scratch_take(refs_template_scratch *scratch, size_t size, void **memory,
                                    refs_error *err) {
    size_t left = scratch->capacity - scratch->used;
    if (size > left || left - size < ALIGNMENT)
        return refs_fail(err, REFS_LIMIT, "expression needs more than %zu bytes",
                         scratch->capacity);
    *memory = scratch->memory + scratch->used;
    scratch->used += size > 0 ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
    return REFS_OK;
}

refs_status refs_value_scratch_copy(refs_template_scratch *scratch, refs_str bytes, refs_str *text,
                                    refs_error *err) {
    void *memory = NULL;
    REFS_TRY(refs_value_scratch_take(scratch, bytes.size, &memory, err));
    if (bytes.size > 0) memcpy(memory, bytes.data, bytes.size);
    *text = refs_str_view(memory, bytes.size);
    return REFS_OK;
}

const char *refs_value_kind_text(refs_value_kind kind) {
    static const char *const strings[] = {"none",    "a boolean",    "an integer",
                                          "a float", "a string",     "a tuple",
                                          "a list",  "a dictionary", "a template with arguments"};
    return strings[kind];
}

bool refs_value_truth(const refs_value *value) {
    switch (value->kind) {
    case REFS_VALUE_NONE:
        return false;
    case REFS_VALUE_BOOL:
    case REFS_VALUE_INTEGER:
        return value->integer != 0;
    case REFS_VALUE_FLOAT:
        return value->number != 0;
    case REFS_VALUE_TEXT:
        return value->text.size > 0;
    case REFS_VALUE_TUPLE:
    case REFS_VALUE_LIST:
    case REFS_VALUE_DICTIONARY:
        return value->tuple.n > 0;
    case REFS_VALUE_TEMPLATE:
        break;
    }
    return true;
}

/* -- text -------------------------------------------------------------------------------------- */

/* The shortest digits that read back as `number`, which is finite, and the exponent of the first.
 * The locale's decimal point is whatever stands between digits. */
static size_t shortest_digits(double number, char digits[20], int *exponent) {
    char text[64];
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, number);
        if (precision == 16 || strtod(text, NULL) == number) break;
    }
    size_t n = 0, i = 0;
    for (; text[i] != '\0' && text[i] != 'e'; i++)
        if (text[i] >= '0' && text[i] <= '9') digits[n++] = text[i];
    *exponent = text[i] == 'e' ? atoi(text + i + 1) : 0;
    return n;
}

/* repr() of a float: positional from 1e-4 up to 1e16, else with an exponent. */
static void write_float(double number, char *text, size_t size) {
    if (isnan(number) || isinf(number)) {
        snprintf(text, size, "%s", isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
        return;
    }
    char digits[20];
    int exponent;
    const char *sign = signbit(number) ? "-" : "";
    int n = (int)shortest_digits(fabs(number), digits, &exponent);
    if (exponent < -4 || exponent >= 16)
        snprintf(text, size, "%s%c%s%.*se%c%02d", sign, digits[0], n > 1 ? "." : "", n - 1,
                 digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
    else if (exponent < 0)
        snprintf(text, size, "%s0.%.*s%.*s", sign, -exponent - 1, "0000", n, digits);
    else if (n <= exponent + 1)
        snprintf(text, size, "%s%.*s%.*s.0", sign, n, digits, exponent + 1 - n, "0000000000000000");
    else
        snprintf(text, size, "%s%.*s.%.*s", sign, exponent + 1, digits, n - exponent - 1,
                 digits + exponent + 1);
}

/* Generators write millions of integers, at a fifth of what snprintf takes where a library of the
 * process has registered formats of its own, as those of Fortran do. */
static refs_str write_integer(int64_t integer, char *end) {
    uint64_t left = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    char *begin = end;
    do {
        *--begin = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (integer < 0) *--begin = '-';
    return (refs_str){begin, (size_t)(end - begin)};
}

refs_status refs_value_to_text(const refs_value *value, refs_template_scratch *scratch,
                               refs_str *text, refs_error *err) {
    char written[64];
    switch (value->kind) {
    case REFS_VALUE_TEXT:
        *text = value->text;
        return REFS_OK;
    case REFS_VALUE_NONE:
        *text = refs_str_from("None");
        return REFS_OK;
    case REFS_VALUE_BOOL:
        *text = refs_str_from(value->integer != 0 ? "True" : "False");
        return REFS_OK;
    case REFS_VALUE_INTEGER:
        return refs_value_scratch_copy(
            scratch, write_integer(value->integer, written + sizeof written), text, err);
    case REFS_VALUE_FLOAT:
        write_float(value->number, written, sizeof written);
        break;
    case REFS_VALUE_TUPLE:
    case REFS_VALUE_LIST:
    case REFS_VALUE_DICTIONARY:
    case REFS_VALUE_TEMPLATE:
        return refs_fail(err, REFS_INVALID, "%s is not a string",
                         refs_value_kind_text(value->kind));
    }
    return refs_value_scratch_copy(scratch, refs_str_from(written), text, err);
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* int() of a text allows white space around, a sign and zeros before the digits. */
static bool read_integer(refs_str text, int64_t *integer) {
    text = refs_str_trim(text, " \t\n\r\f\v");
    bool negative = refs_str_starts(text, "-");
    if (negative || refs_str_starts(text, "+")) text = refs_str_part(text, 1, text.size);
    int64_t value = 0;
    for (size_t i = 0; i < text.size; i++) {
        int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    /* The negative side is the larger one. */
    if (text.size == 0 || (!negative && value == INT64_MIN)) return false;
    *integer = negative ? value : -value;
    return true;
}

refs_status refs_value_to_integer(const refs_value *value, int64_t *integer, refs_error *err) {
    if (refs_value_is_integer(value)) {
        *integer = value->integer;
        return REFS_OK;
    }
    if (value->kind == REFS_VALUE_FLOAT && fabs(value->number) < 9.2e18) {
        *integer = (int64_t)value->number;
        return REFS_OK;
    }
    if (value->kind == REFS_VALUE_TEXT) {
        if (read_integer(value->text, integer)) return REFS_OK;
        return refs_fail(err, REFS_INVALID, "\"%.*s\" is not an integer of 64 bits",
                         REFS_STR_ARG(value->text));
    }
    return refs_fail(err, REFS_INVALID, "%s is not an integer of 64 bits",
                     refs_value_kind_text(value->kind));
}

static size_t end_of_digits(refs_str text, size_t at) {
    while (at < text.size && text.data[at] >= '0' && text.data[at] <= '9') at++;
    return at;
}

/* A decimal number without its sign, or what is none. */
static bool is_decimal(refs_str text) {
    size_t end = end_of_digits(text, 0);
    bool has_digits = end > 0;
    if (end < text.size && text.data[end] == '.') {
        size_t begin = end + 1;
        end = end_of_digits(text, begin);
        has_digits = has_digits && end > begin;
    }
    if (end < text.size && (text.data[end] == 'e' || text.data[end] == 'E')) {
        size_t begin = end + 1;
        if (begin < text.size && (text.data[begin] == '+' || text.data[begin] == '-')) begin++;
        end = end_of_digits(text, begin);
        has_digits = has_digits && end > begin;
    }
    return has_digits && end == text.size;
}

static bool read_float(refs_str text, double *number) {
    refs_str word = refs_str_trim(text, " \t\n\r\f\v");
    bool negative = refs_str_starts(word, "-");
    if (negative || refs_str_starts(word, "+")) word = refs_str_part(word, 1, word.size);
    if (!is_decimal(word)) return false;
    size_t zeros = 0; /* before another digit, which JSON has not */
    while (zeros + 1 < end_of_digits(word, 0) && word.data[zeros] == '0') zeros++;
    double size = refs_json_number_to_double(refs_str_part(word, zeros, word.size));
    *number = negative ? -size : size;
    return true;
}

refs_status refs_value_to_float(const refs_value *value, double *number, refs_error *err) {
    *number = 0;
    if (refs_value_is_number(value)) {
        *number = refs_value_as_float(value);
        return REFS_OK;
    }
    if (value->kind != REFS_VALUE_TEXT)
        return refs_fail(err, REFS_INVALID, "%s is not a number",
                         refs_value_kind_text(value->kind));
    return read_float(value->text, number)
               ? REFS_OK
               : refs_fail(err, REFS_INVALID, "\"%.*s\" is not a number",
                           REFS_STR_ARG(value->text));
}
