/* upkeep.c -- tags, and files that are not needed, see upkeep.h. */
#include "icechunk/upkeep.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "icechunk/commit.h"
#include "icechunk/file.h"
#include "icechunk/schema.h"
#include "refs/file_name.h"
#include "refs/folder.h"
#include "version.h"

/* Limit of tries to add a tag while others commit. */
#define MAX_TRIES 20

/* -- tags -------------------------------------------------------------------------------------- */

static refs_status add_tag(const refs_commit_place *place, const refs_icechunk_version *version,
                           const char *tag, refs_error *err) {
    const char *folder = place->staged->written;
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        refs_icechunk_tip tip = {.written_us = 0};
        refs_status status = refs_icechunk__commit_begin(place, version, &tip, err);
        if (status == REFS_OK) status = refs_icechunk__commit_tag(folder, tag, &tip, err);
        if (status == REFS_OK) status = refs_icechunk__commit_end(place, &tip.info, tag, err);
        refs_icechunk__tip_clear(&tip);
        if (status != REFS_CANCELLED) return status;
        refs_icechunk__commit_forget(folder);
    }
    return refs_fail(err, REFS_IO, "other programs commit all the time: try again later");
}

static refs_status check_tag(const char *tag, refs_error *err) {
    if (*tag != '\0') return REFS_OK;
    return refs_fail(err, REFS_INVALID, "a tag has no name: expected at least one character");
}

