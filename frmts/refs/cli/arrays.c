/* arrays.c -- see arrays.h. */
#include "arrays.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "refs/cf.h"
#include "refs/own_attributes.h"

/* Decoded chunks that are kept while boxes are read. */
#define CACHE_BYTES (256 * REFS_MIB)

/* Strings of one array. */
#define MAX_TEXTS 100000000

/* -- what is called back ----------------------------------------------------------------------- */

refs_status tool_arrays_open_array(tool_arrays *arrays, size_t i, refs_error *err) {
    if (arrays->arrays[i] != NULL) return REFS_OK;
    if (arrays->metas[i]->aggregation != NULL)
        return refs_fragments_open_array(arrays->fragments, arrays->metas[i], &arrays->arrays[i],
                                         err);
    return refs_array_open(&arrays->context, arrays->metas[i], &arrays->arrays[i], err);
}

static void close_array(tool_arrays *arrays, size_t i) {
    if (arrays->arrays[i] != NULL) refs_array_free(arrays->arrays[i]);
    arrays->arrays[i] = NULL;
}

static refs_status read_box(void *self, const refs_cfa_box *box, void *dst, refs_error *err) {
    tool_arrays *arrays = self;
    const refs_region region = {box->start, box->count, NULL};
    REFS_TRY(tool_arrays_open_array(arrays, box->array, err));
    const refs_status status = refs_array_read(arrays->arrays[box->array], &region, dst, NULL, err);
    if (arrays->keeps_nothing) close_array(arrays, box->array);
    return status;
}

bool tool_arrays_fills_gaps(const tool_arrays *arrays, size_t i) {
    return arrays->source.arrays[i].variable.fill == arrays->metas[i]->fill;
}

static refs_status find_stored(void *self, const refs_cfa_box *box, bool *is_stored,
                               refs_error *err) {
    tool_arrays *arrays = self;
    tool_stored *stored = &arrays->stored[box->array];
    *is_stored = true;
    if (!tool_arrays_fills_gaps(arrays, box->array)) return REFS_OK;
    if (stored->meta == NULL)
        REFS_TRY(tool_stored_open(arrays->set.set, arrays->metas[box->array], stored, err));
    *is_stored = tool_stored_has(stored, box->start, box->count);
    return REFS_OK;
}

static refs_status read_strings(void *self, size_t i, refs_buf *strings, refs_error *err) {
    tool_arrays *arrays = self;
    REFS_TRY(tool_arrays_open_array(arrays, i, err));
    const refs_status status = refs_array_read_strings(arrays->arrays[i], MAX_TEXTS, strings, err);
    if (arrays->keeps_nothing) close_array(arrays, i);
    return status;
}

static bool go_on(void *self, double done) {
    (void)done;
    return tool_go_on(self);
}

/* -- groups, dimensions, arrays ---------------------------------------------------------------- */

static char *keep_bytes(tool_arrays *arrays, size_t size) {
    char *bytes = refs_alloc(size);
    if (bytes == NULL || !refs_grow((void **)&arrays->strings, &arrays->texts_capacity,
                                    arrays->n_strings, sizeof *arrays->strings)) {
        refs_free(bytes);
        return NULL;
    }
    return arrays->strings[arrays->n_strings++] = bytes;
}

static const char *keep_text(tool_arrays *arrays, const char *before, const char *between,
                             const char *behind) {
    const size_t size = strlen(before) + strlen(between) + strlen(behind) + 1;
    char *text = keep_bytes(arrays, size);
    if (text != NULL) snprintf(text, size, "%s%s%s", before, between, behind);
    return text;
}

/* All groups but those that only say what aggregations are made of. */
static refs_status take_groups(tool_arrays *arrays, refs_error *err) {
    const refs_hierarchy *hierarchy = arrays->set.hierarchy;
    const size_t n = refs_hierarchy_n_groups(hierarchy);
    refs_cfa_group *groups = refs_calloc(n, sizeof *groups);
    arrays->source.groups = groups;
    if (groups == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const refs_group_meta *group = refs_hierarchy_group(hierarchy, i);
        if (group->is_instruction) continue;
        groups[arrays->source.n_groups++] = (refs_cfa_group){group->path, group->attributes};
    }
    return REFS_OK;
}

