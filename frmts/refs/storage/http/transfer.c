/* transfer.c -- one request: its headers, its URL, and its retries. */
#include "http/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/handle.h"
#include "http/redirect.h"
#include "identity.h"

/* An attempt that brought this many bytes resets the count of failures. */
#define PROGRESS_BYTES (64 * (uint64_t)REFS_KIB)

/* Servers may send less than a range: the rest is requested again, unless parts are smaller than
 * this. */
#define PART_BYTES REFS_KIB

/* After a pause of this length the server may close the connection, which does not count as its
 * failure. */
#define PAUSED_LONG_MS 1000

/* Retries of a refused connection. A server that has answered before may be restarting; if it never
 * did, the address is probably wrong, which users should learn soon. */
#define MAX_RETRIES_OF_REFUSED 1

/* If an origin answers other requests, a refusal comes from its limit of requests and does not
 * count as a failure, up to this many times the number of retries: one object may be refused
 * forever. */
#define REFUSALS_PER_RETRY 10

#define ACCEPT_ENCODING "Accept-Encoding:"

/* -- the handle -------------------------------------------------------------------------------- */

/* HTTP/1 matches answers to requests by their order alone. A refused login on a connection where
 * they are out of step would be attributed to other requests, too: the connection is closed. */
static void leave_if_refused(const refs_transfer *transfer) {
    long version = CURL_HTTP_VERSION_NONE;
    curl_easy_getinfo(transfer->current, CURLINFO_HTTP_VERSION, &version);
    if (refs_transfer__status(transfer) == 401 && version <= CURL_HTTP_VERSION_1_1 &&
        refs_transfer__login_key(transfer) != 0)
        curl_easy_setopt(transfer->current, CURLOPT_FORBID_REUSE, 1L);
}

static size_t on_header(char *data, size_t item_size, size_t n, void *user) {
    refs_transfer *transfer = user;
    size_t size = item_size * n;
    transfer->header_bytes += size;
    if (transfer->header_bytes > REFS_HTTP_MAX_HEADER_BYTES) {
        transfer->refused = true;
        (void)refs_fail(&transfer->error, REFS_LIMIT,
                        "the headers of the answer exceed their limit");
        return 0;
    }
    refs_response__line(&transfer->response, refs_str_view(data, size));
    leave_if_refused(transfer);
    if (size > 11 && strncasecmp(data, "set-cookie:", 11) == 0) transfer->set_cookie = true;
    return size;
}

/* The settings that users may change by options of the provider. */
static void set_defaults(refs_transfer *transfer) {
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)transfer->rules.stall_ms);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)REFS_HTTP_MIN_SPEED);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)(transfer->rules.stall_ms + 999) / 1000);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 128L * 1024);
}

/* The settings that no provider changes. */
static void set_invariants(refs_transfer *transfer) {
    CURL *easy = transfer->easy;
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(easy, CURLOPT_URL, transfer->url);
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, refs_transfer__on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->curl_text);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, transfer->compressible ? "gzip" : NULL);
    if (refs_origin_is_tls(&transfer->key)) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
}

