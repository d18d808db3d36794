/* sha256.c -- by libcrypto, see sha256.h. */
#include "sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "refs/fork.h"

refs_status refs_sha256__of(refs_bytes message, uint8_t hash[REFS_SHA256_SIZE], refs_error *err) {
    refs_fork_hold_off(); /* libcrypto has locks */
    int done = EVP_Digest(message.data, message.size, hash, NULL, EVP_sha256(), NULL);
    refs_fork_allow();
    return done == 1 ? REFS_OK : refs_fail(err, REFS_INVALID, "libcrypto has no SHA-256");
}

refs_status refs_sha256__hmac(refs_bytes key, refs_bytes message, uint8_t hash[REFS_SHA256_SIZE],
                              refs_error *err) {
    if (key.size > INT32_MAX) return refs_fail(err, REFS_LIMIT, "a key of %zu bytes", key.size);
    refs_fork_hold_off();
    const uint8_t *done =
        HMAC(EVP_sha256(), key.data, (int)key.size, message.data, message.size, hash, NULL);
    refs_fork_allow();
    return done != NULL ? REFS_OK : refs_fail(err, REFS_INVALID, "libcrypto has no HMAC");
}
