/* tip.h -- the newest snapshot of a branch, the parent of a commit. */
#ifndef REFS_REFERENCES_ICECHUNK_TIP_H
#define REFS_REFERENCES_ICECHUNK_TIP_H

#include "icechunk/repo_info.h"
#include "icechunk/written_nodes.h"

/** Zeroed: there is no repository. */
typedef struct refs_icechunk_tip {
    refs_repo_info info;
    refs_object_id id;
    int64_t written_us;
    refs_written_nodes nodes;
} refs_icechunk_tip;

/** Reads the tip of the repository of format 2 at `folder`. REFS_NOT_FOUND: there is none. Clear
 * `tip` also after a failure. */
refs_status refs_icechunk__tip_read(const refs_vfs *vfs, const char *folder,
                                    const refs_icechunk_version *version, refs_icechunk_tip *tip,
                                    refs_error *err);
void refs_icechunk__tip_clear(refs_icechunk_tip *tip);

/** Creates a repository with only its first snapshot in `folder`, and sets `tip` to it. */
refs_status refs_icechunk__tip_begin(const char *folder, refs_icechunk_tip *tip, refs_error *err);

/** Microseconds since 1970. */
int64_t refs_icechunk__now_us(void);

#endif
