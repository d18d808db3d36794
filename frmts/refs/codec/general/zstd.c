/* zstd.c -- codec "zstd": consecutive Zstandard frames (RFC 8878), with or without the content
 * size. */
#include <zstd.h>

#include "stream.h"

static refs_status step(void *user, refs_codec_stream *stream, refs_error *err) {
    ZSTD_inBuffer in = {stream->in.data, stream->in.size, 0};
    ZSTD_outBuffer out = {stream->out, stream->room, 0};
    size_t hint = ZSTD_decompressStream(user, &out, &in);
    if (ZSTD_isError(hint))
        return refs_fail(err, REFS_CORRUPT, "%s, %zu bytes before the end of the stream",
                         ZSTD_getErrorName(hint), stream->in.size - in.pos);
    stream->in = refs_bytes_view(stream->in.data + in.pos, stream->in.size - in.pos);
    stream->room -= out.pos;
    stream->ended = hint == 0;
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL) return refs_fail_nomem(err);
    refs_status status = refs_codec__stream(step, context, encoded, output, err);
    ZSTD_freeDCtx(context);
    return status;
}

static const char *const aliases[] = {"imagecodecs_zstd", NULL};

const refs_codec_type refs_codec_zstd = {
    .name = "zstd",
    .aliases = aliases,
    .reads = "Zstandard, one frame or several, of known or unknown size",
    .library = "libzstd",
    .decode = decode};
