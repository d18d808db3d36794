/* tiff.c -- TIFF, BigTIFF, GeoTIFF and COG files, see format.h.
 *
 * An image is array "0" of a group, and its reduced images are "1", "2" …, as the attribute
 * "multiscales" lists them and as tifffile and kerchunk present such files. If a file has several
 * images, each is a group named after the number of its directory.
 *
 * An unknown compression becomes a codec that is not supported, so that all else can be read. */
#include "tiff/image.h"

#include <stdlib.h>

/* Tiles whose offsets are read with one call. */
#define TILES_AT_ONCE (256 * 1024)

/* Uncompressed strips above MAX_STRIP_BYTES are divided into chunks of about PART_BYTES. */
#define MAX_STRIP_BYTES (4 * REFS_MIB)
#define PART_BYTES      (1 * REFS_MIB)

#define MAX_JPEG_TABLES_BYTES (64 * REFS_KIB)
#define MAX_LEVELS            32

typedef struct tiff {
    const refs_scan_job *job; /* only while the file is opened */
    tiff_file file;
    tiff_image *arrays; /* numbered as arrays */
    size_t n_arrays, capacity;
    uint64_t max_chunks;
} tiff;

/* -- codecs ------------------------------------------------------------------------------------ */

static const struct {
    uint64_t number;
    const char *id; /* NULL: no compression */
    bool predicts;  /* the tag "predictor" applies */
} compressions[] = {{1, NULL, false},
                    {2, "imagecodecs_ccittrle", false},
                    {3, "imagecodecs_ccittfax3", false},
                    {4, "imagecodecs_ccittfax4", false},
                    {5, "imagecodecs_lzw", true},
                    {6, "imagecodecs_ojpeg", false},
                    {7, "imagecodecs_jpeg", false},
                    {8, "zlib", true},
                    {32773, "imagecodecs_packbits", false},
                    {32946, "zlib", true},
                    {33003, "imagecodecs_jpeg2k", false},
                    {33005, "imagecodecs_jpeg2k", false},
                    {34712, "imagecodecs_jpeg2k", false},
                    {34887, "imagecodecs_lerc", false},
                    {34925, "lzma", true},
                    {34933, "imagecodecs_png", false},
                    {50000, "zstd", true},
                    {50001, "imagecodecs_webp", false},
                    {50002, "imagecodecs_jpegxl", false},
                    {52546, "imagecodecs_jpegxl", false}};

enum { JPEG = 7, WEBP = 50001 };
enum { BLACK_IS_ZERO = 1, RGB = 2, SEPARATED = 5, YCBCR = 6 };

static bool heeds_predictor(const tiff_image *image) {
    for (size_t i = 0; i < sizeof compressions / sizeof compressions[0]; i++)
        if (compressions[i].number == image->compression) return compressions[i].predicts;
    return false;
}

static refs_status read_tables(const tiff *self, const tiff_image *image, json_t *codec,
                               refs_error *err) {
    const tiff_field *field = refs_scan__tiff_find(image->directory, TIFF_JPEG_TABLES);
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT, text = REFS_BUF_INIT;
    if (field == NULL) return REFS_OK;
    REFS_TRY(refs_scan__tiff_bytes(&self->file, field, MAX_JPEG_TABLES_BYTES, &bytes, err));
    REFS_TRY(refs_base64_encode(refs_buf_view(&bytes), &text, err));
    json_object_set_new(codec, "tables", refs_document_string((const char *)text.data, text.size));
    return REFS_OK;
}

/* Only YCbCr is converted, to RGB. Samples of all other images stay as stored, which takes explicit
 * colour spaces: the library would choose them by the number of samples. */
static refs_status describe_jpeg(const tiff *self, const tiff_image *image, json_t *codec,
                                 refs_error *err) {
    uint64_t samples = image->is_planar ? 1 : image->samples;
    const char *stored = samples == 4 ? "CMYK" : samples == 3 ? "RGB" : NULL;
    const char *decoded = stored;
    if (samples == 3 && image->photometric == YCBCR) stored = "YCBCR";
    if (stored != NULL) {
        json_object_set_new(codec, "colorspace_jpeg", json_string(stored));
        json_object_set_new(codec, "colorspace_data", json_string(decoded));
    }
    return read_tables(self, image, codec, err);
}

