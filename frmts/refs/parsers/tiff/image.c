/* image.c -- see tiff/image.h. */
#include "tiff/image.h"

#include <stdlib.h>

enum { FORMAT_UINT = 1, FORMAT_INT = 2, FORMAT_FLOAT = 3, FORMAT_VOID = 4, FORMAT_COMPLEX = 6 };
enum { COMPRESSION_JPEG = 7, PLANAR = 2 };

/* Limits: samples of a pixel, and bytes of a tile. */
#define MAX_SAMPLES    65535
#define MAX_TILE_BYTES (UINT64_C(1) << 40)

/* Reads a value that must be the same for all samples. */
static refs_status read_of_samples(const tiff_file *file, const tiff_directory *directory,
                                   tiff_tag tag, uint64_t *value, refs_error *err) {
    const tiff_field *field = refs_scan__tiff_find(directory, tag);
    uint64_t other;
    if (field == NULL || field->count == 0) return REFS_OK;
    if (field->count > MAX_SAMPLES)
        return refs_fail(err, REFS_CORRUPT, "tag %u has an unexpected number of values: %llu",
                         field->tag, (unsigned long long)field->count);
    REFS_TRY(refs_scan__tiff_number(file, directory, tag, value, err));
    for (uint64_t i = 1; i < field->count; i++) {
        REFS_TRY(refs_scan__tiff_integers(file, field, (refs_source_range){i, 1}, &other, err));
        if (other != *value)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "its samples have different types: expected one type");
    }
    return REFS_OK;
}

typedef struct wanted_number {
    tiff_tag tag;
    uint64_t *number;
} wanted_number;

static refs_status read_numbers(const tiff_file *file, tiff_image *image, refs_error *err) {
    uint64_t planar = 1;
    const wanted_number wanted[] = {{TIFF_WIDTH, &image->width},
                                    {TIFF_HEIGHT, &image->height},
                                    {TIFF_SAMPLES, &image->samples},
                                    {TIFF_COMPRESSION, &image->compression},
                                    {TIFF_PHOTOMETRIC, &image->photometric},
                                    {TIFF_PREDICTOR, &image->predictor},
                                    {TIFF_FILL_ORDER, &image->fill_order},
                                    {TIFF_PLANAR, &planar}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        REFS_TRY(
            refs_scan__tiff_number(file, image->directory, wanted[i].tag, wanted[i].number, err));
    REFS_TRY(read_of_samples(file, image->directory, TIFF_BITS, &image->bits, err));
    REFS_TRY(read_of_samples(file, image->directory, TIFF_SAMPLE_FORMAT, &image->format, err));
    if (image->format == FORMAT_VOID || image->format == 0) image->format = FORMAT_UINT;
    image->is_planar = planar == PLANAR && image->samples > 1;
    if (image->width > 0 && image->height > 0 && image->samples > 0 &&
        image->samples <= MAX_SAMPLES)
        return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "an image has an invalid size: %llu x %llu pixels of %llu samples",
                     (unsigned long long)image->width, (unsigned long long)image->height,
                     (unsigned long long)image->samples);
}

static bool is_one_of(uint64_t number, const uint64_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (numbers[i] == number) return true;
    return false;
}

/* Checks that samples are elements, or integers with so few bits that they are unpacked. */
static refs_status check_type(tiff_image *image, refs_error *err) {
    static const uint64_t integers[] = {8, 16, 32, 64}, floats[] = {16, 32, 64},
                          complexes[] = {64, 128};
    bool is_whole = false;
    if (image->format == FORMAT_UINT || image->format == FORMAT_INT)
        is_whole = is_one_of(image->bits, integers, 4);
    if (image->format == FORMAT_FLOAT) is_whole = is_one_of(image->bits, floats, 3);
    if (image->format == FORMAT_COMPLEX) is_whole = is_one_of(image->bits, complexes, 2);
    if (is_whole) return REFS_OK;
    if (image->format == FORMAT_UINT && image->bits > 0 && image->bits < 32) {
        image->is_packed = image->compression != COMPRESSION_JPEG;
        return REFS_OK;
    }
    return refs_fail(err, REFS_UNSUPPORTED,
                     "samples of %llu bits in sample format %llu are not supported",
                     (unsigned long long)image->bits, (unsigned long long)image->format);
}

