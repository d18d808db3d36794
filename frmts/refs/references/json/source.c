/* source.c -- see json/source.h. */
#include "json/source.h"

#include "refs/refset.h"

refs_status refs_references__json_source_open(const refs_vfs *vfs, const char *location,
                                              refs_json_source *source, refs_error *err) {
    const refs_set_limits limits = REFS_SET_LIMITS_INIT;
    *source = (refs_json_source){.vfs = vfs, .max_unpacked = limits.max_unpacked_bytes};
    return refs_vfs_open_whole(vfs, location, &source->handle, err);
}

void refs_references__json_source_clear(refs_json_source *source) {
    refs_references__unpacker_free(source->unpacker);
    source->unpacker = NULL;
    if (source->handle != NULL) source->vfs->close(source->vfs->self, source->handle);
    source->handle = NULL;
}

static refs_status refill(void *user, uint8_t *dst, size_t capacity, size_t *got, refs_error *err) {
    refs_json_source *source = user;
    const refs_vfs_range range = {source->offset, capacity, dst};
    REFS_TRY(source->vfs->read(source->vfs->self, source->handle, &range, got, err));
    source->offset += *got;
    return REFS_OK;
}

/* Sets up unpacking if the first bytes are those of a compressed document. */
static refs_status begin(refs_json_source *source, refs_error *err) {
    uint8_t head[REFS_UNPACK_HEAD];
    const refs_vfs_range range = {0, sizeof head, head};
    size_t size;
    refs_references__unpacker_free(source->unpacker);
    source->unpacker = NULL;
    source->offset = 0;
    REFS_TRY(source->vfs->read(source->vfs->self, source->handle, &range, &size, err));
    if (!refs_references__is_packed(refs_bytes_view(head, size))) return REFS_OK;
    REFS_TRY(refs_references__unpacker_open(refs_bytes_view(head, size), refill, source,
                                            &source->unpacker, err));
    refs_references__unpacker_limit(source->unpacker, source->max_unpacked);
    return REFS_OK;
}

refs_status refs_references__json_source_read(refs_json_source *source, size_t max_token,
                                              refs_json_reader **reader, refs_error *err) {
    refs_json_reader_free(*reader);
    *reader = NULL;
    REFS_TRY(begin(source, err));
    if (source->unpacker == NULL)
        return refs_json_reader_open(refill, source, max_token, reader, err);
    return refs_json_reader_open(refs_references__unpacker_refill, source->unpacker, max_token,
                                 reader, err);
}