static refs_status make_compressor(const tiff *self, const tiff_image *image, json_t **codec,
                                   refs_error *err) {
    size_t i = 0, n = sizeof compressions / sizeof compressions[0];
    char other[40];
    while (i < n && compressions[i].number != image->compression) i++;
    *codec = NULL;
    snprintf(other, sizeof other, "tiff_compression_%llu", (unsigned long long)image->compression);
    const char *id = i < n ? compressions[i].id : other;
    if (id == NULL) return REFS_OK;
    if (image->compression == JPEG && image->bits != 8) id = "imagecodecs_jpeg12";
    *codec = refs_document_codec(id);
    if (*codec == NULL) return refs_fail_nomem(err);
    if (image->compression == WEBP && image->samples == 4)
        json_object_set_new(*codec, "hasalpha", json_true());
    if (image->compression == JPEG) return describe_jpeg(self, image, *codec, err);
    return REFS_OK;
}

/* Unpacks integers with unusual numbers of bits, as tifffile's codec does; each row begins at a
 * byte. */
static json_t *unpack_filter(const tiff_image *image, const char *dtype) {
    uint64_t n = image->chunk[1] * (image->is_planar ? 1 : image->samples);
    return json_pack("{s:s, s:s, s:I, s:I}", "id", "imagecodecs_packints", "dtype", dtype,
                     "bitspersample", (json_int_t)image->bits, "runlen", (json_int_t)n);
}

/* libtiff's predictor subtracts complex numbers as integers of 64 bits. In a big-endian file,
 * swapping such an integer also swaps the two parts, and reading it as little-endian swaps them
 * back. */
static void append_complex_delta(json_t *filters, char *dtype, json_t *codec) {
    const char *type = dtype[0] == '>' ? ">u8" : "<u8";
    json_object_set_new(codec, "dtype", json_string(type));
    if (dtype[0] == '>')
        json_array_append_new(filters, json_pack("{s:s, s:s, s:s}", "id", "astype", "encode_dtype",
                                                 ">u8", "decode_dtype", "<u8"));
    dtype[0] = '<';
}

/* Also changes the byte order in `dtype` if a filter does. */
static json_t *make_filters(const tiff_image *image, char *dtype) {
    json_t *filters = json_array();
    if (image->is_packed) json_array_append_new(filters, unpack_filter(image, dtype));
    if (image->photometric == YCBCR && image->compression != JPEG)
        json_array_append_new(filters, refs_document_codec("tiff_ycbcr"));
    if (heeds_predictor(image) && image->predictor > 1) {
        const char *id = image->predictor == 2   ? "imagecodecs_delta"
                         : image->predictor == 3 ? "imagecodecs_floatpred"
                                                 : "tiff_predictor";
        json_t *codec = json_pack("{s:s, s:i, s:i}", "id", id, "axis",
                                  image->is_planar || image->samples == 1 ? -1 : -2, "dist", 1);
        if (image->predictor == 2 && strcmp(dtype + 1, "c8") == 0)
            append_complex_delta(filters, dtype, codec);
        json_array_append_new(filters, codec);
    }
    if (image->fill_order == 2)
        json_array_append_new(filters, refs_document_codec("imagecodecs_bitorder"));
    if (json_array_size(filters) > 0) return filters;
    json_decref(filters);
    return NULL;
}

/* -- chunks ------------------------------------------------------------------------------------ */

static uint64_t bytes_of_rows(const tiff_image *image, uint64_t n) {
    uint64_t samples = image->is_planar ? 1 : image->samples;
    return n * image->chunk[1] * samples * (image->bits / 8);
}

