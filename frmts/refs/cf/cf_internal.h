/* cf_internal.h -- what the files of this module share.
 *
 * describe.c takes the decisions in order; every other file answers one
 * question and knows nothing of the rest. Rules and departures are listed in
 * docs/cf.md.
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
    const refs_array_meta **unread; /**< set to the first coordinate that is not read; or NULL */
} refs_cf__input;

/* -- attributes.c: reading strings and numbers ------------------------------------------------- */

/** The text of a string attribute (or of a list of one string); empty with a NULL `data` when it
 * is absent or no text. Ends before a NUL. */
refs_str refs_cf__text(const refs_json *attributes, const char *name);

/** Works like refs_cf__text, for a name in any case. */
refs_str refs_cf__text_any_case(const refs_json *attributes, const char *name);

/** Whether `text` is `word`, or begins with it, in any case. */
bool refs_cf__same_word(refs_str text, const char *word);
bool refs_cf__begins(refs_str text, const char *word);

/** Reads up to `max` numbers of an attribute: a number, a list, or a text such as "[49. 46.]"
 * that a writer made of one. Returns how many it has, zero when anything in it is not a number. */
size_t refs_cf__numbers(const refs_json *attributes, const char *name, double *numbers, size_t max);

/** The first of refs_cf__numbers. */
bool refs_cf__number(const refs_json *attributes, const char *name, double *number);

/** Work like refs_cf__numbers and refs_cf__number, for what describes a CRS: of a number that
 * single precision holds exactly, the 8 digits that the netCDF driver makes its CRS of. */
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

/** Appends an attribute's value as the netCDF driver shows it: {1,2} for lists. JSON has lost the
 * type: a number that single precision holds exactly is taken for one. */
refs_status refs_cf__print_attribute(const refs_json *value, refs_buf *text, refs_error *err);

/* -- resolve.c --------------------------------------------------------------------------------- */

/** The variable that an attribute of the array names: a path, or a name that is searched for in the
 * array's group and those above it, then in the groups beside and below, nearest first. */
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

/** Whether UDUNITS has a unit of this symbol that REFS has not. */
bool refs_cf__is_other_unit(refs_str text);

/** The beginning of `text`: the name of a prefix, or else the longest symbol; or NULL. */
const refs_cf__prefix *refs_cf__find_prefix(refs_str text, bool *is_name);

/** x of a unit are x * number / divisor * 10^exponent + offset in base units. */
typedef struct refs_cf__unit {
    double number, divisor;
    int exponent;
    double offset;
    int powers[REFS_CF__BASE_UNITS];
    bool has_lost_offset; /**< degrees Celsius that were multiplied: differences of them */
} refs_cf__unit;

/** Reads units as UDUNITS writes them. False where they are none, and where UDUNITS understands
 * them as another thing than people mean: "0.1 degC", which is a difference to it. */
bool refs_cf__read_unit(refs_str text, refs_cf__unit *unit);

/** Converts `value` of a unit to base units, but for the offset. */
double refs_cf__unit_times(const refs_cf__unit *unit, double value);

/* -- describe.c -------------------------------------------------------------------------------- */

/** Decides which dimensions of the array, seen by itself, are the raster. */
void refs_cf__choose_own_view(const refs_cf__input *input, refs_cf_description *description);

/* -- multiscales.c: one raster in several sizes ------------------------------------------------ */

/** The largest array of which `array` shows the raster in fewer pixels; itself where it is none's
 * overview. */
const refs_array_meta *refs_cf__full_resolution(const refs_hierarchy *hierarchy,
                                                const refs_array_meta *array);

/** The entry of the attribute `multiscales` of a group for `array` or a group with it; NULL where
 * it lists neither. */
const refs_json *refs_cf__level_of(const refs_group_meta *group, const refs_array_meta *array);

/** The entry of the attribute `multiscales` of a group by this path itself, or NULL. */
const refs_json *refs_cf__level_called(const refs_group_meta *group, refs_str path);

/* -- overview.c -------------------------------------------------------------------------------- */

/** Shows the rows of a level in the order in which those of `full`, described by `whole`, are shown
 * that they were made of; unless both say that they lie in the same place. */
