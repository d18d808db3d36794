/* commit.c -- commits to a repository: moves or uploads its files, and replaces the info last; see
 * commit.h. */
#include "icechunk/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "icechunk/info_writer.h"
#include "icechunk/object_file.h"
#include "output.h"
#include "refs/folder.h"

#define INFO_NAME "repo"
#define OLD_INFOS "overwritten"

/* Backups of the info are named after the time that remains to the year 3000, so that the newest is
 * listed first. */
#define YEAR_3000_MS 32503680000000

/* Longest wait for a lock: ten seconds. */
#define LOCK_PAUSE_NS 20000000
#define LOCK_TRIES    500

/* -- files of a commit ------------------------------------------------------------------------- */

/* Appends "repo.<milliseconds to the year 3000>.<id>" and a NUL. The id is made of the new
 * snapshot or tag, so two commits on the same info have different backups. */
static refs_status append_backup(const refs_repo_info *info, const refs_info_change *change,
                                 refs_buf *name, refs_error *err) {
    char id[REFS_OBJECT_ID_TEXT + 1];
    uint8_t both[2 * REFS_OBJECT_ID_SIZE] = {0}, bytes[REFS_OBJECT_ID_SIZE];
    refs_icechunk__id_of(refs_buf_view(&info->buffer), both, REFS_OBJECT_ID_SIZE);
    if (change->snapshot != NULL)
        memcpy(both + REFS_OBJECT_ID_SIZE, change->snapshot->id.bytes, REFS_OBJECT_ID_SIZE);
    else if (change->tag != NULL)
        refs_icechunk__id_of(refs_bytes_view(change->tag, strlen(change->tag)),
                             both + REFS_OBJECT_ID_SIZE, REFS_OBJECT_ID_SIZE);
    refs_icechunk__id_of(refs_bytes_view(both, sizeof both), bytes, sizeof bytes);
    refs_icechunk__id_format(bytes, id);
    REFS_TRY(refs_buf_printf(name, err, INFO_NAME ".%lld.%s",
                             (long long)(YEAR_3000_MS - refs_icechunk__now_us() / 1000), id));
    return refs_buf_append(name, "", 1, err);
}

/* Replaces a file that an earlier attempt left. */
static refs_status write_file(const char *folder, const char *name, refs_bytes flatbuffer,
                              refs_error *err) {
    REFS_SCOPED_BUF file = REFS_BUF_INIT, path = REFS_BUF_INIT;
    REFS_TRY(refs_icechunk__pack(REFS_ICECHUNK_REPO, flatbuffer, &file, err));
    REFS_TRY(refs_write__make_folders(folder, refs_str_from(name), err));
    REFS_TRY(refs_buf_printf(&path, err, "%s/%s", folder, name));
    (void)unlink((const char *)path.data);
    return refs_write__file((const char *)path.data, refs_buf_view(&file), err);
}

static refs_status write_backup(const char *folder, const char *backup, const refs_repo_info *info,
                                refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&name, err, OLD_INFOS "/%s", backup));
    return write_file(folder, (const char *)name.data, refs_buf_view(&info->buffer), err);
}

static refs_status write_info(const char *folder, const refs_icechunk_tip *tip,
                              refs_info_change *change, refs_error *err) {
    REFS_SCOPED_BY(refs_icechunk__flat_clear) refs_flat_writer flat = {.n_vtables = 0};
    REFS_SCOPED_BUF backup = REFS_BUF_INIT;
    refs_status status = append_backup(&tip->info, change, &backup, err);
    change->backup = (const char *)backup.data;
    change->at_us = refs_icechunk__now_us();
    if (status == REFS_OK) status = write_backup(folder, change->backup, &tip->info, err);
    if (status == REFS_OK) status = refs_icechunk__info_change(&tip->info, change, &flat, err);
    if (status == REFS_OK) status = write_file(folder, INFO_NAME, refs_buf_view(&flat.bytes), err);
    return status;
}

