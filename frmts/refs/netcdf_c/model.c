/* model.c -- builds the netCDF groups, dimensions and variables of a hierarchy, see ncrefs.h. Zarr
 * arrays have dimension names, but no dimensions. All with the same name and length in a group and
 * its subgroups are one netCDF dimension, in the group of its coordinate variable, else in the
 * first group that needs it. */
#include <stdio.h>
#include <stdlib.h>

#include "ncrefs.h"
#include "refs/cf.h"
#include "refs/own_attributes.h"
#include "refs/typed.h"
#include "refs/write.h"

void ncrefs_model_clear(ncrefs_model *model) {
    for (size_t i = 0; i < model->n_variables; i++) {
        ncrefs_variable *variable = &model->variables[i];
        refs_reader_free(variable->reader);
        refs_array_free(variable->array);
        refs_buf_clear(&variable->strings);
        refs_free(variable->string_at);
        ncrefs_attributes_clear(&variable->attributes);
    }
    for (size_t i = 0; i < model->n_groups; i++) {
        refs_free(model->groups[i].variables);
        ncrefs_attributes_clear(&model->groups[i].attributes);
    }
    for (size_t i = 0; i < model->n_dims; i++) refs_free(model->dims[i].name);
    refs_free(model->variables);
    refs_free(model->groups);
    refs_free(model->dims);
    refs_free(model->types.items);
    memset(model, 0, sizeof *model);
}

/* -- groups ------------------------------------------------------------------------------------ */

static size_t find_group(const ncrefs_model *model, const char *path, size_t size) {
    for (size_t i = 0; i < model->n_groups; i++)
        if (strlen(model->groups[i].path) == size && memcmp(model->groups[i].path, path, size) == 0)
            return i;
    return 0;
}

static int compare_paths(const void *a, const void *b) {
    const refs_group_meta *const *one = a, *const *other = b;
    size_t sizes[] = {strlen((*one)->path), strlen((*other)->path)};
    return (sizes[0] > sizes[1]) - (sizes[0] < sizes[1]);
}

/* Sorts parent groups before their subgroups; otherwise keeps the order, which qsort alone need
 * not. */
static void sort_groups(const refs_group_meta **groups, size_t n) {
    bool is_sorted = true;
    for (size_t i = 1; i < n; i++)
        is_sorted = is_sorted && compare_paths(&groups[i - 1], &groups[i]) <= 0;
    if (!is_sorted) qsort(groups, n, sizeof(void *), compare_paths);
}

static refs_status add_groups(const refs_hierarchy *hierarchy, ncrefs_model *model,
                              refs_error *err) {
    size_t n = refs_hierarchy_n_groups(hierarchy);
    if (n > NCREFS_MAX_GROUPS)
        return refs_fail(err, REFS_LIMIT, "%zu groups: more than netCDF-C can number", n);
    const refs_group_meta **sorted = refs_calloc(n + 1, sizeof *sorted);
    model->groups = refs_calloc(n + 1, sizeof *model->groups);
    refs_status status = sorted != NULL && model->groups != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; status == REFS_OK && i < n; i++)
        sorted[i] = refs_hierarchy_group(hierarchy, i);
    if (status == REFS_OK) sort_groups(sorted, n);
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        if (sorted[i]->is_instruction) continue;
        ncrefs_group *group = &model->groups[model->n_groups];
        const char *path = sorted[i]->path, *slash = strrchr(path, '/');
        *group = (ncrefs_group){.name = sorted[i]->name, .path = path};
        group->unlimited = refs_json_get(sorted[i]->attributes, REFS_UNLIMITED_DIMENSIONS);
        group->unused = refs_json_get(sorted[i]->attributes, REFS_UNUSED_DIMENSIONS);
        group->parent = slash != NULL ? find_group(model, path, (size_t)(slash - path)) : 0;
        model->n_groups++;
        status = ncrefs_add_attributes(sorted[i]->attributes, NC_NAT, &group->attributes, err);
    }
    refs_free(sorted);
    return status;
}

/* -- dimensions -------------------------------------------------------------------------------- */

/* The dimension of this name that is visible in a group, or -1. */
static int find_dim(const ncrefs_model *model, size_t group, const char *name) {
    for (;; group = model->groups[group].parent) {
        for (size_t i = 0; i < model->n_dims; i++)
            if (model->dims[i].group == group && strcmp(model->dims[i].name, name) == 0)
                return (int)i;
        if (group == 0) return -1;
    }
}

