/* metadata.c -- tags of a TIFF file that become attributes: GeoKeys, GDAL's metadata, strings. See
 * tiff/image.h.
 *
 * OGC GeoTIFF 1.1 (19-008r4), 7.1 and B.6; GDAL's GeoTIFF driver, "Internal nodata values" and
 * "Metadata". */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "refs/geokeys.h"
#include "refs/json.h"
#include "tiff/image.h"

/* Most bytes of the values of a tag. */
#define MAX_TAG_BYTES (1 * REFS_MIB)

/* -- numbers and strings ----------------------------------------------------------------------- */

static json_t *text_until_nul(const refs_buf *bytes) {
    const char *text = (const char *)bytes->data;
    return refs_document_string(text, bytes->size > 0 ? strnlen(text, bytes->size) : 0);
}

/* The bytes of a field; empty if the directory has none. */
static refs_status read_tag(const tiff_file *file, const tiff_directory *directory, tiff_tag tag,
                            refs_buf *bytes, refs_error *err) {
    const tiff_field *field = refs_scan__tiff_find(directory, tag);
    bytes->size = 0;
    return field != NULL ? refs_scan__tiff_bytes(file, field, MAX_TAG_BYTES, bytes, err) : REFS_OK;
}

/* Adds strings under GDAL's names. */
static refs_status add_strings(const tiff_file *file, const tiff_directory *directory,
                               json_t *attributes, refs_error *err) {
    static const struct {
        tiff_tag tag;
        const char *name;
    } strings[] = {{TIFF_DOCUMENT_NAME, "TIFFTAG_DOCUMENTNAME"},
                   {TIFF_DESCRIPTION, "TIFFTAG_IMAGEDESCRIPTION"},
                   {TIFF_SOFTWARE, "TIFFTAG_SOFTWARE"},
                   {TIFF_DATE_TIME, "TIFFTAG_DATETIME"},
                   {TIFF_ARTIST, "TIFFTAG_ARTIST"},
                   {TIFF_HOST_COMPUTER, "TIFFTAG_HOSTCOMPUTER"},
                   {TIFF_COPYRIGHT, "TIFFTAG_COPYRIGHT"}};
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        if (refs_scan__tiff_find(directory, strings[i].tag) == NULL) continue;
        REFS_TRY(read_tag(file, directory, strings[i].tag, &bytes, err));
        json_object_set_new(attributes, strings[i].name, text_until_nul(&bytes));
    }
    return REFS_OK;
}

/* -- georeferencing ---------------------------------------------------------------------------- */

static json_t *doubles_of(const tiff_file *file, const refs_buf *bytes) {
    json_t *list = json_array();
    for (size_t at = 0; at + 8 <= bytes->size; at += 8)
        json_array_append_new(
            list, refs_document_double(refs_scan__tiff_load_double(file, bytes->data + at)));
    return list;
}

static refs_status add_doubles(const tiff_file *file, const tiff_directory *directory,
                               json_t *attributes, refs_error *err) {
    static const struct {
        tiff_tag tag;
        const char *name;
    } tags[] = {{TIFF_PIXEL_SCALE, "ModelPixelScale"},
                {TIFF_TIE_POINTS, "ModelTiepoint"},
                {TIFF_TRANSFORMATION, "ModelTransformation"}};
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        REFS_TRY(read_tag(file, directory, tags[i].tag, &bytes, err));
        if (bytes.size > 0) json_object_set_new(attributes, tags[i].name, doubles_of(file, &bytes));
    }
    return REFS_OK;
}

/* The three tags with GeoKeys. */
typedef struct key_tags {
    const tiff_file *file;
    refs_buf directory, numbers, strings;
} key_tags;

static json_t *numbers_of_key(const key_tags *tags, size_t first, size_t n) {
    json_t *list = json_array();
    for (size_t at = first * 8; n > 0 && at + 8 <= tags->numbers.size; at += 8, n--)
        json_array_append_new(list, refs_document_double(refs_scan__tiff_load_double(
                                        tags->file, tags->numbers.data + at)));
    if (json_array_size(list) != 1) return list;
    json_t *number = json_incref(json_array_get(list, 0));
    json_decref(list);
    return number;
}