static refs_status write_snapshot(const char *folder, const refs_icechunk_tip *tip,
                                  refs_written_nodes *nodes, refs_written_snapshot *snapshot,
                                  refs_error *err) {
    REFS_SCOPED_BY(refs_icechunk__flat_clear) refs_flat_writer flat = {.n_vtables = 0};
    refs_object_file file = {folder, "snapshots", snapshot->id.bytes, REFS_ICECHUNK_SNAPSHOT, 0};
    refs_icechunk__nodes_compare(nodes, &tip->nodes);
    refs_status status = refs_icechunk__nodes_build(nodes, snapshot, &flat, err);
    if (status == REFS_OK)
        status = refs_icechunk__write_object(&file, refs_buf_view(&flat.bytes), err);
    if (status == REFS_OK)
        status = refs_icechunk__nodes_build_log(nodes, &tip->nodes, snapshot, &flat, err);
    file.kind = "transactions";
    file.type = REFS_ICECHUNK_LOG;
    if (status == REFS_OK)
        status = refs_icechunk__write_object(&file, refs_buf_view(&flat.bytes), err);
    return status;
}

refs_status refs_icechunk__commit_write(const refs_commit *commit, const refs_icechunk_tip *tip,
                                        refs_written_nodes *nodes, refs_error *err) {
    const int64_t now_us = refs_icechunk__now_us();
    refs_written_snapshot snapshot = {.parent = tip->id,
                                      .has_parent = true,
                                      .written_us =
                                          now_us > tip->written_us ? now_us : tip->written_us + 1,
                                      .message = refs_str_from(commit->message)};
    refs_info_change change = {
        .snapshot = &snapshot, .branch = commit->branch, .config = commit->config};
    REFS_TRY(write_snapshot(commit->folder, tip, nodes, &snapshot, err));
    return write_info(commit->folder, tip, &change, err);
}

refs_status refs_icechunk__commit_tag(const char *folder, const char *tag,
                                      const refs_icechunk_tip *tip, refs_error *err) {
    refs_info_change change = {.tag = tag, .tagged = &tip->id};
    return write_info(folder, tip, &change, err);
}

void refs_icechunk__commit_forget(const char *folder) {
    static const char *const kinds[] = {"snapshots", "transactions", OLD_INFOS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        REFS_SCOPED_BUF path = REFS_BUF_INIT;
        if (refs_buf_printf(&path, NULL, "%s/%s%c", folder, kinds[i], '\0') == REFS_OK)
            refs_staged_remove((const char *)path.data);
    }
}

/* -- moving ------------------------------------------------------------------------------------ */

/* Files of one folder that are being moved into the repository. */
typedef struct moving {
    const char *from, *to;
} moving;

/* Not refs_staged_rename: move_folder syncs once for all files of a folder. */
static refs_status move_file(void *user, int folder, const char *name, refs_error *err) {
    const moving *at = user;
    REFS_SCOPED_BUF to = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&to, err, "%s/%s", at->to, name));
    const bool is_done = renameat(folder, name, AT_FDCWD, (const char *)to.data) == 0;
    return is_done ? REFS_OK : refs_staged_fail((const char *)to.data, err);
}

static refs_status move_folder(const char *from, const char *to, refs_error *err) {
    moving at = {from, to};
    const refs_folder_visitor visitor = {move_file, &at};
    if (mkdir(to, 0777) != 0 && errno != EEXIST) return refs_staged_fail(to, err);
    do REFS_TRY(refs_folder_each(from, &visitor, err));
    while (rmdir(from) != 0 && errno == ENOTEMPTY);
    return refs_staged_sync_folder(to, err);
}

/* Moves the folders of the commit; "repo" is replaced later. */
static refs_status move_one(void *user, int folder, const char *name, refs_error *err) {
    const moving *at = user;
    REFS_SCOPED_BUF from = REFS_BUF_INIT, to = REFS_BUF_INIT;
    (void)folder;
    if (strcmp(name, INFO_NAME) == 0) return REFS_OK;
    REFS_TRY(refs_buf_printf(&from, err, "%s/%s", at->from, name));
    REFS_TRY(refs_buf_printf(&to, err, "%s/%s", at->to, name));
    return move_folder((const char *)from.data, (const char *)to.data, err);
}

static refs_status move_info(const char *folder, const char *info, refs_error *err) {
    REFS_SCOPED_BUF from = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&from, err, "%s/" INFO_NAME, folder));
    return refs_staged_rename((const char *)from.data, info, err);
}

static refs_status move_all(const char *folder, const char *repository, const char *info,
                            refs_error *err) {
    moving at = {folder, repository};
    const refs_folder_visitor visitor = {move_one, &at};
    REFS_TRY(refs_folder_each(folder, &visitor, err));
    return move_info(folder, info, err);
}

