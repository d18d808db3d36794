/* geolocation.c -- longitude and latitude arrays for grids that no geotransform describes. */
#include "cf_internal.h"

/* As in GDAL's RFC 4. */
static const char wgs84[] =
    "GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563,"
    "AUTHORITY[\"EPSG\",\"7030\"]],AUTHORITY[\"EPSG\",\"6326\"]],PRIMEM[\"Greenwich\",0,"
    "AUTHORITY[\"EPSG\",\"8901\"]],UNIT[\"degree\",0.0174532925199433,"
    "AUTHORITY[\"EPSG\",\"9122\"]],AXIS[\"Latitude\",NORTH],AXIS[\"Longitude\",EAST],"
    "AUTHORITY[\"EPSG\",\"4326\"]]";

/* The CRS of longitudes and latitudes. */
static refs_status add_srs(const refs_cf__input *input, const refs_cf__crs *crs,
                           refs_cf_items *items, refs_error *err) {
    REFS_SCOPED_BUF base = REFS_BUF_INIT;
    if (input->options.placement.lonlat_on_crs && crs->text != NULL)
        REFS_TRY(refs_cf__print_base(crs->text, &base, err));
    refs_str srs = base.size > 0 ? refs_buf_text(&base) : refs_str_from(wgs84);
    return refs_cf__add_item(items, "SRS", srs, err);
}

static refs_status add_items(const refs_cf__axes *axes, refs_cf_items *items, refs_error *err) {
    static const struct {
        const char *name;
        const char *value;
    } constants[] = {
        {"X_BAND", "1"},
        {"Y_BAND", "1"},
        {"PIXEL_OFFSET", "0"},
        {"PIXEL_STEP", "1"},
        {"LINE_OFFSET", "0"},
        {"LINE_STEP", "1"},
        {"GEOREFERENCING_CONVENTION", "PIXEL_CENTER"},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
        REFS_TRY(
            refs_cf__add_item(items, constants[i].name, refs_str_from(constants[i].value), err));
    if (axes->transposed) REFS_TRY(refs_cf__add_item(items, "SWAP_XY", refs_str_from("YES"), err));
    return REFS_OK;
}

/* The longitude and latitude in a list of coordinates. */
typedef struct longlat {
    const refs_array_meta *longitude;
    const refs_array_meta *latitude;
} longlat;

static longlat find_longlat(const refs_cf__input *input, refs_str text) {
    longlat found = {NULL, NULL};
    refs_str word;
    while (refs_str_next_word(&text, REFS_BLANKS, &word)) {
        const refs_array_meta *variable = refs_cf__resolve(input, word);
        if (variable == NULL || variable->status != REFS_OK) continue;
        if (refs_cf__says_longitude(variable))
            found.longitude = variable;
        else if (refs_cf__says_latitude(variable))
            found.latitude = variable;
    }
    return found;
}

/* Whether `variable` has a value for each pixel: the dimensions of the raster and no others. */
static bool covers_raster(const refs_array_meta *variable, const refs_cf__input *input,
                          const refs_cf_description *description) {
    const refs_array_meta *array = input->array;
    return variable != NULL && variable->rank == 2 &&
           strcmp(variable->dims[0], array->dims[description->y_dim]) == 0 &&
           strcmp(variable->dims[1], array->dims[description->x_dim]) == 0;
}

/* Some writers list the coordinates of all arrays once, as an attribute of the group. */
static longlat find_group_longlat(const refs_cf__input *input,
                                  const refs_cf_description *description) {
    const refs_group_meta *group =
        refs_hierarchy_find_group(input->hierarchy, refs_str_from(input->array->group));
    longlat found = {NULL, NULL};
    if (group != NULL) found = find_longlat(input, refs_cf__text(group->attributes, "coordinates"));
    if (covers_raster(found.longitude, input, description) &&
        covers_raster(found.latitude, input, description))
        return found;
    return (longlat){NULL, NULL};
}

/* Arrays with these names in the array's group are found without the attribute `coordinates`. */
static refs_status find_named(const refs_cf__input *input, const refs_cf_description *description,
                              longlat *found, refs_error *err) {
    const char *const names[] = {"lon", "lat"};
    const refs_array_meta *arrays[] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        refs_buf path = REFS_BUF_INIT;
        refs_status status = refs_buf_printf(&path, err, "%s/%s", input->array->group, names[i]);
        if (status == REFS_OK)
            arrays[i] = refs_hierarchy_find_array(input->hierarchy, refs_buf_text(&path));
        refs_buf_clear(&path);
        REFS_TRY(status);
        if (!covers_raster(arrays[i], input, description) || arrays[i]->status != REFS_OK)
            return REFS_OK;
    }
    if (refs_cf__says_longitude(arrays[0]) && refs_cf__says_latitude(arrays[1]))
        *found = (longlat){arrays[0], arrays[1]};
    return REFS_OK;
}

static bool is_standard(const refs_array_meta *variable, const char *name) {
    return variable != NULL &&
           refs_cf__same_word(refs_cf__text(variable->attributes, "standard_name"), name);
}

