/* upkeep.h -- operations on a repository of format 2 other than commits: tags, and listing unused
 * files.
 *
 * Read before this: refset.h.
 */
#ifndef REFS_REFERENCES_ICECHUNK_UPKEEP_H
#define REFS_REFERENCES_ICECHUNK_UPKEEP_H

#include "refs/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The folder in a name that may also select a version: "a/repo" of "a/repo@v1". */
refs_str refs_icechunk_folder_of(refs_str name);

/** Tags the version that a name selects ("repo", "repo#branch=dev", "repo@<id>"). With `store`, the
 * repository is in that store, and files are staged next to the local folder of the name.
 * REFS_INVALID: the tag exists or was deleted, or there is no such version. */
refs_status refs_icechunk_tag(const char *name, const char *tag, const refs_write_store *store,
                              refs_error *err);

/** The files of a repository that are in use. */
typedef struct refs_icechunk_needed refs_icechunk_needed;

/** Whether a repository has native chunks, whose names are only in manifests. */
typedef enum refs_own_chunks { REFS_OWN_CHUNKS_NONE, REFS_OWN_CHUNKS_SOME } refs_own_chunks;

/** Finds the files that a snapshot, branch, tag or update of the repository at `folder` (without a
 * trailing slash) uses. Free *needed. */
refs_status refs_icechunk_needed_open(const struct refs_vfs *vfs, const char *folder,
                                      refs_own_chunks chunks, refs_icechunk_needed **needed,
                                      refs_error *err);
void refs_icechunk_needed_free(refs_icechunk_needed *needed);

/** Whether `path`, relative to the repository ("manifests/4G31…"), is an unused file of a
 * commit. */
bool refs_icechunk_is_unused(const refs_icechunk_needed *needed, refs_str path);

/** Receives the path, relative to the repository, and the size of an unused file, or of temporary
 * files that an interrupted writer left next to the repository. */
typedef struct refs_unused_visitor {
    refs_status (*visit)(void *user, const char *path, uint64_t size, refs_error *err);
    void *user;
} refs_unused_visitor;

/** Calls `visitor` for each unused file of a local repository, including those that another program
 * is writing. */
refs_status refs_icechunk_list_unused(const char *folder, const refs_unused_visitor *visitor,
                                      refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
