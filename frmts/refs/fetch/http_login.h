/* http_login.h -- the login of a provider: which requests carry it, and as what. */
#ifndef REFS_HTTP_LOGIN_H
#define REFS_HTTP_LOGIN_H

#include "refs/http.h"

/** What a request of a URL carries of a login. */
typedef enum refs_login_part {
    REFS_LOGIN_NOTHING,
    REFS_LOGIN_TOKEN,   /**< as a bearer */
    REFS_LOGIN_PASSWORD /**< user and password */
} refs_login_part;

/** The token for the hosts of the provider, user and password for its login alone; nothing over
 * plain HTTP. */
refs_login_part refs_login__part(const refs_http_login *login, const char *url);

/** A login with strings of its own. Zeroed is none. */
typedef struct refs_login_copy {
    refs_http_login login;
    char *owned[5];
} refs_login_copy;

/** Copies the strings of a login; REFS_NOMEM without memory, and nothing is kept. */
refs_status refs_login__copy(const refs_http_login *login, refs_login_copy *copy, refs_error *err);
void refs_login__clear(refs_login_copy *copy);

#endif
