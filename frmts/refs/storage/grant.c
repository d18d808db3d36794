/* grant.c -- see grant.h. */
#include "grant.h"

#include <stdio.h>
#include <strings.h>

#include "http/origin.h"
#include "http/redirect.h"
#include "refs/civil.h"
#include "refs/json.h"
#include "refs/url.h"

void refs_grant_clear(refs_grant *grant) {
    refs_free(grant->token);
    refs_free(grant->access_key);
    refs_free(grant->secret_key);
    refs_free(grant->session_token);
    memset(grant, 0, sizeof *grant);
}

/* -- times ------------------------------------------------------------------------------------- */

/* Parses "2021-01-27 00:50:09+00:00" and "2021-01-27T00:50:09.5Z". */
static bool read_time(const char *text, int64_t *seconds) {
    int year, month, day, hour, minute, second, used = 0;
    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute,
               &second, &used) != 6 ||
        used == 0 || year < 1970 || !refs_is_civil_date(year, month, day))
        return false;
    *seconds = refs_days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    text += used;
    if (*text == '.') text += 1 + strspn(text + 1, "0123456789");
    int east_h = 0, east_m = 0;
    char sign = *text;
    if ((sign == '+' || sign == '-') && sscanf(text + 1, "%2d:%2d", &east_h, &east_m) >= 1)
        *seconds -= (sign == '-' ? -1 : 1) * (east_h * 3600 + east_m * 60);
    return true;
}

static bool read_expiry(const refs_json *value, int64_t *seconds) {
    return refs_json_i64(value, seconds) || (refs_json_kind_of(value) == REFS_JSON_KIND_STRING &&
                                             read_time(refs_json_text(value).data, seconds));
}

static const refs_json *member(const refs_json *object, const char *const *names) {
    for (; *names != NULL; names++) {
        const refs_json *value = refs_json_get(object, *names);
        if (value != NULL) return value;
    }
    return NULL;
}

static int64_t expiry_of(const refs_json *object, int64_t now_s) {
    static const char *const names[] = {"expiration", "msft:expiry", "Expiration",
                                        "expiry",     "expires_at",  NULL};
    int64_t seconds;
    const refs_json *value = member(object, names), *left = refs_json_get(object, "expires_in");
    if (value != NULL && read_expiry(value, &seconds)) return seconds;
    if (left != NULL && refs_json_i64(left, &seconds) && seconds < INT64_MAX / 2)
        return now_s + seconds;
    return INT64_MAX;
}

/* -- answers ----------------------------------------------------------------------------------- */

static bool take(const refs_json *object, const char *const *names, char **text) {
    const refs_json *value = member(object, names);
    if (value == NULL || refs_json_kind_of(value) != REFS_JSON_KIND_STRING) return true;
    *text = refs_str_copy(refs_json_text(value));
    return *text != NULL;
}

static refs_status take_members(const refs_json *object, refs_grant *grant, refs_error *err) {
    static const char *const tokens[] = {"token", "sasToken", "sas_token", NULL};
    static const char *const access_keys[] = {"accessKeyId", "AccessKeyId", NULL};
    static const char *const secret_keys[] = {"secretAccessKey", "SecretAccessKey", NULL};
    static const char *const sessions[] = {"sessionToken", "SessionToken", "Token", NULL};
    bool taken = take(object, tokens, &grant->token) &&
                 take(object, access_keys, &grant->access_key) &&
                 take(object, secret_keys, &grant->secret_key) &&
                 take(object, sessions, &grant->session_token);
    return taken ? REFS_OK : refs_fail_nomem(err);
}

static refs_status take_text(refs_str text, refs_grant *grant, refs_error *err) {
    bool is_query = refs_str_find(text, '=') != SIZE_MAX && refs_str_find(text, '<') == SIZE_MAX &&
                    refs_str_find(text, ' ') == SIZE_MAX && refs_str_find(text, '\n') == SIZE_MAX;
    grant->expires_s = INT64_MAX;
    if (!is_query) return REFS_OK;
    return refs_str_keep(text, &grant->token, err);
}

static refs_status read_answer(refs_str answer, int64_t now_s, refs_grant *grant, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    if (!refs_str_starts(answer, "{")) return take_text(answer, grant, err);
    REFS_TRY(refs_json_parse(answer, &doc, err));
    refs_status status = take_members(refs_json_root(doc), grant, err);
    grant->expires_s = expiry_of(refs_json_root(doc), now_s);
    return status;
}

