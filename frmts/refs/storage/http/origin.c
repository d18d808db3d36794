/* origin.c -- see http/origin.h. */
#include "http/origin.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

/* Copies a part in small letters; false where it is missing, or too long. */
static bool copy_part(CURLU *url, CURLUPart part, char *copy, size_t size) {
    char *text = NULL;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return false;
    const size_t length = strlen(text);
    const bool fits = length > 0 && length < size;
    for (size_t i = 0; fits && i < length; i++)
        copy[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    curl_free(text);
    return fits;
}

static bool is_http(const refs_origin *origin) {
    return strcmp(origin->scheme, "http") == 0 || refs_origin_is_tls(origin);
}

/* libcurl also takes one slash or three, where other readers of URLs see no host. */
static bool has_two_slashes(const char *text) {
    const char *colon = strchr(text, ':');
    return colon != NULL && strncmp(colon, "://", 3) == 0 && colon[3] != '/';
}

bool refs_origin_of(const char *text, refs_origin *origin) {
    CURLU *url = curl_url();
    *origin = (refs_origin){.scheme = ""};
    const bool is_one =
        url != NULL && has_two_slashes(text) &&
        curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
        copy_part(url, CURLUPART_SCHEME, origin->scheme, sizeof origin->scheme) &&
        copy_part(url, CURLUPART_HOST, origin->host, sizeof origin->host) &&
        copy_part(url, CURLUPART_PORT, origin->port, sizeof origin->port) && is_http(origin);
    curl_url_cleanup(url);
    if (!is_one) *origin = (refs_origin){.scheme = ""};
    return is_one;
}

bool refs_origin_of_authority(refs_str authority, refs_origin *origin) {
    char url[sizeof "https://" + sizeof origin->host + sizeof origin->port];
    *origin = (refs_origin){.scheme = ""};
    if (authority.size > sizeof url - sizeof "https://") return false;
    for (size_t i = 0; i < authority.size; i++)
        if (authority.data[i] == '\0' || strchr("/?#@\\", authority.data[i]) != NULL) return false;
    snprintf(url, sizeof url, "https://%.*s", REFS_STR_ARG(authority));
    return refs_origin_of(url, origin);
}

bool refs_origin_is_same(const refs_origin *one, const refs_origin *other) {
    return one->scheme[0] != '\0' && memcmp(one, other, sizeof *one) == 0;
}

bool refs_origin_is_tls(const refs_origin *origin) {
    return strcmp(origin->scheme, "https") == 0;
}

bool refs_url_is_tls(const char *url) {
    refs_origin origin;
    return refs_origin_of(url, &origin) && refs_origin_is_tls(&origin);
}

refs_status refs_origin_append_authority(const refs_origin *origin, refs_buf *authority,
                                         refs_error *err) {
    const char *usual = refs_origin_is_tls(origin) ? "443" : "80";
    const bool is_usual = strcmp(origin->port, usual) == 0;
    return refs_buf_printf(authority, err, "%s%s%s", origin->host, is_usual ? "" : ":",
                           is_usual ? "" : origin->port);
}
