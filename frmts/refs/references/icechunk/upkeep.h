/* upkeep.h -- what is done to a local repository of format 2 beside commits: tags, and a list of
 * what is not needed.
 *
 * Read before this: refset.h.
 */
#ifndef REFS_REFERENCES_ICECHUNK_UPKEEP_H
#define REFS_REFERENCES_ICECHUNK_UPKEEP_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Gives the state that a name means ("repo", "repo#branch=dev", "repo@<id>") a tag. REFS_INVALID:
 * there is or was a tag of this name, or no such state. */
refs_status refs_icechunk_tag(const char *name, const char *tag, refs_error *err);

/** Receives the path of a file, from the repository on, or of what an interrupted writer left
 * beside the repository, and its size. */
typedef struct refs_unused_visitor {
    refs_status (*visit)(void *user, const char *path, uint64_t size, refs_error *err);
    void *user;
} refs_unused_visitor;

/** Has it visit each file that no snapshot, branch, tag or update of the repository needs. What a
 * program writes at this moment is among them. */
refs_status refs_icechunk_list_unused(const char *folder, const refs_unused_visitor *visitor,
                                      refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
