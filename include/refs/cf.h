/* cf.h -- what an array means on Earth: attributes -> axes, CRS, geotransform, time, packing.
 *
 * Follows the CF conventions (1.11) and, where they leave a choice, what
 * GDAL's netCDF driver shows for the same file, because that is what its users
 * compare with. docs/cf.md leads to the rules and the departures.
 *
 * cf reads attributes itself, and values of coordinate variables through a function that the caller
 * provides, since it does not enter the array module.
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

/** Most values read from one coordinate variable, and from those of all bands together. */
#define REFS_CF_MAX_AXIS 10000000

/** No dimension. */
#define REFS_CF_NO_DIM SIZE_MAX

/** Reads all values of `array` as doubles in C order: room for all its elements. */
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
    /** Appends the CRS of the GeoTIFF file `file` as WKT, which has GeoKeys and one pixel; nothing
     * where they make no sense. */
    refs_status (*read_crs)(void *user, refs_bytes file, refs_buf *wkt, refs_error *err);
    void *user;
} refs_cf_geotiff;

/** The cases in which versions of GDAL's netCDF driver place the same file differently. The
 * application sets what its own GDAL does, so that both drivers agree; all false is GDAL 3.6. */
typedef struct refs_cf_placement {
    bool lonlat_by_axes; /**< longitudes and latitudes along the raster that are not evenly spaced
                              are its geolocation arrays, on a rotated grid too (GDAL 3.7) */
    bool in_metres;      /**< projected coordinates are in metres whatever the unit of the axes
                              (3.8); else in that unit */
    bool lonlat_on_crs;  /**< geolocation arrays are on the ellipsoid of the CRS (3.9); else on
                              WGS 84 */
    bool lonlat_by_name; /**< arrays called lon and lat beside one that has no attribute
                              `coordinates` are its geolocation arrays (3.11) */
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
    bool as_stored; /**< the array is shown with its axes and elements as they are, not as a raster:
                       nodata is what its writer declared, signed unless refs_cf_is_marked_unsigned,
                       and only the parts of `placement` that hold for every CRS count */
    refs_notes notes;
    const refs_cf_values *values; /**< reads coordinate variables; NULL: none is read */
    const char *selection;        /**< which bands: see below; NULL or "" for all */
    refs_cf_geotiff
        geotiff; /**< for sets made of TIFF files; without it EPSG's codes count alone */
    refs_cf_placement placement;
    refs_cf_longitudes longitudes; /**< grids that do not begin there are turned, or stay, with a
                                      note: see first_column */
} refs_cf_options;

/* A selection keeps part of some band axes, for example "time=2020-01-01T06:00,level=850":
 *
 *   selection  = part *("," part)
 *   part       = axis "=" end [":" end]    axis: name of a dimension or its coordinate variable
 *   end        = ["#"] index / label / period / number
 *
 * A part selects from one end to the other, both included, in either order. An end is the first of
 * these that the axis has, the same for both ends: with "#" an index from 0; a text of a text
 * coordinate; on a time axis a period of ISO 8601, "2020" to "2020-01-01T06:00:00.000", in the
 * axis's calendar; a value of the coordinate, to the precision of its type. Otherwise it is an
 * index from 0 without "#", or else a period or a value that bounds a range. A note reports a
 * number that is both a value of the axis and the index of another element. "850." is never an
 * index. A part is first tried without a separating colon, then with each colon from left to right:
 * those of a time separate nothing. */

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

/** The meaning of a coordinate variable along its dimension; its units count too and, if it has no
 * attribute that identifies an axis, its name. */
refs_cf_axis_kind refs_cf_axis_kind_of(const refs_array_meta *variable);

/** The direction in which its values increase: "EAST", "NORTH", "UP", "DOWN", or "" if unknown. */
const char *refs_cf_axis_direction_of(const refs_array_meta *variable);

/** Whether the valid range of an aggregation of integers holds netCDF's default fill value, which
 * is then a value like any other: none stands for missing ones. Integers of more than a byte must
 * be filled with zero, too. */
bool refs_cf_has_only_values(const refs_array_meta *array);

