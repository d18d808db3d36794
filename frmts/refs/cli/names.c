/* names.c -- what arguments name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refs/file_name.h"
#include "refs/intern.h"
#include "tool.h"

/* Longest line of a list. */
#define MAX_LINE (64 * REFS_KIB)

/* Of documents of STAC: what they are told by, the size of one and of all together, how many they
 * are, and how deep they link to each other: pages of lists do, one to the next. */
#define STAC_HEAD      (64 * REFS_KIB)
#define STAC_BYTES     (64 * REFS_MIB)
#define STAC_ALL_BYTES (512 * REFS_MIB)
#define STAC_DOCUMENTS 10000
#define STAC_DEPTH     1000

void tool_names_clear(tool_names *names) {
    for (size_t i = 0; i < names->n; i++) refs_free(names->items[i]);
    refs_free(names->items);
    refs_intern_clear(&names->known);
    memset(names, 0, sizeof *names);
}

refs_status tool_names_add(tool_names *names, refs_str name, refs_error *err) {
    if (!refs_grow((void **)&names->items, &names->capacity, names->n, sizeof *names->items) ||
        (names->items[names->n] = refs_str_copy(name)) == NULL)
        return refs_fail_nomem(err);
    names->n++;
    return REFS_OK;
}

refs_status tool_names_have(tool_names *names, const char *name, bool *has, refs_error *err) {
    uint32_t id;
    for (; names->n_known < names->n; names->n_known++)
        REFS_TRY(
            refs_intern_add(&names->known, refs_str_from(names->items[names->n_known]), &id, err));
    *has = refs_intern_find(&names->known, refs_str_from(name)) != REFS_INTERN_NONE;
    return REFS_OK;
}

/* -- object stores ----------------------------------------------------------------------------- */

static refs_status add_objects(const tool_session *session, tool_names *names, const char *name,
                               refs_error *err) {
    const refs_object_lister *lister = &session->lister;
    refs_buf urls = REFS_BUF_INIT;
    refs_status status = refs_objects_list(lister, name, &urls, err);
    for (size_t at = 0; at < urls.size && status == REFS_OK;) {
        const refs_str url = refs_str_from((const char *)urls.data + at);
        status = tool_names_add(names, url, err);
        at += url.size + 1;
    }
    refs_buf_clear(&urls);
    return status;
}

static bool is_of_store(const char *name) {
    return refs_host_can_list(refs_str_from(name)) &&
           (strpbrk(name, "*?[") != NULL || name[strlen(name) - 1] == '/');
}

refs_names_host tool_names_host(const tool_session *session) {
    const refs_notes notes = {tool_note, NULL};
    return refs_names_host_of(&session->lister, &notes);
}

/* -- arguments --------------------------------------------------------------------------------- */

static refs_status add_line(tool_names *names, refs_str line, refs_error *err) {
    if (line.size >= MAX_LINE || memchr(line.data, '\0', line.size) != NULL)
        return refs_fail(err, REFS_INVALID,
                         "standard input: \"%.*s…\" is no name: expected lines of less than %zu "
                         "bytes without NUL, found one of %zu",
                         (int)strnlen(line.data, 40), line.data, MAX_LINE, line.size);
    return line.size > 0 ? tool_names_add(names, line, err) : REFS_OK;
}

static refs_status add_lines(tool_names *names, refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = tool_read_input(&text, err);
    refs_str rest = refs_str_view((const char *)text.data, text.size);
    refs_str name;
    while (status == REFS_OK && refs_str_next_line(&rest, &name))
        status = add_line(names, name, err);
    refs_buf_clear(&text);
    return status;
}

static refs_status add_expanded(const tool_session *session, tool_names *names, const char *name,
                                refs_error *err) {
    const refs_names_host host = tool_names_host(session);
    refs_buf found = REFS_BUF_INIT;
    refs_status status = refs_join_expand(&host, name, &found, err);
    for (size_t at = 0; at < found.size && status == REFS_OK;) {
        const refs_str one = refs_str_from((const char *)found.data + at);
        status = tool_names_add(names, one, err);
        at += one.size + 1;
    }
    refs_buf_clear(&found);
    return status;
}

