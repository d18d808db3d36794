/* sums.c -- see sums.h.
 *
 * Each sum depends on the previous one, so a simple loop is slow. Sixteen bytes are summed in
 * parallel steps, which add to all numbers those 1, 2, 4 ... positions before; only the last sum is
 * then carried to the next sixteen bytes.
 */
#include "sums.h"

#include <string.h>

#define BLOCK 16 /* bytes */

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

#define DEFINE_PLAIN(bits)                                                                         \
    static void plain_##bits(const uint8_t *restrict src, size_t n, uint8_t *restrict dst,         \
                             uint##bits##_t sum) {                                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            uint##bits##_t number;                                                                 \
            memcpy(&number, src + i * sizeof number, sizeof number);                               \
            sum = (uint##bits##_t)(sum + number);                                                  \
            memcpy(dst + i * sizeof sum, &sum, sizeof sum);                                        \
        }                                                                                          \
    }

DEFINE_PLAIN(8)
DEFINE_PLAIN(16)
DEFINE_PLAIN(32)
DEFINE_PLAIN(64)

#if __has_builtin(__builtin_shufflevector)

typedef uint16_t block_16 __attribute__((vector_size(BLOCK)));
typedef uint32_t block_32 __attribute__((vector_size(BLOCK)));

static void sum_16(const uint8_t *restrict src, size_t n, uint8_t *restrict dst) {
    const block_16 zero = {0};
    block_16 all, last = zero;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&all, src + i * 2, sizeof all);
        all += __builtin_shufflevector(zero, all, 0, 8, 9, 10, 11, 12, 13, 14);
        all += __builtin_shufflevector(zero, all, 0, 0, 8, 9, 10, 11, 12, 13);
        all += __builtin_shufflevector(zero, all, 0, 0, 0, 0, 8, 9, 10, 11);
        all += last;
        memcpy(dst + i * 2, &all, sizeof all);
        last = __builtin_shufflevector(all, all, 7, 7, 7, 7, 7, 7, 7, 7);
    }
    plain_16(src + i * 2, n - i, dst + i * 2, last[0]);
}

static void sum_32(const uint8_t *restrict src, size_t n, uint8_t *restrict dst) {
    const block_32 zero = {0};
    block_32 all, last = zero;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        memcpy(&all, src + i * 4, sizeof all);
        all += __builtin_shufflevector(zero, all, 0, 4, 5, 6);
        all += __builtin_shufflevector(zero, all, 0, 0, 4, 5);
        all += last;
        memcpy(dst + i * 4, &all, sizeof all);
        last = __builtin_shufflevector(all, all, 3, 3, 3, 3);
    }
    plain_32(src + i * 4, n - i, dst + i * 4, last[0]);
}

#else

static void sum_16(const uint8_t *restrict src, size_t n, uint8_t *restrict dst) {
    plain_16(src, n, dst, 0);
}

static void sum_32(const uint8_t *restrict src, size_t n, uint8_t *restrict dst) {
    plain_32(src, n, dst, 0);
}

#endif

static void sum_8(const uint8_t *restrict src, size_t n, uint8_t *restrict dst) {
    plain_8(src, n, dst, 0);
}

static void sum_64(const uint8_t *restrict src, size_t n, uint8_t *restrict dst) {
    plain_64(src, n, dst, 0);
}

refs_running_sum refs_codec__running_sum(size_t size) {
    static const refs_running_sum sums[] = {[1] = sum_8, [2] = sum_16, [4] = sum_32, [8] = sum_64};
    return sums[size];
}
