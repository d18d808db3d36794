/* utf8.h -- characters of Unicode as UTF-8 (RFC 3629).
 *
 * A pure function.
 */
#ifndef REFS_UTF8_H
#define REFS_UTF8_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Writes character `c`, at most U+10FFFF, and returns of how many bytes. Surrogates are for the
 * caller to refuse. */
size_t refs_utf8_encode(uint32_t c, uint8_t bytes[4]);

#ifdef __cplusplus
}
#endif
#endif
