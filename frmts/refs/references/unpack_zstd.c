/* unpack_zstd.c -- consecutive Zstandard frames (RFC 8878), see unpack.h. */
#include "unpack.h"

#include <zstd.h>

/* The largest window of a frame, log2 of bytes: the maximum of every decoder by default (zstd
 * --long=27). */
#define MAX_WINDOW_LOG 27

static void *open_stream(void) {
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (stream != NULL) (void)ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
    return stream;
}

static refs_status step(void *stream, refs_unpack_step *step, refs_error *err) {
    ZSTD_inBuffer in = {step->in.data, step->in.size, 0};
    ZSTD_outBuffer out = {step->out, step->room, 0};
    size_t hint = ZSTD_decompressStream(stream, &out, &in);
    if (ZSTD_isError(hint)) return refs_fail(err, REFS_CORRUPT, "%s", ZSTD_getErrorName(hint));
    step->in = refs_bytes_view(step->in.data + in.pos, step->in.size - in.pos);
    step->out += out.pos;
    step->room -= out.pos;
    step->ended = hint == 0;
    return REFS_OK;
}

static void close_stream(void *stream) {
    (void)ZSTD_freeDStream(stream);
}

const refs_packing refs_references__zstd = {open_stream, step, close_stream};
