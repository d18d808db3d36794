/* objects.c -- lists objects of a store; see session.h. */
#include "refs/combine.h"
#include "refs/scan.h"
#include "session_internal.h"

typedef struct matching {
    const refs_object_lister *by;
    const char *pattern; /* or NULL: all objects that are not hidden */
    refs_buf *names;
} matching;

/* Records all listed objects, also those that do not match, such as the GRIB files of indices. */
static refs_status note_object(const refs_object_lister *by, const refs_listed *listed,
                               refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    if (by->scans == NULL) return REFS_OK;
    REFS_TRY(refs_session_locate(listed->url, &location, err));
    refs_scan_shared_note(by->scans, refs_str_from((const char *)location.data), listed->size,
                          listed->modified_s);
    return REFS_OK;
}

static refs_status add_object(void *user, const refs_listed *listed, refs_error *err) {
    const matching *at = user;
    REFS_TRY(refs_check_cancelled(&at->by->cancel, err));
    REFS_TRY(refs_cancel_scope_check(err));
    if (listed->is_folder) return REFS_OK;
    REFS_TRY(note_object(at->by, listed, err));
    const size_t before = at->names->size;
    REFS_TRY(refs_buf_append_text(at->names, listed->url, err));
    const char *url = (const char *)at->names->data + before;
    if (!refs_combine_takes_object(at->pattern, url, listed->size)) at->names->size = before;
    return REFS_OK;
}

/* Lists by the prefix before the first wildcard, and no deeper than the pattern.
 */
refs_status refs_objects_list(const refs_object_lister *by, const char *name, refs_buf *names,
                              refs_error *err) {
    const bool is_pattern = !refs_str_ends(refs_str_from(name), "/");
    const size_t sign = is_pattern ? strcspn(name, "*?[") : SIZE_MAX, before = names->size;
    const bool is_one_folder = is_pattern && strchr(name + sign, '/') == NULL;
    matching at = {by, is_pattern ? name : NULL, names};
    const refs_list_visitor visitor = {add_object, &at};
    REFS_SCOPED char *begin = refs_str_copy(refs_str_part(refs_str_from(name), 0, sign));
    if (begin == NULL) return refs_fail_nomem(err);
    const refs_list_request request = {begin, is_one_folder ? REFS_LIST_FOLDER : REFS_LIST_TREE};
    REFS_TRY(refs_cloud_list(by->cloud, by->vfs, &request, &visitor, err));
    if (names->size == before) REFS_TRY(refs_combine_fail_unmatched(name, err));
    return REFS_OK;
}
