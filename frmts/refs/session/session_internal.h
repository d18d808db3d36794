/* session_internal.h -- what the files of this module share. */
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

/** A vfs over the session's engine and local `files`, whose requests can be cancelled without those
 * of others. */
refs_status refs_session__open_vfs(const refs_session *session, const refs_vfs *files,
                                   refs_http_vfs **vfs, refs_error *err);

#endif
