/* zarr.h -- what keys mean: Zarr metadata -> groups, arrays, element types, chunk grids.
 *
 * A hierarchy is read once from the metadata keys of a store (".zgroup", ".zattrs", ".zarray" of
 * Zarr v2, "zarr.json" of v3; ".zmetadata" only for metadata without a key of their own) and is
 * immutable afterwards; any number of threads may use it. The tree follows from the keys: a group
 * needs no key of its own. An array whose metadata cannot be understood stays in the tree and says
 * why.
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
    REFS_TYPE_BYTES,     /**< S: fixed-length text, padded with NULs */
    REFS_TYPE_UNICODE,   /**< U: fixed-length text of four-byte code points */
    REFS_TYPE_OBJECT,    /**< O, v3 string: variable-length, made by a vlen codec */
    REFS_TYPE_RAW        /**< V and structured types: opaque */
} refs_type;

typedef struct refs_dtype {
    refs_type type;
    size_t size;     /**< bytes of one element; 0 for REFS_TYPE_OBJECT */
    bool big_endian; /**< meaningful where elements have more than one byte */
    char unit[8];    /**< DATETIME, TIMEDELTA: "s", "ns", "D" …; else "" */
    int64_t step;    /**< DATETIME, TIMEDELTA: units in a tick, usually 1; else 0 */
} refs_dtype;

/** Reads a NumPy type string such as "<i2", "|S80" or "<M8[us]". REFS_UNSUPPORTED names any
 * other. */
refs_status refs_dtype_parse(refs_str text, refs_dtype *dtype, refs_error *err);

/** Writes `dtype` as a NumPy type string with a NUL after it, cut to `size` bytes; "" for opaque
 * types. */
void refs_dtype_format(const refs_dtype *dtype, char *text, size_t size);

/** Bytes in which byte order swaps elements: the size, half of it for complex, 1 for strings. */
size_t refs_dtype_swap_size(const refs_dtype *dtype);

/** Whether arrays of this type can be rasters. */
bool refs_dtype_is_numeric(const refs_dtype *dtype);

/** `n` elements in this machine's byte order as doubles, of complex numbers the real parts; false
 * for strings and opaque types. As integers, also false for floats; what is beyond int64_t wraps.
 */
bool refs_dtype_to_doubles(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                           double *numbers);
bool refs_dtype_to_integers(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                            int64_t *numbers);

/** One element as a double; 0 for strings and opaque types. */
double refs_dtype_number(const refs_dtype *dtype, const uint8_t *element);

/** Whether elements are of one type and size, whatever their byte order. Units of times are not
 * compared. */
bool refs_dtype_equal(const refs_dtype *a, const refs_dtype *b);

/** Turns a fill value of the metadata into one element of `dtype` in this machine's byte order:
 * `fill` has room for dtype->size bytes. Numbers, "NaN", "Infinity", "-Infinity", bare NaN, bool,
 * [re, im], base64 text for S, V and numbers, ticks, "0x…" bit patterns (v3).
 * *has_fill is false for null or no value: elements are then zero. REFS_INVALID names any other. */
refs_status refs_fill_value_parse(const refs_json *value, const refs_dtype *dtype, uint8_t *fill,
                                  bool *has_fill, refs_error *err);

/* -- arrays ------------------------------------------------------------------------------------ */

/** One step in the encoding of chunk bytes, to be undone by the codec of this name. */
typedef struct refs_codec_spec {
    const char *id;          /**< numcodecs' id or v3 name; "" where the metadata has none */
    const refs_json *config; /**< v2: the object with "id"; v3: "configuration", may be NULL */
} refs_codec_spec;

/** How many chunks are stored in one value, a shard: one after the other in any order, with an
 * index that has two 64-bit numbers for each, in C order: where it begins and how many bytes it
 * has. */
typedef struct refs_shard_meta {
    uint64_t n[REFS_MAX_RANK]; /**< chunks of a shard along each dimension; at least 1 */
    uint64_t n_inner;          /**< in all, including those outside the array */
    bool index_at_start;       /**< the index comes before the chunks, else after them */
    bool index_big_endian;
    bool index_has_crc32c; /**< the index is followed by its checksum */
} refs_shard_meta;

