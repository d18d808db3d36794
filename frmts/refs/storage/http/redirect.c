/* redirect.c -- see http/redirect.h. URLs are taken apart by libcurl, as it will read them. */
#include "http/redirect.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "refs/url.h"

bool refs_redirect__is_one(long status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* What an origin consists of; members are libcurl's, or NULL. */
typedef struct origin {
    char *scheme, *host, *port;
} origin;

static char *part_of(CURLU *url, CURLUPart part) {
    char *text = NULL;
    return curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text : NULL;
}

static CURLU *parse(const char *text) {
    CURLU *url = curl_url();
    if (url != NULL &&
        curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
        curl_url_cleanup(url);
        return NULL;
    }
    return url;
}

static origin origin_of(const char *text) {
    origin found = {NULL, NULL, NULL};
    CURLU *url = parse(text);
    if (url == NULL) return found;
    found = (origin){part_of(url, CURLUPART_SCHEME), part_of(url, CURLUPART_HOST),
                     part_of(url, CURLUPART_PORT)};
    curl_url_cleanup(url);
    return found;
}

static void origin_clear(origin *cleared) {
    curl_free(cleared->scheme);
    curl_free(cleared->host);
    curl_free(cleared->port);
}

static bool is(const char *text, const char *other) {
    return text != NULL && other != NULL && strcasecmp(text, other) == 0;
}

refs_status refs_redirect__check(const char *from, const char *to, refs_error *err) {
    origin before = origin_of(from), after = origin_of(to);
    refs_status status = REFS_OK;
    if (!is(after.scheme, "http") && !is(after.scheme, "https"))
        status = refs_fail(err, REFS_IO, "a redirect to the scheme \"%s\" is not followed",
                           after.scheme != NULL ? after.scheme : "");
    else if (is(before.scheme, "https") && !is(after.scheme, "https"))
        status = refs_fail(err, REFS_IO, "a redirect from https to http is not followed");
    origin_clear(&before);
    origin_clear(&after);
    return status;
}

refs_status refs_redirect__confine(const char *from, const char *to, refs_error *err) {
    if (!refs_location_is_link_local(refs_str_from(to)) ||
        refs_location_is_link_local(refs_str_from(from)))
        return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "a redirect to a link-local address is not followed unless " REFS_REMOTE_TO_LOCAL
        " is YES");
}

static char *lower(char *text) {
    for (char *c = text; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    return text;
}

char *refs_redirect__origin(const char *url) {
    origin of = origin_of(url);
    char *name = NULL;
    if (of.scheme != NULL && of.host != NULL && of.port != NULL) {
        size_t size = strlen(of.scheme) + strlen(of.host) + strlen(of.port) + sizeof "://:";
        name = refs_alloc(size);
        if (name != NULL) snprintf(name, size, "%s://%s:%s", of.scheme, of.host, of.port);
    }
    origin_clear(&of);
    return name != NULL ? lower(name) : NULL;
}

char *refs_redirect__host(const char *url) {
    origin of = origin_of(url);
    refs_str host = refs_str_from(of.host != NULL ? of.host : "");
    char *name = host.size > 0 ? refs_str_copy(refs_str_trim(host, ".")) : NULL;
    origin_clear(&of);
    return name != NULL ? lower(name) : NULL;
}

bool refs_redirect__same_origin(const char *one, const char *other) {
    origin first = origin_of(one), second = origin_of(other);
    bool same = is(first.scheme, second.scheme) && is(first.host, second.host) &&
                is(first.port, second.port);
    origin_clear(&first);
    origin_clear(&second);
    return same;
}

static bool has_parameter(refs_str query, const char *name) {
    size_t size = strlen(name);
    for (size_t begin = 0, end; begin < query.size; begin += end + 1) {
        refs_str rest = refs_str_part(query, begin, query.size);
        end = refs_str_find(rest, '&');
        if (end == SIZE_MAX) end = rest.size;
        if (end > size && rest.data[size] == '=' && strncasecmp(rest.data, name, size) == 0)
            return true;
    }
    return false;
}

/* Parameters that a signed URL has: of S3 and GCS, version 4; of both, version 2, and CloudFront;
 * of Azure. */
bool refs_redirect__is_signed(const char *url) {
    static const char *const parameters[][2] = {{"X-Amz-Signature", NULL},
                                                {"X-Goog-Signature", NULL},
                                                {"Signature", "Expires"},
                                                {"Signature", "Key-Pair-Id"},
                                                {"Signature", "AWSAccessKeyId"},
                                                {"Signature", "GoogleAccessId"},
                                                {"sig", "sv"}};
    const char *begin = url + strcspn(url, "?#");
    if (*begin != '?') return false;
    refs_str query = refs_str_view(begin + 1, strcspn(begin + 1, "#"));
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (has_parameter(query, parameters[i][0]) &&
            (parameters[i][1] == NULL || has_parameter(query, parameters[i][1])))
            return true;
    return false;
}

static void copy_part(CURLU *from, CURLU *to, CURLUPart part) {
    char *text = part_of(from, part);
    if (text != NULL) curl_url_set(to, part, text, 0);
    curl_free(text);
}

char *refs_redirect__with_user(const char *from, const char *to) {
    char *user = NULL, *joined = NULL, *text = NULL;
    CURLU *before = parse(from), *after = parse(to);
    bool wanted = before != NULL && after != NULL && refs_redirect__same_origin(from, to) &&
                  (user = part_of(after, CURLUPART_USER)) == NULL;
    if (wanted) {
        copy_part(before, after, CURLUPART_USER);
        copy_part(before, after, CURLUPART_PASSWORD);
        if (curl_url_get(after, CURLUPART_URL, &joined, 0) != CURLUE_OK) joined = NULL;
    }
    text = refs_str_copy(refs_str_from(joined != NULL ? joined : to));
    curl_free(user);
    curl_free(joined);
    curl_url_cleanup(before);
    curl_url_cleanup(after);
    return text;
}