/* Receives the names of sources, and a message for each that cannot be had. Without `skipped`,
 * these are errors. */
typedef struct expanding {
    const tool_session *session;
    tool_names *names, *skipped;
} expanding;

/* -- STAC -------------------------------------------------------------------------------------- */

/* Documents that link to each other, one after the other. */
typedef struct stac_walk {
    const tool_session *session;
    tool_names *names, *skipped; /* `skipped` may be NULL */
    refs_intern documents;       /* that were seen */
    size_t bytes;                /* of all of them */
    unsigned depth;
} stac_walk;

/* Whether a name is that of a document, which its beginning tells. */
static bool is_stac(const tool_session *session, const char *name) {
    const refs_str text = refs_str_from(name);
    uint8_t *head = NULL;
    refs_buf location = REFS_BUF_INIT;
    size_t got = 0;
    if (!refs_str_ends(text, ".json") && !refs_str_ends(text, ".geojson")) return false;
    if (tool_location(name, &location, NULL) == REFS_OK &&
        refs_buf_append(&location, "", 1, NULL) == REFS_OK)
        head = refs_alloc(STAC_HEAD);
    const refs_vfs_range range = {0, STAC_HEAD, head};
    if (head != NULL && refs_vfs_read_range(session->vfs, (const char *)location.data, &range, &got,
                                            NULL) != REFS_OK)
        got = 0;
    bool is_it = refs_stac_is(refs_str_view((const char *)head, got));
    refs_free(head);
    refs_buf_clear(&location);
    return is_it;
}

/* Takes note of a document; *is_new is false where it was seen before. */
static refs_status note_document(stac_walk *walk, const char *name, bool *is_new, refs_error *err) {
    uint32_t id;
    *is_new = refs_intern_find(&walk->documents, refs_str_from(name)) == REFS_INTERN_NONE;
    if (*is_new && walk->documents.count == STAC_DOCUMENTS)
        return refs_fail(err, REFS_LIMIT, "%s: the catalogue has more than %d documents", name,
                         STAC_DOCUMENTS);
    return refs_intern_add(&walk->documents, refs_str_from(name), &id, err);
}

static refs_status read_document(stac_walk *walk, const char *name, refs_buf *text,
                                 refs_error *err) {
    refs_buf location = REFS_BUF_INIT;
    refs_status status = tool_location(name, &location, err);
    if (status == REFS_OK) status = refs_buf_append(&location, "", 1, err);
    if (status == REFS_OK)
        status = refs_vfs_read_whole(walk->session->vfs, (const char *)location.data, STAC_BYTES,
                                     text, err);
    refs_buf_clear(&location);
    walk->bytes += text->size;
    if (status == REFS_OK && walk->bytes > STAC_ALL_BYTES)
        status = refs_fail(err, REFS_LIMIT, "%s: the catalogue has more than %zu bytes", name,
                           (size_t)STAC_ALL_BYTES);
    return status;
}

/* What a document names and cannot be had is one source less, where errors are skipped. */
static refs_status skip(stac_walk *walk, const refs_error *problem, refs_error *err) {
    if (walk->skipped != NULL && problem->status != REFS_OK && problem->status != REFS_NOMEM &&
        problem->status != REFS_LIMIT && problem->status != REFS_CANCELLED)
        return tool_names_add(walk->skipped, refs_str_from(problem->message), err);
    return refs_fail(err, problem->status, "%s", problem->message);
}

