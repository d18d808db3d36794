/* pages.h -- memory that goes back to the system as soon as it is freed, also in parts.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_BASE_PAGES_H
#define REFS_BASE_PAGES_H

#include "refs/bytes.h"

/** `size` bytes from the system's pages, or NULL: they go back to it as soon as they are freed,
 * with refs_pages_free and the same size. From the allocator, if one was set, or a sanitizer
 * watches. */
void *refs_pages_alloc(size_t size);
void refs_pages_free(void *pages, size_t size);

/** Lets go of what lies in bytes [begin, end) of `pages` and is not needed any more, as far as the
 * system can take it: it is undefined from then on, and may be written again. */
void refs_pages_forget(void *pages, size_t begin, size_t end);

#endif
