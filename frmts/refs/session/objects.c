/* objects.c -- objects of a store under one name; see session.h. */
#include "refs/join.h"
#include "refs/url.h"
#include "session_internal.h"

typedef struct matching {
    const refs_object_lister *by;
    const char *pattern; /* or NULL: all but what is hidden */
    refs_buf *urls;
} matching;

static refs_status add_object(void *user, const refs_listed *listed, refs_error *err) {
    const matching *at = user;
    REFS_TRY(refs_check_cancelled(&at->by->cancel, err));
    if (listed->is_folder) return REFS_OK;
    const size_t before = at->urls->size;
    REFS_TRY(refs_buf_append_str(at->urls, listed->url, err));
    REFS_TRY(refs_buf_append(at->urls, "", 1, err));
    const char *url = (const char *)at->urls->data + before;
    if (!refs_join_takes_object(at->pattern, url, listed->size)) at->urls->size = before;
    return REFS_OK;
}

/* Objects are listed by what is before the first sign of a pattern, and no deeper than it reaches.
 */
refs_status refs_objects_list(const refs_object_lister *by, const char *name, refs_buf *urls,
                              refs_error *err) {
    const bool is_pattern = !refs_str_ends(refs_str_from(name), "/");
    const size_t sign = is_pattern ? strcspn(name, "*?[") : SIZE_MAX, before = urls->size;
    const bool is_one_folder = is_pattern && strchr(name + sign, '/') == NULL;
    matching at = {by, is_pattern ? name : NULL, urls};
    const refs_list_visitor visitor = {add_object, &at};
    char *begin = refs_str_copy(refs_str_part(refs_str_from(name), 0, sign));
    if (begin == NULL) return refs_fail_nomem(err);
    const refs_list_request request = {begin, is_one_folder ? REFS_LIST_FOLDER : REFS_LIST_TREE};
    refs_status status = refs_host_list(by->host, by->vfs, &request, &visitor, err);
    refs_free(begin);
    if (status == REFS_OK && urls->size == before)
        status = refs_fail(err, REFS_NOT_FOUND, "%s: no file matches this pattern", name);
    return status;
}

refs_status refs_objects_locate(void *lister, const char *location, refs_buf *locations,
                                refs_error *err) {
    refs_buf url = REFS_BUF_INIT, found = REFS_BUF_INIT;
    refs_status status = refs_url_append_shown(refs_str_from(location), &url, err);
    if (status == REFS_OK) status = refs_buf_append(&url, "", 1, err);
    if (status == REFS_OK) status = refs_objects_list(lister, (const char *)url.data, &found, err);
    for (size_t at = 0; at < found.size && status == REFS_OK;) {
        const refs_str name = refs_str_from((const char *)found.data + at);
        status = refs_session_locate(name, locations, err);
        at += name.size + 1;
    }
    refs_buf_clear(&url);
    refs_buf_clear(&found);
    return status;
}
