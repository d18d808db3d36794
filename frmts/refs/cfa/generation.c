/* generation.c -- see generation.h. */
#include "generation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refs/cfa.h"

/* Names that are tried. */
#define MAX_NAMES 1000

/* -- what is there ----------------------------------------------------------------------------- */

typedef enum content {
    CONTENT_NONE, /* no folder, or an empty one */
    CONTENT_FRAGMENTS,
    CONTENT_WITH_OUTLINE, /* fragments, and the outline of these */
    CONTENT_OTHER
} content;

static bool is_outline(const char *name, const char *stem) {
    const size_t n = strlen(stem);
    return strncmp(name, stem, n) == 0 && strcmp(name + n, REFS_CFA_OUTLINE) == 0;
}

/* "<stem>.….nc" */
static bool is_fragment(const char *name, const char *stem) {
    const size_t n = strlen(stem);
    return strncmp(name, stem, n) == 0 && name[n] == '.' &&
           refs_str_ends(refs_str_from(name), ".nc");
}

static refs_status look_into(const char *path, const char *stem, content *found, refs_error *err) {
    DIR *entries = opendir(path);
    const struct dirent *entry;
    *found = CONTENT_NONE;
    int number = 0;
    if (entries == NULL) return errno == ENOENT ? REFS_OK : refs_place_fail(path, err);
    while (*found != CONTENT_OTHER) {
        errno = 0;
        entry = readdir(entries);
        number = errno;
        if (entry == NULL) break;
        if (entry->d_name[0] == '.') continue;
        if (is_outline(entry->d_name, stem))
            *found = CONTENT_WITH_OUTLINE;
        else if (!is_fragment(entry->d_name, stem))
            *found = CONTENT_OTHER;
        else if (*found == CONTENT_NONE)
            *found = CONTENT_FRAGMENTS;
    }
    closedir(entries);
    errno = number;
    return number == 0 ? REFS_OK : refs_place_fail(path, err);
}

/* Whether a name is that of another master with the same folder: the stem, and an ending or none.
 */
static bool is_other_master(const char *name, const char *stem, const char *own) {
    const size_t n = strlen(stem);
    return strncmp(name, stem, n) == 0 && strcmp(name, own) != 0 &&
           (name[n] == '\0' || (name[n] == '.' && strchr(name + n + 1, '.') == NULL));
}

static refs_status check_file(refs_str folder, const char *name, bool *is_file, refs_error *err) {
    refs_buf path = REFS_BUF_INIT;
    struct stat status;
    refs_status done = refs_buf_printf(&path, err, "%.*s%s", REFS_STR_WHOLE(folder), name);
    if (done == REFS_OK && stat((const char *)path.data, &status) == 0)
        *is_file = S_ISREG(status.st_mode);
    else if (done == REFS_OK && errno != ENOENT)
        done = refs_place_fail((const char *)path.data, err);
    refs_buf_clear(&path);
    return done;
}

/* Whether another master has the same folder: "m.nc" or "m.nc4" beside "m.nca". */
static refs_status find_sharer(refs_str folder, const char *stem, const char *own, bool *is_shared,
                               refs_error *err) {
    char *path = folder.size > 0 ? refs_str_copy(folder) : refs_str_copy(refs_str_from("."));
    if (path == NULL) return refs_fail_nomem(err);
    DIR *entries = opendir(path);
    refs_status status = entries != NULL ? REFS_OK : refs_place_fail(path, err);
    *is_shared = false;
    while (status == REFS_OK && !*is_shared) {
        errno = 0;
        const struct dirent *entry = readdir(entries);
        if (entry == NULL && errno != 0) status = refs_place_fail(path, err);
        if (entry == NULL) break;
        if (is_other_master(entry->d_name, stem, own))
            status = check_file(folder, entry->d_name, is_shared, err);
    }
    if (entries != NULL) closedir(entries);
    refs_free(path);
    return status;
}

/* -- names ------------------------------------------------------------------------------------- */

static char *print_name(refs_str folder, const char *name, unsigned number) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status =
        number == 0
            ? refs_buf_printf(&text, NULL, "%.*s%s", REFS_STR_WHOLE(folder), name)
            : refs_buf_printf(&text, NULL, "%.*s%s.g%u", REFS_STR_WHOLE(folder), name, number);
    char *taken = status == REFS_OK ? refs_buf_take_text(&text) : NULL;
    refs_buf_clear(&text);
    return taken;
}

static refs_status keep_old(cfa_generation *generation, const char *path, refs_error *err) {
    return refs_buf_append(&generation->old, path, strlen(path) + 1, err);
}

