/* object_file.c -- see object_file.h. */
#include "icechunk/object_file.h"

#include "output.h"
#include "refs/sha256.h"

#ifdef REFS_HAS_zstd
#include <zstd.h>
#endif

/* The version of the format, and the name of the writer, of 24 characters. */
#define FORMAT 2
#define WRITER "refs-" REFS_VERSION "                        "

/* Level 3, as in Icechunk. Manifests use level 1: most bytes of references are alike, so level 1 is
 * twice as fast and packs better (11.9 bytes for a reference against 13.7). */
#define ZSTD_LEVEL          3
#define ZSTD_MANIFEST_LEVEL 1

/* -- packing ----------------------------------------------------------------------------------- */

static refs_status append_header(refs_icechunk_file_type type, bool is_packed, refs_buf *file,
                                 refs_error *err) {
    static const uint8_t magic[12] = {'I',  'C', 'E', 0xF0, 0x9F, 0xA7,
                                      0x8A, 'C', 'H', 'U',  'N',  'K'};
    const uint8_t rest[3] = {FORMAT, (uint8_t)type, is_packed ? 1 : 0};
    REFS_TRY(refs_buf_append(file, magic, sizeof magic, err));
    REFS_TRY(refs_buf_append(file, WRITER, 24, err));
    return refs_buf_append(file, rest, sizeof rest, err);
}

#ifdef REFS_HAS_zstd
refs_status refs_icechunk__pack(refs_icechunk_file_type type, refs_bytes flatbuffer, refs_buf *file,
                                refs_error *err) {
    const size_t room = ZSTD_compressBound(flatbuffer.size);
    REFS_TRY(append_header(type, true, file, err));
    REFS_TRY(refs_buf_reserve(file, file->size + room, err));
    const size_t size =
        ZSTD_compress(file->data + file->size, room, flatbuffer.data, flatbuffer.size,
                      type == REFS_ICECHUNK_MANIFEST ? ZSTD_MANIFEST_LEVEL : ZSTD_LEVEL);
    if (ZSTD_isError(size)) return refs_fail(err, REFS_NOMEM, "zstd: %s", ZSTD_getErrorName(size));
    file->size += size;
    return REFS_OK;
}
#else
refs_status refs_icechunk__pack(refs_icechunk_file_type type, refs_bytes flatbuffer, refs_buf *file,
                                refs_error *err) {
    REFS_TRY(append_header(type, false, file, err));
    return refs_buf_append(file, flatbuffer.data, flatbuffer.size, err);
}
#endif

/* -- files ------------------------------------------------------------------------------------- */

refs_status refs_icechunk__write_plain(refs_object_file *object, refs_bytes bytes,
                                       refs_error *err) {
    char id[REFS_OBJECT_ID_TEXT + 1];
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_icechunk__id_format(object->id, id);
    object->size = bytes.size;
    REFS_TRY(refs_buf_printf(&path, err, "%s/", object->kind));
    REFS_TRY(refs_write__make_folders(object->folder, refs_buf_text(&path), err));
    path.size = 0;
    REFS_TRY(refs_buf_printf(&path, err, "%s/%s/%s", object->folder, object->kind, id));
    return refs_write__file((const char *)path.data, bytes, err);
}

refs_status refs_icechunk__write_object(refs_object_file *object, refs_bytes flatbuffer,
                                        refs_error *err) {
    REFS_SCOPED_BUF file = REFS_BUF_INIT;
    REFS_TRY(refs_icechunk__pack(object->type, flatbuffer, &file, err));
    return refs_icechunk__write_plain(object, refs_buf_view(&file), err);
}

void refs_icechunk__id_of(refs_bytes content, uint8_t *id, size_t size) {
    uint8_t hash[REFS_SHA256_SIZE];
    refs_sha256(content, hash);
    memcpy(id, hash, size);
}
