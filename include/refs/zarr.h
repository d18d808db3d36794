/* zarr.h -- Zarr metadata -> groups, arrays, element types, chunk grids.
 *
 * A hierarchy is read once from the metadata keys of a store (".zgroup", ".zattrs", ".zarray" of
 * Zarr v2, "zarr.json" of v3; ".zmetadata" only for metadata without a key of their own) and is
 * immutable afterwards; any number of threads may use it. The tree follows from the keys: a group
 * needs no key of its own. An array with invalid metadata stays in the tree, with a status and the
 * reason.
 *
 * Sources: Zarr v2 specification; Zarr v3 core specification; NumPy's
 * array-protocol type strings.
 *
 * Read before this: store.h, json.h.   Read after this: codec.h, array.h, cf.h.
 */
#ifndef REFS_ZARR_H
#define REFS_ZARR_H

#include "refs/bytes.h"
#include "refs/json.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_store;

/** Most dimensions an array may have. */
#define REFS_MAX_RANK 32

/** Largest metadata document that is read. */
#define REFS_MAX_METADATA_BYTES (64 * REFS_MIB)

/* -- element types ----------------------------------------------------------------------------- */

typedef enum refs_type {
    REFS_TYPE_BOOL,      /**< b1: one byte, 0 or 1 */
    REFS_TYPE_INT,       /**< i1 i2 i4 i8 */
    REFS_TYPE_UINT,      /**< u1 u2 u4 u8 */
    REFS_TYPE_FLOAT,     /**< f2 f4 f8 */
    REFS_TYPE_COMPLEX,   /**< c8 c16 */
    REFS_TYPE_DATETIME,  /**< M8: int64 ticks since 1970 */
    REFS_TYPE_TIMEDELTA, /**< m8: int64 ticks */
    REFS_TYPE_BYTES,     /**< S: fixed-length strings, padded with NULs */
    REFS_TYPE_UNICODE,   /**< U: fixed-length strings of four-byte code points */
    REFS_TYPE_OBJECT,    /**< O, v3 string: variable-length, decoded by a vlen codec */
    REFS_TYPE_RAW        /**< V and structured types: opaque */
} refs_type;

typedef struct refs_dtype {
    refs_type type;
    size_t size;     /**< bytes of one element; 0 for REFS_TYPE_OBJECT */
    bool big_endian; /**< only meaningful if elements have more than one byte */
    char unit[8];    /**< DATETIME, TIMEDELTA: "s", "ns", "D" …; else "" */
    int64_t step;    /**< DATETIME, TIMEDELTA: units in a tick, usually 1; else 0 */
} refs_dtype;

/** Parses a NumPy type string such as "<i2", "|S80" or "<M8[us]". REFS_UNSUPPORTED names any
 * other. */
refs_status refs_dtype_parse(refs_str text, refs_dtype *dtype, refs_error *err);

/** Writes `dtype` as a NUL-ended NumPy type string, truncated to `size` bytes; "" for opaque
 * types. */
void refs_dtype_format(const refs_dtype *dtype, char *text, size_t size);

/** The unit of byte swapping: the size of an element, half of it for complex, 1 for strings. */
size_t refs_dtype_swap_size(const refs_dtype *dtype);

/** Whether arrays of this type can be rasters. */
bool refs_dtype_is_numeric(const refs_dtype *dtype);

/** Convert `n` elements in this machine's byte order to doubles (of complex numbers, the real
 * parts) or to integers; false for strings and opaque types, and as integers also for floats.
 * Integers beyond int64_t wrap.
 */
bool refs_dtype_to_doubles(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                           double *numbers);
bool refs_dtype_to_integers(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                            int64_t *numbers);

/** Integers as elements of integers in this machine's byte order: their lowest bytes. */
void refs_dtype_from_integers(const refs_dtype *dtype, const int64_t *numbers, size_t n,
                              uint8_t *elements);

/** One element as a double; 0 for strings and opaque types. */
double refs_dtype_number(const refs_dtype *dtype, const uint8_t *element);

/** Whether type and size are equal. Byte order and units of times are not compared. */
bool refs_dtype_equal(const refs_dtype *a, const refs_dtype *b);

