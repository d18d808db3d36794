/* bitshuffle.h -- undoes the bitshuffle of https://github.com/kiyo-masui/bitshuffle.
 *
 * Read before this: refs/bytes.h.
 */
#ifndef REFS_CODEC_BITSHUFFLE_H
#define REFS_CODEC_BITSHUFFLE_H

#include "refs/bytes.h"

/** Blocks have a multiple of this many elements; elements left over are not shuffled. */
#define REFS_BITSHUFFLE_MULTIPLE 8

/** The default number of elements in a block. */
size_t refs_codec__bitshuffle_block(size_t element_size);

/** Undoes one block of `n` elements, a multiple of eight. */
void refs_codec__bitunshuffle(const uint8_t *src, size_t n, size_t element_size, uint8_t *dst);

#endif
