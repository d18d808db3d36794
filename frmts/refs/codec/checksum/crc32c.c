/* crc32c.c -- codec "crc32c": Castagnoli's checksum (RFC 3720, appendix B.4), by default after the
 * content. Zarr v3 has it under the same name. */
#include "checksum.h"

/* The polynomial, its bits reversed. */
#define POLYNOMIAL 0x82f63b78u

/* The effect of four bits shifted out of the sum: small enough to be computed for each chunk. */
typedef struct nibbles {
    uint32_t sums[16];
} nibbles;

static nibbles make_nibbles(void) {
    nibbles table;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t sum = i;
        for (int bit = 0; bit < 4; bit++) sum = sum >> 1 ^ ((sum & 1) != 0 ? POLYNOMIAL : 0);
        table.sums[i] = sum;
    }
    return table;
}

static uint32_t crc32c(refs_bytes content) {
    nibbles table = make_nibbles();
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < content.size; i++) {
        sum ^= content.data[i];
        sum = sum >> 4 ^ table.sums[sum & 15];
        sum = sum >> 4 ^ table.sums[sum & 15];
    }
    return ~sum;
}

REFS_CHECKSUM_CODEC(crc32c, REFS_CHECKSUM_AT_END,
                    "a checksum of four bytes before or after the data", "REFS");
