/* field.c -- sections of GRIB messages, see grib/field.h. */
#include "grib/field.h"

#include <math.h>
#include <stdlib.h>

#include "refs/civil.h"
#include "refs/grib/points.h"
#include "refs/grib/rows.h"

/* Limits: bytes of a section of a message, and fields of a message. */
#define MAX_SECTION_BYTES (256 * REFS_KIB)
#define MAX_GRIDS         100
#define MAX_FIELDS        4000000

enum { MISSING = 255 };

void refs_scan__grib_list_clear(grib_list *list) {
    for (size_t i = 0; i < list->n_grids; i++) refs_buf_clear(&list->grids[i].section);
    refs_intern_clear(&list->kinds);
    refs_free(list->texts);
    refs_free(list->grids);
    refs_free(list->fields);
}

/* Decodes a sign bit and a magnitude. */
static int64_t signed_number(uint32_t number, unsigned n_bits) {
    uint32_t sign = UINT32_C(1) << (n_bits - 1);
    return (number & sign) != 0 ? -(int64_t)(number & ~sign) : (int64_t)number;
}

/* -- grids ------------------------------------------------------------------------------------- */

/* Kinds of grids: data representation type of edition 1, template of edition 2. */
static const struct {
    unsigned of_1, of_2;
    const char *type;
    bool is_geographic;
} kinds[] = {{0, 0, "regular_ll", true}, {10, 1, "rotated_ll", false},
             {1, 10, "mercator", false}, {5, 20, "polar_stereographic", false},
             {3, 30, "lambert", false},  {4, 40, "regular_gg", true}};

/* Whether the codec computes the latitudes and longitudes of the grid's points: rows differ in
 * length, so the points need both. */
static bool has_places(const grib_grid *grid) {
    refs_grib_reduced reduced;
    return refs_grib_reduced_read(grid->edition, refs_buf_view(&grid->section), &reduced) &&
           reduced.is_whole && reduced.n_points == grid->n_points;
}

/* Spherical harmonics of edition 1. ecCodes decodes only those of triangular truncation. A set
 * lists all of them, and the codec fails for the others. */
static bool is_spectral_1(const uint8_t *section) {
    return section[5] == 50 || section[5] == 60 || section[5] == 70 || section[5] == 80;
}

static uint64_t count_harmonics(const uint8_t *section) {
    const uint64_t j = refs_load_be16(section + 6), k = refs_load_be16(section + 8),
                   m = refs_load_be16(section + 10);
    return j == k && k == m ? (m + 1) * (m + 2) : 0;
}

static void measure_rows(grib_grid *grid) {
    const uint8_t *section = grid->section.data;
    size_t size = grid->section.size;
    unsigned kind = grid->edition == 1 ? section[5] : refs_load_be16(section + 12);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if ((grid->edition == 1 ? kinds[i].of_1 : kinds[i].of_2) == kind) {
            grid->type = kinds[i].type;
            grid->is_geographic = kinds[i].is_geographic;
        }
    refs_grib_rotated rotated;
    grid->is_arakawa =
        refs_grib_rotated_read(grid->edition, refs_buf_view(&grid->section), &rotated);
    if (grid->is_arakawa) grid->type = "rotated_ll";
    if (refs_grib_is_rotated_gaussian(grid->edition, refs_buf_view(&grid->section)))
        grid->type = "rotated_gg";
    refs_grib_rows rows;
    bool has_rows = refs_grib_rows_read(grid->edition, refs_buf_view(&grid->section), &rows);
    /* No formula for rows that are shifted by half a point */
    if (has_rows && (rows.mode & REFS_GRIB_OFFSETS) != 0) {
        grid->type = NULL;
        grid->is_geographic = false;
    }
    if (grid->edition == 1) {
        has_rows = has_rows && size >= (kind == 10 || kind == 3 ? 42u : 32u);
        refs_grib_reduced reduced;
        grid->n_points = has_rows ? rows.nx * rows.ny : 0;
        if (refs_grib_reduced_read(1, refs_buf_view(&grid->section), &reduced))
            grid->n_points = reduced.n_points;
        if (size >= 12 && is_spectral_1(section)) grid->n_points = count_harmonics(section);
        has_rows = has_rows && !is_spectral_1(section);
    } else {
        grid->n_points = refs_load_be32(section + 6);
        has_rows = has_rows && rows.nx * rows.ny == grid->n_points;
        if (grid->type != NULL && !grid->is_arakawa &&
            size < (kind == 1    ? 84u
                    : kind == 30 ? 81u
                    : kind == 20 ? 65u
                                 : 72u))
            return;
    }
    if (!has_rows) return;
    grid->nx = rows.nx;
    grid->ny = rows.ny;
}

