/* handle.c -- settings of requests, see cloud_internal.h. Their names and meanings are GDAL's, so
 * that programs with and without GDAL are configured alike. */
#include <curl/curl.h>
#include <stdio.h>
#include <strings.h>

#include "cloud_internal.h"
#include "refs/earthdata.h"
#include "refs/http/origin.h"
#include "refs/url.h"
#include "refs/vfs.h"

#define MAX_HEADER_FILE_BYTES REFS_MIB

static const char *get(const refs_settings *settings, const char *name) {
    return refs_settings__get(settings, name);
}

/* -- rules ------------------------------------------------------------------------------------- */

unsigned refs_cloud__ms(double seconds) {
    return seconds < INT32_MAX / 1000.0 ? (unsigned)(1000 * seconds) : INT32_MAX;
}

static unsigned in_ms(const refs_settings *settings, const char *name, unsigned otherwise_ms) {
    return refs_cloud__ms(refs_settings__number(settings, name, otherwise_ms / 1000.0));
}

static void set_auth(const refs_settings *settings, refs_http_auth *auth) {
    const char *const authorities[] = {"GDAL_CURL_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
                                       NULL};
    const char *const netrc[] = {"GDAL_HTTP_NETRC_FILE", "NETRC", NULL};
    const char *kind = get(settings, "GDAL_HTTP_AUTH");
    /* As in GDAL, a token is only sent if the setting says so. */
    if (kind != NULL ? strcasecmp(kind, "BEARER") == 0 : settings->application == NULL)
        auth->bearer = get(settings, "GDAL_HTTP_BEARER");
    auth->netrc_file = refs_settings__first(settings, netrc);
    auth->certificate = get(settings, "GDAL_HTTP_SSLCERT");
    auth->certificate_type = get(settings, "GDAL_HTTP_SSLCERTTYPE");
    auth->key = get(settings, "GDAL_HTTP_SSLKEY");
    auth->key_password = get(settings, "GDAL_HTTP_KEYPASSWD");
    auth->authorities = refs_settings__first(settings, authorities);
    auth->authority_folder = get(settings, "GDAL_HTTP_CAPATH");
}

static const char *look_up(const void *settings, const char *name) {
    return get(settings, name);
}

static refs_setting_lookup lookup_in(const refs_settings *settings) {
    return (refs_setting_lookup){look_up, settings};
}

static refs_http_login login_of(const refs_settings *settings, const char *location) {
    const refs_setting_lookup lookup = lookup_in(settings);
    return refs_earthdata_login(&lookup, location);
}

const char *refs_cloud__login_advice(const refs_settings *settings, const char *location) {
    refs_http_login login = login_of(settings, location);
    return refs_earthdata_advice(&login, location);
}

uint64_t refs_cloud__access_number(const refs_settings *settings) {
    const refs_setting_lookup lookup = lookup_in(settings);
    return refs_identity_setting_number(&lookup);
}

uint64_t refs_cloud__bucket_number(const refs_settings *settings) {
    const refs_setting_lookup lookup = lookup_in(settings);
    return refs_identity_bucket_number(&lookup);
}

refs_status refs_cloud__check_identity(const refs_settings *settings, refs_error *err) {
    const refs_setting_lookup lookup = lookup_in(settings);
    return refs_identity_check(&lookup, err);
}

void refs_cloud__set_rules(const refs_settings *settings, const char *location,
                           refs_http_rules *rules) {
    const refs_setting_lookup lookup = lookup_in(settings);
    rules->max_retries =
        (unsigned)refs_settings__number(settings, "GDAL_HTTP_MAX_RETRY", rules->max_retries);
    rules->retry_delay_ms = in_ms(settings, "GDAL_HTTP_RETRY_DELAY", rules->retry_delay_ms);
    rules->stall_ms = in_ms(settings, "REFS_HTTP_STALL", rules->stall_ms);
    rules->retry_codes = get(settings, "GDAL_HTTP_RETRY_CODES");
    rules->trust_redirects =
        refs_settings__is_on(settings, "CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT");
    rules->allow_link_local = refs_settings__is_on(settings, REFS_REMOTE_TO_LOCAL);
    rules->credentials = refs_identity_number(&lookup);
    rules->cookie_file = get(settings, "GDAL_HTTP_COOKIEFILE");
    rules->cookie_jar = get(settings, "GDAL_HTTP_COOKIEJAR");
    set_auth(settings, &rules->auth);
    rules->login = login_of(settings, location);
}

