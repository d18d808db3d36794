/* percent.h -- percent-encoding, as RFC 3986, section 2.1, defines it.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_PERCENT_H
#define REFS_PERCENT_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The value of a hexadecimal digit in either case, or -1. */
int refs_hex_digit(char c);

/** The byte of the escape at the beginning of `text`: 32 for "%20…"; -1 if there is none.
 */
int refs_percent_byte(refs_str text);

/** Decodes escapes in place and returns the new size. Incomplete escapes stay. */
size_t refs_percent_decode(char *text, size_t size);

/** Appends `text` with all bytes escaped except unreserved ones (section 2.3) and those in
 * `plain`. */
refs_status refs_percent_append(refs_str text, const char *plain, refs_buf *escaped,
                                refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