static void measure_grid(grib_grid *grid) {
    measure_rows(grid);
    if (grid->nx > 0) return;
    if (!has_places(grid))
        grid->type = NULL;
    else if (grid->type == NULL)
        grid->type = "reduced_rotated_gg";
}

bool refs_scan__grib_is_grid(const grib_grid *grid, unsigned edition, refs_bytes section) {
    return grid->edition == edition && refs_bytes_equal(refs_buf_view(&grid->section), section);
}

/* Sets *number to the grid's number in the list, and adds a new grid. */
static refs_status intern_grid(grib_list *list, unsigned edition, refs_bytes section,
                               size_t *number, refs_error *err) {
    for (size_t i = list->n_grids; i-- > 0;) {
        if (!refs_scan__grib_is_grid(&list->grids[i], edition, section)) continue;
        *number = i;
        return REFS_OK;
    }
    if (list->n_grids == MAX_GRIDS)
        return refs_fail(err, REFS_LIMIT, "the file has more grids than the limit of %d",
                         MAX_GRIDS);
    REFS_GROW(list->grids, list->grid_capacity, list->n_grids, err);
    grib_grid *grid = &list->grids[list->n_grids];
    *grid = (grib_grid){.edition = edition};
    REFS_TRY(refs_buf_append(&grid->section, section.data, section.size, err));
    *number = list->n_grids++;
    measure_grid(grid);
    return REFS_OK;
}

refs_status refs_scan__grib_put_field(grib_list *list, const grib_field *field, refs_error *err) {
    if (list->n_fields == MAX_FIELDS)
        return refs_fail(err, REFS_LIMIT, "the file has more fields than the limit of %d",
                         MAX_FIELDS);
    REFS_GROW(list->fields, list->field_capacity, list->n_fields, err);
    list->fields[list->n_fields++] = *field;
    return REFS_OK;
}

static refs_status add_field(grib_list *list, const grib_field *field, refs_error *err) {
    const grib_grid *grid = &list->grids[field->grid];
    if (grid->n_points == 0 || grid->n_points > INT32_MAX) {
        list->n_left_out++;
        return REFS_OK;
    }
    return refs_scan__grib_put_field(list, field, err);
}

refs_status refs_scan__grib_list_like(const grib_list *from, grib_list *to, refs_error *err) {
    size_t grid;
    uint32_t kind;
    for (size_t i = 0; i < from->n_grids; i++)
        REFS_TRY(intern_grid(to, from->grids[i].edition, refs_buf_view(&from->grids[i].section),
                             &grid, err));
    for (uint32_t i = 0; i < from->kinds.count; i++)
        REFS_TRY(refs_intern_add(&to->kinds, refs_intern_get(&from->kinds, i), &kind, err));
    return REFS_OK;
}

refs_status refs_scan__grib_copy_field(const grib_list *from, const grib_field *field,
                                       grib_list *to, refs_error *err) {
    const grib_grid *grid = &from->grids[field->grid];
    grib_field copy = *field;
    REFS_TRY(intern_grid(to, grid->edition, refs_buf_view(&grid->section), &copy.grid, err));
    if (field->kind > 0) {
        REFS_TRY(refs_intern_add(&to->kinds, refs_intern_get(&from->kinds, field->kind - 1),
                                 &copy.kind, err));
        copy.kind++;
    }
    return refs_scan__grib_put_field(to, &copy, err);
}

/* -- times ------------------------------------------------------------------------------------- */

/* Seconds since 1970; `date` is year, month, day, hour, minute, second. */
static int64_t seconds_of(const int64_t date[6]) {
    int64_t month = date[1] >= 1 && date[1] <= 12 ? date[1] : 1;
    return refs_days_from_civil(date[0], (int)month, date[2]) * 86400 + date[3] * 3600 +
           date[4] * 60 + date[5];
}

/* The length of a unit of time in hours, code table 4.4. In edition 1 only the codes for parts of
 * an hour differ. */
