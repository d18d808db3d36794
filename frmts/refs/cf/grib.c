/* grib.c -- grids of GRIB messages, by the keys of ecCodes that kerchunk and cfgrib make
 * attributes.
 *
 * WMO Manual on Codes, FM 92 GRIB edition 2, templates 3.0, 3.1, 3.10, 3.20, 3.30 and 3.40. If the
 * figure of the Earth is not among those keys, it is the sphere that most writers of GRIB use.
 */
#include "cf_internal.h"

/* Metres: code 6 of table 3.2, and what edition 1 has. */
static const double radius_of_edition_2 = 6371229;
static const double radius_of_edition_1 = 6367470;

/* An attribute of CF's grid mapping, and the key that holds it. */
typedef struct grid_parameter {
    const char *attribute;
    const char *key;
} grid_parameter;

#define MAX_PARAMETERS 4

/* A kind of grid: its grid mapping in CF, and the keys that hold its spacing. */
typedef struct grid_kind {
    const char *type;
    const char *mapping;
    const char *x_step;
    const char *y_step;
    grid_parameter parameters[MAX_PARAMETERS];
} grid_kind;

static const grid_kind kinds[] = {
    {"regular_ll",
     "latitude_longitude",
     "GRIB_iDirectionIncrementInDegrees",
     "GRIB_jDirectionIncrementInDegrees",
     {{NULL, NULL}}},
    {"regular_gg", "latitude_longitude", NULL, NULL, {{NULL, NULL}}},
    {"rotated_ll",
     "rotated_latitude_longitude",
     "GRIB_iDirectionIncrementInDegrees",
     "GRIB_jDirectionIncrementInDegrees",
     {{"grid_south_pole_latitude", "GRIB_latitudeOfSouthernPoleInDegrees"},
      {"grid_south_pole_longitude", "GRIB_longitudeOfSouthernPoleInDegrees"},
      {"axis_rotation", "GRIB_angleOfRotationInDegrees"}}},
    {"lambert",
     "lambert_conformal_conic",
     "GRIB_DxInMetres",
     "GRIB_DyInMetres",
     {{"latitude_of_projection_origin", "GRIB_LaDInDegrees"},
      {"longitude_of_central_meridian", "GRIB_LoVInDegrees"},
      {"standard_parallel_1", "GRIB_Latin1InDegrees"},
      {"standard_parallel_2", "GRIB_Latin2InDegrees"}}},
    {"polar_stereographic",
     "polar_stereographic",
     "GRIB_DxInMetres",
     "GRIB_DyInMetres",
     {{"standard_parallel_1", "GRIB_LaDInDegrees"},
      {"straight_vertical_longitude_from_pole", "GRIB_orientationOfTheGridInDegrees"}}},
    {"mercator",
     "mercator",
     "GRIB_DiInMetres",
     "GRIB_DjInMetres",
     {{"standard_parallel_1", "GRIB_LaDInDegrees"}}},
};

static const grid_kind *find_kind(const refs_json *keys) {
    refs_str type = refs_cf__text(keys, "GRIB_gridType");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (refs_str_is(type, kinds[i].type)) return &kinds[i];
    return NULL;
}

/* -- the array and its keys -------------------------------------------------------------------- */

static bool has_picture_of(const refs_array_meta *other, const refs_array_meta *array) {
    for (size_t i = 1; i <= 2; i++)
        if (other->shape[other->rank - i] != array->shape[array->rank - i] ||
            strcmp(refs_cf__dim_name(other, other->rank - i),
                   refs_cf__dim_name(array, array->rank - i)) != 0)
            return false;
    return true;
}

/* The attributes that hold the keys: the array's own; for latitudes and longitudes, which have
 * none, those of another array of the group, whose grid is the same. */
