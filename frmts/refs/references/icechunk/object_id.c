/* object_id.c -- see object_id.h. */
#include "icechunk/object_id.h"

#include <ctype.h>

static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

void refs_icechunk__id_format(const uint8_t *id, char text[REFS_OBJECT_ID_TEXT + 1]) {
    unsigned bits = 0, n_bits = 0;
    size_t n = 0;
    for (size_t i = 0; i < REFS_OBJECT_ID_SIZE; i++) {
        bits = bits << 8 | id[i];
        for (n_bits += 8; n_bits >= 5; n_bits -= 5) text[n++] = alphabet[bits >> (n_bits - 5) & 31];
    }
    text[n++] = alphabet[bits << (5 - n_bits) & 31];
    text[n] = '\0';
}

/* The five bits of a character, or -1. */
static int value_of(char c) {
    if (c == 'o' || c == 'O') return 0;
    if (c == 'i' || c == 'I' || c == 'l' || c == 'L') return 1;
    const char *found = c != '\0' ? strchr(alphabet, toupper((unsigned char)c)) : NULL;
    return found != NULL ? (int)(found - alphabet) : -1;
}

bool refs_icechunk__id_parse(refs_str text, refs_object_id *id) {
    unsigned bits = 0, n_bits = 0;
    size_t n = 0;
    if (text.size != REFS_OBJECT_ID_TEXT) return false;
    for (size_t i = 0; i < text.size; i++) {
        const int value = value_of(text.data[i]);
        if (value < 0) return false;
        bits = bits << 5 | (unsigned)value;
        n_bits += 5;
        if (n_bits < 8) continue;
        n_bits -= 8;
        id->bytes[n++] = (uint8_t)(bits >> n_bits);
    }
    return (bits & ((1u << n_bits) - 1)) == 0;
}

refs_status refs_icechunk__snapshot_parse(const char *text, refs_object_id *id, refs_error *err) {
    if (refs_icechunk__id_parse(refs_str_from(text), id)) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "invalid snapshot id \"%s\": expected %d characters of Crockford base 32, of "
                     "which the last is 0 or G",
                     text, REFS_OBJECT_ID_TEXT);
}