static double hours_of(unsigned unit, unsigned edition) {
    static const double hours[] = {1.0 / 60,   1, 24, 24 * 30, 24 * 365, 24 * 3650, 24 * 10950,
                                   24 * 36500, 0, 0,  3,       6,        12};
    if (unit == 13) return edition == 1 ? 0.25 : 1.0 / 3600;
    if (unit == 14 && edition == 1) return 0.5;
    if (unit == 254) return 1.0 / 3600;
    return unit < sizeof hours / sizeof hours[0] ? hours[unit] : 1;
}

/* -- edition 2 --------------------------------------------------------------------------------- */

/* The state of reading a message section by section. */
typedef struct message {
    refs_source *source;
    refs_source_range place;
    grib_field field;
    bool has_grid;
    bool is_known;    /* the product definition template is supported */
    refs_buf section; /* the current section */
} message;

static refs_status read_section(message *m, uint64_t at, uint64_t size, refs_error *err) {
    if (size > MAX_SECTION_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "byte %llu: a section has %llu bytes, more than the limit of %llu",
                         (unsigned long long)at, (unsigned long long)size,
                         (unsigned long long)MAX_SECTION_BYTES);
    REFS_TRY(refs_buf_resize(&m->section, (size_t)size, err));
    return refs_source_read(m->source, at, (size_t)size, m->section.data, err);
}

static refs_status cut_short(unsigned section, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "section %u is truncated", section);
}

static refs_status read_identification(message *m, refs_error *err) {
    const uint8_t *p = m->section.data;
    if (m->section.size < 21) return cut_short(1, err);
    const int64_t date[6] = {refs_load_be16(p + 12), p[14], p[15], p[16], p[17], p[18]};
    m->field.centre = refs_load_be16(p + 5);
    m->field.time_s = seconds_of(date);
    return REFS_OK;
}

/* A scaled value: `p` has the number of decimal digits, then the number. */
double refs_scan__grib_scaled(const uint8_t *p) {
    int64_t digits = signed_number(p[0], 8), value = signed_number(refs_load_be32(p + 1), 32);
    if (p[0] == MISSING) return 0;
    return digits >= 0 ? (double)value / pow(10, (double)digits)
                       : (double)value * pow(10, -(double)digits);
}

static bool is_date(const int64_t date[6]) {
    return date[0] > 0 && date[0] < UINT16_MAX && date[1] >= 1 && date[1] <= 12 && date[2] >= 1 &&
           date[2] <= 31 && date[3] <= 24 && date[4] < 60 && date[5] <= 60;
}

/* The interval ends at the stated time or, without one, at the forecast time plus its length. */
static void read_interval(message *m, size_t at) {
    const uint8_t *p = m->section.data + at;
    grib_field *field = &m->field;
    const int64_t end[6] = {refs_load_be16(p), p[2], p[3], p[4], p[5], p[6]};
    const bool has_range = p[7] > 0;
    double begin = field->step_hours;
    double hours = is_date(end) ? (double)(seconds_of(end) - field->time_s) / 3600 : -1;
    if (has_range) field->statistic = p[12];
    if (is_date(end) && hours >= field->step_hours)
        field->step_hours = hours;
    else if (has_range)
        field->step_hours += (double)refs_load_be32(p + 15) * hours_of(p[14], 2);
    field->length_hours = field->step_hours - begin;
}

static double forecast_hours(const uint8_t *p, const grib_product *product) {
    const uint8_t *time = p + product->unit + 1;
    if (product->unit == 0) return 0;
    int64_t number = product->time_size == 2 ? (int64_t)refs_load_be16(time)
                                             : signed_number(refs_load_be32(time), 32);
    bool is_missing = product->time_size == 2 ? number == UINT16_MAX : number == -INT32_MAX;
    return is_missing ? 0 : (double)number * hours_of(p[product->unit], 2);
}

static void read_surfaces(const uint8_t *p, grib_field *field) {
    const double unit = p[0] == 100 ? 100 : 1; /* isobaric: Pa, shown as hPa */
    field->level_type = p[0];
    field->level = refs_scan__grib_scaled(p + 1) / unit;
    field->second_level_type = p[6];
    field->is_layer = p[6] == p[0] && p[6] != MISSING;
    field->has_bottom = field->is_layer && p[7] != MISSING && refs_load_be32(p + 8) != UINT32_MAX;
    if (field->has_bottom) field->bottom = refs_scan__grib_scaled(p + 7) / unit;
}