/** Whether the attribute valid_range names all integers of the array's type. */
bool refs_cf_has_whole_range(const refs_array_meta *array);

/** Whether elements that are netCDF's default fill value of their type are values where attributes
 * say nothing of missing ones: the array's own fill value is another, or it has none and is not of
 * netCDF's kind. All bytes are values. False for types that netCDF does not fill. */
bool refs_cf_keeps_default_fill(const refs_array_meta *array);

/** Whether missing_value is a value that elements can have: no word, and NaN and the infinities for
 * floating-point elements only. */
bool refs_cf_has_missing_value(const refs_array_meta *array);

/** Whether the fill value in an array's metadata was an attribute _FillValue before a writer moved
 * it there, and not merely what the format fills gaps with (decision 12). */
bool refs_cf_fill_is_declared(const refs_hierarchy *hierarchy, const refs_array_meta *array);

/** The _FillValue that the file of a numeric array declared: its attribute, or the fill value that
 * a writer moved it to (of bytes, as refs_cf_byte_fill_is_chosen judges); of NumPy's times, "not a
 * time". Writes one element of its type, in this machine's byte order; false, and nothing written,
 * if it declared none. */
bool refs_cf_declared_fill(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                           uint8_t *fill);

/** Reads the value of an attribute such as _FillValue as one element of a numeric array, in this
 * machine's byte order. *is_element is false where no element can have it, as unsigned ones are
 * never -9999, and where it is no value; only the type and the attributes of the array count. The
 * first value of a vector counts. */
refs_status refs_cf_read_element(const refs_array_meta *array, const refs_json *value,
                                 uint8_t *element, bool *is_element, refs_error *err);

/** Reads the first of _FillValue and missing_value that an element of a numeric array can have, as
 * refs_cf_read_element does, into 16 bytes. *value is its JSON, NULL if neither declares one. */
refs_status refs_cf_read_missing(const refs_array_meta *array, uint8_t *element,
                                 const refs_json **value, refs_error *err);

/** Works like refs_cf_fill_is_declared for an array of bytes, judged by that array alone, whatever
 * else is in its set, and whether or not that keeps attributes: the largest byte is none of the
 * valid ones that attributes state. */
bool refs_cf_fill_is_chosen(const refs_array_meta *array);

/** The default fill value of netCDF for a type (same source), in this machine's byte order; at most
 * 8 bytes. False, and nothing written, for types that netCDF does not fill. */
bool refs_cf_default_fill(const refs_dtype *dtype, uint8_t *fill);

/** The same as JSON has it. NULL also for bytes, as all of them are values. */
const char *refs_cf_default_fill_text(const refs_dtype *dtype);

/** The missing value of 64-bit integers beside values of which netCDF's default may be one: the
 * integer next to that. False, and NULL, for other types. */
bool refs_cf_spare_fill(const refs_dtype *dtype, uint8_t *fill);
const char *refs_cf_spare_fill_text(const refs_dtype *dtype);

/** All integers of a type, as JSON has them for the attribute valid_range; NULL for other types. */
const char *refs_cf_whole_range_text(const refs_dtype *dtype);

/** Whether the attribute _Unsigned turns signed integers, whatever their size, into unsigned ones
 * (NUG, "Attribute conventions"). refs_cf_describe looks at the valid range, too. */
bool refs_cf_is_marked_unsigned(const refs_array_meta *array);

/** Whether that attribute or, taking precedence, the valid range of bytes makes them unsigned. */
bool refs_cf_is_declared_unsigned(const refs_array_meta *array);

/** The same, or that their type is unsigned. */
bool refs_cf_has_unsigned_elements(const refs_array_meta *array);

/** How a missing value is given: exactly, also for integers beyond 2^53. */
typedef enum refs_cf_nodata_kind {
    REFS_CF_NODATA_NONE,
    REFS_CF_NODATA_DOUBLE,
    REFS_CF_NODATA_INT64,
    REFS_CF_NODATA_UINT64
} refs_cf_nodata_kind;

/** A missing value, or an end of a valid range: the member that its kind names counts, the others
 * are zero. */
