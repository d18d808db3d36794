/* written_nodes.h -- groups and arrays of a snapshot that is written, and the snapshot's file.
 *
 * Documents of Zarr version 2 become those of version 3, which Icechunk holds
 * (version3.h), when the snapshot is built.
 */
#ifndef REFS_REFERENCES_ICECHUNK_WRITTEN_NODES_H
#define REFS_REFERENCES_ICECHUNK_WRITTEN_NODES_H

#include "icechunk/flat_writer.h"
#include "icechunk/object_id.h"
#include "icechunk/snapshot.h"

/** A manifest of an array, and the region of the chunk grid that it covers. */
typedef struct refs_written_file {
    uint8_t id[REFS_OBJECT_ID_SIZE];
    uint64_t size, n_refs;
    bool is_everything; /**< without extents */
    uint32_t extents[2 * REFS_ICECHUNK_MAX_RANK];
} refs_written_file;

typedef enum refs_written_change {
    REFS_NODE_IS_NEW,
    REFS_NODE_IS_KEPT, /**< as it was in the parent */
    REFS_NODE_HAS_CHANGED
} refs_written_change;

/** A node. `v2` and `attributes` are documents of version 2, `metadata` is one of version 3. */
typedef struct refs_written_node {
    uint8_t id[REFS_NODE_ID_SIZE];
    bool is_array, is_removed;
    refs_buf v2, attributes, metadata;
    uint64_t *shape;
    uint32_t *n_chunks;
    size_t rank;
    refs_written_file *files;
    size_t n_files, file_capacity;
    refs_written_change change; /**< of its metadata */
    refs_buf coordinates;       /**< coordinates of changed chunks: four bytes for each dimension */
} refs_written_node;

/** Zeroed is empty. */
typedef struct refs_written_nodes {
    refs_intern paths; /**< with a leading slash: "/", "/group/array" */
    refs_written_node *items;
    size_t capacity;
} refs_written_nodes;

/** The node at a path, which is added if it does not exist. */
refs_status refs_icechunk__node_at(refs_written_nodes *nodes, refs_str path,
                                   refs_written_node **node, refs_error *err);
void refs_icechunk__nodes_clear(refs_written_nodes *nodes);

/** Adds a document by its key: "t2m/.zarray", "zarr.json". REFS_UNSUPPORTED: Icechunk cannot store
 * it. */
refs_status refs_icechunk__nodes_document(refs_written_nodes *nodes, refs_str key,
                                          refs_bytes document, refs_error *err);

/** Adds missing parent groups, and converts all documents to metadata. */
refs_status refs_icechunk__nodes_complete(refs_written_nodes *nodes, refs_error *err);

/** Adds seals to arrays that record holes. Call it after all manifests were written. */
refs_status refs_icechunk__nodes_seal(refs_written_nodes *nodes, refs_error *err);

/** Adds all nodes of a snapshot as they are. */
refs_status refs_icechunk__nodes_of_snapshot(const refs_icechunk_snapshot *snapshot,
                                             refs_written_nodes *nodes, refs_error *err);

/** Sets the ids of nodes to those in the parent, and of new nodes to a hash of `salt` and the path.
 * Call it before manifests are written. */
refs_status refs_icechunk__nodes_name(refs_written_nodes *nodes, const refs_written_nodes *parent,
                                      const refs_object_id *salt, refs_error *err);

/** Records the differences from the parent. */
void refs_icechunk__nodes_compare(refs_written_nodes *nodes, const refs_written_nodes *parent);

/** Whether there are no differences. */
bool refs_icechunk__nodes_are_kept(const refs_written_nodes *nodes,
                                   const refs_written_nodes *parent);

/** Whether a node, or NULL, has a manifest of this id. */
bool refs_icechunk__node_has_file(const refs_written_node *node, const uint8_t *id);

/** The node at a path, or NULL. */
refs_written_node *refs_icechunk__find_node(const refs_written_nodes *nodes, refs_str path);

/** Merges the changes of another commit, from `parent` to `tip`. REFS_CHANGED if both changed the
 * same node. */
refs_status refs_icechunk__nodes_rebase(refs_written_nodes *nodes, const refs_written_nodes *parent,
                                        const refs_written_nodes *tip, refs_error *err);

/** The header of a snapshot. */
typedef struct refs_written_snapshot {
    refs_object_id id, parent;
    bool has_parent; /**< false: the first snapshot */
    int64_t written_us;
    refs_str message;
} refs_written_snapshot;

/** Adds the list of properties of a snapshot; the first one is marked as such, as in Icechunk.
 */
refs_status refs_icechunk__put_properties(refs_flat_writer *flat, bool is_first, size_t *at,
                                          refs_error *err);

/** Writes the snapshot to `flat`, and sets its id, a hash of its content. */
refs_status refs_icechunk__nodes_build(const refs_written_nodes *nodes,
                                       refs_written_snapshot *snapshot, refs_flat_writer *flat,
                                       refs_error *err);

/** Writes the transaction log of a snapshot to `flat`: the differences from `parent`. Chunks of new
 * arrays are not listed, because no other commit can have written any. */
refs_status refs_icechunk__nodes_build_log(const refs_written_nodes *nodes,
                                           const refs_written_nodes *parent,
                                           const refs_written_snapshot *snapshot,
                                           refs_flat_writer *flat, refs_error *err);

#endif
