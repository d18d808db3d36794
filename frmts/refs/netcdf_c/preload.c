/* preload.c -- registers the format with netCDF-C: by its configuration or, if this library was
 * preloaded (LD_PRELOAD), when a file is opened. See ncrefs.h.
 *
 * A process may have several copies of netCDF-C, for example in Python modules. The copy with which
 * the caller is linked is used.
 */
#define _GNU_SOURCE 1 /* RTLD_NEXT, dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "ncrefs.h"
#include "refs/file_name.h"
#include "refs/refset.h"
#include "refs/scan.h"
#include "refs/stac/stac.h"
#include "refs/url.h"
#include "refs/zip_signature.h"

#define EXPORT __attribute__((visibility("default")))

/* A file that always exists: later versions of netCDF-C read the beginning of a file before they
 * call the format, which fails for remote files and folders. */
#define STAND_IN "/proc/self/exe"

/* The first byte of JSON, with which no other format of netCDF-C begins. */
#define MAGIC "{"

/* -- which netCDF-C ---------------------------------------------------------------------------- */

/* Finds a function of the netCDF-C with which the code at `caller` is linked, or of the next one in
 * search order; NULL if there is none. */
static void find_function(const char *name, const void *caller, void *function) {
    Dl_info info;
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL && dladdr(caller, &info) != 0 && info.dli_fname != NULL) {
        void *module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (module != NULL) {
            found = dlsym(module, name);
            dlclose(module);
        }
    }
    memcpy(function, &found, sizeof found); /* ISO C has no such conversion */
}

typedef int define_function(int, NC_Dispatch *, char *);
typedef int inquire_function(int, NC_Dispatch **, char *);

/* Registers the format and returns its mode flag, the first of two that is free or already has the
 * format; 0: none is free. */
static int enter_format(const void *caller) {
    static const int flags[] = {NC_UDF0, NC_UDF1};
    static char magic[] = MAGIC;
    define_function *define;
    inquire_function *inquire;
    find_function("nc_def_user_format", caller, &define);
    find_function("nc_inq_user_format", caller, &inquire);
    if (define == NULL || inquire == NULL) return 0;
    for (size_t i = 0; i < 2; i++) {
        NC_Dispatch *there = NULL;
        if (inquire(flags[i], &there, NULL) != NC_NOERR) there = NULL;
        if (there == ncrefs_table()) return flags[i];
        if (there == NULL && define(flags[i], ncrefs_table(), magic) == NC_NOERR) return flags[i];
    }
    return 0;
}

/* For NETCDF.UDF0.INIT in a file .ncrc; and for builds of netCDF-C that enter the table themselves.
 */
EXPORT int ncrefs_initialize(void);
EXPORT NC_Dispatch *ncrefs_dispatch_table(void);

int ncrefs_initialize(void) {
    return enter_format(__builtin_return_address(0)) != 0 ? NC_NOERR : NC_EINVAL;
}

NC_Dispatch *ncrefs_dispatch_table(void) {
    return ncrefs_table();
}

/* -- which names ------------------------------------------------------------------------------- */

static const char prefix[] = "REFS:";

static bool is_of_store(refs_str name) {
    refs_str object;
    return refs_url_store_of(name, &object) != NULL;
}

/* Whether a location is a set, a data file, or a STAC document or a ZIP archive, which may name
 * one: netCDF-C reads neither. */
static bool is_set_or_data(const refs_vfs *vfs, const char *location) {
    uint8_t head[REFS_SET_HEAD_BYTES];
    const refs_vfs_range range = {0, sizeof head, head};
    size_t got;
    if (refs_vfs_read_range(vfs, location, &range, &got, NULL) == REFS_OK) {
        refs_bytes bytes = refs_bytes_view(head, got);
        if (refs_scan_sniff(bytes) != NULL || refs_stac_sniff(bytes) || refs_is_zip(bytes) ||
            refs_set_sniff_file(vfs, location, bytes) == REFS_SNIFFED_SET)
            return true;
    }
    return refs_set_sniff_folder(vfs, location);
}