refs_status refs_grant_parse(refs_str answer, int64_t now_s, refs_grant *grant, refs_error *err) {
    memset(grant, 0, sizeof *grant);
    REFS_TRY(read_answer(refs_str_trim(answer, " \t\r\n"), now_s, grant, err));
    if (grant->token != NULL && grant->token[0] == '?')
        memmove(grant->token, grant->token + 1, strlen(grant->token));
    bool has_keys = grant->access_key != NULL && grant->secret_key != NULL;
    if (has_keys || (grant->token != NULL && grant->token[0] != '\0')) return REFS_OK;
    refs_grant_clear(grant);
    return refs_fail(err, REFS_INVALID,
                     "expected keys (accessKeyId, secretAccessKey) or a token in the answer");
}

bool refs_grant_may_renew(int64_t renewed_s, int64_t now_s) {
    return renewed_s == 0 || now_s < renewed_s || now_s - renewed_s >= REFS_GRANT_REFUSED_S;
}

bool refs_grant_is_good(const refs_grant *grant, int64_t since_s, int64_t now_s) {
    enum { MARGIN_S = 300 };
    if (grant->expires_s == INT64_MAX) return true;
    int64_t tenth = (grant->expires_s - since_s) / 10;
    int64_t margin = tenth > 0 && tenth < MARGIN_S ? tenth : MARGIN_S;
    return now_s < grant->expires_s - margin;
}

/* -- services ---------------------------------------------------------------------------------- */

#define CURL_PREFIX "/vsicurl/"

static bool cut(refs_str *text, const char *begin) {
    const size_t size = strlen(begin);
    if (text->size < size || strncasecmp(text->data, begin, size) != 0) return false;
    *text = refs_str_part(*text, size, text->size);
    return true;
}

static bool origin_of(refs_str url, refs_origin *origin) {
    REFS_SCOPED char *text = refs_str_copy(url);
    return text != NULL && refs_origin_of(text, origin);
}

/* The part of a URL after scheme, user, host and port. */
static refs_str behind_origin(refs_str url) {
    size_t size = 0;
    (void)refs_url_take_http(&url);
    while (size < url.size && memchr("/?#", url.data[size], 3) == NULL) size++;
    return refs_str_part(url, size, url.size);
}

/* Removes scheme, host and port from both URLs if they have the same origin. */
static bool cut_same_origin(refs_str *one, refs_str *other) {
    refs_origin first, second;
    if (!origin_of(*one, &first) || !origin_of(*other, &second) ||
        !refs_origin_is_same(&first, &second))
        return false;
    *one = behind_origin(*one);
    *other = behind_origin(*other);
    return true;
}

/* The first character, decoded if it is percent-encoded; *size is the number of its bytes. */
static char first_of(refs_str text, size_t *size) {
    static const struct {
        const char *code;
        char c;
    } codes[] = {{"%2e", '.'}, {"%2f", '/'}, {"%5c", '\\'}};
    *size = 1;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (text.size < 3 || strncasecmp(text.data, codes[i].code, 3) != 0) continue;
        *size = 3;
        return codes[i].c;
    }
    return text.data[0];
}

enum step { STEP_NAME, STEP_NOTHING, STEP_DOT, STEP_DOTS };

/* Removes the first segment and the slash after it. A backslash counts as a slash, because some
 * servers treat it so. */
static enum step next_step(refs_str *path) {
    size_t n = 0, n_dots = 0, size;
    for (char c = 0; path->size > 0 && c != '/' && c != '\\';) {
        c = first_of(*path, &size);
        *path = refs_str_part(*path, size, path->size);
        if (c == '/' || c == '\\') break;
        n++;
        if (c == '.') n_dots++;
    }
    if (n != n_dots || n > 2) return STEP_NAME;
    return n == 2 ? STEP_DOTS : n == 1 ? STEP_DOT : STEP_NOTHING;
}

static bool leads_out(refs_str path) {
    int depth = 0;
    while (path.size > 0 && depth >= 0) {
        const enum step step = next_step(&path);
        depth += step == STEP_NAME ? 1 : step == STEP_DOTS ? -1 : 0;
    }
    return depth < 0;
}

/* Whether a location, with or without "/vsicurl/", is in the part of the name space that `prefix`
 * names. A prefix without a slash at its end matches only whole names of hosts, buckets and
 * folders. Host names are compared without case, and with the default port of their scheme. A
 * location with ".." that leads out is not inside. */
