/* http_origins.h -- which origins have answered, and where nobody does: it was tried as often as
 * may be, and need not be tried as often for each of the requests that follow. Not safe from
 * several threads. */
#ifndef REFS_HTTP_ORIGINS_H
#define REFS_HTTP_ORIGINS_H

#include "refs/bytes.h"

/** So long, in milliseconds, an origin is taken for dead. */
#define REFS_HTTP_DEAD_MS 10000

/** So many are kept in mind, the latest ones. */
#define REFS_HTTP_MAX_ORIGINS 16

typedef struct refs_origins {
    struct refs_origin {
        char *url;              /**< one of the origin's, or NULL */
        uint64_t dead_until_ms; /**< 0: it is not */
        bool has_answered;
    } known[REFS_HTTP_MAX_ORIGINS];
    size_t next; /**< to be replaced */
} refs_origins;

/** Notes that nobody answers at the origin of `url`, by a clock that never goes back. */
void refs_origins__note_dead(refs_origins *origins, const char *url, uint64_t now_ms);

/** Notes that somebody has answered. */
void refs_origins__note_alive(refs_origins *origins, const char *url);

/** Whether there is no point in trying long. */
bool refs_origins__is_dead(const refs_origins *origins, const char *url, uint64_t now_ms);

/** Whether somebody has ever answered there, as far as it is kept in mind. */
bool refs_origins__has_answered(const refs_origins *origins, const char *url);

/** Frees what is kept in mind. */
void refs_origins__clear(refs_origins *origins);

#endif
