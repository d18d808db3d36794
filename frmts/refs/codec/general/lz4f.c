/* lz4f.c -- codec "imagecodecs_lz4f": LZ4's frame format, one frame or several. */
#include <lz4frame.h>

#include "stream.h"

static refs_status step(void *user, refs_codec_stream *stream, refs_error *err) {
    size_t n_read = stream->in.size, n_written = stream->room;
    size_t hint = LZ4F_decompress(user, stream->out, &n_written, stream->in.data, &n_read, NULL);
    if (LZ4F_isError(hint))
        return refs_fail(err, REFS_CORRUPT, "%s, %zu bytes before the end of the stream",
                         LZ4F_getErrorName(hint), stream->in.size);
    stream->in = refs_bytes_view(stream->in.data + n_read, stream->in.size - n_read);
    stream->room -= n_written;
    stream->ended = hint == 0;
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    LZ4F_dctx *context = NULL;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return refs_fail_nomem(err);
    refs_status status = refs_codec__stream(step, context, encoded, output, err);
    LZ4F_freeDecompressionContext(context);
    return status;
}

const refs_codec_type refs_codec_lz4f = {.name = "imagecodecs_lz4f",
                                         .reads = "LZ4 frames, one or several",
                                         .library = "liblz4",
                                         .decode = decode};
