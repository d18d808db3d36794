/* same_folder.c -- see same_folder.h. */
#include "same_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

int refs_refset__folder_keep(refs_str folder) {
    char *path = refs_str_copy(folder);
    const int kept = path != NULL ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    refs_free(path);
    return kept;
}

void refs_refset__folder_release(int kept) {
    if (kept >= 0) close(kept);
}

refs_status refs_refset__folder_name(refs_str folder, char **name, refs_error *err) {
    char now[PATH_MAX];
    refs_buf text = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    if (!refs_str_starts(folder, "/") && getcwd(now, sizeof now) != NULL)
        status = refs_buf_printf(&text, err, "%s/", now);
    if (status == REFS_OK) status = refs_buf_append_str(&text, folder, err);
    if (status == REFS_OK && (*name = refs_buf_take_text(&text)) == NULL)
        status = refs_fail_nomem(err);
    refs_buf_clear(&text);
    return status;
}

refs_status refs_refset__folder_check(int kept, const char *folder, refs_error *err) {
    struct stat was, is;
    if (kept < 0 || fstat(kept, &was) != 0) return REFS_OK;
    if (stat(folder, &is) != 0)
        return refs_fail(err, REFS_CORRUPT, "%s: the set is not there any more: open it again",
                         folder);
    if (is.st_dev == was.st_dev && is.st_ino == was.st_ino) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "%s: the set was written anew since it was opened: open it again", folder);
}
