/* cf_internal.h -- internal declarations of this module.
 *
 * describe.c calls the steps in order; every other file is one step, independent of the others.
 * docs/cf.md lists rules and departures.
 *
 * Read before this: cf.h.
 */
#ifndef REFS_CF_INTERNAL_H
#define REFS_CF_INTERNAL_H

#include "clock.h"
#include "refs/bytes.h"
#include "refs/cf.h"
#include "refs/zarr.h"

/** The input of a description; the same in all steps. */
typedef struct refs_cf__input {
    const refs_hierarchy *hierarchy;
    const refs_array_meta *array;
    refs_cf_options options;
    const refs_array_meta **unread; /**< output: the first coordinate that cannot be read; or
                                       NULL */
} refs_cf__input;

/* -- attributes.c: reading strings and numbers ------------------------------------------------- */

/** The text of a string attribute (or of a list of one string); empty with a NULL `data` when it
 * is absent or no text. Ends before a NUL. */
refs_str refs_cf__text(const refs_json *attributes, const char *name);

/** Works like refs_cf__text, for a name in any case. */
refs_str refs_cf__text_any_case(const refs_json *attributes, const char *name);

/** Whether two texts are the same in any case. */
bool refs_cf__same_text(refs_str one, refs_str other);

/** Whether `text` is `word`, or begins with it, in any case. */
bool refs_cf__same_word(refs_str text, const char *word);
bool refs_cf__begins(refs_str text, const char *word);

/** Reads up to `max` numbers of an attribute: a number, a list, or the text of one, such as "[49.
 * 46.]". Returns the number of numbers, zero if anything in it is not a number. */
size_t refs_cf__numbers(const refs_json *attributes, const char *name, double *numbers, size_t max);

/** The first of refs_cf__numbers. */
bool refs_cf__number(const refs_json *attributes, const char *name, double *number);

/** Work like refs_cf__numbers and refs_cf__number, for parameters of a CRS: a number that single
 * precision holds exactly is rounded to 8 digits, as the netCDF driver does. */
size_t refs_cf__parameters(const refs_json *attributes, const char *name, double *numbers,
                           size_t max);
bool refs_cf__parameter(const refs_json *attributes, const char *name, double *number);

/** Reads a number with or without digits on both sides of its point. */
bool refs_cf__parse_number(refs_str text, double *number);

/** Appends a number with `digits` significant digits as printf's %g does, always with a point. */
refs_status refs_cf__print_number(double number, int digits, refs_buf *text, refs_error *err);

/** Appends a number with the digits that the netCDF driver gives an attribute or a value of its
 * type: 8 for single precision, 16 for double. */
refs_status refs_cf__print_typed(double number, const refs_dtype *dtype, refs_buf *text,
                                 refs_error *err);

/** Appends an attribute's value as the netCDF driver shows it: {1,2} for lists. JSON does not
 * record the type: a number that single precision holds exactly is printed as a float. */
refs_status refs_cf__print_attribute(const refs_json *value, refs_buf *text, refs_error *err);

/* -- resolve.c --------------------------------------------------------------------------------- */

/** The variable that an attribute of the array names: a path, or a name that is searched in the
 * array's group and its ancestors, then in sibling and descendant groups, nearest first. */
const refs_array_meta *refs_cf__resolve(const refs_cf__input *input, refs_str name);

/* -- unit_table.c, unit_text.c: units as UDUNITS writes them -------------------------------------
 */

/** A unit with a name of its own. */
typedef struct refs_cf__known_unit {
    const char *names;      /**< words, in any case, each with its plural but for "!"; or NULL */
    const char *symbols;    /**< words as they are; or NULL */
    const char *definition; /**< in other units; NULL: a base unit */
} refs_cf__known_unit;

typedef struct refs_cf__prefix {
    const char *name; /**< in any case; or NULL */
    const char *symbol;
    int exponent; /**< of ten */
} refs_cf__prefix;

/** Base units come first: those of SI, and the radian, which is a number to UDUNITS. */
enum { REFS_CF__BASE_UNITS = 8, REFS_CF__DIMENSIONS = 7 };

/** The unit that has this name or symbol, and its place in the table; or NULL. */
const refs_cf__known_unit *refs_cf__find_unit(refs_str text, size_t *number);

