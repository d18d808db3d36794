/* cf.h -- what an array means on Earth: attributes -> axes, CRS, geotransform, time, packing.
 *
 * Follows the CF conventions (1.11) and, where they leave a choice, what
 * GDAL's netCDF driver shows for the same file, because that is what its users
 * compare with. docs/cf.md leads to the rules and the departures.
 *
 * cf reads attributes itself. The caller provides a function that reads values of coordinate
 * variables, because cf must not depend on the array module.
 *
 * A description is a plain struct that owns its strings; nothing is shared.
 *
 * Read before this: zarr.h.
 */
#ifndef REFS_CF_H
#define REFS_CF_H

#include "refs/bytes.h"
#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most values read from one coordinate variable, and from the coordinate variables of all band
 * axes together. */
#define REFS_CF_MAX_AXIS 10000000

/** No dimension. */
#define REFS_CF_NO_DIM SIZE_MAX

/** Reads all values of `array` as doubles in C order; `values` has room for all elements. */
typedef struct refs_cf_values {
    refs_status (*read)(void *user, const refs_array_meta *array, double *values, refs_error *err);
    /** Appends all values of an array of strings, each with a NUL after it. May be NULL. */
    refs_status (*read_strings)(void *user, const refs_array_meta *array, refs_buf *strings,
                                refs_error *err);
    /** Announces which arrays are going to be read, to load them together. May be NULL. */
    void (*announce)(void *user, const refs_array_meta *const *arrays, size_t n);
    void *user;
} refs_cf_values;

/** Interprets GeoKeys. Zeroed: nothing does. */
typedef struct refs_cf_geotiff {
    /** Appends as WKT the CRS of `file`, the bytes of a GeoTIFF file of one pixel; nothing if its
     * GeoKeys are invalid. */
    refs_status (*read_crs)(void *user, refs_bytes file, refs_buf *wkt, refs_error *err);
    void *user;
} refs_cf_geotiff;

/** The cases in which versions of GDAL's netCDF driver place the same file differently. The
 * application sets these members for its own version of GDAL, so that both drivers agree; all false
 * is GDAL 3.6. */
typedef struct refs_cf_placement {
    bool lonlat_by_axes; /**< longitudes and latitudes along the raster that are not evenly spaced
                              are its geolocation arrays, on a rotated grid too (GDAL 3.7) */
    bool in_metres;      /**< projected coordinates are in metres whatever the unit of the axes
                              (3.8); else in that unit */
    bool lonlat_on_crs;  /**< geolocation arrays are on the ellipsoid of the CRS (3.9); else on
                              WGS 84 */
    bool lonlat_by_name; /**< arrays called lon and lat are the geolocation arrays of an array
                            without an attribute `coordinates` (3.11) */
    bool poles_need_no_ellipsoid; /**< a rotated pole without one is on WGS 84 (3.11); else it has
                                     no CRS */
    bool rotated_by_name; /**< variables with the standard names grid_longitude and grid_latitude
                             are axes without the attribute `axis` (3.11) */
} refs_cf_placement;

/** The longitude at which the columns of a grid begin. */
typedef enum refs_cf_longitudes {
    REFS_CF_LONGITUDES_AS_IS,
    REFS_CF_LONGITUDES_FROM_180, /**< from -180 to 180 */
    REFS_CF_LONGITUDES_FROM_0    /**< from 0 to 360 */
} refs_cf_longitudes;

typedef struct refs_cf_options {
    size_t struct_size;       /**< sizeof(refs_cf_options) */
    bool assume_longlat;      /**< longitude/latitude axes without grid mapping are WGS 84 */
    bool require_coordinates; /**< coordinates that cannot be read are a failure; else a warning,
                                 the raster has no geotransform, and its rows stay as stored */
    bool honour_valid_range;  /**< the valid range of an array counts */
    bool as_stored; /**< the array is shown with its own axes and elements, not as a raster: nodata
                       is the fill value that its writer declared, signed unless
                       refs_cf_is_marked_unsigned, and only those members of `placement` count that
                       concern every CRS */
    refs_notes notes;
    const refs_cf_values *values; /**< reads coordinate variables; NULL: none is read */
    const char *selection;        /**< which bands: see below; NULL or "" for all */
    refs_cf_geotiff
        geotiff; /**< for sets made of TIFF files; without it, only EPSG codes are recognised */
    refs_cf_placement placement;
    refs_cf_longitudes longitudes; /**< grids that begin elsewhere are rotated (see first_column); a
                                      note reports those that cannot be */
} refs_cf_options;