/* The first "NAME.gN" that is free; those before it that hold fragments are old. */
static refs_status choose_first(cfa_generation *generation, refs_str folder, const char *name,
                                const char *stem, refs_error *err) {
    for (unsigned i = 1; i <= MAX_NAMES; i++) {
        char *path = print_name(folder, name, i);
        content found = CONTENT_OTHER;
        struct stat status;
        if (path == NULL) return refs_fail_nomem(err);
        const bool is_there = lstat(path, &status) == 0, is_free = !is_there && errno == ENOENT;
        refs_status looked = REFS_OK;
        if (!is_there && !is_free) looked = refs_place_fail(path, err);
        if (is_there && S_ISDIR(status.st_mode) && look_into(path, stem, &found, NULL) == REFS_OK &&
            found == CONTENT_WITH_OUTLINE)
            looked = keep_old(generation, path, err);
        if (is_free) generation->first = print_name(refs_str_from(""), name, i);
        refs_free(path);
        REFS_TRY(looked);
        if (is_free) return generation->first != NULL ? REFS_OK : refs_fail_nomem(err);
    }
    return refs_place_fail_names(generation->last_path, MAX_NAMES, err);
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status choose_names(cfa_generation *generation, refs_str folder, const char *name,
                                const char *stem, refs_error *err) {
    content found;
    REFS_TRY(look_into(generation->last_path, stem, &found, err));
    if (found == CONTENT_OTHER)
        return refs_fail(
            err, REFS_INVALID,
            "%s: cannot write fragments: the folder holds files of another origin: give "
            "the master another name",
            generation->last_path);
    REFS_TRY(choose_first(generation, folder, name, stem, err));
    bool keeps_first = false;
    if (found != CONTENT_NONE) REFS_TRY(find_sharer(folder, stem, name, &keeps_first, err));
    if (found != CONTENT_NONE && !keeps_first) {
        generation->last = refs_str_copy(refs_str_from(stem));
        REFS_TRY(keep_old(generation, generation->last_path, err));
    } else {
        if (!keeps_first) {
            refs_free(generation->first);
            generation->first = refs_str_copy(refs_str_from(stem));
        }
        generation->last =
            generation->first != NULL ? refs_str_copy(refs_str_from(generation->first)) : NULL;
    }
    return generation->last != NULL ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_cfa__generation_open(const char *path, const char *stem,
                                      cfa_generation *generation, refs_error *err) {
    const refs_str text = refs_str_from(path);
    const size_t slash = refs_str_find_last(text, '/');
    const refs_str folder = refs_str_part(text, 0, slash == SIZE_MAX ? 0 : slash + 1);
    generation->last_path = print_name(folder, stem, 0);
    if (generation->last_path == NULL) return refs_fail_nomem(err);
    REFS_TRY(choose_names(generation, folder, path + folder.size, stem, err));
    char *first = print_name(folder, generation->first, 0);
    if (first == NULL) return refs_fail_nomem(err);
    refs_status status = refs_place_open(first, REFS_PLACE_FOLDER, &generation->parts, err);
    refs_free(first);
    if (status == REFS_OK) status = refs_place_keep(&generation->parts, generation->last_path, err);
    return status;
}

bool refs_cfa__generation_has_two(const cfa_generation *generation) {
    return generation->first != NULL && strcmp(generation->first, generation->last) != 0;
}

/* -- moving ------------------------------------------------------------------------------------ */

static bool link_all(const char *from, const char *to) {
    const int target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = target >= 0 ? opendir(from) : NULL;
    const struct dirent *entry;
    bool is_linked = entries != NULL;
    while (is_linked && (entry = readdir(entries)) != NULL)
        if (entry->d_name[0] != '.')
            is_linked = linkat(dirfd(entries), entry->d_name, target, entry->d_name, 0) == 0;
    if (entries != NULL) closedir(entries);
    if (target >= 0) close(target);
    return is_linked;
}

bool refs_cfa__generation_link(cfa_generation *generation) {
    refs_place linked = {.wanted = NULL};
    if (refs_place_open(generation->last_path, REFS_PLACE_FOLDER, &linked, NULL) == REFS_OK &&
        link_all(generation->parts.wanted, linked.written))
        generation->has_moved = refs_place_move(&linked, NULL) == REFS_OK;
    refs_place_clear(&linked);
    return generation->has_moved;
}

void refs_cfa__generation_end(cfa_generation *generation) {
    const char *path = (const char *)generation->old.data;
    for (size_t at = 0; at < generation->old.size; at += strlen(path + at) + 1)
        if (!generation->has_moved || strcmp(path + at, generation->last_path) != 0)
            refs_place_retire(path + at);
    if (generation->has_moved) refs_place_retire(generation->parts.wanted);
    generation->old.size = 0;
}

void refs_cfa__generation_clear(cfa_generation *generation) {
    refs_place_clear(&generation->parts);
    refs_free(generation->first);
    refs_free(generation->last);
    refs_free(generation->last_path);
    refs_buf_clear(&generation->old);
    memset(generation, 0, sizeof *generation);
}
