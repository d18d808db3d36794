/* zip_vfs.h -- a refs_vfs that reads the members of ZIP archives that another one has.
 *
 * "/vsizip/{FILE}/MEMBER", as URLs "zip://MEMBER::FILE" are mapped, is a member of the archive
 * FILE, which the refs_vfs below opens, or which is a member itself. All other names go below. A
 * member that is absent is certainly absent: the directory says so. Deflated members are
 * decompressed when they are opened; larger stored ones are read by ranges.
 *
 * Safe from any thread.
 *
 * Read before this: vfs.h.
 */
#ifndef REFS_STORAGE_ZIP_VFS_H
#define REFS_STORAGE_ZIP_VFS_H

#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct refs_zip_vfs refs_zip_vfs;

/** `below` must outlive it. */
refs_status refs_zip_vfs_open(const refs_vfs *below, refs_zip_vfs **vfs, refs_error *err);

/** All handles must be closed. NULL is allowed. */
void refs_zip_vfs_free(refs_zip_vfs *vfs);

/** Valid as long as the vfs. */
const refs_vfs *refs_zip_vfs_functions(const refs_zip_vfs *vfs);

#ifdef __cplusplus
}
#endif
#endif
