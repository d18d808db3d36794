/* json_number.c -- the value of a number token, see json.h. */
#include "refs/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Exponents beyond these bounds make no difference to any type. */
#define MAX_EXPONENT 100000000

/* More digits than any double needs to be rounded correctly. */
#define MAX_DIGITS 800

/* A number as 0.DDDD * 10^exponent: `digits` has a point somewhere, but no leading zeros. */
typedef struct decimal {
    bool negative;
    bool written_integral; /* neither a point nor an exponent */
    refs_str digits;
    int64_t exponent;
} decimal;

static int64_t read_exponent(refs_str text) {
    bool negative = text.size > 0 && text.data[0] == '-';
    int64_t exponent = 0;
    for (size_t i = 0; i < text.size && exponent < MAX_EXPONENT; i++)
        if (text.data[i] >= '0' && text.data[i] <= '9')
            exponent = exponent * 10 + text.data[i] - '0';
    return negative ? -exponent : exponent;
}

/* False for NaN and the infinities. */
static bool read_decimal(refs_str text, decimal *number) {
    *number = (decimal){.negative = text.size > 0 && text.data[0] == '-'};
    refs_str digits = refs_str_part(text, number->negative ? 1 : 0, text.size);
    if (digits.size == 0 || digits.data[0] < '0' || digits.data[0] > '9') return false;

    size_t end = 0, point = SIZE_MAX;
    for (; end < digits.size && (digits.data[end] | 0x20) != 'e'; end++)
        if (digits.data[end] == '.') point = end;
    number->written_integral = end == digits.size && point == SIZE_MAX;
    number->exponent = read_exponent(refs_str_part(digits, end + 1, digits.size));
    number->exponent += (int64_t)(point == SIZE_MAX ? end : point);

    size_t begin = 0;
    for (; begin < end && (digits.data[begin] == '0' || digits.data[begin] == '.'); begin++)
        if (digits.data[begin] == '0') number->exponent--;
    number->digits = refs_str_part(digits, begin, end);
    return true;
}

/* Sets *magnitude if that is an integer below 2^64. */
static bool decimal_to_u64(const decimal *number, uint64_t *magnitude) {
    uint64_t value = 0;
    int64_t place = number->exponent;
    for (size_t i = 0; i < number->digits.size; i++) {
        char c = number->digits.data[i];
        if (c == '.') continue;
        if (place-- <= 0) {
            if (c != '0') return false;
        } else if (!refs_mul_u64(value, 10, &value) ||
                   !refs_add_u64(value, (uint64_t)(c - '0'), &value)) {
            return false;
        }
    }
    for (; place > 0 && value > 0; place--)
        if (!refs_mul_u64(value, 10, &value)) return false;
    *magnitude = value;
    return true;
}

bool refs_json_number_to_u64(refs_str text, uint64_t *number, bool *integral) {
    *integral = true;
    if (refs_str_to_u64(text, number)) return true;
    decimal value;
    uint64_t magnitude;
    if (!read_decimal(text, &value) || !decimal_to_u64(&value, &magnitude)) return false;
    if (value.negative && magnitude > 0) return false;
    *number = magnitude;
    *integral = value.written_integral;
    return true;
}

bool refs_json_number_to_i64(refs_str text, int64_t *number, bool *integral) {
    decimal value;
    uint64_t magnitude;
    if (!read_decimal(text, &value) || !decimal_to_u64(&value, &magnitude)) return false;
    uint64_t limit = (uint64_t)INT64_MAX + (value.negative ? 1 : 0);
    if (magnitude > limit) return false;
    *number = (int64_t)(value.negative ? 0 - magnitude : magnitude);
    *integral = value.written_integral;
    return true;
}

double refs_json_number_to_double(refs_str text) {
    decimal value;
    if (!read_decimal(text, &value))
        return refs_str_is(text, "NaN") ? (double)NAN
               : value.negative         ? -(double)INFINITY
                                        : (double)INFINITY;

    /* strtod uses the decimal point of the locale, so it gets an integer and an exponent. */
    char digits[MAX_DIGITS + 32];
    size_t size = 0;
    for (size_t i = 0; i < value.digits.size && size < MAX_DIGITS; i++)
        if (value.digits.data[i] != '.') digits[size++] = value.digits.data[i];
    if (size == 0) digits[size++] = '0';
    snprintf(digits + size, sizeof digits - size, "e%lld",
             (long long)value.exponent - (long long)size);
    double magnitude = strtod(digits, NULL);
    return value.negative ? -magnitude : magnitude;
}
