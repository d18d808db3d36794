/* generation.c -- see generation.h. */
#include "cfa/generation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cfa/cfa.h"
#include "refs/folder.h"

/* Limit of names that are tried. */
#define MAX_NAMES 1000

/* -- existing files ---------------------------------------------------------------------------- */

typedef enum content {
    CONTENT_NONE, /* no folder, or an empty one */
    CONTENT_FRAGMENTS,
    CONTENT_WITH_OUTLINE, /* fragments and their outline */
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

typedef struct classified {
    const char *stem;
    content found;
} classified;

static refs_status classify(void *user, int folder, const char *name, refs_error *err) {
    classified *all = user;
    (void)folder, (void)err;
    if (name[0] == '.' || all->found == CONTENT_OTHER) return REFS_OK;
    if (is_outline(name, all->stem))
        all->found = CONTENT_WITH_OUTLINE;
    else if (!is_fragment(name, all->stem))
        all->found = CONTENT_OTHER;
    else if (all->found == CONTENT_NONE)
        all->found = CONTENT_FRAGMENTS;
    return REFS_OK;
}

static refs_status look_into(const char *path, const char *stem, content *found, refs_error *err) {
    classified all = {stem, CONTENT_NONE};
    const refs_folder_visitor visitor = {classify, &all};
    const refs_status status = refs_folder_each(path, &visitor, NULL);
    *found = all.found;
    if (status == REFS_OK || (status == REFS_NOT_FOUND && errno == ENOENT)) return REFS_OK;
    return refs_staged_fail(path, err);
}

/* Whether a name could be that of another master with the same folder: the stem, with or without an
 * extension. */
static bool is_other_master(const char *name, const char *stem, const char *own) {
    const size_t n = strlen(stem);
    return strncmp(name, stem, n) == 0 && strcmp(name, own) != 0 &&
           (name[n] == '\0' || (name[n] == '.' && strchr(name + n + 1, '.') == NULL));
}

/* Whether it begins like a netCDF file; one that cannot be read may be one. */
static bool may_be_netcdf(int folder, const char *name) {
    const int file = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    char begin[4];
    if (file < 0) return errno != ENOENT && errno != ELOOP && errno != ENXIO;
    const bool is_it = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                       pread(file, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
                       (memcmp(begin, "CDF", 3) == 0 || memcmp(begin, "\x89HDF", 4) == 0);
    close(file);
    return is_it;
}

typedef struct sharer_search {
    const char *stem, *own;
    bool is_shared;
} sharer_search;

static refs_status look_at_name(void *user, int folder, const char *name, refs_error *err) {
    sharer_search *job = user;
    (void)err;
    job->is_shared = job->is_shared ||
                     (is_other_master(name, job->stem, job->own) && may_be_netcdf(folder, name));
    return REFS_OK;
}

/* Finds another master with the same folder: "m.nc" or "m.nc4" next to "m.nca". */
static refs_status find_sharer(refs_str folder, const char *stem, const char *own, bool *is_shared,
                               refs_error *err) {
    REFS_SCOPED char *path =
        folder.size > 0 ? refs_str_copy(folder) : refs_str_copy(refs_str_from("."));
    sharer_search job = {stem, own, false};
    const refs_folder_visitor visitor = {look_at_name, &job};
    if (path == NULL) return refs_fail_nomem(err);
    const refs_status status = refs_folder_each(path, &visitor, err);
    *is_shared = job.is_shared;
    return status;
}

/* -- names ------------------------------------------------------------------------------------- */

static char *print_name(refs_str folder, const char *name, unsigned number) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status =
        number == 0
            ? refs_buf_printf(&text, NULL, "%.*s%s", REFS_STR_WHOLE(folder), name)
            : refs_buf_printf(&text, NULL, "%.*s%s.g%u", REFS_STR_WHOLE(folder), name, number);
    return status == REFS_OK ? refs_buf_take_text(&text) : NULL;
}

bool refs_cfa_is_folder_of(const char *master, const char *name) {
    const char *own = refs_path_leaf(master), *dot = strrchr(own, '.');
    const size_t n = strlen(own), n_stem = dot != NULL ? (size_t)(dot - own) : n;
    return (strlen(name) == n_stem && strncmp(name, own, n_stem) == 0) ||
           (strncmp(name, own, n) == 0 && strncmp(name + n, ".g", 2) == 0);
}

static refs_status keep_old(cfa_generation *generation, const char *path, refs_error *err) {
    return refs_buf_append_text(&generation->old, refs_str_from(path), err);
}

/* Chooses the first unused "NAME.gN"; earlier ones with fragments are old. */
static refs_status choose_first(cfa_generation *generation, refs_str folder, const char *name,
                                const char *stem, refs_error *err) {
    for (unsigned i = 1; i <= MAX_NAMES; i++) {
        char *path = print_name(folder, name, i);
        content found = CONTENT_OTHER;
        struct stat status;
        if (path == NULL) return refs_fail_nomem(err);
        const bool is_there = lstat(path, &status) == 0, is_free = !is_there && errno == ENOENT;
        refs_status looked = REFS_OK;
        if (!is_there && !is_free) looked = refs_staged_fail(path, err);
        if (is_there && S_ISDIR(status.st_mode) && look_into(path, stem, &found, NULL) == REFS_OK &&
            found == CONTENT_WITH_OUTLINE)
            looked = keep_old(generation, path, err);
        if (is_free) generation->first = print_name(refs_str_from(""), name, i);
        refs_free(path);
        REFS_TRY(looked);
        if (is_free) return generation->first != NULL ? REFS_OK : refs_fail_nomem(err);
    }
    return refs_staged_fail_names(generation->last_path, MAX_NAMES, err);
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status choose_names(cfa_generation *generation, refs_str folder, const char *name,
                                const char *stem, refs_error *err) {
    content found;
    REFS_TRY(look_into(generation->last_path, stem, &found, err));
    if (found == CONTENT_OTHER)
        return refs_fail(err, REFS_INVALID,
                         "%s: cannot write fragments: the folder has files that are not fragments "
                         "of this master: choose another name for the master",
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
    const refs_str folder = refs_path_folder(refs_str_from(path));
    char *last = print_name(folder, stem, 0);
    if (last == NULL) return refs_fail_nomem(err);
    refs_status status = refs_staged_open(last, REFS_STAGED_FOLDER, &generation->linked, err);
    refs_free(last);
    REFS_TRY(status);
    REFS_TRY(refs_str_keep(refs_str_from(generation->linked.wanted), &generation->last_path, err));
    REFS_TRY(choose_names(generation, folder, path + folder.size, stem, err));
    if (strcmp(generation->first, stem) == 0) {
        generation->parts = generation->linked;
        generation->linked = (refs_staged){.wanted = NULL};
        return REFS_OK;
    }
    char *first = print_name(folder, generation->first, 0);
    if (first == NULL) return refs_fail_nomem(err);
    status = refs_staged_open(first, REFS_STAGED_FOLDER, &generation->parts, err);
    refs_free(first);
    if (status == REFS_OK)
        status = refs_staged_keep(&generation->parts, generation->last_path, err);
    return status;
}

bool refs_cfa__generation_has_two(const cfa_generation *generation) {
    return generation->first != NULL && strcmp(generation->first, generation->last) != 0;
}

/* -- moving ------------------------------------------------------------------------------------ */

static refs_status link_one(void *user, int folder, const char *name, refs_error *err) {
    const int *target = user;
    (void)err;
    return name[0] == '.' || linkat(folder, name, *target, name, 0) == 0 ? REFS_OK : REFS_IO;
}

static bool link_all(const char *from, const char *to) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int source = open(from, flags), target = open(to, flags);
    const refs_folder_visitor visitor = {link_one, &target};
    bool is_linked = source >= 0 && target >= 0;
    if (is_linked)
        is_linked = refs_folder_each_in(source, from, &visitor, NULL) == REFS_OK;
    else if (source >= 0)
        close(source);
    if (target >= 0) close(target);
    return is_linked;
}

bool refs_cfa__generation_link(cfa_generation *generation) {
    refs_staged *linked = &generation->linked;
    generation->has_moved = linked->written != NULL &&
                            link_all(generation->parts.wanted, linked->written) &&
                            refs_staged_move(linked, NULL) == REFS_OK;
    return generation->has_moved;
}

void refs_cfa__generation_end(cfa_generation *generation) {
    const char *path;
    for (refs_str rest = refs_buf_text(&generation->old); refs_str_next_text(&rest, &path);)
        if (!generation->has_moved || strcmp(path, generation->last_path) != 0)
            refs_staged_retire(path);
    if (generation->has_moved) refs_staged_retire(generation->parts.wanted);
    generation->old.size = 0;
}

void refs_cfa__generation_clear(cfa_generation *generation) {
    refs_staged_clear(&generation->parts);
    refs_staged_clear(&generation->linked);
    refs_free(generation->first);
    refs_free(generation->last);
    refs_free(generation->last_path);
    refs_buf_clear(&generation->old);
    memset(generation, 0, sizeof *generation);
}
