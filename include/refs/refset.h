/* refset.h -- where chunks are: key -> absent | inline bytes | bytes of some URL.
 *
 * A reference set maps keys such as "t2m/3.0.1" or "t2m/.zarray" to the location of their bytes. It
 * is read from JSON (versions 0 and 1 of the fsspec specification, templates and generators
 * included), a folder of Parquet files, a DMR++, an Icechunk repository or a data file: each format
 * has `sniff` and `open`, which adds references to the builder below.
 *
 * A key that a set does not hold is absent (REFS_NOT_FOUND): Zarr defines its values as the fill
 * value. A key that cannot be resolved (an undefined template, an unknown URL scheme) is another
 * failure, never the fill value.
 *
 * A set is immutable once opened; any number of threads may look up keys.
 *
 * Read before this: bytes.h, vfs.h.   Read after this: store.h.
 */
#ifndef REFS_REFSET_H
#define REFS_REFSET_H

#include "refs/bytes.h"
#include "refs/url.h"
#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- one reference --------------------------------------------------------------------------- */

typedef enum refs_ref_kind {
    REFS_REF_INLINE, /**< the bytes are in the set */
    REFS_REF_RANGE,  /**< bytes [offset, offset + length) of a location */
    REFS_REF_WHOLE   /**< all bytes of a location */
} refs_ref_kind;

struct refs_block;

/** The reference of a key. Views and strings are borrowed from the set if `block` is NULL; else
 * they live as long as the block is held. */
typedef struct refs_ref {
    refs_ref_kind kind;
    refs_bytes bytes;     /**< INLINE: the value */
    const char *url;      /**< RANGE, WHOLE: as in the set, templates rendered; for messages */
    const char *location; /**< RANGE, WHOLE: the name that the vfs opens, see refs_url_map */
    uint32_t
        location_id;    /**< RANGE, WHOLE: equal for equal locations, below refs_set_n_locations */
    uint64_t offset;    /**< RANGE: bytes */
    uint64_t length;    /**< RANGE: bytes, at least 1 */
    const char *etag;   /**< RANGE: required ETag of the location, or NULL */
    int64_t modified_s; /**< RANGE: latest modification time of the location, in seconds since 1970;
                           0: any */
    uint32_t filter_mask;     /**< bit i: codec i of the array was not applied to this chunk
                                 (scan.h) */
    struct refs_block *block; /**< held for the caller until refs_ref_release */
} refs_ref;

/* -- opening --------------------------------------------------------------------------------- */

/** Budgets of one set; a set that needs more is refused with REFS_LIMIT. */
typedef struct refs_set_limits {
    uint64_t max_references;     /**< all keys, generated ones included */
    uint64_t max_generated;      /**< keys made by generators */
    size_t max_inline_bytes;     /**< all inline values together */
    size_t max_value_bytes;      /**< one inline value or one other string */
    size_t max_rendered_bytes;   /**< the result of one template */
    size_t max_record_bytes;     /**< record files of a Parquet set that are kept in memory */
    uint64_t max_unpacked_bytes; /**< a compressed document, unpacked */
    size_t max_template_depth;   /**< nesting of templates that call templates */
} refs_set_limits;

#define REFS_SET_LIMITS_INIT                                                                       \
    {                                                                                              \
        200000000u, 10000000u, 2048 * REFS_MIB, 1024 * REFS_MIB, 64 * REFS_KIB, 64 * REFS_MIB,     \
            (uint64_t)32 << 30, 8                                                                  \
    }

/** The version of an Icechunk repository; NULL members are not specified. At most one of branch,
 * tag and snapshot; as_of only with a branch or alone. */
typedef struct refs_set_version {
    const char *branch; /**< "main" if nothing is specified */
    const char *tag;
    const char *snapshot; /**< its id */
    const char *as_of;    /**< the branch at this time, in ISO 8601 */
} refs_set_version;

typedef struct refs_set_options {
    size_t struct_size;           /**< sizeof(refs_set_options) */
    const char *const *templates; /**< "name=value" overrides, NULL-ended, or NULL */
    const char *const *rewrites;  /**< "old=>new" replacements of a URL's beginning, or NULL */
    const char *target;           /**< the URL that [null, offset, length] means, or NULL */
    int64_t set_index;            /**< number of the set in a list of sets, from 0; -1: not
                                     specified */
    bool remote_to_local;         /**< allow locations that refs_location_confine rejects */
    refs_set_limits limits;
    refs_notes notes;
    refs_set_version version;        /**< REFS_INVALID if the name of the set also has one */
    struct refs_scan_shared *shared; /**< shared by data files that become one set, or NULL */
} refs_set_options;

