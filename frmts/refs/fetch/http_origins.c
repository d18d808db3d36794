/* http_origins.c -- see http_origins.h. */
#include "http_origins.h"

#include "http_redirect.h"

/* The place of the origin of `url`, or REFS_HTTP_MAX_ORIGINS. */
static size_t find(const refs_origins *origins, const char *url) {
    size_t i = 0;
    while (i < REFS_HTTP_MAX_ORIGINS && (origins->known[i].url == NULL ||
                                         !refs_redirect__same_origin(origins->known[i].url, url)))
        i++;
    return i;
}

/* The same, in the place of another where it is new. */
static struct refs_origin *keep(refs_origins *origins, const char *url) {
    size_t i = find(origins, url);
    if (i == REFS_HTTP_MAX_ORIGINS) {
        i = origins->next++ % REFS_HTTP_MAX_ORIGINS;
        refs_free(origins->known[i].url);
        origins->known[i] = (struct refs_origin){0};
        origins->known[i].url = refs_str_copy(refs_str_from(url)); /* or forgotten at once */
    }
    return &origins->known[i];
}

void refs_origins__note_dead(refs_origins *origins, const char *url, uint64_t now_ms) {
    keep(origins, url)->dead_until_ms = now_ms + REFS_HTTP_DEAD_MS;
}

void refs_origins__note_alive(refs_origins *origins, const char *url) {
    struct refs_origin *origin = keep(origins, url);
    origin->has_answered = true;
    origin->dead_until_ms = 0;
}

bool refs_origins__is_dead(const refs_origins *origins, const char *url, uint64_t now_ms) {
    size_t i = find(origins, url);
    return i < REFS_HTTP_MAX_ORIGINS && now_ms < origins->known[i].dead_until_ms;
}

bool refs_origins__has_answered(const refs_origins *origins, const char *url) {
    size_t i = find(origins, url);
    return i < REFS_HTTP_MAX_ORIGINS && origins->known[i].has_answered;
}

void refs_origins__clear(refs_origins *origins) {
    for (size_t i = 0; i < REFS_HTTP_MAX_ORIGINS; i++) refs_free(origins->known[i].url);
    *origins = (refs_origins){0};
}
