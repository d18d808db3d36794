/* subdataset.c -- which arrays are worth offering, and how they are described. */
#include "cf_internal.h"

/* Whether `other` names `array` in one of its attributes as what bounds its cells (CF 7.1, 7.4). */
static bool is_bounded_by(const refs_hierarchy *hierarchy, const refs_array_meta *other,
                          const refs_array_meta *array) {
    static const char *const attributes[] = {"bounds", "climatology"};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        refs_str name = refs_cf__text(other->attributes, attributes[i]);
        if (refs_str_ends(name, array->name) &&
            refs_hierarchy_resolve(hierarchy, other->group, name) == array)
            return true;
    }
    return false;
}

bool refs_cf_is_bounds(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++)
        if (is_bounded_by(hierarchy, refs_hierarchy_array(hierarchy, i), array)) return true;
    return false;
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
    REFS_TRY(refs_buf_append(text, "[", 1, err));
    for (size_t dim = 0; dim < array->rank; dim++)
        REFS_TRY(refs_buf_printf(text, err, "%s%llu", dim > 0 ? "x" : "",
                                 (unsigned long long)array->shape[dim]));
    REFS_TRY(refs_buf_append(text, "] ", 2, err));
    refs_str name = refs_cf__text(array->attributes, "standard_name");
    if (name.data == NULL)
        name = refs_str_from(array->group[0] == '\0' ? array->name : array->path);
    REFS_TRY(refs_buf_append_str(text, name, err));
    if (array->status != REFS_OK) return REFS_OK;
    if (array->dtype.type == REFS_TYPE_OBJECT) return refs_buf_printf(text, err, " (text)");
    return refs_buf_printf(text, err, " (%zu-bit %s)", array->dtype.size * 8,
                           noun_of(&array->dtype));
}
