/* dimensions.c -- see dimensions.h. */
#include "dimensions.h"

#include "refs/intern.h"

/* A dimension name, split into group and name. */
typedef struct written {
    refs_str group; /* its path without the slash before it */
    refs_str name;
    uint64_t size;
} written;

/* The known properties of an array. */
typedef struct dims_of_array {
    size_t first; /* in `all` */
    bool is_usable;
    bool holds_characters;
} dims_of_array;

struct refs_dimensions {
    const refs_hierarchy *hierarchy;
    refs_intern uses;  /* distinct dimensions of arrays, by key and size */
    refs_intern homes; /* keys of shared dimensions: group, NUL, name */
    uint64_t *sizes;   /* of those */
    size_t sizes_capacity;
    refs_dimension *shared;
    refs_dimension *all; /* the dimensions of all arrays, one after the other */
    uint32_t *home_of;   /* for each of these, the number in `homes`, or REFS_INTERN_NONE */
    dims_of_array *arrays;
    refs_buf scratch;
};

void refs_dimensions_free(refs_dimensions *dimensions) {
    if (dimensions == NULL) return;
    refs_intern_clear(&dimensions->uses);
    refs_intern_clear(&dimensions->homes);
    refs_free(dimensions->sizes);
    refs_free(dimensions->shared);
    refs_free(dimensions->all);
    refs_free(dimensions->home_of);
    refs_free(dimensions->arrays);
    refs_buf_clear(&dimensions->scratch);
    refs_free(dimensions);
}

/* -- as arrays write them ---------------------------------------------------------------------- */

/* Writers of sets from HDF5 put the group before the name: "forecast/lat". */
static written written_of(const refs_array_meta *array, size_t dim) {
    const refs_json *names = refs_json_get(array->attributes, "_ARRAY_DIMENSIONS");
    const refs_str name = refs_json_text(refs_json_at(names, dim));
    const bool has_group = array->named_dims && refs_str_find(name, '/') != SIZE_MAX;
    return (written){has_group ? refs_path_parent(refs_str_trim(name, "/"))
                               : refs_str_trim(refs_str_from(array->group), "/"),
                     refs_str_from(array->dims[dim]), array->shape[dim]};
}

/* Makes the text of a group's path, `between`, and a name. */
static refs_status make_text(refs_dimensions *dimensions, refs_str group, char between,
                             refs_str name, refs_error *err) {
    refs_buf *text = &dimensions->scratch;
    text->size = 0;
    if (group.size > 0) REFS_TRY(refs_buf_append(text, "/", 1, err));
    REFS_TRY(refs_buf_append_str(text, group, err));
    REFS_TRY(refs_buf_append(text, &between, 1, err));
    return refs_buf_append_str(text, name, err);
}

static refs_str text_of(const refs_dimensions *dimensions) {
    return refs_buf_text(&dimensions->scratch);
}

static refs_status make_use(refs_dimensions *dimensions, const written *dim, refs_error *err) {
    REFS_TRY(make_text(dimensions, dim->group, '\0', dim->name, err));
    return refs_buf_append(&dimensions->scratch, &dim->size, sizeof dim->size, err);
}

static refs_status add_uses(refs_dimensions *dimensions, const refs_array_meta *array,
                            refs_error *err) {
    uint32_t id;
    for (size_t i = 0; i < array->rank; i++) {
        const written dim = written_of(array, i);
        REFS_TRY(make_use(dimensions, &dim, err));
        REFS_TRY(refs_intern_add(&dimensions->uses, text_of(dimensions), &id, err));
    }
    return REFS_OK;
}

/* -- homes ------------------------------------------------------------------------------------- */

/* The valid variable of a group with this name, or NULL. */
static refs_status find_variable(refs_dimensions *dimensions, refs_str group, refs_str name,
                                 const refs_array_meta **variable, refs_error *err) {
    REFS_TRY(make_text(dimensions, group, '/', name, err));
    *variable = refs_hierarchy_find_array(dimensions->hierarchy, text_of(dimensions));
    if (*variable != NULL && (*variable)->status != REFS_OK) *variable = NULL;
    return REFS_OK;
}

/* The innermost group with a variable of this name, else the outermost one that has the dimension:
 * in netCDF-4, dimensions are visible in all subgroups. */
static refs_status find_home(refs_dimensions *dimensions, const written *dim, refs_str *home,
                             refs_error *err) {
    written outer = *dim;
    *home = dim->group;
    for (;; outer.group = refs_path_parent(outer.group)) {
        REFS_TRY(make_use(dimensions, &outer, err));
        if (refs_intern_find(&dimensions->uses, text_of(dimensions)) != REFS_INTERN_NONE) {
            const refs_array_meta *variable;
            *home = outer.group;
            REFS_TRY(find_variable(dimensions, outer.group, outer.name, &variable, err));
            if (variable != NULL && variable->rank == 1 && variable->shape[0] == outer.size)
                return REFS_OK;
        }
        if (outer.group.size == 0) return REFS_OK;
    }
}

