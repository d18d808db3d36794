/* file.c -- see tiff/file.h. */
#include "tiff/file.h"

#include <stdlib.h>

/* Field types. */
enum { BYTE = 1, ASCII = 2, SHORT = 3, LONG = 4, UNDEFINED = 7, IFD = 13, LONG8 = 16, IFD8 = 18 };

/* Limits: entries of a directory, and directories that one lists. */
#define MAX_ENTRIES         4096
#define MAX_SUB_DIRECTORIES 256

/* Values that are read with one call. */
#define VALUES_AT_ONCE 4096

bool refs_scan__tiff_sniff(refs_bytes head) {
    static const char *const magics[] = {"II*\0", "MM\0*", "II+\0\10\0\0\0", "MM\0+\0\10\0\0"};
    for (size_t i = 0; i < 4; i++) {
        size_t size = i < 2 ? 4 : 8;
        if (head.size >= 8 && memcmp(head.data, magics[i], size) == 0) return true;
    }
    return false;
}

/* -- numbers ----------------------------------------------------------------------------------- */

static uint64_t load(const tiff_file *file, const uint8_t *bytes, size_t size) {
    return file->is_big_endian ? refs_load_be(bytes, size) : refs_load_le(bytes, size);
}

uint16_t refs_scan__tiff_load_16(const tiff_file *file, const uint8_t *bytes) {
    return (uint16_t)load(file, bytes, 2);
}

double refs_scan__tiff_load_double(const tiff_file *file, const uint8_t *bytes) {
    uint64_t bits = load(file, bytes, 8);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Reads a number of `size` bytes at *at and moves *at after it. */
static refs_status read_number(const tiff_file *file, uint64_t *at, size_t size, uint64_t *number,
                               refs_error *err) {
    uint8_t bytes[8];
    REFS_TRY(refs_source_read(file->source, *at, size, bytes, err));
    *number = load(file, bytes, size);
    *at += size;
    return REFS_OK;
}

/* -- fields ------------------------------------------------------------------------------------ */

size_t refs_scan__tiff_value_size(const tiff_field *field) {
    static const uint8_t sizes[19] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return field->type < sizeof sizes ? sizes[field->type] : 0;
}

const tiff_field *refs_scan__tiff_find(const tiff_directory *directory, tiff_tag tag) {
    for (size_t i = 0; i < directory->n_fields; i++)
        if (directory->fields[i].tag == tag) return &directory->fields[i];
    return NULL;
}

static bool is_integer(const tiff_field *field) {
    return field->type == BYTE || field->type == SHORT || field->type == LONG ||
           field->type == UNDEFINED || field->type == IFD || field->type == LONG8 ||
           field->type == IFD8;
}

refs_status refs_scan__tiff_integers(const tiff_file *file, const tiff_field *field,
                                     refs_source_range which, uint64_t *numbers, refs_error *err) {
    uint8_t bytes[VALUES_AT_ONCE * 8];
    size_t size = refs_scan__tiff_value_size(field);
    if (!is_integer(field) || which.length > field->count ||
        which.offset > field->count - which.length)
        return refs_fail(err, REFS_CORRUPT, "tag %u is invalid: %llu values of type %u", field->tag,
                         (unsigned long long)field->count, field->type);
    for (uint64_t i = 0; i < which.length; i += VALUES_AT_ONCE) {
        uint64_t n = which.length - i < VALUES_AT_ONCE ? which.length - i : VALUES_AT_ONCE;
        REFS_TRY(refs_source_read(file->source, field->offset + (which.offset + i) * size,
                                  (size_t)n * size, bytes, err));
        for (size_t k = 0; k < n; k++) numbers[i + k] = load(file, bytes + k * size, size);
    }
    return REFS_OK;
}

refs_status refs_scan__tiff_number(const tiff_file *file, const tiff_directory *directory,
                                   tiff_tag tag, uint64_t *number, refs_error *err) {
    const tiff_field *field = refs_scan__tiff_find(directory, tag);
    if (field == NULL || field->count == 0) return REFS_OK;
    return refs_scan__tiff_integers(file, field, (refs_source_range){0, 1}, number, err);
}

refs_status refs_scan__tiff_bytes(const tiff_file *file, const tiff_field *field, size_t max_bytes,
                                  refs_buf *bytes, refs_error *err) {
    uint64_t size, file_size;
    if (!refs_mul_u64(field->count, refs_scan__tiff_value_size(field), &size) || size > max_bytes)
        return refs_fail(err, REFS_LIMIT, "tag %u has %llu values: expected at most %zu bytes",
                         field->tag, (unsigned long long)field->count, max_bytes);
    REFS_TRY(refs_source_size(file->source, &file_size, err));
    if (size > file_size)
        return refs_fail(err, REFS_CORRUPT, "tag %u has values past the end of the file",
                         field->tag);
    REFS_TRY(refs_buf_resize(bytes, (size_t)size, err));
    return refs_source_read(file->source, field->offset, (size_t)size, bytes->data, err);
}

/* -- directories ------------------------------------------------------------------------------- */

static bool is_known(uint64_t tag) {
    static const uint16_t known[] = {
        TIFF_SUBFILE_TYPE,    TIFF_WIDTH,         TIFF_HEIGHT,         TIFF_BITS,
        TIFF_COMPRESSION,     TIFF_PHOTOMETRIC,   TIFF_FILL_ORDER,     TIFF_DOCUMENT_NAME,
        TIFF_DESCRIPTION,     TIFF_STRIP_OFFSETS, TIFF_SAMPLES,        TIFF_ROWS_PER_STRIP,
        TIFF_STRIP_SIZES,     TIFF_PLANAR,        TIFF_SOFTWARE,       TIFF_DATE_TIME,
        TIFF_ARTIST,          TIFF_HOST_COMPUTER, TIFF_PREDICTOR,      TIFF_COLOR_MAP,
        TIFF_TILE_WIDTH,      TIFF_TILE_HEIGHT,   TIFF_TILE_OFFSETS,   TIFF_TILE_SIZES,
        TIFF_SUB_DIRECTORIES, TIFF_SAMPLE_FORMAT, TIFF_JPEG_TABLES,    TIFF_COPYRIGHT,
        TIFF_PIXEL_SCALE,     TIFF_TIE_POINTS,    TIFF_TRANSFORMATION, TIFF_GEO_KEYS,
        TIFF_GEO_NUMBERS,     TIFF_GEO_TEXTS,     TIFF_GDAL_METADATA,  TIFF_GDAL_NODATA};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i] == tag) return true;
    return false;
}

