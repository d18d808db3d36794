/* projection.c -- the grid mappings of CF 1.11, appendix F, as conversions of WKT 2.
 *
 * Each row of the table is a grid mapping and one method of the EPSG dataset
 * (or of PROJ, without a code) with the attributes its parameters come from.
 */
#include "cf_internal.h"

#include <math.h>

/* The unit of a parameter: COORDINATE is the unit of the axes. */
typedef enum quantity_kind { ANGLE, LENGTH, SCALE, COORDINATE } quantity_kind;

typedef struct method_parameter {
    const char *attribute;
    const char *name;
    int code;
    quantity_kind quantity;
    double otherwise; /* value if the attribute is missing */
} method_parameter;

#define MAX_PARAMETERS 8

/* Selects one of several methods of a grid mapping. */
typedef enum method_variant {
    ALWAYS,
    WITH_TWO_PARALLELS,
    WITH_PARALLEL,
    WITH_PARALLEL_ON_ORIGIN,
    WITH_SCALE,
    WITH_PARALLEL_OFF_POLE,
    WITH_TRUE_SCALE_AT_POLE,
    SWEEPING_X
} method_variant;

typedef struct projection_method {
    const char *grid_mapping;
    method_variant variant;
    const char *name;
    int code;
    method_parameter parameters[MAX_PARAMETERS];
} projection_method;

/* Attributes of the standard parallels, which are one attribute in CF. */
#define PARALLEL_1 "standard_parallel[0]"
#define PARALLEL_2 "standard_parallel[1]"

/* The standard parallel, or the one that follows from a scale factor at the equator. */
#define PARALLEL_BY_SCALE "standard_parallel or scale_factor_at_projection_origin"

/* The pole on the side of the parallel, or of the origin. */
#define POLE "standard_parallel or latitude_of_projection_origin"

/* MODIS products call the origin of a sinusoidal grid its central meridian. */
#define ORIGIN_OR_MERIDIAN "longitude_of_projection_origin or longitude_of_central_meridian"

#define EASTING                                                                                    \
    { "false_easting", "False easting", 8806, COORDINATE, 0 }
#define NORTHING                                                                                   \
    { "false_northing", "False northing", 8807, COORDINATE, 0 }
#define EASTING_OF_ORIGIN                                                                          \
    { "false_easting", "Easting at false origin", 8826, COORDINATE, 0 }
#define NORTHING_OF_ORIGIN                                                                         \
    { "false_northing", "Northing at false origin", 8827, COORDINATE, 0 }
#define LATITUDE                                                                                   \
    { "latitude_of_projection_origin", "Latitude of natural origin", 8801, ANGLE, 0 }
#define LONGITUDE                                                                                  \
    { "longitude_of_projection_origin", "Longitude of natural origin", 8802, ANGLE, 0 }
#define MERIDIAN                                                                                   \
    { "longitude_of_central_meridian", "Longitude of natural origin", 8802, ANGLE, 0 }
#define SCALE_OF_ORIGIN                                                                            \
    { "scale_factor_at_projection_origin", "Scale factor at natural origin", 8805, SCALE, 1 }
#define FALSE_LATITUDE                                                                             \
    { "latitude_of_projection_origin", "Latitude of false origin", 8821, ANGLE, 0 }
#define FALSE_LONGITUDE                                                                            \
    { "longitude_of_central_meridian", "Longitude of false origin", 8822, ANGLE, 0 }
#define PARALLEL_OF_SCALE                                                                          \
    { PARALLEL_BY_SCALE, "Latitude of 1st standard parallel", 8823, ANGLE, 0 }
#define FIRST_PARALLEL                                                                             \
    { PARALLEL_1, "Latitude of 1st standard parallel", 8823, ANGLE, 0 }
#define SECOND_PARALLEL                                                                            \
    { PARALLEL_2, "Latitude of 2nd standard parallel", 8824, ANGLE, 0 }
#define SATELLITE_HEIGHT                                                                           \
    { "perspective_point_height", "Satellite Height", 0, LENGTH, 35785831 }

