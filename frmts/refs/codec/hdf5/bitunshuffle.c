/* bitunshuffle.c -- see bitshuffle.h. */
#include "bitshuffle.h"

#define TARGET_BLOCK_BYTES 8192
#define MIN_BLOCK_ELEMENTS 128

size_t refs_codec__bitshuffle_block(size_t element_size) {
    size_t n = TARGET_BLOCK_BYTES / element_size;
    n -= n % REFS_BITSHUFFLE_MULTIPLE;
    return n > MIN_BLOCK_ELEMENTS ? n : MIN_BLOCK_ELEMENTS;
}

/* Transposes eight bytes as an 8 x 8 matrix of bits, in three steps: swaps blocks of 4 x 4, of 2 x
 * 2, and single bits. */
static uint64_t transpose_bits(uint64_t bits) {
    uint64_t swap = (bits ^ bits >> 7) & UINT64_C(0x00aa00aa00aa00aa);
    bits ^= swap ^ swap << 7;
    swap = (bits ^ bits >> 14) & UINT64_C(0x0000cccc0000cccc);
    bits ^= swap ^ swap << 14;
    swap = (bits ^ bits >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return bits ^ swap ^ swap << 28;
}

/* Plane number 8 * byte + bit has that bit of all elements, the first element's lowest. */
void refs_codec__bitunshuffle(const uint8_t *src, size_t n, size_t element_size, uint8_t *dst) {
    size_t plane_bytes = n / 8;
    for (size_t byte = 0; byte < element_size; byte++) {
        const uint8_t *planes = src + 8 * byte * plane_bytes;
        for (size_t i = 0; i < plane_bytes; i++) {
            uint64_t bits = 0;
            for (int plane = 0; plane < 8; plane++)
                bits |= (uint64_t)planes[(size_t)plane * plane_bytes + i] << 8 * plane;
            bits = transpose_bits(bits);
            for (size_t element = 0; element < 8; element++)
                dst[(8 * i + element) * element_size + byte] = (uint8_t)(bits >> 8 * element);
        }
    }
}
