/* place.c -- see place.h. */
#ifdef __linux__
#define _GNU_SOURCE /* NOLINT: for RENAME_EXCHANGE */
#endif
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output.h"

/* Names that are tried. */
#define MAX_NAMES 1000

/* Links that are followed, one after the other; as Linux does. */
#define MAX_LINKS 40

/* Deepest folder of a set that is removed: groups in groups. */
#define MAX_DEPTH 128

static refs_status fail_errno(const char *path, refs_error *err) {
    return refs_fail(err, REFS_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* -- removing ---------------------------------------------------------------------------------- */

static void remove_tree(const char *path, int depth);

static void remove_content(const char *path, DIR *folder, int depth) {
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        refs_buf name = REFS_BUF_INIT;
        if (refs_buf_printf(&name, NULL, "%s/%s", path, entry->d_name) == REFS_OK)
            remove_tree((const char *)name.data, depth + 1);
        refs_buf_clear(&name);
    }
}

/* Links are removed, not followed. */
static void remove_tree(const char *path, int depth) {
    if (unlink(path) == 0 || depth > MAX_DEPTH) return;
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    remove_content(path, folder, depth);
    closedir(folder);
    rmdir(path);
}

void refs_place_remove(const char *path) {
    remove_tree(path, 0);
}

/* -- opening ----------------------------------------------------------------------------------- */

/* A folder that is going to be replaced, and that holds anything, must be a Parquet set. */
static refs_status check_folder(const char *path, refs_error *err) {
    bool is_empty = true, is_set = false;
    DIR *folder = opendir(path);
    const struct dirent *entry;
    if (folder == NULL) return fail_errno(path, err);
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".zmetadata") == 0) is_set = true;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) is_empty = false;
    }
    closedir(folder);
    if (is_empty || is_set) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: is a folder that holds other things than a set: give another name", path);
}

static refs_status check_wanted(const refs_place *place, refs_error *err) {
    struct stat status;
    if (lstat(place->wanted, &status) != 0)
        return errno == ENOENT ? REFS_OK : fail_errno(place->wanted, err);
    if (S_ISDIR(status.st_mode) && !place->is_folder)
        return refs_fail(err, REFS_INVALID,
                         "%s: is a folder, and JSON is one file: give a name in it, or one that "
                         "ends in .parq",
                         place->wanted);
    return S_ISDIR(status.st_mode) ? check_folder(place->wanted, err) : REFS_OK;
}

/* The name that a link stands for, from the folder it lies in; *target is for the caller to free.
 */
static refs_status read_link(const char *link, char **target, refs_error *err) {
    char text[PATH_MAX];
    refs_buf name = REFS_BUF_INIT;
    ssize_t size = readlink(link, text, sizeof text);
    if (size < 0) return fail_errno(link, err);
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

/* What is written through a link takes the place of what it leads to, be that there or not. */
static refs_status follow_links(refs_place *place, refs_error *err) {
    struct stat status;
    for (int i = 0; lstat(place->wanted, &status) == 0 && S_ISLNK(status.st_mode); i++) {
        char *target;
        if (i == MAX_LINKS)
            return refs_fail(err, REFS_IO, "%s: cannot be written: links lead in a circle",
                             place->wanted);
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
        bool is_free = place->is_folder ? mkdir(place->written, 0777) == 0
                                        : lstat(place->written, &status) != 0 && errno == ENOENT;
        if (is_free) return REFS_OK;
        refs_status failed =
            place->is_folder && errno != EEXIST ? fail_errno(place->wanted, err) : REFS_OK;
        refs_free(place->written);
        place->written = NULL;
        REFS_TRY(failed);
    }
    return refs_fail(err, REFS_IO, "%s: cannot be written: all names beside it are taken",
                     place->wanted);
}

static refs_status open_place(const char *path, bool is_folder, refs_place *place,
                              refs_error *err) {
    refs_str name = refs_str_from(path);
    *place = (refs_place){.is_folder = is_folder};
    while (name.size > 1 && name.data[name.size - 1] == '/') name.size--;
    if (name.size == 0) return refs_fail(err, REFS_INVALID, "the set to write has no name");
    place->wanted = refs_str_copy(name);
    if (place->wanted == NULL) return refs_fail_nomem(err);
    REFS_TRY(follow_links(place, err));
    REFS_TRY(check_wanted(place, err));
    return choose_name(place, err);
}

refs_status refs_place_open(const char *path, bool is_folder, refs_place *place, refs_error *err) {
    REFS_TRY(open_place(path, is_folder, place, err));
    refs_place_sweep(place->wanted);
    return REFS_OK;
}

/* -- moving ------------------------------------------------------------------------------------ */

bool refs_place_exchange(const char *one, const char *other) {
#if defined(SYS_renameat2) && defined(RENAME_EXCHANGE)
    return syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0;
#else
    (void)one;
    (void)other;
    return false;
#endif
}

/* Else a folder is moved away before another takes its name: rename(2) replaces only empty ones. */
static refs_status replace_folder(refs_place *place, refs_error *err) {
    refs_buf name = REFS_BUF_INIT;
    if (refs_place_exchange(place->written, place->wanted)) {
        remove_tree(place->written, 0);
        return REFS_OK;
    }
    REFS_TRY(refs_buf_printf(&name, err, "%s.old", place->written));
    const char *old = (const char *)name.data;
    refs_status status = REFS_OK;
    if (rename(place->wanted, old) != 0) {
        status = fail_errno(place->wanted, err);
    } else if (rename(place->written, place->wanted) != 0) {
        status = fail_errno(place->wanted, err);
        (void)rename(old, place->wanted);
    } else {
        remove_tree(old, 0);
    }
    refs_buf_clear(&name);
    return status;
}

refs_status refs_place_move(refs_place *place, refs_error *err) {
    if (rename(place->written, place->wanted) != 0) {
        bool is_taken = errno == ENOTEMPTY || errno == EEXIST;
        if (!place->is_folder || !is_taken) return fail_errno(place->wanted, err);
        REFS_TRY(replace_folder(place, err));
    }
    refs_free(place->written);
    place->written = NULL;
    return REFS_OK;
}

void refs_place_clear(refs_place *place) {
    if (place->written != NULL) remove_tree(place->written, 0);
    refs_free(place->written);
    refs_free(place->wanted);
    memset(place, 0, sizeof *place);
}

refs_status refs_place_replace(const char *path, refs_bytes bytes, refs_error *err) {
    refs_place place = {.wanted = NULL};
    /* One of many, maybe: nobody sweeps for each. */
    refs_status status = open_place(path, false, &place, err);
    if (status == REFS_OK) status = refs_write__file(place.written, bytes, err);
    if (status == REFS_OK) status = refs_place_move(&place, err);
    refs_place_clear(&place);
    return status;
}
