/* sha256_missing.c -- a build without libcrypto: nothing is signed. See sha256.h. */
#include "sha256.h"

static refs_status fail(refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "requests are signed with libcrypto, which this build lacks: public buckets "
                     "are read with AWS_NO_SIGN_REQUEST=YES");
}

refs_status refs_sha256__of(refs_bytes message, uint8_t hash[REFS_SHA256_SIZE], refs_error *err) {
    (void)message;
    (void)hash;
    return fail(err);
}

refs_status refs_sha256__hmac(refs_bytes key, refs_bytes message, uint8_t hash[REFS_SHA256_SIZE],
                              refs_error *err) {
    (void)key;
    (void)message;
    (void)hash;
    return fail(err);
}
