/* old_refs.h -- branches and tags of a repository of format 1: small JSON files in "refs".
 *
 * "refs/branch.main/ref.json" and "refs/tag.v1/ref.json" hold {"snapshot": "<id>"}; a tag that was
 * deleted has "ref.json.deleted" beside it. Parents stand in the files of the snapshots.
 */
#ifndef REFS_REFERENCES_ICECHUNK_OLD_REFS_H
#define REFS_REFERENCES_ICECHUNK_OLD_REFS_H

#include "icechunk/snapshot.h"

/** The id of the snapshot that `version` means; where its file was read to know that, `snapshot` is
 * what it holds, else it stays as it is. REFS_NOT_FOUND: no such branch, tag, or repository. */
refs_status refs_icechunk__old_choose(const refs_icechunk_source *source,
                                      const refs_icechunk_version *version, refs_object_id *id,
                                      refs_buf *snapshot, refs_error *err);

/** Works like refs_icechunk_each_entry; `current` is the snapshot that was opened. */
refs_status refs_icechunk__old_each_entry(const refs_icechunk_source *source,
                                          const refs_object_id *current,
                                          const refs_icechunk_entry_visitor *visitor,
                                          refs_error *err);

#endif
