/* few_files.h -- a refs_vfs of which no more than so many local files are open at a time.
 *
 * What is opened through it stays open for its holder; below it the file that was not used for
 * longest is closed, and opened again when it is next read. A read waits where all files are being
 * read. Files of other machines are handed on: they take no number of the system.
 *
 * That a file was replaced meanwhile is a matter of the vfs below (watch.h). Safe from any thread.
 *
 * Read before this: vfs.h, watch.h.
 */
#ifndef REFS_FEW_FILES_H
#define REFS_FEW_FILES_H

#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct refs_few_files refs_few_files;

/** At most `max` files, at least one, over `vfs`, which must outlive it. */
refs_status refs_few_files_open(const refs_vfs *vfs, size_t max, refs_few_files **few,
                                refs_error *err);
void refs_few_files_free(refs_few_files *few);

const refs_vfs *refs_few_files_functions(const refs_few_files *few);

#ifdef __cplusplus
}
#endif
#endif
