/* file.h -- how structures of an HDF5 file are read.
 *
 * "Specification" here and in the files beside is the HDF5 File Format
 * Specification, versions 1.0 to 4.0.
 *
 * A structure is read completely into a buffer, checked, and parsed by a cursor, which returns
 * zeros after the end and records that: a function reads all fields and checks once. Addresses are
 * relative to the end of the user block, as they are in the file.
 *
 * The bytes read for one task (listing, or one index) are bounded by the size of the file: a cycle
 * of structures cannot exceed this.
 */
#ifndef REFS_PARSERS_HDF5_FILE_H
#define REFS_PARSERS_HDF5_FILE_H

#include "format.h"

/** An undefined address or size: all bits are set in the file. */
#define REFS_HDF5_UNDEFINED UINT64_MAX

/** Most bytes of one structure; only B-tree nodes and heap blocks come close to it. */
#define REFS_HDF5_MAX_STRUCTURE_BYTES (64 * REFS_MIB)

/** Most levels of trees, and of nested groups. */
#define REFS_HDF5_MAX_LEVELS 32

typedef struct refs_hdf5_cache_image refs_hdf5_cache_image;

typedef struct refs_hdf5_file {
    refs_source *source;
    const refs_scan_options *options;
    uint64_t size;       /**< of the file in bytes, the user block included */
    uint64_t base;       /**< file offset of address 0 */
    uint8_t offset_size; /**< bytes of an address: 2, 4, 8 … */
    uint8_t length_size; /**< … and of a length */
    uint8_t version;     /**< of the superblock */
    uint16_t group_leaf_k, group_internal_k, chunk_k; /**< half the entries of B-tree 1 nodes */
    uint64_t bytes_left;                              /**< of the task */
    uint64_t values_left;                             /**< budget of values of attributes */
    uint64_t shared_table;        /**< address of the table of shared messages */
    uint8_t n_shared_indexes;     /**< indexes in it */
    refs_hdf5_cache_image *image; /**< structures that are not at their addresses, or NULL */

    bool is_collecting; /**< ranges that are not cached are recorded in `missing` instead of read */
    bool is_missing;    /**< a range was recorded in `missing` */
    refs_source_range *missing;
    size_t n_missing, missing_capacity;
} refs_hdf5_file;

/** Begins a task: sets what it may read. */
void refs_hdf5__begin_task(refs_hdf5_file *file);

/** Charges a value of an attribute, a text of `text_size` bytes or a number; REFS_LIMIT if all
 * together exceed the limit of documents. */
refs_status refs_hdf5__spend_value(refs_hdf5_file *file, size_t text_size, refs_error *err);

/** Frees all members. */
void refs_hdf5__file_clear(refs_hdf5_file *file);

/* Over a network many small sequential reads are slow, and the address of the next structure is
 * only known from the previous one. So the metadata of many objects is read in rounds: while a file
 * is collecting, a read of bytes that are not cached fails with REFS_NOT_FOUND and is recorded;
 * readers continue with independent structures (refs_hdf5__later); then all recorded ranges are
 * fetched together, and reading begins again. */

/** Returns `status`, or REFS_OK if it is that of a recorded read. */
refs_status refs_hdf5__later(const refs_hdf5_file *file, refs_status status);

/** REFS_NOT_FOUND if a read was recorded since `file` began to collect. */
refs_status refs_hdf5__all_there(const refs_hdf5_file *file);

/** Warns about an omitted object, unless `file` is collecting. */
void refs_hdf5__note(const refs_hdf5_file *file, const char *format, ...) REFS_PRINTF(2, 3);

/** Calls `read` while reads are recorded, and once more without collecting. It must start from the
 * beginning each time. */
refs_status refs_hdf5__in_rounds(refs_hdf5_file *file,
                                 refs_status (*read)(void *user, refs_error *err), void *user,
                                 refs_error *err);

/** Sets `buf` to the bytes at `range.offset`, an address. REFS_CORRUPT if they are not all in the
 * file, or the address is undefined; REFS_LIMIT if the task exceeds its budget. `what` is the name
 * of the structure in messages, "object header". */
refs_status refs_hdf5__read(refs_hdf5_file *file, refs_source_range range, refs_buf *buf,
                            const char *what, refs_error *err);

