/* jpeg.c -- codec "imagecodecs_jpeg": a JPEG image of 8 bits per sample, such as a tile of a TIFF
 * file: the configuration may have its tables, and a header to prepend. */
#include <stdio.h>
/* Must follow jpeglib.h. */
#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>

#include "image.h"

typedef struct jpeg_codec {
    refs_buf tables;
    refs_buf header;
    J_COLOR_SPACE stored;  /* JCS_UNKNOWN: the image's */
    J_COLOR_SPACE decoded; /* JCS_UNKNOWN: the library's default */
} jpeg_codec;

/* -- configuration ----------------------------------------------------------------------------- */

/* Reads a colour space, by the library's number or TIFF's name. */
static refs_status read_colors(const refs_json *config, const char *member, J_COLOR_SPACE *colors,
                               refs_error *err) {
    static const struct {
        const char *name;
        J_COLOR_SPACE colors;
    } names[] = {{"MINISWHITE", JCS_GRAYSCALE},
                 {"MINISBLACK", JCS_GRAYSCALE},
                 {"GRAYSCALE", JCS_GRAYSCALE},
                 {"RGB", JCS_RGB},
                 {"YCBCR", JCS_YCbCr},
                 {"SEPARATED", JCS_CMYK},
                 {"CMYK", JCS_CMYK},
                 {"YCCK", JCS_YCCK}};
    const refs_json *given = refs_json_get(config, member);
    uint64_t number;
    *colors = JCS_UNKNOWN;
    if (refs_json_kind_of(given) == REFS_JSON_KIND_NULL) return REFS_OK;
    if (refs_json_u64(given, &number) && number <= JCS_YCCK) {
        *colors = (J_COLOR_SPACE)number;
        return REFS_OK;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!refs_str_is(refs_json_text(given), names[i].name)) continue;
        *colors = names[i].colors;
        return REFS_OK;
    }
    return refs_fail(err, REFS_UNSUPPORTED, "%s \"%.*s\"", member,
                     REFS_STR_ARG(refs_json_text(given)));
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    const refs_json *config = context->config;
    jpeg_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    REFS_TRY(read_colors(config, "colorspace_jpeg", &opened->stored, err));
    REFS_TRY(read_colors(config, "colorspace_data", &opened->decoded, err));
    REFS_TRY(
        refs_base64_decode(refs_json_text(refs_json_get(config, "tables")), &opened->tables, err));
    return refs_base64_decode(refs_json_text(refs_json_get(config, "header")), &opened->header,
                              err);
}

static void close_codec(void *self) {
    REFS_SCOPED jpeg_codec *codec = self;
    refs_buf_clear(&codec->tables);
    refs_buf_clear(&codec->header);
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* The library's state for one image. Its errors jump back to decode_image. */
typedef struct image_state {
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr errors;
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
    refs_status status; /* of a failure outside the library */
} image_state;

static void fail_in_library(j_common_ptr library) {
    image_state *p = library->client_data;
    p->errors.format_message(library, p->message);
    longjmp(p->back, 1);
}

/* The library only warns of truncated or damaged images, which is an error here. Warnings of extra
 * bytes are ignored. */
static void warn_in_library(j_common_ptr library, int level) {
    if (level < 0 && library->err->msg_code != JWRN_EXTRANEOUS_DATA) fail_in_library(library);
}

static void read_rows(image_state *p, uint8_t *at) {
    size_t row_bytes = (size_t)p->library.output_width * (size_t)p->library.output_components;
    while (p->library.output_scanline < p->library.output_height) {
        JSAMPROW row = at + p->library.output_scanline * row_bytes;
        jpeg_read_scanlines(&p->library, &row, 1);
    }
}

static void read_image(const jpeg_codec *codec, refs_bytes encoded, image_state *p,
                       refs_codec_output *output, refs_error *err) {
    uint8_t *at;
    if (codec->tables.size > 0) {
        jpeg_mem_src(&p->library, codec->tables.data, (unsigned long)codec->tables.size);
        jpeg_read_header(&p->library, FALSE);
    }
    jpeg_mem_src(&p->library, encoded.data, (unsigned long)encoded.size);
    jpeg_read_header(&p->library, TRUE);
    /* An image of one plane has no colours, whatever the configuration of the whole image. */
    bool has_colors = p->library.num_components > 1;
    if (has_colors && codec->stored != JCS_UNKNOWN) p->library.jpeg_color_space = codec->stored;
    if (has_colors && codec->decoded != JCS_UNKNOWN) p->library.out_color_space = codec->decoded;
    jpeg_calc_output_dimensions(&p->library);
    refs_image image = {p->library.output_width, p->library.output_height,
                        (size_t)p->library.output_components, 1};
    p->status = refs_codec__image_add(&image, output, &at, err);
    if (p->status != REFS_OK) return;
    jpeg_start_decompress(&p->library);
    read_rows(p, at);
    jpeg_finish_decompress(&p->library);
}

/* `p` is the caller's, so that longjmp does not make its members indeterminate. */
static refs_status decode_image(const jpeg_codec *codec, refs_bytes encoded, image_state *p,
                                refs_codec_output *output, refs_error *err) {
    p->library.err = jpeg_std_error(&p->errors);
    p->library.client_data = p;
    p->errors.error_exit = fail_in_library;
    p->errors.emit_message = warn_in_library;
    if (setjmp(p->back) == 0) {
        jpeg_create_decompress(&p->library);
        read_image(codec, encoded, p, output, err);
    } else {
        p->status = refs_fail(err, REFS_CORRUPT, "%s", p->message);
    }
    jpeg_destroy_decompress(&p->library);
    return p->status;
}

/* Prepends the header to the image, without the header's end marker. */
static refs_status join(const jpeg_codec *codec, refs_bytes encoded, refs_buf *whole,
                        refs_error *err) {
    REFS_TRY(refs_buf_append(whole, codec->header.data, codec->header.size, err));
    REFS_TRY(refs_buf_append(whole, encoded.data, encoded.size, err));
    return refs_buf_append(whole, "\xff\xd9", 2, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const jpeg_codec *codec = self;
    image_state p = {.status = REFS_OK};
    if (codec->header.size == 0) return decode_image(codec, encoded, &p, output, err);
    REFS_SCOPED_BUF whole = REFS_BUF_INIT;
    refs_status status = join(codec, encoded, &whole, err);
    if (status == REFS_OK) status = decode_image(codec, refs_buf_view(&whole), &p, output, err);
    return status;
}

static const char *const aliases[] = {"imagecodecs_jpeg8", NULL};

const refs_codec_type refs_codec_jpeg = {.name = "imagecodecs_jpeg",
                                         .aliases = aliases,
                                         .reads = "JPEG, with tables of TIFF files",
                                         .library = "libjpeg",
                                         .open = open_codec,
                                         .decode = decode,
                                         .close = close_codec};
