/* move_names.c -- see move_names.h. */
#include "cfa/move_names.h"

#include "cfa/cfa_internal.h"
#include "refs/file_name.h"

static size_t end_of_folder(refs_str name) {
    /* CFA-0.6: "${BASE}name" */
    size_t brace = refs_str_find_last(name, '}');
    const size_t end = refs_path_folder(name).size;
    return brace != SIZE_MAX && brace + 1 > end ? brace + 1 : end;
}

static refs_status replace_folder(const char *prefix, refs_str name, refs_buf *renamed,
                                  refs_error *err) {
    refs_str folder = refs_str_from(prefix);
    REFS_TRY(refs_buf_append_str(renamed, folder, err));
    if (folder.size > 0 && !refs_str_ends(folder, "/"))
        REFS_TRY(refs_buf_append(renamed, "/", 1, err));
    const refs_str last = refs_str_part(name, end_of_folder(name), name.size);
    if (folder.size == 0)
        REFS_TRY(
            refs_buf_append_str(renamed, refs_str_from(refs_file_name_relative_mark(last)), err));
    return refs_buf_append_str(renamed, last, err);
}

static refs_status replace_beginning(const refs_cfa_moving *moving, refs_str name,
                                     refs_buf *renamed, refs_error *err) {
    for (const char *const *each = moving->rewrites; each != NULL && *each != NULL; each++) {
        const char *arrow = strstr(*each, "=>");
        if (arrow == NULL) return refs_fail(err, REFS_INVALID, "%s: expected OLD=>NEW", *each);
        size_t size = (size_t)(arrow - *each);
        if (name.size < size || memcmp(name.data, *each, size) != 0) continue;
        REFS_TRY(refs_buf_append_str(renamed, refs_str_from(arrow + 2), err));
        return refs_buf_append_str(renamed, refs_str_part(name, size, name.size), err);
    }
    return refs_buf_append_str(renamed, name, err);
}

refs_status refs_cfa__rename(const refs_cfa_moving *moving, refs_str name, refs_buf *renamed,
                             bool *changed, refs_error *err) {
    size_t begin = renamed->size;
    *changed = false;
    if (name.size == 0) return REFS_OK; /* a missing fragment, or one in the master itself */
    REFS_TRY(moving->prefix != NULL ? replace_folder(moving->prefix, name, renamed, err)
                                    : replace_beginning(moving, name, renamed, err));
    *changed = renamed->size - begin != name.size ||
               memcmp(renamed->data + begin, name.data, name.size) != 0;
    return REFS_OK;
}

/* -- the record of fragments ------------------------------------------------------------------- */

typedef struct renaming {
    const refs_cfa_named *names;
    refs_intern written; /* names */
    refs_buf list;
} renaming;

static bool has(const refs_intern *names, refs_str name) {
    return names->count > 0 && refs_intern_find(names, name) != REFS_INTERN_NONE;
}

/* A file that was renamed for one variable after another is recorded once. */
static refs_status write_source(renaming *to, const refs_json *source, refs_str url,
                                refs_error *err) {
    refs_buf *text = &to->list;
    const size_t n = to->written.count;
    uint32_t id;
    REFS_TRY(refs_intern_add(&to->written, url, &id, err));
    if (to->written.count == n) return REFS_OK;
    REFS_TRY(refs_buf_printf(text, err, "%s{\"url\":", text->size > 0 ? "," : ""));
    REFS_TRY(refs_json_write_string(url, text, err));
    for (size_t i = 0; i < refs_json_size(source); i++) {
        const refs_str name = refs_json_name_at(source, i);
        if (!refs_str_is(name, "url"))
            REFS_TRY(refs_json_write_member(name, refs_json_at(source, i), text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}

/* Files without a fragment are renamed with all others. */
static refs_status rename_source(renaming *to, const refs_json *source, refs_error *err) {
    const refs_cfa_named *names = to->names;
    const refs_str url = refs_json_text(refs_json_get(source, "url"));
    const bool is_selected = !names->moving->is_partial || has(&names->selected, url);
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    bool changed = false;
    if (is_selected) REFS_TRY(refs_cfa__rename(names->moving, url, &name, &changed, err));
    if (changed) REFS_TRY(write_source(to, source, refs_buf_text(&name), err));
    return changed && !has(&names->others, url) ? REFS_OK : write_source(to, source, url, err);
}

static refs_status rename_all(renaming *to, const refs_json *sources, refs_error *err) {
    for (size_t i = 0; i < refs_json_size(sources); i++)
        REFS_TRY(rename_source(to, refs_json_at(sources, i), err));
    return REFS_OK;
}

refs_status refs_cfa__rename_sources(const refs_cfa_named *names, refs_str text, refs_buf *renamed,
                                     refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    renaming to = {.names = names, .list = REFS_BUF_INIT};
    REFS_TRY(refs_json_parse(text, &doc, err));
    const refs_json *sources = refs_json_get(refs_json_root(doc), "sources");
    refs_status status = rename_all(&to, sources, err);
    REFS_SCOPED_BUF joined = REFS_BUF_INIT;
    const refs_json *how = refs_json_get(refs_json_root(doc), "joined");
    if (status == REFS_OK && how != NULL) status = refs_json_write(how, &joined, err);
    if (status == REFS_OK)
        status =
            refs_cfa__write_sources(refs_buf_view(&to.list), refs_buf_view(&joined), renamed, err);
    refs_buf_clear(&to.list);
    refs_intern_clear(&to.written);
    return status;
}