/* Elements of a list of scaled values; numbers of elements start at 1. */
static bool read_listed(refs_bytes section, size_t at, unsigned number, double *value) {
    if (number == 0 || at + 4 * (size_t)number > section.size) return false;
    *value = (double)refs_load_be32(section.data + at + 4 * ((size_t)number - 1));
    return true;
}

static void read_spectrum(refs_bytes section, const grib_product *product, grib_field *field) {
    const uint8_t *p = section.data + product->spectrum;
    unsigned direction = refs_load_be16(p), n_directions = refs_load_be16(p + 2),
             frequency = refs_load_be16(p + 4);
    size_t list = product->spectra + 2;
    double values[2];
    field->spectrum = GRIB_SPECTRUM_NUMBERS;
    field->direction = direction;
    field->frequency = frequency;
    if (product->spectra == 0 || direction > n_directions ||
        !read_listed(section, list, direction, &values[0]) ||
        !read_listed(section, list + 4 * (size_t)n_directions, frequency, &values[1]))
        return;
    const uint8_t *scales = section.data + product->spectra;
    field->spectrum = GRIB_SPECTRUM_VALUES;
    field->direction = values[0] / pow(10, (double)signed_number(scales[0], 8));
    field->frequency = values[1] / pow(10, (double)signed_number(scales[1], 8));
}

/* Sorts the keys, so that equal kinds have equal texts in all files. */
static refs_status intern_kind(refs_intern *kinds_seen, const json_t *kind, uint32_t *number,
                               refs_error *err) {
    char *text = json_dumps(kind, JSON_COMPACT | JSON_SORT_KEYS);
    if (text == NULL) return refs_fail_nomem(err);
    refs_status status = refs_intern_add(kinds_seen, refs_str_from(text), number, err);
    free(text);
    if (status == REFS_OK) ++*number;
    return status;
}

static refs_status read_known_product(message *m, const grib_product *product,
                                      refs_intern *kinds_seen, refs_error *err) {
    const uint8_t *p = m->section.data;
    grib_field *field = &m->field;
    field->step_hours = forecast_hours(p, product);
    if (product->surfaces > 0) read_surfaces(p + product->surfaces, field);
    if (product->member > 0)
        field->member = product->member_size == 1 ? p[product->member]
                                                  : (int64_t)refs_load_be32(p + product->member);
    if (product->spectrum > 0) read_spectrum(refs_buf_view(&m->section), product, field);
    if (product->statistics > 0) read_interval(m, product->statistics);
    if (json_object_size(product->kind) == 0) return REFS_OK;
    return intern_kind(kinds_seen, product->kind, &field->kind, err);
}

static refs_status read_product(message *m, grib_list *list, refs_error *err) {
    const uint8_t *p = m->section.data;
    grib_field *field = &m->field;
    grib_product product;
    if (m->section.size < 11) return cut_short(4, err);
    field->category = p[9];
    field->parameter = p[10];
    field->statistic = GRIB_NO_STATISTIC;
    field->member = -1;
    field->kind = 0;
    field->level_type = field->second_level_type = MISSING;
    field->level = field->step_hours = field->bottom = field->length_hours = 0;
    field->direction = field->frequency = 0;
    field->spectrum = GRIB_NO_SPECTRUM;
    field->is_layer = field->has_bottom = false;
    refs_status status = refs_scan__grib_product(refs_buf_view(&m->section), &product, err);
    m->is_known = product.is_known;
    if (!product.is_known && list->n_unknown == 0) list->unknown = product.number;
    if (status == REFS_OK && product.is_known)
        status = read_known_product(m, &product, &list->kinds, err);
    json_decref(product.kind);
    return status;
}

/* Reads the sections of grid and product; skips others. */
static refs_status take_section(message *m, unsigned number, refs_source_range place,
                                grib_list *list, refs_error *err) {
    if (number == 1 || number == 3 || number == 4)
        REFS_TRY(read_section(m, place.offset, place.length, err));
    if (number == 1) return read_identification(m, err);
    if (number == 4) return read_product(m, list, err);
    if (number == 3) {
        if (m->section.size < 15) return cut_short(3, err);
        m->has_grid = true;
        return intern_grid(list, 2, refs_buf_view(&m->section), &m->field.grid, err);
    }
    if (number != 7) return REFS_OK;
    if (!m->has_grid)
        return refs_fail(err, REFS_CORRUPT, "a field has no grid definition (section 3) before it");
    if (m->is_known)
        REFS_TRY(add_field(list, &m->field, err));
    else
        list->n_unknown++;
    m->field.number++;
    return REFS_OK;
}