/** The same for as many of `length` bytes as the file has. */
refs_status refs_hdf5__read_some(refs_hdf5_file *file, uint64_t address, uint64_t length,
                                 refs_buf *buf, refs_error *err);

/** Fetches `n` ranges of addresses that will be read; undefined ones are ignored. Changes
 * `ranges`. */
refs_status refs_hdf5__want(refs_hdf5_file *file, refs_source_range *ranges, size_t n,
                            refs_error *err);

/** Checks that `block` begins with `signature` (four letters) and ends with its checksum. */
refs_status refs_hdf5__check(refs_bytes block, const char *signature, uint64_t address,
                             refs_error *err);

/** Whether `sum` is the checksum of `bytes`. Always true in fuzz harnesses, because mutated
 * structures would otherwise never be parsed. */
bool refs_hdf5__sums_to(refs_bytes bytes, uint32_t sum);

/** REFS_CORRUPT: "`what` at address N `reason`". */
refs_status refs_hdf5__corrupt(refs_error *err, const char *what, uint64_t address,
                               const char *reason);

/* -- taking apart --------------------------------------------------------------------------- */

typedef struct refs_hdf5_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool is_short; /**< reads went beyond the end */
} refs_hdf5_cursor;

static inline refs_hdf5_cursor refs_hdf5__cursor(refs_bytes bytes) {
    const uint8_t *data = bytes.data != NULL ? bytes.data : (const uint8_t *)"";
    return (refs_hdf5_cursor){data, data + bytes.size, false};
}

static inline size_t refs_hdf5__left(const refs_hdf5_cursor *cursor) {
    return (size_t)(cursor->end - cursor->at);
}

/** The next `size` bytes; empty, and sets `is_short`, if there are fewer. */
refs_bytes refs_hdf5__take(refs_hdf5_cursor *cursor, uint64_t size);

/** A little-endian unsigned number of `size` bytes, of which the first 8 count. */
uint64_t refs_hdf5__uint(refs_hdf5_cursor *cursor, size_t size);

static inline uint8_t refs_hdf5__u8(refs_hdf5_cursor *cursor) {
    return (uint8_t)refs_hdf5__uint(cursor, 1);
}
static inline uint16_t refs_hdf5__u16(refs_hdf5_cursor *cursor) {
    return (uint16_t)refs_hdf5__uint(cursor, 2);
}
static inline uint32_t refs_hdf5__u32(refs_hdf5_cursor *cursor) {
    return (uint32_t)refs_hdf5__uint(cursor, 4);
}

/** An address, and a length; REFS_HDF5_UNDEFINED if all bits are set. */
uint64_t refs_hdf5__address(const refs_hdf5_file *file, refs_hdf5_cursor *cursor);
uint64_t refs_hdf5__length(const refs_hdf5_file *file, refs_hdf5_cursor *cursor);

/** REFS_CORRUPT if `is_short` is set. */
refs_status refs_hdf5__finish(const refs_hdf5_cursor *cursor, const char *what, uint64_t address,
                              refs_error *err);

/** The bytes that numbers up to `value` need: 1 to 8. */
size_t refs_hdf5__bytes_for(uint64_t value);

/* -- global heap ---------------------------------------------------------------------------- */

/** The place of variable-length values: object `index` of the collection at `address`. */
typedef struct refs_hdf5_heap_id {
    uint64_t address;
    uint32_t index;
} refs_hdf5_heap_id;

/** Collections that were read, the last few of them. Zeroed is empty. */
#define REFS_HDF5_KEPT_COLLECTIONS 16
typedef struct refs_hdf5_heaps {
    struct {
        uint64_t address;
        refs_buf bytes;
        uint32_t *objects; /**< offset of each in `bytes`, by its index; 0: there is none */
        uint32_t n_objects;
    } kept[REFS_HDF5_KEPT_COLLECTIONS];
    size_t next;
} refs_hdf5_heaps;

void refs_hdf5__heaps_clear(refs_hdf5_heaps *heaps);

/** Sets *object to the object with `id`, valid until the next call; empty if its address is 0 or
 * undefined. */
refs_status refs_hdf5__heap_object(refs_hdf5_file *file, refs_hdf5_heaps *heaps,
                                   refs_hdf5_heap_id id, refs_bytes *object, refs_error *err);

#endif
