/* bits.h -- numbers of any number of bits, as GRIB packs them. */
#ifndef REFS_CODEC_GRIB_BITS_H
#define REFS_CODEC_GRIB_BITS_H

#include "refs/bytes.h"

/** Numbers of any number of bits, the highest first. */
typedef struct refs_bit_reader {
    refs_bytes bytes;
    size_t at; /**< bits read */
} refs_bit_reader;

/** Takes a number of at most 32 bits; false, and 0, where the bytes end before. */
bool refs_codec__take_bits(refs_bit_reader *reader, unsigned n_bits, uint32_t *number);

/** Goes on to the next whole byte. */
void refs_codec__align_bits(refs_bit_reader *reader);

/** A sign and a magnitude, as GRIB has negative numbers, from `n_bits` of them. */
int64_t refs_codec__sign_magnitude(uint32_t number, unsigned n_bits);

#endif