static void set_authorities(const refs_transfer *transfer, refs_http *http) {
    char name[64];
    if (!refs_origin_is_tls(&transfer->key) ||
        !refs_http__authorities(http, &transfer->rules.auth, name, sizeof name))
        return;
    curl_easy_setopt(transfer->easy, CURLOPT_CAINFO, name);
    curl_easy_setopt(transfer->easy, CURLOPT_CAPATH, NULL);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Otherwise libcurl would cache the resolved name for a day. */
    curl_easy_setopt(transfer->easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
}

/* Without the header the server may choose any encoding (RFC 9110, section 12.5.3). libcurl sends a
 * header of its own where it decodes. */
static bool ask_for_bytes(const refs_transfer *transfer, struct curl_slist **headers) {
    if (transfer->compressible) return true;
    for (const struct curl_slist *header = *headers; header != NULL; header = header->next)
        if (strncasecmp(header->data, ACCEPT_ENCODING, sizeof ACCEPT_ENCODING - 1) == 0)
            return true;
    struct curl_slist *longer = curl_slist_append(*headers, ACCEPT_ENCODING " identity");
    if (longer != NULL) *headers = longer;
    return longer != NULL;
}

/* -- credentials ------------------------------------------------------------------------------- */

static bool may_use_netrc(const refs_transfer *transfer, const char *url) {
    return refs_login__may_use_netrc(&transfer->login.login, transfer->url, url);
}

/* Sets the part of the login that a request for `url` may carry. */
static void log_in(const refs_transfer *transfer, CURL *easy, const char *url) {
    const refs_http_login *login = &transfer->login.login;
    switch (refs_login__part(login, url)) {
    case REFS_LOGIN_TOKEN:
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, login->token);
        break;
    case REFS_LOGIN_PASSWORD:
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERNAME, login->user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, login->password);
        break;
    default:
        break;
    }
}

static bool is_nothing(const char *header) {
    (void)header;
    return false;
}

static refs_status prepare(refs_transfer *transfer, refs_http *http, const char *url,
                           refs_error *err) {
    static const refs_origin tls = {.scheme = "https"};
    const refs_http_provider *provider = refs_http__provider(http);
    transfer->http = http;
    transfer->provider = provider;
    transfer->rules = refs_http__options(http)->rules;
    transfer->easy = transfer->current = curl_easy_init();
    transfer->url = refs_str_copy(refs_str_from(url));
    transfer->url_now = refs_str_copy(refs_str_from(url));
    if (transfer->easy == NULL || transfer->url == NULL || transfer->url_now == NULL)
        return refs_fail_nomem(err);
    (void)refs_origin_of(url, &transfer->key);
    transfer->key_now = transfer->key;
    if (provider->rules != NULL)
        REFS_TRY(provider->rules(provider->self, transfer->location, &transfer->rules, err));
    if (transfer->rules.retry_codes != NULL)
        transfer->retry_codes = refs_str_copy(refs_str_from(transfer->rules.retry_codes));
    transfer->rules.retry_codes = transfer->retry_codes;
    REFS_TRY(refs_login__copy(&transfer->rules.login, &transfer->login, err));
    if (transfer->login.login.login_host != NULL)
        transfer->netrc = refs_login__netrc_state(transfer->rules.auth.netrc_file);
    transfer->first_cookies = refs_http__cookies(http, &transfer->rules, &transfer->key);
    transfer->tls_cookies = refs_http__cookies(http, &transfer->rules, &tls);
    transfer->cookies = transfer->first_cookies;
    set_defaults(transfer);
    refs_http_handle handle = {transfer->easy, NULL, false};
    const refs_http_object object = {transfer->location, url};
    const refs_status status =
        refs_http_handle_prepare(&handle, provider, &transfer->rules, &object, err);
    transfer->headers = handle.headers;
    REFS_TRY(status);
    set_authorities(transfer, http);
    if (!handle.is_signed) log_in(transfer, transfer->easy, url);
    if (!may_use_netrc(transfer, url)) refs_http_handle_ignore_netrc(transfer->easy);
    if (!ask_for_bytes(transfer, &transfer->headers)) return refs_fail_nomem(err);
    set_invariants(transfer);
    refs_cookies__use(transfer->cookies, transfer->easy);
    return REFS_OK;
}

refs_status refs_transfer__prepare(refs_transfer *transfer, refs_http *http, const char *url,
                                   refs_error *err) {
    refs_fork_hold_off(); /* libcurl has locks */
    refs_status status = prepare(transfer, http, url, err);
    refs_fork_allow();
    return status;
}

/* -- targets of redirects ---------------------------------------------------------------------- */

