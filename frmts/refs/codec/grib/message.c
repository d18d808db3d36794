/* message.c -- the sections of a GRIB message, see message.h. */
#include "message.h"

#include "bits.h"
#include "points.h"

#include <math.h>

/* Computes powers like ecCodes, so that values are equal in all bits. */
static double power(double base, int64_t exponent) {
    double result = 1;
    for (int64_t i = exponent < 0 ? -exponent : exponent; i > 0; i--) result *= base;
    return exponent < 0 ? 1 / result : result;
}

static void set_scales(refs_grib_message *message, unsigned binary, unsigned decimal) {
    message->binary_factor = power(2, refs_codec__sign_magnitude(binary, 16));
    message->decimal_factor = power(10, -refs_codec__sign_magnitude(decimal, 16));
}

static refs_status damaged(const char *what, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "%s of the message is missing or truncated", what);
}

static bool has_end(refs_bytes message) {
    return memcmp(message.data + message.size - 4, "7777", 4) == 0;
}

static bool is_one_of(unsigned number, const unsigned *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (numbers[i] == number) return true;
    return false;
}

static size_t count_ones(refs_bytes bytes, size_t n_bits) {
    size_t n = 0;
    for (size_t i = 0; i < n_bits; i++) n += bytes.data[i / 8] >> (7 - i % 8) & 1;
    return n;
}

/* -- edition 2 --------------------------------------------------------------------------------- */

/* The sections by their numbers, with their headers of five bytes; absent ones are empty. */
typedef struct sections {
    refs_bytes section[8];
} sections;

/* Whether a section repeats the previous bitmap. */
static bool repeats_bitmap(refs_bytes section) {
    return section.data[4] == 6 && section.size > 5 && section.data[5] == 254;
}

/* Sections from 2, 3 or 4 to 7 may be repeated, for further fields, to which earlier sections apply
 * unless repeated. */
static refs_status find_sections(refs_bytes whole, size_t wanted, sections *found,
                                 refs_error *err) {
    unsigned last = 0;
    size_t field = 0;
    for (size_t at = 16; at < whole.size - 4;) {
        uint32_t size = whole.size - 4 - at >= 5 ? refs_load_be32(whole.data + at) : 0;
        unsigned number = size > 0 ? whole.data[at + 4] : 0;
        bool begins_field = last == 7 && number >= 2 && number <= 4;
        if (size < 5 || size > whole.size - 4 - at || (number <= last && !begins_field) ||
            number > 7)
            return refs_fail(err, REFS_CORRUPT, "section %u at byte %zu does not follow section %u",
                             number, at, last);
        refs_bytes section = refs_bytes_view(whole.data + at, size);
        if (begins_field) field++;
        if (field <= wanted && !(repeats_bitmap(section) && found->section[6].size > 0))
            found->section[number] = section;
        last = number;
        at += size;
    }
    if (field < wanted)
        return refs_fail(err, REFS_CORRUPT, "the message has %zu fields: expected at least %zu",
                         field + 1, wanted + 1);
    return REFS_OK;
}

/* The minimal size of section 5, for each packing. */
static const struct {
    refs_grib_packing packing;
    size_t size;
} packings[] = {
    {REFS_GRIB_SIMPLE, 21}, {REFS_GRIB_COMPLEX, 47},  {REFS_GRIB_COMPLEX_DIFFERENCES, 49},
    {REFS_GRIB_IEEE, 12},   {REFS_GRIB_JPEG2000, 21}, {REFS_GRIB_PNG, 21},
    {REFS_GRIB_CCSDS, 25}};

refs_status refs_codec__grib_representation(refs_bytes section, refs_grib_message *message,
                                            refs_error *err) {
    if (section.size < 12) return damaged("section 5", err);
    unsigned number = refs_load_be16(section.data + 9);
    message->n_values = refs_load_be32(section.data + 5);
    message->parameters = section;
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
        if (packings[i].packing != (refs_grib_packing)number) continue;
        if (section.size < packings[i].size) return damaged("section 5", err);
        message->packing = packings[i].packing;
        if (message->packing == REFS_GRIB_IEEE) return REFS_OK;
        uint32_t bits = refs_load_be32(section.data + 11);
        float reference;
        memcpy(&reference, &bits, sizeof reference);
        message->reference = (double)reference;
        set_scales(message, refs_load_be16(section.data + 15), refs_load_be16(section.data + 17));
        message->n_bits = section.data[19];
        return REFS_OK;
    }
    return refs_fail(err, REFS_UNSUPPORTED, "data representation template 5.%u%s", number,
                     number == 53                  ? ": spectral coefficients"
                     : number >= 50 && number < 53 ? ": spherical harmonics"
                                                   : "");
}

