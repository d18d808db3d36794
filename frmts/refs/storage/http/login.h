/* login.h -- the login of a provider: which requests carry it, and as what. */
#ifndef REFS_STORAGE_HTTP_LOGIN_H
#define REFS_STORAGE_HTTP_LOGIN_H

#include "refs/http.h"

/** The login that a request of a URL carries. */
typedef enum refs_login_part {
    REFS_LOGIN_NOTHING,
    REFS_LOGIN_TOKEN,   /**< as a bearer */
    REFS_LOGIN_PASSWORD /**< user and password */
} refs_login_part;

/** The token for the hosts of the provider, user and password for its login alone; nothing over
 * plain HTTP. */
refs_login_part refs_login__part(const refs_http_login *login, const char *url);

/** A number for the login that a request of `url` carries, another one for each host and each user,
 * password or token; 0 where it carries none. `netrc` is as of refs_login__netrc_state, for a login
 * that is left to it. */
uint64_t refs_login__key(const refs_http_login *login, uint64_t netrc, const char *url);

/** A number that is another one when .netrc was changed; 0 where there is none. `file` is in the
 * place of ~/.netrc, or NULL. */
uint64_t refs_login__netrc_state(const char *file);

/** The advice if the login that a request of `url` carries was refused; NULL where it carries none.
 */
const char *refs_login__advice(const refs_http_login *login, uint64_t netrc, const char *url);

/** Whether a request of `url` that began as one of `first` may carry what .netrc says of its host:
 * over https, and in the clear where nobody was sent from another host to one that no provider logs
 * in at. */
bool refs_login__may_use_netrc(const refs_http_login *login, const char *first, const char *url);

/** A login with strings of its own. Zeroed is none. */
typedef struct refs_login_copy {
    refs_http_login login;
    char *owned[5];
} refs_login_copy;

/** Copies the strings of a login, without what refs/identity.h leaves away; REFS_NOMEM without
 * memory, and nothing is kept. */
refs_status refs_login__copy(const refs_http_login *login, refs_login_copy *copy, refs_error *err);
void refs_login__clear(refs_login_copy *copy);

#endif
