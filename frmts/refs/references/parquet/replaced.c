/* replaced.c -- see replaced.h. */
#include "parquet/replaced.h"

#include <fcntl.h>
#include <unistd.h>

#include "refs/file_name.h"
#include "refs/folder.h"
#include "refs/staged.h"

#define METADATA ".zmetadata"

/* Foreign files that a message names. */
#define MAX_FOREIGN 3

/* Files in the folder of a Parquet set that do not belong to it. */
typedef struct foreign_files {
    bool is_set; /* the folder has METADATA; otherwise all its files are foreign */
    size_t n;
    refs_buf names; /* the first of them */
} foreign_files;

/* A folder being searched; `path` is relative to the set and ends in '/', or is "". */
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
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&path, err, "%s%s/", above->path, name);
    searched at = {above->found, (const char *)path.data, above->depth + 1};
    const refs_folder_visitor visitor = {find_foreign, &at};
    if (status == REFS_OK && at.depth > REFS_STAGED_MAX_DEPTH)
        status = refs_fail(err, REFS_LIMIT, "%s: folders are nested deeper than the limit of %d",
                           at.path, REFS_STAGED_MAX_DEPTH);
    if (status == REFS_OK)
        status = refs_folder_each_in(opened, at.path, &visitor, err);
    else
        close(opened);
    return status;
}

static refs_status find_foreign(void *user, int folder, const char *name, refs_error *err) {
    const searched *at = user;
    foreign_files *found = at->found;
    if (found->is_set && is_of_set(name, at->depth)) return REFS_OK;
    const int opened = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened >= 0) return search(at, opened, name, err);
    if (found->n++ >= MAX_FOREIGN)
        return REFS_CANCELLED; /* one more than are named: enough to say so */
    return refs_buf_printf(&found->names, err, "%s%s%s", found->names.size > 0 ? ", " : "",
                           at->path, name);
}

refs_status refs_parquet__check_replaced(const char *path, refs_error *err) {
    foreign_files found = {.names = REFS_BUF_INIT};
    searched at = {&found, "", 0};
    const refs_folder_visitor visitor = {find_foreign, &at};
    REFS_SCOPED_BUF metadata = REFS_BUF_INIT;
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
                           "%s: not replaced: expected only files of a Parquet set, found %.*s%s: "
                           "move them away, or choose another name",
                           path, (int)found.names.size, (const char *)found.names.data,
                           found.n > MAX_FOREIGN ? " and more" : "");
    refs_buf_clear(&found.names);
    return status;
}
