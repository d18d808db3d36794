/* png.c -- codec "imagecodecs_png": a PNG image of 1 to 16 bits per sample; palettes are expanded
 * to colours, and transparency to an alpha sample. */
#include <png.h>
#include <setjmp.h>

#include "image.h"

typedef struct png_codec {
    bool swapped;
} png_codec;

/* The library's state for one image. Its errors jump back to decode_image. */
typedef struct image_state {
    png_structp library;
    png_infop info;
    refs_bytes encoded; /* the bytes not read yet */
    refs_image image;
    png_bytep *rows;
    uint8_t *samples;
    char message[128];
} image_state;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    png_codec *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->swapped = refs_codec__array_is_swapped(context);
    return REFS_OK;
}

/* -- callbacks of libpng ----------------------------------------------------------------------- */

static void fail_in_library(png_structp library, png_const_charp message) {
    image_state *p = png_get_error_ptr(library);
    strncpy(p->message, message, sizeof p->message - 1);
    png_longjmp(library, 1);
}

static void ignore_warning(png_structp library, png_const_charp message) {
    (void)library, (void)message;
}

static void read_bytes(png_structp library, png_bytep dst, size_t size) {
    image_state *p = png_get_io_ptr(library);
    if (size > p->encoded.size) png_error(library, "the image is cut");
    memcpy(dst, p->encoded.data, size);
    p->encoded = refs_bytes_view(p->encoded.data + size, p->encoded.size - size);
}

static png_voidp allocate(png_structp library, png_alloc_size_t size) {
    (void)library;
    return refs_alloc(size);
}

static void release(png_structp library, png_voidp memory) {
    (void)library;
    refs_free(memory);
}

/* -- decoding -- */

/* Sets up conversion of all formats to whole bytes of grey or colours. */
static void read_header(image_state *p) {
    png_set_read_fn(p->library, p, read_bytes);
    png_read_info(p->library, p->info);
    if (png_get_color_type(p->library, p->info) == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(p->library);
    if (png_get_bit_depth(p->library, p->info) < 8) png_set_expand_gray_1_2_4_to_8(p->library);
    if (png_get_valid(p->library, p->info, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(p->library);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (png_get_bit_depth(p->library, p->info) == 16) png_set_swap(p->library);
#endif
    png_set_interlace_handling(p->library);
    png_read_update_info(p->library, p->info);
    p->image.width = png_get_image_width(p->library, p->info);
    p->image.height = png_get_image_height(p->library, p->info);
    p->image.n_samples = png_get_channels(p->library, p->info);
    p->image.sample_size = png_get_bit_depth(p->library, p->info) == 16 ? 2 : 1;
}

static refs_status make_room(image_state *p, refs_codec_output *output, refs_error *err) {
    REFS_TRY(refs_codec__image_add(&p->image, output, &p->samples, err));
    size_t row_bytes = p->image.width * p->image.n_samples * p->image.sample_size;
    p->rows = refs_calloc(p->image.height, sizeof *p->rows);
    if (p->rows == NULL) return refs_fail_nomem(err);
    for (size_t y = 0; y < p->image.height; y++) p->rows[y] = p->samples + y * row_bytes;
    return REFS_OK;
}

/* The library may longjmp to either setjmp; no local variable changes between them. */
static refs_status decode_image(image_state *p, refs_codec_output *output, refs_error *err) {
    if (setjmp(png_jmpbuf(p->library)) != 0) return refs_fail(err, REFS_CORRUPT, "%s", p->message);
    read_header(p);
    REFS_TRY(make_room(p, output, err));
    if (setjmp(png_jmpbuf(p->library)) != 0) return refs_fail(err, REFS_CORRUPT, "%s", p->message);
    png_read_image(p->library, p->rows);
    png_read_end(p->library, NULL);
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const png_codec *codec = self;
    image_state p = {.encoded = encoded};
    refs_status status = REFS_NOMEM;
    p.library = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &p, fail_in_library, ignore_warning,
                                         NULL, allocate, release);
    if (p.library != NULL) p.info = png_create_info_struct(p.library);
    if (p.info != NULL) status = decode_image(&p, output, err);
    if (p.library != NULL) png_destroy_read_struct(&p.library, &p.info, NULL);
    if (status == REFS_OK && codec->swapped) refs_codec__image_swap(&p.image, p.samples);
    refs_free(p.rows);
    return status == REFS_NOMEM ? refs_fail_nomem(err) : status;
}

const refs_codec_type refs_codec_png = {.name = "imagecodecs_png",
                                        .reads = "PNG",
                                        .library = "libpng",
                                        .open = open_codec,
                                        .decode = decode,
                                        .close = refs_free};
