/* bitshuffle.h -- elements from planes of bits, as https://github.com/kiyo-masui/bitshuffle makes
 * them.
 *
 * Read before this: refs/bytes.h.
 */
#ifndef REFS_CODEC_BITSHUFFLE_H
#define REFS_CODEC_BITSHUFFLE_H

#include "refs/bytes.h"

/** Elements are shuffled in blocks of a multiple of this; what is left over is not. */
#define REFS_BITSHUFFLE_MULTIPLE 8

/** Elements in a block unless told otherwise. */
size_t refs_codec__bitshuffle_block(size_t element_size);

/** Undoes one block of `n` elements, a multiple of eight. */
void refs_codec__bitunshuffle(const uint8_t *src, size_t n, size_t element_size, uint8_t *dst);

#endif
