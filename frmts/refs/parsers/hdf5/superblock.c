/* superblock.c -- see hdf5/superblock.h. Specification II. */
#include "hdf5/superblock.h"

#include "hdf5/cache_image.h"

#define SIGNATURE_BYTES 8

/* A user block has 512 bytes times a power of two; it may be absent. */
#define FIRST_USER_BLOCK 512

/* Larger user blocks are searched, all sizes at once, only if there is none of this size or
 * less. */
#define USUAL_USER_BLOCK (1 * (uint64_t)REFS_MIB)

/* Most bytes of a superblock with its checksum. */
#define MAX_SUPERBLOCK_BYTES 256

static bool is_signature(const uint8_t *bytes) {
    static const uint8_t signature[SIGNATURE_BYTES] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
    return memcmp(bytes, signature, SIGNATURE_BYTES) == 0;
}

bool refs_hdf5__find_signature(refs_bytes head, size_t *at) {
    for (*at = 0; *at + SIGNATURE_BYTES <= head.size; *at = *at == 0 ? FIRST_USER_BLOCK : 2 * *at)
        if (is_signature(head.data + *at)) return true;
    return false;
}

/* Announces that signatures from `at` up to `end` will be read. */
static refs_status want_signatures(refs_source *source, uint64_t at, uint64_t end,
                                   refs_error *err) {
    refs_source_range ranges[64];
    size_t n = 0;
    for (; at < end && at <= INT64_MAX; at *= 2)
        ranges[n++] = (refs_source_range){at, SIGNATURE_BYTES};
    return refs_source_want(source, ranges, n, err);
}

refs_status refs_hdf5__find_superblock(refs_source *source, uint64_t *at, refs_error *err) {
    uint64_t size;
    REFS_TRY(refs_source_size(source, &size, err));
    for (*at = 0; *at < size && *at <= INT64_MAX; *at = *at == 0 ? FIRST_USER_BLOCK : 2 * *at) {
        uint8_t bytes[SIGNATURE_BYTES];
        size_t got;
        if (*at == USUAL_USER_BLOCK / 32) /* the first block of the source has the smaller ones */
            REFS_TRY(want_signatures(source, *at, USUAL_USER_BLOCK, err));
        if (*at == USUAL_USER_BLOCK) REFS_TRY(want_signatures(source, *at, size, err));
        REFS_TRY(refs_source_read_some(source, (refs_source_range){*at, SIGNATURE_BYTES}, bytes,
                                       &got, err));
        if (got == SIGNATURE_BYTES && is_signature(bytes)) return REFS_OK;
    }
    *at = REFS_HDF5_UNDEFINED;
    return REFS_OK;
}

static refs_status set_sizes(refs_hdf5_file *file, refs_hdf5_cursor *cursor, refs_error *err) {
    file->offset_size = refs_hdf5__u8(cursor);
    file->length_size = refs_hdf5__u8(cursor);
    bool is_good = true;
    for (const uint8_t *size = &file->offset_size; size != NULL;
         size = size == &file->offset_size ? &file->length_size : NULL)
        is_good = is_good && (*size == 2 || *size == 4 || *size == 8);
    if (is_good) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "its superblock has offsets of %u bytes and lengths of %u: expected 2, 4 or 8",
                     file->offset_size, file->length_size);
}

/* Specification II.A, versions 0 and 1. */
static refs_status read_old(refs_hdf5_file *file, refs_hdf5_cursor *cursor, uint64_t *end,
                            uint64_t *root, refs_error *err) {
    refs_hdf5__take(cursor, 4);
    REFS_TRY(set_sizes(file, cursor, err));
    refs_hdf5__u8(cursor);
    file->group_leaf_k = refs_hdf5__u16(cursor);
    file->group_internal_k = refs_hdf5__u16(cursor);
    refs_hdf5__u32(cursor);
    if (file->version == 1) {
        file->chunk_k = refs_hdf5__u16(cursor);
        refs_hdf5__take(cursor, 2);
    }
    *end = refs_hdf5__address(file, cursor); /* of the user block */
    refs_hdf5__address(file, cursor);
    *end = refs_hdf5__address(file, cursor) - *end;
    refs_hdf5__address(file, cursor);
    /* The root's symbol table entry: offset of the name, address of the header, cached data. */
    refs_hdf5__length(file, cursor);
    *root = refs_hdf5__address(file, cursor);
    return REFS_OK;
}

/* In a file with paged allocation, the first pages have only metadata, and the library puts as much
 * of it as possible into the first one. Specification IV.A.2.x. */