/* A selection keeps part of some band axes, for example "time=2020-01-01T06:00,level=850":
 *
 *   selection  = part *("," part)
 *   part       = axis "=" end [":" end]    axis: name of a dimension or its coordinate variable
 *   end        = ["#"] index / label / period / number
 *
 * A part selects from one end to the other, both included, in either order. Both ends are read in
 * the same way, the first of these that fits the axis: with "#", an index from 0; a label of a text
 * coordinate; on a time axis, a period of ISO 8601, from "2020" to "2020-01-01T06:00:00.000", in
 * the axis's calendar; a value of the coordinate, to the precision of its type; on an axis without
 * a coordinate, an index from 0 without "#"; a period or a value that bounds a range. A note
 * reports a number that is both a value of the axis and the index of another element. A part is
 * first tried as one end, then split at each colon from left to right, because a time may contain
 * colons. */

#define REFS_CF_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(refs_cf_options), true, true, true, false, {NULL, NULL}, NULL, NULL, {NULL, NULL},  \
            {false, false, false, false, false, false}, REFS_CF_LONGITUDES_AS_IS                   \
    }

/** The quantity along a dimension. */
typedef enum refs_cf_axis_kind {
    REFS_CF_AXIS_OTHER,
    REFS_CF_AXIS_X,
    REFS_CF_AXIS_Y,
    REFS_CF_AXIS_Z,
    REFS_CF_AXIS_TIME
} refs_cf_axis_kind;

/** The kind of axis that a coordinate variable describes, by its attributes and units; by its name
 * if no attribute identifies an axis. */
refs_cf_axis_kind refs_cf_axis_kind_of(const refs_array_meta *variable);

/** The direction in which its values increase: "EAST", "NORTH", "UP", "DOWN", or "" if unknown. */
const char *refs_cf_axis_direction_of(const refs_array_meta *variable);

/** Whether no value of an aggregation of integers means "missing", because its valid range includes
 * netCDF's default fill value. Integers of more than a byte must also have the fill value zero. */
bool refs_cf_has_only_values(const refs_array_meta *array);

/** Whether the attribute valid_range names all integers of the array's type. */
bool refs_cf_has_whole_range(const refs_array_meta *array);

/** Whether netCDF's default fill value is a valid value of an array whose attributes declare no
 * missing value: because the array has another fill value, or has none and does not come from
 * netCDF. True for bytes; false for types that netCDF does not fill. */
bool refs_cf_keeps_default_fill(const refs_array_meta *array);

/** Whether missing_value is a value that elements can have: a number, and only for floating-point
 * elements NaN or an infinity. */
bool refs_cf_has_missing_value(const refs_array_meta *array);

/** Whether the fill value in an array's metadata was an attribute _FillValue before a writer moved
 * it there, and not merely the format's value of absent chunks (decision 12). */
bool refs_cf_fill_is_declared(const refs_hierarchy *hierarchy, const refs_array_meta *array);

/** Writes to `fill` the _FillValue that the file of a numeric array declared: its attribute, or the
 * fill value of the metadata to which a writer moved it (for bytes, if refs_cf_fill_is_chosen); for
 * NumPy's times, "not a time". One element of the array's type, in this machine's byte order;
 * false, and nothing written, if none was declared. */
bool refs_cf_declared_fill(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                           uint8_t *fill);

/** Reads the value of an attribute such as _FillValue as one element of a numeric array, in this
 * machine's byte order. *is_element is false if no element can have this value, as an unsigned one
 * cannot be -9999, or if it is not a value; only the type and the attributes of the array count. A
 * vector counts as its first value. */
refs_status refs_cf_read_element(const refs_array_meta *array, const refs_json *value,
                                 uint8_t *element, bool *is_element, refs_error *err);

/** Reads the first of _FillValue and missing_value that an element of a numeric array can have, as
 * refs_cf_read_element does, into `element`, of 16 bytes. *value is its JSON, NULL if there is
 * none. */
