/* jpeg2k.c -- codec "imagecodecs_jpeg2k": a JPEG 2000 image, as a JP2 file or a bare codestream;
 * samples of up to 32 bits. */
#include <openjpeg.h>

#include "image.h"

typedef struct jpeg2k_codec {
    bool planar; /* all first samples, then all second ones … */
    bool swapped;
} jpeg2k_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    jpeg2k_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    refs_json_bool(refs_json_get(context->config, "planar"), &opened->planar);
    opened->swapped = refs_codec__array_is_swapped(context);
    return REFS_OK;
}

/* -- a stream from memory ---------------------------------------------------------------------- */

typedef struct source {
    refs_bytes bytes;
    size_t at;
} source;

static OPJ_SIZE_T read_source(void *dst, OPJ_SIZE_T size, void *user) {
    source *from = user;
    size_t left = from->bytes.size - from->at;
    if (left == 0) return (OPJ_SIZE_T)-1;
    if (size > left) size = left;
    memcpy(dst, from->bytes.data + from->at, size);
    from->at += size;
    return size;
}

static OPJ_OFF_T skip_source(OPJ_OFF_T size, void *user) {
    source *from = user;
    if (size < 0 || (uint64_t)size > from->bytes.size - from->at) return -1;
    from->at += (size_t)size;
    return size;
}

static OPJ_BOOL seek_source(OPJ_OFF_T at, void *user) {
    source *from = user;
    if (at < 0 || (uint64_t)at > from->bytes.size) return OPJ_FALSE;
    from->at = (size_t)at;
    return OPJ_TRUE;
}

static opj_stream_t *open_stream(source *from) {
    opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
    if (stream == NULL) return NULL;
    opj_stream_set_user_data(stream, from, NULL);
    opj_stream_set_user_data_length(stream, from->bytes.size);
    opj_stream_set_read_function(stream, read_source);
    opj_stream_set_skip_function(stream, skip_source);
    opj_stream_set_seek_function(stream, seek_source);
    return stream;
}

/* -- limits of images -------------------------------------------------------------------------- */

/* openjpeg allocates memory for each tile that the header declares. */
#define MAX_TILE_BYTES     (64 * (uint64_t)REFS_MIB)
#define TILE_BYTES         6000
#define TILE_OF_KIND_BYTES 1200
#define SIZ_BYTES          42 /* with the two markers before it */

/* The codestream in a JP2 file (ISO/IEC 15444-1, annex I), or empty. */
static refs_bytes find_codestream(refs_bytes file) {
    while (file.size >= 16) {
        uint64_t length = refs_load_be32(file.data);
        size_t head = 8;
        bool found = memcmp(file.data + 4, "jp2c", 4) == 0;
        if (length == 1) {
            length = refs_load_be64(file.data + 8);
            head = 16;
        }
        if (found) return refs_bytes_view(file.data + head, file.size - head);
        if (length < head || length > file.size) break;
        file = refs_bytes_view(file.data + length, file.size - (size_t)length);
    }
    return refs_bytes_view(NULL, 0);
}

static uint64_t n_steps(uint64_t begin, uint64_t end, uint64_t step) {
    return end > begin && step > 0 ? (end - begin + step - 1) / step : 0;
}

/* Checks the marker segment SIZ, which comes first (annex A.5.1). */
static refs_status check_tiles(refs_bytes codestream, refs_error *err) {
    static const uint8_t begin[] = {0xFF, 0x4F, 0xFF, 0x51};
    const uint8_t *at = codestream.data;
    if (codestream.size < SIZ_BYTES || memcmp(at, begin, sizeof begin) != 0)
        return refs_fail(err, REFS_CORRUPT, "expected a JPEG 2000 codestream");
    uint64_t across =
        n_steps(refs_load_be32(at + 32), refs_load_be32(at + 8), refs_load_be32(at + 24));
    uint64_t down =
        n_steps(refs_load_be32(at + 36), refs_load_be32(at + 12), refs_load_be32(at + 28));
    uint64_t n_kinds = (uint64_t)at[40] << 8 | at[41], tiles;
    uint64_t each = TILE_BYTES + n_kinds * TILE_OF_KIND_BYTES;
    if (refs_mul_u64(across, down, &tiles) && tiles <= MAX_TILE_BYTES / each) return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%llu by %llu tiles of %llu samples",
                     (unsigned long long)across, (unsigned long long)down,
                     (unsigned long long)n_kinds);
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* The library's objects for one image. */
typedef struct image_state {
    opj_codec_t *library;
    opj_stream_t *stream;
    opj_image_t *image;
    refs_image size;
} image_state;