static const projection_method methods[] = {
    {"albers_conical_equal_area",
     ALWAYS,
     "Albers Equal Area",
     9822,
     {FALSE_LATITUDE, FALSE_LONGITUDE, FIRST_PARALLEL, SECOND_PARALLEL, EASTING_OF_ORIGIN,
      NORTHING_OF_ORIGIN}},
    {"azimuthal_equidistant",
     ALWAYS,
     "Modified Azimuthal Equidistant",
     9832,
     {LATITUDE, LONGITUDE, EASTING, NORTHING}},
    {"geostationary",
     SWEEPING_X,
     "Geostationary Satellite (Sweep X)",
     0,
     {LONGITUDE, SATELLITE_HEIGHT, EASTING, NORTHING}},
    {"geostationary",
     ALWAYS,
     "Geostationary Satellite (Sweep Y)",
     0,
     {LONGITUDE, SATELLITE_HEIGHT, EASTING, NORTHING}},
    {"lambert_azimuthal_equal_area",
     ALWAYS,
     "Lambert Azimuthal Equal Area",
     9820,
     {LATITUDE, LONGITUDE, EASTING, NORTHING}},
    {"lambert_conformal_conic",
     WITH_TWO_PARALLELS,
     "Lambert Conic Conformal (2SP)",
     9802,
     {FALSE_LATITUDE, FALSE_LONGITUDE, FIRST_PARALLEL, SECOND_PARALLEL, EASTING_OF_ORIGIN,
      NORTHING_OF_ORIGIN}},
    {"lambert_conformal_conic",
     WITH_SCALE,
     "Lambert Conic Conformal (1SP)",
     9801,
     {LATITUDE, MERIDIAN, SCALE_OF_ORIGIN, EASTING, NORTHING}},
    /* The netCDF driver repeats the parallel behind the parameters of the method. */
    {"lambert_conformal_conic",
     WITH_PARALLEL_ON_ORIGIN,
     "Lambert Conic Conformal (1SP)",
     9801,
     {LATITUDE,
      MERIDIAN,
      SCALE_OF_ORIGIN,
      EASTING,
      NORTHING,
      {"latitude_of_projection_origin", "standard_parallel_1", 0, ANGLE, 0}}},
    {"lambert_conformal_conic",
     ALWAYS,
     "Lambert Conic Conformal (2SP)",
     9802,
     {FALSE_LATITUDE, FALSE_LONGITUDE, FIRST_PARALLEL, SECOND_PARALLEL, EASTING_OF_ORIGIN,
      NORTHING_OF_ORIGIN}},
    {"lambert_cylindrical_equal_area",
     ALWAYS,
     "Lambert Cylindrical Equal Area",
     9835,
     {PARALLEL_OF_SCALE, MERIDIAN, EASTING, NORTHING}},
    {"cylindrical_equal_area",
     ALWAYS,
     "Lambert Cylindrical Equal Area",
     9835,
     {PARALLEL_OF_SCALE, MERIDIAN, EASTING, NORTHING}},
    {"mercator",
     WITH_PARALLEL,
     "Mercator (variant B)",
     9805,
     {FIRST_PARALLEL, LONGITUDE, EASTING, NORTHING}},
    {"mercator",
     ALWAYS,
     "Mercator (variant A)",
     9804,
     {LATITUDE, LONGITUDE, SCALE_OF_ORIGIN, EASTING, NORTHING}},
    {"oblique_mercator",
     ALWAYS,
     "Hotine Oblique Mercator (variant B)",
     9815,
     {{"latitude_of_projection_origin", "Latitude of projection centre", 8811, ANGLE, 0},
      {"longitude_of_projection_origin", "Longitude of projection centre", 8812, ANGLE, 0},
      {"azimuth_of_central_line", "Azimuth of initial line", 8813, ANGLE, 0},
      {"azimuth_of_central_line", "Angle from Rectified to Skew Grid", 8814, ANGLE, 0},
      {"scale_factor_at_projection_origin", "Scale factor on initial line", 8815, SCALE, 1},
      {"false_easting", "Easting at projection centre", 8816, COORDINATE, 0},
      {"false_northing", "Northing at projection centre", 8817, COORDINATE, 0}}},
    {"orthographic", ALWAYS, "Orthographic", 9840, {LATITUDE, LONGITUDE, EASTING, NORTHING}},
    {"polar_stereographic",
     WITH_PARALLEL_OFF_POLE,
     "Polar Stereographic (variant B)",
     9829,
     {{PARALLEL_1, "Latitude of standard parallel", 8832, ANGLE, 0},
      {"straight_vertical_longitude_from_pole", "Longitude of origin", 8833, ANGLE, 0},
      EASTING,
      NORTHING}},
    /* From a true scale at the pole GDAL makes variant B when it sets the unit of the axes, and A
     * when it does not. */
    {"polar_stereographic",
     WITH_TRUE_SCALE_AT_POLE,
     "Polar Stereographic (variant B)",
     9829,
     {{POLE, "Latitude of standard parallel", 8832, ANGLE, 90},
      {"straight_vertical_longitude_from_pole", "Longitude of origin", 8833, ANGLE, 0},
      EASTING,
      NORTHING}},
    {"polar_stereographic",
     ALWAYS,
     "Polar Stereographic (variant A)",
     9810,
     {{POLE, "Latitude of natural origin", 8801, ANGLE, 90},
      {"straight_vertical_longitude_from_pole", "Longitude of natural origin", 8802, ANGLE, 0},
      SCALE_OF_ORIGIN,
      EASTING,
      NORTHING}},
    {"sinusoidal",
     ALWAYS,
     "Sinusoidal",
     0,
     {{ORIGIN_OR_MERIDIAN, "Longitude of natural origin", 8802, ANGLE, 0}, EASTING, NORTHING}},
    {"stereographic",
     ALWAYS,
     "Stereographic",
     0,
     {LATITUDE, LONGITUDE, SCALE_OF_ORIGIN, EASTING, NORTHING}},
    {"transverse_mercator",
     ALWAYS,
     "Transverse Mercator",
     9807,
     {LATITUDE,
      MERIDIAN,
      {"scale_factor_at_central_meridian", "Scale factor at natural origin", 8805, SCALE, 1},
      EASTING,
      NORTHING}},
    {"vertical_perspective",
     ALWAYS,
     "Vertical Perspective",
     9838,
     {{"latitude_of_projection_origin", "Latitude of topocentric origin", 8834, ANGLE, 0},
      {"longitude_of_projection_origin", "Longitude of topocentric origin", 8835, ANGLE, 0},
      {"", "Ellipsoidal height of topocentric origin", 8836, LENGTH, 0},
      {"perspective_point_height", "Viewpoint height", 8840, LENGTH, 0}}},
};