/* Whether `url` may get the cookie of a provider: only the provider itself may. */
static bool is_trusted(const refs_transfer *transfer, const char *url) {
    const refs_http_login *login = &transfer->login.login;
    bool is_own = login->token != NULL || login->password != NULL;
    return (transfer->rules.trust_redirects && !is_own) ||
           refs_redirect__same_origin(transfer->url, url);
}

/* A handle for a `url` of another origin, or with a signature, without credentials. The login in
 * .netrc of the other host stays, but not over plain HTTP. */
static refs_status make_away(refs_transfer *transfer, const char *url, refs_error *err) {
    CURL *cross_easy = curl_easy_duphandle(transfer->easy);
    struct curl_slist *headers = NULL;
    bool trusted = is_trusted(transfer, url), is_signed = refs_redirect__is_signed(url);
    if (cross_easy == NULL) return refs_fail_nomem(err);
    refs_cookies__use(transfer->cookies, cross_easy);
    if (transfer->cross_easy != NULL) curl_easy_cleanup(transfer->cross_easy);
    transfer->cross_easy = transfer->current = cross_easy;
    bool copied =
        !trusted || refs_http_handle_copy_headers(
                        transfer->headers,
                        is_signed ? refs_http_handle_is_authorization : is_nothing, &headers);
    bool complete = copied && ask_for_bytes(transfer, &headers);
    curl_easy_setopt(cross_easy, CURLOPT_HTTPHEADER, headers);
    curl_slist_free_all(transfer->cross_headers);
    transfer->cross_headers = headers;
    if (!complete) return refs_fail_nomem(err);
    if (!trusted || is_signed) refs_http_handle_drop_credentials(cross_easy);
    if (is_signed || !may_use_netrc(transfer, url)) refs_http_handle_ignore_netrc(cross_easy);
    if (!is_signed) log_in(transfer, cross_easy, url);
    if (trusted) return REFS_OK;
    curl_easy_setopt(cross_easy, CURLOPT_SSLCERT, NULL);
    curl_easy_setopt(cross_easy, CURLOPT_SSLKEY, NULL);
    curl_easy_setopt(cross_easy, CURLOPT_KEYPASSWD, NULL);
    return REFS_OK;
}

/* Makes `url`, of which it takes ownership, the transfer's URL. */
static refs_status go_to(refs_transfer *transfer, char *url, refs_error *err) {
    bool is_newly_signed =
        refs_redirect__is_signed(url) && !refs_redirect__is_signed(transfer->url);
    refs_free(transfer->url_now);
    transfer->url_now = url;
    (void)refs_origin_of(url, &transfer->key_now);
    transfer->cookies =
        refs_origin_is_tls(&transfer->key_now) ? transfer->tls_cookies : transfer->first_cookies;
    if (transfer->cookies != transfer->first_cookies || !is_trusted(transfer, url) ||
        is_newly_signed || !may_use_netrc(transfer, url)) {
        REFS_TRY(make_away(transfer, url, err));
    } else if (transfer->current != transfer->easy) {
        transfer->current = transfer->easy;
    }
    curl_easy_setopt(transfer->current, CURLOPT_URL, url);
    return REFS_OK;
}

static refs_status follow(refs_transfer *transfer, long status, refs_error *err) {
    char *url = NULL;
    curl_easy_getinfo(transfer->current, CURLINFO_REDIRECT_URL, &url);
    if (url == NULL)
        return refs_fail(err, REFS_IO, "redirect without a usable Location header (HTTP %ld)",
                         status);
    if (transfer->n_redirects++ == REFS_HTTP_MAX_REDIRECTS)
        return refs_fail(err, REFS_IO, "more than %d redirects (HTTP %ld)", REFS_HTTP_MAX_REDIRECTS,
                         status);
    if (strlen(url) > REFS_HTTP_MAX_URL_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "redirect to a URL of %zu bytes, more than the limit (HTTP %ld)",
                         strlen(url), status);
    refs_status checked = refs_redirect__check(transfer->url_now, url, err);
    if (checked == REFS_OK && !transfer->rules.allow_link_local) {
        checked = refs_redirect__confine(transfer->url_now, url, err);
        transfer->is_led_astray = checked != REFS_OK;
    }
    if (checked != REFS_OK && err != NULL) {
        size_t size = strlen(err->message);
        snprintf(err->message + size, sizeof err->message - size, " (HTTP %ld)", status);
    }
    if (checked != REFS_OK) return checked;
    char *next = refs_redirect__with_user(transfer->url_now, url);
    return next != NULL ? go_to(transfer, next, err) : refs_fail_nomem(err);
}

