/* grib_field.h -- what GRIB messages say of their fields.
 *
 * WMO Manual on Codes, FM 92 GRIB edition 2, and FM 92-XI Ext. GRIB edition 1. Names of keys are
 * those of ecCodes.
 */
#ifndef REFS_SCAN_GRIB_FIELD_H
#define REFS_SCAN_GRIB_FIELD_H

#include "document.h"
#include "refs/intern.h"
#include "source.h"

/** The description of a grid: section 3, or the second of edition 1. */
typedef struct grib_grid {
    unsigned edition;
    refs_buf section;
    uint64_t nx, ny; /**< 0: its points are in no rows */
    uint64_t n_points;
    const char *type;   /**< "regular_ll"; NULL: one that is not known */
    bool is_geographic; /**< its rows are latitudes, its columns longitudes */
} grib_grid;

typedef struct grib_field {
    uint64_t offset, length; /**< of the message */
    unsigned number;         /**< of the field in the message */
    size_t grid;
    /* What tells arrays apart. */
    unsigned edition, centre;
    unsigned discipline; /**< or the version of edition 1's table */
    unsigned category, parameter;
    unsigned level_type;
    unsigned statistic; /**< 255: none; 1: accumulated; 2: largest, …: code table 4.10 */
    unsigned derived;   /**< from an ensemble: code table 4.7 plus one; 0: not */
    bool is_layer;
    uint32_t kind; /**< of what else the product says: constituent, percentile …; 0: nothing */
    bool repeats;  /**< an array before has all of this but the kind or the occurrence */
    unsigned occurrence; /**< of fields that say the same */
    /* What are dimensions. */
    int64_t member; /**< -1: of no ensemble */
    int64_t time_s; /**< since 1970, of the analysis */
    double step_hours;
    double level;
    uint64_t cell; /**< in its array */
} grib_field;

typedef struct grib_list {
    grib_field *fields;
    size_t n_fields, field_capacity;
    grib_grid *grids;
    size_t n_grids, grid_capacity;
    refs_intern kinds; /**< of products, see grib_field.kind */
    size_t n_left_out; /**< fields that no array can be made of, because of their grid */
    size_t n_unknown;  /**< the same, because of their product definition template … */
    unsigned unknown;  /**< … the first of which is this */
} grib_list;

/** Where section 4 of edition 2 says what; 0: it does not. */
typedef struct grib_product {
    unsigned number; /**< of the template */
    bool is_known;
    size_t unit, time_size; /**< of the forecast time, which follows its unit */
    size_t surfaces;
    size_t member, member_size;
    size_t derived;
    size_t statistics;
    refs_buf kind; /**< bytes that tell arrays apart; to be cleared, also after a failure */
} grib_product;

/** Reads a section of at least 11 bytes. */
refs_status refs_scan__grib_product(refs_bytes section, grib_product *product, refs_error *err);

void refs_scan__grib_list_clear(grib_list *list);

/** Where a message is that begins at `offset`: *length is 0 where none does. */
refs_status refs_scan__grib_length(refs_source *source, uint64_t offset, uint64_t *length,
                                   refs_error *err);

/** Adds the fields of the message in `place`. */
refs_status refs_scan__grib_add(refs_source *source, refs_source_range place, grib_list *list,
                                refs_error *err);

/** The keys of a grid as kerchunk has them in attributes. */
void refs_scan__grib_grid_keys(const grib_grid *grid, json_t *attributes);

/** Longitudes or latitudes of a grid that is regular in them, `n` of them; false where it is not.
 */
bool refs_scan__grib_axis(const grib_grid *grid, bool is_latitude, double *numbers);

/** How a parameter is called; of one that is not in the table only `name` is there. */
typedef struct grib_name {
    char name[32]; /**< as cfgrib calls the variable */
    const char *long_name, *units, *standard_name;
} grib_name;

void refs_scan__grib_name(const grib_field *field, bool has_one_level, grib_name *name);

/** The name of a kind of level, "isobaricInhPa", and its unit, or NULL. */
const char *refs_scan__grib_level(const grib_field *field, char *other, const char **units);

#endif
