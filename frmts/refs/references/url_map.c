/* url_map.c -- converts URLs of a set to names that the application opens, see refset.h.
 *
 * Names are those of GDAL's virtual file systems
 * (https://gdal.org/user/virtual_file_systems.html). */
#include "data_url.h"
#include "refs/file_name.h"
#include "refs/percent.h"

#include <stdio.h>
#include <strings.h>

/* Deepest nesting of archives in archives. */
#define MAX_ARCHIVES 4

/* -- schemes ----------------------------------------------------------------------------------- */

static refs_status fail_unknown(refs_str scheme, refs_error *err) {
    char known[256] = "";
    const refs_url_scheme *known_scheme;
    for (size_t i = 0; (known_scheme = refs_url_scheme_at(i)) != NULL; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s, ", known_scheme->name);
    }
    return refs_fail(err, REFS_UNSUPPORTED,
                     "unsupported scheme \"%.*s\": expected one of %sfile, local, zip, tar",
                     REFS_STR_ARG(scheme), known);
}

static refs_status append_container(refs_str rest, refs_buf *location, refs_error *err) {
    size_t slash = refs_str_find(rest, '/');
    refs_str container = refs_str_part(rest, 0, slash);
    size_t at = refs_str_find(container, '@');
    REFS_TRY(refs_buf_append_str(location, refs_str_part(container, 0, at), err));
    return refs_buf_append_str(location, refs_str_part(rest, container.size, rest.size), err);
}

static refs_status map_scheme(refs_str url, refs_str scheme, refs_str rest, refs_buf *location,
                              refs_error *err) {
    const refs_url_scheme *known;
    for (size_t i = 0; (known = refs_url_scheme_at(i)) != NULL; i++) {
        const bool is_whole = known->form == REFS_URL_WHOLE;
        if (!refs_url_is_scheme(scheme, known->name)) continue;
        if (!is_whole && (rest.size == 0 || rest.data[0] == '/'))
            return refs_fail(err, REFS_INVALID,
                             "expected the name of a bucket or container after %.*s://",
                             REFS_STR_ARG(scheme));
        REFS_TRY(refs_buf_append_str(location, refs_str_from(known->prefix), err));
        if (known->form == REFS_URL_CONTAINER_PATH) return append_container(rest, location, err);
        return refs_buf_append_str(location, is_whole ? url : rest, err);
    }
    return fail_unknown(scheme, err);
}

/* -- relative names ---------------------------------------------------------------------------- */

static size_t find_text(refs_str text, const char *wanted) {
    for (size_t i = 0; i < text.size; i++)
        if (refs_str_starts(refs_str_part(text, i, text.size), wanted)) return i;
    return SIZE_MAX;
}

/* The base of relative names; for a set that is a folder, its parent folder. */
static refs_str folder_of(refs_str base) {
    size_t scheme = refs_url_authority_begin(base);
    if (scheme != SIZE_MAX) {
        size_t query = refs_str_find(refs_str_part(base, scheme, base.size), '?');
        if (query != SIZE_MAX) base = refs_str_part(base, 0, scheme + query);
    }
    while (base.size > 0 && base.data[base.size - 1] == '/') base.size--;
    return refs_path_folder(base);
}

/* The size of the root of a folder, which ".." must not remove: "/", a host, a bucket, an
 * archive. */
static size_t root_size(refs_str folder) {
    size_t brace = refs_str_find_last(folder, '}'), host = refs_url_authority_begin(folder), begin;
    if (brace != SIZE_MAX)
        begin = brace;
    else if (host != SIZE_MAX)
        begin = host;
    else if (refs_str_starts(folder, "/vsi"))
        begin = refs_str_find(refs_str_part(folder, 1, folder.size), '/') + 2;
    else
        return refs_str_starts(folder, "/") ? 1 : 0;
    size_t slash = refs_str_find(refs_str_part(folder, begin, folder.size), '/');
    return slash == SIZE_MAX ? folder.size : begin + slash + 1;
}

/* Removes the last folder of the name after `root`, or appends "..". */
static refs_status step_up(refs_buf *location, size_t root, size_t protected, refs_error *err) {
    refs_str name = refs_str_view((const char *)location->data + root, location->size - root);
    if (name.size <= protected)
        return protected > 0 ? REFS_OK : refs_buf_append(location, "../", 3, err);
    refs_str parent = refs_str_part(name, 0, name.size - 1);
    if (refs_str_is(refs_path_last(parent), "..")) return refs_buf_append(location, "../", 3, err);
    location->size = root + refs_path_folder(parent).size;
    return REFS_OK;
}