/* Whether the info is unchanged since it was read, and the locked file still has its name: Icechunk
 * replaces the info by renaming another file, and locks the file that it replaces. */
static bool is_unchanged(int file, const char *path, const refs_repo_info *info) {
    struct stat locked, named;
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    const refs_icechunk_source source = {refs_vfs_posix(), path, 2, REFS_ICECHUNK_LIMITS_INIT};
    bool is_same = fstat(file, &locked) == 0 && stat(path, &named) == 0 &&
                   locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
    refs_icechunk_file which = {path, REFS_ICECHUNK_REPO, 0};
    is_same = is_same && refs_icechunk__file_read(&source, &which, &bytes, NULL) == REFS_OK &&
              refs_bytes_equal(refs_buf_view(&bytes), refs_buf_view(&info->buffer));
    return is_same;
}

/* Waits for the lock: other programs hold it while they move a few files. */
static refs_status lock(int file, const char *path, refs_error *err) {
    const struct timespec pause = {0, LOCK_PAUSE_NS};
    for (unsigned i = 0; flock(file, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK && errno != EINTR) return refs_staged_fail(path, err);
        if (i >= LOCK_TRIES)
            return refs_fail(err, REFS_IO, "%s: is locked by another program: try again later",
                             path);
        (void)nanosleep(&pause, NULL);
    }
    return REFS_OK;
}

static refs_status move_locked(const char *folder, const char *repository, const char *path,
                               const refs_repo_info *info, refs_error *err) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno == ENOENT ? REFS_CANCELLED : refs_staged_fail(path, err);
    refs_status status = lock(file, path, err);
    if (status == REFS_OK && !is_unchanged(file, path, info)) status = REFS_CANCELLED;
    if (status == REFS_OK) status = move_all(folder, repository, path, err);
    close(file);
    return status;
}

static refs_status move_to_repository(const refs_staged *staged, const refs_repo_info *info,
                                      refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_TRY(refs_staged_settle(staged, err));
    REFS_TRY(refs_buf_printf(&path, err, "%s/" INFO_NAME, staged->wanted));
    return move_locked(staged->written, staged->wanted, (const char *)path.data, info, err);
}

/* -- sending ----------------------------------------------------------------------------------- */

/* Files of one folder that are uploaded to a store, or removed from it again. */
typedef struct sending {
    const char *folder, *kind; /* kind NULL: the folder itself */
    const refs_write_store *store;
    const refs_repo_info
        *there; /* info of another commit, whose files stay when ours are removed */
} sending;

/* REFS_INVALID: the info does not name the snapshot. */
static refs_status find_named(const refs_repo_info *info, const char *id, refs_error *err) {
    const refs_icechunk_version version = {.snapshot = id};
    refs_object_id found;
    return refs_icechunk__info_choose(info, &version, &found, err);
}

static refs_status send_file(void *user, int folder, const char *name, refs_error *err) {
    const sending *at = user;
    REFS_SCOPED_BUF path = REFS_BUF_INIT, to = REFS_BUF_INIT;
    (void)folder;
    refs_status status = refs_buf_printf(&path, err, "%s/%s/%s", at->folder, at->kind, name);
    if (status == REFS_OK) status = refs_buf_printf(&to, err, "%s/%s", at->kind, name);
    if (status == REFS_OK && at->there == NULL)
        status =
            at->store->put(at->store->self, (const char *)path.data, (const char *)to.data, err);
    else if (status == REFS_OK && find_named(at->there, name, NULL) !=
                                      REFS_OK) /* the first snapshot belongs to all commits */
        at->store->remove(at->store->self, (const char *)to.data);
    return status;
}

static refs_status send_folder(void *user, int folder, const char *name, refs_error *err) {
    sending inner = *(const sending *)user;
    const refs_folder_visitor visitor = {send_file, &inner};
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    (void)folder;
    inner.kind = name;
    if (strcmp(name, INFO_NAME) == 0) return REFS_OK;
    /* chunks and manifests stay for the next attempt */
    if (inner.there != NULL && (strcmp(name, "chunks") == 0 || strcmp(name, "manifests") == 0))
        return REFS_OK;
    REFS_TRY(refs_buf_printf(&path, err, "%s/%s", inner.folder, name));
    return refs_folder_each((const char *)path.data, &visitor, err);
}

