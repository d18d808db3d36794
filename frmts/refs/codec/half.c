/* half.c -- see half.h. One sign bit, five exponent bits (bias 15), ten fraction bits. */
#include "half.h"

#include <math.h>

double refs_codec__half_to_double(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    double size;
    if (exponent == 31)
        size = fraction != 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        size = ldexp(fraction, -24);
    else
        size = ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

/* The bits of a size below 65520, what rounds to infinity. A fraction that rounds up to 1024
 * carries into the exponent, as it should. */
static unsigned finite_bits(double size) {
    if (size < 0x1p-14) return (unsigned)nearbyint(ldexp(size, 24));
    int exponent;
    double significand = frexp(size, &exponent);
    return ((unsigned)(exponent + 14) << 10) + (unsigned)nearbyint(ldexp(significand, 11)) - 1024;
}

uint16_t refs_codec__half_from_double(double number) {
    unsigned bits = signbit(number) ? 0x8000 : 0;
    double size = fabs(number);
    if (isnan(number))
        bits |= 0x7e00;
    else
        bits |= size >= 65520 ? 0x7c00 : finite_bits(size);
    return (uint16_t)bits;
}