static bool is_of(refs_str prefix, const char *location) {
    refs_str name = refs_str_from(location), rest;
    if (prefix.size == 0) return false;
    (void)cut(&name, CURL_PREFIX);
    (void)cut(&prefix, CURL_PREFIX);
    const bool is_url = refs_url_is_http(prefix);
    if (is_url && !cut_same_origin(&prefix, &name)) return false;
    if (!refs_str_equal(refs_str_part(name, 0, prefix.size), prefix)) return false;
    rest = refs_str_part(name, prefix.size, name.size);
    if (is_url) rest = refs_str_part(rest, 0, strcspn(rest.data, "?#"));
    if (rest.size > 0 && rest.data[0] != '/' && !refs_str_ends(prefix, "/")) return false;
    return !leads_out(rest);
}

/* Accepts "s3://bucket/" for "/vsis3/bucket/". */
static bool is_of_named(refs_str prefix, const char *location) {
    refs_str objects;
    const refs_url_scheme *store = refs_url_store_of(prefix, &objects);
    if (store == NULL || refs_str_starts(prefix, "/")) return is_of(prefix, location);
    return refs_str_starts(refs_str_from(location), store->prefix) &&
           is_of(objects, location + strlen(store->prefix));
}

/* Locations have no account names ("container@account"), so these cannot be a prefix. */
static bool may_be_prefix(refs_str prefix) {
    refs_str objects;
    return refs_str_starts(prefix, "/vsi") || refs_url_is_http(prefix) ||
           (refs_url_store_of(prefix, &objects) != NULL && refs_str_find(objects, '@') == SIZE_MAX);
}

static bool has_dots(refs_str path) {
    while (path.size > 0) {
        const enum step step = next_step(&path);
        if (step == STEP_DOT || step == STEP_DOTS) return true;
    }
    return false;
}

/* The part of a URL after its user; empty if it has none. */
static refs_str behind_user(refs_str prefix) {
    (void)cut(&prefix, CURL_PREFIX);
    if (!refs_url_take_http(&prefix)) return refs_str_from("");
    const size_t at = refs_str_find(refs_str_part(prefix, 0, refs_str_find(prefix, '/')), '@');
    return at != SIZE_MAX ? refs_str_part(prefix, at + 1, prefix.size) : refs_str_from("");
}

/* Rejects patterns, queries, which are not compared, and "..", which some servers resolve. */
static refs_status check_prefix(refs_str prefix, refs_error *err) {
    const refs_str host = behind_user(prefix);
    if (host.size > 0)
        return refs_fail(
            err, REFS_INVALID,
            "REFS_TOKEN_URL: the prefix of \"%.*s\" has a user name: remove it and the \"@\"",
            REFS_STR_ARG(host));
    const bool has_query =
        refs_str_find(prefix, '?') != SIZE_MAX || refs_str_find(prefix, '#') != SIZE_MAX;
    if (refs_str_find(prefix, '*') == SIZE_MAX && !has_query && !has_dots(prefix)) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "REFS_TOKEN_URL: invalid prefix \"%.*s\": expected one without \"*\", \"?\", "
                     "\"#\" and \"..\"",
                     REFS_STR_ARG(prefix));
}

/* Whether the text is one URL: a list of URLs, or another arrow than "=>", is not. */
static bool is_service(refs_str text) {
    if (text.size == 0 || strcspn(text.data, REFS_BLANKS ">") < text.size) return false;
    return refs_url_is_http(text);
}

/* Detects "PREFIX=URL"; an equals sign in a query is allowed. */
static bool has_equals_for_arrow(refs_str url) {
    for (size_t i = 0; i < url.size && url.data[i] != '?'; i++)
        if (url.data[i] == '=' && refs_url_is_http(refs_str_part(url, i + 1, url.size)))
            return true;
    return false;
}

/* Splits "PREFIX=>URL"; both are empty if the item is only a URL. */
static refs_status split(refs_str item, refs_str *prefix, refs_str *service, refs_error *err) {
    size_t at = 0;
    while (at + 1 < item.size && memcmp(item.data + at, "=>", 2) != 0) at++;
    *prefix = *service = refs_str_from("");
    if (at + 1 >= item.size && is_service(item) && !has_equals_for_arrow(item)) return REFS_OK;
    if (at + 1 < item.size) {
        *prefix = refs_str_trim(refs_str_part(item, 0, at), REFS_BLANKS);
        *service = refs_str_trim(refs_str_part(item, at + 2, item.size), REFS_BLANKS);
    }
    if (may_be_prefix(*prefix) && is_service(*service)) return check_prefix(*prefix, err);
    return refs_fail(
        err, REFS_INVALID,
        "REFS_TOKEN_URL: expected PREFIX=>URL,..., found \"%.*s\": the prefix is such as "
        "s3://bucket/, /vsis3/bucket/ or https://host/folder/, the URL that of a service",
        REFS_STR_ARG(item));
}