static refs_status add_dim(ncrefs_model *model, const ncrefs_dim *wanted, int *id,
                           refs_error *err) {
    if (model->n_dims == INT32_MAX || wanted->size > PTRDIFF_MAX)
        return refs_fail(err, REFS_LIMIT, "dimension %s: too many elements for netCDF-C",
                         wanted->name);
    char *name = refs_str_copy(refs_str_from(wanted->name));
    if (name == NULL || !refs_grow((void **)&model->dims, &model->dims_capacity, model->n_dims,
                                   sizeof *model->dims)) {
        refs_free(name);
        return refs_fail_nomem(err);
    }
    *id = (int)model->n_dims;
    model->dims[model->n_dims++] =
        (ncrefs_dim){name, wanted->size, wanted->group, wanted->is_unlimited};
    return REFS_OK;
}

static bool is_used(const int *dims, size_t n, int id) {
    for (size_t i = 0; i < n; i++)
        if (dims[i] == id) return true;
    return false;
}

#define PHONY "phony_dim_"

/* Names an unnamed dimension as netCDF-C does for HDF5: one for each length. */
static refs_status name_phony(ncrefs_model *model, const ncrefs_variable *variable, size_t at,
                              int *id, refs_error *err) {
    char name[32];
    for (size_t i = 0;; i++) {
        snprintf(name, sizeof name, PHONY "%zu", i);
        int found = find_dim(model, 0, name);
        const ncrefs_dim wanted = {name, (size_t)variable->meta->shape[at], 0, false};
        if (found < 0) return add_dim(model, &wanted, id, err);
        *id = found;
        if (model->dims[found].size == wanted.size && !is_used(variable->dims, at, found))
            return REFS_OK;
    }
}

/* Finds the group of the coordinate variable with this name and length, visible from a group; else
 * the group itself. */
static size_t home_of(const ncrefs_model *model, size_t group, const ncrefs_dim *wanted) {
    for (size_t above = group;; above = model->groups[above].parent) {
        const ncrefs_group *in = &model->groups[above];
        for (size_t i = 0; i < in->n_variables; i++) {
            const ncrefs_variable *variable = &model->variables[in->variables[i]];
            if (variable->meta->rank == 1 && strcmp(variable->name, wanted->name) == 0 &&
                variable->meta->shape[0] == wanted->size)
                return above;
        }
        if (above == 0) return group;
    }
}

static bool is_listed(const refs_json *list, const char *name) {
    for (size_t i = 0; i < refs_json_size(list); i++)
        if (refs_str_is(refs_json_text(refs_json_at(list, i)), name)) return true;
    return false;
}

/* Whether the dimension of this name in a group is known to have another length. */
static bool has_other_length(const ncrefs_model *model, size_t group, const ncrefs_dim *wanted) {
    uint64_t unused = wanted->size;
    (void)refs_json_u64(refs_json_get(model->groups[group].unused, wanted->name), &unused);
    if (unused != wanted->size) return true;
    const int found = find_dim(model, group, wanted->name);
    return found >= 0 && model->dims[found].group == group &&
           model->dims[found].size != wanted->size;
}

/* The group, among those visible from a variable, that lists the dimension as unlimited: it owns
 * the dimension, unless that of the variable's group hides it. */
static void place_unlimited(const ncrefs_model *model, size_t group, ncrefs_dim *wanted) {
    const size_t own = group;
    for (;; group = model->groups[group].parent) {
        const bool is_hidden = group != own && has_other_length(model, group, wanted);
        if (is_listed(model->groups[group].unlimited, wanted->name) && !is_hidden) {
            wanted->group = group;
            wanted->is_unlimited = true;
            return;
        }
        if (group == 0) return;
    }
}

/* A name that has another length already gets a number. */
static refs_status add_named(ncrefs_model *model, const ncrefs_dim *wanted, int *id,
                             refs_error *err) {
    char name[NC_MAX_NAME + 1];
    snprintf(name, sizeof name, "%s", wanted->name);
    for (size_t i = 2;; i++) {
        int found = find_dim(model, wanted->group, name);
        if (found >= 0 && model->dims[found].size == wanted->size) {
            *id = found;
            return REFS_OK;
        }
        bool is_here = found >= 0 && model->dims[found].group == wanted->group;
        if (!is_here) {
            ncrefs_dim made = *wanted;
            made.name = name;
            return add_dim(model, &made, id, err);
        }
        snprintf(name, sizeof name, "%.200s_%zu", wanted->name, i);
    }
}