/** Whether UDUNITS has a unit with this symbol that REFS does not support. */
bool refs_cf__is_other_unit(refs_str text);

/** The beginning of `text`: the name of a prefix, or else the longest symbol; or NULL. */
const refs_cf__prefix *refs_cf__find_prefix(refs_str text, bool *is_name);

/** A unit in base units: x of it are x * number / divisor * 10^exponent + offset. */
typedef struct refs_cf__unit {
    double number, divisor;
    int exponent;
    double offset;
    int powers[REFS_CF__BASE_UNITS];
    bool has_lost_offset; /**< the unit had an offset but was multiplied, so that it means
                             differences (degrees Celsius) */
} refs_cf__unit;

/** Parses a unit of UDUNITS. False if it is invalid, or if UDUNITS reads it differently than users
 * mean it: "0.1 degC", a temperature difference in UDUNITS. */
bool refs_cf__read_unit(refs_str text, refs_cf__unit *unit);

/** Converts `value` of a unit to base units, without the offset. */
double refs_cf__unit_times(const refs_cf__unit *unit, double value);

/* -- describe.c -------------------------------------------------------------------------------- */

/** Decides which dimensions of the array are the raster, without regard to overviews. */
void refs_cf__choose_own_view(const refs_cf__input *input, refs_cf_description *description);

/* -- multiscales.c: one raster in several sizes ------------------------------------------------ */

/** The largest array of which `array` is an overview; itself if there is none. */
const refs_array_meta *refs_cf__full_resolution(const refs_hierarchy *hierarchy,
                                                const refs_array_meta *array);

/** The entry of the attribute `multiscales` of a group for `array` or a group that contains it;
 * NULL if there is none. */
const refs_json *refs_cf__level_of(const refs_group_meta *group, const refs_array_meta *array);

/** The entry of the attribute `multiscales` of a group with exactly this path, or NULL. */
const refs_json *refs_cf__level_called(const refs_group_meta *group, refs_str path);

/* -- overview.c -------------------------------------------------------------------------------- */

/** Shows the rows of an overview in the same order as those of its full array, `full`, described by
 * `whole`, unless both have coordinates of the same extent. */
void refs_cf__order_overview(const refs_array_meta *level, refs_cf_description *own,
                             const refs_array_meta *full, const refs_cf_description *whole);

/* -- axes.c: what runs along a dimension ------------------------------------------------------- */

/** Whether attributes of the variable say that it holds longitudes (latitudes). */
bool refs_cf__says_longitude(const refs_array_meta *variable);
bool refs_cf__says_latitude(const refs_array_meta *variable);

/** Whether attributes of the variable say that it holds longitudes, and its units do not contradict
 * that. */
bool refs_cf__is_longitude(const refs_array_meta *variable);

/** Whether the two variables hold geographic longitudes and latitudes, by more than their axis
 * attributes. */
bool refs_cf__is_longlat(const refs_array_meta *x, const refs_array_meta *y);

/** The meaning of a coordinate variable along a band axis. */
refs_cf_axis_kind refs_cf__axis_kind(const refs_array_meta *variable);

/** The name of dimension `dim` of `array` without its group. */
const char *refs_cf__dim_name(const refs_array_meta *array, size_t dim);

/** Whether the file named all dimensions of the array, so that no writer or reader invented
 * names. */
bool refs_cf__has_named_dims(const refs_array_meta *array);

/** The variable with the name of dimension `dim`, of any rank; NULL if there is none, or if the
 * name was invented. */
const refs_array_meta *refs_cf__dim_variable(const refs_hierarchy *hierarchy,
                                             const refs_array_meta *array, size_t dim);

/** The coordinate variable of dimension `dim`: the variable with its name, else the only
 * one-dimensional variable along it in the array's group. */
const refs_array_meta *refs_cf__coordinate(const refs_hierarchy *hierarchy,
                                           const refs_array_meta *array, size_t dim);

/** Sets the raster to the dimensions that are X and Y, in any position; does nothing if there is no
 * such pair, or several. */
void refs_cf__choose_cf_view(const refs_cf__input *input, refs_cf_description *description);