static void read_space_info(const refs_hdf5_file *file, refs_hdf5_cursor cursor) {
    enum { IN_PAGES = 1 };
    uint8_t version = refs_hdf5__u8(&cursor), strategy = refs_hdf5__u8(&cursor);
    refs_hdf5__u8(&cursor);
    refs_hdf5__length(file, &cursor);
    uint64_t page = refs_hdf5__length(file, &cursor);
    if (!cursor.is_short && version == 1 && strategy == IN_PAGES && file->base == 0)
        refs_source_keep_together(file->source, page);
}

/* Reads the superblock extension: tables of shared messages, sizes of B-trees, the cache image.
 * Specification IV.A.2.p and t, and message type 0x18. */
static refs_status read_extension(refs_hdf5_file *file, uint64_t address, refs_error *err) {
    enum { BTREE_K = 0x13, SPACE_INFO = 0x17, CACHE_IMAGE = 0x18 };
    REFS_SCOPED_BY(refs_hdf5__object_clear) refs_hdf5_object object = {0};
    refs_status status = refs_hdf5__read_object(file, address, &object, err);
    for (size_t i = 0; status == REFS_OK && i < object.n_messages; i++) {
        const refs_hdf5_message *message = &object.messages[i];
        refs_hdf5_cursor cursor =
            refs_hdf5__cursor(refs_bytes_view(object.bytes.data + message->offset, message->size));
        if (message->type == SPACE_INFO) read_space_info(file, cursor);
        refs_hdf5__u8(&cursor);
        if (message->type == REFS_HDF5_SHARED_TABLE) {
            file->shared_table = refs_hdf5__address(file, &cursor);
            file->n_shared_indexes = refs_hdf5__u8(&cursor);
        }
        if (message->type == CACHE_IMAGE) {
            uint64_t image = refs_hdf5__address(file, &cursor);
            uint64_t length = refs_hdf5__length(file, &cursor);
            if (!cursor.is_short && image != REFS_HDF5_UNDEFINED)
                status = refs_hdf5__read_cache_image(file, image, length, err);
        }
        if (message->type == BTREE_K) {
            file->chunk_k = refs_hdf5__u16(&cursor);
            file->group_internal_k = refs_hdf5__u16(&cursor);
            file->group_leaf_k = refs_hdf5__u16(&cursor);
        }
        if (status == REFS_OK)
            status = refs_hdf5__finish(&cursor, "superblock extension", address, err);
    }
    return status;
}

/* Specification II.B, versions 2 and 3. */
static refs_status read_new(refs_hdf5_file *file, refs_hdf5_cursor *cursor, uint64_t *end,
                            uint64_t *root, refs_error *err) {
    const uint8_t *begin = cursor->at - SIGNATURE_BYTES - 1;
    REFS_TRY(set_sizes(file, cursor, err));
    refs_hdf5__u8(cursor);
    *end = refs_hdf5__address(file, cursor); /* of the user block */
    uint64_t extension = refs_hdf5__address(file, cursor);
    *end = refs_hdf5__address(file, cursor) - *end;
    *root = refs_hdf5__address(file, cursor);
    size_t size = (size_t)(cursor->at - begin);
    uint32_t checksum = refs_hdf5__u32(cursor);
    REFS_TRY(refs_hdf5__finish(cursor, "superblock", 0, err));
    if (!refs_hdf5__sums_to(refs_bytes_view(begin, size), checksum))
        return refs_fail(err, REFS_CORRUPT, "checksum mismatch in its superblock");
    return extension != REFS_HDF5_UNDEFINED ? read_extension(file, extension, err) : REFS_OK;
}

static refs_status read_versions(refs_hdf5_file *file, refs_bytes bytes, uint64_t *root,
                                 refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(bytes);
    uint64_t end = 0;
    refs_hdf5__take(&cursor, SIGNATURE_BYTES);
    file->version = refs_hdf5__u8(&cursor);
    if (file->version > 3)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown superblock version %u", file->version);
    REFS_TRY(file->version < 2 ? read_old(file, &cursor, &end, root, err)
                               : read_new(file, &cursor, &end, root, err));
    REFS_TRY(refs_hdf5__finish(&cursor, "superblock", 0, err));
    if (end <= file->size - file->base) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the file is truncated: expected %llu bytes, found %llu",
                     (unsigned long long)end, (unsigned long long)(file->size - file->base));
}

refs_status refs_hdf5__read_superblock(refs_hdf5_file *file, uint64_t *root, refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    file->group_leaf_k = 4;
    file->group_internal_k = 16;
    file->chunk_k = 32;
    file->shared_table = REFS_HDF5_UNDEFINED;
    REFS_TRY(refs_hdf5__find_superblock(file->source, &file->base, err));
    if (file->base == REFS_HDF5_UNDEFINED)
        return refs_fail(err, REFS_CORRUPT, "has no HDF5 superblock");
    REFS_TRY(refs_hdf5__read_some(file, 0, MAX_SUPERBLOCK_BYTES, &bytes, err));
    return read_versions(file, refs_buf_view(&bytes), root, err);
}
