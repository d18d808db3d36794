/* origin.c -- finds the file that names of fragments' files come from; see aggregation_internal.h.
 *
 * A local set may refer to bytes of a remote file: names in them are confined like that file
 * (refs_location_confine). Names are in a variable, or in attributes of the container (CFA-0.4);
 * attributes of the variable change them (substitutions of CFA-0.6). */
#include "aggregation_internal.h"
#include "refs/refset.h"
#include "refs/store.h"

/* A search, which ends at the first remote location. */
typedef struct search {
    const refs_set *set;
    char *origin;
} search;

static refs_status note_origin(search *job, const refs_ref *ref, refs_error *err) {
    if (ref->kind == REFS_REF_INLINE || ref->location == NULL || job->origin != NULL ||
        !refs_location_may_be_remote(refs_str_from(ref->location)))
        return REFS_OK;
    return refs_str_keep(refs_str_from(ref->location), &job->origin, err);
}

static refs_status visit_chunk(void *user, const uint64_t *index, const refs_ref *ref,
                               refs_error *err) {
    search *job = user;
    (void)index;
    REFS_TRY(note_origin(job, ref, err));
    return job->origin != NULL ? refs_fail(err, REFS_CANCELLED, "found") : REFS_OK;
}

static refs_status search_chunks(search *job, const refs_array_meta *meta, refs_error *err) {
    const refs_chunk_visitor visitor = {visit_chunk, job};
    uint64_t n[REFS_MAX_RANK];
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n);
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    REFS_TRY(refs_aggregation__check_elements(meta, err));
    refs_error stopped = REFS_ERROR_INIT;
    const refs_status status = refs_set_each_chunk(job->set, &keys, &visitor, &stopped);
    if (status == REFS_OK || job->origin != NULL) return REFS_OK;
    return refs_fail(err, status, "%s", stopped.message);
}

/* Searches the document `name` of the node at `path`. */
static refs_status search_document(search *job, refs_str path, const char *name, bool *is_there,
                                   refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_ref ref = {0};
    refs_status status = refs_buf_printf(&key, err, path.size > 0 ? "%.*s/%s" : "%.*s%s",
                                         REFS_STR_WHOLE(path), name);
    if (status == REFS_OK) status = refs_set_find(job->set, refs_buf_text(&key), &ref, err);
    *is_there = status == REFS_OK;
    if (status == REFS_OK) status = note_origin(job, &ref, err);
    refs_ref_release(&ref);
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

/* Searches the documents that may have the attributes: those of the array, or consolidated metadata
 * of a group above it. */
static refs_status search_attributes(search *job, const refs_array_meta *meta, refs_error *err) {
    static const char *const own[] = {"", ".zattrs", "zarr.json"};
    static const char *const above[] = {"", ".zmetadata", "zarr.json"};
    const char *const *const kinds = meta->zarr_format == 3 ? &own[2] : &own[1];
    refs_str path = refs_str_from(meta->path);
    bool is_there = false;
    while (refs_str_starts(path, "/")) path = refs_str_part(path, 1, path.size);
    REFS_TRY(search_document(job, path, *kinds, &is_there, err));
    while (!is_there && path.size > 0 && job->origin == NULL) {
        bool is_above = false;
        path = refs_path_parent(path);
        REFS_TRY(search_document(job, path, above[kinds - own], &is_above, err));
    }
    return REFS_OK;
}

static refs_status search_all(search *job, const refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *files = aggregation->terms.files;
    if (aggregation->encoding == &refs_encoding_rectilinear) return REFS_OK;
    REFS_TRY(search_attributes(job, &aggregation->container, err));
    if (files != NULL && job->origin == NULL) REFS_TRY(search_attributes(job, files, err));
    if (files != NULL && job->origin == NULL) REFS_TRY(search_chunks(job, files, err));
    return REFS_OK;
}

/* Threads that search at the same time get the same result. */
refs_status refs_aggregation__find_origin(refs_aggregation *aggregation, refs_error *err) {
    search job = {.set = refs_store_set(refs_hierarchy_store(aggregation->hierarchy))};
    refs_lock(&aggregation->lock);
    const bool has_origin = aggregation->has_origin;
    refs_unlock(&aggregation->lock);
    if (has_origin) return REFS_OK;
    const refs_status status = search_all(&job, aggregation, err);
    refs_lock(&aggregation->lock);
    if (status == REFS_OK && !aggregation->has_origin) {
        aggregation->has_origin = true;
        aggregation->named_by = job.origin;
        job.origin = NULL;
    }
    refs_unlock(&aggregation->lock);
    refs_free(job.origin);
    return status;
}