/* The length of a prefix without "/vsicurl/" or its store, so that different spellings are
 * comparable. */
static size_t length_of(refs_str prefix) {
    refs_str objects;
    (void)cut(&prefix, CURL_PREFIX);
    if (refs_url_store_of(prefix, &objects) != NULL) prefix = objects;
    return prefix.size - refs_str_ends(prefix, "/");
}

refs_status refs_grant_service(const char *list, const char *location, refs_str *service,
                               refs_error *err) {
    refs_str rest = refs_str_from(list), prefix, of_item;
    size_t length = 0;
    *service = refs_str_from("");
    while (rest.size > 0) {
        refs_str item = refs_str_part(rest, 0, refs_str_find(rest, ','));
        rest = refs_str_part(rest, item.size + 1, rest.size);
        item = refs_str_trim(item, REFS_BLANKS);
        if (item.size == 0) continue;
        REFS_TRY(split(item, &prefix, &of_item, err));
        if (!is_of_named(prefix, location)) continue;
        if (service->size > 0 && length_of(prefix) <= length) continue;
        *service = of_item;
        length = length_of(prefix);
    }
    return REFS_OK;
}

/* -- URLs -------------------------------------------------------------------------------------- */

/* Parameters of Azure's shared access signatures. */
static const char azure[] =
    "sv ss srt sr st se sp spr sip sig si skoid sktid skt ske sks skv saoid "
    "suoid scid rscc rscd rsce rscl rsct sdd ses";

static refs_str name_of(refs_str parameter) {
    return refs_str_part(parameter, 0, refs_str_find(parameter, '='));
}

/* Azure ignores the case of parameter names. */
static bool is_same_name(refs_str one, refs_str other) {
    return one.size == other.size && strncasecmp(one.data, other.data, one.size) == 0;
}

static bool has_name(refs_str parameters, const char *separators, refs_str name) {
    for (refs_str each; refs_str_next_word(&parameters, separators, &each);)
        if (is_same_name(name_of(each), name)) return true;
    return false;
}

/* Leaves out parameters that the token replaces. */
static refs_status append_query(refs_str query, refs_str token, refs_buf *url, refs_error *err) {
    const bool is_azure = has_name(token, "&", refs_str_from("sig"));
    char mark = '?';
    for (refs_str each; refs_str_next_word(&query, "&", &each);) {
        const refs_str name = name_of(each);
        if (has_name(token, "&", name) || (is_azure && has_name(refs_str_from(azure), " ", name)))
            continue;
        REFS_TRY(refs_buf_printf(url, err, "%c%.*s", mark, REFS_STR_WHOLE(each)));
        mark = '&';
    }
    return refs_buf_printf(url, err, "%c%.*s", mark, REFS_STR_WHOLE(token));
}

/* Whether the URL has a signature that the token does not replace: stores reject two signatures. */
static bool is_signed_otherwise(refs_str url, const char *token) {
    const refs_str sig = refs_str_from("sig");
    const size_t mark = refs_str_find(url, '?');
    if (mark == SIZE_MAX) return false;
    const bool is_replaced = has_name(refs_str_from(token), "&", sig) &&
                             has_name(refs_str_part(url, mark + 1, url.size), "&", sig);
    REFS_SCOPED char *text = refs_str_copy(url);
    const bool is_signed = text != NULL && refs_redirect__is_signed(text);
    return is_signed && !is_replaced;
}

refs_status refs_grant_url(refs_str url, const char *token, refs_buf *with, refs_error *err) {
    url = refs_str_part(url, 0, refs_str_find(url, '#'));
    if (is_signed_otherwise(url, token)) return refs_buf_append_str(with, url, err);
    const size_t mark = refs_str_find(url, '?');
    REFS_TRY(refs_buf_append_str(with, refs_str_part(url, 0, mark), err));
    const refs_str query =
        mark != SIZE_MAX ? refs_str_part(url, mark + 1, url.size) : refs_str_from("");
    return append_query(query, refs_str_from(token), with, err);
}
