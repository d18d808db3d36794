/* half.h -- IEEE 754 half floats (binary16), by their bits.
 *
 * Pure functions.
 */
#ifndef REFS_HALF_H
#define REFS_HALF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The value of the bits: exact, since a double can represent every half. */
double refs_half_to_double(uint16_t bits);

/** The bits of the nearest half, ties to even. */
uint16_t refs_half_from_double(double number);

#ifdef __cplusplus
}
#endif
#endif
