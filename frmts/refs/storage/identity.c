/* identity.c -- see identity.h. */
#include "identity.h"

#include <strings.h>

#include "refs/lookup3.h"
#include "refs/same_file.h"
#include "refs/vfs.h"

static const char *const names[] = {"GDAL_HTTP_USERPWD",
                                    "GDAL_HTTP_BEARER",
                                    "GDAL_HTTP_HEADERS",
                                    "GDAL_HTTP_HEADER_FILE",
                                    "GDAL_HTTP_NETRC",
                                    "GDAL_HTTP_NETRC_FILE",
                                    "NETRC",
                                    "GDAL_HTTP_COOKIE",
                                    "GDAL_HTTP_SSLCERT",
                                    "GDAL_HTTP_COOKIEFILE",
                                    "EARTHDATA_TOKEN",
                                    "EARTHDATA_USERNAME",
                                    "EARTHDATA_PASSWORD"};

/* The other settings that decide who reads, and from which server: names are GDAL's, whose
 * documentation of its network file systems lists them. */
static const char *const store_names[] = {
    "GDAL_HTTP_AUTH", "GDAL_HTTP_SSLKEY", "GDAL_HTTP_PROXYUSERPWD", "REFS_TOKEN_URL",
    "EARTHDATA_HOSTS", "EARTHDATA_LOGIN_HOST",
    /* S3 */
    "AWS_NO_SIGN_REQUEST", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
    "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
    "CPL_AWS_CREDENTIALS_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_EXTERNAL_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_HTTPS", "AWS_VIRTUAL_HOSTING", "AWS_REQUEST_PAYER",
    /* Google */
    "GS_NO_SIGN_REQUEST", "GS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY", "GS_USER_PROJECT",
    "GS_OAUTH2_REFRESH_TOKEN", "GS_OAUTH2_CLIENT_ID", "GS_OAUTH2_CLIENT_SECRET",
    "GS_OAUTH2_PRIVATE_KEY", "GS_OAUTH2_PRIVATE_KEY_FILE", "GS_OAUTH2_CLIENT_EMAIL",
    "GS_OAUTH2_SCOPE", "GOOGLE_APPLICATION_CREDENTIALS", "CPL_GS_CREDENTIALS_FILE",
    "CPL_GS_ENDPOINT",
    /* Azure */
    "AZURE_NO_SIGN_REQUEST", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT",
    "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_ACCESS_TOKEN", "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_SAS", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_AUTHORITY_HOST",
    "AZURE_FEDERATED_TOKEN_FILE",
    /* others */
    "OSS_ENDPOINT", "OSS_ACCESS_KEY_ID", "OSS_SECRET_ACCESS_KEY", "SWIFT_STORAGE_URL",
    "SWIFT_AUTH_TOKEN", "SWIFT_AUTH_V1_URL", "SWIFT_USER", "SWIFT_KEY", "OS_AUTH_URL",
    "OS_USERNAME", "OS_PASSWORD", "OS_APPLICATION_CREDENTIAL_ID",
    "OS_APPLICATION_CREDENTIAL_SECRET", "WEBHDFS_USERNAME", "WEBHDFS_DELEGATION"};

/* Names of files whose content identifies the user. Tokens that a cluster renews
 * (AWS_WEB_IDENTITY_…, AZURE_FEDERATED_TOKEN_FILE) say the same in each file. */
static const char *const http_files[] = {"GDAL_HTTP_HEADER_FILE", "GDAL_HTTP_NETRC_FILE", "NETRC",
                                         "GDAL_HTTP_COOKIEFILE"};
static const char *const store_files[] = {
    "AWS_SHARED_CREDENTIALS_FILE", "CPL_AWS_CREDENTIALS_FILE",       "AWS_CONFIG_FILE",
    "GS_OAUTH2_PRIVATE_KEY_FILE",  "GOOGLE_APPLICATION_CREDENTIALS", "CPL_GS_CREDENTIALS_FILE"};

static const char *text_of(const refs_setting_lookup *settings, const char *name) {
    const char *value = settings->get(settings->user, name);
    return value != NULL ? value : "";
}

static uint64_t add_bytes(const void *data, size_t size, uint64_t number) {
    return refs_lookup3_64(refs_bytes_view(data, size), number);
}

static uint64_t add_texts(const refs_setting_lookup *settings, const char *const *list, size_t n,
                          uint64_t number) {
    for (size_t i = 0; i < n; i++) {
        const char *value = text_of(settings, list[i]);
        number = add_bytes(value, strlen(value), number);
    }
    return number;
}

/* Whether requests write the file, too, which then says the same before and after. */
static bool is_jar(const refs_setting_lookup *settings, const char *name, const char *file) {
    const char *jar = text_of(settings, "GDAL_HTTP_COOKIEJAR");
    return strcmp(name, "GDAL_HTTP_COOKIEFILE") == 0 && *jar != '\0' &&
           (strcmp(jar, file) == 0 || refs_is_same_file(jar, file));
}

