/* repo_info.h -- the file "repo" of a repository of format 2: its branches, tags and snapshots.
 *
 * Source: repo.fbs of the Icechunk specification.
 */
#ifndef REFS_REFERENCES_ICECHUNK_REPO_INFO_H
#define REFS_REFERENCES_ICECHUNK_REPO_INFO_H

#include "icechunk/flatbuffer.h"
#include "icechunk/snapshot.h"

/** Zeroed is empty. */
typedef struct refs_repo_info {
    refs_buf buffer;
    refs_flat_vector tags, branches, deleted_tags, snapshots, enabled, disabled;
    unsigned availability;
    refs_str reason;
    refs_bytes config;
} refs_repo_info;

/** Reads the file. REFS_NOT_FOUND: there is none. Clear `info` also after a failure. */
refs_status refs_icechunk__info_read(const refs_icechunk_source *source, refs_repo_info *info,
                                     refs_error *err);
void refs_icechunk__info_clear(refs_repo_info *info);

/** The same for a flatbuffer, which is copied. */
refs_status refs_icechunk__info_take(refs_repo_info *info, refs_bytes flatbuffer, refs_error *err);

/** Reads branch or tag number `i` of a list: its name, and the number of its snapshot. */
refs_status refs_icechunk__ref_at(const refs_flat_vector *refs, uint32_t i, refs_str *name,
                                  uint64_t *snapshot, refs_error *err);

/** Finds the id of the snapshot that `version` selects. REFS_INVALID names the branch, tag or id
 * that does not exist.
 */
refs_status refs_icechunk__info_choose(const refs_repo_info *info,
                                       const refs_icechunk_version *version, refs_object_id *id,
                                       refs_error *err);

/** Works like refs_icechunk_each_entry; `current` is the snapshot that was opened. */
refs_status refs_icechunk__info_each_entry(const refs_repo_info *info,
                                           const refs_object_id *current,
                                           const refs_icechunk_entry_visitor *visitor,
                                           refs_error *err);

/** The URL prefix of the container `name`; no data if there is none. */
refs_status refs_icechunk__info_container(const refs_repo_info *info, refs_str name,
                                          refs_str *prefix, refs_error *err);

#endif
