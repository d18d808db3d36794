/* scan.h -- data files as the reference sets that they are.
 *
 * A file's own index (an HDF5 B-tree, TIFF's tile offsets, GRIB's messages)
 * says all that a reference set says. A scanner reads that index and presents
 * the file as a Zarr hierarchy: documents (".zgroup", "t2m/.zarray",
 * "t2m/.zattrs") and, for each chunk of an array, where its bytes are.
 *
 * Opening reads what describes groups, arrays and attributes. The chunk index
 * of an array is read when its first chunk is asked for, once, and kept.
 *
 * A scan may be used from any number of threads at once after it was opened.
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
    size_t max_inline_bytes;   /**< of one array whose values are in the index itself */
} refs_scan_limits;

#define REFS_SCAN_LIMITS_INIT                                                                      \
    { 100000u, 200000000u, 256 * REFS_MIB, 256 * REFS_MIB }

/** What scans of files that become one set share: what the words of indices of GRIB files stand
 * for. It is used from any number of threads at once and outlives the scans. */
typedef struct refs_scan_shared refs_scan_shared;

refs_status refs_scan_shared_open(refs_scan_shared **shared, refs_error *err);
void refs_scan_shared_free(refs_scan_shared *shared);

/** Takes note of what a store lists: sizes that are known are not asked for again. Nothing is noted
 * without memory, or beyond REFS_SCAN_MAX_LISTED. `modified_s`: 0 if it is not known. */
void refs_scan_shared_note(refs_scan_shared *shared, refs_str location, uint64_t size,
                           int64_t modified_s);

#define REFS_SCAN_MAX_LISTED 262144

typedef struct refs_scan_options {
    size_t struct_size; /**< sizeof(refs_scan_options) */
    refs_scan_limits limits;
    refs_notes notes;         /**< what was left out, and why */
    bool remote_to_local;     /**< let a remote file name what refs_location_confine refuses */
    refs_scan_shared *shared; /**< or NULL */
    unsigned max_wait_ms;     /**< how long a thread that reads an index, and in a callback of that
                                   needs another one, waits for the thread that reads that one: it
                                   may wait for this thread */
} refs_scan_options;

#define REFS_SCAN_OPTIONS_INIT                                                                     \
    { sizeof(refs_scan_options), REFS_SCAN_LIMITS_INIT, {NULL, NULL}, false, NULL, 30000 }

typedef struct refs_scan refs_scan;

/** The name of the format of a file that begins with `head`, "HDF5"; NULL where no scanner knows
 * it. 4 KiB are enough for all but HDF5 behind a longer user block, which refs_scan_open finds. */
const char *refs_scan_sniff(refs_bytes head);

/** Opens the file at `location`, a name for `vfs`, which must outlive the scan; `options` may be
 * NULL. REFS_UNSUPPORTED: no scanner knows its format, or it needs what this build lacks.
 * REFS_CORRUPT: what it says of itself makes no sense, with offset and reason. */
refs_status refs_scan_open(const refs_vfs *vfs, const char *location,
                           const refs_scan_options *options, refs_scan **scan, refs_error *err);
void refs_scan_free(refs_scan *scan);

/** Calls `visit` for each document, groups before what is in them; stops at the first failure of
 * `visit` and returns it. */
refs_status refs_scan_each_document(const refs_scan *scan,
                                    refs_status (*visit)(void *user, refs_str key,
                                                         refs_bytes document, refs_error *err),
                                    void *user, refs_error *err);

/** Calls `visit` for each document that cannot be had, with the reason: what is there is a group or
 * an array that cannot be read, or lies in another file that cannot. REFS_UNSUPPORTED: this build
 * cannot, or a link leads nowhere. Stops at the first failure of `visit` and returns it. */
refs_status refs_scan_each_problem(const refs_scan *scan,
                                   refs_status (*visit)(void *user, refs_str key,
                                                        const refs_error *why, refs_error *err),
                                   void *user, refs_error *err);

/** The place of the bytes of a chunk. */
typedef struct refs_scan_chunk {
    refs_bytes bytes;     /**< these, borrowed from the scan, unless `data` is NULL: then … */
    uint32_t location_id; /**< … bytes [offset, offset + length) of that location */
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

/** Finds a chunk, and reads the chunk index of its array if that is the first. REFS_NOT_FOUND
 * without a message: never written, or no chunk of any array. */
refs_status refs_scan_find(refs_scan *scan, const refs_scan_key *key, refs_scan_chunk *chunk,
                           refs_error *err);

/** Moves `number`, counted with the last dimension fastest, to the first chunk at or after it that
 * was written, and sets `index`, of as many numbers as `key` has, to that of this chunk;
 * `key->index` is not read. REFS_NOT_FOUND without a message: there is none. REFS_CORRUPT if chunks
 * end behind the file. */
refs_status refs_scan_next(refs_scan *scan, const refs_scan_key *key, uint64_t *number,
                           uint64_t *index, refs_error *err);

/** Location number `id`: 0 is the file itself. */
const char *refs_scan_location(const refs_scan *scan, uint32_t id);
uint32_t refs_scan_n_locations(const refs_scan *scan);

/** The state of the file at location `id`, if it is another one than the scan is of, and its state
 * was seen without a request. */
bool refs_scan_seen(const refs_scan *scan, uint32_t id, refs_vfs_validators *seen);

/** The cost of scanning the file itself so far, others that it names left out. */
typedef struct refs_scan_stats {
    uint64_t reads;          /**< of the vfs; those that are asked for together count one each */
    uint64_t rounds;         /**< of these: those that are asked for together are one */
    uint64_t bytes;          /**< that these returned */
    uint64_t indexed_chunks; /**< of arrays whose index was read */
    uint64_t microseconds;   /**< that it took, waiting included */
} refs_scan_stats;

void refs_scan_stats_of(refs_scan *scan, refs_scan_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
