/* nc_library.c -- see nc_library.h. */
#include "cfa/nc_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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

void refs_cfa__nc_hush(void) {
    void *handle = dlopen(library.soname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    void *symbol =
        handle != NULL ? dlsym(handle, "H5Eset_auto2") : NULL; /* of what it is linked to */
    int (*set_auto)(int64_t stack, void *function, void *data);
    memcpy(&set_auto, &symbol, sizeof symbol);
    refs_cfa__nc_enter();
    if (symbol != NULL) (void)set_auto(0, NULL, NULL);
    (void)refs_cfa__nc_leave(NC_NOERR);
    if (handle != NULL) (void)dlclose(handle);
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
