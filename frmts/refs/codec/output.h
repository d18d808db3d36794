/* output.h -- the destination of decoded bytes.
 *
 * An output is memory of a fixed size that must be filled, or a buffer that grows up to a limit:
 * codecs need not distinguish them. A codec that knows its decoded size calls
 * refs_codec__output_add once; a stream decoder calls refs_codec__output_room, writes, and calls
 * refs_codec__output_wrote.
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
    size_t capacity;   /**< with fixed memory: the expected size */
    refs_buf *growing; /**< the buffer that holds `data`; NULL with fixed memory */
    size_t max_size;   /**< of `growing` */
    uint8_t spill[64]; /**< receives excess bytes of a stream, to detect them */
} refs_codec_output;

/** An output of exactly `size` bytes at `data`. */
refs_codec_output refs_codec__output_fixed(uint8_t *data, size_t size);

/** An output to `buffer`, whose content is dropped, of at most `max_size` bytes. Valid until
 * refs_codec__output_end, which sets the size of the buffer. */
refs_codec_output refs_codec__output_growing(refs_buf *buffer, size_t max_size);
void refs_codec__output_end(refs_codec_output *output);

/** Adds `size` bytes, for the caller to write at *at. REFS_CORRUPT or REFS_LIMIT if that exceeds
 * the expected size or the limit. */
refs_status refs_codec__output_add(refs_codec_output *output, size_t size, uint8_t **at,
                                   refs_error *err);

/** Increases the capacity, for a decoder that starts again when it was too small. Fails like
 * refs_codec__output_add. */
refs_status refs_codec__output_grow(refs_codec_output *output, refs_error *err);

/** Sets *at to memory for *room bytes, never zero, into which a stream is to write. */
refs_status refs_codec__output_room(refs_codec_output *output, uint8_t **at, size_t *room,
                                    refs_error *err);

/** Counts `size` bytes that a stream has written there. Fails like refs_codec__output_add. */
refs_status refs_codec__output_wrote(refs_codec_output *output, size_t size, refs_error *err);

#endif
