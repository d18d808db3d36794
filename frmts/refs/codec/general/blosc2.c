/* blosc2.c -- codec "imagecodecs_blosc2": one Blosc2 chunk, or a container of Blosc 1.
 *
 * For filters and compressors that it does not have, the library runs Python to find a plugin, and
 * loads it. Data must not cause that: such chunks are rejected by their header.
 *
 * Source: https://github.com/Blosc/c-blosc2, README_CHUNK_FORMAT.rst
 */
#include <blosc2.h>

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

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    int32_t size = 0, stored = 0;
    uint8_t *at;
    (void)self;
    REFS_TRY(check_header(encoded, err));
    REFS_TRY(refs_lazy_load(&library, err));
    if (blosc2.blosc2_cbuffer_sizes(encoded.data, &size, &stored, NULL) < 0 || size < 0 ||
        stored < 0 || (size_t)stored != encoded.size)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a whole chunk", encoded.size);
    REFS_TRY(refs_codec__output_add(output, (size_t)size, &at, err));
    blosc2_context *context = blosc2.blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
    if (context == NULL) return refs_fail_nomem(err);
    const int got = blosc2.blosc2_decompress_ctx(context, encoded.data, stored, at, size);
    blosc2.blosc2_free_ctx(context);
    if (got == size) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the chunk of %zu bytes is damaged", encoded.size);
}

const refs_codec_type refs_codec_blosc2 = {.name = "imagecodecs_blosc2",
                                           .reads = "one Blosc2 chunk, without plugins",
                                           .library = "libblosc2",
                                           .decode = decode};