/* Adds the states of the files that settings name. */
static uint64_t add_files(const refs_setting_lookup *settings, const char *const *list, size_t n,
                          uint64_t number) {
    const refs_vfs *local = refs_vfs_posix();
    for (size_t i = 0; i < n; i++) {
        const char *file = text_of(settings, list[i]);
        refs_vfs_validators is;
        if (*file == '\0' || is_jar(settings, list[i], file) ||
            local->validators(local->self, file, &is, NULL) != REFS_OK)
            continue;
        const int64_t state[] = {(int64_t)is.size,   is.modified_s,     is.modified_ns,
                                 (int64_t)is.device, (int64_t)is.inode, is.changed_s,
                                 is.changed_ns};
        number = add_bytes(state, sizeof state, number);
    }
    return number;
}

#define ALL(list) list, sizeof(list) / sizeof *(list)

uint64_t refs_identity_number(const refs_setting_lookup *settings) {
    return add_files(settings, ALL(http_files), add_texts(settings, ALL(names), 0));
}

uint64_t refs_identity_setting_number(const refs_setting_lookup *settings) {
    return add_texts(settings, ALL(store_names), add_texts(settings, ALL(names), 0));
}

uint64_t refs_identity_access_number(const refs_setting_lookup *settings) {
    const uint64_t number = refs_identity_setting_number(settings);
    return add_files(settings, ALL(store_files), add_files(settings, ALL(http_files), number));
}

static const char *const bucket_names[] = {"AWS_REGION",
                                           "AWS_DEFAULT_REGION",
                                           "AWS_S3_ENDPOINT",
                                           "AWS_ENDPOINT_URL_S3",
                                           "AWS_ENDPOINT_URL",
                                           "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
                                           "AWS_HTTPS",
                                           "AWS_VIRTUAL_HOSTING",
                                           "AWS_PROFILE",
                                           "AWS_DEFAULT_PROFILE",
                                           "AWS_ACCESS_KEY_ID",
                                           "AWS_SECRET_ACCESS_KEY",
                                           "AWS_SESSION_TOKEN",
                                           "AWS_SHARED_CREDENTIALS_FILE",
                                           "AWS_CONFIG_FILE",
                                           "GS_ACCESS_KEY_ID",
                                           "CPL_GS_ENDPOINT",
                                           "AZURE_STORAGE_ACCOUNT",
                                           "AZURE_STORAGE_SAS_TOKEN",
                                           "AZURE_STORAGE_CONNECTION_STRING",
                                           "OSS_ENDPOINT"};

uint64_t refs_identity_bucket_number(const refs_setting_lookup *settings) {
    return add_texts(settings, ALL(bucket_names), 0);
}

/* -- settings that requests contain ------------------------------------------------------------ */

static const char *const texts[] = {"GDAL_HTTP_USERPWD",  "GDAL_HTTP_PROXYUSERPWD",
                                    "GDAL_HTTP_COOKIE",   "GDAL_HTTP_USERAGENT",
                                    "EARTHDATA_USERNAME", "EARTHDATA_PASSWORD"};

static const char *const tokens[] = {"EARTHDATA_TOKEN", "GDAL_HTTP_BEARER"};

refs_str refs_identity_value(const char *text) {
    static const char mark[] = "\xef\xbb\xbf";
    refs_str value = refs_str_from(text != NULL ? text : "");
    if (refs_str_starts(value, mark)) value = refs_str_part(value, sizeof mark - 1, value.size);
    return refs_str_trim(value, "\r\n");
}

refs_str refs_identity_token(const char *text) {
    static const char scheme[] = "Bearer", around[] = " \t\r\n\"'";
    const size_t size = sizeof scheme - 1;
    refs_str token = refs_str_trim(refs_identity_value(text), around);
    if (token.size > size && strncasecmp(token.data, scheme, size) == 0 &&
        (token.data[size] == ' ' || token.data[size] == '\t'))
        token = refs_str_trim(refs_str_part(token, size, token.size), around);
    return token;
}

/* The first control character, or SIZE_MAX; `allowed` is none. */
static size_t find_control(refs_str text, char allowed) {
    for (size_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        if ((c < 0x20 || c == 0x7f) && text.data[i] != allowed) return i;
    }
    return SIZE_MAX;
}

static refs_status fail_control(const char *what, char c, refs_error *err) {
    return refs_fail(err, REFS_IO, "%s has a control character (0x%02x): the request is not sent",
                     what, (unsigned char)c);
}

refs_status refs_identity_check(const refs_setting_lookup *settings, refs_error *err) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const refs_str value = refs_identity_value(settings->get(settings->user, texts[i]));
        const size_t at = find_control(value, '\0');
        if (at != SIZE_MAX) return fail_control(texts[i], value.data[at], err);
    }
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const refs_str value = refs_identity_token(settings->get(settings->user, tokens[i]));
        const size_t at = find_control(value, '\0');
        if (at != SIZE_MAX) return fail_control(tokens[i], value.data[at], err);
        if (refs_str_find(value, ' ') != SIZE_MAX)
            return refs_fail(err, REFS_IO, "%s contains a space: expected a token without spaces",
                             tokens[i]);
    }
    return REFS_OK;
}

refs_status refs_identity_check_header(const char *header, refs_error *err) {
    const refs_str text = refs_str_from(header);
    const size_t at = find_control(text, '\t');
    if (at == SIZE_MAX) return REFS_OK;
    return fail_control("a header of GDAL_HTTP_HEADERS or GDAL_HTTP_HEADER_FILE", text.data[at],
                        err);
}