refs_status refs_codec__grib_bitmap(refs_bytes section, refs_grib_message *message,
                                    refs_error *err) {
    size_t n_present = message->n_points;
    if (section.size < 6) return damaged("section 6", err);
    if (section.data[5] == 0) {
        message->bitmap = refs_bytes_view(section.data + 6, section.size - 6);
        if (message->bitmap.size < (message->n_points + 7) / 8) return damaged("bitmap", err);
        n_present = count_ones(message->bitmap, message->n_points);
    } else if (section.data[5] != 255) {
        return refs_fail(err, REFS_UNSUPPORTED, "predefined bitmap %u is not supported",
                         section.data[5]);
    }
    if (message->n_values == n_present) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "%zu values for %zu points", message->n_values, n_present);
}

static refs_status parse_2(refs_bytes whole, size_t field, refs_grib_message *message,
                           refs_error *err) {
    sections found = {{{NULL, 0}}};
    REFS_TRY(find_sections(whole, field, &found, err));
    if (found.section[3].size < 15) return damaged("section 3", err);
    message->grid = found.section[3];
    message->n_points = refs_load_be32(message->grid.data + 6);
    REFS_TRY(refs_codec__grib_representation(found.section[5], message, err));
    REFS_TRY(refs_codec__grib_bitmap(found.section[6], message, err));
    if (found.section[7].size < 5) return damaged("section 7", err);
    message->data = refs_bytes_view(found.section[7].data + 5, found.section[7].size - 5);
    return REFS_OK;
}

/* -- edition 1 --------------------------------------------------------------------------------- */

/* Cuts the next section, whose size is in its first three bytes. */
static bool take_section(refs_bytes *rest, size_t least, refs_bytes *section) {
    if (rest->size < least || refs_load_be24(rest->data) < least ||
        refs_load_be24(rest->data) > rest->size)
        return false;
    *section = refs_bytes_view(rest->data, refs_load_be24(rest->data));
    *rest = refs_bytes_view(rest->data + section->size, rest->size - section->size);
    return true;
}

/* A sign, seven bits of exponent to the base 16, 24 bits of fraction. */
static double ibm_float(uint32_t bits) {
    double size = ldexp((double)(bits & 0xffffff), 4 * ((int)(bits >> 24 & 127) - 64) - 24);
    return bits >> 31 != 0 ? -size : size;
}

/* The number of points; false if the grid has no such dimensions. */
static bool grid_size_1(const refs_grib_message *message, size_t *n_points) {
    if (message->grid.size < 10) return false;
    unsigned nx = refs_load_be16(message->grid.data + 6),
             ny = refs_load_be16(message->grid.data + 8);
    *n_points = (size_t)nx * ny;
    return nx != UINT16_MAX && ny != UINT16_MAX;
}

/* Without a bitmap, the number of points follows from the size of the packed data, unless values of
 * 0 bits are packed. ecCodes does not update the number of unused bits for IEEE floats. */
static refs_status count_points(refs_bytes data, refs_grib_message *message, refs_error *err) {
    size_t n_bits = 8 * message->data.size, n_unused = data.data[3] & 15u;
    refs_grib_reduced reduced;
    if (message->packing == REFS_GRIB_IEEE)
        message->n_points = message->data.size / (message->parameters.data[11] == 1 ? 4 : 8);
    else if (message->n_bits > 0)
        message->n_points = n_bits < n_unused ? 0 : (n_bits - n_unused) / message->n_bits;
    else if (refs_grib_reduced_read(1, message->grid, &reduced) && reduced.n_points <= INT32_MAX)
        message->n_points = (size_t)reduced.n_points;
    else if (!grid_size_1(message, &message->n_points))
        return damaged("grid description", err);
    message->n_values = message->n_points;
    return REFS_OK;
}

/* Flags of section 4, code table 11. ecCodes marks IEEE floats, which edition 1 does not define, by
 * the flags of integers with additional flags: the precision follows the number of bits, and the
 * values follow the precision.
 */
enum { SPHERICAL = 8, SECOND_ORDER = 4, INTEGERS = 2, MORE_FLAGS = 1 };

static const char *name_unsupported(unsigned flags) {
    if ((flags & SPHERICAL) != 0) return "spherical harmonics";
    if ((flags & SECOND_ORDER) != 0) return "second-order packing";
    return (flags & (MORE_FLAGS | INTEGERS)) == MORE_FLAGS ? "a matrix of values at each point"
                                                           : NULL;
}

static refs_status read_data_1(refs_bytes data, refs_grib_message *message, refs_error *err) {
    unsigned flags = data.data[3] >> 4;
    if (name_unsupported(flags) != NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "%s of edition 1 is not supported",
                         name_unsupported(flags));
    if ((flags & MORE_FLAGS) != 0) {
        if (data.size < 12) return damaged("data", err);
        message->packing = REFS_GRIB_IEEE;
        message->parameters = data;
        message->data = refs_bytes_view(data.data + 12, data.size - 12);
        return REFS_OK;
    }
    message->packing = REFS_GRIB_SIMPLE;
    message->n_bits = data.data[10];
    message->reference = ibm_float(refs_load_be32(data.data + 6));
    message->data = refs_bytes_view(data.data + 11, data.size - 11);
    return REFS_OK;
}

