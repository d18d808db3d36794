/* axes.c -- finds the coordinate variable and the kind of each dimension. */
#include "cf_internal.h"

/* An attribute that identifies an axis, and its value in any case (CF 4, and further values that
 * the netCDF driver accepts); units of longitude and latitude stand for all their spellings. */
typedef struct sign {
    const char *attribute;
    const char *value;
} sign;

static const sign longitude_signs[] = {{"units", "degrees_east"},
                                       {"standard_name", "longitude"},
                                       {"axis", "X"},
                                       {"long_name", "longitude"}};
static const sign latitude_signs[] = {{"units", "degrees_north"},
                                      {"standard_name", "latitude"},
                                      {"axis", "Y"},
                                      {"long_name", "latitude"}};
static const sign projection_x_signs[] = {{"standard_name", "projection_x_coordinate"},
                                          {"axis", "X"}};
static const sign projection_y_signs[] = {{"standard_name", "projection_y_coordinate"},
                                          {"axis", "Y"}};
static const sign vertical_signs[] = {{"axis", "Z"}, {"positive", "up"}, {"positive", "down"}};
/* CF 4.3: units of pressure and of length, dimensionless coordinates (appendix D). */
static const sign vertical_hints[] = {
    {"units", "bar"},
    {"units", "millibar"},
    {"units", "decibar"},
    {"units", "atm"},
    {"units", "Pa"},
    {"units", "hPa"},
    {"units", "pascal"},
    {"units", "m"},
    {"units", "meter"},
    {"units", "meters"},
    {"units", "km"},
    {"units", "level"},
    {"units", "layer"},
    {"units", "sigma_level"},
    {"standard_name", "atmosphere_ln_pressure_coordinate"},
    {"standard_name", "atmosphere_sigma_coordinate"},
    {"standard_name", "atmosphere_hybrid_sigma_pressure_coordinate"},
    {"standard_name", "atmosphere_hybrid_height_coordinate"},
    {"standard_name", "atmosphere_sleve_coordinate"},
    {"standard_name", "ocean_sigma_coordinate"},
    {"standard_name", "ocean_s_coordinate"},
    {"standard_name", "ocean_sigma_z_coordinate"},
    {"standard_name", "ocean_double_sigma_coordinate"},
};
static const sign time_signs[] = {{"axis", "T"}, {"standard_name", "time"}};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static bool fits(refs_str text, const sign *wanted) {
    if (refs_cf__same_word(text, wanted->value)) return true;
    if (strcmp(wanted->attribute, "units") != 0) return false;
    const refs_cf_unit_kind kind = refs_cf_unit_kind_of(text);
    return kind != REFS_CF_UNIT_OTHER && kind == refs_cf_unit_kind_of(refs_str_from(wanted->value));
}

static bool shows(const refs_array_meta *variable, const sign *signs, size_t n) {
    for (size_t i = 0; variable != NULL && i < n; i++)
        if (fits(refs_cf__text(variable->attributes, signs[i].attribute), &signs[i])) return true;
    return false;
}

bool refs_cf__says_longitude(const refs_array_meta *variable) {
    return shows(variable, longitude_signs, COUNT(longitude_signs));
}

bool refs_cf__says_latitude(const refs_array_meta *variable) {
    return shows(variable, latitude_signs, COUNT(latitude_signs));
}

/* Indices of cells have units "1"; coordinates of a projection in metres are not longitudes. */
static bool has_units(const refs_array_meta *variable, const char *units) {
    return refs_cf__same_word(refs_cf__text(variable->attributes, "units"), units);
}

bool refs_cf__is_longitude(const refs_array_meta *variable) {
    return refs_cf__says_longitude(variable) && !has_units(variable, "m") &&
           !has_units(variable, "1");
}

static bool is_latitude(const refs_array_meta *variable) {
    return refs_cf__says_latitude(variable) && !has_units(variable, "m") &&
           !has_units(variable, "1");
}

static bool is_projection_x(const refs_array_meta *variable) {
    return shows(variable, projection_x_signs, COUNT(projection_x_signs)) &&
           !has_units(variable, "1");
}

