/* source.h -- the bytes of a file that is being scanned.
 *
 * A scanner reads small structures, one after the other, and each says where
 * the next is. Over a network each such read would be a round trip. So bytes
 * come in aligned blocks, which grow while the reads go on near each other, and
 * what a scanner knows that it is going to need it asks for together.
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

/** Bytes that are kept at most, and that one call of refs_source_want may ask for. */
#define REFS_SOURCE_MAX_KEPT_BYTES (32 * REFS_MIB)
#define REFS_SOURCE_MAX_WANT_BYTES (16 * REFS_MIB)

/** How another file is called: with `ending` behind its name, in place of `replaced`. */
typedef struct refs_source_ending {
    const char *replaced; /**< "": nothing */
    const char *ending;
} refs_source_ending;

/** The most that refs_source_keep_together is heard for. */
#define REFS_SOURCE_MAX_TOGETHER_BYTES (8 * REFS_MIB)

/** Says that what describes the file is at its beginning, within `bytes`, and little else: once
 * something of that is read that is not kept, all of it comes. More than the maximum is nothing. */
void refs_source_keep_together(refs_source *source, uint64_t bytes);

/** Opens `location` by `vfs`, which must outlive the source. */
refs_status refs_source_open(const refs_vfs *vfs, const char *location, refs_source **source,
                             refs_error *err);
void refs_source_free(refs_source *source);

const char *refs_source_location(const refs_source *source);

/** Size of the file in bytes. */
refs_status refs_source_size(refs_source *source, uint64_t *size, refs_error *err);

/** Copies a range to `dst`. REFS_CORRUPT, with the range and the file's size, where it ends behind
 * the file. */
refs_status refs_source_read(refs_source *source, uint64_t offset, size_t length, uint8_t *dst,
                             refs_error *err);

/** The same for at most `length` bytes, *got of them: fewer at the end of the file only. */
refs_status refs_source_read_some(refs_source *source, refs_source_range range, uint8_t *dst,
                                  size_t *got, refs_error *err);

/** Whether the bytes of `range` that are in the file are kept. */
bool refs_source_has(const refs_source *source, refs_source_range range);

/** Whether asking for ranges together costs less than reading one after the other. */
bool refs_source_gains(const refs_source *source);

/** Has ranges, in any order, fetched together and kept for reads to come; those behind the file's
 * end or beyond the budget are left to them. Does nothing where reading one at a time costs no
 * more. `ranges` is sorted. */
refs_status refs_source_want(refs_source *source, refs_source_range *ranges, size_t n,
                             refs_error *err);

/** Appends the name of the file that is called so, with a NUL. REFS_NOT_FOUND without a message
 * where this one has another ending. */
refs_status refs_source_name_beside(const refs_source *source, const refs_source_ending *ending,
                                    refs_buf *name, refs_error *err);

/** Appends what the file holds that is called so. REFS_NOT_FOUND without a message where this one
 * has another ending, there is no such file, it cannot be read, or has more than `max_bytes`. */
refs_status refs_source_read_beside(refs_source *source, const refs_source_ending *ending,
                                    size_t max_bytes, refs_buf *bytes);

/** Bytes of a file that its scan holds at most, so that chunks in them need no read. */
#define REFS_SOURCE_MAX_BEGINNING_BYTES (1 * REFS_MIB)

/** Appends what is kept of the file from its first byte on; nothing where reading again costs no
 * more than that. */
refs_status refs_source_beginning(const refs_source *source, refs_buf *bytes, refs_error *err);

/** The cost of reading the vfs. */
typedef struct refs_source_costs {
    uint64_t reads;
    uint64_t rounds; /**< of these: those that were asked for together are one */
    uint64_t bytes;  /**< that they returned */
} refs_source_costs;

refs_source_costs refs_source_costs_of(const refs_source *source);

#endif
