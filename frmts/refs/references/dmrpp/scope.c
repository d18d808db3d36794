/* scope.c -- see dmrpp/scope.h. */
#include "dmrpp/scope.h"

void refs_references__scope_clear(refs_dmrpp_scope *scope) {
    for (size_t i = 0; i < REFS_DMRPP_MAX_GROUPS; i++) refs_buf_clear(&scope->groups[i].attributes);
    refs_buf_clear(&scope->path);
    refs_intern_clear(&scope->dimensions);
    refs_intern_clear(&scope->enumerations);
    refs_intern_clear(&scope->listed);
    refs_free(scope->of_dimensions);
    refs_free(scope->of_enumerations);
}

/* -- groups ------------------------------------------------------------------------------------ */

refs_dmrpp_group *refs_references__scope_group(refs_dmrpp_scope *scope) {
    return &scope->groups[scope->n_groups - 1];
}

refs_status refs_references__scope_enter(refs_dmrpp_scope *scope, const char *name,
                                         refs_error *err) {
    if (scope->n_groups == REFS_DMRPP_MAX_GROUPS)
        return refs_fail(err, REFS_LIMIT, "groups are nested deeper than the limit of %d",
                         REFS_DMRPP_MAX_GROUPS);
    size_t size = scope->path.size;
    if (*name != '\0')
        REFS_TRY(refs_buf_printf(&scope->path, err, "%s%s", size > 0 ? "/" : "", name));
    refs_dmrpp_group *group = &scope->groups[scope->n_groups++];
    group->path_size = size;
    group->attributes.size = 0;
    group->has_children = group->has_kept = false;
    return REFS_OK;
}

static refs_str path_of(const refs_dmrpp_scope *scope) {
    return scope->path.size > 0 ? refs_buf_text(&scope->path) : refs_str_from("");
}

static refs_status put(refs_set_builder *builder, refs_str path, const char *name,
                       const refs_buf *json, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&key, path, err));
    REFS_TRY(refs_buf_printf(&key, err, "%s%s", path.size > 0 ? "/" : "", name));
    return refs_set_builder_inline(builder, refs_buf_text(&key), refs_buf_view(json), err);
}

static refs_status list_group(refs_dmrpp_scope *scope, refs_str path, refs_set_builder *builder,
                              refs_error *err) {
    static const char document[] = "{\"zarr_format\":2}";
    REFS_SCOPED_BUF json = REFS_BUF_INIT;
    uint32_t id;
    size_t known = scope->listed.count;
    REFS_TRY(refs_intern_add(&scope->listed, path, &id, err));
    if (id < known) return REFS_OK;
    REFS_TRY(refs_buf_append(&json, document, sizeof document - 1, err));
    return put(builder, path, ".zgroup", &json, err);
}

refs_status refs_references__scope_list_above(refs_dmrpp_scope *scope, refs_str path,
                                              refs_set_builder *builder, refs_error *err) {
    for (size_t i = 0; i < path.size; i++)
        if (path.data[i] == '/')
            REFS_TRY(list_group(scope, refs_str_part(path, 0, i), builder, err));
    return list_group(scope, refs_str_from(""), builder, err);
}

static refs_status put_attributes(const refs_dmrpp_group *group, refs_str path,
                                  refs_set_builder *builder, refs_error *err) {
    REFS_SCOPED_BUF json = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append(&json, "{", 1, err));
    REFS_TRY(refs_buf_append(&json, group->attributes.data, group->attributes.size, err));
    REFS_TRY(refs_buf_append(&json, "}", 1, err));
    return put(builder, path, ".zattrs", &json, err);
}

