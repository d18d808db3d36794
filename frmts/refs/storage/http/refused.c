/* refused.c -- see http/refused.h. */
#include "http/refused.h"

static const refs_refused_login *find(const refs_refused *refused, uint64_t key) {
    for (size_t i = 0; i < REFS_HTTP_MAX_REFUSED; i++)
        if (refused->logins[i].key == key) return &refused->logins[i];
    return NULL;
}

static refs_refused_login *find_or_add(refs_refused *refused, uint64_t key) {
    const refs_refused_login *found = find(refused, key);
    if (found != NULL) return &refused->logins[found - refused->logins];
    refs_refused_login *added = &refused->logins[refused->n_noted++ % REFS_HTTP_MAX_REFUSED];
    *added = (refs_refused_login){.key = key};
    return added;
}

bool refs_refused__has(const refs_refused *refused, uint64_t key, uint64_t now_ms) {
    const refs_refused_login *found = key != 0 ? find(refused, key) : NULL;
    return found != NULL && now_ms < found->until_ms;
}

void refs_refused__note_password(refs_refused *refused, uint64_t key, long status) {
    if (key != 0 && status == 401) find_or_add(refused, key)->until_ms = UINT64_MAX;
}

void refs_refused__note_token(refs_refused *refused, uint64_t key, long status, uint64_t now_ms) {
    bool is_let_in = status >= 200 && status < 300;
    if (key == 0 || (status != 401 && !is_let_in)) return;
    refs_refused_login *login = find_or_add(refused, key);
    if (is_let_in)
        login->was_let_in = true;
    else if (!login->was_let_in)
        login->until_ms = now_ms + REFS_HTTP_REFUSED_TOKEN_MS;
}