/* The snapshot that the tag, or without one the branch, leads to in the info in `folder`. */
static refs_status read_sent(const char *folder, const char *tag, refs_object_id *id,
                             refs_error *err) {
    const refs_icechunk_source source = {refs_vfs_posix(), folder, 2, REFS_ICECHUNK_LIMITS_INIT};
    const refs_icechunk_version version = {
        .branch = tag == NULL ? REFS_ICECHUNK_WRITTEN_BRANCH : NULL, .tag = tag};
    REFS_SCOPED_BY(refs_icechunk__info_clear) refs_repo_info info = {.availability = 0};
    REFS_TRY(refs_icechunk__info_read(&source, &info, err));
    return refs_icechunk__info_choose(&info, &version, id, err);
}

/* REFS_INVALID: the info has no such tag, or does not name the snapshot. */
static refs_status find_sent(const refs_repo_info *info, const char *tag, const refs_object_id *id,
                             refs_error *err) {
    const refs_icechunk_version version = {.tag = tag};
    char text[REFS_OBJECT_ID_TEXT + 1];
    refs_object_id found;
    refs_icechunk__id_format(id->bytes, text);
    if (tag == NULL) return find_named(info, text, err);
    REFS_TRY(refs_icechunk__info_choose(info, &version, &found, err));
    return memcmp(&found, id, sizeof found) == 0 ? REFS_OK : REFS_INVALID;
}

static refs_status read_there(const refs_write_store *store, refs_repo_info *info,
                              refs_error *err) {
    const refs_icechunk_source source = {store->vfs, store->location, 2, REFS_ICECHUNK_LIMITS_INIT};
    return refs_icechunk__info_read(&source, info, err);
}

/* The store refused since the info has changed. That may be our own earlier attempt, whose answer
 * was lost: files that the current info names are kept. */
static refs_status conclude(const char *folder, const refs_write_store *store, const char *tag,
                            refs_error *err) {
    refs_object_id id;
    REFS_SCOPED_BY(refs_icechunk__info_clear) refs_repo_info there = {.availability = 0};
    refs_error problem = REFS_ERROR_INIT;
    sending undone = {folder, NULL, store, &there};
    const refs_folder_visitor visitor = {send_folder, &undone};
    refs_status status = read_sent(folder, tag, &id, err);
    if (status == REFS_OK) status = read_there(store, &there, err);
    const bool is_read = status == REFS_OK;
    if (is_read) status = find_sent(&there, tag, &id, &problem);
    if (is_read && status == REFS_INVALID) {
        (void)refs_folder_each(folder, &visitor, NULL);
        status = REFS_CANCELLED;
    } else if (is_read && status != REFS_OK) {
        status = refs_fail(err, status, "%s", problem.message);
    }
    return status;
}

static refs_status send_to_store(const char *folder, const refs_write_store *store, const char *tag,
                                 refs_error *err) {
    sending at = {folder, NULL, store, NULL};
    const refs_folder_visitor visitor = {send_folder, &at};
    refs_error problem = REFS_ERROR_INIT;
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_TRY(refs_folder_each(folder, &visitor, err));
    REFS_TRY(refs_buf_printf(&path, err, "%s/" INFO_NAME, folder));
    const refs_status status =
        store->replace(store->self, (const char *)path.data, INFO_NAME, &problem);
    if (status == REFS_INVALID) return conclude(folder, store, tag, err);
    return status == REFS_OK ? REFS_OK : refs_fail(err, status, "%s", problem.message);
}

/* -- either ------------------------------------------------------------------------------------ */

refs_status refs_icechunk__commit_begin(const refs_commit_place *place,
                                        const refs_icechunk_version *version,
                                        refs_icechunk_tip *tip, refs_error *err) {
    const refs_write_store *store = place->store;
    if (store == NULL)
        return refs_icechunk__tip_read(refs_vfs_posix(), place->staged->wanted, version, tip, err);
    REFS_TRY(store->look(store->self, INFO_NAME, err));
    return refs_icechunk__tip_read(store->vfs, store->location, version, tip, err);
}

refs_status refs_icechunk__commit_end(const refs_commit_place *place, const refs_repo_info *info,
                                      const char *tag, refs_error *err) {
    return place->store != NULL ? send_to_store(place->staged->written, place->store, tag, err)
                                : move_to_repository(place->staged, info, err);
}
