/* lerc.c -- codec "imagecodecs_lerc": an Esri LERC image, in TIFF optionally compressed again.
 * Invalid pixels are NaN if samples are floats, as in libtiff. Samples are not swapped in arrays of
 * the other byte order, because libtiff swaps them before encoding.
 *
 * Source: https://github.com/Esri/lerc
 */
#include <Lerc_c_api.h>
#include <limits.h>
#include <math.h>

#include "image.h"

/* -- one image --------------------------------------------------------------------------------- */

/* The library's description of an image, in its order. */
typedef enum lerc_info {
    INFO_TYPE = 1,
    INFO_DEPTH,
    INFO_WIDTH,
    INFO_HEIGHT,
    INFO_BANDS,
    INFO_VALID,
    INFO_SIZE,
    INFO_MASKS,
    INFO_COUNT
} lerc_info;

typedef struct image_state {
    refs_bytes blob;
    unsigned info[INFO_COUNT];
    refs_image image;
    uint8_t *samples;
    uint8_t *masks; /* one byte for each pixel, for one band or for each */
} image_state;

static refs_status read_info(image_state *p, refs_error *err) {
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
    const unsigned *info = p->info;
    size_t n_samples;
    if (p->blob.size > UINT_MAX ||
        lerc_getBlobInfo(p->blob.data, (unsigned)p->blob.size, p->info, NULL, INFO_COUNT, 0) != 0 ||
        info[INFO_TYPE] >= sizeof sizes / sizeof *sizes || info[INFO_SIZE] > p->blob.size)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a whole image", p->blob.size);
    if (info[INFO_WIDTH] > INT_MAX || info[INFO_HEIGHT] > INT_MAX || info[INFO_DEPTH] > INT_MAX ||
        info[INFO_BANDS] > INT_MAX ||
        !refs_mul_size(info[INFO_DEPTH], info[INFO_BANDS], &n_samples))
        return refs_fail(err, REFS_LIMIT, "the image is too large");
    p->image = (refs_image){info[INFO_WIDTH], info[INFO_HEIGHT], n_samples, sizes[info[INFO_TYPE]]};
    return REFS_OK;
}

static void put_nan(uint8_t *sample, size_t size) {
    const double wide = (double)NAN;
    const float narrow = (float)wide;
    memcpy(sample, size == 8 ? (const void *)&wide : (const void *)&narrow, size);
}

/* The samples of a pixel in a band are adjacent; bands follow one another. */
static void mask_floats(const image_state *p) {
    size_t n_pixels = p->image.width * p->image.height, depth = p->info[INFO_DEPTH];
    size_t size = p->image.sample_size;
    for (size_t band = 0; band < p->info[INFO_BANDS]; band++) {
        const uint8_t *mask = p->masks + (p->info[INFO_MASKS] > 1 ? band * n_pixels : 0);
        for (size_t pixel = 0; pixel < n_pixels; pixel++)
            for (size_t i = 0; i < depth && mask[pixel] == 0; i++)
                put_nan(p->samples + ((band * n_pixels + pixel) * depth + i) * size, size);
    }
}

static refs_status decode_image(image_state *p, refs_codec_output *output, refs_error *err) {
    REFS_TRY(read_info(p, err));
    const unsigned *info = p->info;
    size_t n_pixels = (size_t)info[INFO_WIDTH] * info[INFO_HEIGHT];
    REFS_TRY(refs_codec__image_add(&p->image, output, &p->samples, err));
    if (info[INFO_MASKS] > 1 && info[INFO_MASKS] != info[INFO_BANDS])
        return refs_fail(err, REFS_CORRUPT,
                         "expected one mask, or one for each of %u bands, found %u",
                         info[INFO_BANDS], info[INFO_MASKS]);
    memset(p->samples, 0, n_pixels * p->image.n_samples * p->image.sample_size);
    p->masks = refs_calloc(n_pixels, info[INFO_MASKS]);
    if (p->masks == NULL) return refs_fail_nomem(err);
    if (lerc_decode(p->blob.data, (unsigned)p->blob.size, (int)info[INFO_MASKS],
                    info[INFO_MASKS] > 0 ? p->masks : NULL, (int)info[INFO_DEPTH],
                    (int)info[INFO_WIDTH], (int)info[INFO_HEIGHT], (int)info[INFO_BANDS],
                    info[INFO_TYPE], p->samples) != 0)
        return refs_fail(err, REFS_CORRUPT, "the image of %zu bytes is damaged", p->blob.size);
    if (info[INFO_MASKS] > 0 && info[INFO_TYPE] >= 6) mask_floats(p);
    return REFS_OK;
}

/* -- compressed images ------------------------------------------------------------------------- */

/* Detects an outer compression by its first bytes; NULL if there is none. */
static const refs_codec_type *outer_codec(refs_bytes encoded) {
    if (encoded.size < 4) return NULL;
    const char *id = refs_load_be32(encoded.data) == 0x28b52ffdu ? "zstd"
                     : encoded.data[0] == 0x78                   ? "zlib"
                                                                 : "";
    const refs_codec_type *type = refs_codec_find(refs_str_from(id));
    return type != NULL && type->missing == NULL ? type : NULL;
}

static refs_status undo_outer(const refs_codec_type *outer, refs_bytes encoded, refs_buf *blob,
                              refs_error *err) {
    refs_chain_step step = {outer->name, NULL};
    refs_chain_spec spec = {.steps = &step, .n_steps = 1, .dtype = ""};
    refs_chain *chain = NULL;
    refs_scratch scratch = {0};
    refs_bytes decoded = {NULL, 0};
    REFS_TRY(refs_chain_open(&spec, &chain, err));
    refs_status status = refs_chain_decode_any(chain, encoded, &scratch, &decoded, err);
    if (status == REFS_OK) status = refs_buf_append(blob, decoded.data, decoded.size, err);
    refs_scratch_clear(&scratch);
    refs_chain_free(chain);
    return status;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    image_state p = {.blob = encoded};
    REFS_SCOPED_BUF blob = REFS_BUF_INIT;
    const refs_codec_type *outer = outer_codec(encoded);
    refs_status status = outer != NULL ? undo_outer(outer, encoded, &blob, err) : REFS_OK;
    if (outer != NULL) p.blob = refs_buf_view(&blob);
    if (status == REFS_OK) status = decode_image(&p, output, err);
    refs_free(p.masks);
    return status;
}

const refs_codec_type refs_codec_lerc = {.name = "imagecodecs_lerc",
                                         .reads = "Esri LERC, also compressed again",
                                         .library = "libLerc",
                                         .decode = decode};
