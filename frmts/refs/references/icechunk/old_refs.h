/* old_refs.h -- branches and tags of a repository of format 1: small JSON files in "refs".
 *
 * "refs/branch.main/ref.json" and "refs/tag.v1/ref.json" hold {"snapshot": "<id>"}; a deleted tag
 * has "ref.json.deleted" in its folder. The files of snapshots have their parents.
 */
#ifndef REFS_REFERENCES_ICECHUNK_OLD_REFS_H
#define REFS_REFERENCES_ICECHUNK_OLD_REFS_H

#include "icechunk/snapshot.h"

/** Finds the id of the snapshot that `version` selects. If that required reading the snapshot's
 * file, sets `snapshot` to its content. REFS_NOT_FOUND: no such branch, tag, or repository. */
refs_status refs_icechunk__old_choose(const refs_icechunk_source *source,
                                      const refs_icechunk_version *version, refs_object_id *id,
                                      refs_buf *snapshot, refs_error *err);

/** Works like refs_icechunk_each_entry; `current` is the snapshot that was opened. */
refs_status refs_icechunk__old_each_entry(const refs_icechunk_source *source,
                                          const refs_object_id *current,
                                          const refs_icechunk_entry_visitor *visitor,
                                          refs_error *err);

#endif
