/* icechunk.h -- Icechunk repositories: snapshots, arrays and chunk references.
 *
 * A repository (https://icechunk.io, formats 1, 2 and 2.1) keeps the history of one Zarr hierarchy.
 * Branches and tags name snapshots; a snapshot lists groups and arrays with their Zarr metadata,
 * and for each array the manifests that hold references to its chunks, each with the region of the
 * chunk grid that it covers. A manifest is read when a chunk in its region is requested, and
 * searched in place (flatbuffer.h).
 *
 * An opened repository stays at its snapshot, whatever is committed later. It is immutable except
 * for the cache of manifests, and safe from any thread.
 *
 * Source: the Icechunk specification, versions 1, 2 and 2.1, and the comments in
 * its flatbuffer schemas.
 *
 * Read before this: bytes.h, vfs.h.   Read after this: refset.h.
 */
#ifndef REFS_REFERENCES_ICECHUNK_ICECHUNK_H
#define REFS_REFERENCES_ICECHUNK_ICECHUNK_H

#include "refs/bytes.h"
#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_block;

/** Budgets; a repository that needs more fails with REFS_LIMIT. */
typedef struct refs_icechunk_limits {
    size_t max_file_bytes;     /**< stored size of one metadata file */
    size_t max_unpacked_bytes; /**< unpacked size of one metadata file */
    size_t max_kept_bytes;     /**< manifests that are kept in memory */
    size_t max_location_bytes; /**< of the location of one virtual chunk */
    uint64_t max_manifests;    /**< manifests of all arrays of a snapshot; one that several arrays
                                  share counts for each */
} refs_icechunk_limits;

/** max_unpacked_bytes is below 2^31 because offsets in a flatbuffer are signed 32-bit numbers. */
#define REFS_ICECHUNK_LIMITS_INIT                                                                  \
    { 1024 * REFS_MIB, (size_t)INT32_MAX, 64 * REFS_MIB, 64 * REFS_KIB, 16777216 }

/** The location of a repository. */
typedef struct refs_icechunk_source {
    const refs_vfs *vfs;
    const char *folder; /**< a name for the vfs, without a trailing slash */
    unsigned format;    /**< the format to try, 1 or 2 */
    refs_icechunk_limits limits;
} refs_icechunk_source;

/** A version of a repository; NULL members are not specified. At most one of branch, tag and
 * snapshot; as_of only with a branch or alone. */
typedef struct refs_icechunk_version {
    const char *branch;          /**< "main" if nothing is specified */
    const char *tag;             /**< a tag */
    const char *snapshot;        /**< its id */
    const char *tag_or_snapshot; /**< a tag or, if there is none with this name, an id */
    const char
        *as_of; /**< the last snapshot of the branch that was written at this time or before:
                     a date, or date and time, of ISO 8601, in UTC unless it says otherwise */
} refs_icechunk_version;

/** Whether a file that begins with `head` may be a metadata file of a repository. */
bool refs_icechunk_sniff(refs_bytes head);

/** Appends the location of the file by which a repository of format 1 is recognised: that of the
 * requested ref. */
refs_status refs_icechunk_old_reference(refs_str folder, const refs_icechunk_version *version,
                                        refs_buf *location, refs_error *err);

/** Appends the location of the file by which a repository of format 2 is recognised. */
refs_status refs_icechunk_info_file(refs_str folder, refs_buf *location, refs_error *err);

typedef struct refs_icechunk refs_icechunk;

/** Opens version `version` of the repository at `source`. The vfs must outlive it. REFS_NOT_FOUND:
 * there is no repository of this format, or for format 1, no such branch or tag. REFS_INVALID:
 * there is no such branch, tag or snapshot. */
refs_status refs_icechunk_open(const refs_icechunk_source *source,
                               const refs_icechunk_version *version, refs_icechunk **repository,
                               refs_error *err);
void refs_icechunk_free(refs_icechunk *repository);

/** Receives groups and arrays: the path, "/" or "/group/array", and the Zarr metadata. */
typedef struct refs_icechunk_node_visitor {
    refs_status (*visit)(void *user, refs_str path, refs_bytes metadata, refs_error *err);
    void *user;
} refs_icechunk_node_visitor;

/** Calls `visitor` for all nodes of the snapshot, in its order; stops at the first failure. */
refs_status refs_icechunk_each_node(const refs_icechunk *repository,
                                    const refs_icechunk_node_visitor *visitor, refs_error *err);

/** Sets `seal` to the seal of an array's manifests (sealed_holes.h); "" if there is no array at
 * `path`, which begins with a slash. */
refs_status refs_icechunk_seal(const refs_icechunk *repository, refs_str path, char seal[25],
                               refs_error *err);