typedef struct refs_cf_missing {
    refs_cf_nodata_kind kind;
    double number;
    int64_t int64;
    uint64_t uint64;
} refs_cf_missing;

/** It as a double, which may be rounded; NaN for none. */
double refs_cf_missing_number(refs_cf_missing missing);

/** From one number to the other, both included; one may be infinite. */
typedef struct refs_cf_range {
    refs_cf_missing least, most;
} refs_cf_range;

/** Whether an element is in a range: the bits of a 64-bit integer as read, and its number, which
 * may be rounded. */
bool refs_cf_range_has(const refs_cf_range *range, uint64_t bits, double number);

/** Whether two ranges of elements of one type are one. */
bool refs_cf_range_equal(const refs_cf_range *one, const refs_cf_range *other);

/** The range of valid stored elements, by the attributes valid_range, valid_min and valid_max;
 * false if all are valid. `as` is the type that elements are read as: that of the array, or the
 * unsigned one. */
bool refs_cf_valid_range(const refs_array_meta *array, const refs_dtype *as, refs_cf_range *stored);

/** Whether numbers of the attribute `name` have the type of their variable, which JSON does not
 * record (CF 2.5.1 and 3.5; NUG, "Attribute conventions"). */
bool refs_cf_has_type_of_variable(refs_str name);

/** Whether `array` says that its values are times, as `SHOW_TIME` of GDAL means it. */
bool refs_cf_says_time(const refs_array_meta *array);

/** The text of an attribute, or of a list of one text; `data` is NULL if it is neither. */
refs_str refs_cf_attribute_text(const refs_json *attributes, const char *name);

/** The number of an attribute, or the first of a list, or of a text such as "0.01f" that a writer
 * made of one; false, and nothing written, where something in it is no number. */
bool refs_cf_attribute_number(const refs_json *attributes, const char *name, double *number);

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

/** Times of bands that are not (only) along a dimension of their own, such as the time for which a
 * forecast is valid, which follows from its reference time and its step. */
typedef struct refs_cf_band_clock {
    refs_cf_band_axis axis; /**< its values, row by row of the coordinate; n: how many */
    size_t dims[2];         /**< dimensions of the array that the coordinate has */
    size_t n_dims;
} refs_cf_band_clock;

/** A ground control point: a place in the raster, in pixels from its first corner, and on Earth, in
 * degrees of WGS 84 and metres. */
typedef struct refs_cf_gcp {
    double pixel, line;
    double x, y, z;
} refs_cf_gcp;

/** Missing values of one array besides nodata; more of them are data, with a warning. */
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
                         after the last one. Not 0 in grids of the whole circle that were turned */

    refs_cf_band_axis *band_axes; /**< slowest first: band = row-major index over them */
    size_t n_band_axes;
    refs_cf_band_clock valid_time;     /**< of forecasts; without values where not known */
    refs_cf_band_clock reference_time; /**< the same */
    refs_cf_band_clock lead_time;      /**< the same: how long after the reference time */
    size_t sample_axis; /**< which of them are the samples of the pixels of a TIFF file, such as
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
    refs_cf_missing missing[REFS_CF_MAX_MISSING]; /**< other elements that count as missing, such
                                                     as missing_value beside _FillValue; of the kind
                                                     of nodata, as read: unsigned where that is */
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
    refs_cf_color *colors;    /**< of the values 0, 1, …; NULL when there are none */
    size_t n_colors;

    refs_cf_items metadata; /**< dataset metadata as the netCDF driver has it: NC_GLOBAL#…, var#…,
                                 NETCDF_DIM_… ; for band metadata see refs_cf_band_metadata */
    refs_cf_items band_items; /**< what all bands share of refs_cf_band_metadata */

    const refs_array_meta *unread; /**< the first coordinate variable that could not be read: that
                                        of the failure with require_coordinates; or NULL */
} refs_cf_description;

/** Describes `array`. Attributes that make no sense give a note, and the rest is described; the
 * only failures are lack of memory, a selection of what does not exist and, with
 * require_coordinates, coordinate variables that cannot be read. `options` may be NULL. Clear
 * *description also after a failure. */
