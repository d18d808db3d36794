/* icechunk.c -- see icechunk.h. */
#include "icechunk/icechunk.h"

#include "icechunk/manifest.h"
#include "icechunk/old_refs.h"
#include "icechunk/repo_info.h"
#include "icechunk/sealed_holes.h"

struct refs_icechunk {
    refs_icechunk_source source;
    char *folder;
    refs_object_id id;
    char id_text[REFS_OBJECT_ID_TEXT + 1];
    refs_repo_info info; /* of format 2 */
    refs_icechunk_snapshot snapshot;
    refs_block_cache *manifests;
};

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status load_manifest(void *user, refs_block_id id, refs_loaded_block *loaded,
                                 refs_error *err) {
    const refs_icechunk *repository = user;
    return refs_icechunk__manifest_read(&repository->source, &repository->snapshot,
                                        (uint32_t)id.number, loaded, err);
}

static refs_status check_version(const refs_icechunk_version *version, refs_error *err) {
    const int n = (version->branch != NULL) + (version->tag != NULL) + (version->snapshot != NULL) +
                  (version->tag_or_snapshot != NULL);
    if (n > 1)
        return refs_fail(err, REFS_INVALID,
                         "expected one of branch, tag and snapshot, found several");
    if (version->as_of != NULL && n == 1 && version->branch == NULL)
        return refs_fail(err, REFS_INVALID,
                         "a time selects a snapshot of a branch: leave out tag and snapshot");
    return REFS_OK;
}

static refs_status choose(refs_icechunk *repository, const refs_icechunk_version *version,
                          refs_error *err) {
    if (repository->source.format == 1)
        return refs_icechunk__old_choose(&repository->source, version, &repository->id,
                                         &repository->snapshot.buffer, err);
    REFS_TRY(refs_icechunk__info_read(&repository->source, &repository->info, err));
    return refs_icechunk__info_choose(&repository->info, version, &repository->id, err);
}

static refs_status read_snapshot(refs_icechunk *repository, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_icechunk__id_format(repository->id.bytes, repository->id_text);
    refs_status status = refs_icechunk__snapshot_read(&repository->source, &repository->id,
                                                      &repository->snapshot, &problem);
    if (status == REFS_NOT_FOUND)
        return refs_fail(err, REFS_INVALID, "%s (it may have expired)", problem.message);
    return refs_fail(err, status, "%s", problem.message);
}

static refs_status open_repository(refs_icechunk *opened, const refs_icechunk_source *source,
                                   const refs_icechunk_version *version, refs_error *err) {
    REFS_TRY(check_version(version, err));
    REFS_TRY(refs_str_keep(refs_str_from(source->folder), &opened->folder, err));
    opened->source = *source;
    opened->source.folder = opened->folder;
    REFS_TRY(choose(opened, version, err));
    REFS_TRY(read_snapshot(opened, err));
    return refs_block_cache_open(source->limits.max_kept_bytes, load_manifest, opened,
                                 &opened->manifests, err);
}

refs_status refs_icechunk_open(const refs_icechunk_source *source,
                               const refs_icechunk_version *version, refs_icechunk **repository,
                               refs_error *err) {
    refs_icechunk *opened = refs_calloc(1, sizeof *opened);
    *repository = NULL;
    if (opened == NULL) return refs_fail_nomem(err);
    refs_status status = open_repository(opened, source, version, err);
    if (status == REFS_OK)
        *repository = opened;
    else
        refs_icechunk_free(opened);
    return status;
}

void refs_icechunk_free(refs_icechunk *repository) {
    if (repository == NULL) return;
    refs_block_cache_free(repository->manifests);
    refs_icechunk__snapshot_clear(&repository->snapshot);
    refs_icechunk__info_clear(&repository->info);
    refs_free(repository->folder);
    refs_free(repository);
}

refs_status refs_icechunk_each_node(const refs_icechunk *repository,
                                    const refs_icechunk_node_visitor *visitor, refs_error *err) {
    return refs_icechunk__snapshot_each_node(&repository->snapshot, visitor, err);
}

refs_status refs_icechunk_seal(const refs_icechunk *repository, refs_str path, char seal[25],
                               refs_error *err) {
    const refs_icechunk_snapshot *snapshot = &repository->snapshot;
    const uint32_t number =
        refs_icechunk__snapshot_find(snapshot, refs_str_part(path, 1, path.size));
    REFS_SCOPED_BUF ids = REFS_BUF_INIT;
    *seal = '\0';
    if (number == REFS_INTERN_NONE) return REFS_OK;
    const refs_icechunk_node *node = &snapshot->nodes[number];
    for (size_t i = node->begin; i < node->end; i++)
        REFS_TRY(refs_buf_append_str(
            &ids, refs_intern_get(&snapshot->manifests, snapshot->refs[i].manifest), err));
    refs_icechunk__seal_of(ids.data, node->end - node->begin, seal);
    return REFS_OK;
}

