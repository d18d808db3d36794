/* grib2io.c -- codec "grib2io" of NOAA: section 7 of a GRIB 2 message, after section 6 if the
 * message has a bitmap; the configuration has the content of the other sections.
 *
 * Source: https://github.com/NOAA-MDL/grib2io, src/grib2io/codecs.py; numbers in "drt" are those of
 * NCEP's library g2c, drstemplates.c. Departures: values that complex packing marks as missing are
 * NaN, and points that are stored by columns are reordered into rows. */
#include "field.h"

/* Bytes of section 5 before its template, and of the longest template that is read. */
#define HEADER_BYTES       11
#define MAX_TEMPLATE_BYTES 64

typedef struct grib2io_codec {
    uint8_t section_5[HEADER_BYTES + MAX_TEMPLATE_BYTES];
    size_t section_5_size;
    refs_grib_rows rows;
    size_t bitmap_length; /* bytes of section 6 before section 7; 0: there is none */
    bool are_floats;
    refs_number_type type;
} grib2io_codec;

/* -- the configuration ------------------------------------------------------------------------- */

/* Sizes in bytes of the numbers of template 5.x; negative: a sign and a magnitude. */
static const struct {
    unsigned number;
    int8_t sizes[19]; /* ends with 0 */
} templates[] = {
    {0, {4, -2, -2, 1, 1}},
    {2, {4, -2, -2, 1, 1, 1, 1, 4, 4, 4, 1, 1, 4, 1, 4, 1}},
    {3, {4, -2, -2, 1, 1, 1, 1, 4, 4, 4, 1, 1, 4, 1, 4, 1, 1, 1}},
    {4, {1}},
    {40, {4, -2, -2, 1, 1, 1, 1}},
    {41, {4, -2, -2, 1, 1}},
    {42, {4, -2, -2, 1, 1, 1, 1, 2}},
};

static const int8_t *find_sizes(uint64_t number) {
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++)
        if (templates[i].number == number) return templates[i].sizes;
    return NULL;
}

static refs_status read_u32(const refs_json *config, const char *name, uint32_t *number,
                            refs_error *err) {
    uint64_t given = 0;
    if (!refs_json_u64(refs_json_get(config, name), &given) || given > UINT32_MAX)
        return refs_fail(err, REFS_INVALID, "%s: expected a number of 32 bits", name);
    *number = (uint32_t)given;
    return REFS_OK;
}

/* Writes the template of section 5 and sets the size of the section. */
static refs_status write_template(const refs_json *drt, const int8_t *sizes, grib2io_codec *codec,
                                  refs_error *err) {
    size_t at = HEADER_BYTES;
    for (size_t i = 0; sizes[i] != 0; i++) {
        size_t size = (size_t)(sizes[i] < 0 ? -sizes[i] : sizes[i]);
        int64_t number, limit = INT64_C(1) << (8 * size - (sizes[i] < 0 ? 1 : 0));
        /* grib2io may have read a float as a negative integer. */
        int64_t least = sizes[i] < 0 ? 1 - limit : size == 4 ? INT32_MIN : 0;
        if (!refs_json_i64(refs_json_at(drt, i), &number) || number < least || number >= limit)
            return refs_fail(err, REFS_INVALID, "drt[%zu]: expected a number of %zu bytes", i,
                             size);
        uint64_t bits = (uint64_t)number;
        if (sizes[i] < 0 && number < 0) bits = (uint64_t)-number | (uint64_t)limit;
        refs_store_be(codec->section_5 + at, size, bits);
        at += size;
    }
    codec->section_5_size = at;
    refs_store_be(codec->section_5, 4, at);
    codec->section_5[4] = 5;
    return REFS_OK;
}

static refs_status read_representation(const refs_json *config, grib2io_codec *codec,
                                       refs_error *err) {
    uint32_t number = 0, n_values = 0;
    REFS_TRY(read_u32(config, "drtn", &number, err));
    REFS_TRY(read_u32(config, "number_of_packed_values", &n_values, err));
    const int8_t *sizes = find_sizes(number);
    if (sizes == NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "data representation template 5.%u (drtn) is not supported",
                         (unsigned)number);
    refs_store_be(codec->section_5 + 5, 4, n_values);
    refs_store_be(codec->section_5 + 9, 2, number);
    return write_template(refs_json_get(config, "drt"), sizes, codec, err);
}

