/* refused.h -- logins that were refused: they are not sent again, since providers lock the
 * accounts of who sends a wrong password often. Each is a number that tells host and credentials
 * (refs_login__key), so that other credentials are tried. Belongs to one thread. */
#ifndef REFS_STORAGE_HTTP_REFUSED_H
#define REFS_STORAGE_HTTP_REFUSED_H

#include "refs/bytes.h"

/** So many are known; of more the first are forgotten. */
#define REFS_HTTP_MAX_REFUSED 32

/** A token that was refused is tried again after so long: some hosts answer the same where the data
 * want a consent, which may be given meanwhile. Passwords never are. */
#define REFS_HTTP_REFUSED_TOKEN_MS 300000

typedef struct refs_refused_login {
    uint64_t key;
    bool was_let_in;   /* before: where it is refused now, that is not its fault */
    uint64_t until_ms; /* refused; 0: it is not */
} refs_refused_login;

/** Zeroed is none. */
typedef struct refs_refused {
    refs_refused_login logins[REFS_HTTP_MAX_REFUSED];
    size_t n_noted;
} refs_refused;

/** Whether the login `key` was refused; never where it is 0. */
bool refs_refused__has(const refs_refused *refused, uint64_t key, uint64_t now_ms);

/** Notes how a server answered a password, or a token, with a status of HTTP. */
void refs_refused__note_password(refs_refused *refused, uint64_t key, long status);
void refs_refused__note_token(refs_refused *refused, uint64_t key, long status, uint64_t now_ms);

#endif