refs_status refs_cf_read_missing(const refs_array_meta *array, uint8_t *element,
                                 const refs_json **value, refs_error *err);

/** Works like refs_cf_fill_is_declared for an array of bytes, by its own attributes alone: true if
 * the largest byte is outside the valid range that they state. */
bool refs_cf_fill_is_chosen(const refs_array_meta *array);

/** The default fill value of netCDF for a type (NC_FILL_… in netcdf.h), in this machine's byte
 * order; at most 8 bytes. False, and nothing written, for types that netCDF does not fill. */
bool refs_cf_default_fill(const refs_dtype *dtype, uint8_t *fill);

/** Whether `element` is the default fill value of its type. */
bool refs_cf_is_default_fill(const refs_dtype *dtype, const uint8_t *element);

/** The default fill value as JSON text. NULL for bytes, too, as all of them are values. */
const char *refs_cf_default_fill_text(const refs_dtype *dtype);

/** The number of netCDF's type (netcdf.h) for elements of this one; 0 (NC_NAT) if there is none. */
int refs_cf_netcdf_type(const refs_dtype *dtype);

/** The missing value of 64-bit integers among which netCDF's default fill value may be a value: the
 * integer next to the default. False, and NULL, for other types. */
bool refs_cf_spare_fill(const refs_dtype *dtype, uint8_t *fill);
const char *refs_cf_spare_fill_text(const refs_dtype *dtype);

/** The range of all integers of a type, as JSON text for the attribute valid_range; NULL for other
 * types. */
const char *refs_cf_whole_range_text(const refs_dtype *dtype);

/** Whether the attribute _Unsigned turns signed integers, whatever their size, into unsigned ones
 * (NUG, "Attribute conventions"). refs_cf_describe looks at the valid range, too. */
bool refs_cf_is_marked_unsigned(const refs_array_meta *array);

/** Whether elements are unsigned by _Unsigned or, for bytes, by the valid range, which takes
 * precedence. */
bool refs_cf_is_declared_unsigned(const refs_array_meta *array);

/** The same; also true if their type is unsigned. */
bool refs_cf_has_unsigned_elements(const refs_array_meta *array);

/** The type of a missing value, which is exact, also for integers beyond 2^53. */
typedef enum refs_cf_nodata_kind {
    REFS_CF_NODATA_NONE,
    REFS_CF_NODATA_DOUBLE,
    REFS_CF_NODATA_INT64,
    REFS_CF_NODATA_UINT64
} refs_cf_nodata_kind;

/** A missing value, or an end of a valid range, in the member that its kind names; the others are
 * zero. */
typedef struct refs_cf_missing {
    refs_cf_nodata_kind kind;
    double number;
    int64_t int64;
    uint64_t uint64;
} refs_cf_missing;

/** A missing value as a double, which may be rounded; NaN for none. */
double refs_cf_missing_number(refs_cf_missing missing);

/** From one number to the other, both included; one may be infinite. */
typedef struct refs_cf_range {
    refs_cf_missing least, most;
} refs_cf_range;

/** Whether an element is in a range: the bits of a 64-bit integer as read, and its number, which
 * may be rounded. */
bool refs_cf_range_has(const refs_cf_range *range, uint64_t bits, double number);

/** Whether two ranges of elements of one type are equal. */
bool refs_cf_range_equal(const refs_cf_range *one, const refs_cf_range *other);

/** The range of valid stored elements, by the attributes valid_range, valid_min and valid_max;
 * false if all are valid. `as` is the type that elements are read as: the array's, or the unsigned
 * type of its size. */
bool refs_cf_valid_range(const refs_array_meta *array, const refs_dtype *as, refs_cf_range *stored);

/** Whether the numbers of the attribute `name` have the type of the variable (CF 2.5.1 and 3.5;
 * NUG, "Attribute conventions"): JSON does not record it. */
bool refs_cf_has_type_of_variable(refs_str name);

/** Whether the attributes of `array` say that its values are times. */
bool refs_cf_says_time(const refs_array_meta *array);

/** The text of an attribute that is a string or a list of one string; else `data` is NULL. */
refs_str refs_cf_attribute_text(const refs_json *attributes, const char *name);