#define REFS_SET_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(refs_set_options), NULL, NULL, NULL, -1, false, REFS_SET_LIMITS_INIT, {NULL, NULL}, \
            {NULL, NULL, NULL, NULL}, NULL                                                         \
    }

typedef struct refs_set refs_set;

/** Opens the set at `location` (a name for `vfs`; relative URLs in the set are relative to its
 * folder); the format is detected by the content. A STAC document stands for the set or the data
 * file that it names, or for a list of them. A Parquet set is named by its folder or by the file
 * ".zmetadata" in it. `options` may be NULL; `vfs` must outlive the set. REFS_NOT_FOUND: `location`
 * does not exist. REFS_INVALID: it is not a reference set, with the reason (line and column for
 * JSON). REFS_UNSUPPORTED: it is a list of sets, without set_index or "#set=N" after its location.
 *
 * An Icechunk repository is named by its folder, optionally followed by a version: "#branch=dev",
 * "#tag=v1", "#snapshot=<id>", "#as_of=2024-05-01", two of them joined by "&", or "@v1", a tag or
 * the id of a snapshot. */
refs_status refs_set_open(const refs_vfs *vfs, const char *location,
                          const refs_set_options *options, refs_set **set, refs_error *err);

void refs_set_free(refs_set *set);

/** Appends the location of the DMR++ sidecar of a data file, "x.h5.dmrpp"; the query of a URL stays
 * at the end. */
refs_status refs_set_sidecar(const char *file, refs_buf *location, refs_error *err);

/** Whether a file is a reference set, by its first bytes alone: false for GeoJSON, STAC and other
 * JSON, which other GDAL drivers open. A file compressed by gzip or zstd is unpacked first. */
bool refs_set_sniff(refs_bytes head);

/** Bytes at the beginning of a file that refs_set_sniff_file expects, and most that it reads: the
 * first block of zstd, which is unpacked as a whole, has up to 128 KiB (RFC 8878, section
 * 3.1.1.2.4). */
#define REFS_SET_HEAD_BYTES    4096
#define REFS_SET_SNIFFED_BYTES (132 * 1024)

typedef enum refs_sniffed {
    REFS_SNIFFED_OTHER,
    REFS_SNIFFED_SET,
    REFS_SNIFFED_DAMAGED /**< empty, or its JSON object or array, or its compression, ends early */
} refs_sniffed;

/** Detects a set whose beginning, `head`, is known. Reads more of a JSON or compressed file whose
 * beginning does not suffice. */
refs_sniffed refs_set_sniff_file(const refs_vfs *vfs, const char *location, refs_bytes head);

/** The same for a folder: whether it holds ".zmetadata" with a record size (`location` may also be
 * that file), or the file that identifies an Icechunk repository. Reads that file. */
bool refs_set_sniff_folder(const refs_vfs *vfs, const char *location);

/** The file that the set was opened from: its location, or a file in its folder. Its validators
 * distinguish states of the set. */
const char *refs_set_document(const refs_set *set);

/** The state of the set at `location`: the validators of its document (refs_set_document). */
refs_status refs_set_validators(const refs_vfs *vfs, const char *location,
                                refs_vfs_validators *validators, refs_error *err);

/** One set of a list or dictionary; strings are borrowed for the call that they come with. */
typedef struct refs_set_summary {
    size_t index;                    /**< from 0, as refs_set_options.set_index has it */
    refs_str name;                   /**< in a dictionary or a STAC document, else empty */
    const struct refs_set *metadata; /**< a set with the metadata in the document, and small values
                                        of arrays of one chunk; NULL if the document only names the
                                        set (STAC) */
} refs_set_summary;

/** Receives the sets of a list. */
typedef struct refs_set_visitor {
    refs_status (*visit)(void *user, const refs_set_summary *set, refs_error *err);
    void *user;
} refs_set_visitor;

/** Calls `visitor` for each set of the list or dictionary at `location`, or for each that a STAC
 * document names, in order, never for a single set; stops at the first visit that fails and returns
 * its failure. *n_sets is the number of sets visited. Lists may be compressed. */
