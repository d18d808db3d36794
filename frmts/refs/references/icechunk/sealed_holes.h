/* sealed_holes.h -- what an array's metadata say of its holes (refs/write.h), sealed by its
 * manifests.
 *
 * Icechunk writes values into holes as well, and keeps metadata that it does not know. Holes are
 * those that were recorded only as long as the manifests are.
 */
#ifndef REFS_REFERENCES_ICECHUNK_SEALED_HOLES_H
#define REFS_REFERENCES_ICECHUNK_SEALED_HOLES_H

#include "icechunk/object_id.h"

/** Characters of a seal. */
#define REFS_SEAL_TEXT (2 * REFS_OBJECT_ID_SIZE)

/** Sets the seal that `n` ids of manifests make, one behind the other, in any order; sorts them. */
void refs_icechunk__seal_of(uint8_t *ids, size_t n, char seal[REFS_SEAL_TEXT + 1]);

/** Whether "zarr.json" records holes. */
bool refs_icechunk__has_holes(refs_bytes metadata);

/** Appends metadata that do, with their seal. */
refs_status refs_icechunk__seal_holes(refs_bytes metadata, const char *seal, refs_buf *sealed,
                                      refs_error *err);

/** Appends metadata that do, without holes where they have another seal. */
refs_status refs_icechunk__check_seal(refs_bytes metadata, const char *seal, refs_buf *checked,
                                      refs_error *err);

#endif
