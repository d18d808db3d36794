/* blosc2.c -- codec "imagecodecs_blosc2": one Blosc2 chunk, a frame with one, or a container of
 * Blosc 1.
 *
 * For filters and compressors that it does not have, the library runs Python to find a plugin, and
 * loads it. Data must not cause that: such chunks are rejected by their header.
 *
 * Source: https://github.com/Blosc/c-blosc2, README_CHUNK_FORMAT.rst
 */
#include <blosc2.h>

#include "general/blosc2_frame.h"
#include "output.h"
#include "refs/lazy.h"

#define FUNCTIONS(F)                                                                               \
    F(blosc2_cbuffer_sizes) F(blosc2_create_dctx) F(blosc2_decompress_ctx) F(blosc2_free_ctx)
#define ENTRY(function) REFS_LAZY_ENTRY(blosc2, function)

static struct { FUNCTIONS(REFS_LAZY_MEMBER) } blosc2;
static const refs_lazy_function functions[] = {FUNCTIONS(ENTRY){NULL, NULL}};
static refs_lazy_library library = REFS_LAZY_LIBRARY(REFS_LAZY_blosc2, functions);

enum {
    FLAGS = 2,
    FILTERS = 16,
    N_FILTERS = 6,
    FLAGS2 = 31,
    HEADER_BYTES = 16,
    EXTENDED_BYTES = 32
};
enum { LAST_COMPRESSOR = 4, LAST_FILTER = 4 };
enum { SHUFFLE_AND_BITSHUFFLE = 5, IS_LAZY = 8 };

static refs_status check_header(refs_bytes chunk, refs_error *err) {
    const uint8_t *at = chunk.data;
    const bool is_extended =
        chunk.size > FLAGS && (at[FLAGS] & SHUFFLE_AND_BITSHUFFLE) == SHUFFLE_AND_BITSHUFFLE;
    if (chunk.size < (is_extended ? EXTENDED_BYTES : HEADER_BYTES))
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a chunk", chunk.size);
    if (at[FLAGS] >> 5 > LAST_COMPRESSOR)
        return refs_fail(err, REFS_UNSUPPORTED, "a compressor that is a plugin of Blosc2");
    for (size_t i = 0; is_extended && i < N_FILTERS; i++)
        if (at[FILTERS + i] > LAST_FILTER)
            return refs_fail(err, REFS_UNSUPPORTED, "filter %d of Blosc2, which is a plugin",
                             at[FILTERS + i]);
    if (is_extended && (at[FLAGS2] & IS_LAZY) != 0)
        return refs_fail(err, REFS_CORRUPT, "a Blosc2 chunk without its data");
    return REFS_OK;
}

/* The decoded size of a chunk. */
static refs_status measure(refs_bytes chunk, int32_t *size, refs_error *err) {
    int32_t stored = 0;
    *size = 0;
    REFS_TRY(check_header(chunk, err));
    REFS_TRY(refs_lazy_load(&library, err));
    if (blosc2.blosc2_cbuffer_sizes(chunk.data, size, &stored, NULL) < 0 || *size < 0 ||
        stored < 0 || (size_t)stored != chunk.size)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a whole chunk", chunk.size);
    return REFS_OK;
}

static refs_status decode_measured(refs_bytes chunk, int32_t size, uint8_t *at, refs_error *err) {
    blosc2_context *context = blosc2.blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
    if (context == NULL) return refs_fail_nomem(err);
    const int got =
        blosc2.blosc2_decompress_ctx(context, chunk.data, (int32_t)chunk.size, at, size);
    blosc2.blosc2_free_ctx(context);
    if (got == size) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the chunk of %zu bytes is damaged", chunk.size);
}

static refs_status decode_chunk(refs_bytes chunk, size_t expected, uint8_t *at, refs_error *err) {
    int32_t size;
    REFS_TRY(measure(chunk, &size, err));
    if ((size_t)size != expected)
        return refs_fail(err, REFS_CORRUPT, "expected a chunk of %zu bytes, found %d", expected,
                         (int)size);
    return decode_measured(chunk, size, at, err);
}

/* -- frames ------------------------------------------------------------------------------------ */

/* The highest byte of the offset of a chunk that has no bytes. */
enum { ALL_ZEROS = 0x81, NOT_INITIALISED = 0x84 };

/* A chunk that is larger than this, and than so many times its values, is made to use memory. */
#define MAX_PADDED_BYTES (64 * REFS_MIB)
enum { MAX_PADDING = 4 };

static refs_status check_padding(const refs_blosc2_frame *frame, refs_error *err) {
    if (frame->chunk_size <= MAX_PADDED_BYTES || frame->chunk_size / MAX_PADDING <= frame->size)
        return REFS_OK;
    return refs_fail(
        err, REFS_LIMIT,
        "a Blosc2 chunk of %zu bytes for %zu bytes of values: expected at most %d times "
        "the values with the padding",
        frame->chunk_size, frame->size, (int)MAX_PADDING);
}

static refs_status decode_blocks(const refs_blosc2_frame *frame, uint8_t *at, refs_error *err) {
    REFS_TRY(check_padding(frame, err));
    REFS_SCOPED uint8_t *blocks = refs_alloc(frame->chunk_size);
    if (blocks == NULL) return refs_fail_nomem(err);
    REFS_TRY(decode_chunk(frame->chunk, frame->chunk_size, blocks, err));
    refs_codec__blosc2_unblock(frame, blocks, at);
    return REFS_OK;
}

static refs_status decode_zeros(const refs_blosc2_frame *frame, uint8_t *at, refs_error *err) {
    uint8_t offset[8];
    REFS_TRY(decode_chunk(frame->index, sizeof offset, offset, err));
    if (offset[7] != ALL_ZEROS && offset[7] != NOT_INITIALISED)
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "expected a Blosc2 chunk of values or of zeros, found special chunk type 0x%02x",
            offset[7]);
    memset(at, 0, frame->size);
    return REFS_OK;
}

static refs_status decode_frame(refs_bytes encoded, refs_codec_output *output, refs_error *err) {
    refs_blosc2_frame frame;
    uint8_t *at;
    REFS_TRY(refs_codec__blosc2_frame_read(encoded, &frame, err));
    REFS_TRY(refs_codec__output_add(output, frame.size, &at, err));
    if (frame.chunk.size == 0) return decode_zeros(&frame, at, err);
    if (frame.rank == 0) return decode_chunk(frame.chunk, frame.chunk_size, at, err);
    return decode_blocks(&frame, at, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    int32_t size;
    uint8_t *at;
    (void)self;
    if (refs_codec__blosc2_is_frame(encoded)) return decode_frame(encoded, output, err);
    REFS_TRY(measure(encoded, &size, err));
    REFS_TRY(refs_codec__output_add(output, (size_t)size, &at, err));
    return decode_measured(encoded, size, at, err);
}

static const char *const aliases[] = {"blosc2", "imagecodecs_b2nd", "hdf5_filter_32026", NULL};

const refs_codec_type refs_codec_blosc2 = {
    .name = "imagecodecs_blosc2",
    .aliases = aliases,
    .reads = "one Blosc2 chunk, or a frame that holds one (HDF5 filter 32026); plugins are refused",
    .library = "libblosc2",
    .decode = decode};
