/* http_login.c -- see http_login.h. */
#include "http_login.h"

#include <strings.h>

/* "host:port" of an absolute URL, or "host", without a user. */
static refs_str authority_of(const char *url) {
    const char *begin = strstr(url, "://");
    if (begin == NULL) return refs_str_from("");
    begin += 3;
    refs_str authority = refs_str_view(begin, strcspn(begin, "/?#"));
    size_t at = refs_str_find_last(authority, '@');
    return refs_str_part(authority, at == SIZE_MAX ? 0 : at + 1, authority.size);
}

static bool ends_with(refs_str text, refs_str end) {
    return end.size > 0 && text.size >= end.size &&
           strncasecmp(text.data + text.size - end.size, end.data, end.size) == 0;
}

/* Whether `authority` is `host`, or a host of that domain. */
static bool is_of(refs_str authority, refs_str host) {
    if (!ends_with(authority, host)) return false;
    return authority.size == host.size || authority.data[authority.size - host.size - 1] == '.';
}

static bool is_of_any(refs_str authority, refs_str hosts) {
    while (hosts.size > 0) {
        refs_str host = refs_str_part(hosts, 0, refs_str_find(hosts, ','));
        hosts = refs_str_part(hosts, host.size + 1, hosts.size);
        if (is_of(authority, refs_str_trim(host, " "))) return true;
    }
    return false;
}

refs_login_part refs_login__part(const refs_http_login *login, const char *url) {
    if (strncasecmp(url, "https://", 8) != 0) return REFS_LOGIN_NOTHING;
    refs_str authority = authority_of(url);
    if (login->token != NULL && login->hosts != NULL &&
        is_of_any(authority, refs_str_from(login->hosts)))
        return REFS_LOGIN_TOKEN;
    if (login->user == NULL || login->password == NULL || login->login_host == NULL)
        return REFS_LOGIN_NOTHING;
    refs_str login_host = refs_str_from(login->login_host);
    bool is_login = ends_with(authority, login_host) && authority.size == login_host.size;
    return is_login ? REFS_LOGIN_PASSWORD : REFS_LOGIN_NOTHING;
}

static bool copy_text(const char *text, char **copy) {
    *copy = text != NULL ? refs_str_copy(refs_str_from(text)) : NULL;
    return text == NULL || *copy != NULL;
}

refs_status refs_login__copy(const refs_http_login *login, refs_login_copy *copy, refs_error *err) {
    char **owned = copy->owned;
    memset(copy, 0, sizeof *copy);
    if (!copy_text(login->hosts, &owned[0]) || !copy_text(login->token, &owned[1]) ||
        !copy_text(login->login_host, &owned[2]) || !copy_text(login->user, &owned[3]) ||
        !copy_text(login->password, &owned[4])) {
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