/* Writers number made-up names from 0 in each variable. */
static bool is_named(const refs_array_meta *meta, size_t dim) {
    return meta->named_dims && meta->dims[dim][0] != '\0' &&
           !refs_str_starts(refs_str_from(meta->dims[dim]), PHONY);
}

static refs_status add_dims(ncrefs_model *model, ncrefs_variable *variable, refs_error *err) {
    const refs_array_meta *meta = variable->meta;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        if (!is_named(meta, dim)) {
            REFS_TRY(name_phony(model, variable, dim, &variable->dims[dim], err));
            continue;
        }
        char *name = refs_str_copy(refs_str_from(meta->dims[dim]));
        ncrefs_dim wanted = {name, (size_t)meta->shape[dim], variable->group, false};
        if (name == NULL) return refs_fail_nomem(err);
        wanted.group = home_of(model, variable->group, &wanted);
        place_unlimited(model, variable->group, &wanted);
        refs_status status = add_named(model, &wanted, &variable->dims[dim], err);
        refs_free(name);
        if (status != REFS_OK) return status;
    }
    return REFS_OK;
}

/* Skips attributes that became properties of the variable. */
static refs_status add_unused(ncrefs_model *model, size_t group, refs_error *err) {
    const refs_json *sizes = model->groups[group].unused;
    for (size_t i = 0; i < refs_json_size(sizes); i++) {
        REFS_SCOPED char *name = refs_str_copy(refs_json_name_at(sizes, i));
        uint64_t size = 0;
        int id = 0;
        if (name == NULL) return refs_fail_nomem(err);
        const bool is_size = refs_json_u64(refs_json_at(sizes, i), &size) && size <= SIZE_MAX;
        const ncrefs_dim added = {name, (size_t)size, group,
                                  is_listed(model->groups[group].unlimited, name)};
        const int found = find_dim(model, group, name);
        const bool is_there = found >= 0 && model->dims[found].group == group;
        const refs_status status =
            is_size && !is_there ? add_dim(model, &added, &id, err) : REFS_OK;
        REFS_TRY(status);
    }
    return REFS_OK;
}

/* -- variables --------------------------------------------------------------------------------- */

static bool is_number(nc_type type) {
    return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR;
}

/* Converts an element to the netCDF type: booleans and half floats have another. */
static void put_element(const refs_dtype *dtype, const uint8_t *element,
                        ncrefs_variable *variable) {
    if (dtype->type == REFS_TYPE_FLOAT && dtype->size == 2) {
        variable->has_fill = false; /* booleans are only filled with zero */
        return;
    }
    memcpy(variable->fill, element, dtype->size);
}

/* Skips xarray's base64 _FillValue of fixed-size strings: the array's fill value is the same. */
static refs_status add_text_fill(ncrefs_variable *variable, const refs_json *said,
                                 refs_error *err) {
    const refs_array_meta *meta = variable->meta;
    refs_str text = refs_json_text(said);
    if (!refs_json_is_string(said)) return REFS_OK;
    if (meta->dtype.type == REFS_TYPE_BYTES && meta->has_fill && meta->fill[0] != 0) {
        refs_str fill = refs_str_view((const char *)meta->fill, meta->dtype.size);
        text = refs_str_part(fill, 0, refs_str_find(fill, '\0'));
    }
    if (variable->type == NC_CHAR && text.size > 0) variable->fill[0] = (uint8_t)text.data[0];
    return ncrefs_add_fill_text(&variable->attributes, variable->type, text, err);
}

/* Whether netCDF's default, which is none of what the array is filled with, is a value. */
static bool is_unfilled(const refs_array_meta *meta, const uint8_t *usual) {
    if (meta->aggregation != NULL) return meta->is_unfilled || refs_cf_has_only_values(meta);
    return meta->has_fill ? memcmp(meta->fill, usual, meta->dtype.size) != 0 : meta->is_unfilled;
}