/* If a tag is repeated, its first field counts, as in libtiff. */
static refs_status read_field(const tiff_file *file, uint64_t *at, tiff_directory *directory,
                              refs_error *err) {
    size_t wide = file->is_big ? 8 : 4;
    uint64_t tag, type, count, value_at, bytes;
    REFS_TRY(read_number(file, at, 2, &tag, err));
    REFS_TRY(read_number(file, at, 2, &type, err));
    REFS_TRY(read_number(file, at, wide, &count, err));
    value_at = *at;
    tiff_field field = {(uint16_t)tag, (uint16_t)type, count, value_at};
    if (!refs_mul_u64(count, refs_scan__tiff_value_size(&field), &bytes)) bytes = UINT64_MAX;
    if (bytes > wide) REFS_TRY(read_number(file, &value_at, wide, &field.offset, err));
    *at += wide;
    if (is_known(tag) && directory->n_fields < TIFF_MAX_FIELDS &&
        refs_scan__tiff_find(directory, (tiff_tag)tag) == NULL)
        directory->fields[directory->n_fields++] = field;
    return REFS_OK;
}

/* Reads the directory at *offset, and sets *offset to that of the next one. */
static refs_status read_directory(tiff_file *file, uint64_t *offset, size_t parent,
                                  refs_error *err) {
    uint64_t at = *offset, n;
    for (size_t i = 0; i < file->n_directories; i++)
        if (file->offsets[i] == at)
            return refs_fail(err, REFS_CORRUPT, "the directories form a loop at byte %llu",
                             (unsigned long long)at);
    if (file->n_directories == TIFF_MAX_DIRECTORIES)
        return refs_fail(err, REFS_LIMIT, "the file has more directories than the limit of %d",
                         TIFF_MAX_DIRECTORIES);
    if (!refs_grow((void **)&file->offsets, &file->offsets_capacity, file->n_directories,
                   sizeof *file->offsets) ||
        !refs_grow((void **)&file->directories, &file->capacity, file->n_directories,
                   sizeof *file->directories))
        return refs_fail_nomem(err);
    tiff_directory *directory = &file->directories[file->n_directories];
    directory->parent = parent;
    directory->n_fields = 0;
    file->offsets[file->n_directories++] = at;
    REFS_TRY(read_number(file, &at, file->is_big ? 8 : 2, &n, err));
    if (n > MAX_ENTRIES)
        return refs_fail(err, REFS_LIMIT,
                         "the directory at byte %llu has %llu entries: expected at most %d",
                         (unsigned long long)*offset, (unsigned long long)n, MAX_ENTRIES);
    for (uint64_t i = 0; i < n; i++) REFS_TRY(read_field(file, &at, directory, err));
    return read_number(file, &at, file->is_big ? 8 : 4, offset, err);
}

/* Reads the directories that the last one lists, with one request. */
static refs_status read_sub_directories(tiff_file *file, refs_error *err) {
    uint64_t offsets[MAX_SUB_DIRECTORIES];
    refs_source_range ranges[MAX_SUB_DIRECTORIES];
    size_t parent = file->n_directories - 1;
    const tiff_field *field =
        refs_scan__tiff_find(&file->directories[parent], TIFF_SUB_DIRECTORIES);
    if (field == NULL) return REFS_OK;
    if (field->count > MAX_SUB_DIRECTORIES)
        return refs_fail(err, REFS_LIMIT,
                         "a directory lists %llu subdirectories: expected at most %d",
                         (unsigned long long)field->count, MAX_SUB_DIRECTORIES);
    size_t n = (size_t)field->count;
    REFS_TRY(refs_scan__tiff_integers(file, field, (refs_source_range){0, n}, offsets, err));
    for (size_t i = 0; i < n; i++) ranges[i] = (refs_source_range){offsets[i], 4 * REFS_KIB};
    REFS_TRY(refs_source_want(file->source, ranges, n, err));
    for (size_t i = 0; i < n; i++)
        if (offsets[i] != 0) REFS_TRY(read_directory(file, &offsets[i], parent, err));
    return REFS_OK;
}

refs_status refs_scan__tiff_open(refs_source *source, tiff_file *file, refs_error *err) {
    uint8_t magic[4];
    uint64_t at = 4, offset;
    *file = (tiff_file){.source = source};
    REFS_TRY(refs_source_read(source, 0, sizeof magic, magic, err));
    file->is_big_endian = magic[0] == 'M';
    file->is_big = magic[file->is_big_endian ? 3 : 2] == '+';
    if (file->is_big) at = 8;
    REFS_TRY(read_number(file, &at, file->is_big ? 8 : 4, &offset, err));
    while (offset != 0) {
        REFS_TRY(read_directory(file, &offset, SIZE_MAX, err));
        REFS_TRY(read_sub_directories(file, err));
    }
    return REFS_OK;
}

void refs_scan__tiff_close(tiff_file *file) {
    refs_free(file->offsets);
    refs_free(file->directories);
}
