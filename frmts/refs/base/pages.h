/* pages.h -- memory that is mapped, and unmapped as a whole.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_BASE_PAGES_H
#define REFS_BASE_PAGES_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Allocates `size` bytes with mmap(2), or NULL; free them with refs_pages_free and the same size.
 * Uses refs_alloc instead if an allocator was set, or under a sanitizer. */
void *refs_pages_alloc(size_t size);
void refs_pages_free(void *pages, size_t size);

/** Huge pages for many pieces of one size. Released pieces are reused; the memory is returned to
 * the system as a whole. */
typedef struct refs_span refs_span;

/** Reserves addresses for `size` bytes, in pieces of `piece` bytes; memory is used when it is
 * written. Returns NULL if there is no memory, if an allocator was set, or under a sanitizer: use
 * refs_alloc then. */
refs_span *refs_span_open(size_t size, size_t piece);

/** Releases a span, which is unmapped when its last piece is released; NULL is allowed. */
void refs_span_release(refs_span *span);

/** Returns a piece, not initialised; NULL if all are in use, if `size` is not that of the pieces,
 * or if `span` is NULL. One thread at a time. */
void *refs_span_take(refs_span *span, size_t size);

/** Releases a piece, on any thread. */
void refs_span_give(refs_span *span, void *piece);

/** Whether no piece is in use. */
bool refs_span_is_unused(const refs_span *span);

#ifdef __cplusplus
}
#endif
#endif
