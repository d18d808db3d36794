/* image.h -- helpers for image codecs: rows of pixels of one or more samples.
 *
 * Read before this: numbers.h.
 */
#ifndef REFS_CODEC_IMAGE_H
#define REFS_CODEC_IMAGE_H

#include "numbers.h"

/** The shape of an image. */
typedef struct refs_image {
    size_t width;
    size_t height;
    size_t n_samples;
    size_t sample_size; /**< bytes */
} refs_image;

/** Adds the bytes of the image to `output`. Fails like refs_codec__output_add. */
refs_status refs_codec__image_add(const refs_image *image, refs_codec_output *output, uint8_t **at,
                                  refs_error *err);

/** Whether the array's byte order differs from this machine's, in which libraries return
 * samples. */
bool refs_codec__array_is_swapped(const refs_codec_context *context);

/** Swaps the bytes of all samples. */
void refs_codec__image_swap(const refs_image *image, uint8_t *samples);

#endif
