/* output.h -- where a codec puts what it decodes.
 *
 * An output is memory of a fixed size that must be filled, or a buffer that
 * grows up to a limit: the chain knows which, a codec need not. A caller that knows how many bytes
 * will come adds them at once; a stream asks for room, writes, and tells how much.
 *
 * An output belongs to one call of decode.
 *
 * Read before this: codec.h.
 */
#ifndef REFS_CODEC_OUTPUT_H
#define REFS_CODEC_OUTPUT_H

#include "refs/codec.h"

/** Bytes [0, size) of `data` are decoded, bytes [size, capacity) are room for more. */
typedef struct refs_codec_output {
    uint8_t *data;
    size_t size;
    size_t capacity;   /**< where `data` is fixed: what must come out */
    refs_buf *growing; /**< what holds `data`; NULL where that is fixed */
    size_t max_size;   /**< of `growing` */
    uint8_t spill[64]; /**< room for what a stream has too much, to notice it */
} refs_codec_output;

/** An output of exactly `size` bytes at `data`. */
refs_codec_output refs_codec__output_fixed(uint8_t *data, size_t size);

/** An output to `buffer`, whose content is dropped, of at most `max_size` bytes. Holds until
 * refs_codec__output_end gives the buffer its size. */
refs_codec_output refs_codec__output_growing(refs_buf *buffer, size_t max_size);
void refs_codec__output_end(refs_codec_output *output);

/** Adds `size` bytes, for the caller to write at *at. REFS_CORRUPT or REFS_LIMIT where so many may
 * not come out. */
refs_status refs_codec__output_add(refs_codec_output *output, size_t size, uint8_t **at,
                                   refs_error *err);

/** Makes the room larger, for a decoder that starts again where it does not suffice. Fails as
 * refs_codec__output_add does, since more would come out than may. */
refs_status refs_codec__output_grow(refs_codec_output *output, refs_error *err);

/** Gives a stream room for *room bytes, never zero, at *at. */
refs_status refs_codec__output_room(refs_codec_output *output, uint8_t **at, size_t *room,
                                    refs_error *err);

/** Counts `size` bytes that a stream has written there. Fails as refs_codec__output_add does. */
refs_status refs_codec__output_wrote(refs_codec_output *output, size_t size, refs_error *err);

#endif
