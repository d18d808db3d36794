/* jpegxl.c -- codec "imagecodecs_jpegxl": a JPEG XL image or several of one size, bare or in a
 * container. Samples of a pixel are adjacent, but grey with channels other than alpha is decoded to
 * planes. With colours, other channels are ignored, as in imagecodecs.
 *
 * Sources: https://libjxl.readthedocs.io; imagecodecs, jpegxl_decode
 */
#include <jxl/decode.h>

#include "image.h"
#include "refs/lazy.h"

/* clang-format off */
#define FUNCTIONS(F) \
    F(JxlSignatureCheck) F(JxlDecoderCreate) F(JxlDecoderDestroy) F(JxlDecoderSetInput) F(JxlDecoderCloseInput) \
    F(JxlDecoderSubscribeEvents) F(JxlDecoderSetKeepOrientation) F(JxlDecoderSkipFrames) \
    F(JxlDecoderProcessInput) F(JxlDecoderGetBasicInfo) F(JxlDecoderSetImageOutBuffer) \
    F(JxlDecoderSetExtraChannelBuffer)
/* clang-format on */
#define ENTRY(function) REFS_LAZY_ENTRY(jxl, function)

static struct { FUNCTIONS(REFS_LAZY_MEMBER) } jxl;
static const refs_lazy_function functions[] = {FUNCTIONS(ENTRY){NULL, NULL}};
static refs_lazy_library library = REFS_LAZY_LIBRARY(REFS_LAZY_jxl, functions);

/* The library takes 13 bytes of memory for each. */
#define MAX_SAMPLES (64 * (size_t)REFS_MIB)

typedef struct jpegxl_codec {
    bool has_index;
    size_t index; /* of the image to decode */
    bool keep_orientation;
    bool swapped;
} jpegxl_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    uint64_t index = 0;
    (void)encoded_size;
    jpegxl_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->has_index = refs_json_u64(refs_json_get(context->config, "index"), &index);
    opened->index = (size_t)index;
    refs_json_bool(refs_json_get(context->config, "keeporientation"), &opened->keep_orientation);
    opened->swapped = refs_codec__array_is_swapped(context);
    return REFS_OK;
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* One decoding. */
typedef struct image_state {
    const jpegxl_codec *codec;
    JxlDecoder *library;
    refs_bytes encoded;
    JxlBasicInfo info;
    JxlPixelFormat format;
    refs_image image; /* one plane of one frame */
    size_t n_planes;
    size_t n_frames; /* decoded */
    uint8_t *frame;  /* the last one */
} image_state;

static refs_status damaged(const image_state *p, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "the image of %zu bytes is cut or damaged",
                     p->encoded.size);
}

/* Ignored channels count, because the library decodes them. */
static refs_status check_size(const JxlBasicInfo *info, refs_error *err) {
    const size_t n_channels = (size_t)info->num_color_channels + info->num_extra_channels;
    size_t n;
    if (refs_mul_size(info->xsize, info->ysize, &n) && refs_mul_size(n, n_channels, &n) &&
        n <= MAX_SAMPLES)
        return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%u x %u pixels of %zu samples: expected at most %zu samples",
                     info->xsize, info->ysize, n_channels, MAX_SAMPLES);
}

/* Chooses the output format as imagecodecs does: planes for grey with other channels. */
static refs_status read_info(image_state *p, refs_error *err) {
    const JxlBasicInfo *info = &p->info;
    if (jxl.JxlDecoderGetBasicInfo(p->library, &p->info) != JXL_DEC_SUCCESS) return damaged(p, err);
    REFS_TRY(check_size(info, err));
    if (info->exponent_bits_per_sample > 0 && info->bits_per_sample != 32 &&
        info->bits_per_sample != 16)
        return refs_fail(err, REFS_UNSUPPORTED, "floats of %u bits: expected 16 or 32",
                         info->bits_per_sample);
    const bool is_float = info->exponent_bits_per_sample > 0 || info->bits_per_sample > 16;
    p->format.data_type = !is_float ? info->bits_per_sample <= 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16
                          : info->bits_per_sample == 16 ? JXL_TYPE_FLOAT16
                                                        : JXL_TYPE_FLOAT;
    p->format.num_channels = info->num_color_channels + (info->alpha_bits > 0 ? 1 : 0);
    p->format.endianness = JXL_NATIVE_ENDIAN;
    const bool is_planar = p->format.num_channels == 1 && info->num_extra_channels > 0;
    p->n_planes = is_planar ? 1 + (size_t)info->num_extra_channels : 1;
    p->image = (refs_image){info->xsize, info->ysize, p->format.num_channels,
                            p->format.data_type == JXL_TYPE_UINT8   ? 1
                            : p->format.data_type == JXL_TYPE_FLOAT ? 4
                                                                    : 2};
    return REFS_OK;
}

