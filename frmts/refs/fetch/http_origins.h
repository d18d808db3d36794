/* http_origins.h -- origins where nobody answers: it was tried as often as may be, and need not be
 * tried as often for each of the requests that follow. Not safe from several threads. */
#ifndef REFS_HTTP_ORIGINS_H
#define REFS_HTTP_ORIGINS_H

#include "refs/bytes.h"

/** So long, in milliseconds, an origin is taken for dead. */
#define REFS_HTTP_DEAD_MS 10000

/** So many are kept in mind, the latest ones. */
#define REFS_HTTP_MAX_DEAD 8

typedef struct refs_origins {
    struct {
        char *url; /**< one of the origin's, or NULL */
        uint64_t until_ms;
    } dead[REFS_HTTP_MAX_DEAD];
    size_t next; /**< to be replaced */
} refs_origins;

/** Notes that nobody answers at the origin of `url`, by a clock that never goes back. */
void refs_origins__note_dead(refs_origins *origins, const char *url, uint64_t now_ms);

/** Notes that somebody has answered. */
void refs_origins__note_alive(refs_origins *origins, const char *url);

/** Whether there is no point in trying long. */
bool refs_origins__is_dead(const refs_origins *origins, const char *url, uint64_t now_ms);

/** Frees what is kept in mind. */
void refs_origins__clear(refs_origins *origins);

#endif
