/* rows.c -- see rows.h. */
#include "rows.h"

/* Templates of edition 2, which have nx and ny at 30 and 34. */
typedef struct grid_kind {
    unsigned number;
    size_t mode_at;
} grid_kind;

/* Regular, rotated and stretched latitude and longitude; of variable resolution; Mercator,
 * transverse Mercator; polar stereographic, Lambert's, Albers'; Gaussian; space view; Lambert's
 * azimuthal one; NCEP's rotated ones on staggered grids. */
static const grid_kind of_edition_2[] = {{0, 71},  {1, 71},   {2, 71},     {3, 71},    {4, 47},
                                         {5, 47},  {10, 59},  {12, 59},    {20, 64},   {30, 64},
                                         {31, 64}, {40, 71},  {41, 71},    {42, 71},   {43, 71},
                                         {90, 63}, {140, 63}, {32768, 71}, {32769, 71}};

static const grid_kind *find_kind(const grid_kind *kinds, size_t n, unsigned number) {
    for (size_t i = 0; i < n; i++)
        if (kinds[i].number == number) return &kinds[i];
    return NULL;
}

/* Data representation types of edition 1 (code table 6) that have a scanning mode. */
static const unsigned with_mode_of_edition_1[] = {0, 1, 3, 4, 5, 8, 10, 13, 14, 20, 24, 30, 34, 90};

#define MODE_AT_OF_EDITION_1 27
#define MODE_OF_EDITION_1    (REFS_GRIB_LEFTWARDS | REFS_GRIB_UPWARDS | REFS_GRIB_BY_COLUMNS)

static bool has_mode_1(refs_bytes section) {
    const size_t n = sizeof with_mode_of_edition_1 / sizeof *with_mode_of_edition_1;
    for (size_t i = 0; i < n && section.size > MODE_AT_OF_EDITION_1; i++)
        if (with_mode_of_edition_1[i] == section.data[5]) return true;
    return false;
}

static bool read_1(refs_bytes section, refs_grib_rows *rows) {
    if (section.size < 10) return false;
    *rows =
        (refs_grib_rows){refs_load_be16(section.data + 6), refs_load_be16(section.data + 8), 0, 0};
    if (has_mode_1(section)) {
        rows->mode_at = MODE_AT_OF_EDITION_1;
        rows->mode = section.data[MODE_AT_OF_EDITION_1] & MODE_OF_EDITION_1;
    }
    return rows->nx != UINT16_MAX && rows->ny != UINT16_MAX;
}

static bool read_2(refs_bytes section, refs_grib_rows *rows) {
    if (section.size < 38) return false;
    const grid_kind *kind = find_kind(of_edition_2, sizeof of_edition_2 / sizeof *of_edition_2,
                                      (unsigned)refs_load_be16(section.data + 12));
    if (kind == NULL || kind->mode_at >= section.size) return false;
    *rows = (refs_grib_rows){refs_load_be32(section.data + 30), refs_load_be32(section.data + 34),
                             kind->mode_at, section.data[kind->mode_at]};
    return rows->nx != UINT32_MAX && rows->ny != UINT32_MAX;
}

bool refs_grib_rows_read(unsigned edition, refs_bytes section, refs_grib_rows *rows) {
    return (edition == 1 ? read_1(section, rows) : read_2(section, rows)) && rows->nx > 0 &&
           rows->ny > 0;
}

bool refs_grib_rows_need_reordering(const refs_grib_rows *rows) {
    return (rows->mode & (REFS_GRIB_BY_COLUMNS | REFS_GRIB_ALTERNATING)) != 0;
}

size_t refs_grib_rows_place(const refs_grib_rows *rows, size_t i) {
    const bool by_columns = (rows->mode & REFS_GRIB_BY_COLUMNS) != 0;
    const size_t nx = (size_t)rows->nx, length = by_columns ? (size_t)rows->ny : nx;
    const size_t line = i / length, along = i % length;
    const bool back = (rows->mode & REFS_GRIB_ALTERNATING) != 0 && line % 2 == 1;
    const size_t at = back ? length - 1 - along : along;
    return by_columns ? at * nx + line : line * nx + at;
}
