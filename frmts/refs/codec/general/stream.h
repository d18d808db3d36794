/* stream.h -- decoding with libraries that read and write in parts.
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_STREAM_H
#define REFS_CODEC_STREAM_H

#include "output.h"

/** The input and output of one step of a stream. It moves `in` on, and makes `room` less by what it
 * writes. */
typedef struct refs_codec_stream {
    refs_bytes in;
    uint8_t *out;
    size_t room;
    bool ended;     /**< set by a step: what was read so far is complete */
    size_t n_ended; /**< how often a step has set it */
} refs_codec_stream;

/** One call of the library behind `user`. */
typedef refs_status (*refs_codec_step)(void *user, refs_codec_stream *stream, refs_error *err);

/** Steps until all of `encoded` is read and the stream has ended. REFS_CORRUPT where it does not
 * end. */
refs_status refs_codec__stream(refs_codec_step step, void *user, refs_bytes encoded,
                               refs_codec_output *output, refs_error *err);

#endif