refs_status refs_set_each_of_list(const refs_vfs *vfs, const char *location,
                                  const refs_set_visitor *visitor, size_t *n_sets, refs_error *err);

/* -- history --------------------------------------------------------------------------------- */

typedef enum refs_set_version_kind {
    REFS_VERSION_BRANCH,
    REFS_VERSION_TAG,
    REFS_VERSION_DELETED_TAG,
    REFS_VERSION_SNAPSHOT,
    REFS_VERSION_FLAG,  /**< a feature that writers may use, or may not */
    REFS_VERSION_STATUS /**< whether the repository is online or read-only */
} refs_set_version_kind;

/** An entry of the history of a repository; borrowed for the call. */
typedef struct refs_set_version_entry {
    refs_set_version_kind kind;
    refs_str name;        /**< of all but snapshots */
    const char *snapshot; /**< BRANCH, TAG: the id of its snapshot; SNAPSHOT: its id; else "" */
    const char *parent;   /**< SNAPSHOT: "" if there is none, or it expired */
    refs_str message;     /**< SNAPSHOT: of the commit; STATUS: the reason */
    int64_t written_us;   /**< SNAPSHOT: microseconds since 1970 */
    bool is_enabled;      /**< FLAG */
    bool is_current;      /**< SNAPSHOT: the one that was opened */
} refs_set_version_entry;

typedef struct refs_set_version_visitor {
    refs_status (*visit)(void *user, const refs_set_version_entry *entry, refs_error *err);
    void *user;
} refs_set_version_visitor;

/** Calls `visitor` for the branches, tags, deleted tags and snapshots of an Icechunk repository,
 * then for its flags and its status; never for a set without history. May read the files of
 * snapshots. */
refs_status refs_set_each_version(const refs_set *set, const refs_set_version_visitor *visitor,
                                  refs_error *err);

/* -- looking up ------------------------------------------------------------------------------- */

/** Finds the reference of `key` (no leading slash); release `ref` after a success. REFS_NOT_FOUND
 * without a message: absent. May read a record file of a Parquet set, which is kept for later
 * calls. */
refs_status refs_set_find(const refs_set *set, refs_str key, refs_ref *ref, refs_error *err);

/** The name of a target in messages: its URL or, if that is relative, its location. NULL for an
 * inline value. */
const char *refs_ref_name(const refs_ref *ref);

/** Releases the block of `ref`; does nothing if it has none, or if it was never found. */
void refs_ref_release(refs_ref *ref);

/** Calls `visit` for every key of the set that does not look like a chunk key (a folder and
 * numbers, "t2m/3.0.1", "t2m/c/3/0/1": there may be hundreds of millions), in the order in which
 * they were added; stops at the first failure of `visit` and returns it. */
refs_status refs_set_each_name(const refs_set *set,
                               refs_status (*visit)(void *user, refs_str key, refs_error *err),
                               void *user, refs_error *err);

/** The keys of the chunks of one array: `prefix`, and an index joined by `separator`, below `n`
 * along each of `rank` dimensions; "t2m/" and '.', "t2m/c/" and '/'. An array without dimensions
 * has one key: `prefix` followed by 0, or `prefix` itself if it does not end with a slash
 * ("t2m/c").
 */
typedef struct refs_chunk_keys {
    refs_str prefix;
    char separator;
    size_t rank;
    const uint64_t *n;
} refs_chunk_keys;

/** Appends the key of the chunk at `index`. */
refs_status refs_chunk_keys_append(const refs_chunk_keys *keys, const uint64_t *index,
                                   refs_buf *key, refs_error *err);

/** Receives chunks; the members of `ref` are borrowed for the call. */
typedef struct refs_chunk_visitor {
    refs_status (*visit)(void *user, const uint64_t *index, const refs_ref *ref, refs_error *err);
    void *user;
} refs_chunk_visitor;

/** Calls `visitor` for every chunk that the set holds under these keys, in C order; stops at the
 * first failure, including the visitor's, and returns it. A chunk that cannot be resolved is a
 * failure that names its key. */
refs_status refs_set_each_chunk(const refs_set *set, const refs_chunk_keys *keys,
                                const refs_chunk_visitor *visitor, refs_error *err);

/** Sets *n to the number of those chunks. */
refs_status refs_set_count_chunks(const refs_set *set, const refs_chunk_keys *keys, uint64_t *n,
                                  refs_error *err);

