/* file.h -- the directories of a TIFF file and the values of their fields.
 *
 * TIFF 6.0, section 2; BigTIFF as in libtiff.
 */
#ifndef REFS_PARSERS_TIFF_FILE_H
#define REFS_PARSERS_TIFF_FILE_H

#include "source.h"

/** Tags that are read; others are skipped. */
typedef enum tiff_tag {
    TIFF_SUBFILE_TYPE = 254,
    TIFF_WIDTH = 256,
    TIFF_HEIGHT = 257,
    TIFF_BITS = 258,
    TIFF_COMPRESSION = 259,
    TIFF_PHOTOMETRIC = 262,
    TIFF_FILL_ORDER = 266,
    TIFF_DOCUMENT_NAME = 269,
    TIFF_DESCRIPTION = 270,
    TIFF_STRIP_OFFSETS = 273,
    TIFF_SAMPLES = 277,
    TIFF_ROWS_PER_STRIP = 278,
    TIFF_STRIP_SIZES = 279,
    TIFF_PLANAR = 284,
    TIFF_SOFTWARE = 305,
    TIFF_DATE_TIME = 306,
    TIFF_ARTIST = 315,
    TIFF_HOST_COMPUTER = 316,
    TIFF_PREDICTOR = 317,
    TIFF_COLOR_MAP = 320,
    TIFF_TILE_WIDTH = 322,
    TIFF_TILE_HEIGHT = 323,
    TIFF_TILE_OFFSETS = 324,
    TIFF_TILE_SIZES = 325,
    TIFF_SUB_DIRECTORIES = 330,
    TIFF_SAMPLE_FORMAT = 339,
    TIFF_JPEG_TABLES = 347,
    TIFF_COPYRIGHT = 33432,
    TIFF_PIXEL_SCALE = 33550,
    TIFF_TIE_POINTS = 33922,
    TIFF_TRANSFORMATION = 34264,
    TIFF_GEO_KEYS = 34735,
    TIFF_GEO_NUMBERS = 34736,
    TIFF_GEO_TEXTS = 34737,
    TIFF_GDAL_METADATA = 42112,
    TIFF_GDAL_NODATA = 42113,
} tiff_tag;

/** Limit of fields, above the number of tags in the list. */
#define TIFF_MAX_FIELDS 48

typedef struct tiff_field {
    uint16_t tag, type;
    uint64_t count;
    uint64_t offset; /**< of its values in the file, which may be in the directory */
} tiff_field;

typedef struct tiff_directory {
    size_t parent; /**< the directory that lists it, or SIZE_MAX */
    size_t n_fields;
    tiff_field fields[TIFF_MAX_FIELDS];
} tiff_directory;

/** Directories in the order of the file; subdirectories follow their parent. */
typedef struct tiff_file {
    refs_source *source;
    bool is_big; /**< BigTIFF */
    bool is_big_endian;
    uint64_t *offsets; /**< offsets of directories */
    tiff_directory *directories;
    size_t n_directories, capacity, offsets_capacity;
} tiff_file;

/** Most directories of a file. */
#define TIFF_MAX_DIRECTORIES 10000

bool refs_scan__tiff_sniff(refs_bytes head);

/** Reads all directories of a file, without values outside them. */
refs_status refs_scan__tiff_open(refs_source *source, tiff_file *file, refs_error *err);
void refs_scan__tiff_close(tiff_file *file);

/** A field, or NULL. */
const tiff_field *refs_scan__tiff_find(const tiff_directory *directory, tiff_tag tag);

/** Bytes of a value of a field; 0 for unknown types. */
size_t refs_scan__tiff_value_size(const tiff_field *field);

/** Reads value number `i` of the field `tag`; `otherwise` if there is none. */
refs_status refs_scan__tiff_number(const tiff_file *file, const tiff_directory *directory,
                                   tiff_tag tag, uint64_t *number, refs_error *err);

/** Values [first, first + n) of a field of integers. */
refs_status refs_scan__tiff_integers(const tiff_file *file, const tiff_field *field,
                                     refs_source_range which, uint64_t *numbers, refs_error *err);

/** All values of a field, as bytes; REFS_LIMIT if there are more than `max_bytes`. */
refs_status refs_scan__tiff_bytes(const tiff_file *file, const tiff_field *field, size_t max_bytes,
                                  refs_buf *bytes, refs_error *err);

uint16_t refs_scan__tiff_load_16(const tiff_file *file, const uint8_t *bytes);
double refs_scan__tiff_load_double(const tiff_file *file, const uint8_t *bytes);

#endif