static refs_status check_repository(const char *folder, refs_error *err) {
    REFS_SCOPED_BUF info = REFS_BUF_INIT;
    if (access(folder, F_OK) != 0)
        return refs_fail(err, REFS_NOT_FOUND, "%s: %s", folder, strerror(errno));
    REFS_TRY(refs_buf_printf(&info, err, "%s/repo%c", folder, '\0'));
    if (access((const char *)info.data, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
        return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: expected an Icechunk repository of format 2, a folder with a file repo, "
                     "found none: refs convert SET -o NAME.icechunk makes one of a set",
                     folder);
}

static refs_status tag_named(const refs_named_version *named, const char *tag,
                             const refs_write_store *store, refs_error *err) {
    const refs_set_version nothing = {NULL, NULL, NULL, NULL};
    refs_icechunk_version version;
    refs_staged staged = {.wanted = NULL};
    REFS_TRY(check_tag(tag, err));
    REFS_TRY(refs_references__version_choose(named, &nothing, &version, err));
    REFS_SCOPED char *folder = refs_str_copy(named->folder);
    if (folder == NULL) return refs_fail_nomem(err);
    if (store == NULL) REFS_TRY(check_repository(folder, err));
    refs_status status = refs_staged_open(folder, REFS_STAGED_FOLDER, &staged, err);
    if (status == REFS_OK) {
        status = add_tag(&(refs_commit_place){&staged, store}, &version, tag, err);
        if (status != REFS_OK)
            refs_error_prefix(err, "%s", store != NULL ? store->location : folder);
    }
    refs_staged_clear(&staged);
    return status;
}

refs_str refs_icechunk_folder_of(refs_str name) {
    refs_named_version named;
    const refs_status status = refs_references__version_split(name, &named, NULL);
    const refs_str folder = status == REFS_OK ? named.folder : name;
    refs_references__version_clear(&named);
    return folder;
}

refs_status refs_icechunk_tag(const char *name, const char *tag, const refs_write_store *store,
                              refs_error *err) {
    refs_named_version named;
    refs_status status = refs_references__version_split(refs_str_from(name), &named, err);
    if (status == REFS_OK) status = tag_named(&named, tag, store, err);
    refs_references__version_clear(&named);
    return status;
}

/* -- needed files ------------------------------------------------------------------------------ */

struct refs_icechunk_needed {
    const refs_vfs *vfs;
    char *folder;
    refs_intern names; /* of files with their folder: "manifests/4G31…" */
    refs_own_chunks chunks;
};
typedef refs_icechunk_needed needed;

static refs_status need(needed *all, const char *kind, const char *name, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    uint32_t number;
    REFS_TRY(refs_buf_printf(&text, err, "%s/%s", kind, name));
    return refs_intern_add(&all->names, refs_buf_text(&text), &number, err);
}

static refs_status need_id(needed *all, const char *kind, const uint8_t *id, refs_error *err) {
    char text[REFS_OBJECT_ID_TEXT + 1];
    refs_icechunk__id_format(id, text);
    return need(all, kind, text, err);
}

static refs_icechunk_source source_of(const needed *all) {
    return (refs_icechunk_source){all->vfs, all->folder, 2, REFS_ICECHUNK_LIMITS_INIT};
}

static refs_status need_chunks_of(needed *all, const refs_flat_table *array, refs_error *err) {
    refs_flat_vector refs;
    REFS_TRY(refs_icechunk__flat_vector(array, MANIFEST_ARRAY_REFS, 4, &refs, err));
    for (uint32_t i = 0; i < refs.n; i++) {
        refs_flat_table ref;
        const uint8_t *id;
        REFS_TRY(refs_icechunk__flat_table_at(&refs, i, &ref, err));
        REFS_TRY(refs_icechunk__flat_struct(&ref, CHUNK_ID, REFS_OBJECT_ID_SIZE, &id, err));
        if (id != NULL) REFS_TRY(need_id(all, "chunks", id, err));
    }
    return REFS_OK;
}

static refs_status need_chunks_in(needed *all, refs_bytes manifest, refs_error *err) {
    refs_flat_table root, array;
    refs_flat_vector arrays;
    REFS_TRY(refs_icechunk__flat_root(manifest, &root, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, MANIFEST_ARRAYS, 4, &arrays, err));
    for (uint32_t i = 0; i < arrays.n; i++) {
        REFS_TRY(refs_icechunk__flat_table_at(&arrays, i, &array, err));
        REFS_TRY(need_chunks_of(all, &array, err));
    }
    return REFS_OK;
}

static refs_status need_manifest(needed *all, const uint8_t *id, refs_error *err) {
    const refs_icechunk_source source = source_of(all);
    const size_t known = all->names.count;
    REFS_SCOPED_BUF location = REFS_BUF_INIT, manifest = REFS_BUF_INIT;
    REFS_TRY(need_id(all, "manifests", id, err));
    if (all->names.count == known || all->chunks == REFS_OWN_CHUNKS_NONE) return REFS_OK;
    REFS_TRY(refs_icechunk__object_location(&source, "manifests", id, &location, err));
    refs_icechunk_file which = {(const char *)location.data, REFS_ICECHUNK_MANIFEST, 0};
    REFS_TRY(refs_icechunk__file_read(&source, &which, &manifest, err));
    return need_chunks_in(all, refs_buf_view(&manifest), err);
}

static refs_status need_snapshot(needed *all, const refs_object_id *id, refs_error *err) {
    const refs_icechunk_source source = source_of(all);
    REFS_SCOPED_BY(refs_icechunk__snapshot_clear) refs_icechunk_snapshot snapshot = {.n_refs = 0};
    REFS_TRY(need_id(all, "snapshots", id->bytes, err));
    REFS_TRY(need_id(all, "transactions", id->bytes, err));
    REFS_TRY(refs_icechunk__snapshot_read(&source, id, &snapshot, err));
    for (uint32_t i = 0; i < snapshot.manifests.count; i++)
        REFS_TRY(
            need_manifest(all, (const uint8_t *)refs_intern_get(&snapshot.manifests, i).data, err));
    return REFS_OK;
}

/* Keeps the logs of expired snapshots. */
static refs_status need_pruned(needed *all, const refs_flat_table *info, refs_error *err) {
    refs_flat_vector pruned;
    REFS_TRY(refs_icechunk__flat_vector(info, INFO_PRUNED, REFS_OBJECT_ID_SIZE, &pruned, err));
    for (uint32_t i = 0; i < pruned.n; i++)
        REFS_TRY(need_id(all, "transactions",
                         refs_icechunk__flat_at(&pruned, i, REFS_OBJECT_ID_SIZE), err));
    return REFS_OK;
}

static refs_status need_snapshots(needed *all, const refs_repo_info *info, refs_error *err) {
    for (uint32_t i = 0; i < info->snapshots.n; i++) {
        refs_flat_table snapshot;
        refs_object_id id;
        const uint8_t *bytes;
        REFS_TRY(refs_icechunk__flat_table_at(&info->snapshots, i, &snapshot, err));
        REFS_TRY(refs_icechunk__flat_struct(&snapshot, INFO_ID, REFS_OBJECT_ID_SIZE, &bytes, err));
        if (bytes == NULL) return refs_fail(err, REFS_CORRUPT, "a snapshot has no id");
        memcpy(id.bytes, bytes, sizeof id.bytes);
        REFS_TRY(need_snapshot(all, &id, err));
        REFS_TRY(need_pruned(all, &snapshot, err));
    }
    return REFS_OK;
}

/* Adds the infos that updates name. *older becomes the name of the file with older updates, or
 * empty. */
static refs_status need_updates(needed *all, refs_bytes info, refs_buf *older, refs_error *err) {
    refs_flat_table root, update;
    refs_flat_vector updates;
    refs_str name;
    REFS_TRY(refs_icechunk__flat_root(info, &root, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, REPO_LATEST_UPDATES, 4, &updates, err));
    for (uint32_t i = 0; i < updates.n; i++) {
        REFS_TRY(refs_icechunk__flat_table_at(&updates, i, &update, err));
        REFS_TRY(refs_icechunk__flat_string(&update, UPDATE_BACKUP, &name, err));
        if (name.data == NULL) continue;
        REFS_SCOPED char *text = refs_str_copy(name);
        if (text == NULL) return refs_fail_nomem(err);
        const refs_status status = need(all, "overwritten", text, err);
        REFS_TRY(status);
    }
    older->size = 0;
    REFS_TRY(refs_icechunk__flat_string(&root, REPO_BEFORE_UPDATES, &name, err));
    return name.data != NULL ? refs_buf_append_str(older, name, err) : REFS_OK;
}

/* Walks from the newest info to the oldest; ends at a name that it has seen. */
static refs_status need_infos(needed *all, const refs_repo_info *info, refs_error *err) {
    const refs_icechunk_source source = source_of(all);
    REFS_SCOPED_BUF older = REFS_BUF_INIT, path = REFS_BUF_INIT, bytes = REFS_BUF_INIT;
    REFS_TRY(need_updates(all, refs_buf_view(&info->buffer), &older, err));
    while (older.size > 0) {
        const size_t known = all->names.count;
        path.size = bytes.size = 0;
        REFS_TRY(refs_buf_append(&older, "", 1, err));
        REFS_TRY(need(all, "overwritten", (const char *)older.data, err));
        if (all->names.count == known) break;
        REFS_TRY(refs_buf_printf(&path, err, "%s/overwritten/%s", all->folder,
                                 (const char *)older.data));
        refs_icechunk_file which = {(const char *)path.data, REFS_ICECHUNK_REPO, 0};
        REFS_TRY(refs_icechunk__file_read(&source, &which, &bytes, err));
        REFS_TRY(need_updates(all, refs_buf_view(&bytes), &older, err));
    }
    return REFS_OK;
}

static refs_status need_all(needed *all, refs_error *err) {
    const refs_icechunk_source source = source_of(all);
    REFS_SCOPED_BY(refs_icechunk__info_clear) refs_repo_info info = {.availability = 0};
    REFS_TRY(refs_icechunk__info_read(&source, &info, err));
    REFS_TRY(need_snapshots(all, &info, err));
    return need_infos(all, &info, err);
}

refs_status refs_icechunk_needed_open(const refs_vfs *vfs, const char *folder,
                                      refs_own_chunks chunks, refs_icechunk_needed **opened,
                                      refs_error *err) {
    needed *all = *opened = refs_calloc(1, sizeof *all);
    if (all == NULL) return refs_fail_nomem(err);
    all->vfs = vfs;
    all->chunks = chunks;
    REFS_TRY(refs_str_keep(refs_str_from(folder), &all->folder, err));
    return need_all(all, err);
}

void refs_icechunk_needed_free(refs_icechunk_needed *all) {
    if (all == NULL) return;
    refs_intern_clear(&all->names);
    refs_free(all->folder);
    refs_free(all);
}

/* The folders that commits write into. */
static const char *const kinds[] = {"chunks", "manifests", "overwritten", "snapshots",
                                    "transactions"};
#define N_KINDS (sizeof kinds / sizeof *kinds)

bool refs_icechunk_is_unused(const refs_icechunk_needed *all, refs_str path) {
    const size_t slash = refs_str_find(path, '/');
    size_t i = 0;
    if (slash == SIZE_MAX) return false;
    while (i < N_KINDS && !refs_str_is(refs_str_part(path, 0, slash), kinds[i])) i++;
    return i < N_KINDS && refs_intern_find(&all->names, path) == REFS_INTERN_NONE;
}

/* -- existing files ---------------------------------------------------------------------------- */

/* A folder of the repository, or its parent folder. */
typedef struct listing {
    const needed *all;
    const char *kind;    /* NULL: the parent folder */
    refs_str repository; /* the repository's name in the parent folder */
    const refs_unused_visitor *visitor;
} listing;

static refs_status show(const listing *at, int folder, const char *name, const char *path,
                        refs_error *err) {
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return REFS_OK;
    return at->visitor->visit(at->visitor->user, path, (uint64_t)status.st_size, err);
}

static refs_status show_unused(void *user, int folder, const char *name, refs_error *err) {
    const listing *at = user;
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&path, err, "%s/%s", at->kind, name));
    if (refs_icechunk_is_unused(at->all, refs_buf_text(&path)))
        REFS_TRY(show(at, folder, name, (const char *)path.data, err));
    return REFS_OK;
}