void refs_cf__order_overview(const refs_array_meta *level, refs_cf_description *own,
                             const refs_array_meta *full, const refs_cf_description *whole);

/* -- axes.c: what runs along a dimension ------------------------------------------------------- */

/** Whether attributes of the variable say that it holds longitudes, latitudes. */
bool refs_cf__says_longitude(const refs_array_meta *variable);
bool refs_cf__says_latitude(const refs_array_meta *variable);

/** Whether attributes of the variable say that it holds …, and its units do not belie it. */
bool refs_cf__is_longitude(const refs_array_meta *variable);

/** Whether the two variables hold geographic longitudes and latitudes, and not merely an axis. */
bool refs_cf__is_longlat(const refs_array_meta *x, const refs_array_meta *y);

/** The meaning of a coordinate variable along a band axis. */
refs_cf_axis_kind refs_cf__axis_kind(const refs_array_meta *variable);

/** The name of dimension `dim` of `array` without its group. */
const char *refs_cf__dim_name(const refs_array_meta *array, size_t dim);

/** Whether all dimensions of the array have names that were not made up by a writer or a reader. */
bool refs_cf__has_named_dims(const refs_array_meta *array);

/** The variable called as dimension `dim`, whatever its rank; NULL when there is none, and for
 * dimensions whose names were made up. */
const refs_array_meta *refs_cf__dim_variable(const refs_hierarchy *hierarchy,
                                             const refs_array_meta *array, size_t dim);

/** The coordinate variable of dimension `dim`: the variable called like it, else the only
 * one-dimensional variable along it in the array's group. */
const refs_array_meta *refs_cf__coordinate(const refs_hierarchy *hierarchy,
                                           const refs_array_meta *array, size_t dim);

/** Makes the raster of the dimensions that are X and Y, wherever they stand;
 * leaves it where there is no such pair, or several. */
void refs_cf__choose_cf_view(const refs_cf__input *input, refs_cf_description *description);

/** The variables that may place the raster on Earth. */
typedef struct refs_cf__axes {
    const refs_array_meta *x; /**< NULL when the dimension has none that names itself an axis */
    const refs_array_meta *y;
    bool transposed; /**< rows run along longitude: (lon, lat) in a file that follows CF */
} refs_cf__axes;

refs_cf__axes refs_cf__find_axes(const refs_cf__input *input,
                                 const refs_cf_description *description);

/** The variable called like a dimension of the raster, if it places it and its metadata cannot be
 * read; else NULL. */
const refs_array_meta *refs_cf__broken_axis(const refs_cf__input *input, size_t dim);

/** Reads all values of a coordinate variable; *values is NULL where there are none to be had:
 * strings, too many, a failure that is only a warning, or a reader that was not given. For the
 * caller to refs_free. */
refs_status refs_cf__read_values(const refs_cf__input *input, const refs_array_meta *variable,
                                 double **values, refs_error *err);

/** Decides on the failure to read a coordinate variable: it stays a failure with
 * require_coordinates; else it becomes a warning, and the array is described without the variable.
 * Labels of bands that this build cannot decode are always a warning. */
refs_status refs_cf__forgive(const refs_cf__input *input, const refs_array_meta *variable,
                             refs_status status, refs_error *err);

/* -- regular.c: one-dimensional coordinates ---------------------------------------------------- */

/** Whether `n` values go on in equal steps, none of them zero: steps differ by no more than
 * `relative` times the largest, or by `absolute` where that is no more than a tenth of a step.
 * Between the first, the middle and the last step, rounding is tolerated, by which values lie a
 * fiftieth of a step beside their places. */
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

/** Whether the grid mapping variable gives its CRS as WKT, or says that there is none by an empty
 * one: then its GeoTransform counts. */
bool refs_cf__has_crs_text(const refs_json *mapping);

/** How a raster is placed: its axes, its grid mapping variable or NULL, and its CRS. */
typedef struct refs_cf__frame {
    refs_cf__axes axes;
    const refs_array_meta *mapping;
    refs_cf__crs crs;
    bool lost; /**< an axis exists and was not read: nothing places the raster */
} refs_cf__frame;

/** The attribute `_CRS` that GDAL's Zarr driver writes, with "wkt", "url" or "projjson"; else NULL.
 * Variables called like the dimensions of such arrays are their axes, whatever they say, and rows
 * without any stay as they are stored. */