/** Chunks of one size that follow each other along a dimension of a rectilinear grid. */
typedef struct refs_chunk_run {
    uint64_t size; /**< elements that each has in the array */
    uint64_t
        encoded; /**< elements that each has as it is stored, the first `size` of which count */
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
    uint64_t chunk[REFS_MAX_RANK]; /**< elements of a whole chunk; at least 1 */
    const refs_chunk_edges *edges; /**< of a rectilinear grid, one for each dimension; `chunk` is
                                      then the largest chunk; or NULL */
    const uint64_t *first_chunk;   /**< the index that keys use for the chunk at 0, 0 …; NULL: the
                                      same */
    const refs_shard_meta *shard;  /**< how chunks are stored together, or NULL: one by one */
    const char *const *dims;       /**< `rank` names of dimensions; never NULL, see named_dims */
    bool named_dims;               /**< false where names were made up: "dim0", "dim1" … */

    refs_dtype dtype;
    uint8_t order[REFS_MAX_RANK]; /**< dimensions as elements lie in a chunk: slowest first */
    bool was_v2;           /**< Icechunk holds an array of version 2 (docs/icechunk.md): a fill
                                value that was null is none */
    bool is_unfilled;      /**< nothing fills what was not written, if there is no fill value: no
                                element is netCDF's default by omission */
    bool has_fill;         /**< metadata have a fill value that is not null */
    const uint8_t *fill;   /**< dtype.size bytes in this machine's byte order, zero without one */
    const char *fill_text; /**< OBJECT: value of absent strings, "" without a fill value */

    const char *key_prefix; /**< what chunk keys begin with: "t2m/" or "t2m/c/" */
    char separator;         /**< between numbers in chunk keys: '.' or '/' */

    size_t n_codecs;
    const refs_codec_spec *codecs; /**< in the order of encoding: filters, then compressor */

    const refs_json *attributes; /**< an object, or NULL */

    const struct refs_aggregation
        *aggregation;    /**< what it is made of (aggregation.h): it then has no chunks, and reading
                            moves on in steps of `chunk`; or NULL */
    bool is_instruction; /**< it only says what aggregations are made of */

    refs_status status;  /**< not REFS_OK where metadata cannot be understood; then … */
    const char *problem; /**< … this says why, and only path, name, group and attributes are
                            valid */
} refs_array_meta;

/** Elements in the array and in one whole chunk; false where that overflows. */
bool refs_array_meta_elements(const refs_array_meta *array, uint64_t *elements);
bool refs_array_meta_chunk_elements(const refs_array_meta *array, uint64_t *elements);

/** Chunks along dimension `dim`, the last one perhaps partly outside the array. */
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
    bool is_instruction;         /**< all arrays in it and below it are, of which there are some */
} refs_group_meta;

typedef struct refs_hierarchy refs_hierarchy;

/** Reads all metadata of `store`, which must outlive the hierarchy. A metadata document that cannot
 * be read or parsed fails for its array alone. A set that names nothing is an empty root, with a
 * note; a set that names only things other than metadata is REFS_INVALID. */
refs_status refs_hierarchy_open(struct refs_store *store, const refs_notes *notes,
                                refs_hierarchy **hierarchy, refs_error *err);
void refs_hierarchy_free(refs_hierarchy *hierarchy);

/** Works like refs_store_keeps_attributes. */
bool refs_hierarchy_keeps_attributes(const refs_hierarchy *hierarchy);

/** Arrays and groups in the order in which the set first names them; group 0 is the root. */
size_t refs_hierarchy_n_arrays(const refs_hierarchy *hierarchy);
const refs_array_meta *refs_hierarchy_array(const refs_hierarchy *hierarchy, size_t i);
size_t refs_hierarchy_n_groups(const refs_hierarchy *hierarchy);
const refs_group_meta *refs_hierarchy_group(const refs_hierarchy *hierarchy, size_t i);

/** By path, with or without leading slash; NULL when there is none. Also finds an array by the name
 * that a netCDF-4 file hides behind "_nc4_non_coord_", which is its `name`. */
const refs_array_meta *refs_hierarchy_find_array(const refs_hierarchy *hierarchy, refs_str path);
const refs_group_meta *refs_hierarchy_find_group(const refs_hierarchy *hierarchy, refs_str path);

/** The array called `name` as seen from `group` (its path): as a path when it has a slash, else in
 * `group`, then in the groups above it, as CF 2.7 searches. NULL when there is none. */
const refs_array_meta *refs_hierarchy_resolve(const refs_hierarchy *hierarchy, const char *group,
                                              refs_str name);

/** Makes `meta`, whose path is the same, describe array number `i` from now on; what it refers to
 * must outlive the hierarchy. No other thread may use the hierarchy meanwhile. */
void refs_hierarchy_describe(refs_hierarchy *hierarchy, size_t i, const refs_array_meta *meta);

/** Sets is_instruction of all groups by that of the arrays. No other thread may use the hierarchy
 * meanwhile. */
void refs_hierarchy_mark_groups(refs_hierarchy *hierarchy);

/** Bytes of memory that the hierarchy takes. */
size_t refs_hierarchy_memory(const refs_hierarchy *hierarchy);

/** The store the hierarchy was read from. */
struct refs_store *refs_hierarchy_store(const refs_hierarchy *hierarchy);

#ifdef __cplusplus
}
#endif
#endif
