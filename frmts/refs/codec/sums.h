/* sums.h -- running sums of integers, for delta codecs.
 *
 * Read before this: refs/bytes.h.
 */
#ifndef REFS_CODEC_SUMS_H
#define REFS_CODEC_SUMS_H

#include <stddef.h>
#include <stdint.h>

/** Writes to `dst` the sums of the first one, two, ... `n` integers at `src`, which wrap around;
 * both in this machine's byte order, unaligned, and not overlapping. */
typedef void (*refs_running_sum)(const uint8_t *src, size_t n, uint8_t *dst);

/** The function for integers of 1, 2, 4 or 8 bytes. */
refs_running_sum refs_codec__running_sum(size_t size);

#endif
