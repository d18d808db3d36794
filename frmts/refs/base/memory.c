/* memory.c -- allocation and lists, see bytes.h. */
#include "refs/bytes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "refs/pages.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static const refs_allocator c_library = {malloc, realloc, free};
static refs_allocator current = {malloc, realloc, free};

void refs_allocator_set(const refs_allocator *allocator) {
    current = allocator != NULL ? *allocator : c_library;
}

void *refs_alloc(size_t size) {
    return current.malloc_fn(size > 0 ? size : 1);
}

void *refs_calloc(size_t count, size_t size) {
    size_t bytes;
    if (!refs_mul_size(count, size, &bytes)) return NULL;
    void *memory = refs_alloc(bytes);
    if (memory != NULL) memset(memory, 0, bytes);
    return memory;
}

void *refs_realloc(void *memory, size_t size) {
    return current.realloc_fn(memory, size > 0 ? size : 1);
}

void refs_free(void *memory) {
    if (memory != NULL) current.free_fn(memory);
}

/* An allocator that was set must see all allocations. The header says how a block was allocated, so
 * that blocks from before are freed in the same way. */
typedef union pages_head {
    bool mapped;
    max_align_t align;
} pages_head;

static bool is_of_system(void) {
    return !SANITIZED && current.malloc_fn == c_library.malloc_fn;
}

void *refs_pages_alloc(size_t size) {
    bool mapped = is_of_system();
    if (!refs_add_size(size, sizeof(pages_head), &size)) return NULL;
    pages_head *head =
        mapped ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
               : refs_alloc(size);
    if (head == NULL || head == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    if (mapped) (void)madvise(head, size, MADV_HUGEPAGE); /* a hint, for fewer page faults */
#endif
    head->mapped = mapped;
    return head + 1;
}

/* Only whole pages can be returned. */
static void forget_pages(uintptr_t begin, uintptr_t end) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
    if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
}

void refs_forget(void *memory, size_t size) {
    if (memory != NULL && is_of_system()) forget_pages((uintptr_t)memory, (uintptr_t)memory + size);
}

void refs_pages_free(void *pages, size_t size) {
    if (pages == NULL) return;
    pages_head *head = (pages_head *)pages - 1;
    if (head->mapped)
        munmap(head, size + sizeof *head);
    else
        refs_free(head);
}

/* -- spans ------------------------------------------------------------------------------------- */

#define HUGE_PAGE (2 * REFS_MIB)

/* A piece that was given back. */
typedef struct spare {
    struct spare *next;
} spare;

struct refs_span {
    _Atomic size_t holders; /* its owner, and all pieces that are taken */
    void *mapping;
    uint8_t *begin; /* a huge page's */
    size_t size, piece, taken;
    spare *spares;             /* the owner's */
    _Atomic(spare *) returned; /* since then */
};

/* The mapping is a huge page longer than the span, which may begin anywhere in the first one. */
static bool map_span(refs_span *span) {
    span->mapping = mmap(NULL, span->size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (span->mapping == MAP_FAILED) return false;
    span->begin = span->mapping;
    span->begin += HUGE_PAGE - (uintptr_t)span->mapping % HUGE_PAGE;
#ifdef MADV_HUGEPAGE
    (void)madvise(span->begin, span->size, MADV_HUGEPAGE);
#endif
    return true;
}

refs_span *refs_span_open(size_t size, size_t piece) {
    refs_span *span = is_of_system() ? refs_calloc(1, sizeof *span) : NULL;
    if (span == NULL) return NULL;
    atomic_init(&span->holders, 1);
    atomic_init(&span->returned, NULL);
    span->piece = piece;
    span->size = size / HUGE_PAGE * HUGE_PAGE;
    if (map_span(span)) return span;
    refs_free(span);
    return NULL;
}

void refs_span_release(refs_span *span) {
    if (span == NULL || atomic_fetch_sub(&span->holders, 1) != 1) return;
    munmap(span->mapping, span->size + HUGE_PAGE);
    refs_free(span);
}

void *refs_span_take(refs_span *span, size_t size) {
    if (span == NULL || size != span->piece) return NULL;
    const size_t step =
        (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (span->spares == NULL) span->spares = atomic_exchange(&span->returned, NULL);
    void *piece = span->spares;
    if (piece != NULL) {
        span->spares = span->spares->next;
    } else if (span->size - span->taken >= step) {
        piece = span->begin + span->taken;
        span->taken += step;
    }
    if (piece != NULL) atomic_fetch_add(&span->holders, 1);
    return piece;
}

void refs_span_give(refs_span *span, void *piece) {
    spare *given = piece;
    given->next = atomic_load(&span->returned);
    while (!atomic_compare_exchange_weak(&span->returned, &given->next, given)) continue;
    refs_span_release(span);
}

bool refs_span_is_unused(const refs_span *span) {
    return span != NULL && atomic_load(&span->holders) == 1;
}

void refs_free_at(void *pointer) {
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    refs_free(memory);
}

int refs_compare_u64(const void *one, const void *other) {
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

bool refs_grow(void **memory, size_t *capacity, size_t count, size_t element_size) {
    if (count < *capacity) return true;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    size_t bytes;
    if (!refs_add_size(wanted, wanted / 2, &wanted) || !refs_mul_size(wanted, element_size, &bytes))
        return false;
    void *grown = refs_realloc(*memory, bytes);
    if (grown == NULL) return false;
    *memory = grown;
    *capacity = wanted;
    return true;
}
