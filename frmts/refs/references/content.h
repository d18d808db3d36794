/* content.h -- recognises files that are not sets, for messages. */
#ifndef REFS_REFERENCES_CONTENT_H
#define REFS_REFERENCES_CONTENT_H

#include "refs/bytes.h"

/** Whether a file that begins with `head` is an HTML page, which servers send instead of a file: a
 * login page, or an error page. */
bool refs_references__is_page(refs_bytes head);

/** Fails with REFS_INVALID for a file in no supported format; the message says what it is, by its
 * first bytes and its name.
 */
refs_status refs_references__fail_on_content(const char *location, refs_bytes head,
                                             refs_error *err);

#endif
