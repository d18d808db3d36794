/* bit_number.c -- see bit_number.h. Sources of exponents and mantissas: HDF5 File Format
 * Specification IV.A.2.d, and the conversion of floats by HDF5 1.10. */
#include "refs/bit_number.h"

#include <math.h>
#include <stddef.h>

enum { MAX_EXPONENT_BITS = 20, MAX_MANTISSA_BITS = 128, MAX_BIAS = 1 << MAX_EXPONENT_BITS };

static bool is_within(const refs_bit_number *number, uint32_t at, uint32_t n) {
    uint64_t all = 8 * (uint64_t)number->size;
    return n <= all && at <= all - n;
}

bool refs_bit_number_is_readable(const refs_bit_number *number) {
    if (number->kind != REFS_BIT_FLOAT)
        return number->bits >= 1 && number->bits <= 64 &&
               is_within(number, number->offset, number->bits);
    return is_within(number, number->sign, 1) &&
           is_within(number, number->exponent, number->exponent_bits) &&
           is_within(number, number->mantissa, number->mantissa_bits) &&
           number->exponent_bits >= 1 && number->exponent_bits <= MAX_EXPONENT_BITS &&
           number->mantissa_bits >= 1 && number->mantissa_bits <= MAX_MANTISSA_BITS &&
           number->bias <= MAX_BIAS;
}

/* The `n` bits, at most 64, from bit `at` on. */
static uint64_t take(const refs_bit_number *number, const uint8_t *bytes, uint32_t at, uint32_t n) {
    uint64_t value = 0;
    for (uint32_t done = 0; done < n;) {
        uint32_t byte = (at + done) / 8, shift = (at + done) % 8;
        uint64_t bits = bytes[number->is_big_endian ? number->size - 1 - byte : byte] >> shift;
        value |= bits << done;
        done += 8 - shift;
    }
    return n < 64 ? value & ((UINT64_C(1) << n) - 1) : value;
}

uint64_t refs_bit_number_integer(const refs_bit_number *number, const uint8_t *bytes) {
    uint64_t value = take(number, bytes, number->offset, number->bits);
    bool is_negative = number->kind == REFS_BIT_SIGNED && (value >> (number->bits - 1) & 1) != 0;
    return is_negative && number->bits < 64 ? value | ~UINT64_C(0) << number->bits : value;
}

/* -- floats ------------------------------------------------------------------------------------ */

/* The mantissa's highest 64 bits. The last one is also set if any of the lower bits is (a sticky
 * bit). */
static uint64_t take_mantissa(const refs_bit_number *number, const uint8_t *bytes) {
    uint32_t at = number->mantissa, n = number->mantissa_bits;
    if (n <= 64) return take(number, bytes, at, n);
    uint64_t rest = take(number, bytes, at, n - 64);
    return take(number, bytes, at + n - 64, 64) | (rest != 0);
}

/* Whether any bit of the fraction is set. The integer bit, which x87 stores, does not count: its
 * infinity has it. */
static bool has_fraction(const refs_bit_number *number, uint64_t mantissa) {
    uint32_t n = number->mantissa_bits < 64 ? number->mantissa_bits : 64;
    return number->is_leading_implied ? mantissa != 0 : (mantissa & ~(UINT64_C(1) << (n - 1))) != 0;
}

/* The double nearest to mantissa * 2^exponent. A subnormal result, of fewer than 53 bits, is
 * rounded here: ldexp would round a second time after the conversion to double. */
static double scale(uint64_t mantissa, int exponent) {
    enum { LEAST_NORMAL = -1022, LEAST = -1074 };
    int top = 63;
    if (mantissa == 0) return 0;
    while ((mantissa >> top & 1) == 0) top--;
    if (top + exponent >= LEAST_NORMAL || exponent >= LEAST)
        return ldexp((double)mantissa, exponent);
    int dropped = LEAST - exponent;
    if (dropped > top + 1) return 0;
    uint64_t kept = dropped < 64 ? mantissa >> dropped : 0;
    uint64_t rest = dropped < 64 ? mantissa & ((UINT64_C(1) << dropped) - 1) : mantissa;
    uint64_t half = UINT64_C(1) << (dropped - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) kept++;
    return ldexp((double)kept, LEAST);
}

bool refs_bit_number_float(const refs_bit_number *number, const uint8_t *bytes, double *value) {
    uint64_t mantissa = take_mantissa(number, bytes);
    uint64_t exponent = take(number, bytes, number->exponent, number->exponent_bits);
    double sign = take(number, bytes, number->sign, 1) != 0 ? -1 : 1;
    if (exponent == (UINT64_C(1) << number->exponent_bits) - 1) {
        *value = has_fraction(number, mantissa) ? (double)NAN : sign * (double)INFINITY;
        return true;
    }
    /* The bits that exceed 64 are merged into the lowest one. */
    uint32_t n = number->mantissa_bits < 64 ? number->mantissa_bits : 64;
    int power = (int)exponent - (int)number->bias - (int)n + 1;
    if (number->is_leading_implied && exponent > 0) {
        if (n == 64) mantissa = mantissa >> 1 | (mantissa & 1);
        if (n == 64) n--;
        mantissa |= UINT64_C(1) << n;
        power = (int)exponent - (int)number->bias - (int)n;
    }
    *value = sign * scale(mantissa, power);
    return !isinf(*value);
}

/* -- types ------------------------------------------------------------------------------------- */

static bool has_floats(const refs_bit_number *number, int mantissa_bits, int max_exponent) {
    int bits = (int)number->mantissa_bits - (number->is_leading_implied ? 0 : 1);
    int most = (1 << number->exponent_bits) - 2 - (int)number->bias;
    int least = 1 - (int)number->bias;
    return bits <= mantissa_bits && most <= max_exponent && least >= 1 - max_exponent;
}

char refs_bit_number_type(const refs_bit_number *number, uint32_t *size) {
    *size = number->kind == REFS_BIT_FLOAT ? 2 : 1;
    while (*size < number->size && *size < 8) *size *= 2;
    if (number->kind == REFS_BIT_SIGNED) return 'i';
    if (number->kind == REFS_BIT_UNSIGNED) return 'u';
    if (*size == 2 && !has_floats(number, 10, 15)) *size = 4;
    if (*size == 4 && !has_floats(number, 23, 127)) *size = 8;
    return 'f';
}