/** The variables that may place the raster on Earth. */
typedef struct refs_cf__axes {
    const refs_array_meta *x; /**< NULL if the dimension has no variable that declares an axis */
    const refs_array_meta *y;
    bool transposed; /**< rows run along longitude: (lon, lat) in a file that follows CF */
} refs_cf__axes;

refs_cf__axes refs_cf__find_axes(const refs_cf__input *input,
                                 const refs_cf_description *description);

/** The variable with the name of a dimension of the raster, if it is a horizontal coordinate and
 * its metadata cannot be read; else NULL. */
const refs_array_meta *refs_cf__broken_axis(const refs_cf__input *input, size_t dim);

/** Reads all values of a coordinate variable, for the caller to refs_free. *values is NULL for
 * strings, too many values, a failure that is only a warning, or without a reader. */
refs_status refs_cf__read_values(const refs_cf__input *input, const refs_array_meta *variable,
                                 double **values, refs_error *err);

/** Handles the failure to read a coordinate variable: it remains a failure with
 * require_coordinates; else it becomes a warning, and the array is described without the variable.
 * It is always a warning for labels of bands that this build cannot decode. */
refs_status refs_cf__forgive(const refs_cf__input *input, const refs_array_meta *variable,
                             refs_status status, refs_error *err);

/* -- regular.c: one-dimensional coordinates ---------------------------------------------------- */

/** Whether `n` values are evenly spaced, with a step other than zero: steps differ by no more than
 * `relative` times the largest, or by `absolute` if that is at most a tenth of a step. Between the
 * first, the middle and the last step, values may deviate by a fiftieth of a step, because of
 * rounding. */
bool refs_cf__is_regular(const double *values, size_t n, double relative, double absolute);

/* -- grid_mapping.c, crs.c, projection.c: the coordinate reference system ---------------------- */

typedef enum refs_cf__crs_kind {
    REFS_CF__CRS_NONE,
    REFS_CF__CRS_GEOGRAPHIC,
    REFS_CF__CRS_PROJECTED,
    REFS_CF__CRS_OTHER /**< local, … */
} refs_cf__crs_kind;

/** A coordinate reference system, and what its coordinates mean. Zeroed is none. */
typedef struct refs_cf__crs {
    refs_cf__crs_kind kind;
    char *text;           /**< owned */
    double unit_metres;   /**< projected: metres in a unit of its axes */
    double height_metres; /**< geostationary: of the satellite; else zero */
} refs_cf__crs;

void refs_cf__crs_clear(refs_cf__crs *crs);

/** The grid mapping variable of the array (also of the expanded form "crs: x y"), or NULL. */
const refs_array_meta *refs_cf__grid_mapping(const refs_cf__input *input,
                                             const refs_cf_description *description);

/** Whether the grid mapping variable has its CRS as WKT, which is empty if there is no CRS: then
 * its GeoTransform counts. */
bool refs_cf__has_crs_text(const refs_json *mapping);

/** The georeferencing of a raster: its axes, its grid mapping variable or NULL, and its CRS. */
typedef struct refs_cf__frame {
    refs_cf__axes axes;
    const refs_array_meta *mapping;
    refs_cf__crs crs;
    bool lost; /**< an axis exists but was not read: the raster has no georeferencing */
} refs_cf__frame;

/** The attribute `_CRS` that GDAL's Zarr driver writes, with "wkt", "url" or "projjson"; else NULL.
 * For such arrays, variables with the names of dimensions are the axes, whatever their attributes,
 * and rows without such a variable are shown as stored. */
const refs_json *refs_cf__gdal_crs(const refs_array_meta *array);

/** Finds the CRS of a frame from `_CRS`, its grid mapping, or the array's attribute `crs`; the
 * units of the axes become those of a projected CRS. */
refs_status refs_cf__find_crs(const refs_cf__input *input, refs_cf__frame *frame, refs_error *err);

/** Sets the kind and the units of the CRS that `text` describes; kind stays NONE if PROJ cannot
 * parse it. */
void refs_cf__crs_inspect(const char *text, refs_cf__crs *crs);

/** Appends as WKT 2 the geographic base CRS of the CRS in `text`, or that CRS itself; nothing if it
 * has none. */
refs_status refs_cf__print_base(const char *text, refs_buf *wkt, refs_error *err);