/* -- values ------------------------------------------------------------------------------------ */

/* The standard parallels: of CF's attribute, or of GDAL's two. */
static size_t read_parallels(const refs_json *mapping, double parallels[2]) {
    size_t n = refs_cf__parameters(mapping, "standard_parallel", parallels, 2);
    if (n > 0) return n;
    n = refs_cf__parameter(mapping, "standard_parallel_1", &parallels[0]);
    return n + refs_cf__parameter(mapping, "standard_parallel_2", &parallels[n]);
}

/* With only one standard parallel, both are equal. */
static double read_parallel(const refs_json *mapping, size_t i, double otherwise) {
    double parallels[2];
    size_t n = read_parallels(mapping, parallels);
    if (n == 0) return otherwise;
    return parallels[i < n ? i : n - 1];
}

/* A cylindrical equal-area projection (Snyder, Map Projections, equation 10-4 turned round). */
static double parallel_of_scale(const refs_json *mapping) {
    double scale;
    if (!refs_cf__parameter(mapping, "scale_factor_at_projection_origin", &scale) || scale <= 0 ||
        scale > 1)
        return 0;
    refs_cf__ellipsoid ellipsoid = refs_cf__read_ellipsoid(mapping);
    double flattening = ellipsoid.inverse_flattening > 0 ? 1 / ellipsoid.inverse_flattening : 0;
    double squared_eccentricity = flattening * (2 - flattening);
    double squared_sine = (1 - scale * scale) / (1 - scale * scale * squared_eccentricity);
    return asin(sqrt(squared_sine)) * 57.295779513082323;
}

