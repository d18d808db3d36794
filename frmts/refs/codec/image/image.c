/* image.c -- see image.h. */
#include "image.h"

/* Sets the number of samples and of bytes of an image; false if it overflows. */
static bool measure(const refs_image *image, size_t *n, size_t *size) {
    return refs_mul_size(image->width, image->height, n) &&
           refs_mul_size(*n, image->n_samples, n) && refs_mul_size(*n, image->sample_size, size);
}

refs_status refs_codec__image_add(const refs_image *image, refs_codec_output *output, uint8_t **at,
                                  refs_error *err) {
    size_t n, size;
    if (!measure(image, &n, &size))
        return refs_fail(err, REFS_LIMIT, "an image of %zu x %zu pixels is too large", image->width,
                         image->height);
    return refs_codec__output_add(output, size, at, err);
}

bool refs_codec__array_is_swapped(const refs_codec_context *context) {
    refs_number_type type = {REFS_NUMBER_UINT, 1, false};
    refs_status status =
        refs_codec__number_parse(refs_str_from(context->array->dtype), &type, NULL);
    return status == REFS_OK && type.swapped && type.size > 1;
}

void refs_codec__image_swap(const refs_image *image, uint8_t *samples) {
    size_t n, size, half = image->sample_size / 2;
    if (!measure(image, &n, &size)) return;
    for (uint8_t *sample = samples; sample < samples + size; sample += image->sample_size)
        for (size_t i = 0; i < half; i++) {
            uint8_t byte = sample[i];
            sample[i] = sample[image->sample_size - 1 - i];
            sample[image->sample_size - 1 - i] = byte;
        }
}
