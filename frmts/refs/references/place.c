/* place.c -- see place.h. */
#ifdef __linux__
#define _GNU_SOURCE /* NOLINT: for RENAME_EXCHANGE */
#endif
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output.h"
#include "refs/file_name.h"
#include "refs/folder.h"

/* Names that are tried. */
#define MAX_NAMES 1000

/* Links that are followed, one after the other; as Linux does. */
#define MAX_LINKS 40

/* Of a Parquet set. */
#define METADATA ".zmetadata"

/* Names of foreign files that a message lists. */
#define MAX_FOREIGN 3

/* Deepest folder of a set that is removed: groups in groups. */
#define MAX_DEPTH 128

refs_status refs_place_fail_names(const char *path, unsigned n, refs_error *err) {
    return refs_fail(err, REFS_IO,
                     "%s: cannot be written: no free name beside it, %u exist: remove old and "
                     "unfinished results",
                     path, n);
}

refs_status refs_place_fail(const char *path, refs_error *err) {
    return refs_fail(err, REFS_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static char *folder_of(const char *path) {
    const refs_str text = refs_str_from(path);
    const size_t slash = refs_str_find_last(text, '/');
    return refs_str_copy(slash == SIZE_MAX ? refs_str_from(".")
                                           : refs_str_part(text, 0, slash > 0 ? slash : 1));
}

/* -- removing ---------------------------------------------------------------------------------- */

static void remove_tree(int folder, const char *name, const struct stat *seen, int depth);

static refs_status remove_entry(void *user, int folder, const char *name, refs_error *err) {
    const int *depth = user;
    (void)err;
    remove_tree(folder, name, NULL, *depth + 1);
    return REFS_OK;
}

/* Whether an open folder is still what was looked at, and belongs to this user. */
static bool is_own(int opened, const struct stat *seen) {
    struct stat now;
    return fstat(opened, &now) == 0 && now.st_uid == geteuid() && now.st_dev == seen->st_dev &&
           now.st_ino == seen->st_ino;
}

/* Each name is looked up in an open folder, and no link is followed: a folder that becomes a link
 * meanwhile leads nowhere. With `seen`, a folder is removed only if it is that one. */
static void remove_tree(int folder, const char *name, const struct stat *seen, int depth) {
    const int opened = depth > MAX_DEPTH
                           ? -1
                           : openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) {
        (void)unlinkat(folder, name, 0);
        return;
    }
    if (seen != NULL && !is_own(opened, seen)) {
        close(opened);
        return;
    }
    /* What could not be listed remains, and with it the folder. */
    const refs_folder_visitor visitor = {remove_entry, &depth};
    (void)refs_folder_each_in(opened, name, &visitor, NULL);
    (void)unlinkat(folder, name, AT_REMOVEDIR);
}

void refs_place_remove(const char *path) {
    remove_tree(AT_FDCWD, path, NULL, 0);
}

void refs_place_retire(const char *path) {
    refs_buf name = REFS_BUF_INIT;
    struct stat status;
    for (int i = 0; i < MAX_NAMES; i++) {
        name.size = 0;
        if (refs_place_append_name(path, i, &name, NULL) != REFS_OK) break;
        const char *unfinished = (const char *)name.data;
        if (lstat(unfinished, &status) == 0) continue;
        if (rename(path, unfinished) == 0) path = unfinished;
        break;
    }
    refs_place_remove(path);
    refs_buf_clear(&name);
}

void refs_place_remove_own(int folder, const char *name) {
    struct stat seen;
    if (fstatat(folder, name, &seen, AT_SYMLINK_NOFOLLOW) == 0 && seen.st_uid == geteuid())
        remove_tree(folder, name, &seen, 0);
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status check_wanted(const refs_place *place, refs_error *err) {
    struct stat status;
    if (lstat(place->wanted, &status) != 0)
        return errno == ENOENT ? REFS_OK : refs_place_fail(place->wanted, err);
    if (S_ISDIR(status.st_mode) && !place->is_folder)
        return refs_fail(err, REFS_INVALID,
                         "%s: is a folder, and JSON is one file: give a name in it, or one that "
                         "ends in .parq",
                         place->wanted);
    return REFS_OK;
}

/* Files that are no part of the Parquet set in whose folder they are. */
typedef struct foreign_files {
    bool is_set; /* the folder has METADATA: else all files are foreign */
    size_t n;
    refs_buf names; /* of the first of them */
} foreign_files;

/* A folder that is searched; `path` ends in '/', and is "" for that of the set. */
typedef struct searched {
    foreign_files *found;
    const char *path;
    int depth;
} searched;

static bool is_of_set(const char *name, int depth) {
    uint64_t number;
    if (depth == 0) return strcmp(name, METADATA) == 0;
    return refs_file_name_is_record(refs_str_from(name), &number);
}

static refs_status find_foreign(void *user, int folder, const char *name, refs_error *err);

/* Closes `opened`. */
static refs_status search(const searched *above, int opened, const char *name, refs_error *err) {
    refs_buf path = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&path, err, "%s%s/", above->path, name);
    searched at = {above->found, (const char *)path.data, above->depth + 1};
    const refs_folder_visitor visitor = {find_foreign, &at};
    if (status == REFS_OK && at.depth > MAX_DEPTH)
        status = refs_fail(err, REFS_LIMIT, "%s: expected at most %d levels of folders, found more",
                           at.path, MAX_DEPTH);
    if (status == REFS_OK)
        status = refs_folder_each_in(opened, at.path, &visitor, err);
    else
        close(opened);
    refs_buf_clear(&path);
    return status;
}

static refs_status find_foreign(void *user, int folder, const char *name, refs_error *err) {
    const searched *at = user;
    foreign_files *found = at->found;
    if (found->is_set && is_of_set(name, at->depth)) return REFS_OK;
    const int opened = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened >= 0) return search(at, opened, name, err);
    if (found->n++ >= MAX_FOREIGN) return REFS_CANCELLED; /* as many as are named, and one more */
    return refs_buf_printf(&found->names, err, "%s%s%s", found->names.size > 0 ? ", " : "",
                           at->path, name);
}

