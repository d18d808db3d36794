/* nc_library.c -- see nc_library.h. */
#include "cfa/nc_library.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY(function) REFS_LAZY_ENTRY(refs_cfa__nc, function)

struct nc_functions refs_cfa__nc;

static const refs_lazy_function functions[] = {NC_FUNCTIONS(ENTRY){NULL, NULL}};
static refs_lazy_library library = REFS_LAZY_LIBRARY(REFS_LAZY_netcdf, functions);
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

refs_status refs_cfa__nc_load(refs_error *err) {
    refs_status status = refs_lazy_load(&library, err);
    if (status != REFS_OK) refs_error_prefix(err, "libnetcdf, which writes netCDF");
    return status;
}

void refs_cfa__nc_enter(void) {
    refs_lock(&library_lock);
}

int refs_cfa__nc_leave(int code) {
    refs_unlock(&library_lock);
    return code;
}

refs_status refs_cfa__nc_check_name(const char *path, const char *shown, refs_error *err) {
    if (strchr(path, '\\') == NULL) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: expected a name without a backslash, which libnetcdf reads as a slash: "
                     "choose another name or folder",
                     shown);
}

int refs_cfa__nc_make_file(const char *path, unsigned permissions) {
    const int file =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)permissions);
    if (file < 0) return errno;
    close(file);
    return NC_NOERR;
}