bool refs_cf__is_rotated(const refs_cf__axes *axes) {
    return is_standard(axes->transposed ? axes->y : axes->x, "grid_longitude") &&
           is_standard(axes->transposed ? axes->x : axes->y, "grid_latitude");
}

/* Longitudes and latitudes along the raster that no geotransform describes, on Earth or on a
 * rotated grid. */
static longlat find_axes(const refs_cf__axes *axes, const refs_cf_description *description) {
    longlat along = {axes->transposed ? axes->y : axes->x, axes->transposed ? axes->x : axes->y};
    bool geographic = !axes->transposed && refs_cf__is_longlat(axes->x, axes->y);
    return !description->has_geotransform && (geographic || refs_cf__is_rotated(axes))
               ? along
               : (longlat){NULL, NULL};
}

/* An array with a grid mapping along the same dimensions of the same group. */
static const refs_array_meta *find_mapped_neighbour(const refs_cf__input *input,
                                                    const refs_cf__axes *axes) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(input->hierarchy); i++) {
        const refs_array_meta *other = refs_hierarchy_array(input->hierarchy, i);
        if (other->status != REFS_OK || strcmp(other->group, input->array->group) != 0 ||
            refs_cf__text(other->attributes, "grid_mapping").data == NULL)
            continue;
        size_t n_shared = 0;
        for (size_t dim = 0; dim < other->rank; dim++)
            n_shared += refs_cf__dim_variable(input->hierarchy, other, dim) == axes->x ||
                        refs_cf__dim_variable(input->hierarchy, other, dim) == axes->y;
        if (n_shared == 2) return other;
    }
    return NULL;
}

/* Finds the CRS of the rotated grid of `axes`: from the array, else from another array of its
 * group. */
static refs_status find_rotated_crs(const refs_cf__input *input, const refs_cf__frame *frame,
                                    refs_cf__crs *crs, refs_error *err) {
    const refs_array_meta *other = frame->crs.text == NULL && frame->mapping == NULL
                                       ? find_mapped_neighbour(input, &frame->axes)
                                       : NULL;
    refs_cf__input beside = *input;
    beside.array = other != NULL ? other : input->array;
    refs_cf__frame found = {.axes = frame->axes, .mapping = frame->mapping};
    refs_cf__crs_clear(&found.crs);
    if (other != NULL)
        found.mapping = refs_cf__resolve(&beside, refs_cf__text(other->attributes, "grid_mapping"));
    refs_status status = REFS_OK;
    if (found.mapping != NULL) status = refs_cf__find_crs(&beside, &found, err);
    *crs = found.crs;
    return status;
}

static refs_status find(const refs_cf__input *input, const refs_cf__axes *axes,
                        const refs_cf_description *description, longlat *found, refs_error *err) {
    const refs_cf_placement *placement = &input->options.placement;
    refs_str text = refs_cf__text(input->array->attributes, "coordinates");
    *found = text.data != NULL ? find_longlat(input, text) : find_group_longlat(input, description);
    if (found->longitude == NULL && placement->lonlat_by_name &&
        refs_json_get(input->array->attributes, "coordinates") == NULL)
        REFS_TRY(find_named(input, description, found, err));
    if ((found->longitude == NULL || found->latitude == NULL) && placement->lonlat_by_axes)
        *found = find_axes(axes, description);
    return REFS_OK;
}

/* Rotated coordinates need the CRS of their grid; without it, they are not described. */
static refs_status describe_rotated(const refs_cf__input *input, const refs_cf__frame *frame,
                                    refs_cf_description *description, refs_error *err) {
    refs_cf__crs crs;
    refs_status status = find_rotated_crs(input, frame, &crs, err);
    if (status == REFS_OK && crs.kind == REFS_CF__CRS_GEOGRAPHIC) {
        status = refs_cf__add_item(&description->geolocation, "SRS", refs_str_from(crs.text), err);
        if (status == REFS_OK) status = add_items(&frame->axes, &description->geolocation, err);
    } else {
        description->geolocation_x = description->geolocation_y = NULL;
    }
    refs_cf__crs_clear(&crs);
    return status;
}

refs_status refs_cf__describe_geolocation(const refs_cf__input *input, const refs_cf__frame *frame,
                                          refs_cf_description *description, refs_error *err) {
    const refs_cf__axes *axes = &frame->axes;
    longlat found = {NULL, NULL};
    if (description->y_dim == REFS_CF_NO_DIM) return REFS_OK;
    REFS_TRY(find(input, axes, description, &found, err));
    if (found.longitude == NULL || found.latitude == NULL) return REFS_OK;
    description->geolocation_x = axes->transposed ? found.latitude : found.longitude;
    description->geolocation_y = axes->transposed ? found.longitude : found.latitude;
    bool along = found.longitude == axes->x || found.longitude == axes->y;
    if (along && is_standard(found.longitude, "grid_longitude"))
        return describe_rotated(input, frame, description, err);
    REFS_TRY(add_srs(input, &frame->crs, &description->geolocation, err));
    return add_items(axes, &description->geolocation, err);
}
