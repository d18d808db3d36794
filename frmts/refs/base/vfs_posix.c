/* vfs_posix.c -- local files, see refs_vfs_posix in vfs.h. */
#include "refs/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "refs/fork.h"
#include "refs/url.h"

typedef struct posix_file {
    int descriptor;
} posix_file;

static refs_status posix_open(void *self, const char *location, void **handle, refs_error *err) {
    refs_assert_unlocked();
    (void)self;
    struct stat status;
    /* Without O_NONBLOCK, opening a pipe would wait for a writer. */
    int descriptor = open(location, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return refs_fail(err, refs_status_of_errno(errno), "%s: %s", location, strerror(errno));
    if (fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        close(descriptor);
        return refs_fail(err, REFS_UNSUPPORTED, "%s: expected a file, found a pipe or a device",
                         location);
    }
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

static refs_status posix_read(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                              refs_error *err) {
    refs_assert_unlocked();
    (void)self;
    *got = 0;
    if (range->offset > (uint64_t)INT64_MAX - range->length) return REFS_OK;
    while (*got < range->length) {
        ssize_t n = pread(((posix_file *)handle)->descriptor, range->dst + *got,
                          range->length - *got, (off_t)(range->offset + *got));
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

#ifdef __APPLE__
#define NANOSECONDS(status, which) ((uint32_t)(status)->st_##which##timespec.tv_nsec)
#else
#define NANOSECONDS(status, which) ((uint32_t)(status)->st_##which##tim.tv_nsec)
#endif

static void fill_validators(const struct stat *status, refs_vfs_validators *validators) {
    *validators = (refs_vfs_validators){.has_size = true,
                                        .size = (uint64_t)status->st_size,
                                        .modified_s = status->st_mtime,
                                        .modified_ns = NANOSECONDS(status, m),
                                        .device = (uint64_t)status->st_dev,
                                        .inode = (uint64_t)status->st_ino,
                                        .changed_s = status->st_ctime,
                                        .changed_ns = NANOSECONDS(status, c)};
}

static refs_status posix_validators(void *self, const char *location,
                                    refs_vfs_validators *validators, refs_error *err) {
    refs_assert_unlocked();
    (void)self;
    struct stat status;
    if (stat(location, &status) != 0)
        return refs_fail(err, refs_status_of_errno(errno), "%s: %s", location, strerror(errno));
    fill_validators(&status, validators);
    return REFS_OK;
}

static refs_status posix_peek(void *self, const char *location, void *handle,
                              refs_vfs_validators *validators, refs_error *err) {
    struct stat status;
    if (handle == NULL) return posix_validators(self, location, validators, err);
    if (fstat(((posix_file *)handle)->descriptor, &status) != 0)
        return refs_fail(err, REFS_IO, "%s: %s", location, strerror(errno));
    fill_validators(&status, validators);
    return REFS_OK;
}

/* A folder that is listed, and what the visitor returned last. */
typedef struct listed_folder {
    const refs_vfs_listing *listing;
    refs_status visited;
} listed_folder;

static refs_status visit_name(void *user, int folder, const char *name, refs_error *err) {
    listed_folder *at = user;
    (void)folder;
    at->visited = at->listing->visit(at->listing->user, refs_str_from(name), err);
    return at->visited;
}

static refs_status posix_list(void *self, const char *location, const refs_vfs_listing *listing,
                              refs_error *err) {
    refs_assert_unlocked();
    listed_folder at = {listing, REFS_OK};
    const refs_folder_visitor visitor = {visit_name, &at};
    refs_error problem = REFS_ERROR_INIT;
    (void)self;
    const refs_status status = refs_folder_each(location, &visitor, &problem);
    if (status == REFS_NOT_FOUND && at.visited == REFS_OK) return REFS_OK; /* there is none */
    return refs_fail(err, status, "%s", problem.message);
}

static bool posix_is_local(void *self, const char *location) {
    (void)self;
    return !refs_location_may_be_remote(refs_str_from(location));
}

const refs_vfs *refs_vfs_posix(void) {
    static const refs_vfs posix = {.open = posix_open,
                                   .size = posix_size,
                                   .read = posix_read,
                                   .close = posix_close,
                                   .validators = posix_validators,
                                   .is_local = posix_is_local,
                                   .peek = posix_peek,
                                   .list = posix_list};
    return &posix;
}
