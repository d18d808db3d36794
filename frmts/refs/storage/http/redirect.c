/* redirect.c -- see http/redirect.h. */
#include "http/redirect.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#include "http/origin.h"
#include "refs/url.h"

bool refs_redirect__is_one(long status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* That before the first colon. */
static refs_str scheme_of(const char *url) {
    const size_t size = strcspn(url, ":/?#");
    return refs_str_view(url, url[size] == ':' ? size : 0);
}

refs_status refs_redirect__check(const char *from, const char *to, refs_error *err) {
    refs_origin origin, home;
    if (!refs_origin_of(to, &origin))
        return refs_fail(err, REFS_IO, "redirect rejected: it leads to the scheme \"%.*s\"",
                         REFS_STR_ARG(scheme_of(to)));
    /* libcurl may go by TLS to a URL that is no origin, such as https:///host */
    if (!refs_origin_is_tls(&origin) && (!refs_origin_of(from, &home) || refs_origin_is_tls(&home)))
        return refs_fail(err, REFS_IO, "redirect rejected: it leads from https to http");
    return REFS_OK;
}

refs_status refs_redirect__confine(const char *from, const char *to, refs_error *err) {
    if (!refs_location_is_link_local(refs_str_from(to)) ||
        refs_location_is_link_local(refs_str_from(from)))
        return REFS_OK;
    return refs_fail(err, REFS_IO,
                     "redirect rejected: it leads to a link-local address, which is allowed only "
                     "if " REFS_REMOTE_TO_LOCAL " is YES");
}

bool refs_redirect__same_origin(const char *one, const char *other) {
    refs_origin first, second;
    (void)refs_origin_of(one, &first);
    (void)refs_origin_of(other, &second);
    return refs_origin_is_same(&first, &second);
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

static CURLU *parse(const char *text) {
    CURLU *url = curl_url();
    if (url != NULL && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK) return url;
    curl_url_cleanup(url);
    return NULL;
}

static char *part_of(CURLU *url, CURLUPart part) {
    char *text = NULL;
    return curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
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
        joined = part_of(after, CURLUPART_URL);
    }
    text = refs_str_copy(refs_str_from(joined != NULL ? joined : to));
    curl_free(user);
    curl_free(joined);
    curl_url_cleanup(before);
    curl_url_cleanup(after);
    return text;
}