static const refs_json *find_keys(const refs_cf__input *input) {
    const refs_array_meta *array = input->array;
    if (refs_json_get(array->attributes, "GRIB_gridType") != NULL) return array->attributes;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(input->hierarchy); i++) {
        const refs_array_meta *other = refs_hierarchy_array(input->hierarchy, i);
        if (other->status == REFS_OK && other->rank >= 2 &&
            strcmp(other->group, array->group) == 0 && has_picture_of(other, array) &&
            refs_json_get(other->attributes, "GRIB_gridType") != NULL)
            return other->attributes;
    }
    return NULL;
}

/* Whether the array is decoded from messages: the codec then puts points that a message stores by
 * columns into rows, which other decoders do not. */
static bool is_of_messages(const refs_array_meta *array) {
    for (size_t i = 0; i < array->n_codecs; i++)
        if (strcmp(array->codecs[i].id, "grib") == 0) return true;
    return false;
}

/* Whether the keys describe a grid with the shape of the raster, stored row by row. */
static bool fits(const refs_json *keys, const refs_array_meta *array,
                 const refs_cf_description *description) {
    double nx = (double)array->shape[description->x_dim],
           ny = (double)array->shape[description->y_dim];
    double x = nx, y = ny, columns_first = 0;
    refs_cf__number(keys, "GRIB_Nx", &x);
    refs_cf__number(keys, "GRIB_Ny", &y);
    refs_cf__number(keys, "GRIB_jPointsAreConsecutive", &columns_first);
    return x == nx && y == ny && (columns_first == 0 || is_of_messages(array));
}

/* -- the CRS ----------------------------------------------------------------------------------- */

static double radius_of(const refs_cf__input *input) {
    const refs_group_meta *group =
        refs_hierarchy_find_group(input->hierarchy, refs_str_from(input->array->group));
    double edition = 2;
    if (group != NULL) refs_cf__number(group->attributes, "GRIB_edition", &edition);
    return edition == 1 ? radius_of_edition_1 : radius_of_edition_2;
}

static refs_status print_parameter(const refs_json *keys, const grid_parameter *parameter,
                                   refs_buf *text, refs_error *err) {
    double value = 0;
    if (!refs_cf__number(keys, parameter->key, &value)) return REFS_NOT_FOUND;
    if (value > 180) value -= 360;
    REFS_TRY(refs_buf_printf(text, err, ",\"%s\":", parameter->attribute));
    return refs_cf__print_number(value, 15, text, err);
}

static refs_status print_earth(const refs_cf__input *input, const refs_json *keys, refs_buf *text,
                               refs_error *err) {
    double major = 0, minor = 0;
    if (!refs_cf__number(keys, "GRIB_earthMajorAxisInMetres", &major) ||
        !refs_cf__number(keys, "GRIB_earthMinorAxisInMetres", &minor))
        major = minor = radius_of(input);
    if (major == minor) {
        REFS_TRY(refs_buf_printf(text, err, "\"earth_radius\":"));
        return refs_cf__print_number(major, 15, text, err);
    }
    REFS_TRY(refs_buf_printf(text, err, "\"semi_major_axis\":"));
    REFS_TRY(refs_cf__print_number(major, 15, text, err));
    REFS_TRY(refs_buf_printf(text, err, ",\"semi_minor_axis\":"));
    return refs_cf__print_number(minor, 15, text, err);
}

/* Writes the grid mapping that CF has for the grid; REFS_NOT_FOUND where a key is missing. */
static refs_status print_mapping(const refs_cf__input *input, const grid_kind *kind,
                                 const refs_json *keys, refs_buf *text, refs_error *err) {
    REFS_TRY(
        refs_buf_printf(text, err,
                        "{\"grid_mapping_name\":\"%s\","
                        "\"geographic_crs_name\":\"Coordinate System imported from GRIB file\",",
                        kind->mapping));
    REFS_TRY(print_earth(input, keys, text, err));
    for (size_t i = 0; i < MAX_PARAMETERS && kind->parameters[i].key != NULL; i++)
        REFS_TRY(print_parameter(keys, &kind->parameters[i], text, err));
    return refs_buf_printf(text, err, "}");
}

