/* pages.h -- memory that is returned to the system as soon as it is freed.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_BASE_PAGES_H
#define REFS_BASE_PAGES_H

#include "refs/bytes.h"

/** Allocates `size` bytes with mmap(2), or NULL; free them with refs_pages_free and the same size.
 * Uses refs_alloc instead if an allocator was set, or under a sanitizer. */
void *refs_pages_alloc(size_t size);
void refs_pages_free(void *pages, size_t size);

#endif
