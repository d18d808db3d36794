/* output.c -- see output.h. */
#include "output.h"

/* The first capacity of a growing output. */
#define FIRST_ROOM (64 * REFS_KIB)

refs_codec_output refs_codec__output_fixed(uint8_t *data, size_t size) {
    return (refs_codec_output){.data = data, .capacity = size};
}

refs_codec_output refs_codec__output_growing(refs_buf *buffer, size_t max_size) {
    size_t capacity = buffer->capacity < max_size ? buffer->capacity : max_size;
    return (refs_codec_output){
        .data = buffer->data, .capacity = capacity, .growing = buffer, .max_size = max_size};
}

void refs_codec__output_end(refs_codec_output *output) {
    if (output->growing != NULL) output->growing->size = output->size;
}

static refs_status too_much(const refs_codec_output *output, refs_error *err) {
    if (output->growing == NULL)
        return refs_fail(err, REFS_CORRUPT, "decodes past the expected %zu bytes",
                         output->capacity);
    return refs_fail(err, REFS_LIMIT, "decodes to more than the limit of %zu bytes",
                     output->max_size);
}

static refs_status reserve(refs_codec_output *output, size_t capacity, refs_error *err) {
    REFS_TRY(refs_buf_reserve(output->growing, capacity, err));
    output->data = output->growing->data;
    output->capacity = capacity;
    return REFS_OK;
}

refs_status refs_codec__output_add(refs_codec_output *output, size_t size, uint8_t **at,
                                   refs_error *err) {
    if (size > output->capacity - output->size) {
        size_t total;
        if (!refs_add_size(output->size, size, &total)) return too_much(output, err);
        if (output->growing == NULL)
            return refs_fail(err, REFS_CORRUPT, "decodes to %zu bytes: expected %zu", total,
                             output->capacity);
        if (total > output->max_size) return too_much(output, err);
        REFS_TRY(reserve(output, total, err));
    }
    *at = output->data != NULL ? output->data + output->size : output->spill;
    output->size += size;
    return REFS_OK;
}

refs_status refs_codec__output_grow(refs_codec_output *output, refs_error *err) {
    if (output->growing == NULL || output->capacity >= output->max_size)
        return too_much(output, err);
    size_t capacity;
    if (!refs_mul_size(output->capacity, 2, &capacity)) capacity = output->max_size;
    if (capacity < FIRST_ROOM) capacity = FIRST_ROOM;
    return reserve(output, capacity < output->max_size ? capacity : output->max_size, err);
}

refs_status refs_codec__output_room(refs_codec_output *output, uint8_t **at, size_t *room,
                                    refs_error *err) {
    bool full = output->size == output->capacity;
    if (full && output->growing != NULL && output->capacity < output->max_size) {
        REFS_TRY(refs_codec__output_grow(output, err));
        full = false;
    }
    *at = full ? output->spill : output->data + output->size;
    *room = full ? sizeof output->spill : output->capacity - output->size;
    return REFS_OK;
}

refs_status refs_codec__output_wrote(refs_codec_output *output, size_t size, refs_error *err) {
    if (size > output->capacity - output->size) return too_much(output, err);
    output->size += size;
    return REFS_OK;
}
