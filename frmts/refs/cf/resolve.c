/* resolve.c -- the variable that an attribute names (CF 2.7). */
#include "cf_internal.h"

static size_t depth_of(const char *group) {
    size_t depth = 0;
    for (; *group != '\0'; group++) depth += *group == '/';
    return depth;
}

static bool is_below(const char *group, refs_str apex) {
    return strlen(group) >= apex.size && memcmp(group, apex.data, apex.size) == 0 &&
           (group[apex.size] == '\0' || group[apex.size] == '/');
}

/* The variable called `name` in the groups below `apex`, the nearest to it. */
static const refs_array_meta *find_below(const refs_hierarchy *hierarchy, refs_str apex,
                                         refs_str name) {
    const refs_array_meta *nearest = NULL;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (refs_str_is(name, array->name) && is_below(array->group, apex) &&
            (nearest == NULL || depth_of(array->group) < depth_of(nearest->group)))
            nearest = array;
    }
    return nearest;
}

const refs_array_meta *refs_cf__resolve(const refs_cf__input *input, refs_str name) {
    const char *group = input->array->group;
    const refs_array_meta *found = refs_hierarchy_resolve(input->hierarchy, group, name);
    if (found != NULL || name.size == 0 || refs_str_find(name, '/') != SIZE_MAX) return found;
    refs_str apex = refs_str_from(group);
    for (;;) {
        found = find_below(input->hierarchy, apex, name);
        if (found != NULL || refs_str_find(apex, '/') == SIZE_MAX) return found;
        apex = refs_path_parent(apex);
    }
}