const refs_json *refs_cf__gdal_crs(const refs_array_meta *array);

/** Finds the CRS of a frame from `_CRS`, its grid mapping, or the array's attribute `crs`; the
 * units of the axes become those of a projected CRS. */
refs_status refs_cf__find_crs(const refs_cf__input *input, refs_cf__frame *frame, refs_error *err);

/** Fills in the kind and the units of the CRS that `text` describes; kind stays NONE when PROJ does
 * not understand it. */
void refs_cf__crs_inspect(const char *text, refs_cf__crs *crs);

/** Appends as WKT 2 the geographic CRS that the CRS in `text` is made from, or is; nothing where it
 * is made from no such. */
refs_status refs_cf__print_base(const char *text, refs_buf *wkt, refs_error *err);

/** Turns a longitude and a latitude, in degrees, into easting and northing of the projected CRS
 * that `text` describes; false where PROJ cannot. */
bool refs_cf__project(const char *text, double *x, double *y);

/** Appends as WKT 2 the CRS that an authority's code, a URN, a PROJ string, PROJJSON or a whole
 * name stands for; nothing where PROJ knows none, or a vertical one. */
refs_status refs_cf__expand_crs_name(refs_str name, refs_buf *wkt, refs_error *err);

/** A grid mapping, and what its axes say of their unit. */
typedef struct refs_cf__mapping {
    refs_str name; /**< grid_mapping_name */
    const refs_json *attributes;
    double unit_metres;   /**< of both axes and of parameters; 1 where axes do not tell */
    double crs_metres;    /**< in a unit of the CRS: of unit_metres, or 1 */
    bool unit_told;       /**< in words that the netCDF driver knows */
    bool needs_ellipsoid; /**< of a rotated pole: without one it describes no CRS */
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
    bool given; /**< false: nothing is said, WGS 84 is meant */
} refs_cf__ellipsoid;

refs_cf__ellipsoid refs_cf__read_ellipsoid(const refs_json *mapping);

/** Metres in a unit of length, or zero for any other unit. */
double refs_cf__unit_metres(refs_str unit);

/** Appends what a tick of NumPy's times is, as CF has units: "seconds since 1970-01-01", "10
 * milliseconds"; nothing for any other type. */
refs_status refs_cf__print_tick_unit(const refs_dtype *dtype, refs_buf *text, refs_error *err);

/** Radians in a unit of angle that geostationary grids use, or zero for any other unit. */
double refs_cf__unit_radians(refs_str unit);

/* -- affine.c, geolocation.c: where pixels are ------------------------------------------------- */

/** Whether GDAL seems to have written the file, by its own mark or by WKT and GeoTransform in the
 * array's grid mapping (or NULL). */
bool refs_cf__made_by_gdal(const refs_cf__input *input, const refs_array_meta *mapping);

/** Decides the order of rows and the geotransform. */
refs_status refs_cf__describe_affine(const refs_cf__input *input, refs_cf__frame *frame,
                                     refs_cf_description *description, refs_error *err);

/** Whether the axes are those of a grid with a pole of its own. */
bool refs_cf__is_rotated(const refs_cf__axes *axes);

/** Fills in geolocation arrays from the `coordinates` attribute. */
refs_status refs_cf__describe_geolocation(const refs_cf__input *input, const refs_cf__frame *frame,
                                          refs_cf_description *description, refs_error *err);

/* -- turn.c: grids of longitudes that begin elsewhere ------------------------------------------ */

/** Moves longitudes to (-180, 180] where all are in (180, 540], and undoes one jump by 360. */
void refs_cf__unwrap_longitudes(double *values, size_t n);

/** Columns of a grid of longitudes, in degrees. */
typedef struct refs_cf__columns {
    double corner; /**< of the first one, half a step from its centre */
    double step;   /**< negative where they run to the west */
    uint64_t n;
} refs_cf__columns;

/** How columns are shown. */
typedef struct refs_cf__turn {
    uint64_t first_column; /**< of the array; those before it come behind the last one */
    double corner;         /**< of that one */
} refs_cf__turn;

/** Moves columns by whole circles so that all centres lie from `low` to `low` + 360; those that lie
 * there already stay. Columns that lie across that seam can be moved apart where they are a whole
 * circle; else false. */