static refs_status add_stac(stac_walk *walk, const char *name, refs_error *err) {
    refs_buf text = REFS_BUF_INIT, assets = REFS_BUF_INIT, links = REFS_BUF_INIT;
    bool is_new;
    const refs_stac found = {refs_str_from(name), &assets, &links};
    REFS_TRY(tool_check_interrupted(err));
    REFS_TRY(note_document(walk, name, &is_new, err));
    if (!is_new) return REFS_OK;
    if (++walk->depth > STAC_DEPTH)
        return refs_fail(err, REFS_LIMIT, "%s: more than %d documents that link to each other",
                         name, STAC_DEPTH);
    refs_status status = read_document(walk, name, &text, err);
    if (status == REFS_OK)
        status = refs_stac_read(refs_str_view((const char *)text.data, text.size), &found, err);
    for (size_t at = 0; status == REFS_OK && at < assets.size;) {
        const refs_str asset = refs_str_from((const char *)assets.data + at);
        refs_error problem = REFS_ERROR_INIT;
        status = tool_confine(walk->session, name, asset.data, &problem);
        if (status == REFS_OK) status = tool_names_add(walk->names, asset, &problem);
        status = skip(walk, &problem, err);
        at += asset.size + 1;
    }
    for (size_t at = 0; status == REFS_OK && at < links.size;) {
        const char *link = (const char *)links.data + at;
        refs_error problem = REFS_ERROR_INIT;
        status = tool_confine(walk->session, name, link, &problem);
        if (status == REFS_OK) status = add_stac(walk, link, &problem);
        status = skip(walk, &problem, err);
        at += strlen(link) + 1;
    }
    walk->depth--;
    refs_buf_clear(&text);
    refs_buf_clear(&assets);
    refs_buf_clear(&links);
    return status;
}

static size_t count_skipped(const tool_names *skipped) {
    return skipped != NULL ? skipped->n : 0;
}

static refs_status add_data_of_stac(const expanding *to, const char *name, refs_error *err) {
    stac_walk walk = {.session = to->session, .names = to->names, .skipped = to->skipped};
    const tool_names *names = to->names;
    const size_t before = names->n + count_skipped(to->skipped);
    refs_status status = add_stac(&walk, name, err);
    if (status == REFS_OK && names->n + count_skipped(to->skipped) == before)
        status = refs_fail(err, REFS_NOT_FOUND, "%s: names no asset that is data", name);
    refs_intern_clear(&walk.documents);
    return status;
}

/* What GDAL calls "/vsis3/bucket/key" is "s3://bucket/key". */
static refs_status add_of_gdal(const expanding *to, const char *name, refs_error *err);

static refs_status add_argument(const expanding *to, const char *name, refs_error *err) {
    const tool_session *session = to->session;
    tool_names *names = to->names;
    if (strcmp(name, "-") == 0) return add_lines(names, err);
    if (strncmp(name, "/vsi", 4) == 0) return add_of_gdal(to, name, err);
    if (is_stac(session, name)) return add_data_of_stac(to, name, err);
    if (is_of_store(name)) return add_objects(session, names, name, err);
    if (refs_file_name_has_url(refs_str_from(name)))
        return tool_names_add(names, refs_str_from(name), err);
    return add_expanded(session, names, name, err);
}

static refs_status add_of_gdal(const expanding *to, const char *name, refs_error *err) {
    refs_buf url = REFS_BUF_INIT;
    refs_status status = refs_url_append_shown(refs_str_from(name), &url, err);
    if (status == REFS_OK) status = refs_buf_append(&url, "", 1, err);
    const char *shown = (const char *)url.data;
    if (status == REFS_OK)
        status = strncmp(shown, "/vsi", 4) != 0 ? add_argument(to, shown, err)
                                                : add_expanded(to->session, to->names, name, err);
    refs_buf_clear(&url);
    return status;
}

refs_status tool_expand(const tool_session *session, const tool_list *arguments, tool_names *names,
                        tool_names *skipped, refs_error *err) {
    const expanding to = {session, names, skipped};
    for (size_t i = 0; i < arguments->n; i++) REFS_TRY(add_argument(&to, arguments->items[i], err));
    if (names->n > 0) return REFS_OK;
    if (count_skipped(skipped) == 0) return refs_fail(err, REFS_INVALID, "no source is given");
    return refs_fail(err, REFS_INVALID, "expected at least one source, found %zu that are left out",
                     skipped->n);
}