/** Converts a longitude and a latitude, in degrees, to easting and northing of the projected CRS
 * that `text` describes; false if PROJ cannot. */
bool refs_cf__project(const char *text, double *x, double *y);

/** Appends as WKT 2 the CRS of an authority's code, a URN, a PROJ string, PROJJSON or a complete
 * name; nothing if PROJ does not know it, or if it is vertical. */
refs_status refs_cf__expand_crs_name(refs_str name, refs_buf *wkt, refs_error *err);

/** A grid mapping, and the unit of its axes. */
typedef struct refs_cf__mapping {
    refs_str name; /**< grid_mapping_name */
    const refs_json *attributes;
    double unit_metres;   /**< of both axes and of parameters; 1 if the axes have no unit */
    double crs_metres;    /**< metres in a unit of the CRS: unit_metres, or 1 */
    bool unit_told;       /**< the axes have a unit that the netCDF driver recognises */
    bool needs_ellipsoid; /**< a rotated pole without an ellipsoid describes no CRS */
} refs_cf__mapping;

/** Appends the CRS that the attributes of a grid mapping variable describe, as WKT 2. Nothing is
 * appended for a grid mapping that CF does not know. */
refs_status refs_cf__print_crs(const refs_cf__mapping *mapping, refs_buf *wkt, refs_error *err);

/** Appends the geographic CRS on the ellipsoid of a grid mapping variable, as WKT 2. */
refs_status refs_cf__print_longlat(const refs_json *mapping, refs_buf *wkt, refs_error *err);

/** Appends the CONVERSION of a projected CRS as WKT 2; *directions becomes the directions of its
 * two axes, and nothing is appended for an unknown projection. */
refs_status refs_cf__print_conversion(const refs_cf__mapping *mapping,
                                      const char *const **directions, refs_buf *wkt,
                                      refs_error *err);

/** Appends LENGTHUNIT of WKT 2, for one of the units that refs_cf__unit_metres knows. */
refs_status refs_cf__print_length_unit(double metres, refs_buf *wkt, refs_error *err);

/** Appends the REMARK that belongs to some conversions, with a comma before it. */
refs_status refs_cf__print_remark(const refs_cf__mapping *mapping, refs_buf *wkt, refs_error *err);

/** An ellipsoid; inverse_flattening is zero for a sphere. */
typedef struct refs_cf__ellipsoid {
    double radius_metres;
    double inverse_flattening;
    bool given; /**< false: no attribute gives one, WGS 84 is assumed */
} refs_cf__ellipsoid;

refs_cf__ellipsoid refs_cf__read_ellipsoid(const refs_json *mapping);

/** Metres in a unit of length, or zero for any other unit. */
double refs_cf__unit_metres(refs_str unit);

/** Appends the CF units of NumPy's times: "seconds since 1970-01-01", "10 milliseconds"; nothing
 * for any other type. */
refs_status refs_cf__print_tick_unit(const refs_dtype *dtype, refs_buf *text, refs_error *err);

/** Radians in a unit of angle that geostationary grids use, or zero for any other unit. */
double refs_cf__unit_radians(refs_str unit);

/* -- affine.c, geolocation.c: where pixels are ------------------------------------------------- */

/** Whether GDAL seems to have written the file, by its global attribute, or by WKT and GeoTransform
 * in the array's grid mapping, `mapping`, which may be NULL. */
bool refs_cf__made_by_gdal(const refs_cf__input *input, const refs_array_meta *mapping);

/** Decides the order of rows and the geotransform. */
refs_status refs_cf__describe_affine(const refs_cf__input *input, refs_cf__frame *frame,
                                     refs_cf_description *description, refs_error *err);

/** Whether the axes are those of a rotated-pole grid. */
bool refs_cf__is_rotated(const refs_cf__axes *axes);

/** Fills in geolocation arrays from the `coordinates` attribute. */
refs_status refs_cf__describe_geolocation(const refs_cf__input *input, const refs_cf__frame *frame,
                                          refs_cf_description *description, refs_error *err);

/* -- turn.c: grids of longitudes that begin elsewhere ------------------------------------------ */

/** Moves longitudes to (-180, 180] where all are in (180, 540], and undoes one jump by 360. */
void refs_cf__unwrap_longitudes(double *values, size_t n);

