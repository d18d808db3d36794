/* sha256.h -- SHA-256, and message authentication by it (FIPS 180-4, RFC 2104).
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_SHA256_H
#define REFS_SHA256_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REFS_SHA256_SIZE 32

#define REFS_SHA256_TEXT (2 * REFS_SHA256_SIZE + 1)

/** Sets `hash` to the digest of a message. */
void refs_sha256(refs_bytes message, uint8_t hash[REFS_SHA256_SIZE]);

/** Writes a digest in hexadecimal. */
void refs_sha256_print(const uint8_t hash[REFS_SHA256_SIZE], char hex[REFS_SHA256_TEXT]);

/** Sets `hash` to the authentication code of a message. */
refs_status refs_sha256_hmac(refs_bytes key, refs_bytes message, uint8_t hash[REFS_SHA256_SIZE],
                             refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
