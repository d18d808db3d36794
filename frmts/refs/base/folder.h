/* folder.h -- lists a local folder completely, or fails.
 *
 * Read before this: error.h.
 */
#ifndef REFS_FOLDER_H
#define REFS_FOLDER_H

#include "refs/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Receives the entries of a folder. `folder` is its descriptor, for openat(2), fstatat(2) and so
 * on; it and `name` are borrowed. A failure ends the listing, which returns it. */
typedef struct refs_folder_visitor {
    refs_status (*visit)(void *user, int folder, const char *name, refs_error *err);
    void *user;
} refs_folder_visitor;

/** Calls `visitor` for each entry except "." and "..", in no particular order. REFS_NOT_FOUND:
 * there is no such folder (ENOENT, ENOTDIR); REFS_IO: the listing is incomplete. errno is that of
 * the failure. Safe from any thread. */
refs_status refs_folder_each(const char *path, const refs_folder_visitor *visitor, refs_error *err);

/** The same for an open folder, which is closed in any case; `shown` is its name in messages. */
refs_status refs_folder_each_in(int folder, const char *shown, const refs_folder_visitor *visitor,
                                refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
