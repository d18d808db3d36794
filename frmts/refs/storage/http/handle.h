/* handle.h -- a libcurl handle for one request, for reads and uploads. The only place that decides
 * which credentials a request carries. */
#ifndef REFS_STORAGE_HTTP_HANDLE_H
#define REFS_STORAGE_HTTP_HANDLE_H

#include <curl/curl.h>

#include "refs/http.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct refs_http_handle {
    void *easy;                 /**< a CURL *, owned by the caller */
    struct curl_slist *headers; /**< to send; the caller frees them, also after a failure */
    bool is_signed;             /**< the URL has a signature */
} refs_http_handle;

/** Applies `provider` and `rules` to a request of `object`. If the URL has a signature, the request
 * carries no other credentials: no user, token, cookie, .netrc or header Authorization. REFS_IO for
 * headers with control characters. */
refs_status refs_http_handle_prepare(refs_http_handle *handle, const refs_http_provider *provider,
                                     const refs_http_rules *rules, const refs_http_object *object,
                                     refs_error *err);

/** Restricts the addresses that a request may connect to. Documents and redirects were confined by
 * their text only; this applies the same rule to resolved addresses. With a proxy, addresses are
 * those of the proxy. */
typedef struct refs_http_gate {
    bool allows_link_local; /**< by an option, or because the URL itself has such an address */
    bool has_link_local;    /**< such an address was rejected; libcurl tries others */
    bool has_other;
} refs_http_gate;

/** Makes `easy` connect through `gate`, which must be new and live as long as the request. Sockets
 * are closed on exec(3). */
void refs_http_handle_guard(void *easy, const refs_http_rules *rules, const char *url,
                            refs_http_gate *gate);

/** The failure of an attempt that ended with `code`: REFS_INVALID if all addresses were rejected,
 * else REFS_OK. */
refs_status refs_http_gate_result(const refs_http_gate *gate, CURLcode code, refs_error *err);

void refs_http_handle_drop_credentials(void *easy);
void refs_http_handle_ignore_netrc(void *easy);
bool refs_http_handle_is_authorization(const char *header);

/** Copies all headers except those that `leaves_out` selects; false if memory ran out. */
bool refs_http_handle_copy_headers(const struct curl_slist *from,
                                   bool (*leaves_out)(const char *header), struct curl_slist **to);

#ifdef __cplusplus
}
#endif
#endif
