/* lzf.c -- codec "imagecodecs_lzf": LibLZF as HDF5's filter "lzf" stores it, a block alone, or with
 * its decoded size in four bytes before it, little-endian. */
#include <errno.h>
#include <liblzf/lzf.h>
#include <limits.h>

#include "output.h"

#define HEADER_SIZE 4

typedef struct lzf_codec {
    bool has_header;
} lzf_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    lzf_codec *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    /* The default of imagecodecs, which only has this name of the codec. */
    opened->has_header = strcmp(context->id, "imagecodecs_lzf") == 0;
    refs_json_bool(refs_json_get(context->config, "header"), &opened->has_header);
    return REFS_OK;
}

/* Decodes a block of known size directly; else increases the capacity until it suffices. */
static refs_status decode_block(refs_bytes block, refs_codec_output *output, refs_error *err) {
    if (block.size == 0 || block.size > UINT_MAX)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes cannot be a block", block.size);
    for (;;) {
        uint8_t *at;
        size_t room;
        REFS_TRY(refs_codec__output_room(output, &at, &room, err));
        errno = 0;
        unsigned written = lzf_decompress(block.data, (unsigned)block.size, at,
                                          room < UINT_MAX ? (unsigned)room : UINT_MAX);
        if (written > 0) return refs_codec__output_wrote(output, written, err);
        if (errno != E2BIG)
            return refs_fail(err, REFS_CORRUPT, "the block of %zu bytes is cut or damaged",
                             block.size);
        REFS_TRY(refs_codec__output_grow(output, err));
    }
}

/* For an unknown size: decodes the bytes after a header to the size that it states; false if there
 * is no valid header. Three bytes of a block decode to 264 at most. */
static bool decode_after_header(refs_bytes encoded, refs_codec_output *output) {
    if (encoded.size <= HEADER_SIZE || encoded.size > UINT_MAX) return false;
    size_t size = refs_load_le32(encoded.data);
    bool is_plausible = size > 0 && size / 88 <= encoded.size;
    while (is_plausible && output->capacity < size)
        is_plausible = refs_codec__output_grow(output, NULL) == REFS_OK;
    return is_plausible &&
           lzf_decompress(encoded.data + HEADER_SIZE, (unsigned)(encoded.size - HEADER_SIZE),
                          output->data, (unsigned)size) == size;
}

/* VirtualiZarr configures a header, imagecodecs' default, for HDF5 chunks that have none: a header
 * only counts if it is the right size. */
static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const lzf_codec *codec = self;
    bool may_begin_with_size = codec->has_header && encoded.size >= HEADER_SIZE;
    if (may_begin_with_size && output->growing != NULL && decode_after_header(encoded, output))
        return refs_codec__output_wrote(output, refs_load_le32(encoded.data), err);
    if (may_begin_with_size && output->growing == NULL &&
        refs_load_le32(encoded.data) == output->capacity)
        encoded = refs_bytes_view(encoded.data + HEADER_SIZE, encoded.size - HEADER_SIZE);
    return decode_block(encoded, output, err);
}

static const char *const aliases[] = {"lzf", NULL};

const refs_codec_type refs_codec_lzf = {
    .name = "imagecodecs_lzf",
    .aliases = aliases,
    .reads = "HDF5 filter 32000: an LZF block, with or without its size before it",
    .library = "liblzf",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
