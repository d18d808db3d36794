/* refset.h -- where chunks are: key -> absent | inline bytes | bytes of some URL.
 *
 * A reference set says, for keys such as "t2m/3.0.1" or "t2m/.zarray", where
 * their bytes are. It may come from JSON (versions 0 and 1 of the fsspec
 * specification, templates and generators included), from a directory of
 * parquet files, from a DMR++, or from a format to come: each format is one
 * file of this module with `sniff` and `open` that feeds the builder below.
 *
 * A key that a set does not hold is absent (REFS_NOT_FOUND): Zarr's rule makes its values the fill
 * value. A key that it holds but that cannot be resolved (an undefined template, an unknown URL
 * scheme) gives another failure, never the fill value.
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

/** The reference of a key. Views and strings are borrowed from the set where `block` is NULL;
 * otherwise they live as long as the block is held. */
typedef struct refs_ref {
    refs_ref_kind kind;
    refs_bytes bytes;     /**< INLINE: the value */
    const char *url;      /**< RANGE, WHOLE: as the set says it, templates rendered; for people */
    const char *location; /**< RANGE, WHOLE: the name that the vfs opens, see refs_url_map */
    uint32_t
        location_id;    /**< RANGE, WHOLE: equal for equal locations, below refs_set_n_locations */
    uint64_t offset;    /**< RANGE: bytes */
    uint64_t length;    /**< RANGE: bytes, at least 1 */
    const char *etag;   /**< RANGE: that the location must have, or NULL */
    int64_t modified_s; /**< RANGE: it must not have been modified later, in seconds since 1970; 0:
                           not stated */
    uint32_t filter_mask;     /**< bit i: codec i of the array was not applied to it (scan.h) */
    struct refs_block *block; /**< held for the caller until refs_ref_release */
} refs_ref;

/* -- opening --------------------------------------------------------------------------------- */

/** Budgets of one set; a set that needs more is refused with REFS_LIMIT. */
typedef struct refs_set_limits {
    uint64_t max_references;     /**< keys in all, generated ones included */
    uint64_t max_generated;      /**< keys that generators may make */
    size_t max_inline_bytes;     /**< all inline values together */
    size_t max_value_bytes;      /**< one inline value or one other text */
    size_t max_rendered_bytes;   /**< what one template may render to */
    size_t max_record_bytes;     /**< files of a parquet set that are kept in memory */
    uint64_t max_unpacked_bytes; /**< what a compressed document may unpack to */
    size_t max_template_depth;   /**< of templates that call templates */
} refs_set_limits;

#define REFS_SET_LIMITS_INIT                                                                       \
    {                                                                                              \
        200000000u, 10000000u, 2048 * REFS_MIB, 1024 * REFS_MIB, 64 * REFS_KIB, 64 * REFS_MIB,     \
            (uint64_t)32 << 30, 8                                                                  \
    }

/** Which state of a repository that keeps its history (Icechunk); NULL members are not specified.
 * At most one of branch, tag and snapshot; as_of goes with a branch or alone. */
typedef struct refs_set_version {
    const char *branch; /**< "main" if nothing is specified */
    const char *tag;
    const char *snapshot; /**< its id */
    const char *as_of;    /**< the branch as it was at this time, in ISO 8601 */
} refs_set_version;

typedef struct refs_set_options {
    size_t struct_size;           /**< sizeof(refs_set_options) */
    const char *const *templates; /**< "name=value" overrides, NULL-ended, or NULL */
    const char *const *rewrites;  /**< "old=>new" replacements of a URL's beginning, or NULL */
    const char *target;           /**< the URL that [null, offset, length] means, or NULL */
    int64_t set_index;            /**< which of a list of sets to open, from 0; -1: not specified */
    bool remote_to_local;         /**< let a remote set name what refs_location_confine refuses */
    refs_set_limits limits;
    refs_notes notes;
    refs_set_version version;        /**< invalid if the name of the set also has one */
    struct refs_scan_shared *shared; /**< what data files that become one set share, or NULL */
} refs_set_options;