static refs_cfa_dimension *find_dim(tool_arrays *arrays, const char *path) {
    refs_cfa_dimension *dims = (refs_cfa_dimension *)(uintptr_t)arrays->source.dims;
    for (size_t i = 0; i < arrays->source.n_dims; i++)
        if (strcmp(dims[i].path, path) == 0) return &dims[i];
    return NULL;
}

/* The group, this one or one above it, that says that its dimension of this name has no limit: ""
 * is the root. NULL: none does. */
static const char *unlimited_group(const tool_arrays *arrays, const char *group, const char *name) {
    for (refs_str path = refs_str_from(group);;
         path = refs_str_part(path, 0, refs_str_find_last(path, '/'))) {
        const refs_group_meta *meta = refs_hierarchy_find_group(arrays->set.hierarchy, path);
        const refs_json *list =
            meta != NULL ? refs_json_get(meta->attributes, REFS_UNLIMITED_DIMENSIONS) : NULL;
        for (size_t i = 0; i < refs_json_size(list); i++)
            if (refs_str_is(refs_json_text(refs_json_at(list, i)), name))
                return path.size > 0 ? meta->path : "";
        if (path.size == 0) return NULL;
    }
}

/* A dimension without a limit is of the group that says so. Others are of the root, unless that has
 * one of its name and another size. */
static refs_status add_dim(tool_arrays *arrays, const refs_array_meta *meta, size_t d,
                           const char *name, refs_error *err) {
    refs_cfa_dimension *dims = (refs_cfa_dimension *)(uintptr_t)arrays->source.dims;
    const char *owner = unlimited_group(arrays, meta->group, name);
    const refs_cfa_growth growth = owner != NULL ? REFS_CFA_UNLIMITED : REFS_CFA_FIXED;
    const char *path = keep_text(arrays, owner != NULL ? owner : "", "/", name);
    if (path == NULL) return refs_fail_nomem(err);
    const refs_cfa_dimension *known = find_dim(arrays, path);
    if (known != NULL && known->size == meta->shape[d]) return REFS_OK;
    if (known != NULL) path = keep_text(arrays, meta->group, "/", name);
    if (path == NULL) return refs_fail_nomem(err);
    if (find_dim(arrays, path) == NULL)
        dims[arrays->source.n_dims++] = (refs_cfa_dimension){path, meta->shape[d], growth, false};
    return REFS_OK;
}

/* Dimensions of a group that no array has. */
static refs_status add_unused(tool_arrays *arrays, const refs_cfa_group *group, refs_error *err) {
    const refs_json *sizes = refs_json_get(group->attributes, REFS_UNUSED_DIMENSIONS);
    refs_cfa_dimension *dims = (refs_cfa_dimension *)(uintptr_t)arrays->source.dims;
    for (size_t i = 0; i < refs_json_size(sizes); i++) {
        uint64_t size = 0;
        char *name = refs_str_copy(refs_json_name_at(sizes, i));
        const char *path = name != NULL ? keep_text(arrays, group->path, "/", name) : NULL;
        refs_free(name);
        if (path == NULL) return refs_fail_nomem(err);
        if (refs_json_u64(refs_json_at(sizes, i), &size) && find_dim(arrays, path) == NULL)
            dims[arrays->source.n_dims++] = (refs_cfa_dimension){path, size, REFS_CFA_FIXED, true};
    }
    return REFS_OK;
}

/* Files declare it in an attribute, other sets in the metadata, too. */
static bool may_declare(const tool_arrays *arrays, const refs_array_meta *meta) {
    return refs_json_get(meta->attributes, "_FillValue") != NULL || meta->aggregation != NULL ||
           !refs_set_is_file(arrays->set.set);
}

