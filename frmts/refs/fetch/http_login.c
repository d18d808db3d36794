/* http_login.c -- see http_login.h. */
#include "http_login.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "earthdata.h"
#include "host_list.h"
#include "http_redirect.h"

/* "host:port" of an absolute URL, or "host", without a user. */
static refs_str authority_of(const char *url) {
    const char *begin = strstr(url, "://");
    if (begin == NULL) return refs_str_from("");
    begin += 3;
    refs_str authority = refs_str_view(begin, strcspn(begin, "/?#"));
    size_t at = refs_str_find_last(authority, '@');
    return refs_str_part(authority, at == SIZE_MAX ? 0 : at + 1, authority.size);
}

static bool is_the_login(const refs_http_login *login, refs_str authority) {
    if (login->login_host == NULL) return false;
    refs_str host = refs_str_from(login->login_host);
    return authority.size == host.size && strncasecmp(authority.data, host.data, host.size) == 0;
}

refs_login_part refs_login__part(const refs_http_login *login, const char *url) {
    if (strncasecmp(url, "https://", 8) != 0) return REFS_LOGIN_NOTHING;
    refs_str authority = authority_of(url);
    if (login->token != NULL && refs_host_list__has(login->hosts, authority, REFS_HOST_PORTS_COUNT))
        return REFS_LOGIN_TOKEN;
    if (login->user == NULL || login->password == NULL) return REFS_LOGIN_NOTHING;
    return is_the_login(login, authority) ? REFS_LOGIN_PASSWORD : REFS_LOGIN_NOTHING;
}

/* -- who was refused --------------------------------------------------------------------------- */

#define FIRST_KEY 0xcbf29ce484222325u

/* FNV-1a, of 64 bits; letters of hosts are the same in either case. */
static uint64_t add_byte(uint64_t key, uint8_t byte) {
    return (key ^ byte) * 0x100000001b3u;
}

static uint64_t add_host(uint64_t key, refs_str authority) {
    for (size_t i = 0; i < authority.size; i++) {
        char c = authority.data[i];
        key = add_byte(key, (uint8_t)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
    }
    return add_byte(key, 0);
}

static uint64_t add_text(uint64_t key, const char *text) {
    for (; *text != '\0'; text++) key = add_byte(key, (uint8_t)*text);
    return add_byte(key, 0);
}

static uint64_t add_number(uint64_t key, uint64_t number) {
    for (int i = 0; i < 8; i++, number >>= 8) key = add_byte(key, (uint8_t)number);
    return key;
}

uint64_t refs_login__key(const refs_http_login *login, uint64_t netrc, const char *url) {
    refs_str authority = authority_of(url);
    uint64_t key = add_host(FIRST_KEY, authority);
    switch (refs_login__part(login, url)) {
    case REFS_LOGIN_TOKEN:
        return add_text(key, login->token);
    case REFS_LOGIN_PASSWORD:
        return add_text(add_text(key, login->user), login->password);
    default:
        if (netrc == 0 || login->user != NULL || strncasecmp(url, "https://", 8) != 0) return 0;
        return is_the_login(login, authority) ? add_number(key, netrc) : 0;
    }
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
    uint64_t key = add_number(add_text(FIRST_KEY, file), (uint64_t)status.st_mtime);
    key = add_number(key, (uint64_t)status.st_size);
    return add_number(key, (uint64_t)status.st_ino);
}

/* -- .netrc ------------------------------------------------------------------------------------ */

bool refs_login__may_use_netrc(const refs_http_login *login, const char *first, const char *url) {
    if (strncasecmp(url, "https://", 8) == 0) return true;
    char *before = refs_redirect__host(first), *host = refs_redirect__host(url);
    bool is_one = before != NULL && host != NULL && strcmp(before, host) == 0;
    refs_free(before);
    refs_free(host);
    return is_one && !refs_earthdata_is_in_the_clear(login, url);
}

/* -- copies ------------------------------------------------------------------------------------ */

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
