/* scan.h -- data files as reference sets.
 *
 * A file's own index (an HDF5 B-tree, TIFF's tile offsets, GRIB's messages) contains the facts of a
 * reference set. A scanner reads that index and presents the file as a Zarr hierarchy: documents
 * (".zgroup", "t2m/.zarray", "t2m/.zattrs") and, for each chunk of an array, the location of its
 * bytes.
 *
 * Opening reads the metadata of groups, arrays and attributes. The chunk index of an array is read
 * once, when its first chunk is requested.
 *
 * After it was opened, a scan may be used from any number of threads at once.
 *
 * Read before this: bytes.h, vfs.h.   Read after this: refset.h.
 */
#ifndef REFS_PARSERS_SCAN_H
#define REFS_PARSERS_SCAN_H

#include "refs/bytes.h"
#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Budgets of one file; a file that needs more is refused with REFS_LIMIT. */
typedef struct refs_scan_limits {
    uint64_t max_arrays;       /**< arrays and groups together */
    uint64_t max_chunks;       /**< of one array */
    size_t max_document_bytes; /**< of all documents together */
    size_t max_inline_bytes;   /**< values of one array that are stored in its index */
} refs_scan_limits;

#define REFS_SCAN_LIMITS_INIT                                                                      \
    { 100000u, 200000000u, 256 * REFS_MIB, 256 * REFS_MIB }

/** Data shared by the scans of files that become one set: the meaning of abbreviations in GRIB
 * indices, and listed sizes. May be used from any number of threads at once; must outlive the
 * scans. */
typedef struct refs_scan_shared refs_scan_shared;

refs_status refs_scan_shared_open(refs_scan_shared **shared, refs_error *err);
void refs_scan_shared_free(refs_scan_shared *shared);

/** Records the size and modification time of a listed object, so that they need not be requested
 * again. Does nothing when memory ran out, or beyond REFS_SCAN_MAX_LISTED. `modified_s`: 0 if it is
 * not known. */
void refs_scan_shared_note(refs_scan_shared *shared, refs_str location, uint64_t size,
                           int64_t modified_s);

#define REFS_SCAN_MAX_LISTED 262144

typedef struct refs_scan_options {
    size_t struct_size; /**< sizeof(refs_scan_options) */
    refs_scan_limits limits;
    refs_notes notes;         /**< report what was omitted, and why */
    bool remote_to_local;     /**< allow locations that refs_location_confine rejects */
    refs_scan_shared *shared; /**< or NULL */
    unsigned max_wait_ms;     /**< timeout of a thread that, while reading an index, waits for an
                                 index that another thread reads: the other thread may wait for this
                                 one */
} refs_scan_options;

#define REFS_SCAN_OPTIONS_INIT                                                                     \
    { sizeof(refs_scan_options), REFS_SCAN_LIMITS_INIT, {NULL, NULL}, false, NULL, 30000 }

typedef struct refs_scan refs_scan;

/** The name of the format of a file that begins with `head`, "HDF5"; NULL if it is not supported. 4
 * KiB are enough except for HDF5 after a longer user block, which refs_scan_open finds. */
const char *refs_scan_sniff(refs_bytes head);

/** Whether a file that begins with `head` is a TAR archive, which is no data file although its
 * first member may be one. */
bool refs_scan_is_tar(refs_bytes head);

/** Opens the file at `location`, a name for `vfs`, which must outlive the scan; `options` may be
 * NULL. REFS_UNSUPPORTED: its format is not supported, or this build lacks a library for it.
 * REFS_CORRUPT: its metadata is invalid, with offset and reason. */
refs_status refs_scan_open(const refs_vfs *vfs, const char *location,
                           const refs_scan_options *options, refs_scan **scan, refs_error *err);
void refs_scan_free(refs_scan *scan);

/** Calls `visit` for each document, groups before their members; stops at the first failure of
 * `visit` and returns it. */
refs_status refs_scan_each_document(const refs_scan *scan,
                                    refs_status (*visit)(void *user, refs_str key,
                                                         refs_bytes document, refs_error *err),
                                    void *user, refs_error *err);

/** Calls `visit` for each document that cannot be read, with the reason: its group or array, or the
 * other file that contains it, cannot be read. `why` is REFS_UNSUPPORTED if this build lacks
 * support, or for a dangling link. Stops at the first failure of `visit` and returns it. */
refs_status refs_scan_each_problem(const refs_scan *scan,
                                   refs_status (*visit)(void *user, refs_str key,
                                                        const refs_error *why, refs_error *err),
                                   void *user, refs_error *err);

/** The location of the bytes of a chunk. */
typedef struct refs_scan_chunk {
    refs_bytes bytes;     /**< the bytes, borrowed from the scan; if `data` is NULL, they are … */
    uint32_t location_id; /**< … [offset, offset + length) of this location */
    uint64_t offset;
    uint64_t length;
    uint32_t filter_mask; /**< bit i: codec i of the array, in the order of encoding, was not
                               applied to this chunk */
} refs_scan_chunk;

/** A chunk by the path of its array ("group/t2m", no slash at either end) and its index, slowest
 * dimension first. The one chunk of an array without dimensions has the index 0, or none. */
typedef struct refs_scan_key {
    refs_str array;
    const uint64_t *index;
    size_t rank;
} refs_scan_key;

/** Finds a chunk; reads the chunk index of its array if necessary. REFS_NOT_FOUND without a
 * message: the chunk was never written, or there is no such array or chunk. */
refs_status refs_scan_find(refs_scan *scan, const refs_scan_key *key, refs_scan_chunk *chunk,
                           refs_error *err);

/** Moves `number`, in C order, to the first chunk at or after it that was written, and sets
 * `index`, of `key->rank` numbers, to its index; `key->index` is not read. REFS_NOT_FOUND without a
 * message: there is none. REFS_CORRUPT if chunks end after the end of the file. */
refs_status refs_scan_next(refs_scan *scan, const refs_scan_key *key, uint64_t *number,
                           uint64_t *index, refs_error *err);

/** Location number `id`: 0 is the file itself. */
const char *refs_scan_location(const refs_scan *scan, uint32_t id);
uint32_t refs_scan_n_locations(const refs_scan *scan);

/** The validators of the file at location `id`, if it is not the scanned file and they were seen
 * without a request; else false. */
bool refs_scan_seen(const refs_scan *scan, uint32_t id, refs_vfs_validators *seen);

/** The cost of scanning so far, without other files that the scanned file names. */
typedef struct refs_scan_stats {
    uint64_t reads;          /**< ranges read from the vfs */
    uint64_t rounds;         /**< round trips: ranges that are requested together count once */
    uint64_t bytes;          /**< read by these */
    uint64_t indexed_chunks; /**< of arrays whose index was read */
    uint64_t microseconds;   /**< elapsed time */
} refs_scan_stats;

void refs_scan_stats_of(refs_scan *scan, refs_scan_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
