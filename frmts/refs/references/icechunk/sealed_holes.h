/* sealed_holes.h -- an array's record of its holes (refs/write.h), with a seal of its manifests.
 *
 * Other writers may fill holes without updating the record, since Icechunk preserves unknown
 * metadata. The record is only valid while the manifests are the same.
 */
#ifndef REFS_REFERENCES_ICECHUNK_SEALED_HOLES_H
#define REFS_REFERENCES_ICECHUNK_SEALED_HOLES_H

#include "icechunk/object_id.h"

/** Characters of a seal. */
#define REFS_SEAL_TEXT (2 * REFS_OBJECT_ID_SIZE)

/** Computes the seal of `n` concatenated ids of manifests, in any order; sorts `ids`. */
void refs_icechunk__seal_of(uint8_t *ids, size_t n, char seal[REFS_SEAL_TEXT + 1]);

/** Whether "zarr.json" records holes. */
bool refs_icechunk__has_holes(refs_bytes metadata);

/** Appends metadata with a record of holes, adding the seal. */
refs_status refs_icechunk__seal_holes(refs_bytes metadata, const char *seal, refs_buf *sealed,
                                      refs_error *err);

/** Appends metadata without the seal, and without the record of holes if that has another one. */
refs_status refs_icechunk__check_seal(refs_bytes metadata, const char *seal, refs_buf *checked,
                                      refs_error *err);

#endif
