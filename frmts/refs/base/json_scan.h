/* json_scan.h -- the inner loops of the JSON reader.
 *
 * They scan a window that ends with at least REFS_JSON_PAD NULs. A NUL stops every loop, so that
 * none has to check for the end.
 */
#ifndef REFS_BASE_JSON_SCAN_H
#define REFS_BASE_JSON_SCAN_H

#include "refs/bytes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define REFS_JSON_PAD 16

/** The high bit of each byte of `word` that is below `limit` (at most 128). Bytes above the first
 * such byte may be marked wrongly. */
static inline uint64_t refs_json__below(uint64_t word, uint8_t limit) {
    const uint64_t ones = 0x0101010101010101u;
    return (word - ones * limit) & ~word & ones * 0x80;
}

#ifdef __SSE2__

/** The first quote, backslash or control character from `p` on. */
static inline const uint8_t *refs_json__skip_plain(const uint8_t *p) {
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(0x1f);
    for (;; p += 16) {
        __m128i bytes = _mm_loadu_si128((const void *)p);
        __m128i stops = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
            _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
        unsigned mask = (unsigned)_mm_movemask_epi8(stops);
        if (mask != 0) return p + __builtin_ctz(mask);
    }
}

#else

/** The same, eight bytes at a time. */
static inline const uint8_t *refs_json__skip_plain(const uint8_t *p) {
    const uint64_t ones = 0x0101010101010101u;
    for (;; p += 8) {
        uint64_t word = refs_load_le64(p);
        uint64_t stops = refs_json__below(word, 0x20) | refs_json__below(word ^ ones * '"', 1) |
                         refs_json__below(word ^ ones * '\\', 1);
        if (stops != 0) return p + __builtin_ctzll(stops) / 8;
    }
}

#endif

/** The first byte from `p` on that is not a digit. */
static inline const uint8_t *refs_json__skip_digits(const uint8_t *p) {
    while ((uint8_t)(*p - '0') <= 9) p++;
    return p;
}

/** The end of the number (RFC 8259, section 6) that begins at `p`, or NULL; *stop is where reading
 * stopped in both cases. */
static inline const uint8_t *refs_json__skip_number(const uint8_t *p, const uint8_t **stop) {
    if (*p == '-') p++;
    const uint8_t *begin = p;
    p = *p == '0' ? p + 1 : refs_json__skip_digits(p);
    bool valid = p > begin;
    if (valid && *p == '.') {
        begin = ++p;
        p = refs_json__skip_digits(p);
        valid = p > begin;
    }
    if (valid && (*p == 'e' || *p == 'E')) {
        p++;
        if (*p == '+' || *p == '-') p++;
        begin = p;
        p = refs_json__skip_digits(p);
        valid = p > begin;
    }
    *stop = p;
    return valid ? p : NULL;
}

#endif