refs_status refs_cf_describe(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                             const refs_cf_options *options, refs_cf_description *description,
                             refs_error *err);
void refs_cf_description_clear(refs_cf_description *description);

/** Describes only what elements stand for, as refs_cf_is_missing needs it: nodata, other missing
 * values, valid range, signs, scale and offset. Nothing has to be cleared. */
refs_status refs_cf_describe_elements(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                                      const refs_cf_options *options,
                                      refs_cf_description *description, refs_error *err);

/** Whether an element counts as missing: NaN, nodata, another missing value, or outside of the
 * valid range. `element` as read: unsigned where the description says so. */
bool refs_cf_is_missing(const refs_cf_description *description, double element);

/** The same of an element of eight bytes that is an integer, exactly: as it is stored, of which
 * `dtype` says whether it has a sign. */
bool refs_cf_is_missing_integer(const refs_cf_description *description, const refs_dtype *dtype,
                                int64_t element);

/** Number of bands: product of the band axes; false where that overflows. */
bool refs_cf_n_bands(const refs_cf_description *description, uint64_t *n_bands);

/** Appends the band axes and how long they are: "time (124), level (37)". */
refs_status refs_cf_list_band_axes(const refs_cf_description *description, refs_buf *text,
                                   refs_error *err);

/** Splits band number `band`, from 0, into one index for each band axis, counted among the selected
 * elements. */
void refs_cf_band_index(const refs_cf_description *description, uint64_t band, uint64_t *index);

/** The known facts about the sample of band number `band`, from 0, alone; NULL if nothing is. It
 * takes precedence over what the description says about all samples. */
const refs_cf_sample *refs_cf_sample_of(const refs_cf_description *description, uint64_t band);

/** The number of the sample, from 0, among all samples of its file, that band number `band` shows.
 */
uint64_t refs_cf_sample_number(const refs_cf_description *description, uint64_t band);