static bool is_projection_y(const refs_array_meta *variable) {
    return shows(variable, projection_y_signs, COUNT(projection_y_signs)) &&
           !has_units(variable, "1");
}

/* Coordinates of a rotated pole also have axis X, and units of plain degrees. */
static bool shows_but_axis(const refs_array_meta *variable, const sign *signs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(signs[i].attribute, "axis") != 0 && shows(variable, &signs[i], 1)) return true;
    return false;
}

static bool is_called(const refs_array_meta *variable, const char *short_name,
                      const char *long_name) {
    refs_str name = refs_str_from(variable->name);
    return refs_cf__same_word(name, short_name) || refs_cf__same_word(name, long_name);
}

bool refs_cf__is_longlat(const refs_array_meta *x, const refs_array_meta *y) {
    if (x == NULL || y == NULL) return false;
    return (shows_but_axis(x, longitude_signs, COUNT(longitude_signs)) ||
            is_called(x, "lon", "longitude")) &&
           (shows_but_axis(y, latitude_signs, COUNT(latitude_signs)) ||
            is_called(y, "lat", "latitude"));
}

static bool is_time(const refs_array_meta *variable) {
    return refs_cf_counts_since(refs_cf__text(variable->attributes, "units")) ||
           variable->dtype.type == REFS_TYPE_DATETIME ||
           shows(variable, time_signs, COUNT(time_signs));
}

refs_cf_axis_kind refs_cf__axis_kind(const refs_array_meta *variable) {
    if (variable == NULL) return REFS_CF_AXIS_OTHER;
    if (is_time(variable)) return REFS_CF_AXIS_TIME;
    if (shows(variable, vertical_signs, COUNT(vertical_signs)) ||
        shows(variable, vertical_hints, COUNT(vertical_hints)))
        return REFS_CF_AXIS_Z;
    return REFS_CF_AXIS_OTHER;
}

static bool has_any(const refs_array_meta *variable, const sign *signs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (refs_json_get(variable->attributes, signs[i].attribute) != NULL) return true;
    return false;
}

refs_cf_axis_kind refs_cf_axis_kind_of(const refs_array_meta *variable) {
    if (variable == NULL) return REFS_CF_AXIS_OTHER;
    bool is_index = has_units(variable, "1");
    bool by_attributes = has_any(variable, longitude_signs, COUNT(longitude_signs));
    bool by_projection =
        !is_index && !has_any(variable, projection_x_signs, COUNT(projection_x_signs));
    bool by_name = !by_attributes && !is_index && !has_units(variable, "m");
    if (refs_cf__is_longitude(variable) || (by_name && is_called(variable, "lon", "longitude")))
        return REFS_CF_AXIS_X;
    if (is_latitude(variable) || (by_name && is_called(variable, "lat", "latitude")))
        return REFS_CF_AXIS_Y;
    if (is_projection_x(variable) || (by_projection && is_called(variable, "x", "xc")))
        return REFS_CF_AXIS_X;
    if (is_projection_y(variable) || (by_projection && is_called(variable, "y", "yc")))
        return REFS_CF_AXIS_Y;
    /* Vertical attributes take precedence over those of time: their units are never units of
     * time. */
    refs_cf_axis_kind kind = refs_cf__axis_kind(variable);
    bool vertical = shows(variable, vertical_signs, COUNT(vertical_signs));
    return kind == REFS_CF_AXIS_TIME && vertical ? REFS_CF_AXIS_Z : kind;
}

const char *refs_cf_axis_direction_of(const refs_array_meta *variable) {
    static const struct {
        refs_cf_axis_kind kind;
        sign sign;
        const char *direction;
    } rows[] = {
        {REFS_CF_AXIS_X, {"units", "degrees_east"}, "EAST"},
        {REFS_CF_AXIS_Y, {"units", "degrees_north"}, "NORTH"},
        {REFS_CF_AXIS_Z, {"positive", "up"}, "UP"},
        {REFS_CF_AXIS_Z, {"positive", "down"}, "DOWN"},
    };
    refs_cf_axis_kind kind = refs_cf_axis_kind_of(variable);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].kind == kind && shows(variable, &rows[i].sign, 1)) return rows[i].direction;
    return "";
}