static refs_status share(refs_dimensions *dimensions, const written *dim, uint32_t *id,
                         refs_error *err) {
    const size_t before = dimensions->homes.count;
    refs_str home;
    REFS_TRY(find_home(dimensions, dim, &home, err));
    REFS_TRY(make_text(dimensions, home, '\0', dim->name, err));
    REFS_TRY(refs_intern_add(&dimensions->homes, text_of(dimensions), id, err));
    if (*id < before) return REFS_OK;
    REFS_GROW(dimensions->sizes, dimensions->sizes_capacity, before, err);
    dimensions->sizes[before] = dim->size;
    return REFS_OK;
}

static refs_status add_dims(refs_dimensions *dimensions, size_t number, refs_error *err) {
    const refs_array_meta *array = refs_hierarchy_array(dimensions->hierarchy, number);
    dims_of_array *own = &dimensions->arrays[number];
    own->is_usable = true;
    for (size_t i = 0; i < array->rank; i++) {
        const written dim = written_of(array, i);
        refs_dimension *made = &dimensions->all[own->first + i];
        uint32_t *home = &dimensions->home_of[own->first + i];
        *home = REFS_INTERN_NONE;
        if (array->named_dims) REFS_TRY(share(dimensions, &dim, home, err));
        *made = (refs_dimension){.group = array->group, .name = array->dims[i], .size = dim.size};
    }
    if (array->dtype.type != REFS_TYPE_BYTES || array->dtype.size != 1 || array->rank != 2)
        return REFS_OK;
    REFS_TRY(make_text(dimensions, refs_str_trim(refs_str_from(array->group), "/"), '/',
                       refs_str_from(array->dims[1]), err));
    own->holds_characters =
        refs_hierarchy_find_array(dimensions->hierarchy, text_of(dimensions)) == NULL;
    return REFS_OK;
}

/* -- variables --------------------------------------------------------------------------------- */

/* The number of an array of the hierarchy. */
static size_t number_of(const refs_dimensions *dimensions, const refs_array_meta *array) {
    return (size_t)(array - refs_hierarchy_array(dimensions->hierarchy, 0));
}

/* The number of the shared dimension of an array with only this dimension, or REFS_INTERN_NONE. */
static uint32_t only_home_of(const refs_dimensions *dimensions, const refs_array_meta *array) {
    const dims_of_array *own = &dimensions->arrays[number_of(dimensions, array)];
    if (array->rank != 1 && !own->holds_characters) return REFS_INTERN_NONE;
    const uint32_t home = dimensions->home_of[own->first];
    if (home == REFS_INTERN_NONE) return home;
    return dimensions->all[own->first].size == dimensions->sizes[home] ? home : REFS_INTERN_NONE;
}