/** The names in attributes that relate other variables to one (CF-1.11, appendix A). Begin with
 * `{.attributes = …}`. */
typedef struct {
    const refs_json *attributes;
    size_t n_read;     /**< attributes that were read */
    bool is_ancillary; /**< by ancillary_variables: it has data of its own, and does not only
                        * describe those of the variable */
    refs_str rest;
} refs_cf_related;

/** The next name; false if there are no more. */
bool refs_cf_take_related(refs_cf_related *related, refs_str *name);

/** The number of an attribute, the first of a list, or the number in a text such as "0.01f"; false,
 * and nothing written, if anything in it is not a number. */
bool refs_cf_attribute_number(const refs_json *attributes, const char *name, double *number);

/** The attributes scale_factor and add_offset, 1 and 0 where there are none; whether there are. */
bool refs_cf_scale_of(const refs_json *attributes, double *scale, double *offset);

#define REFS_CF_TICK_UNITS 40

/** Units of CF for times of NumPy, "hours since 1970-01-01" or "hours"; false, and nothing written,
 * for other types, and for ticks that are no single unit of CF from nanoseconds to days. */
bool refs_cf_tick_units(const refs_dtype *dtype, char text[REFS_CF_TICK_UNITS]);

/** A dimension of the array that becomes bands: everything but x and y. */
typedef struct refs_cf_band_axis {
    size_t dim;       /**< dimension of the array */
    const char *name; /**< of the dimension, without its group; borrowed */
    refs_cf_axis_kind kind;
    const refs_array_meta *coordinate; /**< its coordinate variable, or NULL */
    uint64_t first;                    /**< of the selected elements, along the dimension */
    uint64_t n;                        /**< selected elements; what follows has as many */
    double *values;                    /**< of the coordinate variable, as stored; NULL if none */
    double *bounds;                    /**< pairs of all elements, of a set of GRIB; NULL if none */
    char **labels;                     /**< n strings of a text coordinate; NULL if none */
    char *units;                       /**< of the coordinate variable, or NULL */
    char *calendar;                    /**< of the coordinate variable, or NULL */
} refs_cf_band_axis;

/** Times of bands that depend on more than one dimension, such as the valid time of a forecast,
 * which follows from its reference time and its lead time. */
typedef struct refs_cf_band_clock {
    refs_cf_band_axis axis; /**< its `n` values, in C order over the dimensions below */
    size_t dims[2];         /**< dimensions of the array that the coordinate has */
    size_t n_dims;
} refs_cf_band_clock;

/** A ground control point: a position in the raster, in pixels from its first corner, and on Earth,
 * in degrees of WGS 84 and metres. */
typedef struct refs_cf_gcp {
    double pixel, line;
    double x, y, z;
} refs_cf_gcp;

/** Most missing values of one array besides nodata; further ones are shown as data, with a
 * warning. */
#define REFS_CF_MAX_MISSING 15

/** A list of NAME=VALUE strings, in order. */
typedef struct refs_cf_items {
    char **items; /**< `n` owned strings */
    size_t n;
    size_t capacity;
} refs_cf_items;

/** A colour; alpha is zero for values that have none. */
typedef struct refs_cf_color {
    uint8_t red;
    uint8_t green;
    uint8_t blue;
    uint8_t alpha;
} refs_cf_color;

/** The known facts about one sample of a TIFF file's pixels. */
typedef struct refs_cf_sample {
    bool has_scale;
    double scale;
    bool has_offset;
    double offset;
    char *unit; /**< or NULL */
    char *name; /**< what it is, or NULL */
} refs_cf_sample;