refs_status refs_place_check_replaced(const char *path, refs_error *err) {
    foreign_files found = {.names = REFS_BUF_INIT};
    searched at = {&found, "", 0};
    const refs_folder_visitor visitor = {find_foreign, &at};
    refs_buf metadata = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&metadata, err, "%s/" METADATA "%c", path, '\0');
    if (status == REFS_OK) {
        found.is_set = access((const char *)metadata.data, F_OK) == 0;
        status = refs_folder_each(path, &visitor, err);
    }
    if (status == REFS_NOT_FOUND || (status == REFS_CANCELLED && found.n > MAX_FOREIGN)) {
        refs_error_clear(err);
        status = REFS_OK;
    }
    if (status != REFS_OK)
        refs_error_prefix(err, "%s: cannot be replaced", path);
    else if (found.n > 0)
        status = refs_fail(err, REFS_INVALID,
                           "%s: cannot be replaced: expected files of a Parquet set alone, found "
                           "%.*s%s: move them away, or give another name",
                           path, (int)found.names.size, (const char *)found.names.data,
                           found.n > MAX_FOREIGN ? " and more" : "");
    refs_buf_clear(&found.names);
    refs_buf_clear(&metadata);
    return status;
}

/* The name that a link stands for, from the folder it lies in; *target is for the caller to free.
 */
