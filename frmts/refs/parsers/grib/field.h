/* field.h -- what GRIB messages say of their fields.
 *
 * WMO Manual on Codes, FM 92 GRIB edition 2, and FM 92-XI Ext. GRIB edition 1. Names of keys are
 * those of ecCodes.
 */
#ifndef REFS_PARSERS_GRIB_FIELD_H
#define REFS_PARSERS_GRIB_FIELD_H

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
    unsigned number;         /**< of the field in the message */
    size_t grid;
    /* The properties by which arrays differ. */
    unsigned edition, centre;
    unsigned discipline; /**< or the version of edition 1's table */
    unsigned category, parameter;
    unsigned level_type;
    unsigned statistic;         /**< 1: accumulated; 2: largest, …: code table 4.10; or none */
    unsigned second_level_type; /**< 255: none */
    bool is_layer;
    bool has_bottom;
    bool is_own_layer;   /**< no element of a dimension: others have its top and another bottom */
    uint32_t kind;       /**< of what else the product says, grib_list.kinds; 0: nothing */
    bool repeats;        /**< an array before has all of this but the occurrence */
    unsigned occurrence; /**< of fields that say the same */
    /* The properties that become dimensions. */
    int64_t member; /**< -1: of no ensemble */
    int64_t time_s; /**< since 1970, of the analysis */
    double step_hours;
    double level;
    double direction, frequency; /**< of waves, see `spectrum` */
    double bottom;               /**< of a layer with `has_bottom`, in the units of `level` */
    double length_hours;         /**< of the interval of a statistic */
    bool is_length_guessed; /**< from another message: to tell arrays apart, not to be stated */
    grib_spectrum spectrum;
    uint64_t cell; /**< in its array */
} grib_field;

typedef struct grib_list {
    grib_field *fields;
    size_t n_fields, field_capacity;
    grib_grid *grids;
    size_t n_grids, grid_capacity;
    refs_intern kinds; /**< JSON texts of what refs_scan__grib_add_kind says */
    uint32_t *texts;   /**< number in `kinds` of kind 1, 2, …; NULL until they are in order */
    size_t n_left_out; /**< fields that no array can be made of, because of their grid */
    size_t n_unknown;  /**< the same, because of their product definition template … */
    unsigned unknown;  /**< … the first of which is this */
} grib_list;

/** Parts of products that tell arrays apart: what a template has beyond place and time. */
typedef enum grib_kind_part {
    GRIB_KIND_DERIVED = 'd',       /**< how it follows from an ensemble, size */
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

/** The places in section 4 of edition 2; 0: it does not. */
typedef struct grib_product {
    unsigned number; /**< of the template */
    bool is_known;
    size_t unit, time_size; /**< of the forecast time, which follows its unit */
    size_t surfaces;
    size_t member, member_size;
    size_t statistics;
    size_t spectrum; /**< numbers of the direction and the frequency, and how many there are */
    size_t spectra;  /**< their scale factors, behind which the values follow */
    json_t *kind;    /**< what else tells arrays apart; to be released, also after a failure */
} grib_product;

/** Adds a part of a product to what tells arrays apart: an object with the end of their "name",
 * "prefix", "phrase" and "limits" of their long name, the last without the unit of the parameter,
 * and "attributes". All of it follows from the bytes, which are as many as the part has. */
refs_status refs_scan__grib_add_kind(json_t *kind, grib_kind_part part, refs_bytes bytes,
                                     refs_error *err);

/** Prints nine digits, as many as 32 bits hold; whatever the locale has for a point. */
void refs_scan__grib_print_number(double number, char *text, size_t size);

/** A scale factor and a scaled value, five bytes. */
double refs_scan__grib_scaled(const uint8_t *p);

/** Reads a section of at least 11 bytes. */
refs_status refs_scan__grib_product(refs_bytes section, grib_product *product, refs_error *err);

void refs_scan__grib_list_clear(grib_list *list);

/** Adds the fields of the message in `place`. */
refs_status refs_scan__grib_add(refs_source *source, refs_source_range place, grib_list *list,
                                refs_error *err);

/** Whether a grid is described by these very bytes. */
bool refs_scan__grib_is_grid(const grib_grid *grid, unsigned edition, refs_bytes section);

/** Adds a field, whose grid and kind the list has. */
refs_status refs_scan__grib_put_field(grib_list *list, const grib_field *field, refs_error *err);

/** Makes `to`, which is empty, have the grids and kinds of `from` under the same numbers. */
refs_status refs_scan__grib_list_like(const grib_list *from, grib_list *to, refs_error *err);

/** Adds a field of `from` to `to`, with its grid and kind. */
refs_status refs_scan__grib_copy_field(const grib_list *from, const grib_field *field,
                                       grib_list *to, refs_error *err);

/** The keys of a grid as kerchunk has them in attributes. */
void refs_scan__grib_grid_keys(const grib_grid *grid, json_t *attributes);

/** Longitudes or latitudes of a grid that is regular in them, `n` of them; false where it is not.
 */
bool refs_scan__grib_axis(const grib_grid *grid, bool is_latitude, double *numbers);

/** How a parameter is called; of one that is not in the table only `name` is there. */
typedef struct grib_name {
    char name[32]; /**< as cfgrib calls the variable; without what its kind adds */
    const char *long_name, *units, *standard_name;
    bool is_of_level;       /**< another kind of level has another name: "t2m" */
    unsigned own_statistic; /**< that the parameter is always of, so that no name says it: "tp" */
} grib_name;

void refs_scan__grib_name(const grib_field *field, bool has_one_level, grib_name *name);

/** Long name and units of a parameter of edition 2, where WMO's tables have it. */
void refs_scan__grib_parameter(const grib_field *field, grib_name *name);

/** The name of a kind of level, "isobaricInhPa", and its unit, or NULL. */
const char *refs_scan__grib_level(const grib_field *field, char *other, const char **units);

#endif