/** Whether the last part of a key is the name of a document of metadata: ".zarray", "zarr.json". */
bool refs_key_is_metadata(refs_str key);

/** Receives keys; `key` and the members of `ref` are borrowed for the call. */
typedef struct refs_key_visitor {
    refs_status (*visit)(void *user, refs_str key, const refs_ref *ref, refs_error *err);
    void *user;
} refs_key_visitor;

/** Calls `visitor` for every key except chunks of the `n` arrays, metadata of Zarr (".zgroup",
 * ".zarray", ".zattrs", "zarr.json") and the set's record of its sources; stops at the first
 * failure, including the visitor's, and returns it. A key that cannot be resolved is a failure that
 * names it. */
refs_status refs_set_each_other(const refs_set *set, const refs_chunk_keys *arrays, size_t n,
                                const refs_key_visitor *visitor, refs_error *err);

/** Sets `index`, of `keys->rank` numbers, to that of the first chunk that the set holds under these
 * keys. In a Parquet set, which may have thousands of record files, this only looks in those that
 * were already read, and reads at most one more. REFS_NOT_FOUND without a message: none was found
 * in these. */
refs_status refs_set_first_chunk(const refs_set *set, const refs_chunk_keys *keys, uint64_t *index,
                                 refs_error *err);

/** The number of keys in the set, without the chunks of a Parquet set. */
uint64_t refs_set_size(const refs_set *set);

/** The number of distinct locations; every refs_ref.location_id is below it. Locations of a Parquet
 * set are numbered as they are found. */
uint32_t refs_set_n_locations(const refs_set *set);

/** The location with number `id`, below refs_set_n_locations, of a set that is whole
 * (refs_set_is_whole); else NULL. */
const char *refs_set_location_at(const refs_set *set, uint32_t id);

/** The cost of scanning the data file behind the set so far (scan.h). */
typedef struct refs_set_scan_costs {
    bool is_scanned; /**< false: the set is no data file; all else is 0 */
    uint64_t reads, rounds, bytes, indexed_chunks, microseconds; /**< as in scan.h */
} refs_set_scan_costs;

refs_set_scan_costs refs_set_scan_costs_of(const refs_set *set);

/** Whether everything was read when the set was opened, so that lookups read no file. */
bool refs_set_is_whole(const refs_set *set);

/** Whether the set is a data file's own index: its location number 0 is that file. */
bool refs_set_is_file(const refs_set *set);

/** The location with number `id`, below refs_set_n_locations. Sets `seen` to the state that its
 * file had when the set was opened; NULL if that is not known. */
const char *refs_set_seen_file(const refs_set *set, uint32_t id, refs_vfs_validators *seen);

/** Bytes of memory that the set takes, without record files that it reads later. */
size_t refs_set_memory(const refs_set *set);

/** The name the set was opened by. */
const char *refs_set_location(const refs_set *set);

/* -- URLs ------------------------------------------------------------------------------------- */

/** How the URLs of a set are mapped to locations. */
typedef struct refs_url_context {
    const char *base;            /**< location of the set; relative URLs start at its folder */
    const char *const *rewrites; /**< as in refs_set_options */
    bool remote_to_local;        /**< as in refs_set_options */
} refs_url_context;

/** Appends the name by which the vfs opens `url`: http(s), s3, gs, az and so on become /vsicurl/,
 * /vsis3/, /vsigs/, /vsiaz/ …, file: URLs and relative names become paths, chained zip:: and tar::
 * URLs become /vsizip/ and /vsitar/. Rewrites apply first. REFS_UNSUPPORTED for an unknown scheme,
 * naming the known ones; REFS_INVALID if refs_location_confine rejects the name (checked after
 * rewriting and mapping). */
refs_status refs_url_map(refs_str url, const refs_url_context *context, refs_buf *location,
                         refs_error *err);

/** Appends `path`, resolved against `folder`, a URL or a name that ends with a slash: "." and ".."
 * are removed, and do not lead above a host, a bucket or an archive (RFC 3986, section 5.2.4). */
refs_status refs_url_append_relative(refs_str folder, refs_str path, refs_buf *location,
                                     refs_error *err);

/** How names that a set records are mapped: like its references, but without rewrites. Borrowed
 * from the set. */
refs_url_context refs_set_url_context(const refs_set *set);

/** Appends a text, such as a message, in which names made by refs_url_map are turned back into
 * URLs: "/vsis3/bucket/key" is "s3://bucket/key", and "/vsicurl/https://…" is "https://…". */
