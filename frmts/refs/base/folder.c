/* folder.c -- see folder.h. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static refs_status fail(refs_status status, const char *shown, refs_error *err) {
    const int why = errno;
    (void)refs_fail(err, status, "%s: %s", shown, strerror(why));
    errno = why;
    return status;
}

/* readdir(3) returns NULL at the end and on failure: only errno distinguishes them. */
static refs_status visit_all(DIR *entries, const char *shown, const refs_folder_visitor *visitor,
                             refs_error *err) {
    const struct dirent *entry;
    while (errno = 0, (entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        REFS_TRY(visitor->visit(visitor->user, dirfd(entries), entry->d_name, err));
    }
    return errno == 0 ? REFS_OK : fail(REFS_IO, shown, err);
}

/* Closes `entries`; NULL: it could not be opened. */
static refs_status visit_opened(DIR *entries, const char *shown, const refs_folder_visitor *visitor,
                                refs_error *err) {
    if (entries == NULL) return fail(refs_status_of_errno(errno), shown, err);
    const refs_status status = visit_all(entries, shown, visitor, err);
    const int why = errno;
    closedir(entries);
    errno = why;
    return status;
}

refs_status refs_folder_each(const char *path, const refs_folder_visitor *visitor,
                             refs_error *err) {
    return visit_opened(opendir(path), path, visitor, err);
}

refs_status refs_folder_each_in(int folder, const char *shown, const refs_folder_visitor *visitor,
                                refs_error *err) {
    DIR *entries = fdopendir(folder);
    const int why = errno;
    if (entries == NULL) close(folder);
    errno = why;
    return visit_opened(entries, shown, visitor, err);
}
