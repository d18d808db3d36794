/* memory.c -- allocation and lists, see bytes.h. */
#include "refs/bytes.h"

#include <stdlib.h>

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