/* A retry starts over at the first URL: redirects may lead elsewhere by then. */
void refs_transfer__start_over(refs_transfer *transfer) {
    if (transfer->n_redirects == 0) return;
    char *url = refs_str_copy(refs_str_from(transfer->url));
    transfer->n_redirects = 0;
    if (url != NULL) (void)go_to(transfer, url, NULL);
}

/* -- attempts ---------------------------------------------------------------------------------- */

/* Each attempt has a handle of its own: libcurl before 8 keeps a pointer to the last header of the
 * previous request, which is freed by then, and uses it if an answer begins with a folded line. If
 * memory for a new handle runs out, the old one is used. */
static void renew(const refs_transfer *transfer, CURL **handle) {
    CURL *fresh = curl_easy_duphandle(*handle);
    if (fresh == NULL) return;
    refs_cookies__use(transfer->cookies, fresh);
    curl_easy_cleanup(*handle);
    *handle = fresh;
}

static void renew_current(refs_transfer *transfer) {
    bool is_cross = transfer->current == transfer->cross_easy;
    renew(transfer, is_cross ? &transfer->cross_easy : &transfer->easy);
    transfer->current = is_cross ? transfer->cross_easy : transfer->easy;
}

static void set_needs(refs_transfer *transfer, uint64_t needs) {
    if (transfer->kind != REFS_TRANSFER_WHOLE) return;
    REFS_LOCKED(&transfer->waiter->lock);
    transfer->needs = needs;
}

/* Requests the bytes that are still missing. */
static void set_range(const refs_transfer *transfer) {
    const bool is_whole = transfer->kind == REFS_TRANSFER_WHOLE;
    const unsigned long long begin = transfer->offset + transfer->got_before;
    const unsigned long long last =
        transfer->kind == REFS_TRANSFER_STAMP ? 0 : transfer->offset + transfer->length - 1;
    char range[64];
    if (is_whole)
        snprintf(range, sizeof range, "%llu-", begin);
    else
        snprintf(range, sizeof range, "%llu-%llu", begin, last);
    curl_easy_setopt(transfer->current, CURLOPT_RANGE, is_whole && begin == 0 ? NULL : range);
}

void refs_transfer__begin_attempt(refs_transfer *transfer) {
    transfer->checked = transfer->refused = transfer->ranges_ignored = false;
    transfer->response = (refs_response){0};
    transfer->curl_text[0] = '\0';
    transfer->skip = transfer->skipped = transfer->refusal_bytes = transfer->header_bytes = 0;
    transfer->got_before = atomic_load(&transfer->got);
    transfer->paused_ms = 0;
    transfer->is_held_back = false;
    set_needs(transfer, 0);
    if (transfer->n_requests > 0) renew_current(transfer);
    transfer->n_requests++;
    refs_http_handle_guard(transfer->current, &transfer->rules, transfer->url_now, &transfer->gate);
    set_range(transfer);
}

static bool is_listed(const char *codes, long status) {
    char number[24];
    snprintf(number, sizeof number, "%ld", status);
    return strcasecmp(codes, "ALL") == 0 ? status >= 400 : strstr(codes, number) != NULL;
}

/* Whether a retry may help: after Too Early, Too Many Requests, and failures of servers and
 * gateways, except those that a retry cannot change (501, 505, 511). */