/** Converts a fill value of the metadata to one element of `dtype` in this machine's byte order:
 * `fill` has room for dtype->size bytes. Accepts numbers, "NaN", "Infinity", "-Infinity", bare NaN,
 * bool, [re, im], base64 text for S, V and numbers, ticks, and "0x…" bit patterns (v3). *has_fill
 * is false for null or no value: elements are then zero. REFS_INVALID names any other value. */
refs_status refs_fill_value_parse(const refs_json *value, const refs_dtype *dtype, uint8_t *fill,
                                  bool *has_fill, refs_error *err);

/* -- arrays ------------------------------------------------------------------------------------ */

/** One codec of an array, in its metadata. */
typedef struct refs_codec_spec {
    const char *id;          /**< numcodecs' id or v3 name; "" if the metadata has none */
    const refs_json *config; /**< v2: the object with "id"; v3: "configuration", may be NULL */
} refs_codec_spec;

/** The layout of a shard: a value that holds several chunks, one after the other in any order, and
 * an index of them in C order, with two 64-bit numbers for each chunk: its offset and its size in
 * bytes. */
typedef struct refs_shard_meta {
    uint64_t n[REFS_MAX_RANK]; /**< chunks in a shard along each dimension; at least 1 */
    uint64_t n_inner;          /**< chunks in a shard, including those outside the array */
    bool index_at_start;       /**< the index comes before the chunks, else after them */
    bool index_big_endian;
    bool index_has_crc32c; /**< the index is followed by its checksum */
} refs_shard_meta;

/** Consecutive chunks of one size along a dimension of a rectilinear grid. */
typedef struct refs_chunk_run {
    uint64_t size;    /**< elements of each in the array */
    uint64_t encoded; /**< elements of each as stored, of which the first `size` are in the array */
    uint64_t count;
} refs_chunk_run;

/** The chunks along one dimension, in their order. */
typedef struct refs_chunk_edges {
    const refs_chunk_run *runs;
    size_t n_runs;
} refs_chunk_edges;

/** The metadata of an array; everything is borrowed from the hierarchy. */
typedef struct refs_array_meta {
    const char *path;  /**< with leading slash: "/t2m", "/forecast/t2m" */
    const char *name;  /**< the part after the last slash */
    const char *group; /**< the part before it: "" for the root, "/forecast" */
    int zarr_format;   /**< 2 or 3 */

    size_t rank;
    uint64_t shape[REFS_MAX_RANK]; /**< elements */
    uint64_t chunk[REFS_MAX_RANK]; /**< elements of a full chunk; at least 1 */
    const refs_chunk_edges *edges; /**< of a rectilinear grid, one for each dimension, or NULL; if
                                      set, `chunk` is the largest chunk */
    const uint64_t *first_chunk; /**< the index in the key of the chunk at 0, 0 …; NULL: 0, 0 … */
    const refs_shard_meta *shard; /**< how chunks are stored in shards; NULL: each chunk has a
                                     key */
    const char *const *dims;      /**< `rank` names of dimensions; never NULL, see named_dims */
    bool named_dims;              /**< false if names were invented: "dim0", "dim1" … */

    refs_dtype dtype;
    uint8_t order[REFS_MAX_RANK]; /**< order of dimensions in the bytes of a chunk: slowest first */
    bool was_v2;                  /**< an array of version 2 that was converted for Icechunk
                                     (docs/icechunk.md): a fill value of null means none */
    bool is_unfilled;      /**< without a fill value, no element is netCDF's default because it was
                              not written */
    bool has_fill;         /**< the metadata has a fill value that is not null */
    const uint8_t *fill;   /**< dtype.size bytes in this machine's byte order, zero without one */
    const char *fill_text; /**< OBJECT: the value of absent strings, "" without a fill value */

    const char *key_prefix; /**< prefix of chunk keys: "t2m/" or "t2m/c/" */
    char separator;         /**< between numbers in chunk keys: '.' or '/' */

    size_t n_codecs;
    const refs_codec_spec *codecs; /**< in the order of encoding: filters, then compressor */

    const refs_json *attributes; /**< an object, or NULL */

    const struct refs_aggregation
        *aggregation;    /**< its fragments (aggregation.h), or NULL; if set, it has no chunks, and
                            `chunk` is the expected size of reads */
    bool is_instruction; /**< it only describes the fragments of aggregations */

    refs_status status;  /**< not REFS_OK if the metadata is invalid … */
    const char *problem; /**< … for this reason; then only path, name, group and attributes are
                            valid */
} refs_array_meta;

