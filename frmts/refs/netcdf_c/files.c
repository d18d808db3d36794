/* files.c -- open files by ncid, see ncrefs.h. netCDF-C numbers the files of a process in the upper
 * 16 bits. */
#include "ncrefs.h"
#include "refs/fork.h"

#define MAX_FILES 65536

static ncrefs_file **files; /* by number; NULL before the first file */
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t number_of(int ncid) {
    return (size_t)((unsigned)ncid >> 16) & (MAX_FILES - 1);
}

int ncrefs_enter(ncrefs_file *file) {
    refs_lock(&files_lock);
    if (files == NULL) files = refs_calloc(MAX_FILES, sizeof *files);
    bool has_room = files != NULL;
    if (has_room) files[number_of(file->ncid)] = file;
    refs_unlock(&files_lock);
    return has_room ? NC_NOERR : NC_ENOMEM;
}

ncrefs_file *ncrefs_find_file(int ncid) {
    REFS_LOCKED(&files_lock);
    return files != NULL ? files[number_of(ncid)] : NULL;
}

ncrefs_file *ncrefs_take_out(int ncid) {
    REFS_LOCKED(&files_lock);
    ncrefs_file *file = files != NULL ? files[number_of(ncid)] : NULL;
    if (file != NULL) files[number_of(ncid)] = NULL;
    return file;
}
