/* upkeep.h -- what is done to a repository of format 2, except commits: tags, and a list of files
 * that are not needed.
 *
 * Read before this: refset.h.
 */
#ifndef REFS_REFERENCES_ICECHUNK_UPKEEP_H
#define REFS_REFERENCES_ICECHUNK_UPKEEP_H

#include "refs/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The folder of a repository in a name that may also select a state of it: "a/repo" of
 * "a/repo@v1". */
refs_str refs_icechunk_folder_of(refs_str name);

/** Gives the state that a name means ("repo", "repo#branch=dev", "repo@<id>") a tag. With `store`,
 * the repository is there, and its files are made next to the local folder of the name.
 * REFS_INVALID: there is or was a tag of this name, or no such state. */
refs_status refs_icechunk_tag(const char *name, const char *tag, const refs_write_store *store,
                              refs_error *err);

/** Which files of a repository are needed. */
typedef struct refs_icechunk_needed refs_icechunk_needed;

/** Whether a repository has chunks of its own. Where it has, manifests are read for their names. */
typedef enum refs_own_chunks { REFS_OWN_CHUNKS_NONE, REFS_OWN_CHUNKS_SOME } refs_own_chunks;

/** Finds the files that a snapshot, branch, tag or update of the repository at `folder` (without a
 * slash at its end) needs. To be freed. */
refs_status refs_icechunk_needed_open(const struct refs_vfs *vfs, const char *folder,
                                      refs_own_chunks chunks, refs_icechunk_needed **needed,
                                      refs_error *err);
void refs_icechunk_needed_free(refs_icechunk_needed *needed);

/** Whether `path`, counted from the repository ("manifests/4G31…"), is that of a file of a commit
 * and not needed. */
bool refs_icechunk_is_unused(const refs_icechunk_needed *needed, refs_str path);

/** Receives the path of a file, from the repository on, or of what an interrupted writer left
 * beside the repository, and its size. */
typedef struct refs_unused_visitor {
    refs_status (*visit)(void *user, const char *path, uint64_t size, refs_error *err);
    void *user;
} refs_unused_visitor;

/** Has it visit each file of a local repository that is not needed. What a program writes at this
 * moment is among them. */
refs_status refs_icechunk_list_unused(const char *folder, const refs_unused_visitor *visitor,
                                      refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
