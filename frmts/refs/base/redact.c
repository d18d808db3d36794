/* redact.c -- see redact.h. The parts of a URL are those of RFC 3986, section 3. */
#include "refs/redact.h"

#include <stdbool.h>
#include <string.h>

#include "refs/state_name.h"

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether a URL that no quote precedes ends at `at`. */
static bool is_end(const char *at) {
    if (*at == '\0' || is_space(*at) || strchr("\"'<>`", *at) != NULL) return true;
    size_t punctuation = strspn(at, ":,;)]}");
    return punctuation > 0 && (at[punctuation] == '\0' || is_space(at[punctuation]));
}

static char *find_end(char *from, char quote) {
    while (quote != '\0' ? *from != '\0' && *from != quote : !is_end(from)) from++;
    return from;
}

/* Removes [begin, end) from the text. */
static void cut(char *begin, const char *end) {
    memmove(begin, end, strlen(end) + 1);
}

/* The quote before the word that holds `at`, or NUL. */
static char quote_before(const char *text, const char *at) {
    while (at > text && !is_space(at[-1])) {
        at--;
        if (*at == '"' || *at == '\'') return *at;
    }
    return '\0';
}

/* The end of a password that contains blanks, after its '@'; NULL if the authority before `end` has
 * no such password. */
static const char *end_of_password(const char *authority, const char *end) {
    const char *colon = memchr(authority, ':', (size_t)(end - authority));
    const char *at = strchr(end, '@'), *next = strstr(end, "://");
    const bool is_cut = colon != NULL && *authority != '[' && is_space(*end) &&
                        colon + 1 + strspn(colon + 1, "0123456789") < end;
    return is_cut && at != NULL && (next == NULL || at < next) ? at + 1 : NULL;
}

/* Whether an authority at the end of the text may be truncated in its password: the part after the
 * colon is not a port. */
static bool may_be_cut(const char *authority) {
    const char *colon = strchr(authority, ':');
    return colon != NULL && *authority != '[' && colon[1 + strspn(colon + 1, "0123456789")] != '\0';
}

/* Whether [fragment, end) selects a version of a repository (state_name.h), "#key=value" and more
 * of these joined by '&': then it is part of the name, not a secret. */
static bool is_state(const char *fragment, const char *end) {
    const char *at = fragment;
    while (at < end) {
        const refs_str item = {at + 1, strcspn(at + 1, "&")};
        if (refs_state_key_find(item) == REFS_N_STATE_KEYS) return false;
        at += 1 + item.size;
    }
    return true;
}

/* Removes query and fragment from the URL whose path begins at `path`. */
static void redact_query(char *path, char quote) {
    const char *end = find_end(path, quote);
    char *query = path + strcspn(path, "?#"), *fragment = path + strcspn(path, "#");
    if (fragment < end && is_state(fragment, end)) end = fragment;
    if (query < end) cut(query, end);
}

/* `authority` is the text after "://". */
static void redact_url(char *authority, char quote) {
    char *end = find_end(authority, quote);
    char *path = authority + strcspn(authority, "/?#");
    if (path > end) path = end;
    if (path == end && quote == '\0' && memchr(authority, '@', (size_t)(end - authority)) == NULL) {
        const char *behind = end_of_password(authority, end);
        if (behind != NULL) {
            cut(authority, behind);
            redact_url(authority, quote);
            return;
        }
    }
    if (*path == '\0' && strchr(authority, '@') == NULL && may_be_cut(authority)) {
        *authority = '\0';
        return;
    }
    for (char *at = path; at > authority; at--) {
        if (at[-1] != '@') continue;
        cut(authority, at);
        path -= at - authority;
        break;
    }
    redact_query(path, quote);
}

/* In GDAL's names of object stores, the text after the prefix is like the text after "://". */
static void redact_names_of_stores(char *text) {
    static const char *const stores[] = {"s3/",   "s3_streaming/",    "gs/",   "gs_streaming/",
                                         "az/",   "az_streaming/",    "oss/",  "oss_streaming/",
                                         "adls/", "swift_streaming/", "swift/"};
    for (char *found = text; (found = strstr(found, "/vsi")) != NULL; found += 4)
        for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++)
            if (strncmp(found + 4, stores[i], strlen(stores[i])) == 0) {
                redact_query(found + 4 + strlen(stores[i]), quote_before(text, found));
                break;
            }
}

void refs_redact_secrets(char *text) {
    static const char *const prefixes[] = {"/vsicurl?", "/vsicurl_streaming?"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        for (char *found = text; (found = strstr(found, prefixes[i])) != NULL; found++)
            cut(found + strlen(prefixes[i]) - 1, find_end(found, quote_before(text, found)));
    for (char *found = text; (found = strstr(found, "://")) != NULL; found += 3)
        redact_url(found + 3, quote_before(text, found));
    redact_names_of_stores(text);
}
