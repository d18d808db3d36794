/* stream.h -- decoding by streaming libraries.
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_STREAM_H
#define REFS_CODEC_STREAM_H

#include "output.h"

/** The input and output of one step of a stream. It advances `in`, and reduces `room` by the bytes
 * that it writes. */
typedef struct refs_codec_stream {
    refs_bytes in;
    uint8_t *out;
    size_t room;
    bool ended;     /**< set by a step: the input so far is a complete stream */
    size_t n_ended; /**< the number of steps that set it */
} refs_codec_stream;

/** One call of the decoding library, whose state is `user`. */
typedef refs_status (*refs_codec_step)(void *user, refs_codec_stream *stream, refs_error *err);

/** Calls `step` until all of `encoded` is read and the stream has ended. REFS_CORRUPT if it does
 * not end. */
refs_status refs_codec__stream(refs_codec_step step, void *user, refs_bytes encoded,
                               refs_codec_output *output, refs_error *err);

#endif
