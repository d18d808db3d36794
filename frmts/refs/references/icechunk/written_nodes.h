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

/** A manifest of an array, and the part of the grid that it covers. */
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
    refs_buf coordinates;       /**< of chunks that changed: four bytes for each dimension */
} refs_written_node;

/** Zeroed is empty. */
typedef struct refs_written_nodes {
    refs_intern paths; /**< with a slash first: "/", "/group/array" */
    refs_written_node *items;
    size_t capacity;
} refs_written_nodes;

/** The node at a path, which is added where it is not there. */
refs_status refs_icechunk__node_at(refs_written_nodes *nodes, refs_str path,
                                   refs_written_node **node, refs_error *err);
void refs_icechunk__nodes_clear(refs_written_nodes *nodes);

/** Takes a document by its key: "t2m/.zarray", "zarr.json". REFS_UNSUPPORTED: Icechunk has no room
 * for it. */
refs_status refs_icechunk__nodes_document(refs_written_nodes *nodes, refs_str key,
                                          refs_bytes document, refs_error *err);

/** Adds the groups that nodes lie in, and makes metadata of all documents. */
refs_status refs_icechunk__nodes_complete(refs_written_nodes *nodes, refs_error *err);

/** Has arrays that record holes say of which manifests these are, once all manifests are there. */
refs_status refs_icechunk__nodes_seal(refs_written_nodes *nodes, refs_error *err);

/** Adds all nodes of a snapshot as they are. */
refs_status refs_icechunk__nodes_of_snapshot(const refs_icechunk_snapshot *snapshot,
                                             refs_written_nodes *nodes, refs_error *err);

/** Gives nodes the ids that they have in the parent, and new ones ids made of `salt` and their
 * paths. Before manifests are written. */
refs_status refs_icechunk__nodes_name(refs_written_nodes *nodes, const refs_written_nodes *parent,
                                      const refs_object_id *salt, refs_error *err);

/** Notes what differs from the parent. */
void refs_icechunk__nodes_compare(refs_written_nodes *nodes, const refs_written_nodes *parent);

/** Whether nothing does. */
bool refs_icechunk__nodes_are_kept(const refs_written_nodes *nodes,
                                   const refs_written_nodes *parent);

/** Whether a node, or NULL, has a manifest of this id. */
bool refs_icechunk__node_has_file(const refs_written_node *node, const uint8_t *id);

/** The node at a path, or NULL. */
refs_written_node *refs_icechunk__find_node(const refs_written_nodes *nodes, refs_str path);

/** Takes over what another commit made of `parent`: `tip`. REFS_INVALID where both changed one
 * node. */
refs_status refs_icechunk__nodes_rebase(refs_written_nodes *nodes, const refs_written_nodes *parent,
                                        const refs_written_nodes *tip, refs_error *err);

/** What a snapshot says of itself. */
typedef struct refs_written_snapshot {
    refs_object_id id, parent;
    bool has_parent; /**< false: of the first one */
    int64_t written_us;
    refs_str message;
} refs_written_snapshot;

/** Adds the list of properties of a snapshot: of the first one that it is that, as Icechunk does.
 */
refs_status refs_icechunk__put_properties(refs_flat_writer *flat, bool is_first, size_t *at,
                                          refs_error *err);

/** Makes `flat` the snapshot; its id is made of what it holds and set. */
refs_status refs_icechunk__nodes_build(const refs_written_nodes *nodes,
                                       refs_written_snapshot *snapshot, refs_flat_writer *flat,
                                       refs_error *err);

/** Makes `flat` the transaction log of a snapshot: what differs from `parent`. Chunks of new arrays
 * are not listed: no other commit can have written any. */
refs_status refs_icechunk__nodes_build_log(const refs_written_nodes *nodes,
                                           const refs_written_nodes *parent,
                                           const refs_written_snapshot *snapshot,
                                           refs_flat_writer *flat, refs_error *err);

#endif