static bool is_netcdf_or_hdf5(const char *path) {
    static const uint8_t hdf5[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    uint8_t head[8] = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    size_t got = fread(head, 1, sizeof head, file);
    fclose(file);
    return got >= 4 && (memcmp(head, "CDF", 3) == 0 || memcmp(head, hdf5, sizeof hdf5) == 0);
}

static bool is_local_set(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return false;
    if (S_ISDIR(status.st_mode)) return refs_set_sniff_folder(refs_vfs_posix(), path);
    return S_ISREG(status.st_mode) && !is_netcdf_or_hdf5(path) &&
           is_set_or_data(refs_vfs_posix(), path);
}

static bool is_remote_set(const char *url) {
    refs_session *session = NULL;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    const refs_url_context context = {.base = ""};
    return ncrefs_session_get(&session, NULL) == REFS_OK &&
           refs_url_map(refs_str_from(url), &context, &location, NULL) == REFS_OK &&
           refs_buf_append(&location, "", 1, NULL) == REFS_OK &&
           is_set_or_data(refs_session_vfs(session), (const char *)location.data);
}

/* The name to open as a set, for the caller to free; NULL: the name is netCDF-C's own. */
static char *name_of_set(const char *path) {
    refs_str name = refs_str_from(path);
    if (refs_str_starts(name, prefix)) {
        name = refs_str_part(name, sizeof prefix - 1, name.size);
        return refs_str_copy(refs_str_trim(name, "\""));
    }
    if (refs_file_name_has_url(name) && strstr(path, "#mode=") != NULL &&
        strstr(path, "udf") == NULL)
        return NULL; /* "#mode=bytes", "#mode=zarr" */
    bool is_asked;
    char *copy = ncrefs_plain_name(path, &is_asked);
    if (copy == NULL || is_asked || is_of_store(refs_str_from(copy))) return copy;
    refs_str plain = refs_str_from(copy);
    if (strstr(copy, "#set=") != NULL) return copy;
    bool is_set = refs_url_is_http(plain) ? is_remote_set(copy) : is_local_set(copy);
    if (is_set) return copy;
    refs_free(copy);
    return NULL;
}

/* -- replacements of functions of netCDF-C ----------------------------------------------------- */

typedef int open_function(const char *, int, int *);
typedef int open_basic_function(const char *, int, size_t *, int *);
typedef int path_function(int, size_t *, char *);

EXPORT int nc_open(const char *path, int mode, int *ncid);
EXPORT int nc__open(const char *path, int mode, size_t *chunk_size, int *ncid);
EXPORT int nc_inq_path(int ncid, size_t *size, char *path);

static int open_set(open_function *open, char *name, int mode, int *ncid, int flag) {
    /* Flags of files that netCDF-C itself reads into memory or locks do not apply to sets. */
    mode &= ~(NC_DISKLESS | NC_MMAP | NC_PERSIST | NC_SHARE | NC_LOCK);
    ncrefs_open_next(name);
    int code = open(STAND_IN, mode | flag, ncid);
    ncrefs_open_next(NULL);
    refs_free(name);
    return code;
}

/* Implements nc_open and its variants; `caller` is the return address. */
static int open_any(const char *path, int mode, size_t *chunk_size, int *ncid, const void *caller) {
    open_function *open;
    open_basic_function *basic;
    find_function("nc_open", caller, &open);
    find_function("nc__open", caller, &basic);
    if (open == NULL || basic == NULL) return NC_EINTERNAL;
    char *name = path != NULL && (mode & NC_INMEMORY) == 0 ? name_of_set(path) : NULL;
    int flag = name != NULL ? enter_format(caller) : 0;
    if (flag != 0) return open_set(open, name, mode, ncid, flag);
    refs_free(name);
    return chunk_size != NULL ? basic(path, mode, chunk_size, ncid) : open(path, mode, ncid);
}

int nc_open(const char *path, int mode, int *ncid) {
    return open_any(path, mode, NULL, ncid, __builtin_return_address(0));
}

int nc__open(const char *path, int mode, size_t *chunk_size, int *ncid) {
    return open_any(path, mode, chunk_size, ncid, __builtin_return_address(0));
}

int nc_inq_path(int ncid, size_t *size, char *path) {
    const ncrefs_file *file = ncrefs_find_file(ncid);
    path_function *ask;
    find_function("nc_inq_path", __builtin_return_address(0), &ask);
    if (file == NULL) return ask != NULL ? ask(ncid, size, path) : NC_EBADID;
    if (size != NULL) *size = strlen(file->name);
    if (path != NULL) memcpy(path, file->name, strlen(file->name) + 1);
    return NC_NOERR;
}
