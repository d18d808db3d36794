/* staged_settle.c -- sets permissions and owners of staged files, and syncs them to disk; see
 * staged.h. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "staged.h"

#define PERMISSIONS 0777U

static void take_owner(const struct stat *status, refs_staged_owner *owner) {
    *owner = (refs_staged_owner){(uint32_t)status->st_mode & PERMISSIONS, (uint32_t)status->st_uid,
                                 (uint32_t)status->st_gid, true};
}

static refs_status take_owner_of_file(void *user, int folder, const char *name, refs_error *err) {
    refs_staged_owner *owner = user;
    struct stat status;
    (void)err;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return REFS_OK;
    const uint32_t before = owner->is_known ? owner->mode : PERMISSIONS;
    take_owner(&status, owner);
    owner->mode &= before;
    return REFS_OK;
}

/* Permissions of new files in a replaced folder: those that all its old files allow. */
static refs_status find_owner_of_files(const char *path, refs_staged_owner *owner,
                                       refs_error *err) {
    const refs_folder_visitor visitor = {take_owner_of_file, owner};
    return refs_folder_each(path, &visitor, NULL) == REFS_OK ? REFS_OK
                                                             : refs_staged_fail(path, err);
}

refs_status refs_staged_keep(refs_staged *staged, const char *model, refs_error *err) {
    struct stat status;
    if (lstat(model, &status) != 0) return REFS_OK;
    if (S_ISDIR(status.st_mode) != staged->is_folder) return REFS_OK;
    char *kept = refs_str_copy(refs_str_from(model));
    if (kept == NULL) return refs_fail_nomem(err);
    refs_free(staged->model);
    staged->model = kept;
    take_owner(&status, &staged->kept);
    if (staged->is_folder) REFS_TRY(find_owner_of_files(model, &staged->files, err));
    if (staged->is_folder && staged->written != NULL && chmod(staged->written, 0700) != 0)
        return refs_staged_fail(staged->written, err);
    return REFS_OK;
}

bool refs_staged_is_private(const refs_staged *staged) {
    return staged->kept.is_known;
}

/* If the group cannot be set, the group gets the permissions of others. */
static bool give(int file, const refs_staged_owner *owner) {
    uint32_t mode = owner->mode;
    struct stat now;
    if (!owner->is_known) return true;
    if (fstat(file, &now) != 0) return false;
    if (now.st_uid != owner->user && fchown(file, owner->user, (gid_t)-1) != 0) errno = 0;
    if (now.st_gid != owner->group && fchown(file, (uid_t)-1, owner->group) != 0)
        mode = (mode & 0707U) | (mode & 07U) << 3;
    return ((uint32_t)now.st_mode & PERMISSIONS) == mode || fchmod(file, mode) == 0;
}

/* EINVAL and ENOTSUP: the file system cannot sync, so it is not on a disk. */
static bool sync_file(int file) {
    return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP;
}

refs_status refs_staged_sync_folder(const char *path, refs_error *err) {
    const int opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_done = opened >= 0 && sync_file(opened);
    const refs_status status = is_done ? REFS_OK : refs_staged_fail(path, err);
    if (opened >= 0) close(opened);
    return status;
}

static bool give_and_sync(int file, const refs_staged_owner *owner, const refs_staged *staged) {
    const bool is_done = give(file, owner) && (staged->is_temporary || sync_file(file));
    const int why = errno;
    close(file);
    errno = why;
    return is_done;
}

/* A staged folder that is being settled: its depth, the replaced folder (`model`; -1: none), and
 * the owners of folders and files that the replaced one lacks. */
typedef struct settling {
    const refs_staged *staged;
    int depth, model;
    const refs_staged_owner *owners;
} settling;

static bool settle_tree(const settling *at, int folder);

static bool settle_entry(const settling *at, int folder, const char *name) {
    const refs_staged_owner *owners = at->owners;
    const int model = at->model;
    struct stat had;
    refs_staged_owner own[2] = {owners[0], owners[1]};
    const int opened = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat is;
    if (opened < 0) return false;
    if (fstat(opened, &is) != 0) {
        close(opened);
        return false;
    }
    const bool is_folder = S_ISDIR(is.st_mode);
    if (model >= 0 && fstatat(model, name, &had, AT_SYMLINK_NOFOLLOW) == 0 &&
        (is_folder ? S_ISDIR(had.st_mode) : S_ISREG(had.st_mode)))
        take_owner(&had, &own[is_folder ? 0 : 1]);
    if (!is_folder) return give_and_sync(opened, &own[1], at->staged);
    const int inside =
        model >= 0 ? openat(model, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    const settling below = {at->staged, at->depth + 1, inside, own};
    const bool is_settled = settle_tree(&below, opened);
    if (inside >= 0) close(inside);
    return is_settled;
}

static refs_status visit_settled(void *user, int folder, const char *name, refs_error *err) {
    (void)err;
    return settle_entry(user, folder, name) ? REFS_OK : REFS_IO;
}

/* Closes `folder`. */
static bool settle_tree(const settling *at, int folder) {
    settling each = *at;
    const refs_folder_visitor visitor = {visit_settled, &each};
    const int itself = at->depth <= REFS_STAGED_MAX_DEPTH ? fcntl(folder, F_DUPFD_CLOEXEC, 0) : -1;
    if (itself < 0) {
        close(folder);
        return false;
    }
    if (refs_folder_each_in(folder, at->staged->written, &visitor, NULL) == REFS_OK)
        return give_and_sync(itself, &at->owners[0], at->staged);
    const int why = errno;
    close(itself);
    errno = why;
    return false;
}

refs_status refs_staged_settle(const refs_staged *staged, refs_error *err) {
    const refs_staged_owner owners[2] = {staged->kept, staged->files};
    const int opened = open(staged->written, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) return refs_staged_fail(staged->wanted, err);
    if (!staged->is_folder)
        return give_and_sync(opened, &staged->kept, staged) ? REFS_OK
                                                            : refs_staged_fail(staged->wanted, err);
    const int model = staged->model != NULL
                          ? open(staged->model, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                          : -1;
    const settling root = {staged, 0, model, owners};
    const bool is_settled = settle_tree(&root, opened);
    const int why = errno;
    if (model >= 0) close(model);
    errno = why;
    return is_settled ? REFS_OK : refs_staged_fail(staged->wanted, err);
}

refs_status refs_staged_create(const refs_staged *staged, int *file, refs_error *err) {
    *file = open(staged->written, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 refs_staged_is_private(staged) ? 0600 : 0666);
    return *file >= 0 ? REFS_OK : refs_staged_fail(staged->wanted, err);
}