/* Divides large uncompressed strips. Image sizes were checked before, so nothing here overflows. */
static void take_strips_apart(const tiff *self, tiff_image *image) {
    uint64_t rows = image->chunk[0], row = bytes_of_rows(image, 1);
    bool is_alone = rows >= image->height;
    image->parts = 1;
    if (image->is_tiled || image->compression != 1 || image->is_packed ||
        bytes_of_rows(image, rows) <= MAX_STRIP_BYTES)
        return;
    uint64_t n = row >= PART_BYTES ? 1 : PART_BYTES / row;
    while (!is_alone && n > 1 && rows % n != 0) n--;
    if (rows / n >= self->max_chunks / image->n_tiles) return;
    image->chunk[0] = n;
    image->parts = rows / n + (rows % n != 0);
}

static size_t put_shape(const tiff_image *image, uint64_t shape[3], uint64_t chunks[3]) {
    size_t rank = 0;
    if (image->samples > 1 && image->is_planar) {
        shape[rank] = image->samples;
        chunks[rank++] = 1;
    }
    shape[rank] = image->height;
    chunks[rank++] = image->chunk[0];
    shape[rank] = image->width;
    chunks[rank++] = image->chunk[1];
    if (image->samples > 1 && !image->is_planar) {
        shape[rank] = image->samples;
        chunks[rank++] = image->samples;
    }
    return rank;
}

/* Offsets and sizes of some tiles or strips, in file order. */
typedef struct places {
    uint64_t *offsets;
    uint64_t *sizes;
} places;

static refs_status want_places(const tiff *self, const tiff_image *image, refs_source_range which,
                               refs_error *err) {
    const tiff_field *fields[2] = {image->offsets, image->sizes};
    refs_source_range ranges[2];
    size_t n = 0;
    for (size_t i = 0; i < 2; i++) {
        if (fields[i] == NULL) continue;
        size_t size = refs_scan__tiff_value_size(fields[i]);
        ranges[n++] =
            (refs_source_range){fields[i]->offset + which.offset * size, which.length * size};
    }
    return refs_source_want(self->file.source, ranges, n, err);
}

/* Sizes may be absent if tiles are not compressed. */
static refs_status read_places(const tiff *self, const tiff_image *image, refs_source_range which,
                               places *found, refs_error *err) {
    REFS_TRY(want_places(self, image, which, err));
    REFS_TRY(refs_scan__tiff_integers(&self->file, image->offsets, which, found->offsets, err));
    if (image->sizes != NULL)
        return refs_scan__tiff_integers(&self->file, image->sizes, which, found->sizes, err);
    for (uint64_t i = 0; i < which.length; i++)
        found->sizes[i] = bytes_of_rows(image, image->chunk[0]) * image->parts;
    return REFS_OK;
}

/* The number of rows of a strip: the last strip of a plane may have fewer. */
static uint64_t rows_of_strip(const tiff_image *image, uint64_t strip) {
    uint64_t rows = image->strip_rows, begin = strip % image->n_down * rows;
    return image->height - begin < rows ? image->height - begin : rows;
}

typedef struct tiff_strip {
    uint64_t number;
    refs_source_range place;
} tiff_strip;

/* Adds the parts of a strip that are within the file: a false size must not cost any amount of
 * memory. */
static refs_status add_parts(const tiff *self, const tiff_image *image, const tiff_strip *strip,
                             refs_chunk_index *index, refs_error *err) {
    const refs_source_range place = strip->place;
    uint64_t file_size;
    REFS_TRY(refs_source_size(self->file.source, &file_size, err));
    if (place.offset >= file_size || place.length > file_size - place.offset)
        return refs_fail(err, REFS_CORRUPT, "strip %llu is truncated",
                         (unsigned long long)strip->number);
    uint64_t rows = rows_of_strip(image, strip->number), n = image->chunk[0];
    uint64_t chunks_of_plane = (image->height + n - 1) / n;
    uint64_t number = strip->number / image->n_down * chunks_of_plane +
                      strip->number % image->n_down * (image->strip_rows / n);
    for (uint64_t row = 0; row < rows; row += n, number++) {
        uint64_t begin = bytes_of_rows(image, row);
        uint64_t size = bytes_of_rows(image, rows - row < n ? rows - row : n);
        if (begin >= place.length) break;
        if (size > place.length - begin) size = place.length - begin;
        REFS_TRY(refs_chunk_index_add(index, number,
                                      (refs_source_range){place.offset + begin, size}, 0, err));
    }
    return REFS_OK;
}

