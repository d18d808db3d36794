/* cookies.h -- cookies that servers set: one store for all requests that are made with the
 * same credentials and cookie files, and another for http than for https: a cookie that was set
 * over https is never sent in the clear, also where a server forgets to say "Secure". libcurl sends
 * each cookie to the host that it is of.
 *
 * A file is read once, when its store is made, and written when a server has set a cookie, not by
 * each request. TLS sessions are shared like cookies: a connection resumes one instead of
 * authenticating again. May be used from any number of threads. */
#ifndef REFS_STORAGE_HTTP_COOKIES_H
#define REFS_STORAGE_HTTP_COOKIES_H

#include <curl/curl.h>

#include "http/origin.h"
#include "refs/http.h"

/** Most stores that are kept. Beyond it the least recently used store that is not in use is
 * dropped.
 */
#define REFS_HTTP_MAX_COOKIE_STORES 64

/** Least time between two writes of a file, in milliseconds. */
#define REFS_HTTP_COOKIES_MS 1000

typedef struct refs_cookies refs_cookies;

/** The store of requests at `origin` with these rules among those at `first`, made where there is
 * none, and held for the caller; NULL without memory. Others must not look for one meanwhile. */
refs_cookies *refs_cookies__of(refs_cookies **first, const refs_http_rules *rules,
                               const refs_origin *origin);

/** Ends what refs_cookies__of began; NULL is allowed. Others must not look for one meanwhile. */
void refs_cookies__release(refs_cookies *cookies);

/** Takes one store that is too many out of those at `first`; NULL where there is none. To be freed
 * by refs_cookies__free_all, which may write a file, once others may look for stores again. */
refs_cookies *refs_cookies__take_old(refs_cookies **first);

/** Makes a handle use the store instead of files of its own; `cookies` may be NULL. */
void refs_cookies__use(refs_cookies *cookies, CURL *easy);

/** Notes that a server has set one: the file is written, soon. */
void refs_cookies__changed(refs_cookies *cookies, uint64_t now_ms);

/** Writes what is not written yet, and frees all of them. No handle may use one any more. */
void refs_cookies__free_all(refs_cookies *first);

#endif
