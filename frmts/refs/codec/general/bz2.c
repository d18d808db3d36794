/* bz2.c -- codec "bz2": consecutive bzip2 streams. Bytes after the last one are ignored, as in
 * Python. */
#include <bzlib.h>
#include <limits.h>

#include "stream.h"

static void *allocate(void *user, int count, int size) {
    size_t bytes;
    (void)user;
    return refs_mul_size((size_t)count, (size_t)size, &bytes) ? refs_alloc(bytes) : NULL;
}

static void release(void *user, void *memory) {
    (void)user;
    refs_free(memory);
}

static refs_status begin(bz_stream *library, refs_error *err) {
    *library = (bz_stream){.bzalloc = allocate, .bzfree = release};
    return BZ2_bzDecompressInit(library, 0, 0) == BZ_OK ? REFS_OK : refs_fail_nomem(err);
}

static unsigned at_most(size_t size) {
    return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

/* Calls the library once; returns its result, and advances the stream. */
static int run(bz_stream *library, refs_codec_stream *stream) {
    unsigned unread = at_most(stream->in.size), room = at_most(stream->room);
    library->next_in = (char *)(uintptr_t)stream->in.data; /* read only, though not const there */
    library->avail_in = unread;
    library->next_out = (char *)stream->out;
    library->avail_out = room;
    int result = BZ2_bzDecompress(library);
    size_t used = unread - library->avail_in;
    stream->in = refs_bytes_view(stream->in.data + used, stream->in.size - used);
    stream->room -= room - library->avail_out;
    return result;
}

static refs_status step(void *user, refs_codec_stream *stream, refs_error *err) {
    bz_stream *library = user;
    int result = run(library, stream);
    if (result == BZ_OK) return REFS_OK;
    if (result == BZ_MEM_ERROR) return refs_fail_nomem(err);
    if (result == BZ_DATA_ERROR_MAGIC && stream->n_ended > 0) {
        stream->in.size = 0;
    } else if (result != BZ_STREAM_END) {
        return refs_fail(err, REFS_CORRUPT, "damaged %zu bytes before the end of the stream",
                         stream->in.size);
    }
    stream->ended = true;
    BZ2_bzDecompressEnd(library);
    return begin(library, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    bz_stream library;
    REFS_TRY(begin(&library, err));
    refs_status status = refs_codec__stream(step, &library, encoded, output, err);
    BZ2_bzDecompressEnd(&library);
    return status;
}

static const char *const aliases[] = {"imagecodecs_bz2", NULL};

const refs_codec_type refs_codec_bz2 = {.name = "bz2",
                                        .aliases = aliases,
                                        .reads = "bzip2, one stream or several",
                                        .library = "libbz2",
                                        .decode = decode};