/** Columns of a grid of longitudes, in degrees. */
typedef struct refs_cf__columns {
    double corner; /**< the outer edge of the first column, half a step from its centre */
    double step;   /**< negative if columns run westwards */
    uint64_t n;
} refs_cf__columns;

/** How columns are shown. */
typedef struct refs_cf__turn {
    uint64_t first_column; /**< of the array; those before it are shown after the last one */
    double corner;         /**< the outer edge of that column */
} refs_cf__turn;

/** Moves columns by multiples of 360 so that all centres are from `low` to `low` + 360. Columns on
 * both sides of a multiple of 360 from `low` can only be separated if the grid is global; else
 * false. */
bool refs_cf__find_turn(const refs_cf__columns *columns, double low, refs_cf__turn *turn);

/** Rotates a grid as the option `longitudes` says, or reports why it cannot. */
void refs_cf__turn_longitudes(const refs_cf__input *input, const refs_cf__axes *axes,
                              refs_cf_description *description);

/* -- geotiff.c: sets made of TIFF files -------------------------------------------------------- */

/** Whether the array is an image of a TIFF file: its rows are north first, and its axes are named
 * by letters.
 */
bool refs_cf__is_tiff(const refs_cf__input *input);

/** Sets the raster to the dimensions called X… and Y…, if both exist. */
void refs_cf__choose_tiff_view(const refs_array_meta *array, refs_cf_description *description);

/** Sets the facts about single samples of a TIFF file. */
refs_status refs_cf__describe_samples(const refs_json *attributes, refs_cf_description *description,
                                      refs_error *err);
void refs_cf__samples_clear(refs_cf_description *description);

/** Sets geotransform and CRS from tags and GeoKeys, as far as they exist. */
refs_status refs_cf__place_tiff(const refs_cf__input *input, refs_cf_description *description,
                                refs_error *err);

/* -- geozarr.c: the Zarr conventions "proj:" and "spatial:" -------------------------------------
 */

/** Sets the raster to the dimensions that the attributes of the array, or of a group above it,
 * name. */
void refs_cf__choose_geozarr_view(const refs_cf__input *input, refs_cf_description *description);

/** Whether "proj:" attributes give the array's CRS or geotransform: its axes then count although
 * they have no attributes, as in EOPF products. */
bool refs_cf__follows_proj(const refs_cf__input *input);

/** Replaces CRS and geotransform by those of the conventions; "proj:transform" counts only if
 * nothing else gives a geotransform. */
refs_status refs_cf__place_geozarr(const refs_cf__input *input, refs_cf_description *description,
                                   refs_error *err);

/* -- geokeys.c --------------------------------------------------------------------------------- */

/** Appends a TIFF file with the GeoKeys that are among the attributes; nothing if there are
 * none. */
refs_status refs_cf__write_geokeys(const refs_json *attributes, refs_buf *file, refs_error *err);

/* -- grib.c: sets made of GRIB messages -------------------------------------------------------- */

/** Whether a set was made from netCDF-3: all its numbers are big-endian. */
bool refs_cf__is_netcdf3(const refs_hierarchy *hierarchy);

/** Sets the CRS from keys of a GRIB message among the attributes, and, if coordinates did not give
 * them, the geotransform and the order of rows. */
refs_status refs_cf__place_grib(const refs_cf__input *input, refs_cf_description *description,
                                refs_error *err);

/* -- packing.c: what stored numbers mean ------------------------------------------------------- */

refs_status refs_cf__describe_packing(const refs_cf__input *input, refs_cf_description *description,
                                      refs_error *err);

/** A negative stored value as the unsigned one that has the same bits. */
double refs_cf__to_unsigned(const refs_dtype *dtype, double number);

/** The fill value as a number. */
double refs_cf__fill_number(const refs_array_meta *array);

/* -- missing.c: numbers that attributes call missing ------------------------------------------- */

/** Makes a missing value for elements of `dtype` from `number`, whose JSON is `element`. */
refs_cf_missing refs_cf__missing_of(const refs_dtype *dtype, const refs_json *element,
                                    double number);

/** The type that elements of `dtype` are read as: the unsigned one if the description says so. */
refs_dtype refs_cf__type_as_read(const refs_cf_description *description, const refs_dtype *dtype);

