/* staged_remove.c -- removes obsolete files and folders; see staged.h. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "staged.h"

static void remove_tree(int folder, const char *name, const struct stat *seen, int depth);

static refs_status remove_entry(void *user, int folder, const char *name, refs_error *err) {
    const int *depth = user;
    (void)err;
    remove_tree(folder, name, NULL, *depth + 1);
    return REFS_OK;
}

/* Whether an open folder is the one that was checked, and belongs to this user. */
static bool is_own(int opened, const struct stat *seen) {
    struct stat now;
    return fstat(opened, &now) == 0 && now.st_uid == geteuid() && now.st_dev == seen->st_dev &&
           now.st_ino == seen->st_ino;
}

/* Looks up each name in an open folder and follows no link, so a folder that is replaced by a link
 * meanwhile is not entered. With `seen`, a folder is removed only if it is that one. */
static void remove_tree(int folder, const char *name, const struct stat *seen, int depth) {
    const int opened = depth > REFS_STAGED_MAX_DEPTH
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
    /* Files that could not be listed remain, and with them the folder. */
    const refs_folder_visitor visitor = {remove_entry, &depth};
    (void)refs_folder_each_in(opened, name, &visitor, NULL);
    (void)unlinkat(folder, name, AT_REMOVEDIR);
}

void refs_staged_remove(const char *path) {
    remove_tree(AT_FDCWD, path, NULL, 0);
}

void refs_staged_retire(const char *path) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    struct stat status;
    for (int i = 0; i < REFS_STAGED_MAX_NAMES; i++) {
        name.size = 0;
        if (refs_staged_append_name(path, i, &name, NULL) != REFS_OK) break;
        const char *unfinished = (const char *)name.data;
        if (lstat(unfinished, &status) == 0) continue;
        if (rename(path, unfinished) == 0) path = unfinished;
        break;
    }
    refs_staged_remove(path);
}

void refs_staged_remove_own(int folder, const char *name) {
    struct stat seen;
    if (fstatat(folder, name, &seen, AT_SYMLINK_NOFOLLOW) == 0 && seen.st_uid == geteuid())
        remove_tree(folder, name, &seen, 0);
}