/* A string ends before "|" (GeoTIFF 1.1, 7.1.6). */
static json_t *text_of_key(const key_tags *tags, size_t first, size_t n) {
    if (first >= tags->strings.size) return refs_document_string("", 0);
    if (n > tags->strings.size - first) n = tags->strings.size - first;
    const char *text = (const char *)tags->strings.data + first;
    while (n > 0 && (text[n - 1] == '\0' || text[n - 1] == '|')) n--;
    return refs_document_string(text, n);
}

static void add_key(const key_tags *tags, const uint8_t *entry, json_t *attributes) {
    uint16_t words[4];
    char other[8];
    const char *name = other;
    for (size_t i = 0; i < 4; i++) words[i] = refs_scan__tiff_load_16(tags->file, entry + 2 * i);
    snprintf(other, sizeof other, "%u", words[0]);
    for (size_t i = REFS_N_GEO_KEYS; i-- > 0;)
        if (refs_geo_keys[i].number == words[0]) name = refs_geo_keys[i].name;
    json_t *value = words[1] == TIFF_GEO_NUMBERS ? numbers_of_key(tags, words[3], words[2])
                    : words[1] == TIFF_GEO_TEXTS ? text_of_key(tags, words[3], words[2])
                                                 : json_integer(words[3]);
    json_object_set_new(attributes, name, value);
}

static void add_keys(const key_tags *tags, json_t *attributes) {
    static const char *const names[] = {"KeyDirectoryVersion", "KeyRevision", "KeyRevisionMinor"};
    const refs_buf *directory = &tags->directory;
    if (directory->size < 8) return;
    for (size_t i = 0; i < 3; i++)
        json_object_set_new(
            attributes, names[i],
            json_integer(refs_scan__tiff_load_16(tags->file, directory->data + 2 * i)));
    size_t n = refs_scan__tiff_load_16(tags->file, directory->data + 6);
    for (size_t i = 1; i <= n && 8 * (i + 1) <= directory->size; i++)
        add_key(tags, directory->data + 8 * i, attributes);
}

