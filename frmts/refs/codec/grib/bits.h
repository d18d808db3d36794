/* bits.h -- reads numbers of any number of bits. */
#ifndef REFS_CODEC_GRIB_BITS_H
#define REFS_CODEC_GRIB_BITS_H

#include "refs/bytes.h"

/** Reads bits, the highest of each byte first. */
typedef struct refs_bit_reader {
    refs_bytes bytes;
    size_t at; /**< number of bits read */
} refs_bit_reader;

/** Reads a number of at most 32 bits; false, and 0, if the bytes end before. */
bool refs_codec__take_bits(refs_bit_reader *reader, unsigned n_bits, uint32_t *number);

/** Skips to the next whole byte. */
void refs_codec__align_bits(refs_bit_reader *reader);

/** Converts a sign bit and a magnitude, together `n_bits` bits, GRIB's format of negative
 * numbers. */
int64_t refs_codec__sign_magnitude(uint32_t number, unsigned n_bits);

#endif
