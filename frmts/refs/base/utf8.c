/* utf8.c -- see utf8.h. */
#include "refs/utf8.h"

size_t refs_utf8_encode(uint32_t c, uint8_t bytes[4]) {
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size; i > 1; i--, c >>= 6) bytes[i - 1] = (uint8_t)(0x80 | (c & 0x3f));
    bytes[0] = (uint8_t)(marks[size > 1 ? size : 0] | c);
    return size;
}

bool refs_utf8_take(refs_str *text, uint32_t *c) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text->data[0];
    size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 0 || first > 0xf4 || size > text->size) return false;
    *c = size == 1 ? first : first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (!refs_utf8_continues(text->data[i])) return false;
        *c = *c << 6 | ((unsigned char)text->data[i] & 0x3f);
    }
    *text = refs_str_part(*text, size, text->size);
    return *c >= least[size] && *c <= 0x10ffff && (*c < 0xd800 || *c > 0xdfff);
}

bool refs_utf8_is_valid(refs_str text) {
    uint32_t c;
    while (text.size > 0)
        if (!refs_utf8_take(&text, &c)) return false;
    return true;
}
