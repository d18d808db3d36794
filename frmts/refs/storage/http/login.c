/* login.c -- see http/login.h. */
#include "http/login.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "earthdata.h"
#include "host_list.h"
#include "identity.h"
#include "refs/lookup3.h"

static bool is_the_login(const refs_http_login *login, const refs_origin *origin) {
    return login->login_host != NULL &&
           refs_host_list__is(refs_str_from(login->login_host), origin);
}

static refs_login_part part_for(const refs_http_login *login, const refs_origin *origin) {
    if (!refs_origin_is_tls(origin)) return REFS_LOGIN_NOTHING;
    if (login->token != NULL && refs_host_list__has(login->hosts, origin, REFS_HOST_PORTS_COUNT))
        return REFS_LOGIN_TOKEN;
    if (login->user == NULL || login->password == NULL) return REFS_LOGIN_NOTHING;
    return is_the_login(login, origin) ? REFS_LOGIN_PASSWORD : REFS_LOGIN_NOTHING;
}

refs_login_part refs_login__part(const refs_http_login *login, const char *url) {
    refs_origin origin;
    if (login->token == NULL && login->password == NULL) return REFS_LOGIN_NOTHING;
    return refs_origin_of(url, &origin) ? part_for(login, &origin) : REFS_LOGIN_NOTHING;
}

/* -- refused logins ---------------------------------------------------------------------------- */

static uint64_t add_text(uint64_t key, const char *text) {
    return refs_lookup3_64(refs_bytes_view(text, strlen(text)), key);
}

static uint64_t key_of(const refs_http_login *login, refs_login_part part) {
    return part == REFS_LOGIN_TOKEN ? add_text(0, login->token)
                                    : add_text(add_text(0, login->user), login->password);
}

static bool is_left_to_netrc(const refs_http_login *login, const refs_origin *origin) {
    return login->user == NULL && refs_origin_is_tls(origin) && is_the_login(login, origin);
}

uint64_t refs_login__key(const refs_http_login *login, uint64_t netrc, const char *url) {
    refs_origin origin;
    const bool is_any = login->token != NULL || login->password != NULL || netrc != 0;
    if (!is_any || !refs_origin_of(url, &origin)) return 0;
    const refs_login_part part = part_for(login, &origin);
    if (part == REFS_LOGIN_NOTHING && (netrc == 0 || !is_left_to_netrc(login, &origin))) return 0;
    const uint64_t key = part != REFS_LOGIN_NOTHING ? key_of(login, part) : netrc;
    return refs_lookup3_64(refs_bytes_view(&origin, sizeof origin), key);
}

uint64_t refs_login__netrc_state(const char *file) {
    char name[4096];
    struct stat status;
    const char *home = getenv("HOME");
    if (file == NULL) {
        int size = snprintf(name, sizeof name, "%s/.netrc", home != NULL ? home : "");
        if (size < 0 || (size_t)size >= sizeof name) return 0;
        file = name;
    }
    if (stat(file, &status) != 0) return 0;
#ifdef __APPLE__
    const struct timespec when = status.st_mtimespec;
#else
    const struct timespec when = status.st_mtim;
#endif
    const uint64_t state[] = {(uint64_t)when.tv_sec, (uint64_t)when.tv_nsec,
                              (uint64_t)status.st_size, (uint64_t)status.st_ino};
    return refs_lookup3_64(refs_bytes_view(state, sizeof state), add_text(0, file));
}

const char *refs_login__advice(const refs_http_login *login, uint64_t netrc, const char *url) {
    refs_origin origin;
    (void)refs_origin_of(url, &origin);
    switch (part_for(login, &origin)) {
    case REFS_LOGIN_TOKEN:
        return "EARTHDATA_TOKEN may have expired, or the data have a licence that you must accept";
    case REFS_LOGIN_PASSWORD:
        return "EARTHDATA_USERNAME or EARTHDATA_PASSWORD may be wrong";
    default:
        return netrc != 0 && is_left_to_netrc(login, &origin)
                   ? ".netrc has a wrong password for it, or none; or log in by EARTHDATA_TOKEN"
                   : NULL;
    }
}

/* -- .netrc ------------------------------------------------------------------------------------ */

/* Whether two origins have the same host. A dot at the end of a name is ignored. */
static bool is_same_host(const refs_origin *one, const refs_origin *other) {
    return refs_str_equal(refs_str_trim(refs_str_from(one->host), "."),
                          refs_str_trim(refs_str_from(other->host), "."));
}

bool refs_login__may_use_netrc(const refs_http_login *login, const char *first, const char *url) {
    refs_origin before, now;
    if (refs_url_is_tls(url)) return true;
    return refs_origin_of(first, &before) && refs_origin_of(url, &now) &&
           is_same_host(&before, &now) && !refs_earthdata_is_in_the_clear(login, url);
}

/* -- copies ------------------------------------------------------------------------------------ */

static bool copy_text(const char *text, refs_str value, char **copy) {
    *copy = text != NULL ? refs_str_copy(value) : NULL;
    return text == NULL || *copy != NULL;
}

refs_status refs_login__copy(const refs_http_login *login, refs_login_copy *copy, refs_error *err) {
    char **owned = copy->owned;
    memset(copy, 0, sizeof *copy);
    const refs_str token = refs_identity_token(login->token);
    if (!copy_text(login->hosts, refs_identity_value(login->hosts), &owned[0]) ||
        !copy_text(login->token, token, &owned[1]) ||
        !copy_text(login->login_host, refs_identity_value(login->login_host), &owned[2]) ||
        !copy_text(login->user, refs_identity_value(login->user), &owned[3]) ||
        !copy_text(login->password, refs_identity_value(login->password), &owned[4])) {
        refs_login__clear(copy);
        return refs_fail_nomem(err);
    }
    copy->login = (refs_http_login){owned[0], owned[1], owned[2], owned[3], owned[4]};
    return REFS_OK;
}

void refs_login__clear(refs_login_copy *copy) {
    for (size_t i = 0; i < sizeof copy->owned / sizeof copy->owned[0]; i++)
        refs_free(copy->owned[i]);
    memset(copy, 0, sizeof *copy);
}