static refs_status read_edition_2(message *m, grib_list *list, refs_error *err) {
    uint64_t at = m->place.offset + 16, end = m->place.offset + m->place.length - 4;
    uint8_t head[7];
    REFS_TRY(refs_source_read(m->source, m->place.offset, sizeof head, head, err));
    m->field.discipline = head[6];
    while (at < end) {
        if (end - at < 5) return refs_fail(err, REFS_CORRUPT, "a message ends within a section");
        REFS_TRY(refs_source_read(m->source, at, 5, head, err));
        refs_source_range place = {at, refs_load_be32(head)};
        if (place.length < 5 || place.length > end - at || head[4] == 0 || head[4] > 7)
            return refs_fail(err, REFS_CORRUPT,
                             "byte %llu: section %u has an invalid length of %llu bytes",
                             (unsigned long long)at, head[4], (unsigned long long)place.length);
        REFS_TRY(take_section(m, head[4], place, list, err));
        at += place.length;
    }
    return REFS_OK;
}

/* -- edition 1 --------------------------------------------------------------------------------- */

/* Computes the step from a time range indicator and two periods (code table 5). */
static void read_step_1(grib_field *field, const uint8_t *p) {
    double unit = hours_of(p[17], 1);
    unsigned indicator = p[20];
    double first = p[18], second = p[19];
    field->statistic = GRIB_NO_STATISTIC;
    if (indicator == 10) first = refs_load_be16(p + 18);
    if (indicator == 1) first = 0;
    if (indicator >= 2 && indicator <= 5) {
        field->length_hours = (second - first) * unit;
        first = second;
        field->statistic = indicator == 3 ? 0 : indicator == 4 ? 1 : indicator == 5 ? 4 : 254;
    }
    field->step_hours = first * unit;
}

static void read_level_1(grib_field *field, const uint8_t *p) {
    static const uint8_t layers[] = {101, 104, 106, 108, 110, 112, 114, 116, 120, 121, 128, 141};
    field->level_type = p[9];
    field->level = refs_load_be16(p + 10);
    field->is_layer = field->has_bottom = memchr(layers, p[9], sizeof layers) != NULL;
    if (field->is_layer) {
        field->level = p[10];
        field->bottom = p[11];
    }
    if (p[9] == 107) field->level /= 10000;
    if (p[9] == 111) field->level /= 100;
}

/* ECMWF's local definition 13: two-dimensional spectra of waves. */
static void read_spectrum_1(refs_bytes section, grib_field *field) {
    enum { ECMWF = 98, LOCAL_DEFINITION = 40, WAVES = 13, NUMBERS = 51, LISTS = 100 };
    const uint8_t *p = section.data;
    if (field->centre != ECMWF || section.size < NUMBERS + 12 || p[LOCAL_DEFINITION] != WAVES)
        return;
    unsigned direction = p[NUMBERS], frequency = p[NUMBERS + 1], n_directions = p[NUMBERS + 2];
    double scales[2] = {refs_load_be32(p + NUMBERS + 4), refs_load_be32(p + NUMBERS + 8)};
    double values[2];
    field->spectrum = GRIB_SPECTRUM_NUMBERS;
    field->direction = direction;
    field->frequency = frequency;
    if (scales[0] <= 0 || scales[1] <= 0 || direction > n_directions ||
        !read_listed(section, LISTS, direction, &values[0]) ||
        !read_listed(section, LISTS + 4 * (size_t)n_directions, frequency, &values[1]))
        return;
    field->spectrum = GRIB_SPECTRUM_VALUES;
    field->direction = values[0] / scales[0];
    field->frequency = values[1] / scales[1];
}