/* -- from dimensions to variables -------------------------------------------------------------- */

const char *refs_cf__dim_name(const refs_array_meta *array, size_t dim) {
    return refs_path_leaf(array->dims[dim]);
}

/* Whether equal names mean a shared dimension: in HDF5 files without dimension scales, dimensions
 * only have numbers, whose equality means nothing. */
static bool is_named(const refs_array_meta *array, size_t dim) {
    return array->named_dims && !refs_str_starts(refs_str_from(array->dims[dim]), "phony_dim_");
}

bool refs_cf__has_named_dims(const refs_array_meta *array) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (!is_named(array, dim)) return false;
    return array->rank > 0;
}

static const refs_array_meta *resolve(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                                      refs_str name) {
    const refs_array_meta *found = refs_hierarchy_resolve(hierarchy, array->group, name);
    return found != NULL && found->status == REFS_OK ? found : NULL;
}

const refs_array_meta *refs_cf__dim_variable(const refs_hierarchy *hierarchy,
                                             const refs_array_meta *array, size_t dim) {
    if (!is_named(array, dim)) return NULL;
    const refs_array_meta *found = resolve(hierarchy, array, refs_str_from(array->dims[dim]));
    if (found != NULL) return found;
    return resolve(hierarchy, array, refs_str_from(refs_cf__dim_name(array, dim)));
}

static bool runs_along(const refs_array_meta *variable, const refs_array_meta *array, size_t dim) {
    return variable->status == REFS_OK && variable->rank == 1 &&
           variable->shape[0] == array->shape[dim] &&
           strcmp(refs_cf__dim_name(variable, 0), refs_cf__dim_name(array, dim)) == 0;
}

const refs_array_meta *refs_cf__coordinate(const refs_hierarchy *hierarchy,
                                           const refs_array_meta *array, size_t dim) {
    if (!is_named(array, dim)) return NULL;
    const refs_array_meta *named = refs_cf__dim_variable(hierarchy, array, dim);
    if (named != NULL && runs_along(named, array, dim)) return named;

    const refs_array_meta *only = NULL;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *other = refs_hierarchy_array(hierarchy, i);
        if (strcmp(other->group, array->group) != 0 || !runs_along(other, array, dim)) continue;
        if (only != NULL) return NULL;
        only = other;
    }
    return only;
}

/* -- the axes of the raster -------------------------------------------------------------------- */

/* Whether a dimension is longitude or x (latitude or y), whatever its units: by its variable's
 * attributes, or by its name when it has no variable. */
static bool is_x(const refs_array_meta *variable, refs_str name) {
    if (variable == NULL)
        return refs_cf__same_word(name, "lon") || refs_cf__same_word(name, "longitude") ||
               refs_cf__same_word(name, "x") || refs_cf__same_word(name, "xc");
    return refs_cf__says_longitude(variable) ||
           shows(variable, projection_x_signs, COUNT(projection_x_signs));
}

static bool is_y(const refs_array_meta *variable, refs_str name) {
    if (variable == NULL)
        return refs_cf__same_word(name, "lat") || refs_cf__same_word(name, "latitude") ||
               refs_cf__same_word(name, "y") || refs_cf__same_word(name, "yc");
    return refs_cf__says_latitude(variable) ||
           shows(variable, projection_y_signs, COUNT(projection_y_signs));
}

static bool follows_cf(const refs_hierarchy *hierarchy) {
    const refs_group_meta *root = refs_hierarchy_group(hierarchy, 0);
    return root != NULL && refs_cf__begins(refs_cf__text(root->attributes, "Conventions"), "CF");
}

/* Whether the dimension's variable is a horizontal coordinate: by its attributes, of either axis,
 * because arrays may be transposed; without such attributes, by the names longitude and
 * latitude. */