static void clear(image_state *p) {
    if (p->image != NULL) opj_image_destroy(p->image);
    if (p->stream != NULL) opj_stream_destroy(p->stream);
    if (p->library != NULL) opj_destroy_codec(p->library);
}

static refs_status damaged(refs_bytes encoded, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "the image of %zu bytes is cut or damaged", encoded.size);
}

static refs_status read_header(image_state *p, refs_bytes encoded, refs_error *err) {
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    if (!opj_setup_decoder(p->library, &parameters)) return refs_fail_nomem(err);
    if (!opj_read_header(p->stream, p->library, &p->image) || p->image->numcomps == 0)
        return damaged(encoded, err);
    const opj_image_comp_t *first = &p->image->comps[0];
    for (OPJ_UINT32 i = 0; i < p->image->numcomps; i++) {
        const opj_image_comp_t *other = &p->image->comps[i];
        if (other->w != first->w || other->h != first->h || other->prec != first->prec)
            return refs_fail(err, REFS_UNSUPPORTED, "samples of different sizes are not supported");
    }
    p->size = (refs_image){first->w, first->h, p->image->numcomps,
                           first->prec <= 8    ? 1
                           : first->prec <= 16 ? 2
                                               : 4};
    return REFS_OK;
}

/* Writes samples, which the library returns as 32-bit numbers, one array per component. */
static void put_samples(const image_state *p, const jpeg2k_codec *codec, uint8_t *at) {
    const refs_number_type type = {REFS_NUMBER_UINT, p->size.sample_size, codec->swapped};
    size_t n = p->size.width * p->size.height, n_kinds = p->size.n_samples;
    for (size_t kind = 0; kind < n_kinds; kind++) {
        const OPJ_INT32 *samples = p->image->comps[kind].data;
        for (size_t i = 0; i < n; i++) {
            size_t place = codec->planar ? kind * n + i : i * n_kinds + kind;
            refs_codec__store_uint(&type, (uint64_t)(int64_t)samples[i], at + place * type.size);
        }
    }
}

static refs_status decode_image(image_state *p, const jpeg2k_codec *codec, refs_bytes encoded,
                                refs_codec_output *output, refs_error *err) {
    uint8_t *at;
    REFS_TRY(read_header(p, encoded, err));
    REFS_TRY(refs_codec__image_add(&p->size, output, &at, err));
    if (!opj_decode(p->library, p->stream, p->image) || !opj_end_decompress(p->library, p->stream))
        return damaged(encoded, err);
    for (size_t i = 0; i < p->size.n_samples; i++) {
        const opj_image_comp_t *samples = &p->image->comps[i];
        if (samples->data == NULL || samples->w != p->size.width || samples->h != p->size.height)
            return damaged(encoded, err);
    }
    put_samples(p, codec, at);
    return REFS_OK;
}

/* The file format begins with a box of twelve bytes, a codestream with its marker. */
static bool is_file(refs_bytes encoded) {
    return encoded.size > 12 && memcmp(encoded.data, "\0\0\0\x0cjP  ", 8) == 0;
}

static OPJ_CODEC_FORMAT format_of(refs_bytes encoded) {
    return is_file(encoded) ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    REFS_TRY(check_tiles(is_file(encoded) ? find_codestream(encoded) : encoded, err));
    source from = {encoded, 0};
    image_state p = {.library = opj_create_decompress(format_of(encoded)),
                     .stream = open_stream(&from)};
    refs_status status = p.library != NULL && p.stream != NULL
                             ? decode_image(&p, self, encoded, output, err)
                             : refs_fail_nomem(err);
    clear(&p);
    return status;
}

const refs_codec_type refs_codec_jpeg2k = {.name = "imagecodecs_jpeg2k",
                                           .reads = "JPEG 2000, in JP2 files or bare",
                                           .library = "libopenjp2",
                                           .open = open_codec,
                                           .decode = decode,
                                           .close = refs_free};
