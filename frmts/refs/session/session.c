/* session.c -- the resources that all sets of a process share; see session.h. */
#include <unistd.h>

#include "refs/file_name.h"
#include "refs/file_pool.h"
#include "refs/state_name.h"
#include "refs/url.h"
#include "session_internal.h"

#define MAX_THREADS      16
#define PREFETCH_THREADS 4

static unsigned n_threads(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static refs_status open_session(const refs_cloud_options *options, refs_session *session,
                                refs_error *err) {
    REFS_TRY(refs_cloud_open(options, &session->cloud, err));
    const refs_http_options requests = refs_cloud_http_options(session->cloud);
    REFS_TRY(refs_http_open(refs_cloud_functions(session->cloud), &requests, &session->http, err));
    REFS_TRY(refs_file_pool_open(refs_vfs_posix(), 0, &session->file_pool, err));
    REFS_TRY(refs_session__open_vfs(session, refs_file_pool_functions(session->file_pool),
                                    &session->http_vfs, err));
    REFS_TRY(refs_pool_open(n_threads(), &session->pool, err));
    return refs_pool_open(PREFETCH_THREADS, &session->prefetch_pool, err);
}

refs_status refs_session_open(const refs_cloud_options *options, refs_session **session,
                              refs_error *err) {
    refs_session *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    refs_status status = open_session(options, made, err);
    if (status == REFS_OK)
        *session = made;
    else
        refs_session_free(made);
    return status;
}

void refs_session_free(refs_session *session) {
    if (session == NULL) return;
    refs_pool_free(session->prefetch_pool);
    refs_pool_free(session->pool);
    refs_http_vfs_free(session->http_vfs);
    refs_file_pool_free(session->file_pool);
    refs_http_free(session->http);
    refs_cloud_free(session->cloud);
    refs_free(session);
}

refs_status refs_session__open_vfs(const refs_session *session, const refs_vfs *files,
                                   refs_http_vfs **vfs, refs_error *err) {
    return refs_http_vfs_open(session->http, files, REFS_HTTP_MAX_WHOLE_BYTES, vfs, err);
}

const refs_vfs *refs_session_vfs(const refs_session *session) {
    return refs_http_vfs_functions(session->http_vfs);
}

refs_status refs_session_locate(refs_str name, refs_buf *location, refs_error *err) {
    const refs_url_context context = {.base = ""};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_state_plain_name(name, &text, err));
    const refs_str plain = refs_buf_text(&text);
    REFS_TRY(refs_file_name_has_url(plain) ? refs_url_map(plain, &context, location, err)
                                           : refs_buf_append_str(location, plain, err));
    return refs_buf_append(location, "", 1, err);
}

refs_status refs_session_confine(const refs_object_lister *by, const char *document,
                                 const char *name, refs_error *err) {
    const refs_url_context context = {.base = document};
    REFS_SCOPED_BUF plain = REFS_BUF_INIT, location = REFS_BUF_INIT;
    if (refs_cloud_allows_remote_to_local(by->cloud)) return REFS_OK;
    refs_status status = refs_state_plain_name(refs_str_from(name), &plain, err);
    if (status == REFS_OK) status = refs_url_map(refs_buf_text(&plain), &context, &location, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s: %s", document, name);
    return status;
}