refs_status refs_references__scope_leave(refs_dmrpp_scope *scope, refs_set_builder *builder,
                                         refs_error *err) {
    const refs_dmrpp_group *group = refs_references__scope_group(scope);
    bool is_root = scope->n_groups == 1, has_attributes = group->attributes.size > 0;
    bool is_kept = is_root || has_attributes || group->has_kept || !group->has_children;
    refs_str path = path_of(scope);
    if (is_kept) {
        REFS_TRY(refs_references__scope_list_above(scope, path, builder, err));
        REFS_TRY(list_group(scope, path, builder, err));
    }
    if (has_attributes) REFS_TRY(put_attributes(group, path, builder, err));
    scope->path.size = group->path_size;
    scope->n_groups--;
    if (is_root) return REFS_OK;
    refs_references__scope_group(scope)->has_children = true;
    if (is_kept) refs_references__scope_group(scope)->has_kept = true;
    return REFS_OK;
}

refs_status refs_references__scope_path(const refs_dmrpp_scope *scope, const char *name,
                                        refs_buf *path, refs_error *err) {
    path->size = 0;
    REFS_TRY(refs_buf_append_str(path, path_of(scope), err));
    return refs_buf_printf(path, err, "%s%s", path->size > 0 ? "/" : "", name);
}

/* -- declarations ------------------------------------------------------------------------------ */

static refs_status full_name(refs_str group, const char *name, refs_buf *full, refs_error *err) {
    full->size = 0;
    if (group.size > 0) {
        REFS_TRY(refs_buf_append(full, "/", 1, err));
        REFS_TRY(refs_buf_append_str(full, group, err));
    }
    REFS_TRY(refs_buf_append(full, "/", 1, err));
    return refs_buf_append_str(full, refs_str_from(name), err);
}

static refs_status declare(const refs_dmrpp_scope *scope, const char *name, refs_intern *names,
                           uint32_t *id, refs_error *err) {
    REFS_SCOPED_BUF full = REFS_BUF_INIT;
    REFS_TRY(full_name(path_of(scope), name, &full, err));
    return refs_intern_add(names, refs_buf_text(&full), id, err);
}

refs_status refs_references__scope_add_dimension(refs_dmrpp_scope *scope, const char *name,
                                                 uint64_t size, refs_error *err) {
    uint32_t id;
    REFS_GROW(scope->of_dimensions, scope->dimension_capacity, scope->dimensions.count, err);
    REFS_TRY(declare(scope, name, &scope->dimensions, &id, err));
    scope->of_dimensions[id] = (refs_dmrpp_declared){size, NULL};
    return REFS_OK;
}

refs_status refs_references__scope_add_enumeration(refs_dmrpp_scope *scope, const char *name,
                                                   const refs_dmrpp_type *type, refs_error *err) {
    uint32_t id;
    REFS_GROW(scope->of_enumerations, scope->enumeration_capacity, scope->enumerations.count, err);
    REFS_TRY(declare(scope, name, &scope->enumerations, &id, err));
    scope->of_enumerations[id] = (refs_dmrpp_declared){0, type};
    return REFS_OK;
}

static uint32_t find_in(refs_str group, const char *name, const refs_intern *names) {
    REFS_SCOPED_BUF full = REFS_BUF_INIT;
    uint32_t id = REFS_INTERN_NONE;
    if (full_name(group, name, &full, NULL) == REFS_OK)
        id = refs_intern_find(names, refs_buf_text(&full));
    return id;
}

static const refs_dmrpp_declared *find(const refs_dmrpp_scope *scope, const char *name,
                                       const refs_intern *names, const refs_dmrpp_declared *items) {
    refs_str group = path_of(scope);
    uint32_t id = REFS_INTERN_NONE;
    if (*name == '/') {
        id = refs_intern_find(names, refs_str_from(name));
        return id != REFS_INTERN_NONE ? &items[id] : NULL;
    }
    for (;;) {
        id = find_in(group, name, names);
        if (id != REFS_INTERN_NONE) return &items[id];
        if (group.size == 0) return NULL;
        group = refs_path_parent(group);
    }
}

const refs_dmrpp_declared *refs_references__scope_dimension(const refs_dmrpp_scope *scope,
                                                            const char *name) {
    return find(scope, name, &scope->dimensions, scope->of_dimensions);
}

const refs_dmrpp_declared *refs_references__scope_enumeration(const refs_dmrpp_scope *scope,
                                                              const char *name) {
    return find(scope, name, &scope->enumerations, scope->of_enumerations);
}
