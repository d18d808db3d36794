/* info_writer.h -- the file "repo" after a commit, or after another change of it.
 *
 * It lists all snapshots, branches and tags, and what was done to the
 * repository last; older updates are in files that it replaced.
 */
#ifndef REFS_REFERENCES_ICECHUNK_INFO_WRITER_H
#define REFS_REFERENCES_ICECHUNK_INFO_WRITER_H

#include "icechunk/repo_info.h"
#include "icechunk/written_nodes.h"

/** What changes; members that are NULL or have no data do not. */
typedef struct refs_info_change {
    const refs_written_snapshot *snapshot; /**< a new one, which `branch` leads to */
    const char *branch;
    const char *tag;              /**< a new one */
    const refs_object_id *tagged; /**< the snapshot that it leads to */
    refs_bytes config;
    const char *backup; /**< the name of the file that has what was there */
    int64_t at_us; /**< microseconds since 1970; later ones are written where it is not later than
                      the last update */
} refs_info_change;

/** Makes `flat` the info of a repository with its first snapshot alone, on the branch "main". */
refs_status refs_icechunk__info_begin(const refs_written_snapshot *first, int64_t at_us,
                                      refs_flat_writer *flat, refs_error *err);

/** Makes `flat` the info `before` with a change. REFS_INVALID: there is no such branch or snapshot,
 * or there is or was such a tag. */
refs_status refs_icechunk__info_change(const refs_repo_info *before, const refs_info_change *change,
                                       refs_flat_writer *flat, refs_error *err);

#endif
