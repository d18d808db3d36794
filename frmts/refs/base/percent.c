/* percent.c -- see percent.h. */
#include "percent.h"

int refs_hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int refs_percent_byte(refs_str text) {
    if (text.size < 3 || text.data[0] != '%') return -1;
    const int high = refs_hex_digit(text.data[1]), low = refs_hex_digit(text.data[2]);
    return high >= 0 && low >= 0 ? high * 16 + low : -1;
}

size_t refs_percent_decode(char *text, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const int byte = refs_percent_byte(refs_str_view(text + i, size - i));
        text[n++] = byte >= 0 ? (char)(unsigned char)byte : text[i];
        if (byte >= 0) i += 2;
    }
    return n;
}

refs_status refs_percent_append(refs_str text, const char *plain, refs_buf *escaped,
                                refs_error *err) {
    static const char unreserved[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789-_.~";
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (c != '\0' && (strchr(unreserved, c) != NULL || strchr(plain, c) != NULL))
            REFS_TRY(refs_buf_append(escaped, &c, 1, err));
        else
            REFS_TRY(refs_buf_printf(escaped, err, "%%%02X", (unsigned)(unsigned char)c));
    }
    return REFS_OK;
}
