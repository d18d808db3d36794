/* cookies.h -- cookies that servers set.
 *
 * There is one store for all requests with the same credentials and cookie files, and separate ones
 * for http and https: a cookie that was set over https is never sent over http, even if a server
 * forgets the attribute "Secure". libcurl sends each cookie only to its host.
 *
 * A file is read once, when its store is made, and written after a server has set a cookie, not by
 * each request. TLS sessions are shared like cookies, so that a connection resumes one instead of
 * authenticating again.
 *
 * Thread-safe. */
#ifndef REFS_STORAGE_HTTP_COOKIES_H
#define REFS_STORAGE_HTTP_COOKIES_H

#include <curl/curl.h>

#include "http/origin.h"
#include "refs/http.h"

/** Limit of stores. Beyond it the least recently used store that is not in use is dropped. */
#define REFS_HTTP_MAX_COOKIE_STORES 64

/** Least time between two writes of a file, in milliseconds. */
#define REFS_HTTP_COOKIES_MS 1000

typedef struct refs_cookies refs_cookies;

/** Finds or makes the store of requests at `origin` with these rules, in the list `first`, and
 * holds it for the caller; NULL if memory ran out. The caller must lock the list. */
refs_cookies *refs_cookies__of(refs_cookies **first, const refs_http_rules *rules,
                               const refs_origin *origin);

/** Releases a store; NULL is allowed. The caller must lock the list. */
void refs_cookies__release(refs_cookies *cookies);

/** Removes one store beyond the limit from the list `first`; NULL if there is none. Free it with
 * refs_cookies__free_all, which may write a file, after unlocking the list. */
refs_cookies *refs_cookies__take_old(refs_cookies **first);

/** Makes a handle use the store instead of files of its own; `cookies` may be NULL. */
void refs_cookies__use(refs_cookies *cookies, CURL *easy);

/** Records that a server has set a cookie: the file is written soon. */
void refs_cookies__changed(refs_cookies *cookies, uint64_t now_ms);

/** Writes unwritten cookies, and frees all stores. No handle may use them any more. */
void refs_cookies__free_all(refs_cookies *first);

#endif