typedef struct refs_cf_description {
    /* Which dimensions are the raster. Rank 1 has x only; rank 0 neither. */
    size_t x_dim;          /**< or REFS_CF_NO_DIM */
    size_t y_dim;          /**< or REFS_CF_NO_DIM */
    bool flip_y;           /**< rows are stored south first and shown north first */
    uint64_t first_column; /**< column of the array that is shown first; those before it are shown
                              after the last one. Only non-zero in global grids that were rotated
                              (refs_cf_longitudes) */

    refs_cf_band_axis *band_axes; /**< slowest first: band = row-major index over them */
    size_t n_band_axes;
    refs_cf_band_clock valid_time;     /**< of forecasts; without values if not known */
    refs_cf_band_clock reference_time; /**< the same */
    refs_cf_band_clock lead_time;      /**< the same: time since the reference time */
    size_t sample_axis; /**< the band axis that counts the samples of a TIFF file's pixels, such as
                           red, green and blue; or REFS_CF_NO_DIM */
    refs_cf_sample *samples; /**< see refs_cf_sample_of */
    size_t n_samples;

    bool has_geotransform;
    double
        geotransform[6]; /**< as GDAL's, for the rows as shown: corner x, dx, 0, corner y, 0, dy */
    char *crs;           /**< WKT (1 or 2), PROJJSON or AUTHORITY:CODE; NULL when unknown */
    bool crs_assumed;    /**< crs is there because of assume_longlat */

    refs_cf_gcp *gcps; /**< or NULL */
    size_t n_gcps;

    refs_cf_items geolocation; /**< items of GDAL's GEOLOCATION domain, except the names of the
                                  datasets: X_DATASET and Y_DATASET follow from … */
    const refs_array_meta *geolocation_x; /**< … these two arrays; NULL when there is none */
    const refs_array_meta *geolocation_y;
    refs_cf_items geolocation2; /**< items of the netCDF driver's GEOLOCATION2 domain: Y_VALUES,
                                     the latitudes of a grid that is only nearly regular */

    refs_cf_nodata_kind nodata_kind;
    double nodata;
    int64_t nodata_int64;
    uint64_t nodata_uint64;
    refs_cf_missing missing[REFS_CF_MAX_MISSING]; /**< other elements that count as missing, such as
                                                     missing_value in addition to _FillValue; of the
                                                     kind of nodata */
    size_t n_missing;
    bool unsigned_values; /**< _Unsigned: signed integers are to be read as unsigned */
    bool has_valid_range; /**< stored values outside count as missing */
    refs_cf_range valid;  /**< of stored values, as read */
    bool keeps_nan;       /**< NaN elements are not missing, as in TIFF files */
    bool longitudes;      /**< values are longitudes: the netCDF driver moves those beyond 180 */
    bool has_scale;
    double scale;
    bool has_offset;
    double offset;
    char *unit;               /**< or NULL */
    refs_cf_items categories; /**< plain strings: names of the values 0, 1, … or empty; or none */
    refs_cf_color *colors;    /**< of the values 0, 1, …; NULL if there are none */
    size_t n_colors;

    refs_cf_items metadata; /**< dataset metadata as the netCDF driver shows it: NC_GLOBAL#…, var#…,
                               NETCDF_DIM_… ; for band metadata see refs_cf_band_metadata */
    refs_cf_items band_items; /**< the items of refs_cf_band_metadata that all bands share */

    const refs_array_meta *unread; /**< the first coordinate variable that could not be read, with
                                      require_coordinates the cause of the failure; or NULL */
} refs_cf_description;

/** Describes `array`. Invalid attributes give a warning and are ignored; the only failures are lack
 * of memory, a selection of elements that do not exist and, with require_coordinates, coordinate
 * variables that cannot be read. `options` may be NULL. Clear *description also after a failure. */
refs_status refs_cf_describe(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                             const refs_cf_options *options, refs_cf_description *description,
                             refs_error *err);
void refs_cf_description_clear(refs_cf_description *description);

/** Describes only the members that refs_cf_is_missing needs: nodata, other missing values, valid
 * range, signs, scale and offset. Nothing has to be cleared. */
refs_status refs_cf_describe_elements(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                                      const refs_cf_options *options,
                                      refs_cf_description *description, refs_error *err);

/** Whether an element counts as missing: NaN, nodata, another missing value, or outside the valid
 * range. `element` is as read: unsigned if the description says so. */
bool refs_cf_is_missing(const refs_cf_description *description, double element);

/** The same for a 64-bit integer, exactly. `element` has its bits as stored, of type `dtype`. */
bool refs_cf_is_missing_integer(const refs_cf_description *description, const refs_dtype *dtype,
                                int64_t element);

/** Number of bands: the product of the lengths of the band axes; false if it overflows. */
bool refs_cf_n_bands(const refs_cf_description *description, uint64_t *n_bands);

