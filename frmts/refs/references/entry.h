/* entry.h -- one reference in sixteen bytes.
 *
 * Its kind follows from `url`: the number of a URL, or one of the codes below. It is packed because
 * sets have a hundred million references.
 */
#ifndef REFS_REFERENCES_ENTRY_H
#define REFS_REFERENCES_ENTRY_H

#include "refs/bytes.h"

typedef struct refs_entry {
    uint64_t offset;
    uint32_t length;
    uint32_t url;
} refs_entry;

/** `length` of a whole file: the number of a URL is in `url`, the offset is 0. */
#define REFS_ENTRY_WHOLE UINT32_MAX

/** `url` of an inline value: the bytes [offset, offset + length) of the set's inline bytes. */
#define REFS_ENTRY_INLINE UINT32_MAX

/** `url` of a range that does not fit: `offset` is its number in the set's list. */
#define REFS_ENTRY_WIDE (UINT32_MAX - 1)

/** `url` of a value that is unusable: this plus its status; the message is inline. */
#define REFS_ENTRY_BROKEN (UINT32_MAX - 64)

/** All numbers of URLs are below this. */
#define REFS_ENTRY_MAX_URLS REFS_ENTRY_BROKEN

/** A range that does not fit into an entry: too long, or with codecs that were not applied to it.
 */
typedef struct refs_wide_range {
    uint64_t offset;
    uint64_t length;
    uint32_t url;
    uint32_t filter_mask; /**< as in refs_ref */
} refs_wide_range;

#endif
