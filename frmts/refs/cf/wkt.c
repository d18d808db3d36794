/* wkt.c -- writes a CRS that CF attributes describe as WKT 2 (OGC 18-010r7).
 *
 * Objects without a name in CF get the names of GDAL's netCDF driver, so that both return the same
 * CRS for the same file.
 */
#include "cf_internal.h"

#define DEGREE "ANGLEUNIT[\"degree\",0.0174532925199433]"

/* Appends `text` in quotes; a quote in it is doubled. */
static refs_status print_name(refs_str text, const char *otherwise, refs_buf *wkt,
                              refs_error *err) {
    if (text.size == 0) text = refs_str_from(otherwise);
    REFS_TRY(refs_buf_append(wkt, "\"", 1, err));
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"') REFS_TRY(refs_buf_append(wkt, "\"", 1, err));
        REFS_TRY(refs_buf_append(wkt, &text.data[i], 1, err));
    }
    return refs_buf_append(wkt, "\"", 1, err);
}

static refs_status print_ellipsoid(const refs_json *mapping, refs_cf__ellipsoid ellipsoid,
                                   refs_buf *wkt, refs_error *err) {
    const char *unnamed = ellipsoid.inverse_flattening > 0 ? "Spheroid" : "Sphere";
    REFS_TRY(refs_buf_printf(wkt, err, "ELLIPSOID["));
    REFS_TRY(print_name(refs_cf__text(mapping, "reference_ellipsoid_name"),
                        ellipsoid.given ? unnamed : "WGS 84", wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, ","));
    REFS_TRY(refs_cf__print_number(ellipsoid.radius_metres, 15, wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, ","));
    REFS_TRY(refs_cf__print_number(ellipsoid.inverse_flattening, 15, wkt, err));
    return refs_buf_printf(wkt, err, ",LENGTHUNIT[\"metre\",1]]");
}

static refs_status print_prime_meridian(const refs_json *mapping, refs_buf *wkt, refs_error *err) {
    double longitude = 0;
    refs_cf__parameter(mapping, "longitude_of_prime_meridian", &longitude);
    REFS_TRY(refs_buf_printf(wkt, err, ",PRIMEM["));
    REFS_TRY(print_name(refs_cf__text(mapping, "prime_meridian_name"),
                        longitude == 0 ? "Greenwich" : "unknown", wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, ","));
    REFS_TRY(refs_cf__print_number(longitude, 15, wkt, err));
    return refs_buf_printf(wkt, err, "," DEGREE "]");
}

/* The geographic CRS without its coordinate system, its closing bracket left open. */
static refs_status print_geographic(const char *keyword, const refs_json *mapping, refs_buf *wkt,
                                    refs_error *err) {
    refs_cf__ellipsoid ellipsoid = refs_cf__read_ellipsoid(mapping);
    REFS_TRY(refs_buf_printf(wkt, err, "%s[", keyword));
    REFS_TRY(print_name(refs_cf__text(mapping, "geographic_crs_name"),
                        ellipsoid.given ? "unknown" : "WGS 84", wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, ",DATUM["));
    REFS_TRY(print_name(refs_cf__text(mapping, "horizontal_datum_name"),
                        ellipsoid.given ? "unnamed" : "World Geodetic System 1984", wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, ","));
    REFS_TRY(print_ellipsoid(mapping, ellipsoid, wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, "]"));
    return print_prime_meridian(mapping, wkt, err);
}

static refs_status print_ellipsoidal_system(refs_buf *wkt, refs_error *err) {
    return refs_buf_printf(wkt, err,
                           ",CS[ellipsoidal,2],AXIS[\"latitude\",north,ORDER[1]," DEGREE
                           "],AXIS[\"longitude\",east,ORDER[2]," DEGREE "]]");
}

static refs_status print_cartesian_system(const char *const directions[2], double unit_metres,
                                          refs_buf *wkt, refs_error *err) {
    static const char *const names[] = {"easting", "northing"};
    REFS_TRY(refs_buf_printf(wkt, err, ",CS[Cartesian,2]"));
    for (int i = 0; i < 2; i++) {
        REFS_TRY(refs_buf_printf(wkt, err, ",AXIS[\"%s\",%s,ORDER[%d],", names[i], directions[i],
                                 i + 1));
        REFS_TRY(refs_cf__print_length_unit(unit_metres, wkt, err));
        REFS_TRY(refs_buf_printf(wkt, err, "]"));
    }
    return REFS_OK;
}

/* A rotated pole is a geographic CRS derived from another by the position of a pole: CF gives the
 * north pole, GRIB the south pole. */
