/* szip.c -- codec "imagecodecs_szip": the format of HDF5's filter "szip": by default the decoded
 * size in four bytes, little-endian, then a stream of extended Rice codes. The configuration has
 * the filter's parameters.
 *
 * Source: https://gitlab.dkrz.de/k202009/libaec, which has szip's interface, too.
 */
#include <szlib.h>

#include "output.h"

#define HEADER_SIZE 4

typedef struct szip_codec {
    SZ_com_t parameters;
    bool has_header;
} szip_codec;

static refs_status read_parameter(const refs_json *config, const char *member, int max,
                                  int *parameter, refs_error *err) {
    uint64_t number;
    if (!refs_json_u64(refs_json_get(config, member), &number) || number == 0 ||
        number > (uint64_t)max)
        return refs_fail(err, REFS_INVALID, "%s: expected a number from 1 to %d", member, max);
    *parameter = (int)number;
    return REFS_OK;
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    const refs_json *config = context->config;
    szip_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    SZ_com_t *parameters = &opened->parameters;
    opened->has_header = true;
    refs_json_bool(refs_json_get(config, "header"), &opened->has_header);
    REFS_TRY(read_parameter(config, "options_mask", 255, &parameters->options_mask, err));
    REFS_TRY(read_parameter(config, "bits_per_pixel", 64, &parameters->bits_per_pixel, err));
    REFS_TRY(read_parameter(config, "pixels_per_block", SZ_MAX_PIXELS_PER_BLOCK,
                            &parameters->pixels_per_block, err));
    /* The form that the filter requires; with odd numbers, libaec 1.0 writes where it must not. */
    if (parameters->pixels_per_block % 2 != 0)
        return refs_fail(err, REFS_INVALID, "pixels_per_block is odd: %d",
                         parameters->pixels_per_block);
    return read_parameter(config, "pixels_per_scanline", SZ_MAX_PIXELS_PER_SCANLINE,
                          &parameters->pixels_per_scanline, err);
}

/* Without a header, the decoded size is only known if the output has a fixed size. */
static refs_status take_size(bool has_header, refs_bytes *encoded, const refs_codec_output *output,
                             size_t *size, refs_error *err) {
    if (!has_header && output->growing != NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "the decoded size is not known");
    *size = output->capacity;
    if (!has_header) return REFS_OK;
    if (encoded->size < HEADER_SIZE)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are too few for a header", encoded->size);
    *size = refs_load_le32(encoded->data);
    *encoded = refs_bytes_view(encoded->data + HEADER_SIZE, encoded->size - HEADER_SIZE);
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const szip_codec *codec = self;
    SZ_com_t parameters = codec->parameters;
    size_t size = 0, written;
    uint8_t *dst;
    REFS_TRY(take_size(codec->has_header, &encoded, output, &size, err));
    REFS_TRY(refs_codec__output_add(output, size, &dst, err));
    written = size;
    /* Samples of 32 and 64 bits are coded as four or eight samples of 8 bits. */
    int bits = parameters.bits_per_pixel;
    size_t unit = bits > 16 && bits < 32 ? 4 : bits > 8 && bits <= 16 ? 2 : 1;
    if (size % unit != 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not pixels of %d bits", size, bits);
    int result = SZ_BufftoBuffDecompress(dst, &written, encoded.data, encoded.size, &parameters);
    if (result == SZ_MEM_ERROR) return refs_fail_nomem(err);
    if (result == SZ_OK && written >= size) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the stream of %zu bytes does not decode to %zu",
                     encoded.size, size);
}

static const char *const aliases[] = {"szip", NULL};

const refs_codec_type refs_codec_szip = {
    .name = "imagecodecs_szip",
    .aliases = aliases,
    .reads = "HDF5 filter 4: szip, with or without its size before it",
    .library = "libsz",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
