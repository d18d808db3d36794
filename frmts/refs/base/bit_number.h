/* bit_number.h -- numbers that have bits to spare in their bytes, and floats of any layout, as HDF5
 * describes them.
 *
 * Pure functions.
 */
#ifndef REFS_BIT_NUMBER_H
#define REFS_BIT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum refs_bit_number_kind {
    REFS_BIT_SIGNED,
    REFS_BIT_UNSIGNED,
    REFS_BIT_FLOAT
} refs_bit_number_kind;

/** How a number lies in its bytes. Bits are counted from the lowest one of all its bytes. */
typedef struct refs_bit_number {
    refs_bit_number_kind kind;
    uint32_t size; /**< bytes */
    bool is_big_endian;
    uint32_t offset, bits; /**< of integers: the lowest bit, and how many */
    uint32_t sign;         /**< of floats: the sign bit, and the lowest bit and the bit count of
                              exponent and mantissa */
    uint32_t exponent, exponent_bits;
    uint32_t mantissa, mantissa_bits;
    bool is_leading_implied; /**< the mantissa's first bit is not stored */
    uint32_t bias;
} refs_bit_number;

/** Whether the functions below support a layout: all bits are in its bytes, an integer has at most
 * 64 of them, an exponent at most 20 and a mantissa at most 128. They must not be called for
 * others. */
bool refs_bit_number_is_readable(const refs_bit_number *number);

/** The integer at `bytes`; a negative one modulo 2^64. */
uint64_t refs_bit_number_integer(const refs_bit_number *number, const uint8_t *bytes);

/** Sets *value to the double nearest to the float at `bytes`, ties to even; false if a finite float
 * overflows to infinity. */
bool refs_bit_number_float(const refs_bit_number *number, const uint8_t *bytes, double *value);

/** The smallest NumPy type that holds all such numbers and has at least their size, or 8 bytes:
 * returns 'i', 'u' or 'f' and sets *size to its bytes. Floats that no type holds are 'f' of 8
 * bytes. */
char refs_bit_number_type(const refs_bit_number *number, uint32_t *size);

#ifdef __cplusplus
}
#endif
#endif
