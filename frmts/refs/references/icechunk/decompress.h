/* decompress.h -- Zstandard, the compression of a repository's files and of locations in them.
 */
#ifndef REFS_REFERENCES_ICECHUNK_DECOMPRESS_H
#define REFS_REFERENCES_ICECHUNK_DECOMPRESS_H

#include "refs/bytes.h"

/** Appends the unpacked content of all frames in `packed`; REFS_LIMIT beyond `max_size` bytes.
 * REFS_UNSUPPORTED if the build lacks the library. */
refs_status refs_icechunk__unpack(refs_bytes packed, size_t max_size, refs_buf *buffer,
                                  refs_error *err);

typedef struct refs_icechunk_dictionary refs_icechunk_dictionary;

/** Opens a dictionary for short strings; `bytes` may be empty, and are copied. */
refs_status refs_icechunk__dictionary_open(refs_bytes bytes, refs_icechunk_dictionary **dictionary,
                                           refs_error *err);
void refs_icechunk__dictionary_free(refs_icechunk_dictionary *dictionary);

/** Appends the unpacked text of `packed`, at most `max_size` bytes. Safe from any thread. */
refs_status refs_icechunk__unpack_text(refs_icechunk_dictionary *dictionary, refs_bytes packed,
                                       size_t max_size, refs_buf *text, refs_error *err);

#endif
