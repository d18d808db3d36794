/* login.h -- which requests carry the login of a provider, and in which form. */
#ifndef REFS_STORAGE_HTTP_LOGIN_H
#define REFS_STORAGE_HTTP_LOGIN_H

#include "refs/http.h"

/** The login that a request of a URL carries. */
typedef enum refs_login_part {
    REFS_LOGIN_NOTHING,
    REFS_LOGIN_TOKEN,   /**< as a bearer */
    REFS_LOGIN_PASSWORD /**< user and password */
} refs_login_part;

/** Hosts of the provider get the token, only its login host gets user and password; plain HTTP gets
 * neither. */
refs_login_part refs_login__part(const refs_http_login *login, const char *url);

/** A number that identifies the login of a request of `url`: it differs for each host, user,
 * password and token; 0 without a login. `netrc` is that of refs_login__netrc_state, for logins
 * from .netrc. */
uint64_t refs_login__key(const refs_http_login *login, uint64_t netrc, const char *url);

/** A number that changes with the content of .netrc; 0 if the file does not exist. `file` replaces
 * ~/.netrc, or is NULL. */
uint64_t refs_login__netrc_state(const char *file);

/** Advice for the case that the login of a request of `url` is refused; NULL without a login. */
const char *refs_login__advice(const refs_http_login *login, uint64_t netrc, const char *url);

/** Whether a request of `url`, redirected from `first`, may use credentials from .netrc: over
 * https; over plain HTTP only if the host was not reached by a redirect from another host, and no
 * provider logs in there. */
bool refs_login__may_use_netrc(const refs_http_login *login, const char *first, const char *url);

/** A login that owns its strings. An empty one is zeroed. */
typedef struct refs_login_copy {
    refs_http_login login;
    char *owned[5];
} refs_login_copy;

/** Copies the strings of a login, without those that refs/identity.h rejects. REFS_NOMEM: nothing
 * is kept. */
refs_status refs_login__copy(const refs_http_login *login, refs_login_copy *copy, refs_error *err);
void refs_login__clear(refs_login_copy *copy);

#endif
