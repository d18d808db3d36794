/* folder.c -- see folder.h. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refs/cfa.h"
#include "refs/place.h"

/* Names that are tried. */
#define MAX_NAMES 1000

static refs_status fail_errno(const char *path, refs_error *err) {
    return refs_fail(err, REFS_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* "<stem>.….nc", or the outline of these. */
static bool is_fragment(const char *name, const char *stem) {
    size_t n = strlen(stem);
    if (strncmp(name, stem, n) != 0) return false;
    return strcmp(name + n, REFS_CFA_OUTLINE) == 0 ||
           (name[n] == '.' && refs_str_ends(refs_str_from(name), ".nc"));
}

static refs_status check(const char *path, const char *stem, refs_error *err) {
    DIR *entries = opendir(path);
    const struct dirent *entry;
    bool is_other = false;
    if (entries == NULL) return errno == ENOENT ? REFS_OK : fail_errno(path, err);
    while (!is_other && (entry = readdir(entries)) != NULL)
        is_other = entry->d_name[0] != '.' && !is_fragment(entry->d_name, stem);
    closedir(entries);
    if (!is_other) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: is where fragments are to be, and holds other things: give the master "
                     "another name",
                     path);
}

refs_status refs_cfa__folder_open(const char *wanted, const char *stem, cfa_folder *folder,
                                  refs_error *err) {
    REFS_TRY(check(wanted, stem, err));
    folder->wanted = refs_str_copy(refs_str_from(wanted));
    if (folder->wanted == NULL) return refs_fail_nomem(err);
    for (int i = 0; i < MAX_NAMES; i++) {
        refs_buf name = REFS_BUF_INIT;
        REFS_TRY(refs_place_append_name(wanted, i, &name, err));
        char *path = refs_buf_take_text(&name);
        if (path == NULL) return refs_fail_nomem(err);
        int made = mkdir(path, 0777);
        if (made == 0) folder->written = path;
        if (made == 0) return REFS_OK;
        refs_free(path);
        if (errno != EEXIST) return fail_errno(wanted, err);
    }
    return refs_fail(err, REFS_IO, "%s: cannot be written: all names beside it are taken", wanted);
}

static refs_status move_away(cfa_folder *folder, refs_error *err) {
    refs_buf name = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&name, err, "%s.old", folder->written));
    char *old = refs_buf_take_text(&name);
    if (old == NULL) return refs_fail_nomem(err);
    if (rename(folder->wanted, old) == 0) {
        folder->old = old;
        return REFS_OK;
    }
    refs_free(old);
    return errno == ENOENT ? REFS_OK : fail_errno(folder->wanted, err);
}

/* Fragments that are not there for a moment would be missing to who reads them then. */
static refs_status replace(cfa_folder *folder, refs_error *err) {
    if (refs_place_exchange(folder->written, folder->wanted)) {
        folder->old = folder->written;
        folder->written = NULL;
        return REFS_OK;
    }
    REFS_TRY(move_away(folder, err));
    return rename(folder->written, folder->wanted) == 0 ? REFS_OK : fail_errno(folder->wanted, err);
}

refs_status refs_cfa__folder_place(cfa_folder *folder, refs_error *err) {
    const bool is_empty = rmdir(folder->written) == 0;
    REFS_TRY(is_empty ? move_away(folder, err) : replace(folder, err));
    folder->is_placed = !is_empty;
    refs_free(folder->written);
    folder->written = NULL;
    return REFS_OK;
}

void refs_cfa__folder_keep(cfa_folder *folder) {
    if (folder->old != NULL) refs_place_remove(folder->old);
    refs_free(folder->old);
    folder->old = NULL;
    folder->is_placed = false;
}

void refs_cfa__folder_clear(cfa_folder *folder) {
    if (folder->is_placed) refs_place_remove(folder->wanted);
    if (folder->written != NULL) refs_place_remove(folder->written);
    if (folder->old != NULL) (void)rename(folder->old, folder->wanted);
    refs_free(folder->wanted);
    refs_free(folder->written);
    refs_free(folder->old);
    memset(folder, 0, sizeof *folder);
}