static bool is_transient_status(const refs_transfer *transfer, long status) {
    if (transfer->rules.retry_codes != NULL) return is_listed(transfer->rules.retry_codes, status);
    return status == 408 || status == 425 || status == 429 ||
           (status >= 500 && status != 501 && status != 505 && status != 511);
}

static bool is_transient_code(CURLcode code) {
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

bool refs_transfer__is_unreachable(const refs_transfer *transfer, CURLcode code) {
    curl_off_t connected_us = 0;
    if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT) return true;
    curl_easy_getinfo(transfer->current, CURLINFO_CONNECT_TIME_T, &connected_us);
    return code == CURLE_OPERATION_TIMEDOUT && connected_us == 0;
}

bool refs_transfer__has_no_server(const refs_transfer *transfer, CURLcode code) {
    long number = 0;
    if (code == CURLE_COULDNT_RESOLVE_HOST) return true;
    return code == CURLE_COULDNT_CONNECT &&
           curl_easy_getinfo(transfer->current, CURLINFO_OS_ERRNO, &number) == CURLE_OK &&
           number == ECONNREFUSED;
}

/* Finds an element, such as the error code, in the body with which an object store refuses a
 * request. */
static void element_of(const refs_transfer *transfer, const char *name, char *text, size_t size) {
    uint64_t kept = transfer->refusal_bytes;
    if (kept > REFS_REFUSAL_TEXT_BYTES) kept = REFS_REFUSAL_TEXT_BYTES;
    if (transfer->refusal_text == NULL) kept = 0;
    refs_response__element(refs_str_view(transfer->refusal_text, (size_t)kept), name, text, size);
}

static const char *login_advice(const refs_transfer *transfer) {
    if (refs_transfer__login_key(transfer) == 0) return NULL;
    return refs_login__advice(&transfer->login.login, transfer->netrc, transfer->url_now);
}

static refs_status fail_status(const refs_transfer *transfer, long status, refs_error *err) {
    const refs_vfs_validators *validators = &transfer->response.validators;
    const refs_http_provider *provider = transfer->provider;
    if (status == 416 && validators->has_size && transfer->kind == REFS_TRANSFER_RANGE &&
        validators->size < transfer->offset + transfer->length) {
        (void)refs_fetch__fail_short(validators->size, transfer->offset, transfer->length, err);
        refs_error_prefix(err, "HTTP %ld", status);
        return REFS_CHANGED;
    }
    char check[256];
    const char *advice = NULL;
    if (status == 404 || status == 410) {
        const bool has_way = transfer->moved != NULL;
        snprintf(check, sizeof check, "check the URL%s%s", has_way ? "; where files moved, " : "",
                 has_way ? transfer->moved : "");
        advice = check;
    }
    char code[64];
    element_of(transfer, "Code", code, sizeof code);
    bool has_no_bucket = status == 404 && strcmp(code, REFS_NO_BUCKET) == 0;
    const char *of_login = status == 401 || status == 403 ? login_advice(transfer) : NULL;
    if (of_login != NULL) {
        advice = of_login;
    } else if ((status == 401 || status == 403 || has_no_bucket) && provider->advice != NULL) {
        const char *provided = provider->advice(provider->self, transfer->location, status);
        if (provided != NULL) advice = provided;
    }
    const bool is_forbidden = status == 401 || status == 403 || status == 407;
    return refs_fail(err, is_forbidden ? REFS_FORBIDDEN : REFS_IO, "HTTP %ld%s%s%s%s%s", status,
                     code[0] != '\0' ? " " : "", code, advice != NULL ? " (" : "",
                     advice != NULL ? advice : "", advice != NULL ? ")" : "");
}

uint64_t refs_transfer__login_key(const refs_transfer *transfer) {
    if (transfer->rules.is_signed || refs_redirect__is_signed(transfer->url_now)) return 0;
    return refs_login__key(&transfer->login.login, transfer->netrc, transfer->url_now);
}

