/* scale.h -- stored / scale + offset, for the most frequent types.
 *
 * The results equal those of numbers.h, in a quarter of the time.
 *
 * Read before this: numbers.h.
 */
#ifndef REFS_CODEC_SCALE_H
#define REFS_CODEC_SCALE_H

#include "numbers.h"

typedef struct refs_scaling {
    double scale;
    double offset;
} refs_scaling;

/** Scales `n` numbers, whose bytes need no alignment. */
typedef void (*refs_scale)(const refs_scaling *how, const uint8_t *src, size_t n, uint8_t *dst);

/** The loop for these types on this processor; NULL: there is none. */
refs_scale refs_codec__scale_for(const refs_recast *types);

/** The same on any processor: for tests. */
refs_scale refs_codec__scale_portable(const refs_recast *types);

#endif
