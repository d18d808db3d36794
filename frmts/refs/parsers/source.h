/* source.h -- cached reads of a file that is being scanned.
 *
 * A scanner follows pointers from one small structure to the next. Over a network each read would
 * be a round trip, so a source reads aligned blocks, which grow while the reads are near each
 * other, and a scanner requests ranges together that it knows it will need.
 *
 * A source belongs to one thread at a time.
 */
#ifndef REFS_PARSERS_SOURCE_H
#define REFS_PARSERS_SOURCE_H

#include "refs/vfs.h"

typedef struct refs_source refs_source;

/** Bytes [offset, offset + length) of the file. */
typedef struct refs_source_range {
    uint64_t offset;
    uint64_t length;
} refs_source_range;

/** Most bytes that are cached, and that one call of refs_source_want may request. */
#define REFS_SOURCE_MAX_KEPT_BYTES (32 * REFS_MIB)
#define REFS_SOURCE_MAX_WANT_BYTES (16 * REFS_MIB)

/** The name of a sidecar: `ending` replaces the end `replaced` of the file's name. */
typedef struct refs_source_ending {
    const char *replaced; /**< "": nothing */
    const char *ending;
} refs_source_ending;

/** Larger arguments of refs_source_keep_together are ignored. */
#define REFS_SOURCE_MAX_TOGETHER_BYTES (8 * REFS_MIB)

/** Declares that the first `bytes` bytes of the file are mostly metadata: the first read in them
 * that is not cached reads all of them. Ignored beyond REFS_SOURCE_MAX_TOGETHER_BYTES. */
void refs_source_keep_together(refs_source *source, uint64_t bytes);

/** Opens `location` by `vfs`, which must outlive the source. */
refs_status refs_source_open(const refs_vfs *vfs, const char *location, refs_source **source,
                             refs_error *err);
void refs_source_free(refs_source *source);

const char *refs_source_location(const refs_source *source);

/** Size of the file in bytes. */
refs_status refs_source_size(refs_source *source, uint64_t *size, refs_error *err);

/** Copies a range to `dst`. REFS_CORRUPT, with the range and the file's size, if it ends after the
 * end of the file. */
refs_status refs_source_read(refs_source *source, uint64_t offset, size_t length, uint8_t *dst,
                             refs_error *err);

/** The same for at most `range.length` bytes; sets *got to their number, which is only smaller at
 * the end of the file. */
refs_status refs_source_read_some(refs_source *source, refs_source_range range, uint8_t *dst,
                                  size_t *got, refs_error *err);

/** Whether all bytes of `range` that are in the file are cached. */
bool refs_source_has(const refs_source *source, refs_source_range range);

/** Whether requesting ranges together is faster than reading one after the other. */
bool refs_source_gains(const refs_source *source);

/** Fetches ranges together and caches them for later reads, except those after the end of the file
 * or beyond the budget. Does nothing if that is not faster (refs_source_gains). Sorts `ranges`. */
refs_status refs_source_want(refs_source *source, refs_source_range *ranges, size_t n,
                             refs_error *err);

/** Appends the name of the sidecar, with a NUL. REFS_NOT_FOUND without a message if the file's name
 * does not end with `ending->replaced`. */
refs_status refs_source_name_beside(const refs_source *source, const refs_source_ending *ending,
                                    refs_buf *name, refs_error *err);

/** Appends the content of the sidecar. REFS_NOT_FOUND without a message if the file's name does not
 * end with `ending->replaced`, or if the sidecar does not exist, cannot be read, or has more than
 * `max_bytes`. */
refs_status refs_source_read_beside(refs_source *source, const refs_source_ending *ending,
                                    size_t max_bytes, refs_buf *bytes);

/** Most bytes at the beginning of a file that its scan keeps, so that chunks in them need no
 * read. */
#define REFS_SOURCE_MAX_BEGINNING_BYTES (1 * REFS_MIB)

/** Appends the cached beginning of the file; nothing if reading it again is as fast. */
refs_status refs_source_beginning(const refs_source *source, refs_buf *bytes, refs_error *err);

/** The cost of reads of the vfs. */
typedef struct refs_source_costs {
    uint64_t reads;
    uint64_t rounds; /**< round trips: ranges that were requested together count once */
    uint64_t bytes;  /**< read by these */
} refs_source_costs;

refs_source_costs refs_source_costs_of(const refs_source *source);

#endif
