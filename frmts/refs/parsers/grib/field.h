/* field.h -- the metadata of the fields of GRIB messages.
 *
 * WMO Manual on Codes, FM 92 GRIB edition 2, and FM 92-XI Ext. GRIB edition 1. Names of keys are
 * those of ecCodes.
 */
#ifndef REFS_PARSERS_GRIB_FIELD_H
#define REFS_PARSERS_GRIB_FIELD_H

#include "document.h"
#include "refs/intern.h"
#include "source.h"

/** A grid description: section 3, or section 2 of edition 1. */
typedef struct grib_grid {
    unsigned edition;
    refs_buf section;
    uint64_t nx, ny; /**< 0: its points are not in rows of one length */
    uint64_t n_points;
    const char *type;   /**< "regular_ll"; NULL: an unknown type */
    bool is_arakawa;    /**< NCEP's template 3.32769, a "rotated_ll" */
    bool is_geographic; /**< its rows are latitudes, its columns longitudes */
} grib_grid;

/** Directions and frequencies of waves: degrees and hertz, or numbers of a list. */
typedef enum grib_spectrum {
    GRIB_NO_SPECTRUM,
    GRIB_SPECTRUM_VALUES,
    GRIB_SPECTRUM_NUMBERS
} grib_spectrum;

/** The statistic of an instantaneous field. */
#define GRIB_NO_STATISTIC 255

typedef struct grib_field {
    uint64_t offset, length; /**< of the message */
    unsigned number;         /**< number of the field in the message */
    size_t grid;
    /* The properties by which arrays differ. */
    unsigned edition, centre;
    unsigned discipline; /**< or the table version of edition 1 */
    unsigned category, parameter;
    unsigned level_type;
    unsigned statistic;         /**< 1: accumulated; 2: largest, …: code table 4.10; or none */
    unsigned second_level_type; /**< 255: none */
    bool is_layer;
    bool has_bottom;
    bool is_own_layer;   /**< a layer that is not an element of a dimension, because others have the
                            same top and another bottom */
    uint32_t kind;       /**< of its other properties, a number in grib_list.kinds; 0: none */
    bool repeats;        /**< another array differs from this only in `occurrence` */
    unsigned occurrence; /**< the number among fields with equal properties */
    /* The properties that become dimensions. */
    int64_t member; /**< -1: not of an ensemble */
    int64_t time_s; /**< since 1970, of the analysis */
    double step_hours;
    double level;
    double direction, frequency; /**< of waves, see `spectrum` */
    double bottom;               /**< of a layer with `has_bottom`, in the units of `level` */
    double length_hours;         /**< of the interval of a statistic */
    bool is_length_guessed; /**< inferred from another message: used to distinguish arrays, but not
                               shown */
    grib_spectrum spectrum;
    uint64_t cell; /**< number of its chunk in the array */
} grib_field;

typedef struct grib_list {
    grib_field *fields;
    size_t n_fields, field_capacity;
    grib_grid *grids;
    size_t n_grids, grid_capacity;
    refs_intern kinds; /**< JSON texts made by refs_scan__grib_add_kind */
    uint32_t *texts;   /**< the numbers in `kinds` of kind 1, 2, …; NULL until they are sorted */
    size_t n_left_out; /**< fields that are omitted because of their grid */
    size_t n_unknown;  /**< the same, because of their product definition template … */
    unsigned unknown;  /**< … the first of which is this */
} grib_list;