bool refs_cf__find_turn(const refs_cf__columns *columns, double low, refs_cf__turn *turn);

/** Turns a grid as the option `longitudes` says, or notes why it stays. */
void refs_cf__turn_longitudes(const refs_cf__input *input, const refs_cf__axes *axes,
                              refs_cf_description *description);

/* -- geotiff.c: sets made of TIFF files -------------------------------------------------------- */

/** Whether the array is an image of a TIFF file: its rows are north first, its axes have letters.
 */
bool refs_cf__is_tiff(const refs_cf__input *input);

/** Takes the dimensions called X… and Y… for the raster if there are both. */
void refs_cf__choose_tiff_view(const refs_array_meta *array, refs_cf_description *description);

/** Sets what is said of the samples of a TIFF file one by one. */
refs_status refs_cf__describe_samples(const refs_json *attributes, refs_cf_description *description,
                                      refs_error *err);
void refs_cf__samples_clear(refs_cf_description *description);

/** Fills in geotransform and CRS from tags and GeoKeys, as far as they are there. */
refs_status refs_cf__place_tiff(const refs_cf__input *input, refs_cf_description *description,
                                refs_error *err);

/* -- geozarr.c: the Zarr conventions "proj:" and "spatial:" -------------------------------------
 */

/** Takes the dimensions that the array, or a group above it, names for the raster. */
void refs_cf__choose_geozarr_view(const refs_cf__input *input, refs_cf_description *description);

/** Whether "proj:" attributes give the array's CRS or its place: its axes then count though they
 * have no attributes, as in EOPF products. */
bool refs_cf__follows_proj(const refs_cf__input *input);

/** Puts CRS and geotransform of the conventions in the place of others; "proj:transform" counts
 * where nothing else gives a geotransform. */
refs_status refs_cf__place_geozarr(const refs_cf__input *input, refs_cf_description *description,
                                   refs_error *err);

/* -- geokeys.c --------------------------------------------------------------------------------- */

/** Appends a TIFF file that has the GeoKeys among the attributes; nothing where there are none. */
refs_status refs_cf__write_geokeys(const refs_json *attributes, refs_buf *file, refs_error *err);

/* -- grib.c: sets made of GRIB messages -------------------------------------------------------- */

/** Whether a set was made of netCDF-3: its numbers are big-endian, all of them. */
bool refs_cf__is_netcdf3(const refs_hierarchy *hierarchy);

/** Fills in the CRS, and where coordinates have not given them the geotransform and the order of
 * rows, from keys of a GRIB message among the attributes. */
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

/** `number`, which stands in JSON as `element`, as a missing value of elements of `dtype`. */
refs_cf_missing refs_cf__missing_of(const refs_dtype *dtype, const refs_json *element,
                                    double number);

/** The type that elements of `dtype` are read as: the unsigned one where signs are ignored. */
refs_dtype refs_cf__type_as_read(const refs_cf_description *description, const refs_dtype *dtype);

/** Works like refs_cf__missing_of for elements that are read as `as`: a negative number is the
 * unsigned one that has the same bits. */
refs_cf_missing refs_cf__missing_as(const refs_dtype *dtype, const refs_dtype *as,
                                    const refs_json *element, double number);

/** The number that an element of `dtype` becomes that is set to `number`. */
double refs_cf__as_element(const refs_dtype *dtype, double number);

void refs_cf__set_nodata(refs_cf_description *description, refs_cf_missing missing);

/** Fills in missing values beside nodata, where nodata and signs are known. */
void refs_cf__describe_missing(const refs_cf__input *input, refs_cf_description *description);

/* -- flags.c ----------------------------------------------------------------------------------- */

/** Fills in the names of values, where these are known to be unsigned or not. */
refs_status refs_cf__describe_flags(const refs_cf__input *input, refs_cf_description *description,
                                    refs_error *err);

/* -- bands.c ----------------------------------------------------------------------------------- */

refs_status refs_cf__describe_bands(const refs_cf__input *input, refs_cf_description *description,
                                    refs_error *err);
void refs_cf__bands_clear(refs_cf_description *description);

