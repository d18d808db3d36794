/* utf8.c -- see utf8.h. */
#include "refs/utf8.h"

size_t refs_utf8_encode(uint32_t c, uint8_t bytes[4]) {
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size; i > 1; i--, c >>= 6) bytes[i - 1] = (uint8_t)(0x80 | (c & 0x3f));
    bytes[0] = (uint8_t)(marks[size > 1 ? size : 0] | c);
    return size;
}