/** Which part of a pixel's colour a band shows. */
typedef enum refs_cf_band_color {
    REFS_CF_BAND_PLAIN, /**< nothing that is known */
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

/** Metadata items of one band: the variable's attributes, NETCDF_VARNAME, NETCDF_DIM_<axis> for
 * each band axis, and TIME, the time that they mean; of a forecast in GRIB, the one for which it is
 * valid, with its reference time as GRIB_REF_TIME in seconds since 1970. Appends to `items`. */
refs_status refs_cf_band_metadata(const refs_cf_description *description,
                                  const refs_array_meta *array, uint64_t band, refs_cf_items *items,
                                  refs_error *err);

/** Appends where band number `band` is along the band axes: "time=2020-01-01T06:00:00 level=850";
 * an index from 0 for axes without a coordinate variable. */
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

/** The roles of all arrays, by number, in time that grows with the number of arrays: the functions
 * above look at all arrays for each. Freed by refs_free. */
refs_status refs_cf_find_roles(const refs_hierarchy *hierarchy, refs_cf_role **roles,
                               refs_error *err);

/** Most overviews of one raster that are found. */
#define REFS_CF_MAX_OVERVIEWS 64

/** The arrays that show the raster of `array` in fewer pixels, as the attribute `multiscales` of a
 * group lists them; those with the most pixels come first. Returns how many there are. */
size_t refs_cf_find_overviews(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                              const refs_array_meta *overviews[REFS_CF_MAX_OVERVIEWS]);

/** Which column of an overview `width` columns wide is shown first if its full grid, with
 * `full_width` columns, has the description `full`. False if the seam lies inside a column. */
bool refs_cf_turn_overview(const refs_cf_description *full, uint64_t full_width, uint64_t width,
                           uint64_t *first_column);

/** The mask of `array`, which is 0 where pixels are masked; NULL where it names none. */
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

/** The array that opens when the name of a set names none: the only one that is offered and does
 * not say where others are; if none is offered, the only one that holds pixels and does not serve
 * others, or that holds pixels at all. NULL if there are several. */
const refs_array_meta *refs_cf_find_only(const refs_hierarchy *hierarchy);

/** Appends the description of a subdataset in the netCDF driver's words:
 * "[1x585x1386] air_temperature (16-bit unsigned integer)"; of a GRIB message, by the keys that
 * kerchunk and cfgrib make attributes, with its level: "[33x49] Rain rate, surface (…)". `values`
 * reads the value of the level; NULL leaves it out. */
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

/** How many blocks of a band are wrapped, in the order of reading, as far as is known. Zeroed: a
 * band not looked at yet. */
typedef struct refs_cf_wrapped {
    uint64_t n_groups; /**< rows of blocks that were looked at */
    uint64_t n_blocks; /**< that are wrapped */
    bool ended;        /**< no other block is wrapped */
} refs_cf_wrapped;

/** Reads one row of a band as doubles, as stored: room for its width. */
typedef struct refs_cf_rows {
    refs_status (*read)(void *user, uint64_t row, double *values, refs_error *err);
    void *user;
} refs_cf_rows;

/** Whether values of `array`, described by `description`, are longitudes that may be wrapped. */
bool refs_cf_find_wrap(const refs_array_meta *array, const refs_cf_description *description,
                       refs_cf_wrap *wrap);

/** Looks at blocks of a band until it is known which of those up to `row` are wrapped. Reads the
 * first row of each block once. */
refs_status refs_cf_look_for_wrapped(const refs_cf_wrap *wrap, uint64_t row,
                                     const refs_cf_rows *rows, refs_cf_wrapped *wrapped,
                                     refs_error *err);

/** Whether the pixel at `row` and `column`, and the following ones of its row before column `*end`,
 * are wrapped. The band must have been looked at up to there. */
bool refs_cf_is_wrapped(const refs_cf_wrap *wrap, const refs_cf_wrapped *wrapped, uint64_t row,
                        uint64_t column, uint64_t *end);

/** Whether a value in a wrapped block stays as it is: nodata does. */
bool refs_cf_wrap_keeps(const refs_cf_wrap *wrap, double value);

/* -- units ------------------------------------------------------------------------------------- */

/** The quantity that numbers count. */
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

/** The treatment of units that cannot be converted, and of numbers that would be rounded. */
typedef enum refs_cf_policy {
    REFS_CF_KEEP,  /**< numbers in units that cannot be converted stay as they are */
    REFS_CF_ROUND, /**< such units are REFS_UNSUPPORTED; numbers are rounded */
    REFS_CF_EXACT  /**< so are numbers that would have to be rounded */
} refs_cf_policy;

/** How numbers of one unit become those of another. */
typedef struct refs_cf_conversion {
    refs_cf_conversion_kind kind;
    refs_cf_policy policy;
    refs_cf_units to;
    double scale, offset;           /**< y = x * scale + offset; 1 and 0 where that is not known */
    double back_scale, back_offset; /**< x = y * back_scale + back_offset */
} refs_cf_conversion;

/** Finds how: for times that count in other steps or from another instant of the same calendar, and
 * units of one kind as UDUNITS writes them (decision 21). REFS_UNSUPPORTED, with both units, where
 * that is not known and the policy does not allow it. `to` must outlive the conversion. */
refs_status refs_cf_convert_units(const refs_cf_units *from, const refs_cf_units *to,
                                  refs_cf_policy policy, refs_cf_conversion *conversion,
                                  refs_error *err);

/** Whether units differ, and can be converted. */
refs_cf_conversion_kind refs_cf_compare_units(const refs_cf_units *from, const refs_cf_units *to);

/** Decimal digits that a double, or a float, keeps with some to spare. */
#define REFS_CF_DOUBLE_DIGITS 13
#define REFS_CF_FLOAT_DIGITS  6

/** Converts a number of so many decimal digits, which is no time (clock.h), in place.
 * REFS_UNSUPPORTED where it would have to be rounded and the policy does not allow it. Numbers that
 * are not finite stay. Thread-safe. */
refs_status refs_cf_convert_number(const refs_cf_conversion *conversion, int digits, double *value,
                                   refs_error *err);

/** REFS_UNSUPPORTED: a number would have to be rounded. */
refs_status refs_cf_fail_inexact(const refs_cf_conversion *conversion, double value,
                                 refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
