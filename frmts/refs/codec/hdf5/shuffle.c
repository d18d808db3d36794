/* shuffle.c -- codec "shuffle": the first bytes of all elements, then the second bytes … */
#include "output.h"

/* numcodecs' default. */
#define DEFAULT_ELEMENT_SIZE 4

/* Bytes that are unshuffled at a time, which fit into the L1 cache. */
#define BLOCK_BYTES 4096

typedef struct shuffle {
    size_t element_size;
    bool may_be_left; /* bytes after the last whole element are allowed, and not shuffled: HDF5
                         writes them if another filter precedes this one */
} shuffle;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    uint64_t element_size = DEFAULT_ELEMENT_SIZE;
    const refs_json *given = refs_json_get(context->config, "elementsize");
    if (given != NULL && !refs_json_u64(given, &element_size))
        return refs_fail(err, REFS_INVALID, "elementsize: expected a size");
    shuffle *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    if (element_size > SIZE_MAX) element_size = SIZE_MAX; /* no chunk size is a multiple of that */
    opened->element_size = element_size > 0 ? (size_t)element_size : 1;
    opened->may_be_left = false;
    refs_json_bool(refs_json_get(context->config, "leftover"), &opened->may_be_left);
    *self = opened;
    *encoded_size = context->decoded_size;
    return REFS_OK;
}

/* For element sizes known at compile time: reads all planes in parallel and writes whole elements,
 * which compilers vectorise. */
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

static void unshuffle(const uint8_t *src, size_t n, size_t element_size, uint8_t *dst) {
    switch (element_size) {
    case 2:
        unshuffle_2(src, n, dst);
        break;
    case 4:
        unshuffle_4(src, n, dst);
        break;
    case 8:
        unshuffle_8(src, n, dst);
        break;
    default:
        unshuffle_any(src, n, element_size, dst);
    }
}

static refs_status check_whole(const shuffle *codec, size_t size, refs_error *err) {
    size_t element_size = codec->element_size;
    if (size % element_size == 0 || codec->may_be_left) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "%zu bytes are not a multiple of the element size %zu: "
                     "perhaps the filter was skipped for this chunk",
                     size, element_size);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    size_t element_size = ((const shuffle *)self)->element_size;
    uint8_t *dst;
    REFS_TRY(check_whole(self, encoded.size, err));
    REFS_TRY(refs_codec__output_add(output, encoded.size, &dst, err));
    unshuffle(encoded.data, encoded.size / element_size, element_size, dst);
    size_t left = encoded.size % element_size, whole = encoded.size - left;
    if (left > 0) memcpy(dst + whole, encoded.data + whole, left);
    return REFS_OK;
}

/* Elements whose last plane is still in `data`, after all bytes written so far. */
typedef struct moved_planes {
    uint8_t *data;
    const uint8_t *others; /* planes */
    size_t n, element_size;
} moved_planes;

/* Elements [begin, begin + n) of them. */
static void unshuffle_block(const moved_planes *moved, size_t begin, size_t n) {
    uint8_t block[BLOCK_BYTES];
    size_t last = moved->element_size - 1;
    for (size_t plane = 0; plane < last; plane++)
        memcpy(block + plane * n, moved->others + plane * moved->n + begin, n);
    memcpy(block + last * n, moved->data + last * moved->n + begin, n);
    unshuffle(block, n, moved->element_size, moved->data + begin * moved->element_size);
}

/* Moves all planes except the last one to `spare`; for large elements, the last one too. */
static refs_status decode_in_place(const void *self, uint8_t *data, size_t size, refs_buf *spare,
                                   refs_error *err) {
    size_t element_size = ((const shuffle *)self)->element_size;
    REFS_TRY(check_whole(self, size, err));
    size -= size % element_size;
    if (element_size == 1 || size == 0) return REFS_OK;
    size_t n = size / element_size;
    bool large = element_size > BLOCK_BYTES;
    size_t spared = large ? size : size - n;
    REFS_TRY(refs_buf_reserve(spare, spared, err));
    memcpy(spare->data, data, spared);
    if (large) {
        unshuffle(spare->data, n, element_size, data);
        return REFS_OK;
    }
    const moved_planes moved = {data, spare->data, n, element_size};
    size_t step = BLOCK_BYTES / element_size;
    for (size_t begin = 0; begin < n; begin += step)
        unshuffle_block(&moved, begin, n - begin < step ? n - begin : step);
    return REFS_OK;
}

const refs_codec_type refs_codec_shuffle = {.name = "shuffle",
                                            .reads = "bytes in planes, for elements of any size",
                                            .library = "REFS",
                                            .open = open_codec,
                                            .decode = decode,
                                            .decode_in_place = decode_in_place,
                                            .close = refs_free};