#define REFS_SET_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(refs_set_options), NULL, NULL, NULL, -1, false, REFS_SET_LIMITS_INIT, {NULL, NULL}, \
            {NULL, NULL, NULL, NULL}, NULL                                                         \
    }

typedef struct refs_set refs_set;

/** Opens the set at `location` (a name for `vfs`; relative URLs in the set are relative to its
 * folder), in whichever format its content shows; a STAC document stands for the set or the data
 * file that it names, with several of them for a list. A parquet set is named by its folder or by
 * the file ".zmetadata" in it. `options` may be NULL; `vfs` must outlive the set. REFS_NOT_FOUND:
 * nothing is there. REFS_INVALID: it is not a reference set, with the reason (line and column for
 * JSON). REFS_UNSUPPORTED: a list of sets, without set_index or "#set=N" behind its location.
 *
 * An Icechunk repository is named by its folder, which may be followed by the state that is meant:
 * "#branch=dev", "#tag=v1", "#snapshot=<id>", "#as_of=2024-05-01", two of them joined by "&", or
 * "@v1", a tag or the id of a snapshot. */
refs_status refs_set_open(const refs_vfs *vfs, const char *location,
                          const refs_set_options *options, refs_set **set, refs_error *err);

void refs_set_free(refs_set *set);

/** Appends the location of the DMR++ next to a data file, "x.h5.dmrpp"; what a URL has after its
 * path stays after the new name. */
refs_status refs_set_sidecar(const char *file, refs_buf *location, refs_error *err);

/** Whether a file looks like a reference set, from its first bytes alone: true only where a plain
 * name may be claimed (checklist 8: GeoJSON, STAC and other JSON are not). A file compressed by
 * gzip or zstd is judged by what it unpacks to. */
bool refs_set_sniff(refs_bytes head);

/** The same for a folder: whether it holds ".zmetadata" with a record size (the name may also be
 * that file's), or the file that identifies an Icechunk repository. Reads that file. */
bool refs_set_sniff_folder(const refs_vfs *vfs, const char *location);

/** The file that the set was opened by: the set itself, or what was found in its folder. Its
 * validators tell one state of the set from another. */
const char *refs_set_document(const refs_set *set);

/** The state of the set at `location`: the validators of the file that makes it a set. */
refs_status refs_set_validators(const refs_vfs *vfs, const char *location,
                                refs_vfs_validators *validators, refs_error *err);

/** One set of a list or dictionary; strings are borrowed for the call that they come with. */
typedef struct refs_set_summary {
    size_t index;                    /**< from 0, as refs_set_options.set_index has it */
    refs_str name;                   /**< in a dictionary or a STAC document, else empty */
    const struct refs_set *metadata; /**< the metadata in the document, and small values of arrays
                                        of one chunk, as a set of their own; NULL where the document
                                        only names it (STAC) */
} refs_set_summary;

/** Receives the sets of a list. */
typedef struct refs_set_visitor {
    refs_status (*visit)(void *user, const refs_set_summary *set, refs_error *err);
    void *user;
} refs_set_visitor;

/** Calls `visitor` for each set of the list or dictionary at `location`, or for each that a STAC
 * document names, in order, never for a set that stands alone; stops at the first visit that fails
 * and returns its failure. *n_sets is how many there were. Lists may be compressed. */
refs_status refs_set_each_of_list(const refs_vfs *vfs, const char *location,
                                  const refs_set_visitor *visitor, size_t *n_sets, refs_error *err);

/* -- history --------------------------------------------------------------------------------- */

typedef enum refs_set_version_kind {
    REFS_VERSION_BRANCH,
    REFS_VERSION_TAG,
    REFS_VERSION_DELETED_TAG,
    REFS_VERSION_SNAPSHOT,
    REFS_VERSION_FLAG,  /**< a feature that writers may use, or may not */
    REFS_VERSION_STATUS /**< whether the repository may be read and written */
} refs_set_version_kind;