/* The latitude of the pole: of the parallel if that is a pole, else of the origin. */
static double pole_of(const refs_json *mapping) {
    double latitude = 90;
    if (read_parallel(mapping, 0, 0) != 0) return read_parallel(mapping, 0, 0);
    refs_cf__parameter(mapping, "latitude_of_projection_origin", &latitude);
    return latitude == -90 ? -90 : 90;
}

static double read_value(const refs_json *mapping, const method_parameter *parameter) {
    if (strcmp(parameter->attribute, POLE) == 0) return pole_of(mapping);
    if (strcmp(parameter->attribute, PARALLEL_BY_SCALE) == 0)
        return read_parallel(mapping, 0, parallel_of_scale(mapping));
    if (strcmp(parameter->attribute, PARALLEL_1) == 0)
        return read_parallel(mapping, 0, parameter->otherwise);
    if (strcmp(parameter->attribute, PARALLEL_2) == 0)
        return read_parallel(mapping, 1, parameter->otherwise);
    double value;
    bool either = strcmp(parameter->attribute, ORIGIN_OR_MERIDIAN) == 0;
    if (either && refs_cf__parameter(mapping, "longitude_of_projection_origin", &value))
        return value;
    const char *name = either ? "longitude_of_central_meridian" : parameter->attribute;
    return refs_cf__parameter(mapping, name, &value) ? value : parameter->otherwise;
}

/* GOES sweeps about x, which files state by sweep_angle_axis or fixed_angle_axis (CF F.4). */
static bool sweeps_x(const refs_json *mapping) {
    return refs_cf__same_word(refs_cf__text(mapping, "sweep_angle_axis"), "x") ||
           refs_cf__same_word(refs_cf__text(mapping, "fixed_angle_axis"), "y");
}

static bool applies(method_variant variant, const refs_cf__mapping *described) {
    const refs_json *mapping = described->attributes;
    double parallels[2];
    size_t n = read_parallels(mapping, parallels);
    double scale = 1;
    bool has_scale = refs_cf__parameter(mapping, "scale_factor_at_projection_origin", &scale);
    double origin = 0;
    refs_cf__parameter(mapping, "latitude_of_projection_origin", &origin);
    switch (variant) {
    case WITH_TWO_PARALLELS:
        return n == 2;
    case WITH_PARALLEL:
        return n > 0;
    case WITH_PARALLEL_ON_ORIGIN:
        return n == 0 || parallels[0] == origin;
    case WITH_SCALE:
        return has_scale;
    case WITH_PARALLEL_OFF_POLE:
        return n > 0 && fabs(parallels[0]) != 90;
    case WITH_TRUE_SCALE_AT_POLE:
        return (n > 0 || scale == 1) && described->unit_told;
    case SWEEPING_X:
        return sweeps_x(mapping);
    default:
        return true;
    }
}

static const projection_method *find_method(const refs_cf__mapping *mapping) {
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (refs_cf__same_word(mapping->name, methods[i].grid_mapping) &&
            applies(methods[i].variant, mapping))
            return &methods[i];
    return NULL;
}

/* -- text -------------------------------------------------------------------------------------- */

static refs_status print_id(int code, refs_buf *wkt, refs_error *err) {
    return code != 0 ? refs_buf_printf(wkt, err, ",ID[\"EPSG\",%d]", code) : REFS_OK;
}

static refs_status print_unit(quantity_kind quantity, double unit_metres, refs_buf *wkt,
                              refs_error *err) {
    static const char *const units[] = {"ANGLEUNIT[\"degree\",0.0174532925199433]",
                                        "LENGTHUNIT[\"metre\",1]", "SCALEUNIT[\"unity\",1]"};
    if (quantity != COORDINATE) return refs_buf_printf(wkt, err, ",%s", units[quantity]);
    REFS_TRY(refs_buf_printf(wkt, err, ","));
    return refs_cf__print_length_unit(unit_metres, wkt, err);
}