static refs_status add_geo_keys(const tiff_file *file, const tiff_directory *directory,
                                json_t *attributes, refs_error *err) {
    key_tags tags = {file, REFS_BUF_INIT, REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = read_tag(file, directory, TIFF_GEO_KEYS, &tags.directory, err);
    if (status == REFS_OK) status = read_tag(file, directory, TIFF_GEO_NUMBERS, &tags.numbers, err);
    if (status == REFS_OK) status = read_tag(file, directory, TIFF_GEO_TEXTS, &tags.strings, err);
    if (status == REFS_OK) add_keys(&tags, attributes);
    refs_buf_clear(&tags.directory);
    refs_buf_clear(&tags.numbers);
    refs_buf_clear(&tags.strings);
    return status;
}

/* -- GDAL's metadata --------------------------------------------------------------------------- */

/* An element of GDAL's metadata: <Item name="…" sample="0" role="scale" domain="…">…</Item> */
typedef struct gdal_item {
    refs_str name, sample, role, domain, value;
} gdal_item;

static refs_str cut_until(refs_str *text, const char *end) {
    size_t size = strlen(end), at = 0;
    while (at + size <= text->size && memcmp(text->data + at, end, size) != 0) at++;
    if (at + size > text->size) at = text->size;
    refs_str part = refs_str_part(*text, 0, at);
    *text = refs_str_part(*text, at + size, text->size);
    return part;
}

/* The value of an attribute in the start tag of an element. */
static refs_str attribute_of(refs_str tag, const char *name) {
    char begin[24];
    snprintf(begin, sizeof begin, "%s=\"", name);
    cut_until(&tag, begin);
    return cut_until(&tag, "\"");
}

static bool next_item(refs_str *text, gdal_item *item) {
    cut_until(text, "<Item ");
    if (text->size == 0) return false;
    refs_str tag = cut_until(text, ">");
    item->name = attribute_of(tag, "name");
    item->sample = attribute_of(tag, "sample");
    item->role = attribute_of(tag, "role");
    item->domain = attribute_of(tag, "domain");
    item->value = cut_until(text, "</Item>");
    return true;
}

/* The character of an entity; 0 if it is unknown. */
static char entity(refs_str name) {
    static const struct {
        const char *name;
        char c;
    } entities[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
        if (refs_str_is(name, entities[i].name)) return entities[i].c;
    return '\0';
}

static refs_status unescape(refs_str escaped, refs_buf *text) {
    for (size_t i = 0; i < escaped.size; i++) {
        refs_str rest = refs_str_part(escaped, i + 1, escaped.size);
        size_t end = escaped.data[i] == '&' ? refs_str_find(rest, ';') : SIZE_MAX;
        char c = end != SIZE_MAX ? entity(refs_str_part(rest, 0, end)) : '\0';
        if (c != '\0') i += end + 1;
        REFS_TRY(refs_buf_append(text, c != '\0' ? &c : &escaped.data[i], 1, NULL));
    }
    return REFS_OK;
}

/* GDAL escapes values twice: by itself, and when it writes the XML. */
static json_t *plain_text(refs_str escaped) {
    REFS_SCOPED_BUF once = REFS_BUF_INIT, text = REFS_BUF_INIT;
    json_t *string = NULL;
    if (unescape(escaped, &once) == REFS_OK && unescape(refs_buf_text(&once), &text) == REFS_OK)
        string = refs_document_string((const char *)text.data, text.size);
    return string;
}

static refs_status add_gdal_items(const tiff_file *file, const tiff_directory *directory,
                                  json_t *attributes, refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    gdal_item item;
    char name[256];
    REFS_TRY(read_tag(file, directory, TIFF_GDAL_METADATA, &bytes, err));
    refs_str text = refs_buf_text(&bytes);
    while (next_item(&text, &item)) {
        if (item.sample.size > 0 || item.domain.size > 0 || item.name.size == 0) continue;
        snprintf(name, sizeof name, "%.*s", REFS_STR_ARG(item.name));
        json_object_set_new(attributes, name, plain_text(item.value));
    }
    return REFS_OK;
}

refs_status refs_scan__tiff_group_attributes(const tiff_file *file, const tiff_directory *directory,
                                             json_t *attributes, refs_error *err) {
    REFS_TRY(add_gdal_items(file, directory, attributes, err));
    REFS_TRY(add_strings(file, directory, attributes, err));
    REFS_TRY(add_geo_keys(file, directory, attributes, err));
    return add_doubles(file, directory, attributes, err);
}

/* -- samples ----------------------------------------------------------------------------------- */

static bool parse_number(refs_str text, double *number) {
    while (text.size > 0 && isspace((unsigned char)text.data[0]))
        text = refs_str_part(text, 1, text.size);
    while (text.size > 0 && isspace((unsigned char)text.data[text.size - 1])) text.size--;
    bool negative = text.size > 0 && text.data[0] == '-';
    refs_str word = refs_str_part(text, negative ? 1 : 0, text.size);
    if (word.size >= 3 && (word.data[0] | 32) == 'n') {
        *number = (double)NAN;
        return true;
    }
    if (word.size >= 3 && (word.data[0] | 32) == 'i') {
        *number = negative ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    for (size_t i = 0; i < word.size; i++)
        if (strchr("0123456789.eE+-", word.data[i]) == NULL) return false;
    *number = text.size > 0 ? refs_json_number_to_double(text) : 0;
    return word.size > 0 && isdigit((unsigned char)word.data[word.data[0] == '.' && word.size > 1]);
}

/* A nodata value as a JSON value of the element type; a double is too short for 64-bit integers. */
static json_t *number_of(refs_str text, const tiff_image *image) {
    double number;
    int64_t exact;
    uint64_t large;
    bool is_integral;
    if (!parse_number(text, &number)) return NULL;
    if (!isfinite(number) || number != floor(number) || image->format == 3 || image->format == 6)
        return refs_document_real(number);
    if (refs_json_number_to_i64(text, &exact, &is_integral)) return json_integer(exact);
    if (refs_json_number_to_u64(text, &large, &is_integral))
        return json_sprintf("0x%llx", (unsigned long long)large);
    return refs_document_real(number);
}

/* Whether elements can have the value. Others are an attribute only, not the fill value. */
static bool fits(const json_t *number, const tiff_image *image) {
    if (image->format == 3) return true;
    if (json_is_string(number)) return image->format == 1 && image->bits == 64;
    if (!json_is_integer(number)) return false;
    json_int_t value = json_integer_value(number);
    unsigned bits = (unsigned)image->bits;
    if (image->format == 2)
        return bits == 64 ||
               (value >= -((json_int_t)1 << (bits - 1)) && value < (json_int_t)1 << (bits - 1));
    return value >= 0 && (bits == 64 || value < (json_int_t)1 << bits);
}

static refs_status add_nodata(const tiff_file *file, const tiff_image *image, json_t *attributes,
                              json_t **fill, refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    refs_status status = read_tag(file, image->directory, TIFF_GDAL_NODATA, &bytes, err);
    if (status == REFS_OK && bytes.size == 0)
        status = read_tag(file, image->full, TIFF_GDAL_NODATA, &bytes, err);
    size_t size = bytes.size > 0 ? strnlen((const char *)bytes.data, bytes.size) : 0;
    json_t *number = status == REFS_OK && size > 0
                         ? number_of(refs_str_view((const char *)bytes.data, size), image)
                         : NULL;
    if (number != NULL && fits(number, image)) *fill = json_incref(number);
    if (number != NULL) json_object_set_new(attributes, "_FillValue", number);
    return status;
}

/* An item of GDAL's metadata that each sample may have. */
typedef struct role {
    const char *role, *attribute;
    bool is_number;
    refs_str value; /* the last value; that of all samples unless `differs` */
    uint64_t n;
    bool differs;
} role;

static role *role_of(const gdal_item *item, role *roles, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (refs_str_is(item->role, roles[i].role)) return &roles[i];
    return NULL;
}

static void see_item(const gdal_item *item, role *seen) {
    seen->differs = seen->differs || (seen->n > 0 && !refs_str_equal(seen->value, item->value));
    seen->value = item->value;
    seen->n++;
}

static void add_role(const role *seen, refs_str value, json_t *attributes) {
    double number;
    if (!seen->is_number)
        json_object_set_new(attributes, seen->attribute, plain_text(value));
    else if (parse_number(value, &number))
        json_object_set_new(attributes, seen->attribute, refs_document_double(number));
}

static bool is_of_all(const tiff_image *image, const role *seen) {
    return seen->n == image->samples && !seen->differs;
}

/* The JSON object of a sample in a list with one for each sample. */
static json_t *sample_of(refs_str sample, const tiff_image *image, json_t **list) {
    uint64_t number;
    bool is_integral;
    if (!refs_json_number_to_u64(sample, &number, &is_integral) || number >= image->samples)
        return NULL;
    if (*list == NULL) *list = json_array();
    while (json_array_size(*list) < image->samples) json_array_append_new(*list, json_object());
    return json_array_get(*list, (size_t)number);
}

/* Items that all samples share become attributes of the array; others, and descriptions, become
 * those of the samples. */
static refs_status add_roles(const tiff_file *file, const tiff_image *image, json_t *attributes,
                             refs_error *err) {
    enum { SCALE, OFFSET, UNIT, DESCRIPTION, N_ROLES };
    role roles[N_ROLES] = {
        [SCALE] = {"scale", "scale_factor", true, {NULL, 0}, 0, false},
        [OFFSET] = {"offset", "add_offset", true, {NULL, 0}, 0, false},
        [UNIT] = {"unittype", "units", false, {NULL, 0}, 0, false},
        [DESCRIPTION] = {"description", "long_name", false, {NULL, 0}, 0, false}};
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    json_t *samples = NULL;
    gdal_item item;
    role *of;
    refs_status status = read_tag(file, image->full, TIFF_GDAL_METADATA, &bytes, err);
    refs_str text = refs_buf_text(&bytes);
    while (status == REFS_OK && next_item(&text, &item))
        if ((of = role_of(&item, roles, N_ROLES)) != NULL) see_item(&item, of);
    for (size_t i = 0; i < N_ROLES && status == REFS_OK; i++)
        if (is_of_all(image, &roles[i])) add_role(&roles[i], roles[i].value, attributes);
    text = refs_buf_text(&bytes);
    while (status == REFS_OK && next_item(&text, &item)) {
        of = role_of(&item, roles, N_ROLES);
        if (of == NULL || (is_of_all(image, of) && of != &roles[DESCRIPTION])) continue;
        json_t *sample = sample_of(item.sample, image, &samples);
        if (sample != NULL) add_role(of, item.value, sample);
    }
    if (samples != NULL) json_object_set_new(attributes, "tiff_samples", samples);
    return status;
}

/* -- colours ----------------------------------------------------------------------------------- */

enum { WHITE_IS_ZERO = 0, BLACK_IS_ZERO = 1, PALETTE = 3 };

static json_t *opaque(unsigned red, unsigned green, unsigned blue) {
    json_t *color = json_array();
    json_array_append_new(color, json_integer(red));
    json_array_append_new(color, json_integer(green));
    json_array_append_new(color, json_integer(blue));
    return color;
}

/* A palette is all reds, then all greens, then all blues, with 16 bits each. */
static refs_status read_palette(const tiff_file *file, const tiff_image *image, json_t **colors,
                                refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    size_t n = (size_t)1 << image->bits;
    REFS_TRY(read_tag(file, image->full, TIFF_COLOR_MAP, &bytes, err));
    if (bytes.size == 6 * n) {
        *colors = json_array();
        for (size_t i = 0; i < n; i++) {
            unsigned parts[3];
            for (size_t k = 0; k < 3; k++)
                parts[k] = refs_scan__tiff_load_16(file, bytes.data + 2 * (k * n + i)) / 257u;
            json_array_append_new(*colors, opaque(parts[0], parts[1], parts[2]));
        }
    }
    return REFS_OK;
}

/* Clears *is_gray if GDAL's metadata give a gray image another colour interpretation. */
static refs_status is_called_gray(const tiff_file *file, const tiff_image *image, bool *is_gray,
                                  refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    gdal_item item;
    REFS_TRY(read_tag(file, image->full, TIFF_GDAL_METADATA, &bytes, err));
    refs_str text = refs_buf_text(&bytes);
    while (next_item(&text, &item))
        if (refs_str_is(item.role, "colorinterp")) *is_gray = refs_str_is(item.value, "Gray");
    return REFS_OK;
}

/* Colours of images with one sample; GDAL's own driver has those of others. A bilevel image has a
 * palette of two colours, as there. */
static refs_status add_colors(const tiff_file *file, const tiff_image *image, json_t *attributes,
                              refs_error *err) {
    json_t *colors = NULL;
    refs_status status = REFS_OK;
    if (image->samples != 1 || image->directory != image->full) return REFS_OK;
    bool is_gray = image->photometric == WHITE_IS_ZERO || image->photometric == BLACK_IS_ZERO;
    if (image->photometric == PALETTE && image->bits <= 16)
        status = read_palette(file, image, &colors, err);
    else if (is_gray && image->bits == 1) {
        unsigned zero = image->photometric == WHITE_IS_ZERO ? 255 : 0;
        colors = json_array();
        json_array_append_new(colors, opaque(zero, zero, zero));
        json_array_append_new(colors, opaque(255 - zero, 255 - zero, 255 - zero));
    } else if (is_gray) {
        status = is_called_gray(file, image, &is_gray, err);
        if (is_gray) json_object_set_new(attributes, "tiff_gray", json_true());
    }
    if (colors != NULL) json_object_set_new(attributes, "tiff_colors", colors);
    return status;
}

refs_status refs_scan__tiff_array_attributes(const tiff_file *file, const tiff_image *image,
                                             json_t **attributes, json_t **fill_value,
                                             refs_error *err) {
    json_t *fill = NULL;
    *attributes = json_object();
    if (*attributes == NULL) return refs_fail_nomem(err);
    refs_status status = add_roles(file, image, *attributes, err);
    if (status == REFS_OK) status = add_nodata(file, image, *attributes, &fill, err);
    if (status == REFS_OK) status = add_colors(file, image, *attributes, err);
    if (status == REFS_OK) {
        *fill_value = fill;
        return REFS_OK;
    }
    json_decref(*attributes);
    json_decref(fill);
    *attributes = NULL;
    return status;
}
