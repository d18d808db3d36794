/* geokeys.c -- writes the GeoKeys among the attributes of a set as a TIFF file.
 *
 * The library that interprets GeoKeys requires a TIFF file: this one has a single pixel.
 *
 * OGC GeoTIFF 1.1 (19-008r4), 7.1; TIFF 6.0, section 2. Names as tifffile spells them.
 */
#include "refs/geokeys.h"
#include "cf_internal.h"

#define MAX_NUMBERS 7

/* The three tags that hold keys: each key has four numbers in the directory, and its value there or
 * in one of the others. */
typedef struct key_tags {
    refs_buf directory, numbers, strings;
    uint16_t n_keys;
} key_tags;

/* -- numbers, lowest byte first ---------------------------------------------------------------- */

static refs_status put_double(refs_buf *buf, double number, refs_error *err) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return refs_buf_append_le(buf, bits, sizeof bits, err);
}

/* -- keys -------------------------------------------------------------------------------------- */

/* Tags of TIFF. */
enum { DIRECTORY_TAG = 34735, NUMBERS_TAG = 34736, TEXTS_TAG = 34737 };

static refs_status put_entry(key_tags *tags, const refs_geo_key *key, const unsigned rest[3],
                             refs_error *err) {
    tags->n_keys++;
    REFS_TRY(refs_buf_append_le(&tags->directory, key->number, 2, err));
    for (size_t i = 0; i < 3; i++) REFS_TRY(refs_buf_append_le(&tags->directory, rest[i], 2, err));
    return REFS_OK;
}

static refs_status put_text(key_tags *tags, const refs_geo_key *key, refs_str text,
                            refs_error *err) {
    size_t begin = tags->strings.size;
    if (text.data == NULL || begin + text.size >= UINT16_MAX) return REFS_OK;
    const unsigned rest[3] = {TEXTS_TAG, (unsigned)text.size + 1, (unsigned)begin};
    REFS_TRY(refs_buf_append(&tags->strings, text.data, text.size, err));
    REFS_TRY(refs_buf_append(&tags->strings, "|", 1, err));
    return put_entry(tags, key, rest, err);
}

static refs_status put_numbers(key_tags *tags, const refs_geo_key *key, const double *numbers,
                               size_t n, refs_error *err) {
    const unsigned rest[3] = {NUMBERS_TAG, (unsigned)n, (unsigned)(tags->numbers.size / 8)};
    for (size_t i = 0; i < n; i++) REFS_TRY(put_double(&tags->numbers, numbers[i], err));
    return put_entry(tags, key, rest, err);
}

static refs_status put_key(const refs_json *attributes, const refs_geo_key *key, key_tags *tags,
                           refs_error *err) {
    double numbers[MAX_NUMBERS];
    if (key->kind == REFS_GEO_KEY_TEXT)
        return put_text(tags, key, refs_cf__text(attributes, key->name), err);
    size_t n = refs_cf__numbers(attributes, key->name, numbers, MAX_NUMBERS);
    if (n == 0) return REFS_OK;
    if (key->kind == REFS_GEO_KEY_NUMBERS) return put_numbers(tags, key, numbers, n, err);
    if (!(numbers[0] >= 0 && numbers[0] <= UINT16_MAX)) return REFS_OK;
    const unsigned rest[3] = {0, 1, (unsigned)numbers[0]};
    return put_entry(tags, key, rest, err);
}

static refs_status put_keys(const refs_json *attributes, key_tags *tags, refs_error *err) {
    double minor = 0; /* from 1.1 on, heights are part of the reference system */
    refs_cf__number(attributes, "KeyRevisionMinor", &minor);
    const unsigned head[4] = {1, 1, minor == 1, 0};
    for (size_t i = 0; i < 4; i++) REFS_TRY(refs_buf_append_le(&tags->directory, head[i], 2, err));
    for (size_t i = 0; i < REFS_N_GEO_KEYS; i++)
        REFS_TRY(put_key(attributes, &refs_geo_keys[i], tags, err));
    if (tags->n_keys > 0) tags->directory.data[6] = (uint8_t)tags->n_keys;
    return refs_buf_append(&tags->strings, "", 1, err);
}

/* -- the file ---------------------------------------------------------------------------------- */

/* An entry of the directory of a TIFF file: its tag, type and count, and its value or its place. */
typedef struct tiff_entry {
    uint16_t tag, type;
    size_t count, value;
} tiff_entry;

/* Types of TIFF. */
enum { ASCII = 2, SHORT = 3, LONG = 4, DOUBLE = 12 };

#define N_ENTRIES                 11
#define HEADER_SIZE               8
#define IMAGE_FILE_DIRECTORY_SIZE (2 + 12 * N_ENTRIES + 4)

static refs_status put_file(const key_tags *tags, refs_buf *file, refs_error *err) {
    size_t pixel = HEADER_SIZE + IMAGE_FILE_DIRECTORY_SIZE;
    size_t numbers = pixel + 8, directory = numbers + tags->numbers.size;
    size_t strings = directory + tags->directory.size;
    const tiff_entry entries[N_ENTRIES] = {
        {256, SHORT, 1, 1}, /* width, height, bits, no compression, black is zero */
        {257, SHORT, 1, 1},
        {258, SHORT, 1, 8},
        {259, SHORT, 1, 1},
        {262, SHORT, 1, 1},
        {273, LONG, 1, pixel}, /* the only strip, and its size */
        {278, SHORT, 1, 1},
        {279, LONG, 1, 1},
        {DIRECTORY_TAG, SHORT, tags->directory.size / 2, directory},
        {NUMBERS_TAG, DOUBLE, tags->numbers.size / 8, numbers},
        {TEXTS_TAG, ASCII, tags->strings.size, strings}};
    REFS_TRY(refs_buf_append(file, "II*\0\10\0\0\0", HEADER_SIZE, err));
    REFS_TRY(refs_buf_append_le(file, N_ENTRIES, 2, err));
    for (size_t i = 0; i < N_ENTRIES; i++) {
        REFS_TRY(refs_buf_append_le(file, entries[i].tag, 2, err));
        REFS_TRY(refs_buf_append_le(file, entries[i].type, 2, err));
        REFS_TRY(refs_buf_append_le(file, entries[i].count, 4, err));
        REFS_TRY(refs_buf_append_le(file, entries[i].value, 4, err));
    }
    for (size_t size = 4; size <= 8; size += 4) REFS_TRY(refs_buf_append_le(file, 0, size, err));
    REFS_TRY(refs_buf_append(file, tags->numbers.data, tags->numbers.size, err));
    REFS_TRY(refs_buf_append(file, tags->directory.data, tags->directory.size, err));
    return refs_buf_append(file, tags->strings.data, tags->strings.size, err);
}

refs_status refs_cf__write_geokeys(const refs_json *attributes, refs_buf *file, refs_error *err) {
    key_tags tags = {REFS_BUF_INIT, REFS_BUF_INIT, REFS_BUF_INIT, 0};
    refs_status status = put_keys(attributes, &tags, err);
    /* A tag must not be empty; GeoTIFF allows unused numbers in it. */
    if (status == REFS_OK && tags.numbers.size == 0) status = put_double(&tags.numbers, 0, err);
    if (status == REFS_OK && tags.n_keys > 0) status = put_file(&tags, file, err);
    refs_buf_clear(&tags.directory);
    refs_buf_clear(&tags.numbers);
    refs_buf_clear(&tags.strings);
    return status;
}
