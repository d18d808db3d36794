/* subdataset.c -- chooses which arrays are subdatasets, and describes them. */
#include "cf_internal.h"

/* Whether a word of `text`, which is an attribute in `group`, names `array`. */
static bool has_name(const refs_hierarchy *hierarchy, refs_str text, const char *group,
                     const refs_array_meta *array) {
    refs_str word;
    while (refs_str_next_word(&text, REFS_BLANKS, &word))
        if (refs_str_ends(word, array->name) &&
            refs_hierarchy_resolve(hierarchy, group, word) == array)
            return true;
    return false;
}

static bool names(const refs_hierarchy *hierarchy, const refs_array_meta *other,
                  const char *attribute, const refs_array_meta *array) {
    return has_name(hierarchy, refs_cf__text(other->attributes, attribute), other->group, array);
}

/* Whether an attribute of any array names `array`. */
static bool is_named(const refs_hierarchy *hierarchy, const char *attribute,
                     const refs_array_meta *array) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++)
        if (names(hierarchy, refs_hierarchy_array(hierarchy, i), attribute, array)) return true;
    return false;
}

/* CF 7.1 and 7.4. */
bool refs_cf_is_bounds(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return is_named(hierarchy, "bounds", array) || is_named(hierarchy, "climatology", array);
}

bool refs_cf_is_coordinate(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return is_named(hierarchy, "coordinates", array);
}

/* The coordinates of a group, as cfgrib and xarray write them. */
static bool is_coordinate_of_group(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    const refs_group_meta *group =
        refs_hierarchy_find_group(hierarchy, refs_str_from(array->group));
    return group != NULL && has_name(hierarchy, refs_cf__text(group->attributes, "coordinates"),
                                     array->group, array);
}

/* Whether the array is the mask of another one: sets of TIFF files have the attribute tiff_mask. */
static bool is_mask(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return is_named(hierarchy, "tiff_mask", array);
}

const refs_array_meta *refs_cf_find_mask(const refs_hierarchy *hierarchy,
                                         const refs_array_meta *array) {
    refs_str name = refs_cf__text(array->attributes, "tiff_mask");
    const refs_array_meta *mask =
        name.size > 0 ? refs_hierarchy_resolve(hierarchy, array->group, name) : NULL;
    return mask != NULL && mask->status == REFS_OK && mask->rank == 2 ? mask : NULL;
}

static bool has_dimension(const refs_array_meta *array, const char *name) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (strcmp(array->dims[dim], name) == 0) return true;
    return false;
}

static bool says_place(const refs_array_meta *array) {
    return array->status == REFS_OK && array->rank == 2 &&
           (refs_cf__says_longitude(array) || refs_cf__says_latitude(array));
}

/* Whether an array holds longitudes or latitudes of a grid, and another array in its group has the
 * dimensions of that grid: then it serves that array, even if no attribute names it. */
static bool is_place_of_others(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    if (!says_place(array)) return false;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *other = refs_hierarchy_array(hierarchy, i);
        if (other->status == REFS_OK && other->rank >= 2 && !says_place(other) &&
            strcmp(other->group, array->group) == 0 && has_dimension(other, array->dims[0]) &&
            has_dimension(other, array->dims[1]))
            return true;
    }
    return false;
}

/* Whether an array serves others although none names it. */
static bool serves_unnamed(const refs_array_meta *array) {
    const bool is_axis = array->rank == 1 && strcmp(array->name, array->dims[0]) == 0;
    return is_axis || refs_cf__text(array->attributes, "grid_mapping_name").size > 0;
}

/* CF 5.6 allows "crs: x y" too, where the colon is the name's. */
bool refs_cf_serves_others(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return serves_unnamed(array) || refs_cf_is_coordinate(hierarchy, array) ||
           refs_cf_is_bounds(hierarchy, array) || is_named(hierarchy, "grid_mapping", array);
}

/* Marks the arrays that an attribute of array number `i` names. */
static void mark_named(const refs_hierarchy *hierarchy, size_t i, const char *attribute,
                       refs_cf_role *roles) {
    const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
    const bool is_list = strcmp(attribute, "coordinates") == 0,
               is_mapping = strcmp(attribute, "grid_mapping") == 0;
    refs_str text = refs_cf__text(array->attributes, attribute), word;
    while (refs_str_next_word(&text, REFS_BLANKS, &word)) {
        const refs_array_meta *named = refs_hierarchy_resolve(hierarchy, array->group, word);
        if (named == NULL || !refs_str_ends(word, named->name)) continue;
        refs_cf_role *role = &roles[named - refs_hierarchy_array(hierarchy, 0)];
        role->serves_others = true;
        role->is_coordinate = role->is_coordinate || is_list;
        if (!is_list && !is_mapping && role->bounded == REFS_CF_NOT_BOUNDS)
            role->bounded = (uint32_t)i;
    }
}