static refs_status add_places(const tiff *self, const tiff_image *image, places *found,
                              refs_chunk_index *index, refs_error *err) {
    for (uint64_t first = 0; first < image->n_tiles; first += TILES_AT_ONCE) {
        uint64_t left = image->n_tiles - first;
        refs_source_range which = {first, left < TILES_AT_ONCE ? left : TILES_AT_ONCE};
        REFS_TRY(read_places(self, image, which, found, err));
        for (uint64_t i = 0; i < which.length; i++) {
            const tiff_strip strip = {first + i, {found->offsets[i], found->sizes[i]}};
            if (strip.place.offset == 0 || strip.place.length == 0) continue; /* sparse */
            if (image->parts > 1)
                REFS_TRY(add_parts(self, image, &strip, index, err));
            else
                REFS_TRY(refs_chunk_index_add(index, strip.number, strip.place, 0, err));
        }
    }
    return REFS_OK;
}

static refs_status index_tiff(void *self, size_t number, refs_chunk_index *index, refs_error *err) {
    const tiff *opened = self;
    const tiff_image *image = &opened->arrays[number];
    uint64_t shape[3], chunks[3];
    size_t rank = put_shape(image, shape, chunks);
    uint64_t n = image->n_tiles < TILES_AT_ONCE ? image->n_tiles : TILES_AT_ONCE;
    REFS_TRY(refs_chunk_index_init(index, rank, shape, chunks, err));
    places found = {refs_calloc((size_t)n, sizeof(uint64_t)),
                    refs_calloc((size_t)n, sizeof(uint64_t))};
    refs_status status = found.offsets != NULL && found.sizes != NULL
                             ? add_places(opened, image, &found, index, err)
                             : refs_fail_nomem(err);
    refs_free(found.offsets);
    refs_free(found.sizes);
    return status;
}

/* -- arrays ------------------------------------------------------------------------------------ */

static refs_status check_places(const tiff *self, const tiff_image *image, refs_error *err) {
    if (image->n_tiles > self->max_chunks)
        return refs_fail(err, REFS_LIMIT, "an image has %llu tiles: expected at most %llu",
                         (unsigned long long)image->n_tiles, (unsigned long long)self->max_chunks);
    if (image->offsets == NULL || image->offsets->count < image->n_tiles)
        return refs_fail(err, REFS_CORRUPT, "an image of %llu tiles has %llu tile offsets",
                         (unsigned long long)image->n_tiles,
                         (unsigned long long)(image->offsets == NULL ? 0 : image->offsets->count));
    if (image->sizes == NULL && image->compression == 1) return REFS_OK;
    if (image->sizes != NULL && image->sizes->count >= image->n_tiles) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "an image of %llu tiles has fewer tile byte counts",
                     (unsigned long long)image->n_tiles);
}

/* The names of an array, its dimensions (with a number for reduced images) and its mask. */
typedef struct array_names {
    char path[64];
    char y[16], x[16];
    char mask[32]; /* "": there is none */
} array_names;

static void name_array(const char *group, const char *name, size_t level, array_names *names) {
    snprintf(names->path, sizeof names->path, "%s%s%s", group, *group != '\0' ? "/" : "", name);
    snprintf(names->y, sizeof names->y, level > 0 ? "Y%zu" : "Y", level);
    snprintf(names->x, sizeof names->x, level > 0 ? "X%zu" : "X", level);
    names->mask[0] = '\0';
}

