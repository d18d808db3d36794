/* fletcher32.c -- codec "fletcher32": HDF5's checksum, after the content. */
#include "checksum.h"

/* The number of words that can be summed before 32 bits overflow. */
#define WORDS_PER_FOLD 360

/* Carries are added, as in HDF5, so that 0xffff and 0 differ, unlike with a remainder by 65535. */
static uint32_t fold(uint32_t sum) {
    return (sum & 0xffff) + (sum >> 16);
}

/* HDF5's H5_checksum_fletcher32: over big-endian words, an odd last byte being the upper half of
 * one. */
static uint32_t fletcher32(refs_bytes bytes) {
    uint32_t sum1 = 0, sum2 = 0;
    const uint8_t *p = bytes.data;
    for (size_t words = (bytes.size + 1) / 2; words > 0;) {
        size_t n = words < WORDS_PER_FOLD ? words : WORDS_PER_FOLD;
        for (size_t i = 0; i < n; i++, p += 2) {
            bool halved = p + 1 == bytes.data + bytes.size;
            sum1 += (uint32_t)p[0] << 8 | (halved ? 0u : p[1]);
            sum2 += sum1;
        }
        sum1 = fold(sum1);
        sum2 = fold(sum2);
        words -= n;
    }
    return fold(sum2) << 16 | fold(sum1);
}

REFS_CHECKSUM_CODEC(fletcher32, REFS_CHECKSUM_AT_END, "the checksum of HDF5's filter", "REFS");
