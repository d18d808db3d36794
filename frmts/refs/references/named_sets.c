/* named_sets.c -- see named_sets.h. */
#include "named_sets.h"

/* Longest chain of documents that name each other. */
#define MAX_DEPTH 16

/* Most names that a message lists. */
#define MAX_SHOWN 5

void refs_references__named_clear(refs_named_sets *sets) {
    refs_buf_clear(&sets->urls);
    refs_buf_clear(&sets->titles);
}

/* String number `i` of those in a buffer. */
static const char *string_at(const refs_buf *strings, size_t i) {
    refs_str rest = refs_buf_text(strings);
    const char *text = "";
    do (void)refs_str_next_text(&rest, &text);
    while (i-- > 0);
    return text;
}

static const refs_buf *titles_of(const refs_named_sets *sets) {
    return sets->titles.size > 0 ? &sets->titles : &sets->urls;
}

refs_status refs_references__named_each(const refs_named_sets *sets,
                                        const refs_set_visitor *visitor, size_t *n_sets,
                                        refs_error *err) {
    refs_str titles = refs_buf_text(titles_of(sets));
    const char *title;
    *n_sets = refs_str_count_texts(refs_buf_text(&sets->urls));
    for (size_t i = 0; refs_str_next_text(&titles, &title); i++) {
        const refs_set_summary summary = {i, refs_str_from(title), NULL};
        REFS_TRY(visitor->visit(visitor->user, &summary, err));
    }
    return REFS_OK;
}

/* Detects documents that name each other in a cycle. */
static refs_status check_depth(const refs_set_input *input, const char *what, refs_error *err) {
    size_t depth = 0;
    for (const refs_set_input *at = input->parent; at != NULL; at = at->parent) {
        if (strcmp(at->location, input->location) == 0)
            return refs_fail(
                err, REFS_INVALID,
                "expected a %s that leads to data, found one that leads back to itself "
                "through %s: open one of its data files",
                what, input->parent->location);
        if (++depth == MAX_DEPTH)
            return refs_fail(err, REFS_LIMIT,
                             "documents name each other deeper than the limit of %d", MAX_DEPTH);
    }
    return REFS_OK;
}

static refs_status fail_between(const refs_named_sets *sets, size_t n, const char *what,
                                refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    for (size_t i = 0; i < n && i < MAX_SHOWN; i++)
        REFS_TRY(refs_buf_printf(&text, err, "%s%zu: %s", i > 0 ? ", " : "", i,
                                 string_at(titles_of(sets), i)));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "this %s names %zu sets or data files: choose one by its number "
                     "(%.*s%s)",
                     what, n, (int)text.size, (const char *)text.data, n > MAX_SHOWN ? ", …" : "");
}

static refs_status open_one(const refs_set_input *input, const refs_named_sets *sets, size_t i,
                            refs_set **set, refs_error *err) {
    refs_set_options options = *input->options;
    const refs_url_context context = {input->location, options.rewrites, options.remote_to_local};
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    options.set_index = -1;
    refs_status status =
        refs_url_map(refs_str_from(string_at(&sets->urls, i)), &context, &location, err);
    if (status == REFS_OK) status = refs_buf_append(&location, "", 1, err);
    if (status == REFS_OK)
        status =
            refs_references__open_named(input, (const char *)location.data, &options, set, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", string_at(titles_of(sets), i));
    return status;
}

refs_status refs_references__named_open(const refs_set_input *input, const refs_named_sets *sets,
                                        const char *what, refs_set **set, refs_error *err) {
    const size_t n = refs_str_count_texts(refs_buf_text(&sets->urls));
    const int64_t index = input->options->set_index;
    REFS_TRY(check_depth(input, what, err));
    if (index < 0 && n > 1) return fail_between(sets, n, what, err);
    if (index >= 0 && (uint64_t)index >= n)
        return refs_fail(err, REFS_INVALID, "no set %lld: the %s has %zu, counted from 0",
                         (long long)index, what, n);
    return open_one(input, sets, index < 0 ? 0 : (size_t)index, set, err);
}
