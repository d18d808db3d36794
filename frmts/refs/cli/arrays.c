/* arrays.c -- see arrays.h. */
#include "arrays.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refs/cf.h"
#include "refs/own_attributes.h"

/* The size of the chunk cache. */
#define CACHE_BYTES (256 * REFS_MIB)

/* Limit of strings of one array. */
#define MAX_TEXTS 100000000

/* -- callbacks --------------------------------------------------------------------------------- */

refs_status tool_arrays_open_array(tool_arrays *arrays, size_t i, refs_error *err) {
    if (arrays->arrays[i] != NULL) return REFS_OK;
    if (arrays->described.metas[i]->aggregation != NULL)
        return refs_fragments_open_array(arrays->fragments, arrays->described.metas[i],
                                         &arrays->arrays[i], err);
    return refs_array_open(&arrays->context, arrays->described.metas[i], &arrays->arrays[i], err);
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

static refs_status find_stored(void *self, const refs_cfa_box *box, bool *is_stored,
                               refs_error *err) {
    tool_arrays *arrays = self;
    refs_cfa_stored *stored = &arrays->stored[box->array];
    *is_stored = true;
    if (!refs_cfa_description_fills_gaps(&arrays->described, box->array)) return REFS_OK;
    if (stored->meta == NULL)
        REFS_TRY(refs_cfa_stored_open(arrays->set.set, arrays->described.metas[box->array], stored,
                                      err));
    *is_stored = refs_cfa_stored_has(stored, box->start, box->count);
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

/* -- other keys -------------------------------------------------------------------------------- */

typedef struct other_keys {
    refs_buf names; /* the first few names */
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
        keys[n_keys] = refs_array_meta_keys(meta, grids[n_keys]);
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
        "begin; REFS_MISSING=FILL in the environment reads missing files as nodata";
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
    REFS_TRY(
        refs_cfa_description_make(arrays->set.set, arrays->set.hierarchy, &arrays->described, err));
    const size_t n = arrays->described.source.n_arrays;
    REFS_NEW(arrays->arrays, n + 1, err);
    REFS_NEW(arrays->stored, n + 1, err);
    arrays->described.source.self = arrays;
    arrays->described.source.read = read_box;
    arrays->described.source.find_stored = find_stored;
    arrays->described.source.read_strings = read_strings;
    arrays->described.source.progress = go_on;
    return REFS_OK;
}

static refs_status open_as(const tool_arrays *as, const tool_session *session, const char *name,
                           tool_arrays *arrays, refs_error *err) {
    *arrays = *as;
    refs_status status = open_all(session, name, arrays, err);
    if (status != REFS_OK) tool_arrays_close(arrays);
    return status;
}

/* REFS_MISSING in the environment. */
static refs_missing missing_of_user(void) {
    const char *word = getenv("REFS_MISSING");
    refs_missing missing = REFS_MISSING_IF_UNRECORDED;
    if (word != NULL) (void)refs_missing_parse(word, &missing);
    return missing;
}

refs_status tool_arrays_open(const tool_session *session, const char *name, tool_arrays *arrays,
                             refs_error *err) {
    const tool_arrays some = {.missing = missing_of_user(), .changed = session->changed};
    return open_as(&some, session, name, arrays, err);
}

refs_status tool_arrays_open_part(const tool_session *session, const char *name,
                                  tool_arrays *arrays, refs_error *err) {
    const tool_arrays part = {
        .keeps_nothing = true, .missing = missing_of_user(), .changed = session->changed};
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
    for (size_t i = 0; arrays->arrays != NULL && i < arrays->described.source.n_arrays; i++)
        close_array(arrays, i);
    for (size_t i = 0; arrays->stored != NULL && i < arrays->described.source.n_arrays; i++)
        refs_cfa_stored_clear(&arrays->stored[i]);
    if (arrays->fragments != NULL) refs_fragments_free(arrays->fragments);
    if (arrays->set.hierarchy != NULL) refs_hierarchy_free(arrays->set.hierarchy);
    if (arrays->aggregations != NULL) refs_aggregations_free(arrays->aggregations);
    if (arrays->cache != NULL) refs_cache_free(arrays->cache);
    if (arrays->set.store != NULL) refs_store_free(arrays->set.store);
    refs_set_free(arrays->set.set);
    refs_free(arrays->arrays);
    refs_free(arrays->stored);
    refs_cfa_description_clear(&arrays->described);
    refs_free(arrays->location);
    memset(arrays, 0, sizeof *arrays);
}

size_t tool_arrays_find(const tool_arrays *arrays, const char *path) {
    for (size_t i = 0; path != NULL && i < arrays->described.source.n_arrays; i++)
        if (strcmp(arrays->described.source.arrays[i].variable.path, path) == 0) return i;
    return SIZE_MAX;
}
