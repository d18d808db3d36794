/* commit.h -- a new snapshot, its transaction log, and the info that has a branch lead to it.
 *
 * Files are made in a folder of their own, with the names that they have in the repository; the
 * last one that gets its place there is "repo", by a conditional write. If another program wrote it
 * since, the commit is made to follow that one's.
 */
#ifndef REFS_REFERENCES_ICECHUNK_COMMIT_H
#define REFS_REFERENCES_ICECHUNK_COMMIT_H

#include "icechunk/tip.h"
#include "refs/staged.h"
#include "refs/write.h"

/** A commit. */
typedef struct refs_commit {
    const char *folder; /**< that its files are written into */
    const char *branch, *message;
    refs_bytes config; /**< without data: as it is */
} refs_commit;

/** Writes snapshot, log and info of `nodes` as a commit behind `tip`; the info that is replaced
 * goes to the folder of such. */
refs_status refs_icechunk__commit_write(const refs_commit *commit, const refs_icechunk_tip *tip,
                                        refs_written_nodes *nodes, refs_error *err);

/** Writes the info of a tag of the tip. */
refs_status refs_icechunk__commit_tag(const char *folder, const char *tag,
                                      const refs_icechunk_tip *tip, refs_error *err);

/** The branch that writers of sets commit to. */
#define REFS_ICECHUNK_WRITTEN_BRANCH "main"

/** Removes what the writers above made in `folder`, but for "repo": another attempt has other
 * names. */
void refs_icechunk__commit_forget(const char *folder);

/** Where a repository is changed. */
typedef struct refs_commit_place {
    const refs_staged *staged;     /**< the files are made in `written`; the local repository is
                                        `wanted` */
    const refs_write_store *store; /**< that has the repository; NULL: it is local */
} refs_commit_place;

/** Reads what a commit follows. Cleared by the caller also after a failure. */
refs_status refs_icechunk__commit_begin(const refs_commit_place *place,
                                        const refs_icechunk_version *version,
                                        refs_icechunk_tip *tip, refs_error *err);

/** Moves or sends all files to the repository, "repo" last, where that still is what `info` was
 * read from. REFS_CANCELLED without a message: it is not, and has neither the tag (NULL: none was
 * made) nor the snapshot that the files bring; chunks and manifests may have been sent. */
refs_status refs_icechunk__commit_end(const refs_commit_place *place, const refs_repo_info *info,
                                      const char *tag, refs_error *err);

#endif