refs_status refs_cf_find_roles(const refs_hierarchy *hierarchy, refs_cf_role **roles,
                               refs_error *err) {
    static const char *const attributes[] = {"bounds", "climatology", "coordinates",
                                             "grid_mapping"};
    const size_t n = refs_hierarchy_n_arrays(hierarchy);
    REFS_NEW(*roles, n + 1, err);
    for (size_t i = 0; i < n; i++)
        (*roles)[i] =
            (refs_cf_role){.bounded = REFS_CF_NOT_BOUNDS,
                           .serves_others = serves_unnamed(refs_hierarchy_array(hierarchy, i))};
    for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
        for (size_t i = 0; i < n; i++) mark_named(hierarchy, i, attributes[k], *roles);
    return REFS_OK;
}

/* -- offered names ----------------------------------------------------------------------------- */

/* NetCDF's character variables are bytes for GDAL. */
bool refs_cf_holds_pixels(const refs_array_meta *array) {
    const refs_dtype *dtype = &array->dtype;
    return array->status == REFS_OK &&
           (refs_dtype_is_numeric(dtype) || (dtype->type == REFS_TYPE_BYTES && dtype->size == 1));
}

bool refs_cf_is_offered(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_cf_holds_pixels(array) && array->rank >= 2 && !array->is_instruction &&
           !refs_cf_is_bounds(hierarchy, array) && !refs_cf__is_overview(hierarchy, array) &&
           !is_mask(hierarchy, array);
}

bool refs_cf_is_data(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_cf_is_offered(hierarchy, array) && !refs_cf_is_coordinate(hierarchy, array) &&
           !is_coordinate_of_group(hierarchy, array);
}

typedef bool (*meant)(const refs_hierarchy *hierarchy, const refs_array_meta *array);

static bool holds_pixels(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    (void)hierarchy;
    return refs_cf_holds_pixels(array);
}

static bool serves_itself(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_cf_holds_pixels(array) && !refs_cf_serves_others(hierarchy, array);
}

static bool is_no_place(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_cf_is_offered(hierarchy, array) && !refs_cf_is_coordinate(hierarchy, array) &&
           !is_place_of_others(hierarchy, array);
}

/* Counts the arrays for which is_meant holds, up to two; *found is the last of them. */
static size_t count(const refs_hierarchy *hierarchy, meant is_meant,
                    const refs_array_meta **found) {
    size_t n = 0;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy) && n < 2; i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (!is_meant(hierarchy, array)) continue;
        *found = array;
        n++;
    }
    return n;
}

const refs_array_meta *refs_cf_find_only(const refs_hierarchy *hierarchy) {
    const refs_array_meta *found = NULL;
    if (count(hierarchy, refs_cf_is_offered, &found) > 0)
        return count(hierarchy, is_no_place, &found) == 1 ? found : NULL;
    if (count(hierarchy, serves_itself, &found) == 1) return found;
    return count(hierarchy, holds_pixels, &found) == 1 ? found : NULL;
}

/* -- descriptions ------------------------------------------------------------------------------ */

static const char *noun_of(const refs_dtype *dtype) {
    switch (dtype->type) {
    case REFS_TYPE_UINT:
    case REFS_TYPE_BOOL:
        return "unsigned integer";
    case REFS_TYPE_FLOAT:
        return "floating-point";
    case REFS_TYPE_COMPLEX:
        return "complex floating-point";
    case REFS_TYPE_BYTES:
        return dtype->size == 1 ? "character" : "text";
    case REFS_TYPE_UNICODE:
        return "text";
    default:
        return "integer";
    }
}

/* The text of an attribute; empty for "unknown", which cfgrib writes. */
static refs_str known_text(const refs_json *attributes, const char *name) {
    refs_str text = refs_cf__text(attributes, name);
    return refs_str_is(text, "unknown") ? (refs_str){NULL, 0} : text;
}

