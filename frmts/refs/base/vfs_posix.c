/* vfs_posix.c -- local files, see refs_vfs_posix in vfs.h. */
#include "refs/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct posix_file {
    int descriptor;
} posix_file;

static refs_status posix_open(void *self, const char *location, void **handle, refs_error *err) {
    (void)self;
    int descriptor = open(location, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return refs_fail(err, errno == ENOENT || errno == ENOTDIR ? REFS_NOT_FOUND : REFS_IO,
                         "%s: %s", location, strerror(errno));
    posix_file *file = refs_alloc(sizeof *file);
    if (file == NULL) {
        close(descriptor);
        return refs_fail_nomem(err);
    }
    file->descriptor = descriptor;
    *handle = file;
    return REFS_OK;
}

static refs_status posix_size(void *self, void *handle, uint64_t *size, refs_error *err) {
    (void)self;
    struct stat status;
    if (fstat(((posix_file *)handle)->descriptor, &status) != 0)
        return refs_fail(err, REFS_IO, "%s", strerror(errno));
    *size = (uint64_t)status.st_size;
    return REFS_OK;
}

static refs_status posix_read(void *self, void *handle, uint64_t offset, size_t length,
                              uint8_t *dst, size_t *got, refs_error *err) {
    (void)self;
    *got = 0;
    if (offset > (uint64_t)INT64_MAX - length) return REFS_OK;
    while (*got < length) {
        ssize_t n = pread(((posix_file *)handle)->descriptor, dst + *got, length - *got,
                          (off_t)(offset + *got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return refs_fail(err, REFS_IO, "%s", strerror(errno));
        if (n == 0) break;
        *got += (size_t)n;
    }
    return REFS_OK;
}

static void posix_close(void *self, void *handle) {
    (void)self;
    close(((posix_file *)handle)->descriptor);
    refs_free(handle);
}

static refs_status posix_stamp(void *self, const char *location, refs_vfs_stamp *stamp,
                               refs_error *err) {
    (void)self;
    struct stat status;
    if (stat(location, &status) != 0)
        return refs_fail(err, errno == ENOENT ? REFS_NOT_FOUND : REFS_IO, "%s: %s", location,
                         strerror(errno));
    *stamp = (refs_vfs_stamp){.size = (uint64_t)status.st_size, .modified_s = status.st_mtime};
    return REFS_OK;
}

static bool posix_is_near(void *self, const char *location) {
    (void)self;
    (void)location;
    return true;
}

const refs_vfs *refs_vfs_posix(void) {
    static const refs_vfs posix = {NULL, posix_open,  posix_size, posix_read,
                                   NULL, posix_close, posix_stamp, posix_is_near};
    return &posix;
}
