/* session_internal.h -- internal declarations of this module. */
#ifndef REFS_SESSION_INTERNAL_H
#define REFS_SESSION_INTERNAL_H

#include "refs/file_pool.h"
#include "refs/pool.h"
#include "session.h"

struct refs_session {
    refs_cloud *cloud;
    refs_http *http;
    refs_file_pool *file_pool;
    refs_http_vfs *http_vfs;
    refs_pool *pool, *prefetch_pool;
};

/** Opens a vfs over the session's engine and local `files`. Cancelling its requests does not affect
 * others. */
refs_status refs_session__open_vfs(const refs_session *session, const refs_vfs *files,
                                   refs_http_vfs **vfs, refs_error *err);

#endif
