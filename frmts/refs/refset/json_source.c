/* json_source.c -- see json_source.h. */
#include "json_source.h"

refs_status refs_refset__json_source_open(const refs_vfs *vfs, const char *location,
                                          refs_json_source *source, refs_error *err) {
    *source = (refs_json_source){vfs, NULL, 0};
    return vfs->open(vfs->self, location, &source->handle, err);
}

void refs_refset__json_source_clear(refs_json_source *source) {
    if (source->handle != NULL) source->vfs->close(source->vfs->self, source->handle);
    source->handle = NULL;
}

static refs_status refill(void *user, uint8_t *dst, size_t capacity, size_t *got, refs_error *err) {
    refs_json_source *source = user;
    REFS_TRY(source->vfs->read(source->vfs->self, source->handle, source->offset, capacity, dst,
                               got, err));
    source->offset += *got;
    return REFS_OK;
}

refs_status refs_refset__json_source_read(refs_json_source *source, size_t max_token,
                                          refs_json_reader **reader, refs_error *err) {
    refs_json_reader_free(*reader);
    *reader = NULL;
    source->offset = 0;
    return refs_json_reader_open(refill, source, max_token, reader, err);
}
