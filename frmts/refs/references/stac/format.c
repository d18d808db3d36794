/* format.c -- a document of STAC as the set that it names, see stac.h. */
#include "stac/stac.h"

#include "format.h"
#include "refs/json.h"

#define MAX_BYTES (64 * REFS_MIB)

/* How deep documents may name each other. */
#define MAX_DEPTH 16

/* Names that a message lists. */
#define MAX_SHOWN 5

/* -- recognising ------------------------------------------------------------------------------- */

static bool is_type(refs_str text) {
    return refs_str_is(text, "Feature") || refs_str_is(text, "FeatureCollection") ||
           refs_str_is(text, "Collection") || refs_str_is(text, "Catalog");
}

/* Looks at the members of the object until one says it, or the beginning ends. */
static bool has_member(refs_json_reader *reader) {
    refs_json_token token;
    refs_str text;
    if (refs_json_next(reader, &token, NULL, NULL) != REFS_OK || token != REFS_JSON_OBJECT_BEGIN)
        return false;
    while (refs_json_next(reader, &token, &text, NULL) == REFS_OK && token == REFS_JSON_KEY) {
        const bool is_version = refs_str_is(text, "stac_version");
        const bool may_be_type = refs_str_is(text, "type");
        if (refs_json_next(reader, &token, &text, NULL) != REFS_OK) return false;
        if (is_version || (may_be_type && token == REFS_JSON_STRING && is_type(text))) return true;
        if (refs_json_skip(reader, token, NULL) != REFS_OK) return false;
    }
    return false;
}

bool refs_stac_sniff(refs_bytes head) {
    refs_json_reader *reader = NULL;
    const refs_str text = refs_str_view((const char *)head.data, head.size);
    if (refs_json_reader_open_text(text, &reader, NULL) != REFS_OK) return false;
    const bool is = has_member(reader);
    refs_json_reader_free(reader);
    return is;
}

static bool sniff(const refs_set_input *input, refs_bytes head) {
    (void)input;
    return refs_stac_sniff(head);
}

/* -- what it names ----------------------------------------------------------------------------- */

/* The sets of a document: its assets or, where it has none, the documents that it links to. */
typedef struct sets {
    refs_buf assets, titles, links;
    const refs_buf *names;
    size_t n;
} sets;

static void clear(sets *all) {
    refs_buf_clear(&all->assets);
    refs_buf_clear(&all->titles);
    refs_buf_clear(&all->links);
}

/* String number `i` of those in a buffer. */
static const char *string_at(const refs_buf *strings, size_t i) {
    const char *at = (const char *)strings->data;
    while (i-- > 0) at += strlen(at) + 1;
    return at;
}

static const char *title_of(const sets *all, size_t i) {
    return string_at(all->names == &all->assets ? &all->titles : all->names, i);
}

static refs_status fail_without(const char *location, refs_error *err) {
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s: no asset of this STAC document is a set or a data file (expected the role "
        "\"data\" or a media type such as application/vnd.zarr+kerchunk), and it "
        "links to no item",
        location);
}

static refs_status read_text(const refs_vfs *vfs, const char *location, sets *all,
                             refs_error *err) {
    refs_buf text = REFS_BUF_INIT, base = REFS_BUF_INIT;
    refs_status status = refs_url_append_shown(refs_str_from(location), &base, err);
    if (status == REFS_OK) status = refs_buf_append(&base, "", 1, err);
    if (status == REFS_OK) status = refs_vfs_read_whole(vfs, location, MAX_BYTES, &text, err);
    const refs_stac found = {refs_str_view((const char *)base.data, base.size - 1), &all->assets,
                             &all->titles, &all->links};
    if (status == REFS_OK)
        status = refs_stac_read(refs_str_view((const char *)text.data, text.size), &found, err);
    refs_buf_clear(&text);
    refs_buf_clear(&base);
    return status;
}

