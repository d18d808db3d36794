/* buf.c -- buffers that grow, see bytes.h. */
#include "refs/bytes.h"

#include <stdio.h>

void refs_buf_clear(refs_buf *buf) {
    refs_free(buf->data);
    *buf = (refs_buf)REFS_BUF_INIT;
}

refs_status refs_buf_reserve(refs_buf *buf, size_t capacity, refs_error *err) {
    if (capacity <= buf->capacity) return REFS_OK;
    uint8_t *data = refs_realloc(buf->data, capacity);
    if (data == NULL) return refs_fail_nomem(err);
    buf->data = data;
    buf->capacity = capacity;
    return REFS_OK;
}

/* Makes room for `more` bytes after the content, growing geometrically. */
static refs_status make_room(refs_buf *buf, size_t more, refs_error *err) {
    size_t needed;
    if (!refs_add_size(buf->size, more, &needed)) return refs_fail_nomem(err);
    if (needed <= buf->capacity) return REFS_OK;
    size_t generous = buf->capacity + buf->capacity / 2;
    return refs_buf_reserve(buf, needed > generous ? needed : generous, err);
}

refs_status refs_buf_resize(refs_buf *buf, size_t size, refs_error *err) {
    if (size > buf->size) REFS_TRY(make_room(buf, size - buf->size, err));
    buf->size = size;
    return REFS_OK;
}

refs_status refs_buf_append(refs_buf *buf, const void *data, size_t size, refs_error *err) {
    if (size == 0) return REFS_OK;
    REFS_TRY(make_room(buf, size, err));
    memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    return REFS_OK;
}

refs_status refs_buf_append_str(refs_buf *buf, refs_str text, refs_error *err) {
    return refs_buf_append(buf, text.data, text.size, err);
}

refs_status refs_buf_append_text(refs_buf *buf, refs_str text, refs_error *err) {
    REFS_TRY(refs_buf_append_str(buf, text, err));
    return refs_buf_append(buf, "", 1, err);
}

refs_status refs_buf_append_le(refs_buf *buf, uint64_t number, size_t size, refs_error *err) {
    uint8_t bytes[sizeof number];
    refs_store_le(bytes, size, number);
    return refs_buf_append(buf, bytes, size, err);
}

refs_status refs_buf_printf(refs_buf *buf, refs_error *err, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    refs_status status = size < 0 ? refs_fail(err, REFS_INVALID, "cannot format the text")
                                  : make_room(buf, (size_t)size + 1, err);
    if (status == REFS_OK) {
        vsnprintf((char *)buf->data + buf->size, (size_t)size + 1, format, again);
        buf->size += (size_t)size;
    }
    va_end(again);
    return status;
}

char *refs_buf_take_text(refs_buf *buf) {
    if (make_room(buf, 1, NULL) != REFS_OK) return NULL;
    char *text = (char *)buf->data;
    text[buf->size] = '\0';
    *buf = (refs_buf)REFS_BUF_INIT;
    return text;
}

refs_status refs_buf_keep(refs_buf *buf, char **text, refs_error *err) {
    *text = refs_buf_take_text(buf);
    return *text != NULL ? REFS_OK : refs_fail_nomem(err);
}