static refs_status make_crs(const refs_cf__input *input, const grid_kind *kind,
                            const refs_json *keys, refs_buf *wkt, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_SCOPED_JSON *mapping = NULL;
    refs_status status = print_mapping(input, kind, keys, &text, err);
    if (status == REFS_OK) status = refs_json_parse(refs_buf_text(&text), &mapping, err);
    if (status == REFS_OK) {
        refs_cf__mapping described = {
            refs_str_from(kind->mapping), refs_json_root(mapping), 1, 1, true, true};
        status = refs_cf__print_crs(&described, wkt, err);
    }
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

/* -- placement --------------------------------------------------------------------------------- */

/* The first point of the grid, and the increments. */
typedef struct grid_start {
    double x, y;
    double dx, dy;
} grid_start;

static bool read_start(const grid_kind *kind, const refs_json *keys, const char *crs,
                       grid_start *start) {
    double leftwards = 0, upwards = 0;
    if (kind->x_step == NULL || !refs_cf__number(keys, kind->x_step, &start->dx) ||
        !refs_cf__number(keys, kind->y_step, &start->dy) ||
        !refs_cf__number(keys, "GRIB_longitudeOfFirstGridPointInDegrees", &start->x) ||
        !refs_cf__number(keys, "GRIB_latitudeOfFirstGridPointInDegrees", &start->y) ||
        !refs_cf__number(keys, "GRIB_jScansPositively", &upwards))
        return false;
    refs_cf__number(keys, "GRIB_iScansNegatively", &leftwards);
    if (start->x > 180) start->x -= 360;
    if (leftwards != 0) start->dx = -start->dx;
    if (upwards == 0) start->dy = -start->dy;
    refs_cf__crs inspected = {REFS_CF__CRS_NONE, NULL, 1, 0};
    refs_cf__crs_inspect(crs, &inspected);
    return inspected.kind != REFS_CF__CRS_PROJECTED || refs_cf__project(crs, &start->x, &start->y);
}

static void place(const refs_array_meta *array, const grid_start *start,
                  refs_cf_description *description) {
    double rows = (double)array->shape[description->y_dim];
    description->flip_y = start->dy > 0;
    double height = description->flip_y ? start->dy : -start->dy;
    double top = description->flip_y ? start->y + (rows - 1) * start->dy : start->y;
    const double transform[6] = {start->x - start->dx / 2, start->dx, 0,
                                 top + height / 2,         0,         -height};
    memcpy(description->geotransform, transform, sizeof transform);
    description->has_geotransform = true;
}

static refs_status place_by(const refs_cf__input *input, const grid_kind *kind,
                            const refs_json *keys, refs_cf_description *description,
                            refs_error *err) {
    REFS_SCOPED_BUF wkt = REFS_BUF_INIT;
    grid_start start;
    refs_status status = make_crs(input, kind, keys, &wkt, err);
    const char *crs = (const char *)wkt.data;
    bool is_known = status == REFS_OK && wkt.size > 0;
    if (is_known && !description->has_geotransform && read_start(kind, keys, crs, &start))
        place(input->array, &start, description);
    if (is_known && description->has_geotransform) {
        refs_free(description->crs);
        description->crs = refs_buf_take_text(&wkt);
        description->crs_assumed = false;
        if (description->crs == NULL) status = refs_fail_nomem(err);
    }
    return status;
}

refs_status refs_cf__place_grib(const refs_cf__input *input, refs_cf_description *description,
                                refs_error *err) {
    bool is_placed = description->crs != NULL && !description->crs_assumed;
    if (is_placed || description->y_dim == REFS_CF_NO_DIM || input->array->rank < 2) return REFS_OK;
    const refs_json *keys = find_keys(input);
    const grid_kind *kind = keys != NULL ? find_kind(keys) : NULL;
    if (kind == NULL || !fits(keys, input->array, description)) return REFS_OK;
    return place_by(input, kind, keys, description, err);
}
