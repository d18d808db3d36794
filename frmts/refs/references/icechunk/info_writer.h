/* info_writer.h -- writes the file "repo" after a commit or another change.
 *
 * It lists all snapshots, branches and tags, and the latest updates; older updates are in the files
 * that it replaced.
 */
#ifndef REFS_REFERENCES_ICECHUNK_INFO_WRITER_H
#define REFS_REFERENCES_ICECHUNK_INFO_WRITER_H

#include "icechunk/repo_info.h"
#include "icechunk/written_nodes.h"

/** A change; members that are NULL or have no data change nothing. */
typedef struct refs_info_change {
    const refs_written_snapshot *snapshot; /**< a new snapshot, to which `branch` points */
    const char *branch;
    const char *tag;              /**< a new one */
    const refs_object_id *tagged; /**< the snapshot of `tag` */
    refs_bytes config;
    const char *backup; /**< the name of the file that keeps the replaced info */
    int64_t at_us;      /**< microseconds since 1970; increased if it is not later than the last
                           update */
} refs_info_change;

/** Sets `flat` to the info of a repository with only its first snapshot, on the branch "main". */
refs_status refs_icechunk__info_begin(const refs_written_snapshot *first, int64_t at_us,
                                      refs_flat_writer *flat, refs_error *err);

/** Sets `flat` to the info `before` with a change. REFS_INVALID: there is no such branch or
 * snapshot, or the tag exists or was deleted. */
refs_status refs_icechunk__info_change(const refs_repo_info *before, const refs_info_change *change,
                                       refs_flat_writer *flat, refs_error *err);

#endif
