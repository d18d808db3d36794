/* commit.h -- writes a snapshot, its transaction log, and the info that moves a branch to it.
 *
 * Files are made in a staging folder, with the names that they have in the repository; the last one
 * to be moved is "repo", by a conditional write. If another program has written it since, the
 * commit is made again on top of that one.
 */
#ifndef REFS_REFERENCES_ICECHUNK_COMMIT_H
#define REFS_REFERENCES_ICECHUNK_COMMIT_H

#include "icechunk/tip.h"
#include "refs/staged.h"
#include "refs/write.h"

/** A commit. */
typedef struct refs_commit {
    const char *folder; /**< staging folder */
    const char *branch, *message;
    refs_bytes config; /**< new configuration; without data: unchanged */
} refs_commit;

/** Writes snapshot, log and info of `nodes` as a commit on top of `tip`; the replaced info is kept
 * in the folder of old ones. */
refs_status refs_icechunk__commit_write(const refs_commit *commit, const refs_icechunk_tip *tip,
                                        refs_written_nodes *nodes, refs_error *err);

/** Writes an info with a new tag of the tip. */
refs_status refs_icechunk__commit_tag(const char *folder, const char *tag,
                                      const refs_icechunk_tip *tip, refs_error *err);

/** The branch that writers of sets commit to. */
#define REFS_ICECHUNK_WRITTEN_BRANCH "main"

/** Removes the files that the functions above made in `folder`, except "repo", because another
 * attempt has other names. */
void refs_icechunk__commit_forget(const char *folder);

/** The repository that is changed. */
typedef struct refs_commit_place {
    const refs_staged *staged;     /**< `written` is the staging folder, `wanted` the local
                                      repository */
    const refs_write_store *store; /**< the store of the repository; NULL: it is local */
} refs_commit_place;

/** Reads the current state. The caller clears it, also after a failure. */
refs_status refs_icechunk__commit_begin(const refs_commit_place *place,
                                        const refs_icechunk_version *version,
                                        refs_icechunk_tip *tip, refs_error *err);

/** Moves or uploads all files to the repository, "repo" last, if "repo" is still the one from which
 * `info` was read. REFS_CANCELLED without a message: it is another one, without the new tag (NULL:
 * none) or the new snapshot; chunks and manifests may have been uploaded. */
refs_status refs_icechunk__commit_end(const refs_commit_place *place, const refs_repo_info *info,
                                      const char *tag, refs_error *err);

#endif