static bool places(const refs_array_meta *variable, const char *short_name, const char *long_name) {
    return refs_cf__is_longitude(variable) || is_projection_x(variable) || is_latitude(variable) ||
           is_projection_y(variable) || is_called(variable, short_name, long_name);
}

/* CF 5.6: the axes of a rotated grid. */
static bool says_rotated(const refs_array_meta *variable) {
    const refs_str name = refs_cf__text(variable->attributes, "standard_name");
    return refs_cf__same_word(name, "grid_longitude") || refs_cf__same_word(name, "grid_latitude");
}

static bool places_for(const refs_cf__input *input, const refs_array_meta *variable,
                       const char *short_name, const char *long_name) {
    return places(variable, short_name, long_name) ||
           (input->options.placement.rotated_by_name && says_rotated(variable));
}

/* Whether axes count whatever their names: if the array has the attributes `res` and `transform`,
 * and for Zarr that GDAL wrote, EOPF products and grids of GMT. */
static bool has_sure_axes(const refs_cf__input *input) {
    const refs_json *attributes = input->array->attributes;
    const refs_group_meta *group =
        refs_hierarchy_find_group(input->hierarchy, refs_str_from(input->array->group));
    return refs_cf__gdal_crs(input->array) != NULL || refs_cf__follows_proj(input) ||
           (refs_json_get(attributes, "res") != NULL &&
            refs_json_get(attributes, "transform") != NULL) ||
           (group != NULL && refs_json_get(group->attributes, "GMT_version") != NULL);
}

refs_cf__axes refs_cf__find_axes(const refs_cf__input *input,
                                 const refs_cf_description *description) {
    refs_cf__axes axes = {NULL, NULL, false};
    const refs_array_meta *array = input->array;
    if (description->y_dim == REFS_CF_NO_DIM) return axes;
    const refs_array_meta *x = refs_cf__dim_variable(input->hierarchy, array, description->x_dim);
    const refs_array_meta *y = refs_cf__dim_variable(input->hierarchy, array, description->y_dim);
    refs_str x_name = refs_str_from(refs_cf__dim_name(array, description->x_dim));
    refs_str y_name = refs_str_from(refs_cf__dim_name(array, description->y_dim));
    axes.transposed = follows_cf(input->hierarchy) && is_y(x, x_name) && is_x(y, y_name);

    bool unchecked = has_sure_axes(input);
    if (x != NULL && runs_along(x, array, description->x_dim) &&
        (unchecked || places_for(input, x, "lon", "longitude")))
        axes.x = x;
    if (y != NULL && runs_along(y, array, description->y_dim) &&
        (unchecked || places_for(input, y, "lat", "latitude")))
        axes.y = y;
    return axes;
}

/* The only dimension with a variable of that kind; REFS_CF_NO_DIM if there is none, or several. */
static size_t find_only_axis(const refs_cf__input *input, refs_cf_axis_kind kind) {
    size_t found = REFS_CF_NO_DIM;
    for (size_t dim = 0; dim < input->array->rank; dim++) {
        const refs_array_meta *variable =
            refs_cf__dim_variable(input->hierarchy, input->array, dim);
        if (variable == NULL || !runs_along(variable, input->array, dim) ||
            refs_cf_axis_kind_of(variable) != kind)
            continue;
        if (found != REFS_CF_NO_DIM) return REFS_CF_NO_DIM;
        found = dim;
    }
    return found;
}

void refs_cf__choose_cf_view(const refs_cf__input *input, refs_cf_description *description) {
    const size_t x = find_only_axis(input, REFS_CF_AXIS_X);
    const size_t y = find_only_axis(input, REFS_CF_AXIS_Y);
    if (x == REFS_CF_NO_DIM || y == REFS_CF_NO_DIM) return;
    description->y_dim = y < x ? y : x;
    description->x_dim = y < x ? x : y;
}

/* Whether the variable affects the georeferencing of the raster. */
static bool is_raster_axis(const refs_array_meta *variable) {
    refs_cf_axis_kind kind = refs_cf_axis_kind_of(variable);
    return kind == REFS_CF_AXIS_X || kind == REFS_CF_AXIS_Y;
}