/* The declared missing value, not the fill of gaps in Zarr and HDF5: a zero that was not declared
 * is a value (decision 12). NULL: nothing is. */
static refs_status find_fill(tool_arrays *arrays, const refs_array_meta *meta, const uint8_t **fill,
                             refs_error *err) {
    uint8_t declared[sizeof(double)];
    const bool has_only_values = meta->aggregation != NULL && refs_cf_has_only_values(meta),
               is_judged = meta->aggregation == NULL && refs_dtype_is_numeric(&meta->dtype) &&
                           meta->dtype.size <= sizeof declared;
    *fill = NULL;
    if (has_only_values || !may_declare(arrays, meta)) return REFS_OK;
    if (!is_judged) {
        if (meta->has_fill) *fill = meta->fill;
    } else if (refs_cf_declared_fill(arrays->set.hierarchy, meta, declared)) {
        const bool is_of_gaps =
            meta->has_fill && memcmp(declared, meta->fill, meta->dtype.size) == 0;
        if (is_of_gaps) *fill = meta->fill;
        if (is_of_gaps) return REFS_OK;
        char *kept = keep_bytes(arrays, sizeof declared);
        if (kept == NULL) return refs_fail_nomem(err);
        memcpy(kept, declared, sizeof declared);
        *fill = (const uint8_t *)kept;
    }
    return REFS_OK;
}

static refs_status add_array(tool_arrays *arrays, const refs_array_meta *meta, const char **dims,
                             refs_error *err) {
    refs_cfa_array *list = (refs_cfa_array *)(uintptr_t)arrays->source.arrays;
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    for (size_t d = 0; d < meta->rank; d++) {
        dims[d] =
            meta->named_dims ? meta->dims[d] : keep_text(arrays, meta->name, "_", meta->dims[d]);
        if (dims[d] == NULL) return refs_fail_nomem(err);
        REFS_TRY(add_dim(arrays, meta, d, dims[d], err));
    }
    const uint8_t *fill;
    REFS_TRY(find_fill(arrays, meta, &fill, err));
    arrays->metas[arrays->source.n_arrays] = meta;
    list[arrays->source.n_arrays++] =
        (refs_cfa_array){{meta->path, meta->dtype, meta->rank, dims, meta->attributes, fill,
                          refs_cf_keeps_default_fill(meta)},
                         meta->shape};
    return REFS_OK;
}

static refs_status take_arrays(tool_arrays *arrays, refs_error *err) {
    const refs_hierarchy *hierarchy = arrays->set.hierarchy;
    size_t n = refs_hierarchy_n_arrays(hierarchy), n_dims = 0;
    for (size_t i = 0; i < n; i++) n_dims += refs_hierarchy_array(hierarchy, i)->rank;
    for (size_t i = 0; i < arrays->source.n_groups; i++)
        n_dims += refs_json_size(
            refs_json_get(arrays->source.groups[i].attributes, REFS_UNUSED_DIMENSIONS));
    arrays->source.arrays = refs_calloc(n + 1, sizeof *arrays->source.arrays);
    arrays->source.dims = refs_calloc(n_dims + 1, sizeof *arrays->source.dims);
    arrays->metas = refs_calloc(n + 1, sizeof *arrays->metas);
    arrays->arrays = refs_calloc(n + 1, sizeof *arrays->arrays);
    arrays->stored = refs_calloc(n + 1, sizeof *arrays->stored);
    arrays->dims = refs_calloc(n_dims + 1, sizeof *arrays->dims);
    if (arrays->source.arrays == NULL || arrays->source.dims == NULL || arrays->metas == NULL ||
        arrays->arrays == NULL || arrays->stored == NULL || arrays->dims == NULL)
        return refs_fail_nomem(err);
    const char **dims = arrays->dims;
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (meta->is_instruction) continue;
        REFS_TRY(add_array(arrays, meta, dims, err));
        dims += meta->rank;
    }
    for (size_t i = 0; i < arrays->source.n_groups; i++)
        REFS_TRY(add_unused(arrays, &arrays->source.groups[i], err));
    return REFS_OK;
}