static refs_status add_array(tiff *self, tiff_image *image, const array_names *names,
                             refs_error *err) {
    const char *dimensions[3];
    uint64_t shape[3], chunks[3];
    char dtype[8];
    size_t rank, number, dim = 0;
    take_strips_apart(self, image);
    refs_scan__tiff_dtype(&self->file, image, dtype, sizeof dtype);
    json_t *filters = make_filters(image, dtype);
    if (image->samples > 1 && image->is_planar) dimensions[dim++] = "S";
    dimensions[dim++] = names->y;
    dimensions[dim++] = names->x;
    if (dim < 3) dimensions[dim] = "S";
    rank = put_shape(image, shape, chunks);
    if (!refs_grow((void **)&self->arrays, &self->capacity, self->n_arrays, sizeof *self->arrays)) {
        json_decref(filters);
        return refs_fail_nomem(err);
    }
    refs_scan_array array = {.path = names->path,
                             .rank = rank,
                             .shape = shape,
                             .chunks = chunks,
                             .dtype = json_string(dtype),
                             .dimensions = dimensions,
                             .filters = filters};
    refs_status status = make_compressor(self, image, &array.compressor, err);
    if (status == REFS_OK)
        status = refs_scan__tiff_array_attributes(&self->file, image, &array.attributes,
                                                  &array.fill_value, err);
    if (status != REFS_OK) {
        json_decref(array.dtype);
        json_decref(array.filters);
        json_decref(array.compressor);
        return status;
    }
    array.is_unfilled = array.fill_value == NULL;
    if (names->mask[0] != '\0')
        json_object_set_new(array.attributes, "tiff_mask", json_string(names->mask));
    self->arrays[self->n_arrays++] = *image;
    return refs_documents_add_array(self->job->documents, &array, &number, err);
}

/* -- images ------------------------------------------------------------------------------------ */

/* The directories of one image: itself, its reduced images, and the masks of all of them. */
typedef struct pyramid {
    size_t levels[MAX_LEVELS];
    size_t n_levels;
    size_t masks[MAX_LEVELS];
    size_t n_masks;
} pyramid;

static refs_status read_image(const tiff *self, const pyramid *images, size_t directory,
                              tiff_image *image, refs_error *err) {
    REFS_TRY(refs_scan__tiff_image(&self->file, &self->file.directories[directory], image, err));
    image->full = &self->file.directories[images->levels[0]];
    return check_places(self, image, err);
}

static json_t *multiscales_of(size_t n) {
    json_t *datasets = json_array();
    char path[24];
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%zu", i);
        json_array_append_new(datasets, json_pack("{s:s}", "path", path));
    }
    return json_pack("[{s:s, s:s, s:o}]", "version", "0.4", "name", "", "datasets", datasets);
}

/* Skips an invalid reduced image or mask with a warning; the image itself must be valid. */
static refs_status add_one(tiff *self, const pyramid *images, size_t directory,
                           const array_names *names, refs_error *err) {
    tiff_image image;
    refs_error why = REFS_ERROR_INIT;
    refs_status status = read_image(self, images, directory, &image, &why);
    bool is_odd = status == REFS_UNSUPPORTED || status == REFS_CORRUPT;
    if (is_odd && directory != images->levels[0]) {
        refs_note(&self->job->options->notes, REFS_NOTE_WARNING, "TIFF: %s is left out: %s",
                  names->path, why.message);
        return REFS_OK;
    }
    if (status != REFS_OK) return refs_fail(err, status, "%s", why.message);
    return add_array(self, &image, names, err);
}

static bool has_size_of(const tiff *self, size_t a, size_t b) {
    static const tiff_tag tags[] = {TIFF_WIDTH, TIFF_HEIGHT};
    for (size_t i = 0; i < 2; i++) {
        uint64_t of_a = 0, of_b = 0;
        if (refs_scan__tiff_number(&self->file, &self->file.directories[a], tags[i], &of_a, NULL) !=
                REFS_OK ||
            refs_scan__tiff_number(&self->file, &self->file.directories[b], tags[i], &of_b, NULL) !=
                REFS_OK ||
            of_a != of_b)
            return false;
    }
    return true;
}

