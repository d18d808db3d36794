/* stac_walk.c -- the assets of STAC documents that link to each other; see session.h. */
#include "refs/intern.h"
#include "refs/stac/stac.h"
#include "refs/url.h"
#include "refs/vfs.h"
#include "session_internal.h"

/* Limits: first bytes that are sniffed, size of one document and of all, number of documents, and
 * depth of links, which includes the pages of lists. */
#define HEAD_BYTES    (64 * REFS_KIB)
#define MAX_BYTES     (64 * REFS_MIB)
#define MAX_ALL_BYTES (512 * REFS_MIB)
#define MAX_DOCUMENTS 10000
#define MAX_DEPTH     1000

/* A traversal of linked documents. */
typedef struct walk {
    const refs_object_lister *by;
    const refs_stac_visitor *visitor;
    refs_intern documents; /* visited */
    size_t bytes;          /* of all of them */
    unsigned depth;
} walk;

/* Whether a name may be a document: APIs have items at ".../collections/c/items/i". */
static bool may_be_document(refs_str name) {
    const refs_str folder = refs_path_parent(name);
    return refs_str_ends(name, ".json") || refs_str_ends(name, ".geojson") ||
           refs_str_ends(folder, "/items") || refs_str_ends(folder, "/collections") ||
           (refs_str_ends(name, "/items") && refs_url_authority_begin(name) != SIZE_MAX);
}

bool refs_stac_is_document(const refs_object_lister *by, const char *name) {
    const refs_str text = refs_str_from(name);
    REFS_SCOPED uint8_t *head = NULL;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    size_t got = 0;
    if (!may_be_document(text)) return false;
    if (refs_session_locate(text, &location, NULL) == REFS_OK) head = refs_alloc(HEAD_BYTES);
    const refs_vfs_range range = {0, HEAD_BYTES, head};
    if (head != NULL &&
        refs_vfs_read_range(by->vfs, (const char *)location.data, &range, &got, NULL) != REFS_OK)
        got = 0;
    return refs_stac_sniff(refs_bytes_view(head, got));
}

/* Records a document; *is_new is false if it was recorded before. */
static refs_status note_document(walk *all, const char *name, bool *is_new, refs_error *err) {
    uint32_t id;
    *is_new = refs_intern_find(&all->documents, refs_str_from(name)) == REFS_INTERN_NONE;
    if (*is_new && all->documents.count == MAX_DOCUMENTS)
        return refs_fail(err, REFS_LIMIT,
                         "%s: the catalogue has more documents than the limit of %d", name,
                         MAX_DOCUMENTS);
    return refs_intern_add(&all->documents, refs_str_from(name), &id, err);
}

static refs_status read_document(walk *all, const char *name, refs_buf *text, refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_status status = refs_session_locate(refs_str_from(name), &location, err);
    if (status == REFS_OK)
        status =
            refs_vfs_read_whole(all->by->vfs, (const char *)location.data, MAX_BYTES, text, err);
    all->bytes += text->size;
    if (status == REFS_OK && all->bytes > MAX_ALL_BYTES)
        status =
            refs_fail(err, REFS_LIMIT, "%s: the catalogue has more bytes than the limit of %zu",
                      name, (size_t)MAX_ALL_BYTES);
    return status;
}

/* Skips a linked document that cannot be opened, if the visitor has `skip`. */
static refs_status skip(const walk *all, const refs_error *problem, refs_error *err) {
    const refs_stac_visitor *visitor = all->visitor;
    const bool may_be_skipped = problem->status != REFS_OK && problem->status != REFS_NOMEM &&
                                problem->status != REFS_LIMIT && problem->status != REFS_CANCELLED;
    if (may_be_skipped && visitor->skip != NULL)
        return visitor->skip(visitor->user, problem->message, err);
    return refs_fail(err, problem->status, "%s", problem->message);
}

static refs_status visit_asset(const walk *all, const char *document, const char *asset,
                               refs_error *err) {
    REFS_TRY(refs_session_confine(all->by, document, asset, err));
    return all->visitor->asset(all->visitor->user, asset, err);
}

static refs_status visit_document(walk *all, const char *name, refs_error *err);

static refs_status visit_link(walk *all, const char *document, const char *link, refs_error *err) {
    REFS_TRY(refs_session_confine(all->by, document, link, err));
    return visit_document(all, link, err);
}

static refs_status visit_contents(walk *all, const char *name, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT, assets = REFS_BUF_INIT, links = REFS_BUF_INIT;
    const refs_stac found = {.base = refs_str_from(name), .assets = &assets, .links = &links};
    REFS_TRY(read_document(all, name, &text, err));
    const refs_status status = refs_stac_read(refs_buf_text(&text), &found, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", name);
    REFS_TRY(status);
    const char *asset, *link;
    for (refs_str rest = refs_buf_text(&assets); refs_str_next_text(&rest, &asset);) {
        refs_error problem = REFS_ERROR_INIT;
        if (visit_asset(all, name, asset, &problem) != REFS_OK) REFS_TRY(skip(all, &problem, err));
    }
    for (refs_str rest = refs_buf_text(&links); refs_str_next_text(&rest, &link);) {
        refs_error problem = REFS_ERROR_INIT;
        if (visit_link(all, name, link, &problem) != REFS_OK) REFS_TRY(skip(all, &problem, err));
    }
    return REFS_OK;
}

static refs_status visit_document(walk *all, const char *name, refs_error *err) {
    bool is_new;
    REFS_TRY(refs_check_cancelled(&all->by->cancel, err));
    REFS_TRY(note_document(all, name, &is_new, err));
    if (!is_new) return REFS_OK;
    if (all->depth == MAX_DEPTH)
        return refs_fail(err, REFS_LIMIT, "%s: documents are linked deeper than the limit of %d",
                         name, MAX_DEPTH);
    all->depth++;
    const refs_status status = visit_contents(all, name, err);
    all->depth--;
    return status;
}

refs_status refs_stac_each(const refs_object_lister *by, const char *name,
                           const refs_stac_visitor *visitor, refs_error *err) {
    walk all = {.by = by, .visitor = visitor};
    const refs_status status = visit_document(&all, name, err);
    refs_intern_clear(&all.documents);
    return status;
}
