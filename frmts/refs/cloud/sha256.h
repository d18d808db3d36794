/* sha256.h -- SHA-256, and message authentication by it (FIPS 180-4, RFC 2104). */
#ifndef REFS_CLOUD_SHA256_H
#define REFS_CLOUD_SHA256_H

#include "refs/bytes.h"

#define REFS_SHA256_SIZE 32

/** REFS_INVALID in a build without libcrypto. */
refs_status refs_sha256__of(refs_bytes message, uint8_t hash[REFS_SHA256_SIZE], refs_error *err);
refs_status refs_sha256__hmac(refs_bytes key, refs_bytes message, uint8_t hash[REFS_SHA256_SIZE],
                              refs_error *err);

#endif
