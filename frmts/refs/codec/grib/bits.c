/* bits.c -- see bits.h. */
#include "bits.h"

bool refs_codec__take_bits(refs_bit_reader *reader, unsigned n_bits, uint32_t *number) {
    uint64_t bits = 0;
    *number = 0;
    if (n_bits > 8 * reader->bytes.size - reader->at) return false;
    size_t begin = reader->at / 8, end = (reader->at + n_bits + 7) / 8;
    for (size_t i = begin; i < end; i++) bits = bits << 8 | reader->bytes.data[i];
    reader->at += n_bits;
    bits >>= 8 * end - reader->at;
    *number = (uint32_t)(bits & ((UINT64_C(1) << n_bits) - 1));
    return true;
}

void refs_codec__align_bits(refs_bit_reader *reader) {
    reader->at = (reader->at + 7) / 8 * 8;
}

int64_t refs_codec__sign_magnitude(uint32_t number, unsigned n_bits) {
    uint32_t sign = UINT32_C(1) << (n_bits - 1);
    return (number & sign) != 0 ? -(int64_t)(number & ~sign) : (int64_t)number;
}