/** Appends the names and lengths of the band axes: "time (124), level (37)". */
refs_status refs_cf_list_band_axes(const refs_cf_description *description, refs_buf *text,
                                   refs_error *err);

/** Splits band number `band`, from 0, into one index for each band axis, counted among the selected
 * elements. */
void refs_cf_band_index(const refs_cf_description *description, uint64_t band, uint64_t *index);

/** The facts that are known about the sample of band number `band`, from 0; NULL if there are none.
 * They take precedence over the members of the description, which hold for all samples. */
const refs_cf_sample *refs_cf_sample_of(const refs_cf_description *description, uint64_t band);

/** The number, from 0 among all samples of its file, of the sample that band number `band` shows.
 */
uint64_t refs_cf_sample_number(const refs_cf_description *description, uint64_t band);

/** The colour component that a band shows. */
typedef enum refs_cf_band_color {
    REFS_CF_BAND_PLAIN, /**< none, or not known */
    REFS_CF_BAND_GRAY,
    REFS_CF_BAND_RED,
    REFS_CF_BAND_GREEN,
    REFS_CF_BAND_BLUE
} refs_cf_band_color;

/** The colour of band number `band` of `array`, unless its file says otherwise: gray if an
 * attribute says so; red, green and blue if pixels have three samples. */
refs_cf_band_color refs_cf_band_color_of(const refs_array_meta *array,
                                         const refs_cf_description *description, uint64_t band);

/** Appends the time of value `index` of a band axis as ISO 8601 ("2020-01-01T06:00:00", with
 * milliseconds where there are any), in the axis's own calendar. Appends nothing if the axis is not
 * a time, or if its units or calendar are not understood. */
refs_status refs_cf_time_text(const refs_cf_band_axis *axis, uint64_t index, refs_buf *text,
                              refs_error *err);

/** Appends the metadata items of one band: the variable's attributes, NETCDF_VARNAME,
 * NETCDF_DIM_<axis> for each band axis, and TIME; for a forecast from GRIB, TIME is the valid time,
 * and GRIB_REF_TIME the reference time in seconds since 1970. */
refs_status refs_cf_band_metadata(const refs_cf_description *description,
                                  const refs_array_meta *array, uint64_t band, refs_cf_items *items,
                                  refs_error *err);

/** Appends the coordinates of band number `band` along the band axes: "time=2020-01-01T06:00:00
 * level=850"; an index from 0 for axes without a coordinate variable. */
refs_status refs_cf_band_description(const refs_cf_description *description, uint64_t band,
                                     refs_buf *text, refs_error *err);

/** Frees the strings in a list and leaves it empty; a zeroed list is empty. */
void refs_cf_items_clear(refs_cf_items *items);

/** Appends the metadata items of the root: global attributes as NC_GLOBAL#name=value. */
refs_status refs_cf_global_metadata(const refs_hierarchy *hierarchy, refs_cf_items *items,
                                    refs_error *err);

/** Whether `array` only describes another: named by the `bounds` or `climatology` attribute of
 * some array. Such arrays are not offered as subdatasets. */
bool refs_cf_is_bounds(const refs_hierarchy *hierarchy, const refs_array_meta *array);

/** Whether the `coordinates` attribute of some array names `array`. Such arrays are offered, but a
 * set with only one other array opens as that array. */
bool refs_cf_is_coordinate(const refs_hierarchy *hierarchy, const refs_array_meta *array);

/** Whether `array` only serves others: a coordinate variable of its dimension, or named by the
 * attribute `coordinates`, `bounds`, `climatology` or `grid_mapping` of some array. */
bool refs_cf_serves_others(const refs_hierarchy *hierarchy, const refs_array_meta *array);

/** The number of no coordinate. */
#define REFS_CF_NOT_BOUNDS UINT32_MAX

/** How an array serves others. */
typedef struct refs_cf_role {
    uint32_t bounded;   /**< number of the coordinate whose `bounds` or else `climatology` attribute
                             names it; or REFS_CF_NOT_BOUNDS */
    bool is_coordinate; /**< as refs_cf_is_coordinate says */
    bool serves_others; /**< as refs_cf_serves_others says */
} refs_cf_role;

/** The roles of all arrays, by number, in linear time: the functions above look at all arrays for
 * each. Freed by refs_free. */