bool refs_transfer__has_token(const refs_transfer *transfer) {
    return refs_login__part(&transfer->login.login, transfer->url_now) == REFS_LOGIN_TOKEN;
}

void refs_transfer__refuse_login(refs_transfer *transfer) {
    transfer->status = 401;
    transfer->refusal_bytes = 0;
    (void)fail_status(transfer, 401, &transfer->error);
}

static refs_status fail_code(const refs_transfer *transfer, CURLcode code, long status,
                             refs_error *err) {
    const char *text = transfer->curl_text;
    /* With this code, the text may say how the connection ended instead of why the certificate was
     * refused. */
    bool is_other = code == CURLE_PEER_FAILED_VERIFICATION && strstr(text, "certificate") == NULL;
    if (*text == '\0' || is_other) text = curl_easy_strerror(code);
    /* GnuTLS names the file of trusted certificates, which may be one in memory: the message leaves
     * the name out. */
    const char *file = strstr(text, "CAfile: ");
    while (file != NULL && file > text && strchr(" (", file[-1]) != NULL) file--;
    int size = (int)(file != NULL ? (size_t)(file - text) : strlen(text));
    const refs_http_provider *provider = transfer->provider;
    const char *advice =
        status == 0 && provider->advice != NULL && refs_transfer__has_no_server(transfer, code)
            ? provider->advice(provider->self, transfer->location, 0)
            : NULL;
    if (advice != NULL) return refs_fail(err, REFS_IO, "%.*s (%s)", size, text, advice);
    return status > 0 ? refs_fail(err, REFS_IO, "%.*s (HTTP %ld)", size, text, status)
                      : refs_fail(err, REFS_IO, "%.*s", size, text);
}

/* Judges an answer that ended as announced: the only possible fault is that it is too short. */
static refs_status judge_end(refs_transfer *transfer, long status, refs_error *err) {
    if (!transfer->checked) { /* no byte came: report what its headers say */
        transfer->checked = true;
        transfer->refused = refs_transfer__check_response(transfer, err) != REFS_OK;
        if (transfer->refused) return REFS_IO;
    }
    uint64_t got = atomic_load(&transfer->got);
    if (transfer->kind != REFS_TRANSFER_RANGE || got == transfer->length) return REFS_OK;
    if (status == 200)
        return refs_fail(err, REFS_IO,
                         "the answer ends at byte %llu, before the end of the range (HTTP 200)",
                         (unsigned long long)(transfer->skipped + got - transfer->got_before));
    return refs_fail(err, REFS_IO, "truncated: %llu of %llu bytes arrived (HTTP %ld)",
                     (unsigned long long)got, (unsigned long long)transfer->length, status);
}

/* Judges an attempt that ended. Its failure, if any, is then in `error`. */
static void judge(refs_transfer *transfer, CURLcode code, long status) {
    refs_error *err = &transfer->error;
    if (transfer->refused || refs_transfer__is_complete(transfer)) return;
    transfer->refused = refs_http_gate_result(&transfer->gate, code, err) != REFS_OK;
    if (transfer->refused) return;
    bool answered = code == CURLE_OK || code == CURLE_PARTIAL_FILE || code == CURLE_WRITE_ERROR;
    if (status >= 300 && answered)
        (void)fail_status(transfer, status, err);
    else if (code != CURLE_OK)
        (void)fail_code(transfer, code, status, err);
    else
        (void)judge_end(transfer, status, err);
}

/* Whether a failure of a kind that is usually transient is transient: not a proxy that refuses the
 * login, nor a certificate whose key cannot be read. */
