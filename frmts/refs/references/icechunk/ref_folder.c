/* ref_folder.c -- see ref_folder.h. */
#include "icechunk/ref_folder.h"

static bool is_plain(char c) {
    return c > 0x1f && c < 0x7f && strchr("\\{^}%`]\">[~<#|*?", c) == NULL;
}

char *refs_icechunk__ref_encode(const char *name) {
    static const char digits[] = "0123456789ABCDEF";
    char *const written = refs_alloc(3 * strlen(name) + 1);
    if (written == NULL) return NULL;
    char *to = written;
    for (const char *c = name; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        *to++ = is_plain(*c) ? *c : '%';
        if (is_plain(*c)) continue;
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
    *to = '\0';
    return written;
}

/* The value of a hexadecimal digit, or -1. */
static int digit_at(const char *c) {
    if (*c >= '0' && *c <= '9') return *c - '0';
    return *c >= 'A' && *c <= 'F' ? *c - 'A' + 10 : -1;
}

char *refs_icechunk__ref_decode(refs_str written) {
    char *const name = refs_str_copy(written);
    if (name == NULL) return NULL;
    char *to = name;
    for (const char *c = name; *c != '\0'; to++) {
        const int high = *c == '%' ? digit_at(c + 1) : -1, low = high >= 0 ? digit_at(c + 2) : -1;
        const bool is_code = low >= 0 && high + low > 0;
        *to = is_code ? (char)(16 * high + low) : *c;
        c += is_code ? 3 : 1;
    }
    *to = '\0';
    return name;
}