/* Appends a part of a path, percent-encoded in an option of "/vsicurl?", where "&" would begin
 * another option. */
static refs_status append_part(refs_str part, bool encoded, refs_buf *location, refs_error *err) {
    return encoded ? refs_percent_append(part, "/:", location, err)
                   : refs_buf_append_str(location, part, err);
}

refs_status refs_url_append_relative(refs_str folder, refs_str path, refs_buf *location,
                                     refs_error *err) {
    const bool encoded = find_text(folder, "/vsicurl?") != SIZE_MAX;
    size_t root = location->size, protected = root_size(folder);
    REFS_TRY(refs_buf_append_str(location, folder, err));
    while (path.size > 0) {
        size_t slash = refs_str_find(path, '/');
        size_t end = slash == SIZE_MAX ? path.size : slash + 1;
        refs_str step = refs_str_part(path, 0, slash);
        if (refs_str_is(step, ".."))
            REFS_TRY(step_up(location, root, protected, err));
        else if (!refs_str_is(step, "."))
            REFS_TRY(append_part(refs_str_part(path, 0, end), encoded, location, err));
        path = refs_str_part(path, end, path.size);
    }
    return REFS_OK;
}

const char *refs_ref_name(const refs_ref *ref) {
    if (ref->url == NULL || ref->location == NULL) return ref->url;
    return refs_file_name_is_relative(refs_str_from(ref->url)) ? ref->location : ref->url;
}

/* -- one URL ----------------------------------------------------------------------------------- */

static refs_status map_url(refs_str url, const refs_url_context *context, size_t n_archives,
                           refs_buf *location, refs_error *err);

static bool is_confined(const refs_url_context *context) {
    return !context->remote_to_local && refs_location_may_be_remote(refs_str_from(context->base));
}

/* Relative names in a set that is read by "/vsigzip/" are not compressed. */
static refs_str without_gzip(refs_str base) {
    static const char prefix[] = "/vsigzip/";
    if (!refs_str_starts(base, prefix)) return base;
    refs_str file = refs_str_part(base, sizeof prefix - 1, base.size);
    return refs_str_starts(file, "vsi") ? refs_str_part(base, sizeof prefix - 2, base.size) : file;
}

static refs_status map_path(refs_str path, const refs_url_context *context, refs_buf *location,
                            refs_error *err) {
    if (path.size == 0) return refs_fail(err, REFS_INVALID, "the URL is empty");
    if (refs_str_starts(path, "/vsi") && is_confined(context))
        return refs_fail(err, REFS_INVALID, "a remote set may not use GDAL's name \"%.*s\"",
                         REFS_STR_ARG(path));
    refs_str drive, rest;
    if (path.data[0] == '/' || (refs_file_name_split(path, &drive, &rest) && drive.size == 1))
        return refs_buf_append_str(location, path, err);
    const refs_str base = without_gzip(refs_str_from(context->base));
    return refs_url_append_relative(folder_of(base), path, location, err);
}

static refs_status map_archive(refs_str url, const refs_url_context *context, size_t n_archives,
                               refs_buf *location, refs_error *err) {
    refs_str member, file;
    const refs_url_archive *archive = refs_url_split_archive(url, &member, &file);
    if (file.size == 0)
        return refs_fail(err, REFS_INVALID, "\"%.*s\" is a member of an archive without a name",
                         REFS_STR_ARG(member));
    if (n_archives == MAX_ARCHIVES)
        return refs_fail(err, REFS_LIMIT, "archives are nested deeper than the limit of %d",
                         MAX_ARCHIVES);
    REFS_TRY(refs_buf_printf(location, err, "%s{", archive->prefix));
    REFS_TRY(map_url(file, context, n_archives + 1, location, err));
    REFS_TRY(refs_buf_append(location, "}/", 2, err));
    return refs_buf_append_str(location, member, err);
}

static refs_status map_url(refs_str url, const refs_url_context *context, size_t n_archives,
                           refs_buf *location, refs_error *err) {
    refs_str scheme, rest, member, file;
    url = refs_url_without_caches(url);
    if (refs_references__is_data_url(url))
        return refs_fail(err, REFS_UNSUPPORTED, "a data: URL cannot be an archive");
    if (refs_url_take_file(&url)) return map_path(url, context, location, err);
    if (!refs_file_name_split(url, &scheme, &rest) || scheme.size == 1)
        return map_path(url, context, location, err);
    if (refs_url_split_archive(url, &member, &file) != NULL)
        return map_archive(url, context, n_archives, location, err);
    return map_scheme(url, scheme, rest, location, err);
}

