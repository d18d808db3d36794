/* strings.c -- see dmrpp/strings.h. */
#include "dmrpp/strings.h"

#ifdef REFS_HAS_z
#include <zlib.h>

static refs_status unpack(refs_bytes packed, uint64_t size, refs_buf *text, refs_error *err) {
    if (size > REFS_DMRPP_MAX_STRING_BYTES || packed.size > REFS_DMRPP_MAX_STRING_BYTES)
        return refs_fail(
            err, REFS_LIMIT,
            "a string has %llu bytes, %zu as they are stored, more than the limit of %llu",
            (unsigned long long)size, packed.size, (unsigned long long)REFS_DMRPP_MAX_STRING_BYTES);
    REFS_TRY(refs_buf_resize(text, (size_t)size, err));
    uLongf got = (uLongf)size;
    int code = uncompress(text->data, &got, packed.data, (uLong)packed.size);
    if (code == Z_MEM_ERROR) return refs_fail_nomem(err);
    if (code == Z_OK && got == size) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "a compressed string does not decode to its declared %llu bytes",
                     (unsigned long long)size);
}
#else
static refs_status unpack(refs_bytes packed, uint64_t size, refs_buf *text, refs_error *err) {
    (void)packed;
    (void)size;
    (void)text;
    return refs_fail(err, REFS_UNSUPPORTED, "its strings are compressed: this build lacks zlib");
}
#endif

static refs_status append_once(refs_str text, refs_buf *bytes, refs_error *err) {
    const uint8_t size[4] = {(uint8_t)text.size, (uint8_t)(text.size >> 8),
                             (uint8_t)(text.size >> 16), (uint8_t)(text.size >> 24)};
    if (text.size > REFS_DMRPP_MAX_STRING_BYTES ||
        bytes->size > REFS_DMRPP_MAX_STRING_BYTES - text.size)
        return refs_fail(err, REFS_LIMIT, "the strings need more than the limit of %zu bytes",
                         (size_t)REFS_DMRPP_MAX_STRING_BYTES);
    REFS_TRY(refs_buf_append(bytes, size, sizeof size, err));
    return refs_buf_append_str(bytes, text, err);
}

static refs_status append_times(refs_str text, uint64_t count, refs_buf *bytes, refs_error *err) {
    for (uint64_t i = 0; i < count; i++) REFS_TRY(append_once(text, bytes, err));
    return REFS_OK;
}

refs_status refs_references__dmrpp_append_string(const refs_dmrpp_string *string, refs_str text,
                                                 refs_buf *bytes, refs_error *err) {
    REFS_SCOPED_BUF packed = REFS_BUF_INIT, unpacked = REFS_BUF_INIT;
    if (!string->is_packed) return append_times(text, string->count, bytes, err);
    REFS_TRY(refs_base64_decode(text, &packed, err));
    REFS_TRY(unpack(refs_buf_view(&packed), string->size, &unpacked, err));
    return append_times(refs_buf_text(&unpacked), string->count, bytes, err);
}
