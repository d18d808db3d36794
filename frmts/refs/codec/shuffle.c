/* shuffle.c -- codec "shuffle": all first bytes of the elements, then all second bytes … */
#include "output.h"

/* numcodecs' default. */
#define DEFAULT_ELEMENT_SIZE 4

typedef struct shuffle {
    size_t element_size;
} shuffle;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    uint64_t element_size = DEFAULT_ELEMENT_SIZE;
    const refs_json *given = refs_json_get(context->config, "elementsize");
    if (given != NULL && (!refs_json_u64(given, &element_size) || element_size > SIZE_MAX))
        return refs_fail(err, REFS_INVALID, "elementsize is no size");
    shuffle *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->element_size = element_size > 0 ? (size_t)element_size : 1;
    *self = opened;
    *encoded_size = context->decoded_size;
    return REFS_OK;
}

/* For sizes known when this is compiled: the planes are read side by side and elements written
 * whole, which compilers turn into vector instructions. */
#define DEFINE_UNSHUFFLE(element_size)                                                             \
    static void unshuffle_##element_size(const uint8_t *restrict src, size_t n,                    \
                                         uint8_t *restrict dst) {                                  \
        for (size_t i = 0; i < n; i++)                                                             \
            for (size_t plane = 0; plane < (element_size); plane++)                                \
                dst[i * (element_size) + plane] = src[plane * n + i];                              \
    }

DEFINE_UNSHUFFLE(2)
DEFINE_UNSHUFFLE(4)
DEFINE_UNSHUFFLE(8)

static void unshuffle_any(const uint8_t *src, size_t n, size_t element_size, uint8_t *dst) {
    for (size_t plane = 0; plane < element_size; plane++)
        for (size_t i = 0; i < n; i++) dst[i * element_size + plane] = src[plane * n + i];
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    size_t element_size = ((const shuffle *)self)->element_size;
    size_t n = encoded.size / element_size;
    if (encoded.size % element_size != 0)
        return refs_fail(err, REFS_CORRUPT,
                         "%zu bytes are no multiple of the element size %zu: "
                         "perhaps the filter was skipped for this chunk",
                         encoded.size, element_size);
    uint8_t *dst;
    REFS_TRY(refs_codec__output_add(output, encoded.size, &dst, err));
    switch (element_size) {
    case 2:
        unshuffle_2(encoded.data, n, dst);
        break;
    case 4:
        unshuffle_4(encoded.data, n, dst);
        break;
    case 8:
        unshuffle_8(encoded.data, n, dst);
        break;
    default:
        unshuffle_any(encoded.data, n, element_size, dst);
    }
    return REFS_OK;
}

const refs_codec_type refs_codec_shuffle = {.name = "shuffle",
                                            .reads = "bytes in planes, for elements of any size",
                                            .library = "REFS",
                                            .open = open_codec,
                                            .decode = decode,
                                            .close = refs_free};