/** Parts of products by which arrays are distinguished, besides location and time. */
typedef enum grib_kind_part {
    GRIB_KIND_DERIVED = 'd',       /**< derived from an ensemble, and its size */
    GRIB_KIND_LARGE_DERIVED = 'D', /**< the same, with a size of four bytes */
    GRIB_KIND_RECTANGLE = 'R',     /**< cluster of members over a rectangle */
    GRIB_KIND_CIRCLE = 'C',        /**< the same over a circle */
    GRIB_KIND_CONSTITUENT = 'h',   /**< a chemical one */
    GRIB_KIND_SOURCE_OR_SINK = 'o',
    GRIB_KIND_NUCLIDES = 'u',
    GRIB_KIND_AEROSOL = 'a',
    GRIB_KIND_AEROSOL_SIZE = 'i',
    GRIB_KIND_WAVELENGTH = 'O',
    GRIB_KIND_PARTITION = 'n',
    GRIB_KIND_TILE = 't',
    GRIB_KIND_GENERAL_TILE = 'T',
    GRIB_KIND_DISTRIBUTION = 'x',
    GRIB_KIND_OLD_BANDS = 'B',  /**< of satellites, with instruments of one byte */
    GRIB_KIND_BANDS = 'S',      /**< of satellites */
    GRIB_KIND_WIDE_BANDS = 'X', /**< the same with channel, bandwidth and polarisation */
    GRIB_KIND_POST_PROCESSING = 'b',
    GRIB_KIND_SPATIAL_PROCESSING = 'y',
    GRIB_KIND_PERCENTILE = 'c',
    GRIB_KIND_QUANTILE = 'q',
    GRIB_KIND_PROBABILITY = 'p',
    GRIB_KIND_LARGE_PROBABILITY = 'P',
    GRIB_KIND_CATEGORIES = 'k',
    GRIB_KIND_PERIODS = 'W', /**< of waves */
    GRIB_KIND_PATTERN = 'm', /**< a random field */
} grib_kind_part;

/** Offsets in section 4 of edition 2; 0: absent. */
typedef struct grib_product {
    unsigned number; /**< of the template */
    bool is_known;
    size_t unit, time_size; /**< of the forecast time, which follows its unit */
    size_t surfaces;
    size_t member, member_size;
    size_t statistics;
    size_t spectrum; /**< numbers of the direction and the frequency, and their counts */
    size_t spectra;  /**< their scale factors, followed by the values */
    json_t *kind;    /**< further distinguishing properties; release it also after a failure */
} grib_product;

/** Adds a part of a product to `kind`, an object with a suffix of the array's "name", "prefix",
 * "phrase" and "limits" of its long name, the last without the unit of the parameter, and
 * "attributes". `bytes` are all bytes of the part. */
refs_status refs_scan__grib_add_kind(json_t *kind, grib_kind_part part, refs_bytes bytes,
                                     refs_error *err);

/** Prints nine significant digits, enough for 32 bits, with a point in all locales. */
void refs_scan__grib_print_number(double number, char *text, size_t size);

/** The number of a scale factor and a scaled value, five bytes. */
double refs_scan__grib_scaled(const uint8_t *p);

/** Reads a section of at least 11 bytes. */
refs_status refs_scan__grib_product(refs_bytes section, grib_product *product, refs_error *err);

void refs_scan__grib_list_clear(grib_list *list);

/** Adds the fields of the message in `place`. */
refs_status refs_scan__grib_add(refs_source *source, refs_source_range place, grib_list *list,
                                refs_error *err);

/** Whether a grid has exactly this description. */
bool refs_scan__grib_is_grid(const grib_grid *grid, unsigned edition, refs_bytes section);

/** Adds a field, whose grid and kind must be in the list. */
refs_status refs_scan__grib_put_field(grib_list *list, const grib_field *field, refs_error *err);

/** Copies the grids and kinds of `from` to `to`, which is empty, with the same numbers. */
refs_status refs_scan__grib_list_like(const grib_list *from, grib_list *to, refs_error *err);

/** Adds a field of `from` to `to`, with its grid and kind. */
refs_status refs_scan__grib_copy_field(const grib_list *from, const grib_field *field,
                                       grib_list *to, refs_error *err);

/** Adds the keys of a grid to attributes, as kerchunk does. */
void refs_scan__grib_grid_keys(const grib_grid *grid, json_t *attributes);

/** The `n` longitudes or latitudes of a regular grid; false for other grids.
 */
bool refs_scan__grib_axis(const grib_grid *grid, bool is_latitude, double *numbers);

/** The names of a parameter; one that is not in the table only has `name`. */
typedef struct grib_name {
    char name[32]; /**< cfgrib's name of the variable, without the suffix of its kind */
    const char *long_name, *units, *standard_name;
    bool is_of_level;       /**< the name implies the kind of level: "t2m" */
    unsigned own_statistic; /**< the statistic that the parameter implies, so that it is not part of
                               the name: "tp" */
} grib_name;

void refs_scan__grib_name(const grib_field *field, bool has_one_level, grib_name *name);

/** Sets long name and units of a parameter of edition 2, if WMO's tables have it. */
void refs_scan__grib_parameter(const grib_field *field, grib_name *name);

/** The name of a kind of level, "isobaricInhPa", and its unit, or NULL. */
const char *refs_scan__grib_level(const grib_field *field, char *other, const char **units);

#endif
