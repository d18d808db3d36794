/* description.c -- describes the arrays of a set for a master, or for a file of fragments; see
 * cfa.h. */
#include <stdio.h>

#include "cfa/cfa.h"
#include "refs/cf.h"
#include "refs/own_attributes.h"

static char *keep_bytes(refs_cfa_description *made, size_t size) {
    char *bytes = refs_alloc(size);
    if (bytes == NULL || !refs_grow((void **)&made->strings, &made->capacity, made->n_strings,
                                    sizeof *made->strings)) {
        refs_free(bytes);
        return NULL;
    }
    return made->strings[made->n_strings++] = bytes;
}

static const char *keep_text(refs_cfa_description *made, const char *before, const char *between,
                             const char *behind) {
    const size_t size = strlen(before) + strlen(between) + strlen(behind) + 1;
    char *text = keep_bytes(made, size);
    if (text != NULL) snprintf(text, size, "%s%s%s", before, between, behind);
    return text;
}

/* Describes all groups except the instructions of aggregations. */
static refs_status take_groups(refs_cfa_description *made, refs_error *err) {
    const refs_hierarchy *hierarchy = made->hierarchy;
    const size_t n = refs_hierarchy_n_groups(hierarchy);
    refs_cfa_group *groups = refs_calloc(n, sizeof *groups);
    made->source.groups = groups;
    if (groups == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const refs_group_meta *group = refs_hierarchy_group(hierarchy, i);
        if (group->is_instruction) continue;
        groups[made->source.n_groups++] = (refs_cfa_group){group->path, group->attributes};
    }
    return REFS_OK;
}

static refs_cfa_dimension *find_dim(refs_cfa_description *made, const char *path) {
    refs_cfa_dimension *dims = (refs_cfa_dimension *)(uintptr_t)made->source.dims;
    for (size_t i = 0; i < made->source.n_dims; i++)
        if (strcmp(dims[i].path, path) == 0) return &dims[i];
    return NULL;
}

/* Returns the path of the nearest group, from `group` upwards, in which the dimension `name` is
 * unlimited: "" for the root, NULL if there is none. */
static const char *unlimited_group(const refs_cfa_description *made, const char *group,
                                   const char *name) {
    for (refs_str path = refs_str_from(group);;
         path = refs_str_part(path, 0, refs_str_find_last(path, '/'))) {
        const refs_group_meta *meta = refs_hierarchy_find_group(made->hierarchy, path);
        const refs_json *list =
            meta != NULL ? refs_json_get(meta->attributes, REFS_UNLIMITED_DIMENSIONS) : NULL;
        for (size_t i = 0; i < refs_json_size(list); i++)
            if (refs_str_is(refs_json_text(refs_json_at(list, i)), name))
                return path.size > 0 ? meta->path : "";
        if (path.size == 0) return NULL;
    }
}

/* Adds a dimension. An unlimited one belongs to the group that declares it; others belong to the
 * root, unless that has one of the same name with another size. */
static refs_status add_dim(refs_cfa_description *made, const refs_array_meta *meta, size_t d,
                           const char *name, refs_error *err) {
    refs_cfa_dimension *dims = (refs_cfa_dimension *)(uintptr_t)made->source.dims;
    const char *owner = unlimited_group(made, meta->group, name);
    const refs_cfa_growth growth = owner != NULL ? REFS_CFA_UNLIMITED : REFS_CFA_FIXED;
    const char *path = keep_text(made, owner != NULL ? owner : "", "/", name);
    if (path == NULL) return refs_fail_nomem(err);
    const refs_cfa_dimension *known = find_dim(made, path);
    if (known != NULL && known->size == meta->shape[d]) return REFS_OK;
    if (known != NULL) path = keep_text(made, meta->group, "/", name);
    if (path == NULL) return refs_fail_nomem(err);
    if (find_dim(made, path) == NULL)
        dims[made->source.n_dims++] = (refs_cfa_dimension){path, meta->shape[d], growth, false};
    return REFS_OK;
}

/* Adds dimensions of a group that no array has. */
static refs_status add_unused(refs_cfa_description *made, const refs_cfa_group *group,
                              refs_error *err) {
    const refs_json *sizes = refs_json_get(group->attributes, REFS_UNUSED_DIMENSIONS);
    refs_cfa_dimension *dims = (refs_cfa_dimension *)(uintptr_t)made->source.dims;
    for (size_t i = 0; i < refs_json_size(sizes); i++) {
        uint64_t size = 0;
        char *name = refs_str_copy(refs_json_name_at(sizes, i));
        const char *path = name != NULL ? keep_text(made, group->path, "/", name) : NULL;
        refs_free(name);
        if (path == NULL) return refs_fail_nomem(err);
        if (refs_json_u64(refs_json_at(sizes, i), &size) && find_dim(made, path) == NULL)
            dims[made->source.n_dims++] = (refs_cfa_dimension){path, size, REFS_CFA_FIXED, true};
    }
    return REFS_OK;
}

/* Whether the fill value in an array's metadata may be a declared missing value. That of a data
 * file is not: files declare a missing value in an attribute. */
static bool may_declare(const refs_cfa_description *made, const refs_array_meta *meta) {
    return refs_json_get(meta->attributes, "_FillValue") != NULL || meta->aggregation != NULL ||
           !refs_set_is_file(made->set);
}

/* Finds the declared missing value; NULL if there is none. The fill value of Zarr and HDF5, which
 * stands for chunks that do not exist, is a different one: a zero that was not declared is a valid
 * value (decision 12). */
