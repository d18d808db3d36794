/* names.c -- expands arguments to the names of sources. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refs/file_name.h"
#include "refs/url.h"
#include "tool.h"

/* Limit of the length of a line. */
#define MAX_LINE (64 * REFS_KIB)

void tool_names_clear(tool_names *names) {
    for (size_t i = 0; i < names->n; i++) refs_free(names->items[i]);
    refs_free(names->items);
    memset(names, 0, sizeof *names);
}

/* file: URLs become paths, so that names compare equal. */
refs_status tool_names_add(tool_names *names, refs_str name, refs_error *err) {
    (void)refs_url_take_file(&name);
    if (!refs_grow((void **)&names->items, &names->capacity, names->n, sizeof *names->items) ||
        (names->items[names->n] = refs_str_copy(name)) == NULL)
        return refs_fail_nomem(err);
    names->n++;
    return REFS_OK;
}

/* -- object stores ----------------------------------------------------------------------------- */

/* Adds NUL-terminated texts, which the argument `name` expands to. */
static refs_status add_each(tool_names *names, const char *name, refs_str texts, refs_error *err) {
    refs_str named = refs_str_from(name);
    (void)refs_url_take_file(&named);
    for (const char *text; refs_str_next_text(&texts, &text);) {
        REFS_TRY(tool_names_add(names, refs_str_from(text), err));
        names->n_found += !refs_str_is(named, names->items[names->n - 1]);
    }
    return REFS_OK;
}

static refs_status add_objects(const tool_session *session, tool_names *names, const char *name,
                               refs_error *err) {
    REFS_SCOPED_BUF urls = REFS_BUF_INIT;
    REFS_TRY(refs_objects_list(&session->lister, name, &urls, err));
    return add_each(names, name, refs_buf_text(&urls), err);
}

static bool is_of_store(const char *name) {
    return refs_cloud_can_list(refs_str_from(name)) &&
           (strpbrk(name, "*?[") != NULL || name[strlen(name) - 1] == '/');
}

/* -- arguments --------------------------------------------------------------------------------- */

static refs_status add_line(tool_names *names, refs_str line, refs_error *err) {
    if (line.size >= MAX_LINE || memchr(line.data, '\0', line.size) != NULL)
        return refs_fail(err, REFS_INVALID,
                         "standard input: invalid name \"%.*s…\": expected lines of less than %zu "
                         "bytes without NUL, found one of %zu",
                         (int)strnlen(line.data, 40), line.data, MAX_LINE, line.size);
    return line.size > 0 ? tool_names_add(names, line, err) : REFS_OK;
}

static refs_status add_lines(tool_names *names, refs_error *err) {
    refs_str rest, name;
    REFS_TRY(tool_read_input(&rest, err));
    while (refs_str_next_line(&rest, &name)) REFS_TRY(add_line(names, name, err));
    return REFS_OK;
}

static refs_status add_expanded(const tool_session *session, tool_names *names, const char *name,
                                refs_error *err) {
    const refs_notes notes = {tool_note, NULL};
    const refs_names_host host = refs_names_host_of(&session->lister, &notes);
    REFS_SCOPED_BUF found = REFS_BUF_INIT;
    REFS_TRY(refs_combine_expand(&host, name, &found, err));
    return add_each(names, name, refs_buf_text(&found), err);
}

/* Receives the names of sources, and a message for each one that is unavailable. If `skipped` is
 * NULL, these are errors. */
typedef struct expanding {
    const tool_session *session;
    tool_names *names, *skipped;
} expanding;

/* -- STAC -------------------------------------------------------------------------------------- */

static refs_status add_asset(void *user, const char *name, refs_error *err) {
    const expanding *to = user;
    return tool_names_add(to->names, refs_str_from(name), err);
}

static refs_status add_skipped(void *user, const char *message, refs_error *err) {
    const expanding *to = user;
    return tool_names_add(to->skipped, refs_str_from(message), err);
}

static size_t count_skipped(const tool_names *skipped) {
    return skipped != NULL ? skipped->n : 0;
}

static refs_status add_data_of_stac(const expanding *to, const char *name, refs_error *err) {
    const refs_stac_visitor visitor = {add_asset, to->skipped != NULL ? add_skipped : NULL,
                                       (void *)(uintptr_t)to};
    const size_t before = to->names->n + count_skipped(to->skipped);
    REFS_TRY(refs_stac_each(&to->session->lister, name, &visitor, err));
    if (to->names->n + count_skipped(to->skipped) > before) return REFS_OK;
    return refs_fail(err, REFS_NOT_FOUND,
                     "%s: expected a STAC document with assets that are data, found none", name);
}

/* Converts GDAL's "/vsis3/bucket/key" to "s3://bucket/key". */
static refs_status add_of_gdal(const expanding *to, const char *name, refs_error *err);

static refs_status add_argument(const expanding *to, const char *name, refs_error *err) {
    const tool_session *session = to->session;
    tool_names *names = to->names;
    if (strcmp(name, "-") == 0) return add_lines(names, err);
    if (strncmp(name, "/vsi", 4) == 0) return add_of_gdal(to, name, err);
    if (refs_stac_is_document(&session->lister, name)) return add_data_of_stac(to, name, err);
    if (is_of_store(name)) return add_objects(session, names, name, err);
    if (refs_file_name_has_url(refs_str_from(name)))
        return tool_names_add(names, refs_str_from(name), err);
    return add_expanded(session, names, name, err);
}

static refs_status add_of_gdal(const expanding *to, const char *name, refs_error *err) {
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    REFS_TRY(refs_url_append_shown(refs_str_from(name), &url, err));
    REFS_TRY(refs_buf_append(&url, "", 1, err));
    const char *shown = (const char *)url.data;
    return strncmp(shown, "/vsi", 4) != 0 ? add_argument(to, shown, err)
                                          : add_expanded(to->session, to->names, name, err);
}

refs_status tool_expand(const tool_session *session, const refs_name_list *arguments,
                        tool_names *names, tool_names *skipped, refs_error *err) {
    const expanding to = {session, names, skipped};
    for (size_t i = 0; i < arguments->n; i++) REFS_TRY(add_argument(&to, arguments->items[i], err));
    return REFS_OK;
}

refs_status tool_show_source(const refs_combine_masters *masters, const char *name, refs_buf *shown,
                             refs_error *err) {
    const char *master = refs_combine_master_of(masters, name);
    return refs_buf_printf(shown, err, "%s%s%s", name, master != NULL ? " of " : "",
                           master != NULL ? master : "");
}