static refs_status add_fill(const refs_hierarchy *hierarchy, ncrefs_variable *variable,
                            refs_error *err) {
    const refs_array_meta *meta = variable->meta;
    const refs_json *said = refs_json_get(meta->attributes, NCREFS_FILL);
    uint8_t element[16] = {0};
    bool is_declared = false;
    variable->has_fill = is_number(variable->type);
    if (variable->type == NC_CHAR || variable->type == NC_STRING)
        return add_text_fill(variable, said, err);
    if (!variable->has_fill) return REFS_OK;
    REFS_TRY(refs_cf_read_element(meta, said, element, &is_declared, err));
    if (!is_declared && refs_cf_fill_is_declared(hierarchy, meta)) {
        memcpy(element, meta->fill, meta->dtype.size);
        is_declared = true;
    }
    if (!is_declared && !refs_cf_default_fill(&meta->dtype, element)) {
        variable->has_fill = false;
        return REFS_OK;
    }
    variable->is_unfilled = !is_declared && is_unfilled(meta, element);
    put_element(&meta->dtype, element, variable);
    if (ncrefs_find_attribute(&variable->attributes, NCREFS_FILL) != NULL) return REFS_OK;
    const ncrefs_attribute made = {NCREFS_FILL, variable->type, 1, variable->fill};
    if (!is_declared || !variable->has_fill) return REFS_OK;
    return ncrefs_add_at(&variable->attributes, refs_typed_fill_place(meta->attributes), &made,
                         err);
}

/* Adds the units of NumPy's times, which are part of their type. */
static refs_status add_unit(ncrefs_variable *variable, refs_error *err) {
    char text[REFS_CF_TICK_UNITS];
    if (ncrefs_find_attribute(&variable->attributes, "units") != NULL ||
        !refs_cf_tick_units(&variable->meta->dtype, text))
        return REFS_OK;
    const ncrefs_attribute made = {"units", NC_CHAR, strlen(text), text};
    return ncrefs_add_at(&variable->attributes, 0, &made, err);
}

static refs_status add_variable(const refs_hierarchy *hierarchy, const refs_array_meta *meta,
                                ncrefs_model *model, refs_error *err) {
    ncrefs_variable *variable = &model->variables[model->n_variables++];
    *variable = (ncrefs_variable){.meta = meta, .name = meta->name};
    variable->group = find_group(model, meta->group, strlen(meta->group));
    REFS_TRY(ncrefs_type_of(&model->types, meta, &variable->type, err));
    REFS_TRY(ncrefs_add_attributes(meta->attributes, variable->type, &variable->attributes, err));
    REFS_TRY(add_unit(variable, err));
    return add_fill(hierarchy, variable, err);
}

static bool is_shown(const refs_array_meta *meta, const refs_notes *notes) {
    if (meta->is_instruction) return false;
    if (meta->status == REFS_OK) return true;
    refs_note(notes, REFS_NOTE_WARNING, "%s is left out: %s", meta->path, meta->problem);
    return false;
}

static bool is_classic(const refs_array_meta *meta) {
    bool is_record = meta->n_codecs == 1 && strcmp(meta->codecs[0].id, "record_member") == 0;
    return refs_dtype_swap_size(&meta->dtype) <= 1 ||
           (meta->dtype.big_endian && (meta->n_codecs == 0 || is_record));
}

static refs_status add_variables(const refs_hierarchy *hierarchy, const refs_notes *notes,
                                 ncrefs_model *model, refs_error *err) {
    size_t n = refs_hierarchy_n_arrays(hierarchy);
    REFS_NEW(model->variables, n + 1, err);
    model->is_classic = true;
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (!is_shown(meta, notes)) continue;
        model->is_classic &= is_classic(meta);
        REFS_TRY(add_variable(hierarchy, meta, model, err));
        model->groups[model->variables[model->n_variables - 1].group].n_variables++;
    }
    for (size_t i = 0; i < model->n_groups; i++) {
        ncrefs_group *group = &model->groups[i];
        REFS_NEW(group->variables, group->n_variables + 1, err);
        group->n_variables = 0;
    }
    for (size_t i = 0; i < model->n_variables; i++) {
        ncrefs_group *group = &model->groups[model->variables[i].group];
        group->variables[group->n_variables++] = i;
    }
    return REFS_OK;
}

refs_status ncrefs_model_make(const refs_hierarchy *hierarchy, const refs_notes *notes,
                              ncrefs_model *model, refs_error *err) {
    memset(model, 0, sizeof *model);
    refs_status status = add_groups(hierarchy, model, err);
    if (status == REFS_OK) status = add_variables(hierarchy, notes, model, err);
    /* Adds dimensions of parent groups first, so that subgroups find them. */
    for (size_t group = 0; group < model->n_groups && status == REFS_OK; group++)
        for (size_t i = 0; i < model->groups[group].n_variables && status == REFS_OK; i++)
            status = add_dims(model, &model->variables[model->groups[group].variables[i]], err);
    for (size_t group = 0; group < model->n_groups && status == REFS_OK; group++)
        status = add_unused(model, group, err);
    if (status != REFS_OK) ncrefs_model_clear(model);
    return status;
}