static refs_status find_fill(refs_cfa_description *made, const refs_array_meta *meta,
                             const uint8_t **fill, refs_error *err) {
    uint8_t declared[sizeof(double)];
    const bool has_only_values = meta->aggregation != NULL && refs_cf_has_only_values(meta),
               is_judged = meta->aggregation == NULL && refs_dtype_is_numeric(&meta->dtype) &&
                           meta->dtype.size <= sizeof declared;
    *fill = NULL;
    if (has_only_values || !may_declare(made, meta)) return REFS_OK;
    if (!is_judged) {
        if (meta->has_fill) *fill = meta->fill;
    } else if (refs_cf_declared_fill(made->hierarchy, meta, declared)) {
        const bool is_of_gaps =
            meta->has_fill && memcmp(declared, meta->fill, meta->dtype.size) == 0;
        if (is_of_gaps) *fill = meta->fill;
        if (is_of_gaps) return REFS_OK;
        char *kept = keep_bytes(made, sizeof declared);
        if (kept == NULL) return refs_fail_nomem(err);
        memcpy(kept, declared, sizeof declared);
        *fill = (const uint8_t *)kept;
    }
    return REFS_OK;
}

static refs_status add_array(refs_cfa_description *made, const refs_array_meta *meta,
                             const char **dims, refs_error *err) {
    refs_cfa_array *list = (refs_cfa_array *)(uintptr_t)made->source.arrays;
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    for (size_t d = 0; d < meta->rank; d++) {
        dims[d] =
            meta->named_dims ? meta->dims[d] : keep_text(made, meta->name, "_", meta->dims[d]);
        if (dims[d] == NULL) return refs_fail_nomem(err);
        REFS_TRY(add_dim(made, meta, d, dims[d], err));
    }
    const uint8_t *fill;
    REFS_TRY(find_fill(made, meta, &fill, err));
    made->metas[made->source.n_arrays] = meta;
    list[made->source.n_arrays++] =
        (refs_cfa_array){{meta->path, meta->dtype, meta->rank, dims, meta->attributes, fill,
                          refs_cf_keeps_default_fill(meta)},
                         meta->shape};
    return REFS_OK;
}

static refs_status take_arrays(refs_cfa_description *made, refs_error *err) {
    const refs_hierarchy *hierarchy = made->hierarchy;
    size_t n = refs_hierarchy_n_arrays(hierarchy), n_dims = 0;
    for (size_t i = 0; i < n; i++) n_dims += refs_hierarchy_array(hierarchy, i)->rank;
    for (size_t i = 0; i < made->source.n_groups; i++)
        n_dims += refs_json_size(
            refs_json_get(made->source.groups[i].attributes, REFS_UNUSED_DIMENSIONS));
    made->source.arrays = refs_calloc(n + 1, sizeof *made->source.arrays);
    made->source.dims = refs_calloc(n_dims + 1, sizeof *made->source.dims);
    made->metas = refs_calloc(n + 1, sizeof *made->metas);
    made->dims = refs_calloc(n_dims + 1, sizeof *made->dims);
    if (made->source.arrays == NULL || made->source.dims == NULL || made->metas == NULL ||
        made->dims == NULL)
        return refs_fail_nomem(err);
    const char **dims = made->dims;
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (meta->is_instruction) continue;
        REFS_TRY(add_array(made, meta, dims, err));
        dims += meta->rank;
    }
    for (size_t i = 0; i < made->source.n_groups; i++)
        REFS_TRY(add_unused(made, &made->source.groups[i], err));
    return REFS_OK;
}

/* -- whole descriptions ------------------------------------------------------------------------ */

refs_status refs_cfa_description_make(const refs_set *set, const refs_hierarchy *hierarchy,
                                      refs_cfa_description *made, refs_error *err) {
    *made = (refs_cfa_description){.set = set, .hierarchy = hierarchy};
    REFS_TRY(take_groups(made, err));
    return take_arrays(made, err);
}

void refs_cfa_description_clear(refs_cfa_description *made) {
    for (size_t i = 0; i < made->n_strings; i++) refs_free(made->strings[i]);
    refs_free(made->strings);
    refs_free(made->dims);
    refs_free(made->metas);
    refs_free((void *)(uintptr_t)made->source.groups);
    refs_free((void *)(uintptr_t)made->source.dims);
    refs_free((void *)(uintptr_t)made->source.arrays);
    memset(made, 0, sizeof *made);
}

bool refs_cfa_description_fills_gaps(const refs_cfa_description *described, size_t i) {
    return described->source.arrays[i].variable.fill == described->metas[i]->fill;
}

bool refs_cfa_description_is_empty(const refs_cfa_description *described) {
    bool has_empty = false;
    for (size_t i = 0; i < described->source.n_arrays; i++) {
        const refs_cfa_array *array = &described->source.arrays[i];
        size_t d = 0;
        if (!refs_cfa_is_field(&described->source, i)) continue;
        while (d < array->variable.rank && array->shape[d] > 0) d++;
        if (d == array->variable.rank) return false;
        has_empty = true;
    }
    return has_empty;
}

bool refs_cfa_description_is_filler(const refs_cfa_description *described, const char *name) {
    const refs_cfa_array *array = described->source.arrays;
    return described->source.n_arrays == 1 &&
           refs_cfa_is_filler(name, array->variable.path, array->shape, array->variable.rank);
}

bool refs_cfa_description_has_own(const refs_cfa_description *described) {
    for (size_t i = 0; i < described->source.n_arrays; i++) {
        const refs_cfa_variable *variable = &described->source.arrays[i].variable;
        const char *name = strrchr(variable->path, '/') + 1;
        const bool is_coordinate = variable->rank == 1 && strcmp(variable->dims[0], name) == 0;
        if (described->metas[i]->aggregation == NULL && !is_coordinate) return true;
    }
    return false;
}
