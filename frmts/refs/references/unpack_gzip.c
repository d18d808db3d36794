/* unpack_gzip.c -- consecutive gzip members (RFC 1952), see unpack.h. */
#include "unpack.h"

#include <limits.h>

#define ZLIB_CONST
#include <zlib.h>

static void *allocate(void *user, unsigned count, unsigned size) {
    (void)user;
    return refs_calloc(count, size);
}

static void release(void *user, void *memory) {
    (void)user;
    refs_free(memory);
}

void *refs_references__zlib_stream(void) {
    z_stream *stream = refs_calloc(1, sizeof *stream);
    if (stream != NULL) *stream = (z_stream){.zalloc = allocate, .zfree = release};
    return stream;
}

static void *open_stream(void) {
    z_stream *stream = refs_references__zlib_stream();
    if (stream == NULL || inflateInit2(stream, REFS_GZIP_WINDOW_BITS) == Z_OK) return stream;
    refs_free(stream);
    return NULL;
}

static unsigned as_unsigned(size_t size) {
    return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

static refs_status step(void *user, refs_unpack_step *step, refs_error *err) {
    z_stream *stream = user;
    unsigned n_in = as_unsigned(step->in.size), n_out = as_unsigned(step->room);
    stream->next_in = step->in.data;
    stream->avail_in = n_in;
    stream->next_out = step->out;
    stream->avail_out = n_out;
    int result = inflate(stream, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) return refs_fail_nomem(err);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return refs_fail(err, REFS_CORRUPT, "%s",
                         stream->msg != NULL ? stream->msg : "needs a dictionary");
    size_t used = n_in - stream->avail_in, made = n_out - stream->avail_out;
    step->in = refs_bytes_view(step->in.data + used, step->in.size - used);
    step->out += made;
    step->room -= made;
    step->ended = result == Z_STREAM_END;
    if (step->ended && inflateReset(stream) != Z_OK) return refs_fail_nomem(err);
    return REFS_OK;
}

static void close_stream(void *stream) {
    (void)inflateEnd(stream);
    refs_free(stream);
}

const refs_packing refs_references__gzip = {open_stream, step, close_stream};