refs_status refs_url_append_shown(refs_str text, refs_buf *shown, refs_error *err);

/* -- sources ----------------------------------------------------------------------------------- */

/** The largest ".zmetadata" of a Parquet set that is read and written. */
#define REFS_SET_MAX_METADATA_BYTES (64 * REFS_MIB)

/* The states of sources are stored in the attribute "sources" of a separate group, which other
 * readers show as an empty group: a list of objects with "url", "size", "modified" (seconds since
 * 1970), "modified_ns" (its nanoseconds) and "etag". */
#define REFS_SOURCES_GROUP ".zsources"

/** A source as it was when it was indexed. */
typedef struct refs_source_state {
    refs_str url;         /**< as in references */
    uint64_t size;        /**< bytes, or REFS_SOURCE_UNKNOWN */
    int64_t modified_s;   /**< seconds since 1970; 0: not known */
    refs_str etag;        /**< as the server sent it, or the hash of a long one; empty: not known */
    uint32_t modified_ns; /**< nanoseconds of modified_s; 0: not known */
} refs_source_state;

#define REFS_SOURCE_UNKNOWN UINT64_MAX

/** The state of the source at `url` whose validators are `now`; borrows both. */
refs_source_state refs_source_state_of(refs_str url, const refs_vfs_validators *now);

/** The reverse: what a source that is still in that state has. */
refs_vfs_validators refs_source_validators(const refs_source_state *state);

/** Receives states of sources, which are borrowed for the call. */
typedef struct refs_source_visitor {
    refs_status (*visit)(void *user, const refs_source_state *source, refs_error *err);
    void *user;
} refs_source_visitor;

/** Calls `visitor` for the states that a set has recorded, if any. */
refs_status refs_sources_read(const refs_set *set, const refs_source_visitor *visitor,
                              refs_error *err);

/** An array that was omitted from a set because it is not supported. Such arrays are listed in the
 * attribute "left_out" of the same group: objects with "path" and "problem". */
typedef struct refs_left_out {
    refs_str path; /**< "g/t2m" */
    refs_str problem;
} refs_left_out;

/** Receives omitted arrays, borrowed for the call. */
typedef struct refs_left_out_visitor {
    refs_status (*visit)(void *user, const refs_left_out *left_out, refs_error *err);
    void *user;
} refs_left_out_visitor;

/** Calls `visitor` for the omitted arrays that a set has recorded, if any. */
refs_status refs_left_out_read(const refs_set *set, const refs_left_out_visitor *visitor,
                               refs_error *err);

/** Appends how a set was combined, as recorded in the member "joined" of the same group: an object
 * with "along" (a list of dimensions), "pattern", "group", "variables" and "inline", each if it was
 * requested. Nothing if nothing was recorded. */
refs_status refs_joined_read(const refs_set *set, refs_buf *how, refs_error *err);

/* -- building: for formats and for tests --------------------------------------------------------
 */

/** Collects references and becomes a set. Belongs to one thread. */
typedef struct refs_set_builder refs_set_builder;

/** `location` is the name of the new set; `options` may be NULL and must outlive the builder. */
refs_status refs_set_builder_open(const char *location, const refs_set_options *options,
                                  refs_set_builder **builder, refs_error *err);
void refs_set_builder_free(refs_set_builder *builder);

/** Part of a file. A length of zero fails only when the reference is read. */
typedef struct refs_byte_range {
    uint64_t offset;
    uint64_t length;
} refs_byte_range;

/** Add a key (a leading slash is dropped; a later value replaces an earlier one of the same
 * key). */
refs_status refs_set_builder_inline(refs_set_builder *builder, refs_str key, refs_bytes bytes,
                                    refs_error *err);
refs_status refs_set_builder_range(refs_set_builder *builder, refs_str key, refs_str url,
                                   refs_byte_range range, refs_error *err);
refs_status refs_set_builder_whole(refs_set_builder *builder, refs_str key, refs_str url,
                                   refs_error *err);

/** Adds a key whose value is unusable: looking it up fails with `status` and `message`. */
refs_status refs_set_builder_broken(refs_set_builder *builder, refs_str key, refs_status status,
                                    const char *message, refs_error *err);

/** Completes `*set` and frees the builder, also on failure. */
refs_status refs_set_builder_finish(refs_set_builder *builder, refs_set **set, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