size_t refs_icechunk_memory(const refs_icechunk *repository) {
    const refs_icechunk_snapshot *snapshot = &repository->snapshot;
    return sizeof *repository + repository->info.buffer.capacity + snapshot->buffer.capacity +
           refs_intern_memory(&snapshot->paths) + refs_intern_memory(&snapshot->manifests) +
           snapshot->node_capacity * sizeof *snapshot->nodes +
           snapshot->ref_capacity * sizeof *snapshot->refs +
           snapshot->manifests.count * sizeof *snapshot->files;
}

/* -- chunks ------------------------------------------------------------------------------------ */

/* A search for a chunk in one manifest after another. */
typedef struct search {
    refs_icechunk *repository;
    refs_icechunk_wanted wanted;
    refs_icechunk_chunk *chunk;
} search;

static void name_manifest(const refs_icechunk *repository, uint32_t number, refs_error *err) {
    char text[REFS_OBJECT_ID_TEXT + 1];
    refs_icechunk__id_format(
        (const uint8_t *)refs_intern_get(&repository->snapshot.manifests, number).data, text);
    refs_error_prefix(err, "%s/manifests/%s", repository->folder, text);
}

static refs_status search_manifest(void *user, const refs_manifest_ref *manifest, refs_error *err) {
    const search *of = user;
    refs_icechunk *repository = of->repository;
    refs_block *block;
    const refs_block_id id = {0, manifest->manifest};
    refs_icechunk_wanted wanted = of->wanted;
    wanted.bounds = manifest->bounds;
    REFS_TRY(refs_block_cache_get(repository->manifests, id, &block, err));
    refs_status status =
        refs_icechunk__manifest_find(&repository->source, block, &wanted, of->chunk, err);
    if (status != REFS_OK && status != REFS_NOT_FOUND)
        name_manifest(repository, manifest->manifest, err);
    refs_block_release(block);
    return status;
}

refs_status refs_icechunk_find(refs_icechunk *repository, const refs_icechunk_place *place,
                               refs_icechunk_chunk *chunk, refs_error *err) {
    const uint32_t number = refs_icechunk__snapshot_find(&repository->snapshot, place->path);
    memset(chunk, 0, sizeof *chunk);
    if (number == REFS_INTERN_NONE) return REFS_NOT_FOUND;
    const refs_icechunk_node *node = &repository->snapshot.nodes[number];
    if (node->rank != place->rank) return REFS_NOT_FOUND;
    search of = {repository, {node, place->index, NULL}, chunk};
    const refs_manifest_visitor visitor = {search_manifest, &of};
    return refs_icechunk__snapshot_each_manifest(&repository->snapshot, &of.wanted, &visitor, err);
}

refs_status refs_icechunk_each_index(refs_icechunk *repository, const refs_icechunk_place *place,
                                     const refs_icechunk_index_visitor *visitor, refs_error *err) {
    const refs_icechunk_snapshot *snapshot = &repository->snapshot;
    const uint32_t number = refs_icechunk__snapshot_find(snapshot, place->path);
    if (number == REFS_INTERN_NONE) return REFS_OK;
    const refs_icechunk_node *node = &snapshot->nodes[number];
    if (node->rank != place->rank) return REFS_OK;
    for (size_t i = node->begin; i < node->end; i++) {
        const refs_manifest_ref *manifest = &snapshot->refs[i];
        const refs_icechunk_wanted wanted = {node, NULL, manifest->bounds};
        const refs_block_id id = {0, manifest->manifest};
        refs_block *block;
        REFS_TRY(refs_block_cache_get(repository->manifests, id, &block, err));
        const refs_status status = refs_icechunk__manifest_each_index(block, &wanted, visitor, err);
        if (status != REFS_OK) name_manifest(repository, manifest->manifest, err);
        refs_block_release(block);
        REFS_TRY(status);
    }
    return REFS_OK;
}

refs_status refs_icechunk_container(const refs_icechunk *repository, refs_str name,
                                    refs_str *prefix, refs_error *err) {
    return refs_icechunk__info_container(&repository->info, name, prefix, err);
}

refs_status refs_icechunk_each_entry(const refs_icechunk *repository,
                                     const refs_icechunk_entry_visitor *visitor, refs_error *err) {
    return repository->source.format == 1
               ? refs_icechunk__old_each_entry(&repository->source, &repository->id, visitor, err)
               : refs_icechunk__info_each_entry(&repository->info, &repository->id, visitor, err);
}