/* Reports "a.icechunk.tmp-…" next to "a.icechunk". */
static refs_status show_unfinished(void *user, int folder, const char *name, refs_error *err) {
    const listing *at = user;
    const refs_str text = refs_str_from(name);
    if (!refs_staged_is_unfinished(name) ||
        !refs_str_equal(refs_staged_wanted(text), at->repository))
        return REFS_OK;
    return show(at, folder, name, name, err);
}

static refs_status list_all(const needed *all, const refs_unused_visitor *visitor,
                            refs_error *err) {
    const refs_str folder = refs_str_from(all->folder);
    for (size_t i = 0; i < N_KINDS; i++) {
        listing at = {all, kinds[i], {NULL, 0}, visitor};
        const refs_folder_visitor each = {show_unused, &at};
        refs_buf path = REFS_BUF_INIT;
        REFS_TRY(refs_buf_printf(&path, err, "%s/%s", all->folder, kinds[i]));
        refs_error problem = REFS_ERROR_INIT;
        const refs_status status = refs_folder_each((const char *)path.data, &each, &problem);
        refs_buf_clear(&path);
        if (status != REFS_OK && status != REFS_NOT_FOUND)
            return refs_fail(err, status, "%s", problem.message);
    }
    listing beside = {all, NULL, refs_path_last(folder), visitor};
    const refs_folder_visitor each = {show_unfinished, &beside};
    REFS_SCOPED char *parent = refs_str_copy(refs_file_name_folder(folder));
    if (parent == NULL) return refs_fail_nomem(err);
    return refs_folder_each(parent, &each, err);
}

static refs_own_chunks look_for_chunks(const char *folder) {
    REFS_SCOPED_BUF chunks = REFS_BUF_INIT;
    const bool is_there = refs_buf_printf(&chunks, NULL, "%s/chunks%c", folder, '\0') == REFS_OK &&
                          access((const char *)chunks.data, F_OK) == 0;
    return is_there ? REFS_OWN_CHUNKS_SOME : REFS_OWN_CHUNKS_NONE;
}

refs_status refs_icechunk_list_unused(const char *folder, const refs_unused_visitor *visitor,
                                      refs_error *err) {
    refs_str name = refs_str_from(folder);
    while (name.size > 1 && refs_str_ends(name, "/")) name.size--;
    REFS_SCOPED char *plain = refs_str_copy(name);
    if (plain == NULL) return refs_fail_nomem(err);
    REFS_TRY(check_repository(plain, err));
    needed *all = NULL;
    refs_status status =
        refs_icechunk_needed_open(refs_vfs_posix(), plain, look_for_chunks(plain), &all, err);
    if (status == REFS_OK) status = list_all(all, visitor, err);
    refs_icechunk_needed_free(all);
    return status;
}