static refs_status print_parameter(const refs_cf__mapping *mapping,
                                   const method_parameter *parameter, refs_buf *wkt,
                                   refs_error *err) {
    REFS_TRY(refs_buf_printf(wkt, err, ",PARAMETER[\"%s\",", parameter->name));
    REFS_TRY(refs_cf__print_number(read_value(mapping->attributes, parameter), 15, wkt, err));
    REFS_TRY(print_unit(parameter->quantity, mapping->unit_metres, wkt, err));
    REFS_TRY(print_id(parameter->code, wkt, err));
    return refs_buf_printf(wkt, err, "]");
}

/* Whether the centre of the projection is a pole, as in GDAL: for equal-area projections only if
 * the meridian of Greenwich points downwards. */
static bool is_polar(const projection_method *method, const refs_json *mapping) {
    if (strcmp(method->grid_mapping, "polar_stereographic") == 0) return true;
    return strcmp(method->grid_mapping, "lambert_azimuthal_equal_area") == 0 &&
           fabs(read_value(mapping, &method->parameters[0])) == 90 &&
           read_value(mapping, &method->parameters[1]) == 0;
}

/* At a pole both axes point away from it, at the south pole towards north. */
static const char *const *directions_of(const projection_method *method, const refs_json *mapping) {
    static const char *const usual[] = {"east", "north"};
    static const char *const north_pole[] = {"south", "south"};
    static const char *const south_pole[] = {"north", "north"};
    if (!is_polar(method, mapping)) return usual;
    return read_value(mapping, &method->parameters[0]) >= 0 ? north_pole : south_pole;
}

refs_status refs_cf__print_conversion(const refs_cf__mapping *mapping,
                                      const char *const **directions, refs_buf *wkt,
                                      refs_error *err) {
    *directions = NULL;
    const projection_method *method = find_method(mapping);
    if (method == NULL) return REFS_OK;
    REFS_TRY(refs_buf_printf(wkt, err, "CONVERSION[\"unnamed\",METHOD[\"%s\"", method->name));
    REFS_TRY(print_id(method->code, wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, "]"));
    for (size_t i = 0; i < MAX_PARAMETERS && method->parameters[i].name != NULL; i++)
        REFS_TRY(print_parameter(mapping, &method->parameters[i], wkt, err));
    *directions = directions_of(method, mapping->attributes);
    return refs_buf_printf(wkt, err, "]");
}

/* The netCDF driver adds the sweep as a PROJ string, which GDAL includes in comparisons. */
refs_status refs_cf__print_remark(const refs_cf__mapping *mapping, refs_buf *wkt, refs_error *err) {
    const projection_method *method = find_method(mapping);
    if (method == NULL || method->variant != SWEEPING_X) return REFS_OK;
    static const char *const names[] = {" +lon_0=", " +h=", " +x_0=", " +y_0="};
    REFS_TRY(refs_buf_printf(wkt, err, ",REMARK[\"PROJ CRS string: +proj=geos +sweep=x"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        REFS_TRY(refs_buf_printf(wkt, err, "%s", names[i]));
        REFS_TRY(refs_cf__print_number(read_value(mapping->attributes, &method->parameters[i]), 15,
                                       wkt, err));
    }
    refs_cf__ellipsoid ellipsoid = refs_cf__read_ellipsoid(mapping->attributes);
    REFS_TRY(refs_buf_printf(wkt, err, ellipsoid.inverse_flattening > 0 ? " +a=" : " +R="));
    REFS_TRY(refs_cf__print_number(ellipsoid.radius_metres, 15, wkt, err));
    if (ellipsoid.inverse_flattening > 0) {
        REFS_TRY(refs_buf_printf(wkt, err, " +rf="));
        REFS_TRY(refs_cf__print_number(ellipsoid.inverse_flattening, 15, wkt, err));
    }
    if (mapping->crs_metres == 1) return refs_buf_printf(wkt, err, " +units=m +no_defs\"]");
    REFS_TRY(refs_buf_printf(wkt, err, " +to_meter="));
    REFS_TRY(refs_cf__print_number(mapping->crs_metres, 15, wkt, err));
    return refs_buf_printf(wkt, err, " +no_defs\"]");
}
