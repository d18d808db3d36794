/* refused.h -- refused logins. They are not sent again, because providers lock accounts after
 * several wrong passwords. Each is a number that identifies host and credentials (refs_login__key),
 * so that other credentials are tried. Used by one thread. */
#ifndef REFS_STORAGE_HTTP_REFUSED_H
#define REFS_STORAGE_HTTP_REFUSED_H

#include "refs/bytes.h"

/** Limit of remembered logins; beyond it the oldest are forgotten. */
#define REFS_HTTP_MAX_REFUSED 32

/** A refused token is tried again after this time: some hosts refuse it until the user consents to
 * a license, which may happen meanwhile. Passwords are never tried again. */
#define REFS_HTTP_REFUSED_TOKEN_MS 300000

typedef struct refs_refused_login {
    uint64_t key;
    bool was_let_in;   /* the login succeeded before, so a refusal has another reason */
    uint64_t until_ms; /* refused until then; 0: it is not */
} refs_refused_login;

/** An empty list is zeroed. */
typedef struct refs_refused {
    refs_refused_login logins[REFS_HTTP_MAX_REFUSED];
    size_t n_noted;
} refs_refused;

/** Whether the login `key` was refused; false for 0. */
bool refs_refused__has(const refs_refused *refused, uint64_t key, uint64_t now_ms);

/** Records the HTTP status of an answer to a password or a token. */
void refs_refused__note_password(refs_refused *refused, uint64_t key, long status);
void refs_refused__note_token(refs_refused *refused, uint64_t key, long status, uint64_t now_ms);

#endif