/* -- chunks ------------------------------------------------------------------------------------ */

typedef enum refs_icechunk_kind {
    REFS_ICECHUNK_INLINE, /**< the bytes are in the manifest */
    REFS_ICECHUNK_NATIVE, /**< part of a file of the repository */
    REFS_ICECHUNK_VIRTUAL /**< part of a file elsewhere */
} refs_icechunk_kind;

/** The location of a chunk. Views and strings live as long as `block` is held. */
typedef struct refs_icechunk_chunk {
    refs_icechunk_kind kind;
    refs_bytes bytes; /**< INLINE */
    refs_str url;     /**< NATIVE: a name for the vfs; VIRTUAL: a percent-encoded URL, as stored:
                         "vcc://name/path" is relative to a container */
    uint64_t offset, length;
    refs_str etag;            /**< VIRTUAL: the expected ETag, or no data */
    uint32_t modified_s;      /**< VIRTUAL: latest modification time of the file, in seconds since
                                 1970; 0: any */
    struct refs_block *block; /**< the caller must release it */
} refs_icechunk_chunk;

/** A chunk of an array. */
typedef struct refs_icechunk_place {
    refs_str path;         /**< of the array, without a leading slash; "" is the root */
    const uint64_t *index; /**< of the chunk along each dimension */
    size_t rank;
} refs_icechunk_place;

/** Finds a chunk. REFS_NOT_FOUND without a message: there is no such chunk, or no such array. May
 * read manifests.
 */
refs_status refs_icechunk_find(refs_icechunk *repository, const refs_icechunk_place *place,
                               refs_icechunk_chunk *chunk, refs_error *err);

/** Receives the index of a chunk, one number for each dimension. */
typedef struct refs_icechunk_index_visitor {
    refs_status (*visit)(void *user, const uint64_t *index, refs_error *err);
    void *user;
} refs_icechunk_index_visitor;

/** Calls `visitor` with the index of each chunk of an array in its manifests, manifest by manifest;
 * never if there is no such array, or it has another rank. `place->index` is not read. Stops at the
 * first failure. */
refs_status refs_icechunk_each_index(refs_icechunk *repository, const refs_icechunk_place *place,
                                     const refs_icechunk_index_visitor *visitor, refs_error *err);

/** The URL prefix of a container of virtual chunks, such as "s3://bucket/"; no data if the
 * repository has no container with this name. */
refs_status refs_icechunk_container(const refs_icechunk *repository, refs_str name,
                                    refs_str *prefix, refs_error *err);

/* -- history ----------------------------------------------------------------------------------- */

typedef enum refs_icechunk_entry_kind {
    REFS_ICECHUNK_IS_BRANCH,
    REFS_ICECHUNK_IS_TAG,
    REFS_ICECHUNK_IS_DELETED_TAG, /**< has a name only */
    REFS_ICECHUNK_IS_SNAPSHOT,
    REFS_ICECHUNK_IS_FLAG,  /**< a feature flag that was set: name and whether it is enabled */
    REFS_ICECHUNK_IS_STATUS /**< format 2: "online", "read-only", "offline"; message: the reason */
} refs_icechunk_entry_kind;

/** One line of a repository's history; borrowed for the call that it comes with. */
typedef struct refs_icechunk_entry {
    refs_icechunk_entry_kind kind;
    refs_str name;      /**< of branches, tags, flags, the status */
    char snapshot[24];  /**< id of a snapshot, and of that which a branch or tag names */
    char parent[24];    /**< SNAPSHOT: "" where there is none, or it expired */
    refs_str message;   /**< SNAPSHOT: of its commit */
    int64_t written_us; /**< SNAPSHOT: microseconds since 1970 */
    bool is_enabled;    /**< FLAG */
    bool is_current;    /**< of the snapshot that was opened */
} refs_icechunk_entry;

typedef struct refs_icechunk_entry_visitor {
    refs_status (*visit)(void *user, const refs_icechunk_entry *entry, refs_error *err);
    void *user;
} refs_icechunk_entry_visitor;

/** Has it visit branches, then tags, deleted tags, snapshots with the newest first, flags and the
 * status. Format 1: what the vfs can list, and the snapshots that they lead to, each of which is
 * read; REFS_UNSUPPORTED where it cannot list. */
refs_status refs_icechunk_each_entry(const refs_icechunk *repository,
                                     const refs_icechunk_entry_visitor *visitor, refs_error *err);

/** Bytes of memory that it takes, without manifests. */
size_t refs_icechunk_memory(const refs_icechunk *repository);

#ifdef __cplusplus
}
#endif
#endif
