/* urls.c -- names of files in the new set. */
#include "combine_internal.h"
#include "refs/file_name.h"

/* Appends a path without "." and "..". */
static refs_status append_plain(refs_str path, refs_buf *url, refs_error *err) {
    size_t root = url->size;
    for (size_t begin = 0; begin < path.size;) {
        refs_str rest = refs_str_part(path, begin, path.size);
        size_t slash = refs_str_find(rest, '/');
        refs_str step = refs_str_part(rest, 0, slash);
        begin += slash == SIZE_MAX ? rest.size : slash + 1;
        if (step.size == 0 || refs_str_is(step, ".")) continue;
        if (refs_str_is(step, "..")) {
            while (url->size > root && url->data[--url->size] != '/') continue;
            continue;
        }
        REFS_TRY(refs_buf_append(url, "/", 1, err));
        REFS_TRY(refs_buf_append_str(url, step, err));
    }
    return REFS_OK;
}

static refs_status append_absolute(refs_str path, refs_buf *url, refs_error *err) {
    REFS_SCOPED_BUF whole = REFS_BUF_INIT;
    REFS_TRY(refs_file_name_absolute(path, &whole, err));
    return append_plain(refs_buf_text(&whole), url, err);
}

/* Appends the name relative to `folder`; both must be absolute, without "." and "..". */
static refs_status append_relative(refs_str path, refs_str folder, refs_buf *url, refs_error *err) {
    size_t common = 0;
    for (size_t i = 0; i <= path.size && i <= folder.size; i++) {
        bool ends_path = i == path.size || path.data[i] == '/';
        bool ends_folder = i == folder.size || folder.data[i] == '/';
        if (ends_path && ends_folder) common = i;
        if (i == path.size || i == folder.size || path.data[i] != folder.data[i]) break;
    }
    const size_t begin = url->size;
    const refs_str rest = refs_str_part(path, common + 1, path.size);
    for (size_t i = common; i < folder.size; i++)
        if (folder.data[i] == '/') REFS_TRY(refs_buf_append(url, "../", 3, err));
    if (url->size == begin)
        REFS_TRY(refs_buf_append_str(url, refs_str_from(refs_file_name_relative_mark(rest)), err));
    return refs_buf_append_str(url, rest, err);
}

static refs_status append_local(const refs_combine_urls *urls, refs_str path, refs_buf *url,
                                refs_error *err) {
    REFS_SCOPED_BUF absolute = REFS_BUF_INIT, folder = REFS_BUF_INIT;
    if (urls->relative_to == NULL) return append_absolute(path, url, err);
    REFS_TRY(append_absolute(path, &absolute, err));
    REFS_TRY(append_absolute(refs_str_from(urls->relative_to), &folder, err));
    return append_relative(refs_buf_text(&absolute), refs_buf_text(&folder), url, err);
}

/* Appends a URL that readers map back to the location. URLs of local archives are relative to the
 * new set. */
static refs_status append_location(const refs_combine_urls *urls, refs_str location, refs_buf *url,
                                   refs_error *err) {
    refs_str member, file;
    const refs_url_archive *archive;
    while ((archive = refs_location_split_archive(location, &member, &file)) != NULL) {
        REFS_TRY(refs_buf_printf(url, err, "%s://", archive->scheme));
        REFS_TRY(refs_buf_append_str(url, member, err));
        REFS_TRY(refs_buf_append(url, "::", 2, err));
        location = file;
    }
    const refs_url_scheme *scheme = refs_url_scheme_of(location);
    if (scheme != NULL) {
        if (scheme->form != REFS_URL_WHOLE)
            REFS_TRY(refs_buf_printf(url, err, "%s://", scheme->name));
        return refs_buf_append_str(
            url, refs_str_part(location, strlen(scheme->prefix), location.size), err);
    }
    if (refs_file_name_is_url(location) || refs_str_starts(location, "/vsi"))
        return refs_buf_append_str(url, location, err);
    return append_local(urls, location, url, err);
}

/* The names of one file: in the new set, in the old set, and its location. */
typedef struct names {
    refs_str all[3];
    size_t n;
} names;

static bool find_beginning(const names *of, refs_str old, refs_str *rest) {
    for (size_t i = 0; i < of->n; i++) {
        *rest = of->all[i];
        if (refs_url_take_beginning(rest, old)) return true;
    }
    return false;
}

/* Replaces the text from `begin` on by the first rewrite that matches any of the file's names,
 * because users write the name that they see. */
static refs_status rewrite(const refs_combine_urls *urls, size_t begin, names *of, refs_buf *url,
                           refs_error *err) {
    refs_str rest;
    of->all[0] = refs_str_view((const char *)url->data + begin, url->size - begin);
    for (const char *const *at = urls->rewrites; at != NULL && *at != NULL; at++) {
        const char *arrow = strstr(*at, "=>");
        refs_str old = refs_str_view(*at, arrow != NULL ? (size_t)(arrow - *at) : 0);
        if (!find_beginning(of, old, &rest)) continue;
        if (urls->used != NULL)
            __atomic_store_n(&urls->used[at - urls->rewrites], 1, __ATOMIC_RELAXED);
        REFS_SCOPED char *kept = refs_str_copy(rest);
        if (kept == NULL) return refs_fail_nomem(err);
        url->size = begin;
        return refs_buf_printf(url, err, "%s%s", arrow + 2, kept);
    }
    return REFS_OK;
}

refs_status refs_combine_url(const refs_combine_urls *urls, refs_str location, refs_buf *url,
                             refs_error *err) {
    size_t begin = url->size;
    names of = {.all = {[1] = location}, .n = 2};
    REFS_TRY(append_location(urls, location, url, err));
    return rewrite(urls, begin, &of, url, err);
}

/* Whether a URL means the same in every set: a URL with a scheme, or a chain of file systems. A
 * text that equals the location is the name of a file, whatever it looks like. */
static bool stays(const refs_ref *ref, refs_str text) {
    refs_str path = text;
    if (ref->location == NULL) return true;
    if (strcmp(ref->location, ref->url) == 0) return refs_file_name_is_url(text);
    return !refs_str_starts(text, "/") && !refs_url_take_file(&path) &&
           !refs_file_name_needs_folder(text);
}

refs_status refs_combine__url(const refs_combine_urls *urls, const refs_ref *ref, refs_buf *url,
                              refs_error *err) {
    const refs_str text = refs_str_from(ref->url);
    const size_t begin = url->size;
    if (stays(ref, text))
        REFS_TRY(refs_buf_append_str(url, text, err));
    else
        REFS_TRY(append_location(urls, refs_str_from(ref->location), url, err));
    names of = {.all = {[1] = text}, .n = 2};
    if (ref->location != NULL) of.all[of.n++] = refs_str_from(ref->location);
    return rewrite(urls, begin, &of, url, err);
}
