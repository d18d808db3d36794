/* stream.c -- see stream.h. */
#include "stream.h"

refs_status refs_codec__stream(refs_codec_step step, void *user, refs_bytes encoded,
                               refs_codec_output *output, refs_error *err) {
    refs_codec_stream stream = {.in = encoded};
    while (!stream.ended || stream.in.size > 0) {
        size_t unread = stream.in.size;
        size_t room;
        REFS_TRY(refs_codec__output_room(output, &stream.out, &room, err));
        stream.room = room;
        stream.ended = false;
        REFS_TRY(step(user, &stream, err));
        REFS_TRY(refs_codec__output_wrote(output, room - stream.room, err));
        if (stream.ended)
            stream.n_ended++;
        else if (stream.in.size == unread && stream.room == room)
            return refs_fail(err, REFS_CORRUPT, "the stream ends too early, after %zu bytes",
                             encoded.size);
    }
    return REFS_OK;
}