static refs_status read_edition_1(message *m, grib_list *list, refs_error *err) {
    grib_field *field = &m->field;
    uint8_t head[3];
    uint64_t at = m->place.offset + 8, left = m->place.length - 8;
    REFS_TRY(refs_source_read(m->source, at, sizeof head, head, err));
    if (refs_load_be24(head) < 28 || refs_load_be24(head) > left) return cut_short(1, err);
    REFS_TRY(read_section(m, at, refs_load_be24(head), err));
    const uint8_t *p = m->section.data;
    int64_t century = p[24] > 0 ? p[24] - 1 : 19;
    const int64_t date[6] = {century * 100 + p[12], p[13], p[14], p[15], p[16], 0};
    field->discipline = p[3];
    field->centre = p[4];
    field->parameter = p[8];
    field->time_s = seconds_of(date);
    field->member = field->centre == 98 && m->section.size >= 51 ? p[49] : -1;
    field->second_level_type = MISSING;
    read_step_1(field, p);
    read_level_1(field, p);
    read_spectrum_1(refs_buf_view(&m->section), field);
    if ((p[7] & 0x80) == 0) { /* a predefined grid: no grid description section */
        list->n_left_out++;
        return REFS_OK;
    }
    at += m->section.size;
    left -= m->section.size;
    REFS_TRY(refs_source_read(m->source, at, sizeof head, head, err));
    if (refs_load_be24(head) < 10 || refs_load_be24(head) > left) return cut_short(2, err);
    REFS_TRY(read_section(m, at, refs_load_be24(head), err));
    REFS_TRY(intern_grid(list, 1, refs_buf_view(&m->section), &field->grid, err));
    return add_field(list, field, err);
}

refs_status refs_scan__grib_add(refs_source *source, refs_source_range place, grib_list *list,
                                refs_error *err) {
    message m = {.source = source, .place = place};
    uint8_t head[8];
    REFS_TRY(refs_source_read(source, place.offset, sizeof head, head, err));
    m.field = (grib_field){
        .offset = place.offset, .length = place.length, .edition = head[7], .member = -1};
    refs_status status =
        head[7] == 1 ? read_edition_1(&m, list, err) : read_edition_2(&m, list, err);
    refs_buf_clear(&m.section);
    return status;
}

/* -- attributes of grids ----------------------------------------------------------------------- */

/* A number in a grid section: its offset, its bytes and its unit. */
typedef struct grid_number {
    const char *key;
    size_t at, size;
    double unit;
} grid_number;

static double number_at(const grib_grid *grid, const grid_number *number) {
    const uint8_t *p = grid->section.data + number->at;
    if (number->at + number->size > grid->section.size) return 0;
    uint32_t bits = number->size == 4   ? refs_load_be32(p)
                    : number->size == 3 ? refs_load_be24(p)
                                        : refs_load_be16(p);
    return (double)signed_number(bits, (unsigned)number->size * 8) * number->unit;
}

#define FIRST_1                                                                                    \
    {"GRIB_latitudeOfFirstGridPointInDegrees", 10, 3, 1e-3}, {                                     \
        "GRIB_longitudeOfFirstGridPointInDegrees", 13, 3, 1e-3                                     \
    }
#define LAST_1                                                                                     \
    {"GRIB_latitudeOfLastGridPointInDegrees", 17, 3, 1e-3}, {                                      \
        "GRIB_longitudeOfLastGridPointInDegrees", 20, 3, 1e-3                                      \
    }
#define FIRST_2(at)                                                                                \
    {"GRIB_latitudeOfFirstGridPointInDegrees", at, 4, 1e-6}, {                                     \
        "GRIB_longitudeOfFirstGridPointInDegrees", (at) + 4, 4, 1e-6                               \
    }
#define LAST_2(at)                                                                                 \
    {"GRIB_latitudeOfLastGridPointInDegrees", at, 4, 1e-6}, {                                      \
        "GRIB_longitudeOfLastGridPointInDegrees", (at) + 4, 4, 1e-6                                \
    }

#define MAX_NUMBERS 10

typedef struct grid_numbers {
    const char *type;
    size_t scan; /* offset of the scanning mode in the section */
    grid_number numbers[MAX_NUMBERS];
} grid_numbers;