/* An empty `old` is the beginning of names without a scheme, but not of URLs. */
static bool take_beginning(refs_str *url, refs_str old) {
    refs_str scheme, rest;
    if (old.size > 0) return refs_url_take_beginning(url, old);
    return !refs_file_name_split(*url, &scheme, &rest) && !refs_str_starts(*url, "/vsi");
}

/* Applies the first rewrite that matches the beginning of `url`. */
static refs_status rewrite(refs_str url, const char *const *rewrites, refs_buf *rewritten,
                           refs_error *err) {
    for (; rewrites != NULL && *rewrites != NULL; rewrites++) {
        const char *arrow = strstr(*rewrites, "=>");
        if (arrow == NULL)
            return refs_fail(err, REFS_INVALID, "rewrite \"%s\": expected OLD=>NEW", *rewrites);
        refs_str old = refs_str_view(*rewrites, (size_t)(arrow - *rewrites));
        if (!take_beginning(&url, old)) continue;
        REFS_TRY(refs_buf_append_str(rewritten, refs_str_from(arrow + 2), err));
        break;
    }
    return refs_buf_append_str(rewritten, url, err);
}

static refs_status map_rewritten(refs_str url, const refs_url_context *context, refs_buf *location,
                                 refs_error *err) {
    size_t from = location->size;
    if (refs_str_find(url, '\0') != SIZE_MAX)
        return refs_fail(err, REFS_INVALID, "URL \"%.*s\" contains a NUL byte", REFS_STR_ARG(url));
    /* Makes sure that the buffer is not NULL, so that views of it can be compared. */
    REFS_TRY(refs_buf_reserve(location, from + 1, err));
    REFS_TRY(map_url(url, context, 0, location, err));
    if (location->size == from)
        return refs_fail(err, REFS_INVALID, "URL \"%.*s\" does not name a file", REFS_STR_ARG(url));
    refs_str mapped = refs_str_view((const char *)location->data + from, location->size - from);
    if (context->remote_to_local) return REFS_OK;
    return refs_location_confine(refs_str_from(context->base), mapped, err);
}

refs_status refs_url_map(refs_str url, const refs_url_context *context, refs_buf *location,
                         refs_error *err) {
    REFS_SCOPED_BUF rewritten = REFS_BUF_INIT;
    size_t from = location->size;
    refs_status status = rewrite(url, context->rewrites, &rewritten, err);
    if (status == REFS_OK)
        status = map_rewritten(refs_buf_text(&rewritten), context, location, err);
    if (status != REFS_OK) location->size = from;
    return status;
}

/* -- for people -------------------------------------------------------------------------------- */

static size_t count_of(refs_str text, const char *wanted) {
    size_t n = 0;
    while (n < text.size && strchr(wanted, text.data[n]) != NULL) n++;
    return n;
}

/* Buckets of servers with an alias are named "alias~1". */
static refs_status append_bucket(refs_str *text, refs_buf *shown, refs_error *err) {
    size_t size = 0;
    while (size < text->size && strchr("~/ :", text->data[size]) == NULL) size++;
    REFS_TRY(refs_buf_append_str(shown, refs_str_part(*text, 0, size), err));
    *text = refs_str_part(*text, size, text->size);
    if (refs_str_starts(*text, "~")) {
        const refs_str number = refs_str_part(*text, 1, text->size);
        *text = refs_str_part(number, count_of(number, "0123456789"), number.size);
    }
    return REFS_OK;
}

refs_status refs_url_append_shown(refs_str text, refs_buf *shown, refs_error *err) {
    while (text.size > 0) {
        const refs_url_scheme *scheme = refs_url_scheme_of(text);
        if (scheme == NULL) {
            const size_t slash = refs_str_find(refs_str_part(text, 1, text.size), '/');
            const size_t size = slash == SIZE_MAX ? text.size : slash + 1;
            REFS_TRY(refs_buf_append_str(shown, refs_str_part(text, 0, size), err));
            text = refs_str_part(text, size, text.size);
            continue;
        }
        text = refs_str_part(text, strlen(scheme->prefix), text.size);
        if (scheme->form == REFS_URL_WHOLE) continue;
        REFS_TRY(refs_buf_printf(shown, err, "%s://", scheme->name));
        REFS_TRY(append_bucket(&text, shown, err));
    }
    return REFS_OK;
}