typedef struct rotation {
    const char *method;
    struct {
        const char *attribute;
        const char *name;
    } parameters[3];
} rotation;

static const rotation by_north_pole = {
    "Pole rotation (netCDF CF convention)",
    {{"grid_north_pole_latitude", "Grid north pole latitude (netCDF CF convention)"},
     {"grid_north_pole_longitude", "Grid north pole longitude (netCDF CF convention)"},
     {"north_pole_grid_longitude", "North pole grid longitude (netCDF CF convention)"}}};

static const rotation by_south_pole = {
    "Pole rotation (GRIB convention)",
    {{"grid_south_pole_latitude", "Latitude of the southern pole (GRIB convention)"},
     {"grid_south_pole_longitude", "Longitude of the southern pole (GRIB convention)"},
     {"axis_rotation", "Axis rotation (GRIB convention)"}}};

/* Appends nothing if a parameter is not a number, because a default would misplace the grid. */
static refs_status print_rotated(const refs_json *mapping, refs_buf *wkt, refs_error *err) {
    bool has_south_pole = refs_json_get(mapping, by_south_pole.parameters[0].attribute) != NULL;
    const rotation *how = has_south_pole ? &by_south_pole : &by_north_pole;
    double angles[3] = {0, 0, 0};
    for (size_t i = 0; i < 3; i++)
        if (!refs_cf__parameter(mapping, how->parameters[i].attribute, &angles[i]) &&
            refs_json_get(mapping, how->parameters[i].attribute) != NULL)
            return REFS_OK;
    REFS_TRY(refs_buf_printf(wkt, err, "GEOGCRS[\"Rotated_pole\","));
    REFS_TRY(print_geographic("BASEGEOGCRS", mapping, wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, "],DERIVINGCONVERSION[\"%s\",METHOD[\"%s\"]", how->method,
                             how->method));
    for (size_t i = 0; i < sizeof how->parameters / sizeof how->parameters[0]; i++) {
        REFS_TRY(refs_buf_printf(wkt, err, ",PARAMETER[\"%s\",", how->parameters[i].name));
        REFS_TRY(refs_cf__print_number(angles[i], 15, wkt, err));
        REFS_TRY(refs_buf_printf(wkt, err, "," DEGREE "]"));
    }
    REFS_TRY(refs_buf_printf(wkt, err, "]"));
    return print_ellipsoidal_system(wkt, err);
}

static refs_status print_projected(const refs_cf__mapping *mapping, refs_buf *wkt,
                                   refs_error *err) {
    const char *const *directions = NULL;
    size_t begin = wkt->size;
    REFS_TRY(refs_buf_printf(wkt, err, "PROJCRS["));
    REFS_TRY(
        print_name(refs_cf__text(mapping->attributes, "projected_crs_name"), "unnamed", wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, ","));
    REFS_TRY(print_geographic("BASEGEOGCRS", mapping->attributes, wkt, err));
    REFS_TRY(refs_buf_printf(wkt, err, "],"));
    REFS_TRY(refs_cf__print_conversion(mapping, &directions, wkt, err));
    if (directions == NULL) {
        wkt->size = begin;
        return REFS_OK;
    }
    REFS_TRY(print_cartesian_system(directions, mapping->crs_metres, wkt, err));
    REFS_TRY(refs_cf__print_remark(mapping, wkt, err));
    return refs_buf_printf(wkt, err, "]");
}

refs_status refs_cf__print_longlat(const refs_json *mapping, refs_buf *wkt, refs_error *err) {
    REFS_TRY(print_geographic("GEOGCRS", mapping, wkt, err));
    return print_ellipsoidal_system(wkt, err);
}

refs_status refs_cf__print_crs(const refs_cf__mapping *mapping, refs_buf *wkt, refs_error *err) {
    const refs_json *attributes = mapping->attributes;
    /* Files without grid_mapping_name but with these attributes can only mean a rotated pole. */
    bool rotated =
        refs_cf__same_word(mapping->name, "rotated_latitude_longitude") ||
        (mapping->name.size == 0 && refs_json_get(attributes, "grid_north_pole_longitude") != NULL);
    if (rotated && mapping->needs_ellipsoid && !refs_cf__read_ellipsoid(attributes).given)
        return REFS_OK;
    if (rotated) return print_rotated(attributes, wkt, err);
    if (!refs_cf__same_word(mapping->name, "latitude_longitude"))
        return print_projected(mapping, wkt, err);
    return refs_cf__print_longlat(attributes, wkt, err);
}
