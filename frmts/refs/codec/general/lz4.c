/* lz4.c -- codec "lz4": the decoded size in four bytes, little-endian, then one LZ4 block. This is
 * numcodecs' framing, neither LZ4's frame format nor that of the HDF5 filter. "imagecodecs_lz4" is
 * the block alone unless "header" is true. */
#include <limits.h>
#include <lz4.h>

#include "output.h"

typedef struct lz4_codec {
    bool has_header;
} lz4_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    lz4_codec *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->has_header = strcmp(context->id, "imagecodecs_lz4") != 0;
    if (!opened->has_header)
        refs_json_bool(refs_json_get(context->config, "header"), &opened->has_header);
    return REFS_OK;
}

static refs_status decode_with_size(refs_bytes encoded, refs_codec_output *output,
                                    refs_error *err) {
    if (encoded.size < 4 || encoded.size > INT_MAX)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes cannot be a size and a block", encoded.size);
    uint32_t size = refs_load_le32(encoded.data);
    if (size > INT_MAX)
        return refs_fail(err, REFS_CORRUPT, "a block cannot decode to %u bytes", (unsigned)size);
    uint8_t *at;
    REFS_TRY(refs_codec__output_add(output, size, &at, err));
    int got = LZ4_decompress_safe((const char *)encoded.data + 4, (char *)at,
                                  (int)(encoded.size - 4), (int)size);
    if (got < 0)
        return refs_fail(err, REFS_CORRUPT, "the block of %zu bytes is cut or damaged",
                         encoded.size - 4);
    if ((uint32_t)got != size)
        return refs_fail(err, REFS_CORRUPT, "the block decodes to %d bytes, its header says %u",
                         got, (unsigned)size);
    return REFS_OK;
}

/* A block expands to at most 255 times its size, so the capacity need not be larger. */
#define MOST_EXPANSION 256

static refs_status decode_block(refs_bytes block, refs_codec_output *output, refs_error *err) {
    if (block.size == 0 || block.size > INT_MAX)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes cannot be a block", block.size);
    for (;;) {
        uint8_t *at;
        size_t room;
        REFS_TRY(refs_codec__output_room(output, &at, &room, err));
        int got = LZ4_decompress_safe((const char *)block.data, (char *)at, (int)block.size,
                                      room < INT_MAX ? (int)room : INT_MAX);
        if (got >= 0) return refs_codec__output_wrote(output, (size_t)got, err);
        if (output->growing == NULL || room / MOST_EXPANSION >= block.size)
            return refs_fail(err, REFS_CORRUPT, "the block of %zu bytes is cut or damaged",
                             block.size);
        REFS_TRY(refs_codec__output_grow(output, err));
    }
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const lz4_codec *codec = self;
    return codec->has_header ? decode_with_size(encoded, output, err)
                             : decode_block(encoded, output, err);
}

static const char *const aliases[] = {"imagecodecs_lz4", NULL};

const refs_codec_type refs_codec_lz4 = {
    .name = "lz4",
    .aliases = aliases,
    .reads =
        "an LZ4 block with its size before it; `imagecodecs_lz4` without, unless \"header\" is "
        "true",
    .library = "liblz4",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
