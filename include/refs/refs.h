/* refs.h -- sets by name: the one header of the shared library librefs.
 *
 * A dataset is what one name opens: a reference set (JSON, Parquet, Icechunk, DMR++), a data file
 * (netCDF, HDF5, TIFF, GRIB) or an aggregation; here, over http(s)://, or in a store (s3://, gs://,
 * az://). It has groups, arrays and attributes, and its arrays are read by ranges, indices and
 * points into the caller's memory.
 *
 * Everything that a dataset says of itself belongs to it, does not change and lives until it is
 * closed. Any number of threads may use one dataset at once, except for closing it. After fork(2)
 * the child may use datasets of its parent, too.
 *
 * The library prints nothing. It shares connections and threads among all datasets of a process.
 * It uses the types and REFS_ERROR_INIT of error.h; it does not export the functions.
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

/** Watches a call that may take long. `go_on` is called on the thread that made the call, at least
 * 10 times a second while it waits: `done` is the share that is done, from 0 to 1. False ends the
 * call with REFS_CANCELLED. */
typedef struct refs_watcher {
    bool (*go_on)(void *user, double done);
    void *user;
} refs_watcher;

/** Opens what users call `name`: a path or a URL. Behind it, "#set=N" says which of a list of sets,
 * "#branch=…", "#tag=…" or "#snapshot=…" which state of an Icechunk repository. A pattern, a
 * folder, a prefix of a store or a list of files (.txt) stands for files, which are opened as one
 * set.
 *
 * `options` is a NULL-ended list of "KEY=VALUE", or NULL: URL_REWRITE ("old=>new") and TEMPLATES
 * ("name=value"), which may be repeated as ALONG (a dimension that files are joined along) may,
 * PATTERN ("t2m_{time:%Y%m%d}.nc": values of dimensions in names of files), TARGET, BRANCH, TAG,
 * SNAPSHOT, AS_OF, SET, MISSING (ERROR, FILL, WARN), CHANGED (ERROR, WARN, IGNORE),
 * HONOUR_VALID_RANGE (YES, NO), CACHE_MAX (MiB of decoded chunks that are kept, 256), and the
 * settings of docs/stores.md, which otherwise come from the environment. `watcher` may be NULL; it
 * is used during the call alone.
 *
 * REFS_NOT_FOUND: nothing is there. REFS_INVALID: it is no set, or there is no such option. */
REFS_EXPORT refs_status refs_dataset_open(const char *name, const char *const *options,
                                          const refs_watcher *watcher, refs_dataset **dataset,
                                          refs_error *err);

/** Closes a dataset, which no other call may be using; NULL is allowed. */
REFS_EXPORT void refs_dataset_close(refs_dataset *dataset);

/* -- what is in a dataset ---------------------------------------------------------------------- */

typedef enum refs_attribute_kind {
    REFS_ATTRIBUTE_TEXT,   /**< `values` is UTF-8 of `n` bytes, with a NUL after them */
    REFS_ATTRIBUTE_TEXTS,  /**< `values` are `n` pointers to NUL-ended UTF-8 */
    REFS_ATTRIBUTE_NUMBERS /**< `values` are `n` elements of `type` */
} refs_attribute_kind;

/** An attribute, as its file had it: what Zarr, HDF5 and the netCDF libraries write for themselves
 * is left out. */
typedef struct refs_attribute {
    const char *name;
    refs_attribute_kind kind;
    const char *type; /**< of numbers, as refs_array_info.type; else "" */
    size_t n;
    bool is_list; /**< of one number or text: a list with one element, or no list */
    const void *values;
} refs_attribute;

typedef struct refs_group_info {
    const char *path; /**< "" for the root, else with a leading slash: "/forecast" */
    const char *name; /**< the part behind the last slash */
    size_t n_attributes;
    const refs_attribute *attributes;
    size_t n_unlimited;
    const char *const *unlimited; /**< names of dimensions that had no limit in the file */
} refs_group_info;

typedef struct refs_array_info {
    size_t number;     /**< as of refs_dataset_array */
    const char *path;  /**< with a leading slash: "/t2m", "/forecast/t2m" */
    const char *name;  /**< the part behind the last slash */
    const char *group; /**< the part before it: "" for the root */
    const char *type;  /**< NumPy's type string in this machine's byte order: "<f4", "|b1", "|S3",
                          "<U5", "<M8[s]", "|V6"; "|O" for texts of variable length */
    size_t size;       /**< bytes of one element; 0 for "|O" */
    size_t rank;
    const uint64_t *shape;   /**< elements */
    const uint64_t *chunks;  /**< elements of a stored chunk; of an aggregation, how far reads had
                                best move on: the chunks of its fragments */
    const char *const *dims; /**< names of dimensions; NULL for one without a name */
    const void *fill;        /**< what elements are that no chunk has, one element; or NULL */
    const char *codecs;  /**< JSON: a list of the codecs of a chunk, as the metadata have them */
    bool is_aggregation; /**< it consists of arrays in other files */
    size_t n_attributes;
    const refs_attribute *attributes;
    refs_status status;  /**< not REFS_OK if the array cannot be read; then … */
    const char *problem; /**< … this says why, and only path, name, group and attributes hold */
} refs_array_info;

