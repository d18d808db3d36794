/* content.h -- what a file is that is not a set. */
#ifndef REFS_REFERENCES_CONTENT_H
#define REFS_REFERENCES_CONTENT_H

#include "refs/bytes.h"

/** Whether a file that begins with `head` is what servers show to people: a page to log in, or one
 * about what is wanted. */
bool refs_references__is_page(refs_bytes head);

/** REFS_INVALID: says what a file is, as its first bytes and its name tell, that no format takes.
 */
refs_status refs_references__fail_on_content(const char *location, refs_bytes head,
                                             refs_error *err);

#endif