/* Adds level `level` and the mask of the same size. */
static refs_status add_level(tiff *self, const pyramid *images, size_t level, const char *group,
                             refs_error *err) {
    array_names names;
    char name[32];
    size_t directory = images->levels[level], mask = 0;
    while (mask < images->n_masks && !has_size_of(self, images->masks[mask], directory)) mask++;
    snprintf(name, sizeof name, "%zu", level);
    name_array(group, name, level, &names);
    snprintf(name, sizeof name, level > 0 ? "mask%zu" : "mask", level);
    if (mask < images->n_masks) memcpy(names.mask, name, sizeof name);
    REFS_TRY(add_one(self, images, directory, &names, err));
    if (mask == images->n_masks) return REFS_OK;
    name_array(group, name, level, &names);
    return add_one(self, images, images->masks[mask], &names, err);
}

static refs_status add_pyramid(tiff *self, const pyramid *images, const char *group,
                               refs_error *err) {
    const tiff_directory *full = &self->file.directories[images->levels[0]];
    json_t *attributes = json_object();
    refs_status status = refs_scan__tiff_group_attributes(&self->file, full, attributes, err);
    if (status != REFS_OK) {
        json_decref(attributes);
        return status;
    }
    json_object_set_new(attributes, "multiscales", multiscales_of(images->n_levels));
    REFS_TRY(refs_documents_add_group(self->job->documents, group, attributes, err));
    for (size_t i = 0; i < images->n_levels; i++) REFS_TRY(add_level(self, images, i, group, err));
    return REFS_OK;
}

/* Bits of NewSubfileType. */
enum { IS_REDUCED = 1, IS_MASK = 4 };

/* Collects the image that begins with directory `first`; *next is the first directory after it. In
 * a file's main list of directories, only the first image is followed by its masks and reduced
 * images; other images list theirs. */
static refs_status collect(const tiff *self, size_t first, pyramid *images, size_t *next,
                           refs_error *err) {
    const tiff_file *file = &self->file;
    *images = (pyramid){.levels = {first}, .n_levels = 1};
    size_t i = first + 1;
    for (; i < file->n_directories; i++) {
        const tiff_directory *directory = &file->directories[i];
        uint64_t type = 0;
        REFS_TRY(refs_scan__tiff_number(file, directory, TIFF_SUBFILE_TYPE, &type, err));
        bool is_listed = directory->parent != SIZE_MAX;
        if (!is_listed && (type & (IS_REDUCED | IS_MASK)) == 0) break;
        if ((type & IS_MASK) != 0 && images->n_masks < MAX_LEVELS)
            images->masks[images->n_masks++] = i;
        else if ((type & IS_MASK) == 0 && images->n_levels < MAX_LEVELS)
            images->levels[images->n_levels++] = i;
    }
    *next = i;
    return REFS_OK;
}

static refs_status list(tiff *self, refs_error *err) {
    pyramid images;
    size_t next;
    char group[32];
    if (self->file.n_directories == 0) return refs_fail(err, REFS_CORRUPT, "the file has no image");
    REFS_TRY(collect(self, 0, &images, &next, err));
    if (next == self->file.n_directories) return add_pyramid(self, &images, "", err);
    REFS_TRY(refs_documents_add_group(self->job->documents, "", NULL, err));
    for (size_t first = 0; first < self->file.n_directories; first = next) {
        REFS_TRY(collect(self, first, &images, &next, err));
        snprintf(group, sizeof group, "dir%zu", first + 1);
        REFS_TRY(add_pyramid(self, &images, group, err));
    }
    return REFS_OK;
}

static void close_tiff(void *self) {
    REFS_SCOPED tiff *opened = self;
    refs_scan__tiff_close(&opened->file);
    refs_free(opened->arrays);
}

static refs_status open_tiff(const refs_scan_job *job, void **self, refs_error *err) {
    tiff *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->job = job;
    opened->max_chunks = job->options->limits.max_chunks;
    refs_status status = refs_scan__tiff_open(job->source, &opened->file, err);
    if (status == REFS_OK) status = list(opened, err);
    opened->job = NULL;
    return status;
}

const refs_scan_format refs_scan__tiff = {
    "TIFF", refs_scan__tiff_sniff, NULL, open_tiff, index_tiff, close_tiff};