/** Elements in the array and in one full chunk; false if the number overflows. */
bool refs_array_meta_elements(const refs_array_meta *array, uint64_t *elements);
bool refs_array_meta_chunk_elements(const refs_array_meta *array, uint64_t *elements);

/** Chunks along dimension `dim`, including a last one that is partly outside the array. */
uint64_t refs_array_meta_n_chunks(const refs_array_meta *array, size_t dim);

/** Appends the key of the chunk at `index` (one number for each dimension), or of its shard, for
 * example "t2m/3.0.1"; arrays of rank 0 have "t2m/0" (v2) or "t2m/c" (v3). */
refs_status refs_chunk_key(const refs_array_meta *array, const uint64_t *index, refs_buf *key,
                           refs_error *err);

/** Sets `shard` to the index of the shard that holds the chunk at `index`, and returns the number
 * of the chunk within it. The array must have shards. */
uint64_t refs_shard_find(const refs_array_meta *array, const uint64_t *index, uint64_t *shard);

/* -- hierarchy --------------------------------------------------------------------------------- */

/** A group; everything is borrowed from the hierarchy. */
typedef struct refs_group_meta {
    const char *path;            /**< "" for the root, else with leading slash */
    const char *name;            /**< "" for the root */
    const refs_json *attributes; /**< an object, or NULL */
    bool is_instruction;         /**< it has arrays, and all of them, at any depth, are */
} refs_group_meta;

typedef struct refs_hierarchy refs_hierarchy;

/** Reads all metadata of `store`, which must outlive the hierarchy. A metadata document that cannot
 * be read or parsed only makes its array fail. A set without keys is an empty root, with a note; a
 * set that has keys but no metadata is REFS_INVALID. */
refs_status refs_hierarchy_open(struct refs_store *store, const refs_notes *notes,
                                refs_hierarchy **hierarchy, refs_error *err);
void refs_hierarchy_free(refs_hierarchy *hierarchy);

/** Works like refs_store_keeps_attributes. */
bool refs_hierarchy_keeps_attributes(const refs_hierarchy *hierarchy);

/** Arrays and groups in the order of the set's keys; group 0 is the root. */
size_t refs_hierarchy_n_arrays(const refs_hierarchy *hierarchy);
const refs_array_meta *refs_hierarchy_array(const refs_hierarchy *hierarchy, size_t i);
size_t refs_hierarchy_n_groups(const refs_hierarchy *hierarchy);
const refs_group_meta *refs_hierarchy_group(const refs_hierarchy *hierarchy, size_t i);

/** Find by path, with or without a leading slash; NULL if there is none. An array whose name in a
 * netCDF-4 file begins with "_nc4_non_coord_" is also found without that prefix, which is its
 * `name`. */
const refs_array_meta *refs_hierarchy_find_array(const refs_hierarchy *hierarchy, refs_str path);
const refs_group_meta *refs_hierarchy_find_group(const refs_hierarchy *hierarchy, refs_str path);

/** Finds the array called `name` from `group` (a path), as CF 2.7 defines it: as a path if `name`
 * has a slash, else in `group`, then in the groups above it. NULL if there is none. */
const refs_array_meta *refs_hierarchy_resolve(const refs_hierarchy *hierarchy, const char *group,
                                              refs_str name);

/** Replaces the metadata of array number `i` by `meta`, with the same path; all that it points to
 * must outlive the hierarchy. No other thread may use the hierarchy during the call. */
void refs_hierarchy_describe(refs_hierarchy *hierarchy, size_t i, const refs_array_meta *meta);

/** Sets is_instruction of all groups by that of the arrays. No other thread may use the hierarchy
 * during the call. */
void refs_hierarchy_mark_groups(refs_hierarchy *hierarchy);

/** Bytes of memory that the hierarchy takes. */
size_t refs_hierarchy_memory(const refs_hierarchy *hierarchy);

/** The store the hierarchy was read from. */
struct refs_store *refs_hierarchy_store(const refs_hierarchy *hierarchy);

#ifdef __cplusplus
}
#endif
#endif