static refs_status parse_1(refs_bytes whole, refs_grib_message *message, refs_error *err) {
    refs_bytes rest = refs_bytes_view(whole.data + 8, whole.size - 12);
    refs_bytes product, bitmap = {NULL, 0}, data;
    if (!take_section(&rest, 28, &product)) return damaged("product definition", err);
    unsigned flags = product.data[7];
    if ((flags & 0x80) != 0 && !take_section(&rest, 6, &message->grid))
        return damaged("grid description", err);
    if ((flags & 0x40) != 0 && !take_section(&rest, 6, &bitmap)) return damaged("bitmap", err);
    if (!take_section(&rest, 11, &data)) return damaged("data", err);
    REFS_TRY(read_data_1(data, message, err));
    set_scales(message, refs_load_be16(data.data + 4), refs_load_be16(product.data + 26));
    if (bitmap.size == 0) return count_points(data, message, err);
    if (refs_load_be16(bitmap.data + 4) != 0)
        return refs_fail(err, REFS_UNSUPPORTED, "predefined bitmaps are not supported");
    size_t n_bits = 8 * (bitmap.size - 6), n_unused = bitmap.data[3];
    if (n_unused > n_bits) return damaged("bitmap", err);
    message->bitmap = refs_bytes_view(bitmap.data + 6, bitmap.size - 6);
    message->n_points = n_bits - n_unused;
    message->n_values = count_ones(message->bitmap, message->n_points);
    return REFS_OK;
}

/* -- both editions ----------------------------------------------------------------------------- */

/* Grids of edition 2 that have nx and ny after the shape of the Earth: regular, rotated, polar
 * stereographic, Lambert, Albers. Mercator and Gaussian grids, whose coordinates are computed along
 * axes, are not passed to ecCodes: with a damaged description it frees memory twice and reads out
 * of bounds. */
static bool grid_size_2(const refs_grib_message *message, size_t *n_points) {
    static const unsigned templates[] = {0, 1, 20, 30, 31, 140};
    const uint8_t *section = message->grid.data;
    if (message->grid.size < 38) return false;
    uint64_t nx = refs_load_be32(section + 30), ny = refs_load_be32(section + 34);
    *n_points = (size_t)(nx * ny);
    return nx != UINT32_MAX && ny != UINT32_MAX && nx * ny <= SIZE_MAX &&
           is_one_of(refs_load_be16(section + 12), templates, sizeof templates / sizeof *templates);
}

/* The same for edition 1. */
static bool is_known_grid_1(const refs_grib_message *message) {
    static const unsigned types[] = {0, 3, 5, 10};
    return message->grid.size >= 10 &&
           is_one_of(message->grid.data[5], types, sizeof types / sizeof *types);
}

refs_status refs_codec__grib_check_grid(const refs_grib_message *message, refs_error *err) {
    size_t n_points = 0;
    bool is_known = message->whole.data[7] == 1
                        ? is_known_grid_1(message) && grid_size_1(message, &n_points)
                        : grid_size_2(message, &n_points);
    if (!is_known)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "coordinates of this kind of grid are not supported");
    if (n_points == message->n_points) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "a grid of %zu points in a message of %zu", n_points,
                     message->n_points);
}

refs_status refs_codec__grib_parse(refs_bytes bytes, size_t field, refs_grib_message *message,
                                   refs_error *err) {
    *message = (refs_grib_message){.n_points = 0};
    if (bytes.size < 20 || memcmp(bytes.data, "GRIB", 4) != 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a GRIB message", bytes.size);
    unsigned edition = bytes.data[7];
    if (edition != 1 && edition != 2)
        return refs_fail(err, REFS_UNSUPPORTED, "GRIB edition %u is not supported", edition);
    uint64_t size = edition == 1 ? refs_load_be24(bytes.data + 4) : refs_load_be64(bytes.data + 8);
    if (size > bytes.size || size < 20)
        return refs_fail(err, REFS_CORRUPT,
                         "the message is truncated: expected %llu bytes, found %zu",
                         (unsigned long long)size, bytes.size);
    message->whole = refs_bytes_view(bytes.data, (size_t)size);
    if (!has_end(message->whole)) return damaged("end", err);
    if (edition == 1 && field > 0)
        return refs_fail(err, REFS_CORRUPT, "a message of edition 1 has one field");
    return edition == 1 ? parse_1(message->whole, message, err)
                        : parse_2(message->whole, field, message, err);
}