/* -- what is no array -------------------------------------------------------------------------- */

typedef struct other_keys {
    refs_buf names; /* of the first of them */
    uint64_t n;
} other_keys;

static refs_status add_other(void *user, refs_str key, const refs_ref *ref, refs_error *err) {
    other_keys *keys = user;
    (void)ref;
    if (keys->n++ >= REFS_COMBINE_MAX_REPORTED) return REFS_OK;
    if (keys->names.size > 0) REFS_TRY(refs_buf_append(&keys->names, ", ", 2, err));
    return refs_buf_append_str(&keys->names, key, err);
}

static refs_status tell_others(const other_keys *keys, const char *name, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (keys->n == 0) return REFS_OK;
    REFS_TRY(refs_buf_printf(&text, err, "%s: keys that belong to no array are left out: %.*s",
                             name, (int)keys->names.size, (const char *)keys->names.data));
    if (keys->n > REFS_COMBINE_MAX_REPORTED)
        REFS_TRY(refs_buf_printf(&text, err, " and %llu more",
                                 (unsigned long long)(keys->n - REFS_COMBINE_MAX_REPORTED)));
    REFS_TRY(refs_buf_append(&text, "", 1, err));
    tool_note(NULL, REFS_NOTE_WARNING, (const char *)text.data);
    return REFS_OK;
}

refs_status tool_arrays_tell_others(const tool_arrays *arrays, const char *name, refs_error *err) {
    const refs_hierarchy *hierarchy = arrays->set.hierarchy;
    const size_t n = refs_hierarchy_n_arrays(hierarchy);
    other_keys others = {.names = REFS_BUF_INIT};
    const refs_key_visitor visitor = {add_other, &others};
    REFS_SCOPED refs_chunk_keys *keys = refs_calloc(n + 1, sizeof *keys);
    uint64_t(*grids)[REFS_MAX_RANK] = refs_calloc(n + 1, sizeof *grids);
    size_t n_keys = 0;
    refs_status status = keys != NULL && grids != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (meta->status != REFS_OK || meta->aggregation != NULL) continue;
        keys[n_keys] = tool_keys(meta, grids[n_keys]);
        n_keys++;
    }
    if (status == REFS_OK)
        status = refs_set_each_other(arrays->set.set, keys, n_keys, &visitor, err);
    if (status == REFS_OK) status = tell_others(&others, name, err);
    refs_free(grids);
    refs_buf_clear(&others.names);
    return status;
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status open_fragments(const tool_session *session, tool_arrays *arrays,
                                  refs_error *err) {
    const refs_set_options sets = tool_set_options(session);
    refs_fragments_options options = {
        .struct_size = sizeof options, .notes = {tool_note, NULL}, .sets = &sets};
    REFS_TRY(refs_aggregations_open(arrays->set.hierarchy, NULL, &arrays->aggregations, err));
    if (arrays->aggregations == NULL) return REFS_OK;
    options.hierarchy = arrays->set.hierarchy;
    options.location = arrays->location;
    options.vfs = session->vfs;
    options.fetcher = session->fetcher;
    options.arrays = arrays->context;
    options.missing = arrays->missing;
    options.units = arrays->units;
    options.changed = arrays->changed;
    options.advice =
        "where files moved, refs mv MASTER --rewrite 'OLD=>NEW' changes how such names "
        "begin";
    return refs_fragments_open(&options, &arrays->fragments, err);
}

