/* refs.h -- sets by name: the one header of the shared library librefs.
 *
 * A dataset is a reference set (JSON, Parquet, Icechunk, DMR++), a data file (netCDF, HDF5, TIFF,
 * GRIB) or an aggregation, opened by its name: a local path, or a URL of HTTP (http://, https://)
 * or of an object store (s3://, gs://, az://). It has groups, arrays and attributes, and its arrays
 * are read by ranges, indices and points into the caller's memory.
 *
 * Pointers that a dataset returns are owned by it and valid until it is closed; their targets do
 * not change. Any number of threads may use one dataset at once, except to close it. After fork(2)
 * the child may use datasets of its parent, too.
 *
 * The library prints nothing. All datasets of a process share connections and threads. The library
 * uses the types and REFS_ERROR_INIT of error.h, but does not export the functions declared there.
 *
 * Read before this: error.h.
 */
#ifndef REFS_REFS_H
#define REFS_REFS_H

#include <stddef.h>
#include <stdint.h>

#include "refs/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REFS_EXPORT __attribute__((visibility("default")))
#else
#define REFS_EXPORT
#endif

/** The version of the library: "0.1.0". */
REFS_EXPORT const char *refs_version(void);

/* -- opening ----------------------------------------------------------------------------------- */

typedef struct refs_dataset refs_dataset;

/** Progress callback of a call that may take long. `go_on` is called on the thread that made the
 * call, at least 10 times a second while it waits: `done` is the share that is done, from 0 to 1.
 * If it returns false, the call ends with REFS_CANCELLED. */
typedef struct refs_watcher {
    bool (*go_on)(void *user, double done);
    void *user;
} refs_watcher;

/** Opens the dataset `name`, a path or a URL. A suffix "#set=N" selects one of a list of sets,
 * "#branch=…", "#tag=…" or "#snapshot=…" a version of an Icechunk repository. The files of a
 * pattern, a folder, a prefix of a store or a list of files (.txt) are opened as one set.
 *
 * `options` is a NULL-ended list of "KEY=VALUE", or NULL: URL_REWRITE ("old=>new"), TEMPLATES
 * ("name=value") and ALONG (a concat dimension), which may be repeated; PATTERN
 * ("t2m_{time:%Y%m%d}.nc": values of dimensions in file names), TARGET, BRANCH, TAG, SNAPSHOT,
 * AS_OF, SET, MISSING (ERROR, FILL, WARN), CHANGED (ERROR, WARN, IGNORE), HONOUR_VALID_RANGE (YES,
 * NO), CACHE_MAX (MiB of decoded chunks that are kept, default 256), and the settings of
 * docs/stores.md, whose default is the environment. `watcher` may be NULL; it is only used during
 * the call.
 *
 * REFS_NOT_FOUND: `name` does not exist. REFS_INVALID: it is not a dataset, or an option is
 * unknown. */
REFS_EXPORT refs_status refs_dataset_open(const char *name, const char *const *options,
                                          const refs_watcher *watcher, refs_dataset **dataset,
                                          refs_error *err);

/** Closes a dataset that no other call is using; NULL is allowed. */
REFS_EXPORT void refs_dataset_close(refs_dataset *dataset);

/* -- what is in a dataset ---------------------------------------------------------------------- */

typedef enum refs_attribute_kind {
    REFS_ATTRIBUTE_TEXT,   /**< `values` is UTF-8 of `n` bytes, with a NUL after them */
    REFS_ATTRIBUTE_TEXTS,  /**< `values` are `n` pointers to NUL-ended UTF-8 */
    REFS_ATTRIBUTE_NUMBERS /**< `values` are `n` elements of `type` */
} refs_attribute_kind;

/** An attribute, as in its file. Attributes that Zarr, HDF5 and the netCDF libraries write for
 * their own use are omitted. */
typedef struct refs_attribute {
    const char *name;
    refs_attribute_kind kind;
    const char *type; /**< of numbers, like refs_array_info.type; else "" */
    size_t n;
    bool is_list; /**< distinguishes a list of one number or text from a single one */
    const void *values;
} refs_attribute;

