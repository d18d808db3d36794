/* format.c -- opens a STAC document as the sets that it names, see stac.h. */
#include "stac/stac.h"

#include "named_sets.h"
#include "refs/json.h"

#define MAX_BYTES (64 * REFS_MIB)

/* -- recognising ------------------------------------------------------------------------------- */

static bool is_type(refs_str text) {
    return refs_str_is(text, "Feature") || refs_str_is(text, "FeatureCollection") ||
           refs_str_is(text, "Collection") || refs_str_is(text, "Catalog");
}

/* Reads members of the object until one identifies a STAC document, or `head` ends. */
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
    const refs_str text = refs_bytes_text(head);
    if (refs_json_reader_open_text(text, &reader, NULL) != REFS_OK) return false;
    const bool is = has_member(reader);
    refs_json_reader_free(reader);
    return is;
}

static bool sniff(const refs_set_input *input, refs_bytes head) {
    (void)input;
    return refs_stac_sniff(head);
}

/* -- sets and files ---------------------------------------------------------------------------- */

static refs_status fail_without(refs_error *err) {
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "no asset of this STAC document is a set or a data file (expected the role \"data\" or a "
        "media type such as application/vnd.zarr+kerchunk), and it links to no item");
}

static refs_status read_text(const refs_vfs *vfs, const char *location, const refs_stac *found,
                             refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_vfs_read_whole(vfs, location, MAX_BYTES, &text, err));
    return refs_stac_read(refs_buf_text(&text), found, err);
}

/* Visits the assets of a document, or else the documents that it links to. */
static refs_status read_sets(const refs_vfs *vfs, const char *location, refs_named_sets *sets,
                             refs_error *err) {
    REFS_SCOPED_BUF base = REFS_BUF_INIT, links = REFS_BUF_INIT;
    REFS_TRY(refs_url_append_shown(refs_str_from(location), &base, err));
    REFS_TRY(refs_buf_append(&base, "", 1, err));
    const refs_stac found = {refs_str_from((const char *)base.data), &sets->urls, &sets->titles,
                             &links};
    REFS_TRY(read_text(vfs, location, &found, err));
    if (sets->urls.size == 0) REFS_TRY(refs_buf_append(&sets->urls, links.data, links.size, err));
    return REFS_OK;
}

refs_status refs_stac_each_set(const refs_vfs *vfs, const char *location,
                               const refs_set_visitor *visitor, size_t *n_sets, refs_error *err) {
    REFS_SCOPED_BY(refs_references__named_clear) refs_named_sets sets = {.urls = REFS_BUF_INIT};
    refs_status status = read_sets(vfs, location, &sets, err);
    *n_sets = 0;
    if (status == REFS_OK) status = refs_references__named_each(&sets, visitor, n_sets, err);
    return status;
}

static refs_status open_stac(const refs_set_input *input, refs_set **set, refs_error *err) {
    REFS_SCOPED_BY(refs_references__named_clear) refs_named_sets sets = {.urls = REFS_BUF_INIT};
    REFS_TRY(read_sets(input->vfs, input->location, &sets, err));
    if (sets.urls.size == 0) REFS_TRY(fail_without(err));
    return refs_references__named_open(input, &sets, "STAC document", set, err);
}

const refs_set_format refs_references__stac = {"STAC", sniff, open_stac, NULL};