static refs_status read_link(const char *link, char **target, refs_error *err) {
    char text[PATH_MAX];
    refs_buf name = REFS_BUF_INIT;
    ssize_t size = readlink(link, text, sizeof text);
    if (size < 0) return refs_place_fail(link, err);
    refs_str folder = refs_str_from(link);
    size_t slash = refs_str_find_last(folder, '/');
    refs_status status = REFS_OK;
    if (text[0] != '/' && slash != SIZE_MAX)
        status = refs_buf_append_str(&name, refs_str_part(folder, 0, slash + 1), err);
    if (status == REFS_OK) status = refs_buf_append(&name, text, (size_t)size, err);
    *target = status == REFS_OK ? refs_buf_take_text(&name) : NULL;
    refs_buf_clear(&name);
    if (status != REFS_OK) return status;
    return *target != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* fs.protected_symlinks of Linux, which does not look at renames. */
static refs_status check_link(const char *link, const struct stat *status, refs_error *err) {
    struct stat folder;
    char *path = folder_of(link);
    if (path == NULL) return refs_fail_nomem(err);
    const bool is_known = stat(path, &folder) == 0;
    refs_free(path);
    if (!is_known) return refs_place_fail(link, err);
    const bool is_open = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
    if (!is_open || status->st_uid == geteuid() || status->st_uid == folder.st_uid) return REFS_OK;
    return refs_fail(err, REFS_IO,
                     "%s: cannot be written: the symbolic link belongs to user %u: remove it, or "
                     "give another name",
                     link, (unsigned)status->st_uid);
}

/* What is written through a link takes the place of what it leads to, be that there or not. */
static refs_status follow_links(refs_place *place, refs_error *err) {
    struct stat status;
    for (int i = 0; lstat(place->wanted, &status) == 0 && S_ISLNK(status.st_mode); i++) {
        char *target;
        if (i == MAX_LINKS)
            return refs_fail(err, REFS_IO,
                             "%s: cannot be written: more than %d levels of symbolic links",
                             place->wanted, MAX_LINKS);
        REFS_TRY(check_link(place->wanted, &status, err));
        REFS_TRY(read_link(place->wanted, &target, err));
        refs_free(place->wanted);
        place->wanted = target;
    }
    return REFS_OK;
}

static refs_status choose_name(refs_place *place, refs_error *err) {
    for (int i = 0; i < MAX_NAMES; i++) {
        refs_buf name = REFS_BUF_INIT;
        struct stat status;
        REFS_TRY(refs_place_append_name(place->wanted, i, &name, err));
        place->written = refs_buf_take_text(&name);
        refs_buf_clear(&name);
        if (place->written == NULL) return refs_fail_nomem(err);
        bool is_free = place->is_folder
                           ? mkdir(place->written, place->kept.is_known ? 0700 : 0777) == 0
                           : lstat(place->written, &status) != 0 && errno == ENOENT;
        if (is_free) return REFS_OK;
        refs_status failed =
            place->is_folder && errno != EEXIST ? refs_place_fail(place->wanted, err) : REFS_OK;
        refs_free(place->written);
        place->written = NULL;
        REFS_TRY(failed);
    }
    return refs_place_fail_names(place->wanted, MAX_NAMES, err);
}

/* -- permissions ------------------------------------------------------------------------------- */

#define PERMISSIONS 0777U

static void take_owner(const struct stat *status, refs_place_owner *owner) {
    *owner = (refs_place_owner){(uint32_t)status->st_mode & PERMISSIONS, (uint32_t)status->st_uid,
                                (uint32_t)status->st_gid, true};
}

static refs_status take_owner_of_file(void *user, int folder, const char *name, refs_error *err) {
    refs_place_owner *owner = user;
    struct stat status;
    (void)err;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return REFS_OK;
    const uint32_t before = owner->is_known ? owner->mode : PERMISSIONS;
    take_owner(&status, owner);
    owner->mode &= before;
    return REFS_OK;
}

/* A folder that was there says by its files what new ones in it may be: what all of them allow. */
static refs_status find_owner_of_files(const char *path, refs_place_owner *owner, refs_error *err) {
    const refs_folder_visitor visitor = {take_owner_of_file, owner};
    return refs_folder_each(path, &visitor, NULL) == REFS_OK ? REFS_OK : refs_place_fail(path, err);
}

refs_status refs_place_keep(refs_place *place, const char *model, refs_error *err) {
    struct stat status;
    if (lstat(model, &status) != 0) return REFS_OK;
    if (S_ISDIR(status.st_mode) != place->is_folder) return REFS_OK;
    char *kept = refs_str_copy(refs_str_from(model));
    if (kept == NULL) return refs_fail_nomem(err);
    refs_free(place->model);
    place->model = kept;
    take_owner(&status, &place->kept);
    if (place->is_folder) REFS_TRY(find_owner_of_files(model, &place->files, err));
    if (place->is_folder && place->written != NULL && chmod(place->written, 0700) != 0)
        return refs_place_fail(place->written, err);
    return REFS_OK;
}

bool refs_place_is_private(const refs_place *place) {
    return place->kept.is_known;
}

/* A group that cannot be given may do what everybody may. */
static bool give(int file, const refs_place_owner *owner) {
    uint32_t mode = owner->mode;
    struct stat now;
    if (!owner->is_known) return true;
    if (fstat(file, &now) != 0) return false;
    if (now.st_uid != owner->user && fchown(file, owner->user, (gid_t)-1) != 0) errno = 0;
    if (now.st_gid != owner->group && fchown(file, (uid_t)-1, owner->group) != 0)
        mode = (mode & 0707U) | (mode & 07U) << 3;
    return ((uint32_t)now.st_mode & PERMISSIONS) == mode || fchmod(file, mode) == 0;
}

/* Where something cannot be synchronised, it is not on a disk. */
static bool sync_file(int file) {
    return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP;
}

static bool give_and_sync(int file, const refs_place_owner *owner, const refs_place *place) {
    const bool is_done = give(file, owner) && (place->is_temporary || sync_file(file));
    const int why = errno;
    close(file);
    errno = why;
    return is_done;
}

/* A folder that is settled: how deep it is, its model, or -1, and the owners of a folder, and of a
 * file, that the model does not have. */
typedef struct settling {
    const refs_place *place;
    int depth, model;
    const refs_place_owner *owners;
} settling;

static bool settle_tree(const settling *at, int folder);

static bool settle_entry(const settling *at, int folder, const char *name) {
    const refs_place_owner *owners = at->owners;
    const int model = at->model;
    struct stat had;
    refs_place_owner own[2] = {owners[0], owners[1]};
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
    if (!is_folder) return give_and_sync(opened, &own[1], at->place);
    const int inside =
        model >= 0 ? openat(model, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    const settling below = {at->place, at->depth + 1, inside, own};
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
    const int itself = at->depth <= MAX_DEPTH ? fcntl(folder, F_DUPFD_CLOEXEC, 0) : -1;
    if (itself < 0) {
        close(folder);
        return false;
    }
    if (refs_folder_each_in(folder, at->place->written, &visitor, NULL) == REFS_OK)
        return give_and_sync(itself, &at->owners[0], at->place);
    const int why = errno;
    close(itself);
    errno = why;
    return false;
}

refs_status refs_place_settle(const refs_place *place, refs_error *err) {
    const refs_place_owner owners[2] = {place->kept, place->files};
    const int opened = open(place->written, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) return refs_place_fail(place->wanted, err);
    if (!place->is_folder)
        return give_and_sync(opened, &place->kept, place) ? REFS_OK
                                                          : refs_place_fail(place->wanted, err);
    const int model = place->model != NULL
                          ? open(place->model, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                          : -1;
    const settling root = {place, 0, model, owners};
    const bool is_settled = settle_tree(&root, opened);
    const int why = errno;
    if (model >= 0) close(model);
    errno = why;
    return is_settled ? REFS_OK : refs_place_fail(place->wanted, err);
}

refs_status refs_place_create(const refs_place *place, int *file, refs_error *err) {
    *file = open(place->written, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 refs_place_is_private(place) ? 0600 : 0666);
    return *file >= 0 ? REFS_OK : refs_place_fail(place->wanted, err);
}

/* -- a name beside the one that is wanted ------------------------------------------------------ */

static refs_status find_wanted(const char *path, refs_place_kind kind, refs_place *place,
                               refs_error *err) {
    refs_str name = refs_str_from(path);
    *place = (refs_place){.is_folder = kind != REFS_PLACE_FILE};
    while (name.size > 1 && name.data[name.size - 1] == '/') name.size--;
    if (name.size == 0) return refs_fail(err, REFS_INVALID, "the set to write has no name");
    place->wanted = refs_str_copy(name);
    if (place->wanted == NULL) return refs_fail_nomem(err);
    REFS_TRY(follow_links(place, err));
    return check_wanted(place, err);
}

refs_status refs_place_check(const char *path, refs_place_kind kind, refs_error *err) {
    refs_place place;
    refs_status status = find_wanted(path, kind, &place, err);
    if (status == REFS_OK && place.is_folder) status = refs_place_check_replaced(place.wanted, err);
    refs_place_clear(&place);
    return status;
}

static refs_status open_place(const char *path, refs_place_kind kind, refs_place *place,
                              refs_error *err) {
    REFS_TRY(find_wanted(path, kind, place, err));
    REFS_TRY(refs_place_keep(place, place->wanted, err));
    return choose_name(place, err);
}

refs_status refs_place_open(const char *path, refs_place_kind kind, refs_place *place,
                            refs_error *err) {
    REFS_TRY(open_place(path, kind, place, err));
    refs_place_sweep(place->wanted);
    return REFS_OK;
}

refs_status refs_place_open_again(const refs_place *place, refs_place *again, refs_error *err) {
    *again = (refs_place){.is_folder = place->is_folder,
                          .kept = place->kept,
                          .files = place->files,
                          .wanted = refs_str_copy(refs_str_from(place->wanted))};
    if (again->wanted == NULL) return refs_fail_nomem(err);
    return choose_name(again, err);
}

/* -- moving ------------------------------------------------------------------------------------ */

/* rename(2) with flags; false, and ENOSYS, where the system has none. */
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

/* The name is on the disk, too. */
static void sync_folder_of(const char *path) {
    char *folder = folder_of(path);
    const int opened = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (opened >= 0) (void)fsync(opened);
    if (opened >= 0) close(opened);
    refs_free(folder);
}

/* Else a folder is moved away before another takes its name: rename(2) replaces only empty ones. */
static refs_status replace_folder(refs_place *place, refs_error *err) {
    refs_buf name = REFS_BUF_INIT;
    if (rename_with(place->written, place->wanted, RENAME_EXCHANGE)) {
        sync_folder_of(place->wanted);
        refs_place_remove(place->written);
        return REFS_OK;
    }
    REFS_TRY(refs_buf_printf(&name, err, "%s.old", place->written));
    const char *old = (const char *)name.data;
    refs_status status = REFS_OK;
    if (rename(place->wanted, old) != 0) {
        status = refs_place_fail(place->wanted, err);
    } else if (rename(place->written, place->wanted) != 0) {
        status = refs_place_fail(place->wanted, err);
        (void)rename(old, place->wanted);
    } else {
        sync_folder_of(place->wanted);
        refs_place_remove(old);
    }
    refs_buf_clear(&name);
    return status;
}

static void forget_written(refs_place *place) {
    refs_free(place->written);
    place->written = NULL;
}

/* Of what is settled. */
static refs_status replace(refs_place *place, refs_error *err) {
    if (rename(place->written, place->wanted) != 0) {
        bool is_taken = errno == ENOTEMPTY || errno == EEXIST;
        if (!place->is_folder || !is_taken) return refs_place_fail(place->wanted, err);
        REFS_TRY(replace_folder(place, err));
    }
    sync_folder_of(place->wanted);
    forget_written(place);
    return REFS_OK;
}

refs_status refs_place_move(refs_place *place, refs_error *err) {
    REFS_TRY(refs_place_settle(place, err));
    return replace(place, err);
}

/* To a name that nothing has; a folder may have that of an empty one. */
static refs_status move_new(const refs_place *place, refs_error *err) {
    struct stat status;
    if (place->is_folder) (void)rmdir(place->wanted);
    if (rename_with(place->written, place->wanted, RENAME_NOREPLACE)) return REFS_OK;
    if (errno == EEXIST || errno == ENOTEMPTY)
        return refs_fail(err, REFS_IO, "%s: was written by another program meanwhile: try again",
                         place->wanted);
    if (errno != ENOSYS && errno != EINVAL && errno != ENOTSUP)
        return refs_place_fail(place->wanted, err);
    if (lstat(place->wanted, &status) == 0) errno = EEXIST;
    if (lstat(place->wanted, &status) != 0 && errno == ENOENT &&
        rename(place->written, place->wanted) == 0)
        return REFS_OK;
    return refs_place_fail(place->wanted, err);
}

refs_status refs_place_commit(refs_place *const *places, size_t n, refs_error *err) {
    refs_status status = REFS_OK;
    size_t moved = 0;
    for (size_t i = 0; status == REFS_OK && i < n; i++) status = refs_place_settle(places[i], err);
    while (status == REFS_OK && moved + 1 < n) {
        status = move_new(places[moved], err);
        if (status == REFS_OK) sync_folder_of(places[moved]->wanted);
        moved += status == REFS_OK;
    }
    if (status == REFS_OK && n > 0) status = replace(places[n - 1], err);
    for (size_t i = 0; i < moved; i++)
        if (status == REFS_OK)
            forget_written(places[i]);
        else if (rename(places[i]->wanted, places[i]->written) != 0)
            refs_place_remove(places[i]->wanted);
    return status;
}

void refs_place_clear(refs_place *place) {
    if (place->written != NULL) refs_place_remove(place->written);
    refs_free(place->written);
    refs_free(place->wanted);
    refs_free(place->model);
    memset(place, 0, sizeof *place);
}

refs_status refs_place_replace(const char *path, refs_bytes bytes, refs_error *err) {
    refs_place place = {.wanted = NULL};
    int file = -1;
    /* One of many, maybe: nobody sweeps for each. */
    refs_status status = open_place(path, REFS_PLACE_FILE, &place, err);
    if (status == REFS_OK) status = refs_place_create(&place, &file, err);
    if (status == REFS_OK) status = refs_write__all(file, place.wanted, bytes, err);
    if (file >= 0 && close(file) != 0 && status == REFS_OK)
        status = refs_place_fail(place.wanted, err);
    if (status == REFS_OK) status = refs_place_move(&place, err);
    refs_place_clear(&place);
    return status;
}