static refs_status open_set(const tool_session *session, const char *name, tool_arrays *arrays,
                            refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(tool_location(name, &location, err));
    REFS_TRY(refs_buf_keep(&location, &arrays->location, err));
    REFS_TRY(tool_references_open(session, arrays->location, &arrays->set.set, err));
    REFS_TRY(refs_store_open(arrays->set.set, session->fetcher, &arrays->set.store, err));
    refs_store_set_name(arrays->set.store, arrays->location);
    REFS_TRY(refs_hierarchy_open(arrays->set.store, NULL, &arrays->set.hierarchy, err));
    return arrays->keeps_nothing ? REFS_OK : refs_cache_open(CACHE_BYTES, &arrays->cache, err);
}

static refs_status open_all(const tool_session *session, const char *name, tool_arrays *arrays,
                            refs_error *err) {
    REFS_TRY(open_set(session, name, arrays, err));
    arrays->context = (refs_array_context){.store = arrays->set.store, .cache = arrays->cache};
    REFS_TRY(open_fragments(session, arrays, err));
    arrays->source.self = arrays;
    arrays->source.read = read_box;
    arrays->source.find_stored = find_stored;
    arrays->source.read_strings = read_strings;
    arrays->source.progress = go_on;
    REFS_TRY(take_groups(arrays, err));
    return take_arrays(arrays, err);
}

static refs_status open_as(const tool_arrays *as, const tool_session *session, const char *name,
                           tool_arrays *arrays, refs_error *err) {
    *arrays = *as;
    refs_status status = open_all(session, name, arrays, err);
    if (status != REFS_OK) tool_arrays_close(arrays);
    return status;
}

refs_status tool_arrays_open(const tool_session *session, const char *name, tool_arrays *arrays,
                             refs_error *err) {
    return open_as(&(tool_arrays){.changed = session->changed}, session, name, arrays, err);
}

refs_status tool_arrays_open_part(const tool_session *session, const char *name,
                                  tool_arrays *arrays, refs_error *err) {
    const tool_arrays part = {.keeps_nothing = true, .changed = session->changed};
    return open_as(&part, session, name, arrays, err);
}

refs_status tool_arrays_open_whole(const tool_session *session, const char *name,
                                   tool_arrays *arrays, refs_error *err) {
    const tool_arrays whole = {
        .missing = REFS_MISSING_ERROR,
        .units = REFS_CF_ROUND,
        .changed = session->changed == REFS_CHANGED_ERROR ? REFS_CHANGED_STRICT : session->changed};
    return open_as(&whole, session, name, arrays, err);
}

void tool_arrays_close(tool_arrays *arrays) {
    for (size_t i = 0; arrays->arrays != NULL && i < arrays->source.n_arrays; i++)
        close_array(arrays, i);
    for (size_t i = 0; arrays->stored != NULL && i < arrays->source.n_arrays; i++)
        tool_stored_clear(&arrays->stored[i]);
    if (arrays->fragments != NULL) refs_fragments_free(arrays->fragments);
    if (arrays->set.hierarchy != NULL) refs_hierarchy_free(arrays->set.hierarchy);
    if (arrays->aggregations != NULL) refs_aggregations_free(arrays->aggregations);
    if (arrays->cache != NULL) refs_cache_free(arrays->cache);
    if (arrays->set.store != NULL) refs_store_free(arrays->set.store);
    refs_set_free(arrays->set.set);
    for (size_t i = 0; i < arrays->n_strings; i++) refs_free(arrays->strings[i]);
    refs_free(arrays->strings);
    refs_free(arrays->dims);
    refs_free(arrays->arrays);
    refs_free(arrays->stored);
    refs_free(arrays->metas);
    refs_free((void *)(uintptr_t)arrays->source.groups);
    refs_free((void *)(uintptr_t)arrays->source.dims);
    refs_free((void *)(uintptr_t)arrays->source.arrays);
    refs_free(arrays->location);
    memset(arrays, 0, sizeof *arrays);
}

size_t tool_arrays_find(const tool_arrays *arrays, const char *path) {
    for (size_t i = 0; path != NULL && i < arrays->source.n_arrays; i++)
        if (strcmp(arrays->source.arrays[i].variable.path, path) == 0) return i;
    return SIZE_MAX;
}
