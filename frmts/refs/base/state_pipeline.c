/* state_pipeline.c -- other programs' names of repositories, see state_name.h.
 *
 * Source: https://github.com/jbms/url-pipeline, "icechunk:".
 */
#include "state_name.h"

/* The version after '@'. */
typedef struct asked_state {
    const char *key; /* NULL: none */
    refs_str name;
} asked_state;

static refs_str drop_beginning(refs_str text, const char *beginning) {
    return refs_str_starts(text, beginning) ? refs_str_part(text, strlen(beginning), text.size)
                                            : text;
}

/* Parses "branch.main" or "tag.v1"; other texts are the value of the key `otherwise`. */
static asked_state read_state(refs_str text, const char *otherwise) {
    static const char *const keys[] = {"branch.", "tag."};
    for (size_t i = 0; i < 2; i++)
        if (refs_str_starts(text, keys[i]))
            return (asked_state){i == 0 ? "branch" : "tag", drop_beginning(text, keys[i])};
    return (asked_state){otherwise, text};
}

/* Percent-encodes characters with a meaning after '#'. */
static refs_status append_name(refs_str name, refs_buf *plain, refs_error *err) {
    for (size_t i = 0; i < name.size; i++) {
        const bool has_meaning = strchr("#%&@", name.data[i]) != NULL && name.data[i] != '\0';
        REFS_TRY(refs_buf_printf(plain, err, has_meaning ? "%%%02X" : "%c",
                                 (unsigned char)name.data[i]));
    }
    return REFS_OK;
}

static refs_status append_plain(refs_str folder, const asked_state *state, refs_buf *plain,
                                refs_error *err) {
    REFS_TRY(refs_buf_append_str(plain, folder, err));
    if (state->key == NULL) return REFS_OK;
    if (state->name.size == 0)
        return refs_fail(err, REFS_INVALID, "%.*s: expected the name of a %s after @",
                         REFS_STR_ARG(folder), state->key);
    REFS_TRY(refs_buf_printf(plain, err, "#%s=", state->key));
    return append_name(state->name, plain, err);
}

/* "s3://bucket/repo/|icechunk:@branch.main/": `rest` is what follows the colon. */
static refs_status from_pipeline(refs_str folder, refs_str rest, refs_buf *plain, refs_error *err) {
    asked_state state = {NULL, {NULL, 0}};
    rest = drop_beginning(rest, "//");
    if (refs_str_starts(rest, "@")) {
        refs_str name = refs_str_part(rest, 1, rest.size);
        const size_t slash = refs_str_find_last(name, '/');
        if (slash != SIZE_MAX && slash + 1 == name.size) name = refs_str_part(name, 0, slash);
        state = read_state(name, "snapshot");
        rest = refs_str_from("");
    }
    rest = drop_beginning(rest, "/");
    if (rest.size > 0 || refs_str_find(state.name, '|') != SIZE_MAX)
        return refs_fail(err, REFS_INVALID,
                         "%.*s: expected only a branch, tag or snapshot (@branch.main) after "
                         "icechunk:; arrays follow the whole name, in quotes: \"NAME\":/array",
                         REFS_STR_ARG(folder));
    return append_plain(folder, &state, plain, err);
}

/* "icechunk+s3://bucket/repo@main". */
static refs_status from_scheme(refs_str url, refs_buf *plain, refs_error *err) {
    const size_t mark = refs_str_find_last(url, '@'), slash = refs_str_find_last(url, '/');
    asked_state state = {NULL, {NULL, 0}};
    if (mark != SIZE_MAX && (slash == SIZE_MAX || mark > slash)) {
        state = read_state(refs_str_part(url, mark + 1, url.size), "branch");
        url = refs_str_part(url, 0, mark);
    }
    return append_plain(url, &state, plain, err);
}

refs_status refs_state_plain_name(refs_str name, refs_buf *plain, refs_error *err) {
    static const char scheme[] = "icechunk+", adapter[] = "icechunk";
    const size_t bar = refs_str_find(name, '|');
    if (refs_str_starts(name, scheme) && refs_str_find(name, ':') != SIZE_MAX)
        return from_scheme(refs_str_part(name, sizeof scheme - 1, name.size), plain, err);
    refs_str rest = refs_str_part(name, bar == SIZE_MAX ? name.size : bar + 1, name.size);
    if (!refs_str_starts(rest, adapter)) return refs_buf_append_str(plain, name, err);
    rest = refs_str_part(rest, sizeof adapter - 1, rest.size);
    if (rest.size > 0 && rest.data[0] != ':') return refs_buf_append_str(plain, name, err);
    return from_pipeline(refs_str_part(name, 0, bar), drop_beginning(rest, ":"), plain, err);
}
