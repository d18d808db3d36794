/* file_pool.h -- a refs_vfs that limits the number of open local files, not of handles.
 *
 * A handle stays valid while the pool closes its file, the least recently used one, and reopens it
 * at the next read. The child of a fork reopens its files, too. A read waits while all files within
 * the limit are being read. Remote files do not count: they take no file descriptor.
 *
 * All pools of a process share one limit, refs_file_pool_process_limit(), because the file
 * descriptors of a process are one resource; a pool may have a smaller limit of its own.
 *
 * The vfs below detects a file that was replaced in between (watch.h). Safe from any thread.
 *
 * Read before this: vfs.h, watch.h.
 */
#ifndef REFS_FILE_POOL_H
#define REFS_FILE_POOL_H

#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Local files that all pools together keep open: a quarter of RLIMIT_NOFILE as it was when the
 * first pool was opened, at least 8 and at most 1024. */
size_t refs_file_pool_process_limit(void);

typedef struct refs_file_pool refs_file_pool;

/** Keeps at most `max` files of `vfs` open, which must outlive the pool; 0: no limit of its own. */
refs_status refs_file_pool_open(const refs_vfs *vfs, size_t max, refs_file_pool **pool,
                                refs_error *err);
/** All handles must be closed. NULL is allowed. */
void refs_file_pool_free(refs_file_pool *pool);

/** Valid as long as the pool. */
const refs_vfs *refs_file_pool_functions(const refs_file_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
