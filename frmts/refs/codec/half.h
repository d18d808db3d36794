/* half.h -- IEEE 754 half floats, by their bits.
 *
 * Pure functions.
 */
#ifndef REFS_CODEC_HALF_H
#define REFS_CODEC_HALF_H

#include <stdint.h>

/** What the bits mean. */
double refs_codec__half_to_double(uint16_t bits);

/** The bits of the nearest half, of two equally near ones the even. */
uint16_t refs_codec__half_from_double(double number);

#endif
