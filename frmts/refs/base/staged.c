/* staged.c -- see staged.h. */
#ifdef __linux__
#define _GNU_SOURCE /* NOLINT: for RENAME_EXCHANGE */
#endif
#include "staged.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file_name.h"
#include "validators.h"

/* Most links in a chain that are followed, as in Linux. */
#define MAX_LINKS 40

refs_status refs_staged_fail_names(const char *path, unsigned n, refs_error *err) {
    return refs_fail(err, REFS_IO,
                     "%s: cannot be written: %u unfinished results exist next to it: remove them",
                     path, n);
}

refs_status refs_staged_fail(const char *path, refs_error *err) {
    const int code = errno;
    const refs_str folder = refs_file_name_folder(refs_str_from(path));
    REFS_SCOPED char *name = refs_str_copy(folder);
    if (code == ENOENT && name != NULL && access(name, F_OK) != 0)
        return refs_fail(err, REFS_IO,
                         "%s: cannot be written: the folder %s does not exist: create it", path,
                         name);
    errno = code;
    return refs_fail(err, REFS_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status check_wanted(const refs_staged *staged, refs_error *err) {
    struct stat status;
    if (lstat(staged->wanted, &status) != 0)
        return errno == ENOENT ? REFS_OK : refs_staged_fail(staged->wanted, err);
    if (S_ISDIR(status.st_mode) && !staged->is_folder)
        return refs_fail(err, REFS_INVALID,
                         "%s: expected a file, found a folder: choose a name in it or, for a "
                         "Parquet set, one that ends in .parq",
                         staged->wanted);
    return REFS_OK;
}

/* Resolves a link against its folder; *target is for the caller to free.
 */
static refs_status read_link(const char *link, char **target, refs_error *err) {
    char text[PATH_MAX];
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    ssize_t size = readlink(link, text, sizeof text);
    if (size < 0) return refs_staged_fail(link, err);
    *target = NULL;
    if (text[0] != '/')
        REFS_TRY(refs_buf_append_str(&name, refs_path_folder(refs_str_from(link)), err));
    REFS_TRY(refs_buf_append(&name, text, (size_t)size, err));
    return refs_buf_keep(&name, target, err);
}

/* Applies Linux's fs.protected_symlinks, which does not cover rename(2). */
static refs_status check_link(const char *link, const struct stat *status, refs_error *err) {
    struct stat folder;
    char *path = refs_str_copy(refs_file_name_folder(refs_str_from(link)));
    if (path == NULL) return refs_fail_nomem(err);
    const bool is_known = stat(path, &folder) == 0;
    refs_free(path);
    if (!is_known) return refs_staged_fail(link, err);
    const bool is_open = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
    if (!is_open || status->st_uid == geteuid() || status->st_uid == folder.st_uid) return REFS_OK;
    return refs_fail(err, REFS_IO,
                     "%s: cannot be written: the symbolic link belongs to user %u: remove it, or "
                     "choose another name",
                     link, (unsigned)status->st_uid);
}

/* A result whose name is a link is staged next to the link's target, which need not exist. */
static refs_status follow_links(refs_staged *staged, refs_error *err) {
    struct stat status;
    for (int i = 0; lstat(staged->wanted, &status) == 0 && S_ISLNK(status.st_mode); i++) {
        char *target;
        if (i == MAX_LINKS)
            return refs_fail(err, REFS_IO,
                             "%s: cannot be written: it goes through more than %d symbolic links",
                             staged->wanted, MAX_LINKS);
        REFS_TRY(check_link(staged->wanted, &status, err));
        REFS_TRY(read_link(staged->wanted, &target, err));
        refs_free(staged->wanted);
        staged->wanted = target;
    }
    return REFS_OK;
}

static refs_status choose_name(refs_staged *staged, refs_error *err) {
    for (int i = 0; i < REFS_STAGED_MAX_NAMES; i++) {
        REFS_SCOPED_BUF name = REFS_BUF_INIT;
        struct stat status;
        REFS_TRY(refs_staged_append_name(staged->wanted, i, &name, err));
        REFS_TRY(refs_buf_keep(&name, &staged->written, err));
        const int made = staged->is_folder
                             ? mkdir(staged->written, staged->kept.is_known ? 0700 : 0777)
                             : lstat(staged->written, &status);
        const bool is_taken = staged->is_folder ? made != 0 && errno == EEXIST : made == 0;
        if (staged->is_folder ? made == 0 : made != 0 && errno == ENOENT) return REFS_OK;
        refs_status failed = is_taken ? REFS_OK : refs_staged_fail(staged->wanted, err);
        refs_free(staged->written);
        staged->written = NULL;
        REFS_TRY(failed);
    }
    return refs_staged_fail_names(staged->wanted, REFS_STAGED_MAX_NAMES, err);
}

/* -- a name beside the one that is wanted ------------------------------------------------------ */

static refs_status find_wanted(const char *path, refs_staged_kind kind, refs_staged *staged,
                               refs_error *err) {
    refs_str name = refs_str_from(path);
    *staged = (refs_staged){.is_folder = kind != REFS_STAGED_FILE};
    while (name.size > 1 && name.data[name.size - 1] == '/') name.size--;
    if (name.size == 0) return refs_fail(err, REFS_INVALID, "the name of the result is empty");
    REFS_TRY(refs_str_keep(name, &staged->wanted, err));
    REFS_TRY(follow_links(staged, err));
    return check_wanted(staged, err);
}

refs_status refs_staged_check(const char *path, refs_staged_kind kind, char **target,
                              refs_error *err) {
    refs_staged staged;
    const refs_status status = find_wanted(path, kind, &staged, err);
    if (status == REFS_OK && target != NULL) {
        *target = staged.wanted;
        staged.wanted = NULL;
    }
    refs_staged_clear(&staged);
    return status;
}

refs_status refs_staged_open(const char *path, refs_staged_kind kind, refs_staged *staged,
                             refs_error *err) {
    REFS_TRY(find_wanted(path, kind, staged, err));
    REFS_TRY(refs_staged_keep(staged, staged->wanted, err));
    REFS_TRY(choose_name(staged, err));
    refs_staged_sweep(staged->wanted);
    return REFS_OK;
}

refs_status refs_staged_open_again(const refs_staged *staged, refs_staged *again, refs_error *err) {
    *again = (refs_staged){.is_folder = staged->is_folder,
                           .kept = staged->kept,
                           .files = staged->files,
                           .wanted = refs_str_copy(refs_str_from(staged->wanted))};
    if (again->wanted == NULL) return refs_fail_nomem(err);
    return choose_name(again, err);
}

/* -- guards ------------------------------------------------------------------------------------ */

bool refs_staged_guard_open(const char *path, refs_staged_guard *guard) {
    guard->path = path;
    return refs_vfs_ask(refs_vfs_posix(), path, &guard->was);
}

bool refs_staged_guard_holds(const refs_staged_guard *guard) {
    refs_vfs_validators now;
    return guard == NULL || (refs_vfs_ask(refs_vfs_posix(), guard->path, &now) &&
                             refs_validators_are_unchanged(&guard->was, &now));
}

refs_status refs_staged_check_guard(const refs_staged *staged, refs_error *err) {
    if (refs_staged_guard_holds(staged->guard)) return REFS_OK;
    return refs_fail(err, REFS_CHANGED,
                     "%s: another program wrote it in the meantime: run it again", staged->wanted);
}

/* -- moving ------------------------------------------------------------------------------------ */

/* rename(2) with flags; false, and ENOSYS, if the system does not support them. */
static bool rename_with(const char *from, const char *to, unsigned flags) {
#if defined(SYS_renameat2)
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags) == 0;
#else
    (void)from;
    (void)to;
    (void)flags;
    errno = ENOSYS;
    return false;
#endif
}

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1U
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2U
#endif

/* Syncs the folder, so that the new name is on disk, too. */
static void sync_folder_of(const char *path) {
    REFS_SCOPED char *folder = refs_str_copy(refs_file_name_folder(refs_str_from(path)));
    if (folder != NULL) (void)refs_staged_sync_folder(folder, NULL);
}

/* Without RENAME_EXCHANGE, the old folder is moved away first: rename(2) only replaces empty
 * folders.
 */
static refs_status replace_folder(refs_staged *staged, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    if (rename_with(staged->written, staged->wanted, RENAME_EXCHANGE)) {
        sync_folder_of(staged->wanted);
        refs_staged_remove(staged->written);
        return REFS_OK;
    }
    REFS_TRY(refs_buf_printf(&name, err, "%s.old", staged->written));
    const char *old = (const char *)name.data;
    refs_status status = REFS_OK;
    if (rename(staged->wanted, old) != 0) {
        status = refs_staged_fail(staged->wanted, err);
    } else if (rename(staged->written, staged->wanted) != 0) {
        status = refs_staged_fail(staged->wanted, err);
        (void)rename(old, staged->wanted);
    } else {
        sync_folder_of(staged->wanted);
        refs_staged_remove(old);
    }
    return status;
}

static void forget_written(refs_staged *staged) {
    refs_free(staged->written);
    staged->written = NULL;
}

/* Replaces the old result by the new one, which is settled. */
static refs_status replace(refs_staged *staged, refs_error *err) {
    REFS_TRY(refs_staged_check_guard(staged, err));
    if (rename(staged->written, staged->wanted) != 0) {
        bool is_taken = errno == ENOTEMPTY || errno == EEXIST;
        if (!staged->is_folder || !is_taken) return refs_staged_fail(staged->wanted, err);
        REFS_TRY(replace_folder(staged, err));
    }
    sync_folder_of(staged->wanted);
    forget_written(staged);
    return REFS_OK;
}

refs_status refs_staged_move(refs_staged *staged, refs_error *err) {
    REFS_TRY(refs_staged_settle(staged, err));
    return replace(staged, err);
}

/* Moves to a name that does not exist, or that of an empty folder. */
static refs_status move_new(const refs_staged *staged, refs_error *err) {
    struct stat status;
    if (staged->is_folder) (void)rmdir(staged->wanted);
    if (rename_with(staged->written, staged->wanted, RENAME_NOREPLACE)) return REFS_OK;
    if (errno == EEXIST || errno == ENOTEMPTY)
        return refs_fail(err, REFS_IO, "%s: another program wrote it in the meantime: run it again",
                         staged->wanted);
    if (errno != ENOSYS && errno != EINVAL && errno != ENOTSUP)
        return refs_staged_fail(staged->wanted, err);
    if (lstat(staged->wanted, &status) == 0) errno = EEXIST;
    if (lstat(staged->wanted, &status) != 0 && errno == ENOENT &&
        rename(staged->written, staged->wanted) == 0)
        return REFS_OK;
    return refs_staged_fail(staged->wanted, err);
}

refs_status refs_staged_move_new(refs_staged *staged, refs_error *err) {
    REFS_TRY(refs_staged_settle(staged, err));
    REFS_TRY(move_new(staged, err));
    sync_folder_of(staged->wanted);
    forget_written(staged);
    return REFS_OK;
}

refs_status refs_staged_rename(const char *from, const char *to, refs_error *err) {
    if (rename(from, to) != 0) return refs_staged_fail(to, err);
    sync_folder_of(to);
    return REFS_OK;
}

refs_status refs_staged_commit(refs_staged *const *all, size_t n, refs_error *err) {
    refs_status status = REFS_OK;
    size_t moved = 0;
    for (size_t i = 0; status == REFS_OK && i < n; i++) status = refs_staged_settle(all[i], err);
    while (status == REFS_OK && moved + 1 < n) {
        status = move_new(all[moved], err);
        if (status == REFS_OK) sync_folder_of(all[moved]->wanted);
        moved += status == REFS_OK;
    }
    if (status == REFS_OK && n > 0) status = replace(all[n - 1], err);
    for (size_t i = 0; i < moved; i++)
        if (status == REFS_OK)
            forget_written(all[i]);
        else if (rename(all[i]->wanted, all[i]->written) != 0)
            refs_staged_remove(all[i]->wanted);
    return status;
}

void refs_staged_clear(refs_staged *staged) {
    if (staged->written != NULL) refs_staged_remove(staged->written);
    refs_free(staged->written);
    refs_free(staged->wanted);
    refs_free(staged->model);
    memset(staged, 0, sizeof *staged);
}

refs_status refs_staged_write_all(int file, const char *path, refs_bytes bytes, refs_error *err) {
    while (bytes.size > 0) {
        const ssize_t n = write(file, bytes.data, bytes.size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return refs_staged_fail(path, err);
        bytes = refs_bytes_view(bytes.data + n, bytes.size - (size_t)n);
    }
    return REFS_OK;
}

refs_status refs_staged_replace(const char *path, refs_bytes bytes, refs_error *err) {
    REFS_SCOPED_BY(refs_staged_clear) refs_staged staged = {.wanted = NULL};
    int file = -1;
    refs_status status = refs_staged_open(path, REFS_STAGED_FILE, &staged, err);
    if (status == REFS_OK) status = refs_staged_create(&staged, &file, err);
    if (status == REFS_OK) status = refs_staged_write_all(file, staged.wanted, bytes, err);
    if (file >= 0 && close(file) != 0 && status == REFS_OK)
        status = refs_staged_fail(staged.wanted, err);
    if (status == REFS_OK) status = refs_staged_move(&staged, err);
    return status;
}