/* -- options of libcurl ------------------------------------------------------------------------ */

/* Strings that are passed to libcurl unchanged. */
static const struct {
    const char *setting;
    CURLoption option;
} strings[] = {{"GDAL_HTTP_USERPWD", CURLOPT_USERPWD},
               {"GDAL_HTTP_PROXY", CURLOPT_PROXY},
               {"GDAL_HTTP_PROXYUSERPWD", CURLOPT_PROXYUSERPWD},
               {"GDAL_HTTP_USERAGENT", CURLOPT_USERAGENT},
               {"GDAL_HTTP_COOKIE", CURLOPT_COOKIE}};

/* Fails if libcurl rejected a setting: without it, requests would go elsewhere or have another
 * content. */
static refs_status check_set(CURLcode code, const char *name, refs_error *err) {
    if (code == CURLE_OK) return REFS_OK;
    if (code == CURLE_OUT_OF_MEMORY) return refs_fail_nomem(err);
    return refs_fail(err, REFS_INVALID, "%s: rejected by libcurl: %s", name,
                     curl_easy_strerror(code));
}

static refs_status set_value(const refs_settings *settings, const char *name, CURL *easy,
                             CURLoption option, refs_error *err) {
    const char *text = get(settings, name);
    if (text == NULL) return REFS_OK;
    REFS_SCOPED char *value = refs_str_copy(refs_identity_value(text));
    if (value == NULL) return refs_fail_nomem(err);
    return check_set(curl_easy_setopt(easy, option, value), name, err);
}

static const struct {
    const char *name;
    unsigned long bits;
} authentications[] = {{"BASIC", CURLAUTH_BASIC}, {"DIGEST", CURLAUTH_DIGEST},
                       {"NTLM", CURLAUTH_NTLM},   {"NEGOTIATE", CURLAUTH_NEGOTIATE},
                       {"ANY", CURLAUTH_ANY},     {"ANYSAFE", CURLAUTH_ANYSAFE}};

static refs_status set_authentication(const refs_settings *settings, const char *name, CURL *easy,
                                      CURLoption option, refs_error *err) {
    const char *kind = get(settings, name);
    for (size_t i = 0; kind != NULL && i < sizeof authentications / sizeof authentications[0]; i++)
        if (strcasecmp(kind, authentications[i].name) == 0)
            REFS_TRY(check_set(curl_easy_setopt(easy, option, (long)authentications[i].bits), name,
                               err));
    return REFS_OK;
}

static refs_status set_seconds(const refs_settings *settings, const char *name, CURL *easy,
                               CURLoption option, refs_error *err) {
    if (get(settings, name) == NULL) return REFS_OK;
    return check_set(curl_easy_setopt(easy, option, (long)in_ms(settings, name, 0)), name, err);
}

static refs_status set_unsafe(CURL *easy, refs_error *err) {
    static const char *const name = "GDAL_HTTP_UNSAFESSL";
    REFS_TRY(check_set(curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L), name, err));
    return check_set(curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L), name, err);
}

