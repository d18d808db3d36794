/* data_url.c -- see data_url.h. */
#include "data_url.h"

#include <strings.h>

#define SCHEME "data:"

bool refs_references__is_data_url(refs_str url) {
    return url.size >= strlen(SCHEME) && (url.data[0] | 0x20) == SCHEME[0] &&
           strncasecmp(url.data, SCHEME, strlen(SCHEME)) == 0;
}

/* The value of a hexadecimal digit, or 16. */
static unsigned hex_value(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    return 16;
}

static refs_status decode_percent(refs_str text, refs_buf *decoded, refs_error *err) {
    REFS_TRY(refs_buf_reserve(decoded, decoded->size + text.size, err));
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '%') {
            unsigned high = text.size - i > 2 ? hex_value(text.data[i + 1]) : 16;
            unsigned low = text.size - i > 2 ? hex_value(text.data[i + 2]) : 16;
            if (high == 16 || low == 16)
                return refs_fail(err, REFS_INVALID,
                                 "data: URL: expected two hexadecimal digits after \"%%\"");
            c = (char)(high << 4 | low);
            i += 2;
        }
        decoded->data[decoded->size++] = (uint8_t)c;
    }
    return REFS_OK;
}

static refs_status decode_base64(refs_str text, refs_buf *bytes, refs_error *err) {
    REFS_SCOPED_BUF plain = REFS_BUF_INIT;
    REFS_TRY(decode_percent(text, &plain, err));
    return refs_base64_decode(refs_buf_text(&plain), bytes, err);
}

refs_status refs_references__data_url_decode(refs_str url, refs_buf *bytes, refs_error *err) {
    size_t comma = refs_str_find(url, ',');
    if (comma == SIZE_MAX)
        return refs_fail(err, REFS_INVALID, "data: URL: expected \",\" before the data");
    refs_str content = refs_str_part(url, comma + 1, url.size);
    return refs_str_ends(refs_str_part(url, 0, comma), ";base64")
               ? decode_base64(content, bytes, err)
               : decode_percent(content, bytes, err);
}

refs_status refs_references__data_url_part(refs_bytes content, refs_ref *ref, refs_error *err) {
    if (ref->kind == REFS_REF_WHOLE) ref->length = content.size;
    if (ref->offset > content.size || ref->length > content.size - ref->offset)
        return refs_fail(err, REFS_INVALID, "data: URL: offset and length lie past its end");
    ref->bytes = ref->length > 0 ? refs_bytes_view(content.data + ref->offset, (size_t)ref->length)
                                 : refs_bytes_view("", 0);
    ref->kind = REFS_REF_INLINE;
    ref->offset = ref->length = 0;
    ref->url = NULL;
    return REFS_OK;
}
