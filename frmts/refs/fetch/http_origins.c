/* http_origins.c -- see http_origins.h. */
#include "http_origins.h"

#include "http_redirect.h"

/* The place of the origin of `url`, or REFS_HTTP_MAX_DEAD. */
static size_t find(const refs_origins *origins, const char *url) {
    size_t i = 0;
    while (i < REFS_HTTP_MAX_DEAD &&
           (origins->dead[i].url == NULL || !refs_redirect__same_origin(origins->dead[i].url, url)))
        i++;
    return i;
}

static void forget(refs_origins *origins, size_t i) {
    refs_free(origins->dead[i].url);
    origins->dead[i].url = NULL;
}

void refs_origins__note_dead(refs_origins *origins, const char *url, uint64_t now_ms) {
    size_t i = find(origins, url);
    if (i == REFS_HTTP_MAX_DEAD) {
        i = origins->next++ % REFS_HTTP_MAX_DEAD;
        forget(origins, i);
        origins->dead[i].url = refs_str_copy(refs_str_from(url)); /* or forgotten at once */
    }
    origins->dead[i].until_ms = now_ms + REFS_HTTP_DEAD_MS;
}

void refs_origins__note_alive(refs_origins *origins, const char *url) {
    size_t i = find(origins, url);
    if (i < REFS_HTTP_MAX_DEAD) forget(origins, i);
}

bool refs_origins__is_dead(const refs_origins *origins, const char *url, uint64_t now_ms) {
    size_t i = find(origins, url);
    return i < REFS_HTTP_MAX_DEAD && now_ms < origins->dead[i].until_ms;
}

void refs_origins__clear(refs_origins *origins) {
    for (size_t i = 0; i < REFS_HTTP_MAX_DEAD; i++) forget(origins, i);
}
