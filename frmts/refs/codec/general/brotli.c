/* brotli.c -- codec "imagecodecs_brotli": one Brotli stream (RFC 7932). */
#include <brotli/decode.h>

#include "stream.h"

static refs_status step(void *user, refs_codec_stream *stream, refs_error *err) {
    BrotliDecoderState *state = user;
    if (stream->n_ended > 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes follow the stream", stream->in.size);
    const uint8_t *in = stream->in.data;
    size_t n_in = stream->in.size;
    BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state, &n_in, &in, &stream->room, &stream->out, NULL);
    stream->in = refs_bytes_view(in, n_in);
    stream->ended = result == BROTLI_DECODER_RESULT_SUCCESS;
    if (result != BROTLI_DECODER_RESULT_ERROR) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "%s, %zu bytes before the end of the stream",
                     BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)), n_in);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (state == NULL) return refs_fail_nomem(err);
    refs_status status = refs_codec__stream(step, state, encoded, output, err);
    BrotliDecoderDestroyInstance(state);
    return status;
}

const refs_codec_type refs_codec_brotli = {.name = "imagecodecs_brotli",
                                           .reads = "one Brotli stream",
                                           .library = "libbrotlidec",
                                           .decode = decode};
