/* utf8.h -- characters of Unicode as UTF-8 (RFC 3629).
 *
 * Pure functions.
 */
#ifndef REFS_UTF8_H
#define REFS_UTF8_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes character `c`, at most U+10FFFF, and returns its number of bytes. Callers must reject
 * surrogates. */
size_t refs_utf8_encode(uint32_t c, uint8_t bytes[4]);

/** Takes the first character off `text`, which must not be empty; false if its first bytes are not
 * a character. */
bool refs_utf8_take(refs_str *text, uint32_t *c);

/** Whether a byte is a continuation byte. */
static inline bool refs_utf8_continues(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/** Whether `text` is valid UTF-8. */
bool refs_utf8_is_valid(refs_str text);

#ifdef __cplusplus
}
#endif
#endif