typedef struct refs_group_info {
    const char *path; /**< "" for the root, else with a leading slash: "/forecast" */
    const char *name; /**< the part after the last slash */
    size_t n_attributes;
    const refs_attribute *attributes;
    size_t n_unlimited;
    const char *const *unlimited; /**< names of unlimited dimensions of the file */
} refs_group_info;

typedef struct refs_array_info {
    size_t number;     /**< the argument of refs_dataset_array */
    const char *path;  /**< with a leading slash: "/t2m", "/forecast/t2m" */
    const char *name;  /**< the part after the last slash */
    const char *group; /**< the part before it: "" for the root */
    const char *type;  /**< NumPy's type string in this machine's byte order: "<f4", "|b1", "|S3",
                          "<U5", "<M8[s]", "|V6"; "|O" for strings of variable length */
    size_t size;       /**< bytes of one element; 0 for "|O" */
    size_t rank;
    const uint64_t *shape;   /**< elements */
    const uint64_t *chunks;  /**< elements of a stored chunk; for an aggregation, of a chunk of its
                                fragments, the best size of reads */
    const char *const *dims; /**< names of dimensions; NULL for one without a name */
    const void *fill;        /**< the value of elements in absent chunks, one element; or NULL */
    const char *codecs;      /**< JSON: the list of the codecs of a chunk, as in the metadata */
    bool is_aggregation;     /**< it consists of arrays in other files */
    size_t n_attributes;
    const refs_attribute *attributes;
    refs_status status;  /**< not REFS_OK if the array cannot be read, … */
    const char *problem; /**< … for this reason; then only path, name, group and attributes are
                            valid */
} refs_array_info;

/** Groups, of which number 0 is the root, and arrays, in the order of the set. NULL after the last
 * one. */
REFS_EXPORT const refs_group_info *refs_dataset_group(const refs_dataset *dataset, size_t number);
REFS_EXPORT const refs_array_info *refs_dataset_array(const refs_dataset *dataset, size_t number);

/** The array at `path`, with or without a leading slash; NULL if there is none. */
REFS_EXPORT const refs_array_info *refs_dataset_find(const refs_dataset *dataset, const char *path);

/** Lengths of consecutive parts of a dimension. */
typedef struct refs_lengths {
    size_t n;
    const uint64_t *lengths; /**< which add up to the dimension */
} refs_lengths;

/** The dimension along which fragments are listed. */
typedef struct refs_listing {
    size_t dim;
    const refs_watcher *watcher; /**< or NULL */
} refs_listing;

/** Lists the lengths of the fragments of an aggregation along a dimension, from its first element
 * on: reads within these bounds open the fewest files. Consecutive elements without a fragment
 * count as one part. An aggregation has at most 16777216 fragments. The caller frees *lengths. May
 * read files that list fragments. REFS_INVALID: the array is not an aggregation. */
REFS_EXPORT refs_status refs_dataset_list_fragments(refs_dataset *dataset,
                                                    const refs_array_info *array,
                                                    const refs_listing *listing,
                                                    refs_lengths **lengths, refs_error *err);
REFS_EXPORT void refs_lengths_free(refs_lengths *lengths);

/* -- reading ----------------------------------------------------------------------------------- */

typedef enum refs_axis_kind {
    REFS_AXIS_RANGE, /**< `count` elements from `start` on, `step` apart; backwards if `step` is
                        negative */
    REFS_AXIS_INDEX, /**< the `count` elements at `index`, in ascending order; some may be equal */
    REFS_AXIS_POINTS /**< point i has the index index[i], in any order */
} refs_axis_kind;

/** The elements to read along one dimension. */
typedef struct refs_axis {
    refs_axis_kind kind;
    uint64_t count;
    uint64_t start;        /**< of a range */
    int64_t step;          /**< of a range; not 0 */
    const uint64_t *index; /**< of indices and points */
} refs_axis;

/** The destination of elements. */
typedef struct refs_target {
    void *values;
    size_t size;                 /**< bytes at `values` */
    const refs_watcher *watcher; /**< or NULL */
} refs_target;