static const grid_numbers of_edition_1[] = {
    {"regular_ll",
     27,
     {FIRST_1,
      LAST_1,
      {"GRIB_iDirectionIncrementInDegrees", 23, 2, 1e-3},
      {"GRIB_jDirectionIncrementInDegrees", 25, 2, 1e-3}}},
    {"rotated_ll",
     27,
     {FIRST_1,
      LAST_1,
      {"GRIB_iDirectionIncrementInDegrees", 23, 2, 1e-3},
      {"GRIB_jDirectionIncrementInDegrees", 25, 2, 1e-3},
      {"GRIB_latitudeOfSouthernPoleInDegrees", 32, 3, 1e-3},
      {"GRIB_longitudeOfSouthernPoleInDegrees", 35, 3, 1e-3}}},
    {"regular_gg",
     27,
     {FIRST_1, LAST_1, {"GRIB_iDirectionIncrementInDegrees", 23, 2, 1e-3}, {"GRIB_N", 25, 2, 1}}},
    {"mercator",
     27,
     {FIRST_1,
      LAST_1,
      {"GRIB_LaDInDegrees", 23, 3, 1e-3},
      {"GRIB_DiInMetres", 28, 3, 1},
      {"GRIB_DjInMetres", 31, 3, 1}}},
    {"polar_stereographic",
     27,
     {FIRST_1,
      {"GRIB_orientationOfTheGridInDegrees", 17, 3, 1e-3},
      {"GRIB_DxInMetres", 20, 3, 1},
      {"GRIB_DyInMetres", 23, 3, 1}}},
    {"lambert",
     27,
     {FIRST_1,
      {"GRIB_LoVInDegrees", 17, 3, 1e-3},
      {"GRIB_DxInMetres", 20, 3, 1},
      {"GRIB_DyInMetres", 23, 3, 1},
      {"GRIB_Latin1InDegrees", 28, 3, 1e-3},
      {"GRIB_Latin2InDegrees", 31, 3, 1e-3},
      {"GRIB_LaDInDegrees", 28, 3, 1e-3}}}};

static const grid_numbers of_edition_2[] = {
    {"regular_ll",
     71,
     {FIRST_2(46),
      LAST_2(55),
      {"GRIB_iDirectionIncrementInDegrees", 63, 4, 1e-6},
      {"GRIB_jDirectionIncrementInDegrees", 67, 4, 1e-6}}},
    {"rotated_ll",
     71,
     {FIRST_2(46),
      LAST_2(55),
      {"GRIB_iDirectionIncrementInDegrees", 63, 4, 1e-6},
      {"GRIB_jDirectionIncrementInDegrees", 67, 4, 1e-6},
      {"GRIB_latitudeOfSouthernPoleInDegrees", 72, 4, 1e-6},
      {"GRIB_longitudeOfSouthernPoleInDegrees", 76, 4, 1e-6}}},
    {"regular_gg",
     71,
     {FIRST_2(46),
      LAST_2(55),
      {"GRIB_iDirectionIncrementInDegrees", 63, 4, 1e-6},
      {"GRIB_N", 67, 4, 1}}},
    {"mercator",
     59,
     {FIRST_2(38),
      LAST_2(51),
      {"GRIB_LaDInDegrees", 47, 4, 1e-6},
      {"GRIB_DiInMetres", 64, 4, 1e-3},
      {"GRIB_DjInMetres", 68, 4, 1e-3}}},
    {"polar_stereographic",
     64,
     {FIRST_2(38),
      {"GRIB_LaDInDegrees", 47, 4, 1e-6},
      {"GRIB_orientationOfTheGridInDegrees", 51, 4, 1e-6},
      {"GRIB_DxInMetres", 55, 4, 1e-3},
      {"GRIB_DyInMetres", 59, 4, 1e-3}}},
    {"lambert",
     64,
     {FIRST_2(38),
      {"GRIB_LaDInDegrees", 47, 4, 1e-6},
      {"GRIB_LoVInDegrees", 51, 4, 1e-6},
      {"GRIB_DxInMetres", 55, 4, 1e-3},
      {"GRIB_DyInMetres", 59, 4, 1e-3},
      {"GRIB_Latin1InDegrees", 65, 4, 1e-6},
      {"GRIB_Latin2InDegrees", 69, 4, 1e-6}}}};

static const grid_numbers *numbers_of(const grib_grid *grid) {
    const grid_numbers *all = grid->edition == 1 ? of_edition_1 : of_edition_2;
    _Static_assert(sizeof of_edition_1 == sizeof of_edition_2, "grids of both editions");
    for (size_t i = 0; i < sizeof of_edition_1 / sizeof *of_edition_1 && grid->type != NULL; i++)
        if (strcmp(all[i].type, grid->type) == 0) return &all[i];
    return NULL;
}

static unsigned scanning_mode(const grib_grid *grid) {
    const grid_numbers *all = numbers_of(grid);
    return all != NULL && all->scan < grid->section.size ? grid->section.data[all->scan] : 0;
}

/* IEEE floats in edition 2; IBM floats in edition 1: a sign, seven bits of exponent to the base 16
 * and 24 bits of fraction. */