/* Appends the kind of level, and its value unless 0, from the scalar array of that name. */
static refs_status print_level(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                               const refs_cf_values *values, refs_buf *text, refs_error *err) {
    refs_str level = known_text(array->attributes, "GRIB_typeOfLevel");
    if (level.size == 0) return REFS_OK;
    REFS_TRY(refs_buf_printf(text, err, ", %.*s", REFS_STR_ARG(level)));
    const refs_array_meta *scalar = refs_hierarchy_resolve(hierarchy, array->group, level);
    double value = 0;
    if (values == NULL || scalar == NULL || scalar->status != REFS_OK || scalar->rank != 0 ||
        values->read(values->user, scalar, &value, NULL) != REFS_OK || value == 0)
        return REFS_OK;
    REFS_TRY(refs_buf_append(text, " ", 1, err));
    return refs_cf__print_number(value, 15, text, err);
}

/* Whether arrays with the same standard name may differ in their long names. */
static bool is_one_of_several(const refs_json *attributes) {
    static const char *const keys[] = {"GRIB_percentileValue", "GRIB_quantileValue",
                                       "GRIB_clusterIdentifier", "GRIB_constituentType",
                                       "GRIB_aerosolType"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (refs_json_get(attributes, keys[i]) != NULL) return true;
    return false;
}

/* The statistic, if the standard name does not imply it: a mean or an extreme has that of the
 * values. */
static refs_str find_statistic(const refs_json *attributes) {
    const refs_str type = known_text(attributes, "GRIB_stepType");
    if (is_one_of_several(attributes) || known_text(attributes, "standard_name").size == 0 ||
        refs_str_is(type, "instant") || refs_str_is(type, "accum"))
        return refs_str_view("", 0);
    return type;
}

/* Falls back to other names: cfgrib has no standard name for many parameters. */
static refs_status print_grib_name(const refs_array_meta *array, refs_buf *text, refs_error *err) {
    static const char *const names[] = {"standard_name", "long_name", "GRIB_name"};
    const refs_json *keys = array->attributes;
    refs_str name = {NULL, 0};
    if (is_one_of_several(keys)) name = known_text(keys, "long_name");
    for (size_t i = 0; i < sizeof names / sizeof names[0] && name.size == 0; i++)
        name = known_text(keys, names[i]);
    double number = 0;
    bool has_number = name.size == 0 && refs_cf__number(keys, "GRIB_paramId", &number);
    if (name.size == 0) name = known_text(keys, "GRIB_shortName");
    if (name.size == 0) name = refs_str_from(array->name);
    const refs_str statistic = find_statistic(keys);
    REFS_TRY(refs_buf_append_str(text, name, err));
    if (statistic.size > 0) REFS_TRY(refs_buf_printf(text, err, ", %.*s", REFS_STR_ARG(statistic)));
    return has_number && number > 0 ? refs_buf_printf(text, err, ", parameter %.0f", number)
                                    : REFS_OK;
}

static refs_status print_name(const refs_array_meta *array, refs_buf *text, refs_error *err) {
    if (refs_json_get(array->attributes, "GRIB_typeOfLevel") != NULL)
        return print_grib_name(array, text, err);
    refs_str name = refs_cf__text(array->attributes, "standard_name");
    if (name.data == NULL)
        name = refs_str_from(array->group[0] == '\0' ? array->name : array->path);
    return refs_buf_append_str(text, name, err);
}

refs_status refs_cf_subdataset_description(const refs_hierarchy *hierarchy,
                                           const refs_array_meta *array,
                                           const refs_cf_values *values, refs_buf *text,
                                           refs_error *err) {
    if (array->status != REFS_OK)
        return refs_buf_printf(text, err, "%s cannot be opened: %s", array->path, array->problem);
    REFS_TRY(refs_buf_append(text, "[", 1, err));
    for (size_t dim = 0; dim < array->rank; dim++)
        REFS_TRY(refs_buf_printf(text, err, "%s%llu", dim > 0 ? "x" : "",
                                 (unsigned long long)array->shape[dim]));
    REFS_TRY(refs_buf_append(text, "] ", 2, err));
    REFS_TRY(print_name(array, text, err));
    REFS_TRY(print_level(hierarchy, array, values, text, err));
    if (array->dtype.type == REFS_TYPE_OBJECT) return refs_buf_printf(text, err, " (text)");
    return refs_buf_printf(text, err, " (%zu-bit %s)", array->dtype.size * 8,
                           noun_of(&array->dtype));
}
