/* decompress.h -- Zstandard, by which files of a repository and locations in them are compressed.
 */
#ifndef REFS_REFERENCES_ICECHUNK_DECOMPRESS_H
#define REFS_REFERENCES_ICECHUNK_DECOMPRESS_H

#include "refs/bytes.h"

/** Appends what all frames of `packed` unpack to, at most `max_size` bytes in all: REFS_LIMIT.
 * REFS_UNSUPPORTED where the build lacks the library. */
refs_status refs_icechunk__unpack(refs_bytes packed, size_t max_size, refs_buf *buffer,
                                  refs_error *err);

typedef struct refs_icechunk_dictionary refs_icechunk_dictionary;

/** A dictionary for short strings; `bytes` may be empty, and need not outlive it. */
refs_status refs_icechunk__dictionary_open(refs_bytes bytes, refs_icechunk_dictionary **dictionary,
                                           refs_error *err);
void refs_icechunk__dictionary_free(refs_icechunk_dictionary *dictionary);

/** Appends the text that `packed` unpacks to, at most `max_size` bytes. Safe from any thread. */
refs_status refs_icechunk__unpack_text(refs_icechunk_dictionary *dictionary, refs_bytes packed,
                                       size_t max_size, refs_buf *text, refs_error *err);

#endif