refs_status refs_cf_find_roles(const refs_hierarchy *hierarchy, refs_cf_role **roles,
                               refs_error *err);

/** Most overviews of one raster that are found. */
#define REFS_CF_MAX_OVERVIEWS 64

/** Finds the overviews of `array` that the attribute `multiscales` of a group lists, largest first.
 * Returns how many there are. */
size_t refs_cf_find_overviews(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                              const refs_array_meta *overviews[REFS_CF_MAX_OVERVIEWS]);

/** The first_column of an overview of `width` columns, whose full grid has `full_width` columns and
 * the description `full`. False if it would be inside a column. */
bool refs_cf_turn_overview(const refs_cf_description *full, uint64_t full_width, uint64_t width,
                           uint64_t *first_column);

/** The mask of `array`, which is 0 at masked pixels; NULL if it names none. */
const refs_array_meta *refs_cf_find_mask(const refs_hierarchy *hierarchy,
                                         const refs_array_meta *array);

/** Whether elements of `array` can be pixels: they are numbers, times or single characters. */
bool refs_cf_holds_pixels(const refs_array_meta *array);

/** Whether `array` is offered as a subdataset of its set: it holds pixels along at least two
 * dimensions, and is no bounds, overview or mask of another. */
bool refs_cf_is_offered(const refs_hierarchy *hierarchy, const refs_array_meta *array);

/** Whether `array` is offered and holds data: no attribute `coordinates`, of an array or of its
 * group, names it. */
bool refs_cf_is_data(const refs_hierarchy *hierarchy, const refs_array_meta *array);

/** The array that opens if the name of a set names none: the only one that is offered and not a
 * coordinate of others; if none is offered, the only one that holds pixels and does not serve
 * others, or the only one that holds pixels. NULL if there are several. */
const refs_array_meta *refs_cf_find_only(const refs_hierarchy *hierarchy);

/** Appends the description of a subdataset in the netCDF driver's format: "[1x585x1386]
 * air_temperature (16-bit unsigned integer)"; for a GRIB message, from the keys that kerchunk and
 * cfgrib store as attributes, with its level: "[33x49] Rain rate, surface (…)". `values` reads the
 * value of the level; NULL leaves it out. */
refs_status refs_cf_subdataset_description(const refs_hierarchy *hierarchy,
                                           const refs_array_meta *array,
                                           const refs_cf_values *values, refs_buf *text,
                                           refs_error *err);

/* -- rasters of longitudes --------------------------------------------------------------------- */

/* The netCDF driver wraps values of longitudes beyond 180 by 360 degrees, block by block as it
 * reads them: a block whose first row begins and ends beyond 180 is wrapped; after the first block
 * that does not, no other is wrapped. Here the blocks are those of a band read from its first row
 * to its last, whatever was read before, so that every window has the same values. Rows are counted
 * as they are shown, columns as they are stored. */

/** The raster, and the blocks in which the netCDF driver reads it; made by refs_cf_find_wrap. */
typedef struct refs_cf_wrap {
    uint64_t width;
    uint64_t height;
    uint64_t block_width;
    uint64_t block_height;
    bool flip_y; /**< rows are shown in reverse */
    bool has_nodata;
    double nodata;
} refs_cf_wrap;

/** The wrapped blocks of a band, in the order of reading, as far as they are known. Zeroed: a band
 * of which nothing was read. */
typedef struct refs_cf_wrapped {
    uint64_t n_groups; /**< rows of blocks that were checked */
    uint64_t n_blocks; /**< wrapped blocks; they come first */
    bool ended;        /**< no other block is wrapped */
} refs_cf_wrapped;

/** Reads one row of a band as doubles, as stored; `values` has room for its width. */
typedef struct refs_cf_rows {
    refs_status (*read)(void *user, uint64_t row, double *values, refs_error *err);
    void *user;
} refs_cf_rows;

/** Whether values of `array`, described by `description`, are longitudes that may be wrapped. */
bool refs_cf_find_wrap(const refs_array_meta *array, const refs_cf_description *description,
                       refs_cf_wrap *wrap);

/** Checks blocks of a band until it is known which of those up to `row` are wrapped. Reads the
 * first row of each block once. */
