/* subdataset.c -- which arrays are worth offering, and how they are described. */
#include "cf_internal.h"

/* Whether a word in attribute `attribute` of `other` names `array`. */
static bool names(const refs_hierarchy *hierarchy, const refs_array_meta *other,
                  const char *attribute, const refs_array_meta *array) {
    refs_str text = refs_cf__text(other->attributes, attribute), word;
    while (refs_cf__next_word(&text, " \t\r\n", &word))
        if (refs_str_ends(word, array->name) &&
            refs_hierarchy_resolve(hierarchy, other->group, word) == array)
            return true;
    return false;
}

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

/* Which sets of TIFF files say. */
bool refs_cf_is_mask(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return is_named(hierarchy, "tiff_mask", array);
}

/* CF 5.6 allows "crs: x y" too, where the colon is the name's. */
static bool is_grid_mapping(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_cf__text(array->attributes, "grid_mapping_name").size > 0 ||
           is_named(hierarchy, "grid_mapping", array);
}

bool refs_cf_serves_others(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    bool is_axis = array->rank == 1 && strcmp(array->name, array->dims[0]) == 0;
    return is_axis || refs_cf_is_coordinate(hierarchy, array) ||
           refs_cf_is_bounds(hierarchy, array) || is_grid_mapping(hierarchy, array);
}

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

refs_status refs_cf_subdataset_description(const refs_hierarchy *hierarchy,
                                           const refs_array_meta *array, refs_buf *text,
                                           refs_error *err) {
    (void)hierarchy;
    if (array->status != REFS_OK)
        return refs_buf_printf(text, err, "%s cannot be opened: %s", array->path, array->problem);
    REFS_TRY(refs_buf_append(text, "[", 1, err));
    for (size_t dim = 0; dim < array->rank; dim++)
        REFS_TRY(refs_buf_printf(text, err, "%s%llu", dim > 0 ? "x" : "",
                                 (unsigned long long)array->shape[dim]));
    REFS_TRY(refs_buf_append(text, "] ", 2, err));
    refs_str name = refs_cf__text(array->attributes, "standard_name");
    if (name.data == NULL)
        name = refs_str_from(array->group[0] == '\0' ? array->name : array->path);
    REFS_TRY(refs_buf_append_str(text, name, err));
    if (array->dtype.type == REFS_TYPE_OBJECT) return refs_buf_printf(text, err, " (text)");
    return refs_buf_printf(text, err, " (%zu-bit %s)", array->dtype.size * 8,
                           noun_of(&array->dtype));
}
