/* vfs.c -- functions for every refs_vfs, see vfs.h. */
#include "refs/vfs.h"

refs_status refs_vfs_open_whole(const refs_vfs *vfs, const char *location, void **handle,
                                refs_error *err) {
    if (vfs->open_whole == NULL) return vfs->open(vfs->self, location, handle, err);
    return vfs->open_whole(vfs->self, location, handle, err);
}

bool refs_vfs_look(const refs_vfs *vfs, const char *location, refs_vfs_validators *seen) {
    return vfs->peek != NULL && vfs->peek(vfs->self, location, NULL, seen, NULL) == REFS_OK;
}

bool refs_vfs_ask(const refs_vfs *vfs, const char *location, refs_vfs_validators *now) {
    return vfs->validators != NULL && vfs->validators(vfs->self, location, now, NULL) == REFS_OK;
}

bool refs_vfs_is_local(const refs_vfs *vfs, const char *location) {
    return vfs->is_local != NULL && vfs->is_local(vfs->self, location);
}

refs_status refs_vfs_read_range(const refs_vfs *vfs, const char *location,
                                const refs_vfs_range *range, size_t *got, refs_error *err) {
    void *handle = NULL;
    *got = 0;
    REFS_TRY(vfs->open(vfs->self, location, &handle, err));
    refs_status status = vfs->read(vfs->self, handle, range, got, err);
    vfs->close(vfs->self, handle);
    return status;
}

refs_status refs_vfs_read_opened(const refs_vfs *vfs, void *handle, size_t max_size,
                                 refs_buf *content, refs_error *err) {
    uint64_t size;
    REFS_TRY(vfs->size(vfs->self, handle, &size, err));
    if (size > max_size)
        return refs_fail(err, REFS_LIMIT, "it has %llu bytes: expected at most %zu",
                         (unsigned long long)size, max_size);
    size_t begin = content->size, got = 0;
    REFS_TRY(refs_buf_resize(content, begin + (size_t)size, err));
    const refs_vfs_range all = {0, (size_t)size, content->data + begin};
    if (size > 0) REFS_TRY(vfs->read(vfs->self, handle, &all, &got, err));
    if (got != size)
        return refs_fail(err, REFS_IO, "truncated: read %zu of %llu bytes", got,
                         (unsigned long long)size);
    return REFS_OK;
}

refs_status refs_vfs_read_whole(const refs_vfs *vfs, const char *location, size_t max_size,
                                refs_buf *content, refs_error *err) {
    void *handle = NULL;
    REFS_TRY(refs_vfs_open_whole(vfs, location, &handle, err));
    refs_status status = refs_vfs_read_opened(vfs, handle, max_size, content, err);
    vfs->close(vfs->self, handle);
    return status;
}
