/* handle.c -- see refs/http_handle.h. */
#include "http/handle.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "http/redirect.h"
#include "identity.h"
#include "refs/fork.h"
#include "refs/url.h"

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
    refs_http_gate *gate = user;
    (void)purpose;
    if (!gate->allows_link_local && refs_address_is_link_local(&address->addr, address->addrlen)) {
        gate->has_link_local = true;
        return CURL_SOCKET_BAD;
    }
    gate->has_other = true;
    const curl_socket_t opened = socket(address->family, address->socktype, address->protocol);
    if (opened != CURL_SOCKET_BAD) (void)fcntl(opened, F_SETFD, FD_CLOEXEC);
    return opened;
}

void refs_http_handle_guard(void *easy, const refs_http_rules *rules, const char *url,
                            refs_http_gate *gate) {
    *gate = (refs_http_gate){.allows_link_local = rules->allow_link_local ||
                                                  refs_location_is_link_local(refs_str_from(url))};
    curl_easy_setopt((CURL *)easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt((CURL *)easy, CURLOPT_OPENSOCKETDATA, gate);
}

refs_status refs_http_gate_result(const refs_http_gate *gate, CURLcode code, refs_error *err) {
    if (code != CURLE_COULDNT_CONNECT || !gate->has_link_local || gate->has_other) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "connection refused: the host, or its proxy, has a link-local address, which "
                     "is allowed only if " REFS_REMOTE_TO_LOCAL " is YES");
}

static void set_text(CURL *easy, CURLoption option, const char *text) {
    if (text != NULL) curl_easy_setopt(easy, option, text);
}

/* Older versions of libcurl lack some of them: refusals are ignored. */
static refs_status set_auth(CURL *easy, const refs_http_auth *auth, refs_error *err) {
    char *bearer = NULL;
    if (auth->bearer != NULL) {
        REFS_TRY(refs_str_keep(refs_identity_token(auth->bearer), &bearer, err));
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, bearer);
    }
    refs_free(bearer);
    set_text(easy, CURLOPT_NETRC_FILE, auth->netrc_file);
    set_text(easy, CURLOPT_SSLCERT, auth->certificate);
    set_text(easy, CURLOPT_SSLCERTTYPE, auth->certificate_type);
    set_text(easy, CURLOPT_SSLKEY, auth->key);
    set_text(easy, CURLOPT_KEYPASSWD, auth->key_password);
    set_text(easy, CURLOPT_CAINFO, auth->authorities);
    return REFS_OK;
}

static refs_status check_headers(const struct curl_slist *headers, refs_error *err) {
    for (; headers != NULL; headers = headers->next)
        REFS_TRY(refs_identity_check_header(headers->data, err));
    return REFS_OK;
}

void refs_http_handle_drop_credentials(void *handle) {
    CURL *easy = handle;
    curl_easy_setopt(easy, CURLOPT_USERPWD, NULL);
    curl_easy_setopt(easy, CURLOPT_USERNAME, NULL);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, NULL);
    curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, NULL);
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    curl_easy_setopt(easy, CURLOPT_COOKIE, NULL);
}

bool refs_http_handle_is_authorization(const char *header) {
    static const char name[] = "Authorization";
    if (strncasecmp(header, name, sizeof name - 1) != 0) return false;
    header += sizeof name - 1;
    header += strspn(header, " \t");
    return *header == ':' || *header == ';';
}

void refs_http_handle_ignore_netrc(void *easy) {
    curl_easy_setopt((CURL *)easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
}

bool refs_http_handle_copy_headers(const struct curl_slist *from,
                                   bool (*leaves_out)(const char *header), struct curl_slist **to) {
    for (const struct curl_slist *header = from; header != NULL; header = header->next) {
        if (leaves_out(header->data)) continue;
        struct curl_slist *longer = curl_slist_append(*to, header->data);
        if (longer == NULL) return false;
        *to = longer;
    }
    return true;
}

/* A signed URL identifies the user: no other credentials are sent. */
static refs_status drop_other_credentials(refs_http_handle *handle, refs_error *err) {
    struct curl_slist *headers = NULL;
    refs_http_handle_drop_credentials(handle->easy);
    refs_http_handle_ignore_netrc(handle->easy);
    bool copied =
        refs_http_handle_copy_headers(handle->headers, refs_http_handle_is_authorization, &headers);
    curl_slist_free_all(handle->headers);
    handle->headers = headers;
    return copied ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_http_handle_prepare(refs_http_handle *handle, const refs_http_provider *provider,
                                     const refs_http_rules *rules, const refs_http_object *object,
                                     refs_error *err) {
    void *headers = NULL;
    refs_assert_unlocked();
    const refs_status prepared =
        provider->prepare(provider->self, object, handle->easy, &headers, err);
    handle->headers = headers;
    handle->is_signed = rules->is_signed || refs_redirect__is_signed(object->url);
    REFS_TRY(prepared);
    REFS_TRY(check_headers(handle->headers, err));
    REFS_TRY(set_auth(handle->easy, &rules->auth, err));
    return handle->is_signed ? drop_other_credentials(handle, err) : REFS_OK;
}
