/* pages.h -- memory that goes back to the system as soon as it is freed.
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

#endif