/** Groups, of which number 0 is the root, and arrays, in the order of the set. NULL behind the last
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

/** Along which dimension fragments are listed. */
typedef struct refs_listing {
    size_t dim;
    const refs_watcher *watcher; /**< or NULL */
} refs_listing;

/** Lists how long the fragments of an aggregation are along a dimension, from its first element on:
 * reads that do not cross them open fewest files. Elements of no fragment are a part of their own.
 * An aggregation has at most 16777216 fragments. *lengths is for the caller to free. May read files
 * that list fragments. REFS_INVALID: it is no aggregation. */
REFS_EXPORT refs_status refs_dataset_list_fragments(refs_dataset *dataset,
                                                    const refs_array_info *array,
                                                    const refs_listing *listing,
                                                    refs_lengths **lengths, refs_error *err);
REFS_EXPORT void refs_lengths_free(refs_lengths *lengths);

/* -- reading ----------------------------------------------------------------------------------- */

typedef enum refs_axis_kind {
    REFS_AXIS_RANGE, /**< `count` elements from `start` on, `step` apart; backwards if negative */
    REFS_AXIS_INDEX, /**< the `count` elements in `index`, which ascend; some may be equal */
    REFS_AXIS_POINTS /**< point i lies at index[i], in any order */
} refs_axis_kind;

/** Which elements along one dimension. */
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
    size_t size;                 /**< bytes that `values` has room for */
    const refs_watcher *watcher; /**< or NULL */
} refs_target;

/** Reads elements of `array` into the target, packed in C order, as its type says, in this
 * machine's byte order. `axes` has one for each dimension. Ranges and indices give all combinations
 * (orthogonal indexing) and a dimension each. Dimensions with points have equally many of them and
 * together give the first dimension of the result, point after point.
 *
 * All chunks of a call are one plan of requests; up to 16384 chunks, or 256 pieces of an
 * aggregation, are under way together. Chunks that are absent give the fill value, all else that
 * does not arrive is a failure. REFS_INVALID: elements outside the array, also where another axis
 * has none, or a target that is too small. REFS_UNSUPPORTED: texts of variable length ("|O"), which
 * refs_dataset_read_texts reads. */
REFS_EXPORT refs_status refs_dataset_read(refs_dataset *dataset, const refs_array_info *array,
                                          const refs_axis *axes, const refs_target *target,
                                          refs_error *err);

/** Texts of an array, in C order. */
typedef struct refs_texts {
    size_t n;
    const char *const *texts; /**< UTF-8, NUL-ended */
} refs_texts;

/** Reads all elements of an array of texts ("|O", "|S…", "<U…"); *texts is for the caller to free.
 * At most 67108864 of them. `watcher` may be NULL. */
REFS_EXPORT refs_status refs_dataset_read_texts(refs_dataset *dataset, const refs_array_info *array,
                                                const refs_watcher *watcher, refs_texts **texts,
                                                refs_error *err);
REFS_EXPORT void refs_texts_free(refs_texts *texts);

/* -- keys and values --------------------------------------------------------------------------- */

/** Keys of a dataset as of Zarr: "t2m/.zarray", "t2m/3.0.1". */
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

/** Reads the values of keys, in their order, as one plan of requests; *values is for the caller to
 * free. REFS_UNSUPPORTED: the dataset has aggregations, whose values no keys have, or a chunk
 * without some of its array's codecs. At most 16384 keys. */
REFS_EXPORT refs_status refs_dataset_get(refs_dataset *dataset, const refs_keys *keys,
                                         refs_values **values, refs_error *err);
REFS_EXPORT void refs_values_free(refs_values *values);

/** Lists the keys that are not of chunks; *keys is for the caller to free. */
REFS_EXPORT refs_status refs_dataset_list_keys(refs_dataset *dataset, refs_texts **keys,
                                               refs_error *err);

/* -- what happened ----------------------------------------------------------------------------- */

/** Counts since a dataset was opened. */
typedef struct refs_counters {
    uint64_t requests;       /**< for chunks: ranges and objects that were asked for */
    uint64_t bytes;          /**< that these brought */
    uint64_t chunks_decoded; /**< stored bytes that became values; without those of fragments */
    uint64_t chunks_absent;  /**< that were filled */
    uint64_t cache_hits;     /**< chunks that needed neither */
} refs_counters;

REFS_EXPORT void refs_dataset_count(refs_dataset *dataset, refs_counters *counters);

/** Takes the oldest warning that was not taken yet: copies it to `text`, cut to `size` bytes with
 * its NUL. False, and "", if there is none. At most 1000 are kept. */
REFS_EXPORT bool refs_dataset_take_warning(refs_dataset *dataset, char *text, size_t size);

/** The object of a failure; "" and 0 where its message does not say. */
typedef struct refs_error_place {
    char key[REFS_ERROR_SIZE]; /**< of a chunk or a document in the set: "t2m/3.0.1" */
    char url[REFS_ERROR_SIZE]; /**< of the file that it is in, … */
    uint64_t offset, length;   /**< … and these bytes of it */
} refs_error_place;

REFS_EXPORT void refs_error_locate(const refs_error *err, refs_error_place *place);

#ifdef __cplusplus
}
#endif
#endif