/* Finds coordinate variables that are the only ones of their group along a dimension. */
static refs_status find_only_variables(refs_dimensions *dimensions, refs_error *err) {
    REFS_SCOPED size_t *counts = refs_calloc(dimensions->homes.count + 1, sizeof *counts);
    if (counts == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < refs_hierarchy_n_arrays(dimensions->hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(dimensions->hierarchy, i);
        const uint32_t home =
            dimensions->arrays[i].is_usable ? only_home_of(dimensions, array) : REFS_INTERN_NONE;
        if (home == REFS_INTERN_NONE || strcmp(dimensions->shared[home].group, array->group) != 0)
            continue;
        dimensions->shared[home].variable = counts[home]++ == 0 ? array : NULL;
    }
    return REFS_OK;
}

static refs_status find_namesakes(refs_dimensions *dimensions, refs_error *err) {
    for (uint32_t i = 0; i < dimensions->homes.count; i++) {
        refs_dimension *dim = &dimensions->shared[i];
        const refs_array_meta *variable;
        REFS_TRY(find_variable(dimensions, refs_str_trim(refs_str_from(dim->group), "/"),
                               refs_str_from(dim->name), &variable, err));
        if (variable != NULL && only_home_of(dimensions, variable) == i) dim->variable = variable;
    }
    return REFS_OK;
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status allocate(refs_dimensions *dimensions, refs_error *err) {
    const size_t n = refs_hierarchy_n_arrays(dimensions->hierarchy);
    size_t all = 0;
    REFS_NEW(dimensions->arrays, n + 1, err);
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *array = refs_hierarchy_array(dimensions->hierarchy, i);
        dimensions->arrays[i].first = all;
        all += array->status == REFS_OK ? array->rank : 0;
    }
    dimensions->all = refs_calloc(all + 1, sizeof *dimensions->all);
    dimensions->home_of = refs_calloc(all + 1, sizeof *dimensions->home_of);
    return dimensions->all != NULL && dimensions->home_of != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status for_each_array(refs_dimensions *dimensions,
                                  refs_status (*visit)(refs_dimensions *, size_t, refs_error *),
                                  refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(dimensions->hierarchy); i++)
        if (refs_hierarchy_array(dimensions->hierarchy, i)->status == REFS_OK)
            REFS_TRY(visit(dimensions, i, err));
    return REFS_OK;
}

static refs_status add_uses_of(refs_dimensions *dimensions, size_t number, refs_error *err) {
    return add_uses(dimensions, refs_hierarchy_array(dimensions->hierarchy, number), err);
}

/* Called after all names were added, so that their addresses do not change. */
static refs_status list_shared(refs_dimensions *dimensions, refs_error *err) {
    const size_t n = dimensions->homes.count;
    REFS_NEW(dimensions->shared, n + 1, err);
    for (uint32_t i = 0; i < n; i++) {
        const char *group = refs_intern_get(&dimensions->homes, i).data;
        dimensions->shared[i] = (refs_dimension){
            .group = group,
            .name = group + strlen(group) + 1,
            .size = dimensions->sizes[i],
            .is_shared = true,
        };
    }
    return REFS_OK;
}

/* Points the dimensions of an array to the shared ones; one with another size is not shared. */
static refs_status point_to_shared(refs_dimensions *dimensions, size_t number, refs_error *err) {
    const refs_array_meta *array = refs_hierarchy_array(dimensions->hierarchy, number);
    (void)err;
    for (size_t i = 0; i < array->rank; i++) {
        const size_t at = dimensions->arrays[number].first + i;
        const uint32_t home = dimensions->home_of[at];
        if (home == REFS_INTERN_NONE) continue;
        const uint64_t size = dimensions->all[at].size;
        dimensions->all[at] = dimensions->shared[home];
        if (size == dimensions->shared[home].size) continue;
        dimensions->all[at].size = size;
        dimensions->all[at].is_shared = false;
        dimensions->all[at].variable = NULL;
    }
    return REFS_OK;
}

static refs_status fill(refs_dimensions *dimensions, refs_error *err) {
    REFS_TRY(allocate(dimensions, err));
    REFS_TRY(for_each_array(dimensions, add_uses_of, err));
    REFS_TRY(for_each_array(dimensions, add_dims, err));
    REFS_TRY(list_shared(dimensions, err));
    REFS_TRY(find_only_variables(dimensions, err));
    REFS_TRY(find_namesakes(dimensions, err));
    return for_each_array(dimensions, point_to_shared, err);
}

refs_status refs_dimensions_open(const refs_hierarchy *hierarchy, refs_dimensions **dimensions,
                                 refs_error *err) {
    refs_dimensions *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->hierarchy = hierarchy;
    const refs_status status = fill(opened, err);
    if (status == REFS_OK)
        *dimensions = opened;
    else
        refs_dimensions_free(opened);
    return status;
}

/* -- looking ----------------------------------------------------------------------------------- */

size_t refs_dimensions_n_shared(const refs_dimensions *dimensions) {
    return dimensions->homes.count;
}

const refs_dimension *refs_dimensions_shared(const refs_dimensions *dimensions, size_t i) {
    return &dimensions->shared[i];
}

const refs_dimension *refs_dimensions_of(const refs_dimensions *dimensions,
                                         const refs_array_meta *array) {
    const dims_of_array *own = &dimensions->arrays[number_of(dimensions, array)];
    return own->is_usable ? &dimensions->all[own->first] : NULL;
}

bool refs_dimensions_hold_characters(const refs_dimensions *dimensions,
                                     const refs_array_meta *array) {
    return dimensions->arrays[number_of(dimensions, array)].holds_characters;
}

const refs_array_meta *refs_dimension_named(const refs_hierarchy *hierarchy,
                                            const refs_array_meta *array, size_t dim) {
    const char *name = refs_path_leaf(array->dims[dim]);
    const refs_array_meta *found =
        refs_hierarchy_resolve(hierarchy, array->group, refs_str_from(name));
    const bool is_coordinate = found != NULL && found->status == REFS_OK && found->rank == 1 &&
                               strcmp(refs_path_leaf(found->dims[0]), found->name) == 0;
    return is_coordinate && found->shape[0] != array->shape[dim] ? NULL : found;
}
