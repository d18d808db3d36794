/* lookup3.c -- see refs/lookup3.h.
 *
 * Source: http://burtleburtle.net/bob/c/lookup3.c, hashlittle and hashlittle2, which are in the
 * public domain.
 */
#include "refs/lookup3.h"

typedef struct hash {
    uint32_t a, b, c;
} hash;

static uint32_t rotate(uint32_t word, int n) {
    return word << n | word >> (32 - n);
}

static void mix(hash *h) {
    static const int turns[] = {4, 6, 8, 16, 19, 4};
    for (int i = 0; i < 6; i++) {
        uint32_t a = (h->a - h->c) ^ rotate(h->c, turns[i]);
        *h = (hash){h->b, h->c + h->b, a};
    }
}

/* The words are rotated seven times, so the result is in b instead of c. */
static void finish(hash *h) {
    static const int turns[] = {14, 11, 25, 16, 4, 14, 24};
    for (int i = 0; i < 7; i++) {
        uint32_t c = (h->c ^ h->b) - rotate(h->b, turns[i]);
        *h = (hash){h->b, c, h->a};
    }
}

/* Mixes three words at a time, the last one to three words in another way. The low half of the
 * result is the hash of hashlittle. */
uint64_t refs_lookup3_64(refs_bytes bytes, uint64_t initial) {
    uint32_t begin = 0xdeadbeef + (uint32_t)bytes.size + (uint32_t)initial;
    hash h = {begin, begin, begin + (uint32_t)(initial >> 32)};
    for (; bytes.size > 12; bytes = refs_bytes_view(bytes.data + 12, bytes.size - 12)) {
        h.a += refs_load_le32(bytes.data);
        h.b += refs_load_le32(bytes.data + 4);
        h.c += refs_load_le32(bytes.data + 8);
        mix(&h);
    }
    if (bytes.size == 0) return (uint64_t)h.b << 32 | h.c;
    uint8_t last[12] = {0};
    memcpy(last, bytes.data, bytes.size);
    h.a += refs_load_le32(last);
    h.b += refs_load_le32(last + 4);
    h.c += refs_load_le32(last + 8);
    finish(&h);
    return (uint64_t)h.a << 32 | h.b;
}

uint32_t refs_lookup3(refs_bytes bytes, uint32_t initial) {
    return (uint32_t)refs_lookup3_64(bytes, initial);
}