refs_status refs_cf_look_for_wrapped(const refs_cf_wrap *wrap, uint64_t row,
                                     const refs_cf_rows *rows, refs_cf_wrapped *wrapped,
                                     refs_error *err);

/** Whether the pixels of `row` from `column` up to `*end`, which is excluded, are wrapped. Blocks
 * up to that row must have been checked. */
bool refs_cf_is_wrapped(const refs_cf_wrap *wrap, const refs_cf_wrapped *wrapped, uint64_t row,
                        uint64_t column, uint64_t *end);

/** Whether a value in a wrapped block is not wrapped: nodata is not. */
bool refs_cf_wrap_keeps(const refs_cf_wrap *wrap, double value);

/* -- units ------------------------------------------------------------------------------------- */

/** The unit and calendar of numbers. */
typedef struct refs_cf_units {
    refs_str units;    /**< empty: none */
    refs_str calendar; /**< of times; empty: the standard one */
} refs_cf_units;

/** The attributes units and calendar. */
refs_cf_units refs_cf_units_of(const refs_json *attributes);

/** Whether a unit counts time from an instant: "hours since …". */
bool refs_cf_counts_since(refs_str units);

/** The quantity that a unit alone implies (CF-1.13, sections 4.1 and 4.2). */
typedef enum refs_cf_unit_kind {
    REFS_CF_UNIT_OTHER,
    REFS_CF_UNIT_LATITUDE, /**< "degrees_north" and its other names */
    REFS_CF_UNIT_LONGITUDE /**< "degrees_east" likewise */
} refs_cf_unit_kind;

/** The kind of a unit, written in any case. */
refs_cf_unit_kind refs_cf_unit_kind_of(refs_str unit);

typedef enum refs_cf_conversion_kind {
    REFS_CF_CONVERSION_NONE,   /**< both are the same, or are not known to differ */
    REFS_CF_CONVERSION_LINEAR, /**< y = x * scale + offset */
    REFS_CF_CONVERSION_UNKNOWN /**< the conversion is not known */
} refs_cf_conversion_kind;

/** The treatment of units that cannot be converted, and of numbers that conversion would round. */
typedef enum refs_cf_policy {
    REFS_CF_KEEP,  /**< numbers in units that cannot be converted stay as they are */
    REFS_CF_ROUND, /**< such units are REFS_UNSUPPORTED; numbers are rounded */
    REFS_CF_EXACT  /**< the same, and numbers that would have to be rounded are REFS_UNSUPPORTED */
} refs_cf_policy;

/** How numbers of one unit become those of another. */
typedef struct refs_cf_conversion {
    refs_cf_conversion_kind kind;
    refs_cf_policy policy;
    refs_cf_units to;
    double scale, offset;           /**< y = x * scale + offset; 1 and 0 if the conversion is not
                                       known */
    double back_scale, back_offset; /**< x = y * back_scale + back_offset */
} refs_cf_conversion;

/** Finds the conversion between times with other units or origins of the same calendar, and between
 * UDUNITS units of the same dimension (decision 21). REFS_UNSUPPORTED, with both units, if it is
 * not known and the policy does not allow that. `to` must outlive the conversion. */
refs_status refs_cf_convert_units(const refs_cf_units *from, const refs_cf_units *to,
                                  refs_cf_policy policy, refs_cf_conversion *conversion,
                                  refs_error *err);

/** Whether units differ, and can be converted. */
refs_cf_conversion_kind refs_cf_compare_units(const refs_cf_units *from, const refs_cf_units *to);

/** Decimal digits that a double, or a float, keeps with a margin. */
#define REFS_CF_DOUBLE_DIGITS 13
#define REFS_CF_FLOAT_DIGITS  6

/** Converts a number with `digits` decimal digits in place; for times see clock.h. REFS_UNSUPPORTED
 * if it would have to be rounded and the policy does not allow it. Numbers that are not finite are
 * left unchanged. Thread-safe. */
refs_status refs_cf_convert_number(const refs_cf_conversion *conversion, int digits, double *value,
                                   refs_error *err);

/** REFS_UNSUPPORTED: a number would have to be rounded. */
refs_status refs_cf_fail_inexact(const refs_cf_conversion *conversion, double value,
                                 refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