static refs_status read_sets(const refs_vfs *vfs, const char *location, sets *all,
                             refs_error *err) {
    REFS_TRY(read_text(vfs, location, all, err));
    all->names = all->assets.size > 0 ? &all->assets : &all->links;
    for (size_t i = 0; i < all->names->size; i++) all->n += all->names->data[i] == '\0';
    return REFS_OK;
}

refs_status refs_stac_each_set(const refs_vfs *vfs, const char *location,
                               const refs_set_visitor *visitor, size_t *n_sets, refs_error *err) {
    sets all = {.names = NULL};
    refs_status status = read_sets(vfs, location, &all, err);
    const char *title = all.n > 0 ? title_of(&all, 0) : "";
    *n_sets = all.n;
    for (size_t i = 0; i < all.n && status == REFS_OK; i++, title += strlen(title) + 1) {
        const refs_set_summary summary = {i, refs_str_from(title), NULL};
        status = visitor->visit(visitor->user, &summary, err);
    }
    clear(&all);
    return status;
}

/* -- opening ----------------------------------------------------------------------------------- */

/* Documents may name each other in a circle. */
static refs_status check_depth(const refs_set_input *input, refs_error *err) {
    size_t depth = 0;
    for (const refs_set_input *at = input->parent; at != NULL; at = at->parent) {
        if (strcmp(at->location, input->location) == 0)
            return refs_fail(err, REFS_INVALID,
                             "this STAC document names itself, by way of %s: name one of its data",
                             input->parent->location);
        if (++depth == MAX_DEPTH)
            return refs_fail(err, REFS_LIMIT,
                             "STAC documents name each other deeper than the limit of %d",
                             MAX_DEPTH);
    }
    return REFS_OK;
}

static refs_status fail_between(const sets *all, refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < all->n && i < MAX_SHOWN && status == REFS_OK; i++)
        status = refs_buf_printf(&text, err, "%s%zu: %s", i > 0 ? ", " : "", i, title_of(all, i));
    if (status == REFS_OK)
        status = refs_fail(err, REFS_UNSUPPORTED,
                           "this STAC document names %zu sets or data files: choose one by its "
                           "number (%.*s%s)",
                           all->n, (int)text.size, (const char *)text.data,
                           all->n > MAX_SHOWN ? ", …" : "");
    refs_buf_clear(&text);
    return status;
}

static refs_status choose(const sets *all, int64_t index, size_t *chosen, refs_error *err) {
    if (index < 0 && all->n > 1) return fail_between(all, err);
    *chosen = index < 0 ? 0 : (size_t)index;
    if (*chosen < all->n) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "no set %lld: the STAC document has %zu, counted from 0",
                     (long long)index, all->n);
}

static refs_status open_one(const refs_set_input *input, const sets *all, size_t chosen,
                            refs_set **set, refs_error *err) {
    refs_set_options options = *input->options;
    const refs_url_context context = {input->location, options.rewrites, options.remote_to_local};
    refs_buf location = REFS_BUF_INIT;
    options.set_index = -1;
    refs_status status =
        refs_url_map(refs_str_from(string_at(all->names, chosen)), &context, &location, err);
    if (status == REFS_OK) status = refs_buf_append(&location, "", 1, err);
    if (status == REFS_OK)
        status =
            refs_references__open_named(input, (const char *)location.data, &options, set, err);
    if (status != REFS_OK) refs_error_prefix(err, "asset %s", title_of(all, chosen));
    refs_buf_clear(&location);
    return status;
}

static refs_status open_stac(const refs_set_input *input, refs_set **set, refs_error *err) {
    sets all = {.names = NULL};
    size_t chosen = 0;
    REFS_TRY(check_depth(input, err));
    refs_status status = read_sets(input->vfs, input->location, &all, err);
    if (status == REFS_OK && all.n == 0) status = fail_without(input->location, err);
    if (status == REFS_OK) status = choose(&all, input->options->set_index, &chosen, err);
    if (status == REFS_OK) status = open_one(input, &all, chosen, set, err);
    clear(&all);
    return status;
}

const refs_set_format refs_references__stac = {"STAC", sniff, open_stac, NULL};