/** Works like refs_cf__missing_of for elements that are read as `as`: a negative number is the
 * unsigned one that has the same bits. */
refs_cf_missing refs_cf__missing_as(const refs_dtype *dtype, const refs_dtype *as,
                                    const refs_json *element, double number);

/** `number` converted to `dtype` and back. */
double refs_cf__as_element(const refs_dtype *dtype, double number);

void refs_cf__set_nodata(refs_cf_description *description, refs_cf_missing missing);

/** Sets missing values in addition to nodata. Nodata and unsigned_values must be set. */
void refs_cf__describe_missing(const refs_cf__input *input, refs_cf_description *description);

/* -- flags.c ----------------------------------------------------------------------------------- */

/** Sets the names of values. unsigned_values must be set. */
refs_status refs_cf__describe_flags(const refs_cf__input *input, refs_cf_description *description,
                                    refs_error *err);

/* -- bands.c ----------------------------------------------------------------------------------- */

refs_status refs_cf__describe_bands(const refs_cf__input *input, refs_cf_description *description,
                                    refs_error *err);
void refs_cf__bands_clear(refs_cf_description *description);

/** Reads the bounds of a coordinate in pairs; NULL if there are none. Only for sets of GRIB
 * messages. */
refs_status refs_cf__read_bounds(const refs_cf__input *input, const refs_array_meta *coordinate,
                                 double **bounds, refs_error *err);

/** Appends value `index` of a band axis as the netCDF driver prints it; index + 1 if there is no
 * coordinate variable. */
refs_status refs_cf__print_band_value(const refs_cf_band_axis *axis, uint64_t index, refs_buf *text,
                                      refs_error *err);

/** Appends element `index` of a band axis for messages: its time, its value, or else its index from
 * 0 along the dimension. */
refs_status refs_cf__print_element(const refs_cf_band_axis *axis, uint64_t index, refs_buf *text,
                                   refs_error *err);

/* -- select.c ---------------------------------------------------------------------------------- */

/** Shrinks the band axes to the selection (see cf.h). REFS_INVALID for an invalid selection,
 * REFS_NOT_FOUND if it selects nothing. */
refs_status refs_cf__select(const refs_cf__input *input, refs_cf_description *description,
                            refs_error *err);

/* -- calendar.c: days and dates ---------------------------------------------------------------- */

typedef enum refs_cf__calendar {
    REFS_CF__STANDARD,  /**< Julian before 1582-10-15, Gregorian from then on */
    REFS_CF__GREGORIAN, /**< also before */
    REFS_CF__JULIAN,
    REFS_CF__NO_LEAP,
    REFS_CF__ALL_LEAP,
    REFS_CF__360_DAY
} refs_cf__calendar;

typedef struct refs_cf__date {
    int64_t year; /**< 0 is the year before 1 */
    int month;    /**< from 1 */
    int day;      /**< from 1 */
} refs_cf__date;

/** Finds a calendar by its CF name; an empty one is the standard one. */
bool refs_cf__find_calendar(refs_str name, refs_cf__calendar *calendar);

/** Works like refs_cf_compare_calendars. */
refs_cf_calendars refs_cf__compare_calendars(refs_cf__calendar one, refs_cf__calendar other);

/** Convert between days and dates. Days count from an origin that depends on the calendar. */
int64_t refs_cf__day_of_date(refs_cf__calendar calendar, refs_cf__date date);
refs_cf__date refs_cf__date_of_day(refs_cf__calendar calendar, int64_t day);

/* -- time.c, iso8601.c: instants, in milliseconds from the calendar's own origin ----------------
 */

enum { REFS_CF__DAY_MILLISECONDS = 86400000 };

/** The origin of the values of a time axis, and their unit. */
typedef struct refs_cf__clock {
    refs_cf__calendar calendar;
    double unit_seconds;
    int64_t origin_day;
    double origin_seconds; /**< since the beginning of that day in UTC */
    bool numpy;            /**< times of NumPy, whose smallest integer is "not a time" */
    bool is_date;          /**< values are dates such as 20000102.5: origin and unit do not count */
    double scale;          /**< of packed times: value * scale … */
    double offset;         /**< … + offset, in units of time */
} refs_cf__clock;