static refs_status append_header(refs_str header, void **headers, refs_error *err) {
    header = refs_str_trim(header, " \t\r\n\"");
    if (header.size == 0) return REFS_OK;
    REFS_SCOPED char *text = refs_str_copy(header);
    struct curl_slist *longer = text != NULL ? curl_slist_append(*headers, text) : NULL;
    if (longer != NULL) *headers = longer;
    return longer != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* Parses "Name: value,Name: value"; a comma in quotes does not separate. */
static refs_status append_headers(const char *list, void **headers, refs_error *err) {
    bool is_quoted = false;
    for (const char *begin = list, *c = list; begin != NULL; c++) {
        if (*c == '"') is_quoted = !is_quoted;
        if (*c != '\0' && (*c != ',' || is_quoted)) continue;
        REFS_TRY(append_header(refs_str_view(begin, (size_t)(c - begin)), headers, err));
        begin = *c != '\0' ? c + 1 : NULL;
    }
    return REFS_OK;
}

static refs_status append_header_file(const char *file, void **headers, refs_error *err) {
    REFS_SCOPED_BUF content = REFS_BUF_INIT;
    if (file == NULL) return REFS_OK;
    refs_status status =
        refs_vfs_read_whole(refs_vfs_posix(), file, MAX_HEADER_FILE_BYTES, &content, err);
    if (status != REFS_OK) refs_error_prefix(err, "GDAL_HTTP_HEADER_FILE");
    refs_str text = refs_buf_text(&content);
    while (text.size > 0 && status == REFS_OK) {
        size_t end = refs_str_find(text, '\n');
        status = append_header(refs_str_part(text, 0, end), headers, err);
        text = refs_str_part(text, end == SIZE_MAX ? text.size : end + 1, text.size);
    }
    return status == REFS_NOT_FOUND ? REFS_IO : status;
}

void refs_cloud__set_connect_timeout(const refs_settings *settings, double seconds, void *easy) {
    if (seconds > 0 && get(settings, "GDAL_HTTP_CONNECTTIMEOUT") == NULL)
        (void)curl_easy_setopt((CURL *)easy, CURLOPT_CONNECTTIMEOUT_MS,
                               (long)refs_cloud__ms(seconds));
}

static refs_status set_up(const refs_settings *settings, const char *url, CURL *easy,
                          void **headers, refs_error *err) {
    /* A failure is harmless: without HTTP 2, libcurl uses 1.1. */
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    REFS_TRY(check_set(curl_easy_setopt(easy, CURLOPT_USERAGENT, "refs/" REFS_VERSION),
                       "User-Agent", err));
    REFS_TRY(
        check_set(curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L), /* the path as it was signed */
                  "CURLOPT_PATH_AS_IS", err));
    if (!refs_settings__is_off(settings, "GDAL_HTTP_NETRC"))
        REFS_TRY(check_set(curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL),
                           "GDAL_HTTP_NETRC", err));
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        REFS_TRY(set_value(settings, strings[i].setting, easy, strings[i].option, err));
    if (refs_url_is_tls(url))
        REFS_TRY(set_value(settings, "GDAL_HTTPS_PROXY", easy, CURLOPT_PROXY, err));
    REFS_TRY(set_authentication(settings, "GDAL_HTTP_AUTH", easy, CURLOPT_HTTPAUTH, err));
    REFS_TRY(set_authentication(settings, "GDAL_PROXY_AUTH", easy, CURLOPT_PROXYAUTH, err));
    REFS_TRY(
        set_seconds(settings, "GDAL_HTTP_CONNECTTIMEOUT", easy, CURLOPT_CONNECTTIMEOUT_MS, err));
    REFS_TRY(set_seconds(settings, "GDAL_HTTP_TIMEOUT", easy, CURLOPT_TIMEOUT_MS, err));
    if (refs_settings__is_on(settings, "GDAL_HTTP_UNSAFESSL")) REFS_TRY(set_unsafe(easy, err));
    REFS_TRY(append_headers(get(settings, "GDAL_HTTP_HEADERS"), headers, err));
    return append_header_file(get(settings, "GDAL_HTTP_HEADER_FILE"), headers, err);
}

refs_status refs_cloud__prepare(const refs_settings *settings, const refs_http_object *object,
                                void *easy, void **headers, refs_error *err) {
    const refs_application *application = settings->application;
    if (application == NULL || application->prepare == NULL)
        return set_up(settings, object->url, easy, headers, err);
    return application->prepare(application->self, object, easy, headers, err);
}
