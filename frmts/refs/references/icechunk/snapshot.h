/* snapshot.h -- one snapshot: its nodes, and the manifests of each array.
 *
 * Source: snapshot.fbs of the Icechunk specification.
 */
#ifndef REFS_REFERENCES_ICECHUNK_SNAPSHOT_H
#define REFS_REFERENCES_ICECHUNK_SNAPSHOT_H

#include "icechunk/flatbuffer.h"
#include "icechunk/icechunk.h"
#include "icechunk/object_id.h"
#include "refs/intern.h"

#define REFS_NODE_ID_SIZE 8

/** Most dimensions of an array, and of the region that a manifest covers. */
#define REFS_ICECHUNK_MAX_RANK 32

/** A manifest of an array, and the region of the chunk grid that it covers. */
typedef struct refs_manifest_ref {
    uint32_t manifest;     /**< number in the snapshot's list */
    const uint8_t *bounds; /**< first and end along each dimension, 4 bytes each */
    uint32_t farthest; /**< the largest end, along the array's sorted dimension, of this reference
                          and all before it */
} refs_manifest_ref;

/** An array or a group; a group has no references, and rank SIZE_MAX. */
typedef struct refs_icechunk_node {
    const uint8_t *id;
    size_t rank;
    size_t sorted_by;  /**< the dimension along which the references are sorted */
    size_t begin, end; /**< of its references in the snapshot's list */
} refs_icechunk_node;

/** The snapshot's entry for a manifest as a file. */
typedef struct refs_manifest_file {
    bool is_known;    /**< false: nothing */
    bool is_doubtful; /**< it has more references than there are chunks in its regions, so it may
                         cover other chunks */
    uint64_t size, n_refs;
} refs_manifest_file;

/** Zeroed is empty. */
typedef struct refs_icechunk_snapshot {
    refs_buf buffer;
    refs_intern paths;         /**< of nodes, without the first slash */
    refs_icechunk_node *nodes; /**< one for each path */
    size_t node_capacity;
    refs_manifest_ref *refs;
    size_t n_refs, ref_capacity;
    refs_intern manifests;     /**< ids, 12 bytes each */
    refs_manifest_file *files; /**< one for each */
    bool is_any_doubtful;
} refs_icechunk_snapshot;

/** Reads the file of snapshot `id`, unless `snapshot->buffer` already has its content. Clear
 * `snapshot` also after a failure. */
refs_status refs_icechunk__snapshot_read(const refs_icechunk_source *source,
                                         const refs_object_id *id, refs_icechunk_snapshot *snapshot,
                                         refs_error *err);
void refs_icechunk__snapshot_clear(refs_icechunk_snapshot *snapshot);

/** Works like refs_icechunk_each_node. */
refs_status refs_icechunk__snapshot_each_node(const refs_icechunk_snapshot *snapshot,
                                              const refs_icechunk_node_visitor *visitor,
                                              refs_error *err);

/** The number of a path, or REFS_INTERN_NONE. */
uint32_t refs_icechunk__snapshot_find(const refs_icechunk_snapshot *snapshot, refs_str path);

/** A chunk of an array. */
typedef struct refs_icechunk_wanted {
    const refs_icechunk_node *node;
    const uint64_t *index; /**< along each of its dimensions */
    const uint8_t *bounds; /**< of the manifest (refs_manifest_ref), or NULL */
} refs_icechunk_wanted;

/** Receives manifests. */
typedef struct refs_manifest_visitor {
    refs_status (*visit)(void *user, const refs_manifest_ref *manifest, refs_error *err);
    void *user;
} refs_manifest_visitor;

/** Calls `visit` for each manifest that may hold a chunk, until it returns a status other than
 * REFS_NOT_FOUND, which is returned. */
refs_status refs_icechunk__snapshot_each_manifest(const refs_icechunk_snapshot *snapshot,
                                                  const refs_icechunk_wanted *wanted,
                                                  const refs_manifest_visitor *visitor,
                                                  refs_error *err);

/** The facts about a snapshot for the history, borrowed from its flatbuffer. */
typedef struct refs_snapshot_head {
    refs_object_id id, parent;
    bool has_parent;
    int64_t written_us;
    refs_str message;
} refs_snapshot_head;

refs_status refs_icechunk__snapshot_head(refs_bytes buffer, refs_snapshot_head *head,
                                         refs_error *err);

/** Appends "<folder>/<kind>/<id>". */
refs_status refs_icechunk__object_location(const refs_icechunk_source *source, const char *kind,
                                           const uint8_t *id, refs_buf *location, refs_error *err);

#endif