void refs_scan__tiff_dtype(const tiff_file *file, const tiff_image *image, char *dtype,
                           size_t size) {
    static const char letters[] = {'u', 'u', 'i', 'f', 'u', 'u', 'c'};
    uint64_t bytes = image->bits <= 8    ? 1
                     : image->bits <= 16 ? 2
                     : image->bits <= 32 ? 4
                                         : image->bits / 8;
    char order = file->is_big_endian ? '>' : '<';
    snprintf(dtype, size, "%c%c%u", bytes == 1 ? '|' : order,
             letters[image->format < sizeof letters ? image->format : 0], (unsigned)bytes);
}

static refs_status read_tiles(const tiff_file *file, tiff_image *image, refs_error *err) {
    const tiff_directory *directory = image->directory;
    image->is_tiled = refs_scan__tiff_find(directory, TIFF_TILE_WIDTH) != NULL;
    if (image->is_tiled) {
        REFS_TRY(refs_scan__tiff_number(file, directory, TIFF_TILE_WIDTH, &image->chunk[1], err));
        REFS_TRY(refs_scan__tiff_number(file, directory, TIFF_TILE_HEIGHT, &image->chunk[0], err));
    } else {
        image->chunk[0] = image->height;
        image->chunk[1] = image->width;
        REFS_TRY(
            refs_scan__tiff_number(file, directory, TIFF_ROWS_PER_STRIP, &image->chunk[0], err));
        if (image->chunk[0] > image->height) image->chunk[0] = image->height;
    }
    image->offsets = refs_scan__tiff_find(directory, TIFF_TILE_OFFSETS);
    image->sizes = refs_scan__tiff_find(directory, TIFF_TILE_SIZES);
    /* Some writers use the tags of strips for tiles. */
    if (image->offsets == NULL)
        image->offsets = refs_scan__tiff_find(directory, TIFF_STRIP_OFFSETS);
    if (image->sizes == NULL) image->sizes = refs_scan__tiff_find(directory, TIFF_STRIP_SIZES);
    return REFS_OK;
}

static refs_status measure(tiff_image *image, refs_error *err) {
    uint64_t bytes, across;
    if (image->chunk[0] == 0 || image->chunk[1] == 0 ||
        !refs_mul_u64(image->chunk[0], image->chunk[1], &bytes) ||
        !refs_mul_u64(bytes, image->samples * ((image->bits + 7) / 8), &bytes) ||
        bytes > MAX_TILE_BYTES)
        return refs_fail(err, REFS_CORRUPT, "tiles have an invalid size: %llu x %llu pixels",
                         (unsigned long long)image->chunk[1], (unsigned long long)image->chunk[0]);
    image->strip_rows = image->chunk[0];
    image->parts = 1;
    across = image->width / image->chunk[1] + (image->width % image->chunk[1] != 0);
    image->n_down = image->height / image->chunk[0] + (image->height % image->chunk[0] != 0);
    if (refs_mul_u64(across, image->n_down, &image->n_tiles) &&
        refs_mul_u64(image->n_tiles, image->is_planar ? image->samples : 1, &image->n_tiles))
        return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "an image has more than 2^64 tiles");
}

refs_status refs_scan__tiff_image(const tiff_file *file, const tiff_directory *directory,
                                  tiff_image *image, refs_error *err) {
    *image = (tiff_image){.directory = directory,
                          .full = directory,
                          .samples = 1,
                          .bits = 1,
                          .format = FORMAT_UINT,
                          .compression = 1,
                          .predictor = 1,
                          .fill_order = 1};
    REFS_TRY(read_numbers(file, image, err));
    REFS_TRY(check_type(image, err));
    REFS_TRY(read_tiles(file, image, err));
    return measure(image, err);
}
