/* manifest_writer.h -- writes a manifest of one array.
 *
 * References are added in ascending order. The id is a hash of the content, so that an unchanged
 * manifest keeps its name, and an append only writes manifests that change.
 */
#ifndef REFS_REFERENCES_ICECHUNK_MANIFEST_WRITER_H
#define REFS_REFERENCES_ICECHUNK_MANIFEST_WRITER_H

#include "icechunk/flat_writer.h"
#include "icechunk/object_id.h"
#include "icechunk/snapshot.h"

/** A reference that is to be written. */
typedef struct refs_written_ref {
    uint64_t number; /**< of the chunk, in C order */
    refs_icechunk_kind kind;
    uint64_t offset, length;
    uint32_t modified_s;
    size_t text, text_size; /**< position in the manifest's text: bytes, location, or id */
} refs_written_ref;

/** Zeroed is empty. */
typedef struct refs_written_manifest {
    refs_written_ref *refs;
    size_t n, capacity;
    refs_buf text;
    refs_flat_writer flat;
} refs_written_manifest;

/** The grid of its array. */
typedef struct refs_written_grid {
    uint8_t node[REFS_NODE_ID_SIZE];
    size_t rank;
    uint64_t n[REFS_ICECHUNK_MAX_RANK]; /**< chunks along each dimension */
} refs_written_grid;

/** Adds a reference with its bytes, location or id; sets `ref->text`. */
refs_status refs_icechunk__manifest_add(refs_written_manifest *manifest, refs_written_ref *ref,
                                        refs_bytes text, refs_error *err);

/** Sets the id, and writes the flatbuffer to `manifest->flat`. */
refs_status refs_icechunk__manifest_build(refs_written_manifest *manifest,
                                          const refs_written_grid *grid,
                                          uint8_t id[REFS_OBJECT_ID_SIZE], refs_error *err);

/** The region of the grid that encloses the references: first and end along each dimension. */
void refs_icechunk__manifest_extents(const refs_written_manifest *manifest,
                                     const refs_written_grid *grid, uint32_t *extents);

/** Sets the index of a chunk. */
void refs_icechunk__written_index(const refs_written_grid *grid, uint64_t number, uint32_t *index);

/** Empties the manifest; clear also frees its memory. */
void refs_icechunk__manifest_reset(refs_written_manifest *manifest);
void refs_icechunk__manifest_clear(refs_written_manifest *manifest);

#endif