/** Reads the bounds of a coordinate in pairs, NULL where there are none: of sets of GRIB messages
 * only. */
refs_status refs_cf__read_bounds(const refs_cf__input *input, const refs_array_meta *coordinate,
                                 double **bounds, refs_error *err);

/** Appends value `index` of a band axis as the netCDF driver prints it; its number from 1 when
 * there is no coordinate variable. */
refs_status refs_cf__print_band_value(const refs_cf_band_axis *axis, uint64_t index, refs_buf *text,
                                      refs_error *err);

/** Appends element `index` of a band axis for people: its time, its value, or where there are none
 * its index from 0 along the dimension. */
refs_status refs_cf__print_element(const refs_cf_band_axis *axis, uint64_t index, refs_buf *text,
                                   refs_error *err);

/* -- select.c ---------------------------------------------------------------------------------- */

/** Shrinks the band axes to what the selection keeps of them (see cf.h). REFS_INVALID where it
 * makes no sense, REFS_NOT_FOUND where nothing is there. */
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

/** Days count from an origin of the calendar's own. */
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
    double origin_seconds; /**< since the beginning of that day, time zone undone */
    bool numpy;            /**< the least integer is not a time */
    bool is_date;          /**< values are dates such as 20000102.5: origin and unit do not count */
    double scale;          /**< of packed times: multiplied first, … */
    double offset;         /**< … and then added, in units of time */
} refs_cf__clock;

/** The seconds in a unit of time that is as long in all calendars, "h" or "hours"; false for any
 * other, and in a unit of datetime64 and timedelta64. */
bool refs_cf__unit_seconds(refs_str name, double *seconds);
bool refs_cf__numpy_unit_seconds(const refs_dtype *dtype, double *seconds);

/** The clock of units and calendar as they are written; false where they are none of time. */
bool refs_cf__read_clock_of(const char *units, const char *calendar, refs_cf__clock *ticks);

/** The same as instants need it; false for units shorter than a nanosecond, and for dates. Packing
 * is ignored. */
struct refs_cf_clock;
bool refs_cf__clock_from(const refs_cf__clock *ticks, struct refs_cf_clock *clock);

/** The clock of a band axis; false where it is none of time, or one that is not understood. */
bool refs_cf__read_clock(const refs_cf_band_axis *axis, refs_cf__clock *ticks);

/** The meaning of a value; false where it is not a time. */
bool refs_cf__instant(const refs_cf__clock *ticks, double value, int64_t *milliseconds);

/** Appends an instant as ISO 8601. */
refs_status refs_cf__print_instant(refs_cf__calendar calendar, int64_t instant, refs_buf *text,
                                   refs_error *err);

/** From the first to the last millisecond. */
typedef struct refs_cf__period {
    int64_t first;
    int64_t last;
} refs_cf__period;

/** Reads a period of ISO 8601: a year, or date or time to any precision, all of which is meant;
 * "Z" may follow. False for anything else, and for dates that the calendar does not have. */
bool refs_cf__parse_period(refs_str text, refs_cf__calendar calendar, refs_cf__period *period);

/* -- gcps.c ------------------------------------------------------------------------------------ */

/** Finds the ground control points of a raster that nothing else places. */
refs_status refs_cf__describe_gcps(const refs_cf__input *input, refs_cf_description *description,
                                   refs_error *err);

/* -- duration.c -------------------------------------------------------------------------------- */

/** Reads a span of time, "6h", "1d12h" or "PT6H" (ISO 8601), but for those of years and months. */
bool refs_cf__parse_duration(refs_str text, double *seconds);

/** The seconds in a unit of a coordinate that counts spans of time: lead times of forecasts, whose
 * "units" are "hours" or whose type is timedelta64. */
bool refs_cf__duration_unit(const refs_array_meta *coordinate, double *seconds);

/* -- multiscales.c ----------------------------------------------------------------------------- */

/** Whether some array shows the raster of `array` in more pixels. Such arrays are its overviews,
 * and not offered themselves. */
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

/** Frees the times of forecasts. */
void refs_cf__clocks_clear(refs_cf_description *description);

/** Fills in what the metadata of all bands have in common. */
refs_status refs_cf__describe_band_items(const refs_cf__input *input,
                                         refs_cf_description *description, refs_error *err);

#endif
