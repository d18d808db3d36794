/* handle.h -- a handle of libcurl for one request, of reads and of uploads: what it says of
 * who asks is decided here alone. */
#ifndef REFS_STORAGE_HTTP_HANDLE_H
#define REFS_STORAGE_HTTP_HANDLE_H

#include <curl/curl.h>

#include "refs/http.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct refs_http_handle {
    void *easy;                 /**< a CURL *, of the caller */
    struct curl_slist *headers; /**< to send; the caller frees them, also after a failure */
    bool is_signed;             /**< the URL holds a signature */
} refs_http_handle;

/** Sets what `provider` and `rules` say of a request of `object`. Beside a signature in the URL
 * nothing else says who asks: no user, no token, no cookie, no .netrc and no header Authorization.
 * Headers with control characters are REFS_IO. */
refs_status refs_http_handle_prepare(refs_http_handle *handle, const refs_http_provider *provider,
                                     const refs_http_rules *rules, const refs_http_object *object,
                                     refs_error *err);

/** Which addresses a request may connect to, and which its host turned out to have. The rule of
 * confinement once more for what names resolve to: documents and redirects were checked by their
 * text alone. With a proxy, addresses are those of the proxy. */
typedef struct refs_http_gate {
    bool allows_link_local; /**< by an option, or since the URL itself has such an address */
    bool has_link_local;    /**< one was not connected to; libcurl goes on with the others */
    bool has_other;
} refs_http_gate;

/** Has `easy` connect through `gate`, which is as new and lives as long as the request. Sockets are
 * closed in programs that are started. */
void refs_http_handle_guard(void *easy, const refs_http_rules *rules, const char *url,
                            refs_http_gate *gate);

/** The failure of an attempt that ended with `code`: REFS_INVALID where there is no other address
 * to connect to, else REFS_OK. */
refs_status refs_http_gate_result(const refs_http_gate *gate, CURLcode code, refs_error *err);

void refs_http_handle_drop_credentials(void *easy);
void refs_http_handle_ignore_netrc(void *easy);
bool refs_http_handle_is_authorization(const char *header);

/** Copies all headers but those that `leaves_out`; false without memory. */
bool refs_http_handle_copy_headers(const struct curl_slist *from,
                                   bool (*leaves_out)(const char *header), struct curl_slist **to);

#ifdef __cplusplus
}
#endif
#endif
