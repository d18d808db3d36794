/* same_file.c -- see same_file.h. */
#include "same_file.h"

#include <sys/stat.h>

#include "refs/url.h"

bool refs_is_same_file(const char *one, const char *other) {
    struct stat first, second;
    return stat(refs_url_file_path(one), &first) == 0 &&
           stat(refs_url_file_path(other), &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}