/** Reads elements of `array` into the target, packed in C order, with the array's type in this
 * machine's byte order. `axes` has one element for each dimension. Each dimension with a range or
 * indices is a dimension of the result (orthogonal indexing). All dimensions with points have the
 * same count, and are together the first dimension of the result, one element per point.
 *
 * All chunks of a call are planned together; up to 16384 chunks, or 256 fragments of an
 * aggregation, are in flight at a time. Absent chunks give the fill value; any other chunk that
 * cannot be read is a failure. REFS_INVALID: elements outside the array, even if another axis is
 * empty, or a target that is too small. REFS_UNSUPPORTED: strings of variable length ("|O"), for
 * which see refs_dataset_read_texts. */
REFS_EXPORT refs_status refs_dataset_read(refs_dataset *dataset, const refs_array_info *array,
                                          const refs_axis *axes, const refs_target *target,
                                          refs_error *err);

/** The strings of an array, in C order. */
typedef struct refs_texts {
    size_t n;
    const char *const *texts; /**< UTF-8, NUL-ended */
} refs_texts;

/** Reads all elements of an array of strings ("|O", "|S…", "<U…"), at most 67108864. The caller
 * frees *texts. `watcher` may be NULL. */
REFS_EXPORT refs_status refs_dataset_read_texts(refs_dataset *dataset, const refs_array_info *array,
                                                const refs_watcher *watcher, refs_texts **texts,
                                                refs_error *err);
REFS_EXPORT void refs_texts_free(refs_texts *texts);

/* -- keys and values --------------------------------------------------------------------------- */

/** Zarr keys of a dataset: "t2m/.zarray", "t2m/3.0.1". */
typedef struct refs_keys {
    size_t n;
    const char *const *keys;
    const refs_watcher *watcher; /**< or NULL */
} refs_keys;

/** The value of a key, as it is stored; `data` is NULL if the key is absent. */
typedef struct refs_value {
    const void *data;
    size_t size; /**< bytes */
} refs_value;

typedef struct refs_values {
    size_t n;
    const refs_value *values;
} refs_values;

/** Reads the values of at most 16384 keys, in their order, planned together. The caller frees
 * *values. REFS_UNSUPPORTED: the dataset has aggregations, which have no chunk keys, or a chunk to
 * which some of its array's codecs were not applied. */
REFS_EXPORT refs_status refs_dataset_get(refs_dataset *dataset, const refs_keys *keys,
                                         refs_values **values, refs_error *err);
REFS_EXPORT void refs_values_free(refs_values *values);

/** Lists all keys but those of chunks. The caller frees *keys. */
REFS_EXPORT refs_status refs_dataset_list_keys(refs_dataset *dataset, refs_texts **keys,
                                               refs_error *err);

/* -- what happened ----------------------------------------------------------------------------- */

/** Counts since a dataset was opened. */
typedef struct refs_counters {
    uint64_t requests;       /**< requests of chunks: ranges and whole objects */
    uint64_t bytes;          /**< received by these requests */
    uint64_t chunks_decoded; /**< without those of fragments */
    uint64_t chunks_absent;  /**< replaced by the fill value */
    uint64_t cache_hits;     /**< chunks found in the cache */
} refs_counters;

REFS_EXPORT void refs_dataset_count(refs_dataset *dataset, refs_counters *counters);

/** Removes the oldest warning from the list and copies it to `text`, truncated to `size` bytes with
 * its NUL. False, and "", if there is none. At most 1000 warnings are kept. */
REFS_EXPORT bool refs_dataset_take_warning(refs_dataset *dataset, char *text, size_t size);

/** The chunk or document that a failure concerns; "" and 0 if its message does not say. */
typedef struct refs_error_place {
    char key[REFS_ERROR_SIZE]; /**< its key in the set: "t2m/3.0.1" */
    char url[REFS_ERROR_SIZE]; /**< of the file that it is in, … */
    uint64_t offset, length;   /**< … and these bytes of it */
} refs_error_place;

REFS_EXPORT void refs_error_locate(const refs_error *err, refs_error_place *place);

#ifdef __cplusplus
}
#endif
#endif