static bool may_change(const refs_transfer *transfer, CURLcode code) {
    long proxy_status = 0;
    curl_easy_getinfo(transfer->current, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
    if (proxy_status >= 300) return is_transient_status(transfer, proxy_status);
    return code != CURLE_SSL_CONNECT_ERROR ||
           strstr(transfer->curl_text, "error reading X.509") == NULL;
}

static bool may_retry(refs_transfer *transfer, CURLcode code, long status) {
    uint64_t brought = atomic_load(&transfer->got) - transfer->got_before;
    bool short_range = code == CURLE_OK && status == 206;
    bool transient = status >= 300 ? is_transient_status(transfer, status)
                                   : is_transient_code(code) || short_range;
    if (code != CURLE_OK && !may_change(transfer, code)) transient = false;
    if (transfer->refused || transfer->is_host_down || !transient) return false;
    if (brought >= PROGRESS_BYTES &&
        (transfer->kind == REFS_TRANSFER_RANGE || refs_transfer__can_resume(transfer)))
        transfer->n_failures = 0;
    if (transfer->paused_ms >= PAUSED_LONG_MS) transfer->n_failures = 0;
    unsigned most = transfer->rules.max_retries;
    if (refs_origin__is_refusal(status) && transfer->others_came && most > 0 &&
        transfer->n_refusals++ < REFUSALS_PER_RETRY * most)
        transfer->n_failures = 0;
    if (transfer->is_connection_refused && most > MAX_RETRIES_OF_REFUSED)
        most = MAX_RETRIES_OF_REFUSED;
    return transfer->n_failures++ < most;
}

/* A number that differs for each attempt. */
static uint64_t hash(const refs_transfer *transfer) {
    uint64_t mixed = (uint64_t)(uintptr_t)transfer ^ (transfer->began_us << 16);
    return (mixed * 0x9e3779b97f4a7c15u) >> 32;
}

/* Jitter: up to half of the delay is added, so that requests that failed together are not repeated
 * together. */
static uint64_t delay_of(const refs_transfer *transfer) {
    unsigned doublings = transfer->n_failures < 11 ? transfer->n_failures : 11;
    uint64_t delay_ms = (uint64_t)transfer->rules.retry_delay_ms
                        << (doublings > 0 ? doublings - 1 : 0);
    delay_ms += delay_ms * (hash(transfer) % 512) / 1024;
    return transfer->response.retry_after_ms > delay_ms ? transfer->response.retry_after_ms
                                                        : delay_ms;
}

/* Whether an attempt brought a part of the range, as it announced. */
static bool brought_part(const refs_transfer *transfer, CURLcode code, long status) {
    return transfer->kind == REFS_TRANSFER_RANGE && code == CURLE_OK && status == 206 &&
           !transfer->refused &&
           atomic_load(&transfer->got) - transfer->got_before >= (uint64_t)PART_BYTES;
}

static void ask_for_rest(refs_transfer *transfer) {
    transfer->n_failures = 0;
    refs_error_clear(&transfer->error);
    refs_transfer__start_over(transfer);
}

/* Whether to retry after a failed attempt. */
static bool try_again(refs_transfer *transfer, CURLcode code, long status, uint64_t *delay_ms) {
    bool again = may_retry(transfer, code, status);
    uint64_t asked_ms = transfer->response.retry_after_ms;
    if (again && asked_ms > REFS_HTTP_MAX_RETRY_AFTER_MS) {
        refs_error_prefix(&transfer->error, "the server requests a retry after %llu s",
                          (unsigned long long)(asked_ms / 1000));
        again = false;
    }
    if (!again && transfer->n_failures > 1)
        refs_error_prefix(&transfer->error, "after %u attempts", transfer->n_requests);
    if (!again) return false;
    *delay_ms = delay_of(transfer);
    if (transfer->kind == REFS_TRANSFER_WHOLE && !refs_transfer__can_resume(transfer))
        atomic_store(&transfer->got, 0);
    refs_error_clear(&transfer->error);
    refs_transfer__start_over(transfer);
    return true;
}

/* Whether the rest of a whole object cannot be requested as a range: it is then fetched again from
 * its beginning, once. */
static bool is_rest_refused(const refs_transfer *transfer, long status) {
    return transfer->kind == REFS_TRANSFER_WHOLE && transfer->got_before > 0 &&
           transfer->postponed == 0 && (transfer->refused || status == 416);
}

static void start_over(refs_transfer *transfer) {
    transfer->is_rest_refused = true;
    atomic_store(&transfer->got, 0);
    refs_error_clear(&transfer->error);
    refs_transfer__start_over(transfer);
}

static void note_region(refs_transfer *transfer) {
    memcpy(transfer->region, transfer->response.region, sizeof transfer->region);
    if (transfer->region[0] == '\0')
        element_of(transfer, "Region", transfer->region, sizeof transfer->region);
}

bool refs_transfer__is_signature_refused(const refs_transfer *transfer) {
    long status = transfer->status;
    return transfer->error.status != REFS_OK && transfer->rules.is_signed &&
           (status == 301 || status == 400 || status == 403);
}

bool refs_transfer__report_answer(const refs_transfer *transfer, unsigned n_refused) {
    const refs_http_provider *provider = transfer->provider;
    const refs_http_signed_answer answer = {transfer->status, transfer->region, n_refused};
    if (!transfer->rules.is_signed) return false;
    if (provider->signed_answer == NULL) return answer.status == 403 && n_refused == 1;
    return provider->signed_answer(provider->self, transfer->location, &answer);
}

bool refs_transfer__end_attempt(refs_transfer *transfer, CURLcode code, uint64_t *delay_ms) {
    long status = transfer->status = refs_transfer__status(transfer);
    note_region(transfer);
    if (refs_redirect__is_one(status) && !is_transient_code(code)) {
        *delay_ms = 0;
        return follow(transfer, status, &transfer->error) != REFS_OK;
    }
    judge(transfer, code, status);
    if (transfer->error.status == REFS_OK) return true;
    if (brought_part(transfer, code, status)) {
        *delay_ms = 0;
        ask_for_rest(transfer);
        return false;
    }
    if (is_rest_refused(transfer, status)) {
        *delay_ms = 0;
        start_over(transfer);
        return false;
    }
    return !try_again(transfer, code, status, delay_ms);
}

static void release_cookies(refs_transfer *transfer) {
    if (transfer->first_cookies != NULL)
        refs_http__release_cookies(transfer->http, transfer->first_cookies);
    if (transfer->tls_cookies != NULL)
        refs_http__release_cookies(transfer->http, transfer->tls_cookies);
    transfer->cookies = transfer->first_cookies = transfer->tls_cookies = NULL;
}

void refs_transfer__clear(refs_transfer *transfer) {
    refs_fork_hold_off();
    if (transfer->cross_easy != NULL) curl_easy_cleanup(transfer->cross_easy);
    if (transfer->easy != NULL) curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->cross_headers);
    curl_slist_free_all(transfer->headers);
    refs_fork_allow();
    release_cookies(transfer);
    refs_free(transfer->refusal_text);
    refs_free(transfer->retry_codes);
    refs_login__clear(&transfer->login);
    refs_free(transfer->url_now);
    refs_free(transfer->url);
    refs_block_release(transfer->block);
    if (transfer->reserved > 0)
        refs_waiter__give_back(transfer->waiter, (size_t)transfer->reserved);
    transfer->reserved = 0;
    transfer->easy = transfer->cross_easy = transfer->current = NULL;
    transfer->headers = transfer->cross_headers = NULL;
    transfer->url = transfer->url_now = transfer->retry_codes = transfer->refusal_text = NULL;
    transfer->block = NULL;
}

void refs_transfer__finish(refs_transfer *transfer) {
    refs_waiter *waiter = transfer->waiter;
    REFS_LOCKED(&waiter->lock);
    transfer->done = true;
    transfer->needs = 0;
    pthread_cond_broadcast(&waiter->moved);
}