const refs_array_meta *refs_cf__broken_axis(const refs_cf__input *input, size_t dim) {
    const refs_array_meta *array = input->array;
    if (input->options.values == NULL || !is_named(array, dim)) return NULL;
    const refs_array_meta *found =
        refs_hierarchy_resolve(input->hierarchy, array->group, refs_str_from(array->dims[dim]));
    return found != NULL && found != array && found->status != REFS_OK && is_raster_axis(found)
               ? found
               : NULL;
}

refs_status refs_cf__forgive(const refs_cf__input *input, const refs_array_meta *variable,
                             refs_status status, refs_error *err) {
    if (status == REFS_OK || status == REFS_NOMEM || status == REFS_CANCELLED) return status;
    /* REFS_NOT_FOUND: fragment files are missing, and the user chose to read fill values instead.
     */
    bool matters =
        (status != REFS_UNSUPPORTED && status != REFS_NOT_FOUND) || is_raster_axis(variable);
    if (matters && input->unread != NULL && *input->unread == NULL) *input->unread = variable;
    if (matters && input->options.require_coordinates) {
        REFS_SCOPED char *why = refs_str_copy(refs_str_from(err != NULL ? err->message : ""));
        if (err == NULL || why == NULL) return status;
        refs_error_clear(err);
        return refs_fail(err, status,
                         "%s: cannot read this coordinate variable: %s (without georeferencing, "
                         "COORDINATES=OPTIONAL opens the array)",
                         variable->path, why);
    }
    refs_note(&input->options.notes, REFS_NOTE_WARNING,
              "%s: coordinate variable ignored, and with it georeferencing or band values: %s",
              variable->path, err != NULL ? err->message : "cannot be read by this build");
    refs_error_clear(err);
    return REFS_OK;
}

/* An aggregated coordinate has no usable values in fragments whose files are missing. */
static refs_status check_missing(const refs_cf__input *input, const refs_array_meta *variable,
                                 const double *values, uint64_t n, refs_error *err) {
    refs_cf_options options = input->options;
    refs_cf_description description;
    if (variable->aggregation == NULL || variable->edges != NULL || !variable->has_fill)
        return REFS_OK;
    options.honour_valid_range = false;
    REFS_TRY(refs_cf_describe_elements(input->hierarchy, variable, &options, &description, err));
    uint64_t i = 0;
    while (i < n && !refs_cf_is_missing(&description, values[i])) i++;
    refs_cf_description_clear(&description);
    if (i == n) return REFS_OK;
    return refs_fail(err, REFS_NOT_FOUND,
                     "%s: value %llu is missing: the file of its fragment does not exist",
                     variable->path, (unsigned long long)i);
}

refs_status refs_cf__read_values(const refs_cf__input *input, const refs_array_meta *variable,
                                 double **values, refs_error *err) {
    *values = NULL;
    uint64_t n;
    refs_type type = variable->dtype.type;
    bool numeric = refs_dtype_is_numeric(&variable->dtype) || type == REFS_TYPE_DATETIME ||
                   type == REFS_TYPE_TIMEDELTA;
    if (!numeric || input->options.values == NULL || input->options.values->read == NULL)
        return REFS_OK;
    if (!refs_array_meta_elements(variable, &n) || n > REFS_CF_MAX_AXIS) {
        const refs_status limit = refs_fail(
            err, REFS_UNSUPPORTED, "expected at most %d values, found more", REFS_CF_MAX_AXIS);
        return refs_cf__forgive(input, variable, limit, err);
    }
    double *read = refs_calloc((size_t)n, sizeof *read);
    if (read == NULL) return refs_fail_nomem(err);
    refs_status status =
        input->options.values->read(input->options.values->user, variable, read, err);
    if (status == REFS_OK) status = check_missing(input, variable, read, n, err);
    if (status != REFS_OK)
        refs_free(read);
    else
        *values = read;
    return refs_cf__forgive(input, variable, status, err);
}