/** The seconds in a unit of time with the same length in all calendars, "h" or "hours", or in a
 * unit of datetime64 and timedelta64; false for any other unit. */
bool refs_cf__unit_seconds(refs_str name, double *seconds);
bool refs_cf__tick_seconds(const refs_dtype *dtype, double *seconds);

/** Parses units and calendar; false if they are not of time. */
bool refs_cf__read_clock_of(const refs_cf_units *of, refs_cf__clock *ticks);

/** Converts a clock to the form of clock.h; false for units shorter than a nanosecond, and for
 * dates. Packing is ignored. */
struct refs_cf_clock;
bool refs_cf__clock_from(const refs_cf__clock *ticks, struct refs_cf_clock *clock);

/** The clock of a band axis; false if it is not a time axis, or its units are not supported. */
bool refs_cf__read_clock(const refs_cf_band_axis *axis, refs_cf__clock *ticks);

/** The instant of a value; false if it is not a time. */
bool refs_cf__instant(const refs_cf__clock *ticks, double value, int64_t *milliseconds);

/** Appends an instant as ISO 8601. */
refs_status refs_cf__print_instant(refs_cf__calendar calendar, int64_t instant, refs_buf *text,
                                   refs_error *err);

/** From the first to the last millisecond. */
typedef struct refs_cf__period {
    int64_t first;
    int64_t last;
} refs_cf__period;

/** Parses a date or time of ISO 8601 with any precision as the period that it covers: "2020" is the
 * whole year; "Z" may follow. False for anything else, and for dates that the calendar does not
 * have. */
bool refs_cf__parse_period(refs_str text, refs_cf__calendar calendar, refs_cf__period *period);

/* -- gcps.c ------------------------------------------------------------------------------------ */

/** Finds the ground control points of a raster without other georeferencing. */
refs_status refs_cf__describe_gcps(const refs_cf__input *input, refs_cf_description *description,
                                   refs_error *err);

/* -- duration.c -------------------------------------------------------------------------------- */

/** Parses a duration, "6h", "1d12h" or "PT6H" (ISO 8601), without years and months. */
bool refs_cf__parse_duration(refs_str text, double *seconds);

/** The seconds in the unit of a coordinate of durations: lead times of forecasts, whose "units" are
 * "hours" or whose type is timedelta64. */
bool refs_cf__duration_unit(const refs_array_meta *coordinate, double *seconds);

/* -- multiscales.c ----------------------------------------------------------------------------- */

/** Whether `array` is an overview of another array. Overviews are not offered as subdatasets. */
bool refs_cf__is_overview(const refs_hierarchy *hierarchy, const refs_array_meta *array);

/* -- items.c, metadata.c ----------------------------------------------------------------------- */

/** Appends "<name>=<value>". */
refs_status refs_cf__add_item(refs_cf_items *items, const char *name, refs_str value,
                              refs_error *err);

/** Appends a copy of an item. */
refs_status refs_cf__copy_item(refs_cf_items *items, const char *item, refs_error *err);

/** Appends "<prefix><name>=<value>" for an attribute, for all attributes, as the netCDF driver
 * prints them. */
refs_status refs_cf__add_attribute(refs_cf_items *items, refs_str prefix, refs_str name,
                                   const refs_json *value, refs_error *err);
refs_status refs_cf__add_attributes(refs_cf_items *items, refs_str prefix,
                                    const refs_json *attributes, refs_error *err);

/** Fills in the metadata of the dataset. */
refs_status refs_cf__describe_metadata(const refs_cf__input *input, const refs_array_meta *mapping,
                                       refs_cf_description *description, refs_error *err);

/** The coordinate with the valid times of a forecast, if the array has an axis of reference times
 * or lead times and names the coordinate; else NULL. */
const refs_array_meta *refs_cf__valid_time(const refs_cf__input *input,
                                           refs_cf_description *description);

/** Frees the times of forecasts. */
void refs_cf__clocks_clear(refs_cf_description *description);

/** Sets the metadata items that all bands have in common. */
refs_status refs_cf__describe_band_items(const refs_cf__input *input,
                                         refs_cf_description *description, refs_error *err);

#endif
