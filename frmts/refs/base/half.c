/* half.c -- see half.h. One sign bit, five exponent bits (bias 15), ten fraction bits. */
#include "refs/half.h"

#include <math.h>
#include <string.h>

double refs_half_to_double(uint16_t bits) {
    /* Exponent and fraction are moved to their position in a double, whose bias is greater by 1008:
     * a multiplication corrects that, for subnormal halves, too. */
    uint64_t wide = (uint64_t)(bits & 0x7fff) << 42;
    if ((bits & 0x7c00) == 0x7c00) wide |= UINT64_C(0x7ff) << 52;
    double size;
    memcpy(&size, &wide, sizeof size);
    size *= 0x1p1008;
    return (bits & 0x8000) != 0 ? -size : size;
}

/* The bits of a magnitude below 65520, from which halves round to infinity. A fraction that rounds
 * up to 1024 carries into the exponent, as it should. */
static unsigned finite_bits(double size) {
    if (size < 0x1p-14) return (unsigned)nearbyint(ldexp(size, 24));
    int exponent;
    double significand = frexp(size, &exponent);
    return ((unsigned)(exponent + 14) << 10) + (unsigned)nearbyint(ldexp(significand, 11)) - 1024;
}

uint16_t refs_half_from_double(double number) {
    unsigned bits = signbit(number) ? 0x8000 : 0;
    double size = fabs(number);
    if (isnan(number))
        bits |= 0x7e00;
    else
        bits |= size >= 65520 ? 0x7c00 : finite_bits(size);
    return (uint16_t)bits;
}