/* Flags of the scanning mode, the highest bit first. */
static refs_status read_rows(const refs_json *config, refs_grib_rows *rows, refs_error *err) {
    const refs_json *flags = refs_json_get(config, "scan_mode_flags");
    uint32_t nx = 0, ny = 0, n_points = 0;
    REFS_TRY(read_u32(config, "nx", &nx, err));
    REFS_TRY(read_u32(config, "ny", &ny, err));
    REFS_TRY(read_u32(config, "number_of_data_points", &n_points, err));
    if ((uint64_t)nx * ny != n_points)
        return refs_fail(err, REFS_INVALID,
                         "number_of_data_points: expected nx times ny, %u times %u, found %u",
                         (unsigned)nx, (unsigned)ny, (unsigned)n_points);
    rows->nx = nx;
    rows->ny = ny;
    for (size_t i = 0; i < refs_json_size(flags) && i < 8; i++) {
        uint64_t flag = 0;
        refs_json_u64(refs_json_at(flags, i), &flag);
        if (flag != 0) rows->mode |= 0x80u >> i;
    }
    return REFS_OK;
}

static void read_bitmap_length(const refs_json *config, grib2io_codec *codec) {
    uint64_t flag = 255, length = 0;
    refs_json_u64(refs_json_get(config, "bitmap_flag"), &flag);
    refs_json_u64(refs_json_get(config, "bitmap_length"), &length);
    if (flag == 0 || flag == 254)
        codec->bitmap_length = length < SIZE_MAX ? (size_t)length : SIZE_MAX;
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    uint64_t type_of_values = 0;
    grib2io_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    REFS_TRY(read_representation(context->config, opened, err));
    REFS_TRY(read_rows(context->config, &opened->rows, err));
    read_bitmap_length(context->config, opened);
    refs_json_u64(refs_json_get(context->config, "type_of_values"), &type_of_values);
    opened->are_floats = type_of_values != 1;
    return refs_codec__grib_type(context, &opened->type, err);
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* Takes section `number` from the beginning of `rest`. */
static refs_status take_section(refs_bytes *rest, unsigned number, refs_bytes *section,
                                refs_error *err) {
    if (rest->size < 5)
        return refs_fail(err, REFS_CORRUPT, "expected section %u, found %zu bytes", number,
                         rest->size);
    uint32_t size = refs_load_be32(rest->data);
    if (rest->data[4] != number)
        return refs_fail(err, REFS_CORRUPT, "expected section %u of a GRIB message, found %u",
                         number, rest->data[4]);
    if (size < 5 || size > rest->size)
        return refs_fail(err, REFS_CORRUPT, "section %u is truncated: it has %u bytes, found %zu",
                         number, (unsigned)size, rest->size);
    *section = refs_bytes_view(rest->data, size);
    *rest = refs_bytes_view(rest->data + size, rest->size - size);
    return REFS_OK;
}

static refs_status find_parts(const grib2io_codec *codec, refs_bytes encoded,
                              refs_grib_message *message, refs_error *err) {
    refs_bytes section = {NULL, 0};
    bool has_bitmap = codec->bitmap_length > 0 && encoded.size >= 5 && encoded.data[4] == 6;
    *message = (refs_grib_message){.n_points = (size_t)(codec->rows.nx * codec->rows.ny)};
    REFS_TRY(refs_codec__grib_representation(
        refs_bytes_view(codec->section_5, codec->section_5_size), message, err));
    if (has_bitmap) {
        REFS_TRY(take_section(&encoded, 6, &section, err));
        if (section.size != codec->bitmap_length)
            return refs_fail(err, REFS_CORRUPT,
                             "bitmap_length: expected the %zu bytes of section 6, found %zu",
                             section.size, codec->bitmap_length);
        REFS_TRY(refs_codec__grib_bitmap(section, message, err));
    } else if (message->n_values != message->n_points) {
        return refs_fail(err, REFS_CORRUPT,
                         "%zu values for %zu points, without the bitmap of section 6: make "
                         "references that begin at section 6",
                         message->n_values, message->n_points);
    }
    REFS_TRY(take_section(&encoded, 7, &section, err));
    message->data = refs_bytes_view(section.data + 5, section.size - 5);
    if (encoded.size == 0) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "%zu bytes follow section 7", encoded.size);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const grib2io_codec *codec = self;
    refs_grib_message message;
    refs_grib_numbers numbers;
    REFS_TRY(find_parts(codec, encoded, &message, err));
    REFS_TRY(refs_codec__grib_begin(&codec->type, message.n_points, output, &numbers, err));
    refs_status status = refs_codec__grib_unpack(&message, numbers.values, err);
    if (status == REFS_OK) status = refs_codec__grib_order(&codec->rows, numbers.values, err);
    for (size_t i = 0; i < message.n_points && status == REFS_OK && codec->are_floats; i++)
        numbers.values[i] = (double)(float)numbers.values[i];
    return refs_codec__grib_end(&codec->type, &numbers, status);
}

const refs_codec_type refs_codec_grib2io = {
    .name = "grib2io",
    .reads = "section 7 of a GRIB 2 message, section 6 before it where it has a bitmap",
    .library = "REFS",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
