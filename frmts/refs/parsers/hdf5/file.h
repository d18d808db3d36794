/* file.h -- how structures of an HDF5 file are read.
 *
 * "Specification" here and in the files beside is the HDF5 File Format
 * Specification, versions 1.0 to 4.0.
 *
 * A structure is read whole into a buffer, checked, and taken apart with a
 * cursor, which gives zeros behind the end and remembers that it did: a function
 * reads all fields and asks once. Addresses are relative to the end of the user
 * block, as they are in the file.
 *
 * The bytes read for one task (listing, or one index) are bounded by the size of the file: no chain
 * of structures, however it loops, takes more.
 */
#ifndef REFS_PARSERS_HDF5_FILE_H
#define REFS_PARSERS_HDF5_FILE_H

#include "format.h"

/** "Undefined address", all bits set in the file, and also of sizes. */
#define REFS_HDF5_UNDEFINED UINT64_MAX

/** Bytes of one structure at most; only B-tree nodes and heap blocks come near. */
#define REFS_HDF5_MAX_STRUCTURE_BYTES (64 * REFS_MIB)

/** How deep structures may lie in each other: levels of trees, and groups in groups. */
#define REFS_HDF5_MAX_LEVELS 32

typedef struct refs_hdf5_cache_image refs_hdf5_cache_image;

typedef struct refs_hdf5_file {
    refs_source *source;
    const refs_scan_options *options;
    uint64_t size;       /**< of the file in bytes, the user block included */
    uint64_t base;       /**< where address 0 is */
    uint8_t offset_size; /**< bytes of an address: 2, 4, 8 … */
    uint8_t length_size; /**< … and of a length */
    uint8_t version;     /**< of the superblock */
    uint16_t group_leaf_k, group_internal_k, chunk_k; /**< half the entries of B-tree 1 nodes */
    uint64_t bytes_left;                              /**< of the task */
    uint64_t values_left;         /**< values of attributes that may still be kept */
    uint64_t shared_table;        /**< address of the table of shared messages */
    uint8_t n_shared_indexes;     /**< in it */
    refs_hdf5_cache_image *image; /**< structures that are not at their addresses, or NULL */

    bool is_collecting; /**< what is not at hand is not read but noted in `missing` */
    bool is_missing;    /**< something was not at hand */
    refs_source_range *missing;
    size_t n_missing, missing_capacity;
} refs_hdf5_file;

/** Begins a task: sets what it may read. */
void refs_hdf5__begin_task(refs_hdf5_file *file);

/** Counts a value that is kept, a text of `text_size` bytes or a number; REFS_LIMIT where all
 * together take more than documents may. */
refs_status refs_hdf5__spend_value(refs_hdf5_file *file, size_t text_size, refs_error *err);

/** Frees what reading took. */
void refs_hdf5__file_clear(refs_hdf5_file *file);

/* Over a network many small reads one after the other are slow, and what is read next is known only
 * from what was read before. So what describes many objects is read in rounds: while a file is
 * collecting, a read of what is not at hand fails, with REFS_NOT_FOUND, and is noted; readers go on
 * with what does not depend on it (refs_hdf5__later); then all that was noted is fetched together,
 * and reading begins again. */

/** `status`, or REFS_OK where it is that of a read that was noted. */
refs_status refs_hdf5__later(const refs_hdf5_file *file, refs_status status);

/** REFS_NOT_FOUND where a read was noted since `file` began to collect. */
refs_status refs_hdf5__all_there(const refs_hdf5_file *file);

/** A warning of what is left out, but for what is read while collecting. */
void refs_hdf5__note(const refs_hdf5_file *file, const char *format, ...) REFS_PRINTF(2, 3);

/** Calls `read` while something is missing, and once more, not collecting. It must begin from the
 * start each time. */
refs_status refs_hdf5__in_rounds(refs_hdf5_file *file,
                                 refs_status (*read)(void *user, refs_error *err), void *user,
                                 refs_error *err);

/** Sets `buf` to the bytes at `range.offset`, an address. REFS_CORRUPT where they are not all in
 * the file, or the address is undefined; REFS_LIMIT where the task may not read as much. `what` is
 * what is read, "object header", for the message. */
refs_status refs_hdf5__read(refs_hdf5_file *file, refs_source_range range, refs_buf *buf,
                            const char *what, refs_error *err);

/** The same for as many of `length` bytes as the file has. */
refs_status refs_hdf5__read_some(refs_hdf5_file *file, uint64_t address, uint64_t length,
                                 refs_buf *buf, refs_error *err);

/** Says that `n` ranges of addresses will be read; undefined ones are left out. `ranges` is
 * changed. */
refs_status refs_hdf5__want(refs_hdf5_file *file, refs_source_range *ranges, size_t n,
                            refs_error *err);

/** Checks that `block` begins with `signature` (four letters) and ends with its checksum. */
refs_status refs_hdf5__check(refs_bytes block, const char *signature, uint64_t address,
                             refs_error *err);

/** Whether `sum` is the checksum of `bytes`. In harnesses of fuzzing it always is: what they change
 * would not be looked at otherwise. */
bool refs_hdf5__sums_to(refs_bytes bytes, uint32_t sum);

/** REFS_CORRUPT: "`what` at address N `reason`". */
refs_status refs_hdf5__corrupt(refs_error *err, const char *what, uint64_t address,
                               const char *reason);

/* -- taking apart --------------------------------------------------------------------------- */

typedef struct refs_hdf5_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool is_short; /**< more was taken than there was */
} refs_hdf5_cursor;

static inline refs_hdf5_cursor refs_hdf5__cursor(refs_bytes bytes) {
    const uint8_t *data = bytes.data != NULL ? bytes.data : (const uint8_t *)"";
    return (refs_hdf5_cursor){data, data + bytes.size, false};
}

static inline size_t refs_hdf5__left(const refs_hdf5_cursor *cursor) {
    return (size_t)(cursor->end - cursor->at);
}

/** The next `size` bytes; of size 0 and `is_short` set where there are fewer. */
refs_bytes refs_hdf5__take(refs_hdf5_cursor *cursor, uint64_t size);

/** Little-endian unsigned number of `size` bytes, at most 8 of which are kept. */
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

/** An address, a length; REFS_HDF5_UNDEFINED where all its bits are set. */
uint64_t refs_hdf5__address(const refs_hdf5_file *file, refs_hdf5_cursor *cursor);
uint64_t refs_hdf5__length(const refs_hdf5_file *file, refs_hdf5_cursor *cursor);

/** REFS_CORRUPT where a cursor is short. */
refs_status refs_hdf5__finish(const refs_hdf5_cursor *cursor, const char *what, uint64_t address,
                              refs_error *err);

/** Bytes that numbers up to `value` take: 1 to 8. */
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
        uint32_t *objects; /**< where each begins in `bytes`, by its index; 0: there is none */
        uint32_t n_objects;
    } kept[REFS_HDF5_KEPT_COLLECTIONS];
    size_t next;
} refs_hdf5_heaps;

void refs_hdf5__heaps_clear(refs_hdf5_heaps *heaps);

/** Sets *object to what `id` names, valid until the next call; nothing where its address is 0 or
 * undefined. */
refs_status refs_hdf5__heap_object(refs_hdf5_file *file, refs_hdf5_heaps *heaps,
                                   refs_hdf5_heap_id id, refs_bytes *object, refs_error *err);

#endif