static double rotation_of(const grib_grid *grid) {
    const uint8_t *p = grid->section.data + (grid->edition == 2 ? 80 : 38);
    uint32_t bits = refs_load_be32(p);
    float number;
    memcpy(&number, &bits, sizeof number);
    if (grid->edition == 2) return isfinite(number) ? (double)number : 0;
    double size = ldexp((double)(bits & 0xffffff), 4 * ((int)(bits >> 24 & 127) - 64) - 24);
    return bits >> 31 != 0 ? -size : size;
}

/* Describes NCEP's rotated grid by the keys of the WMO's rotated grid. */
static void add_arakawa_keys(const grib_grid *grid, json_t *attributes) {
    refs_grib_rotated rotated;
    if (!refs_grib_rotated_read(grid->edition, refs_buf_view(&grid->section), &rotated)) return;
    const double rows = (double)(grid->ny - 1), columns = (double)(grid->nx - 1);
    const struct {
        const char *key;
        double number;
    } keys[] = {
        {"GRIB_latitudeOfFirstGridPointInDegrees", rotated.first[0]},
        {"GRIB_longitudeOfFirstGridPointInDegrees", rotated.first[1]},
        {"GRIB_latitudeOfLastGridPointInDegrees", rotated.first[0] + rows * rotated.step[0]},
        {"GRIB_longitudeOfLastGridPointInDegrees", rotated.first[1] + columns * rotated.step[1]},
        {"GRIB_iDirectionIncrementInDegrees", fabs(rotated.step[1])},
        {"GRIB_jDirectionIncrementInDegrees", fabs(rotated.step[0])},
        {"GRIB_latitudeOfSouthernPoleInDegrees", rotated.south_pole[0]},
        {"GRIB_longitudeOfSouthernPoleInDegrees", rotated.south_pole[1]},
        {"GRIB_angleOfRotationInDegrees", 0}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        json_object_set_new(attributes, keys[i].key, json_real(keys[i].number));
}

void refs_scan__grib_grid_keys(const grib_grid *grid, json_t *attributes) {
    const grid_numbers *all = numbers_of(grid);
    double axes[2];
    if (all == NULL || grid->nx == 0) return;
    unsigned mode = scanning_mode(grid);
    json_object_set_new(attributes, "GRIB_gridType", json_string(grid->type));
    json_object_set_new(attributes, "GRIB_Nx", json_integer((json_int_t)grid->nx));
    json_object_set_new(attributes, "GRIB_Ny", json_integer((json_int_t)grid->ny));
    json_object_set_new(attributes, "GRIB_iScansNegatively", json_integer((mode & 0x80) != 0));
    json_object_set_new(attributes, "GRIB_jScansPositively", json_integer((mode & 0x40) != 0));
    json_object_set_new(attributes, "GRIB_jPointsAreConsecutive", json_integer((mode & 0x20) != 0));
    for (size_t i = 0; i < MAX_NUMBERS && all->numbers[i].key != NULL; i++)
        json_object_set_new(attributes, all->numbers[i].key,
                            json_real(number_at(grid, &all->numbers[i])));
    if (strcmp(grid->type, "polar_stereographic") == 0)
        json_object_set_new(
            attributes, "GRIB_LaDInDegrees",
            json_real(refs_grib_polar_latitude(grid->edition, refs_buf_view(&grid->section))));
    if (grid->is_arakawa)
        add_arakawa_keys(grid, attributes);
    else if (strcmp(grid->type, "rotated_ll") == 0)
        json_object_set_new(attributes, "GRIB_angleOfRotationInDegrees",
                            json_real(rotation_of(grid)));
    refs_grib_earth(grid->edition, refs_buf_view(&grid->section), axes);
    if (axes[0] > 0 && axes[1] > 0) {
        json_object_set_new(attributes, "GRIB_earthMajorAxisInMetres", json_real(axes[0]));
        json_object_set_new(attributes, "GRIB_earthMinorAxisInMetres", json_real(axes[1]));
    }
}

bool refs_scan__grib_axis(const grib_grid *grid, bool is_latitude, double *numbers) {
    return grid->is_geographic &&
           refs_grib_axis_values(grid->edition, refs_buf_view(&grid->section),
                                 is_latitude ? REFS_GRIB_LATITUDES : REFS_GRIB_LONGITUDES,
                                 (size_t)(is_latitude ? grid->ny : grid->nx), numbers);
}