static refs_status add_frame(image_state *p, refs_codec_output *output, refs_error *err) {
    refs_image whole = p->image;
    whole.n_samples *= p->n_planes;
    REFS_TRY(refs_codec__image_add(&whole, output, &p->frame, err));
    const size_t size = whole.width * whole.height * p->image.n_samples * p->image.sample_size;
    if (jxl.JxlDecoderSetImageOutBuffer(p->library, &p->format, p->frame, size) != JXL_DEC_SUCCESS)
        return damaged(p, err);
    for (size_t i = 1; i < p->n_planes; i++)
        if (jxl.JxlDecoderSetExtraChannelBuffer(p->library, &p->format, p->frame + i * size, size,
                                                (uint32_t)(i - 1)) != JXL_DEC_SUCCESS)
            return damaged(p, err);
    return REFS_OK;
}

/* Undoes the library's stretching of 3 bits to 8, and of 12 to 16. */
static uint32_t unstretch(uint32_t sample, uint32_t most, uint32_t stretched) {
    return (sample * most + stretched / 2) / stretched;
}

static void restore_range(const image_state *p, size_t n) {
    const uint32_t bits = p->info.bits_per_sample;
    if (p->format.data_type == JXL_TYPE_UINT8 && bits < 8)
        for (size_t i = 0; i < n; i++)
            p->frame[i] = (uint8_t)unstretch(p->frame[i], (1u << bits) - 1, UINT8_MAX);
    if (p->format.data_type != JXL_TYPE_UINT16 || bits == 16) return;
    for (size_t i = 0; i < n; i++) {
        uint16_t sample;
        memcpy(&sample, p->frame + 2 * i, sizeof sample);
        sample = (uint16_t)unstretch(sample, (1u << bits) - 1, UINT16_MAX);
        memcpy(p->frame + 2 * i, &sample, sizeof sample);
    }
}

static void finish_frame(image_state *p) {
    refs_image whole = p->image;
    whole.n_samples *= p->n_planes;
    restore_range(p, whole.width * whole.height * whole.n_samples);
    if (p->codec->swapped) refs_codec__image_swap(&whole, p->frame);
    p->n_frames++;
}

/* Decodes until the end of the file, or until the requested image is complete. */
static refs_status decode_frames(image_state *p, refs_codec_output *output, refs_error *err) {
    for (;;) switch (jxl.JxlDecoderProcessInput(p->library)) {
        case JXL_DEC_BASIC_INFO:
            REFS_TRY(read_info(p, err));
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            REFS_TRY(add_frame(p, output, err));
            break;
        case JXL_DEC_FULL_IMAGE:
            finish_frame(p);
            if (p->codec->has_index) return REFS_OK;
            break;
        case JXL_DEC_SUCCESS:
            return p->n_frames > 0 ? REFS_OK : damaged(p, err);
        default:
            return damaged(p, err);
        }
}

static refs_status start(image_state *p, refs_codec_output *output, refs_error *err) {
    if (jxl.JxlDecoderSubscribeEvents(p->library, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE) !=
            JXL_DEC_SUCCESS ||
        jxl.JxlDecoderSetKeepOrientation(p->library, p->codec->keep_orientation) !=
            JXL_DEC_SUCCESS ||
        jxl.JxlDecoderSetInput(p->library, p->encoded.data, p->encoded.size) != JXL_DEC_SUCCESS)
        return damaged(p, err);
    jxl.JxlDecoderCloseInput(p->library);
    if (p->codec->index > 0) jxl.JxlDecoderSkipFrames(p->library, p->codec->index);
    return decode_frames(p, output, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    REFS_TRY(refs_lazy_load(&library, err));
    const JxlSignature signature = jxl.JxlSignatureCheck(encoded.data, encoded.size);
    if (signature != JXL_SIG_CODESTREAM && signature != JXL_SIG_CONTAINER)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not an image", encoded.size);
    image_state p = {
        .codec = self, .library = jxl.JxlDecoderCreate(NULL), .encoded = encoded, .n_planes = 1};
    if (p.library == NULL) return refs_fail_nomem(err);
    refs_status status = start(&p, output, err);
    jxl.JxlDecoderDestroy(p.library);
    return status;
}

const refs_codec_type refs_codec_jpegxl = {.name = "imagecodecs_jpegxl",
                                           .reads = "JPEG XL, one image or several",
                                           .library = "libjxl",
                                           .open = open_codec,
                                           .decode = decode,
                                           .close = refs_free};