/** One line of the history of a repository; borrowed for the call that it comes with. */
typedef struct refs_set_version_entry {
    refs_set_version_kind kind;
    refs_str name;        /**< of all but snapshots */
    const char *snapshot; /**< BRANCH, TAG: the one that it names; SNAPSHOT: its id; else "" */
    const char *parent;   /**< SNAPSHOT: "" where there is none, or it expired */
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
 * then for its flags and its status; for nothing in a set that keeps no history. May read the files
 * of snapshots. */
refs_status refs_set_each_version(const refs_set *set, const refs_set_version_visitor *visitor,
                                  refs_error *err);

/* -- looking up ------------------------------------------------------------------------------- */

/** The reference of `key` (no leading slash); release `ref` after a success. REFS_NOT_FOUND without
 * a message: absent. May read a file of a parquet set, and keeps it for later calls. */
refs_status refs_set_find(const refs_set *set, refs_str key, refs_ref *ref, refs_error *err);

/** The name of a target in messages: its URL or, if that is relative, the location, which includes
 * the folder. NULL if it has none. */
const char *refs_ref_name(const refs_ref *ref);

/** Releases what `ref` holds; harmless if it holds nothing, or was never found. */
void refs_ref_release(refs_ref *ref);

/** Calls `visit` for every key of the set that is not a chunk key, in the order of first arrival;
 * stops at the first failure of `visit` and returns it. Keys that look like chunks (a folder and
 * numbers, "t2m/3.0.1", "t2m/c/3/0/1") are left out: there may be hundreds of millions. */
refs_status refs_set_each_name(const refs_set *set,
                               refs_status (*visit)(void *user, refs_str key, refs_error *err),
                               void *user, refs_error *err);

/** The keys of the chunks of one array: `prefix` and an index joined by `separator`, below `n`
 * along each of `rank` dimensions; "t2m/" and '.', "t2m/c/" and '/'. An array without dimensions
 * has the one key that is `prefix` and 0, or `prefix` itself where that ends in no slash ("t2m/c").
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

/** Receives chunks; what `ref` holds is borrowed for the call. */
typedef struct refs_chunk_visitor {
    refs_status (*visit)(void *user, const uint64_t *index, const refs_ref *ref, refs_error *err);
    void *user;
} refs_chunk_visitor;

/** Shows every chunk that the set holds under these keys, ascending with the last dimension
 * fastest; stops at the first failure, including the visitor's, and returns it. A chunk that cannot
 * be resolved is a failure that names its key. */
refs_status refs_set_each_chunk(const refs_set *set, const refs_chunk_keys *keys,
                                const refs_chunk_visitor *visitor, refs_error *err);

/** Sets *n to the number of those chunks. */
refs_status refs_set_count_chunks(const refs_set *set, const refs_chunk_keys *keys, uint64_t *n,
                                  refs_error *err);

/** Whether the last part of a key is the name of a document of metadata: ".zarray", "zarr.json". */
bool refs_key_is_metadata(refs_str key);

/** Receives keys; `key` and what `ref` holds are borrowed for the call. */
typedef struct refs_key_visitor {
    refs_status (*visit)(void *user, refs_str key, const refs_ref *ref, refs_error *err);
    void *user;
} refs_key_visitor;

/** Shows every key that is neither a chunk of the `n` arrays nor metadata of Zarr (".zgroup",
 * ".zarray", ".zattrs", "zarr.json") nor what the set records of its sources; stops at the first
 * failure, including the visitor's, and returns it. A key that cannot be resolved is a failure that
 * names it. */
refs_status refs_set_each_other(const refs_set *set, const refs_chunk_keys *arrays, size_t n,
                                const refs_key_visitor *visitor, refs_error *err);

/** Sets `index`, of as many numbers as `keys` has dimensions, to that of the first chunk that the
 * set holds under these keys. In a Parquet set, this looks only in record files that were already
 * read, and in one more, which it reads: a server has thousands of them. REFS_NOT_FOUND without a
 * message: none was found this way. */
refs_status refs_set_first_chunk(const refs_set *set, const refs_chunk_keys *keys, uint64_t *index,
                                 refs_error *err);

/** Keys in the set, without the chunks of a parquet set. */
uint64_t refs_set_size(const refs_set *set);

/** Distinct locations; every refs_ref.location_id is below. Those of a parquet set are numbered as
 * they are found. */
uint32_t refs_set_n_locations(const refs_set *set);

/** The location of that number, below refs_set_n_locations, of a set that is whole
 * (refs_set_is_whole); else NULL. */
const char *refs_set_location_at(const refs_set *set, uint32_t id);

/** The cost of scanning the data file behind the set so far (scan.h). */
typedef struct refs_set_scan_costs {
    bool is_scanned; /**< false: the set is no data file; all else is 0 */
    uint64_t reads, rounds, bytes, indexed_chunks, microseconds; /**< as in scan.h */
} refs_set_scan_costs;

refs_set_scan_costs refs_set_scan_costs_of(const refs_set *set);

/** Whether looking up reads no file: everything was read when the set was opened. */
bool refs_set_is_whole(const refs_set *set);

/** Whether the set is a data file's own index: its location number 0 is that file. */
bool refs_set_is_file(const refs_set *set);

/** The location with number `id`, below refs_set_n_locations, and in `seen` the state that its file
 * had when the set was opened; NULL if that was not looked at. */
const char *refs_set_seen_file(const refs_set *set, uint32_t id, refs_vfs_validators *seen);

/** Bytes of memory that the set takes, without files that it reads later. */
size_t refs_set_memory(const refs_set *set);

/** The name the set was opened by. */
const char *refs_set_location(const refs_set *set);

/* -- URLs ------------------------------------------------------------------------------------- */

/** The facts about the set that refs_url_map needs. */
typedef struct refs_url_context {
    const char *base;            /**< location of the set; relative URLs start at its folder */
    const char *const *rewrites; /**< as in refs_set_options */
    bool remote_to_local;        /**< as in refs_set_options */
} refs_url_context;

/** Appends the name by which the vfs opens `url`: http(s), s3, gs, az and kin become /vsicurl/,
 * /vsis3/, /vsigs/, /vsiaz/ …, file: URLs and relative names become paths, chained zip:: and
 * tar:: URLs /vsizip/ and /vsitar/. Rewrites apply first. REFS_UNSUPPORTED for an unknown
 * scheme, naming those that are known; REFS_INVALID where refs_location_confine refuses the name
 * (checked after rewriting and mapping; specification: checklist 29 to 34, 66). */
refs_status refs_url_map(refs_str url, const refs_url_context *context, refs_buf *location,
                         refs_error *err);

/** Appends what a relative path names in a folder, a URL or a name with a slash at its end: "." and
 * ".." are taken out, and do not lead above a host, a bucket or an archive (RFC 3986, section
 * 5.2.4). */
refs_status refs_url_append_relative(refs_str folder, refs_str path, refs_buf *location,
                                     refs_error *err);

/** How names that a set records are mapped: with its base and what it may name, without its
 * rewrites, which hold for references. Borrowed from the set. */
refs_url_context refs_set_url_context(const refs_set *set);

/** Appends a text, such as a message, in which names that refs_url_map makes of URLs are URLs
 * again:
 * "/vsis3/bucket/key" is "s3://bucket/key", and "/vsicurl/https://…" is "https://…". */
refs_status refs_url_append_shown(refs_str text, refs_buf *shown, refs_error *err);

/* -- sources ----------------------------------------------------------------------------------- */

/** The largest ".zmetadata" of a Parquet set that is read and written. */
#define REFS_SET_MAX_METADATA_BYTES (64 * REFS_MIB)

/* The states of sources are stored in the attribute "sources" of a separate group, which other
 * readers show as an empty group: a list of objects with "url", "size", "modified" (seconds since
 * 1970), "modified_ns" (and billionths) and "etag". */
#define REFS_SOURCES_GROUP ".zsources"

/** A source as it was when it was indexed. */
typedef struct refs_source_state {
    refs_str url;         /**< as references have it */
    uint64_t size;        /**< bytes, or REFS_SOURCE_UNKNOWN */
    int64_t modified_s;   /**< seconds since 1970; 0: not known */
    refs_str etag;        /**< as HTTP sent it, or of a long one its hash; empty: not known */
    uint32_t modified_ns; /**< and billionths; 0: not known */
} refs_source_state;

#define REFS_SOURCE_UNKNOWN UINT64_MAX

/** That of a source which is seen to be `now`; borrows both. */
refs_source_state refs_source_state_of(refs_str url, const refs_vfs_validators *now);

/** Receives states of sources, which are borrowed for the call. */
typedef struct refs_source_visitor {
    refs_status (*visit)(void *user, const refs_source_state *source, refs_error *err);
    void *user;
} refs_source_visitor;

/** Shows the states that a set has recorded; none if it has none. */
refs_status refs_sources_read(const refs_set *set, const refs_source_visitor *visitor,
                              refs_error *err);

/** An array that was left out of a set, as something in it is not supported. They are listed in the
 * attribute "left_out" of the same group: objects with "path" and "problem". */
typedef struct refs_left_out {
    refs_str path; /**< "g/t2m" */
    refs_str problem;
} refs_left_out;

/** Receives them, borrowed for the call. */
typedef struct refs_left_out_visitor {
    refs_status (*visit)(void *user, const refs_left_out *left_out, refs_error *err);
    void *user;
} refs_left_out_visitor;

/** Shows those that a set has recorded; none if it has none. */
refs_status refs_left_out_read(const refs_set *set, const refs_left_out_visitor *visitor,
                               refs_error *err);

/** Appends how a set was joined, as its maker recorded it in the member "joined" of the same group:
 * an object with "along", a list of dimensions, "pattern", "group", "variables" and "inline", each
 * where it was asked for. Nothing where nothing was recorded. */
refs_status refs_joined_read(const refs_set *set, refs_buf *how, refs_error *err);

/* -- building: for formats and for tests --------------------------------------------------------
 */

/** Collects references and becomes a set. Belongs to one thread. */
typedef struct refs_set_builder refs_set_builder;

/** `location` names the set that is built; `options` may be NULL and must outlive the builder. */
refs_status refs_set_builder_open(const char *location, const refs_set_options *options,
                                  refs_set_builder **builder, refs_error *err);
void refs_set_builder_free(refs_set_builder *builder);

/** Part of a file. A length of zero is kept and fails when it is read. */
typedef struct refs_byte_range {
    uint64_t offset;
    uint64_t length;
} refs_byte_range;

/** Adds a key (a leading slash is dropped; a later one replaces an earlier of the same name). */
refs_status refs_set_builder_inline(refs_set_builder *builder, refs_str key, refs_bytes bytes,
                                    refs_error *err);
refs_status refs_set_builder_range(refs_set_builder *builder, refs_str key, refs_str url,
                                   refs_byte_range range, refs_error *err);
refs_status refs_set_builder_whole(refs_set_builder *builder, refs_str key, refs_str url,
                                   refs_error *err);

/** Adds a key whose value is unusable: looking it up fails with `status` and `message`. */
refs_status refs_set_builder_broken(refs_set_builder *builder, refs_str key, refs_status status,
                                    const char *message, refs_error *err);

/** Ends building: `*set` is complete and the builder freed, also on failure. */
refs_status refs_set_builder_finish(refs_set_builder *builder, refs_set **set, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
