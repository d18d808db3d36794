/* arena.c -- memory that is freed at once, see zarr_internal.h. */
#include <stdio.h>

#include "zarr_internal.h"

/* Blocks grow, starting small, because most of many open sets are small. */
#define FIRST_BLOCK_SIZE (2 * REFS_KIB)
#define BLOCK_SIZE       (32 * REFS_KIB)

typedef struct refs_arena_block {
    struct refs_arena_block *before;
    size_t used;
    size_t capacity;
    max_align_t memory[];
} block;

void refs_zarr__arena_clear(refs_arena *arena) {
    while (arena->last != NULL) {
        block *before = arena->last->before;
        refs_free(arena->last);
        arena->last = before;
    }
}

size_t refs_zarr__arena_memory(const refs_arena *arena) {
    size_t bytes = 0;
    for (const block *each = arena->last; each != NULL; each = each->before)
        bytes += sizeof *each + each->capacity;
    return bytes;
}

static bool add_block(refs_arena *arena, size_t least) {
    size_t size, capacity = FIRST_BLOCK_SIZE;
    if (arena->last != NULL)
        capacity = arena->last->capacity < BLOCK_SIZE / 2 ? 2 * arena->last->capacity : BLOCK_SIZE;
    if (capacity < least) capacity = least;
    if (!refs_add_size(capacity, sizeof(block), &size)) return false;
    block *added = refs_calloc(1, size);
    if (added == NULL) return false;
    added->before = arena->last;
    added->capacity = capacity;
    arena->last = added;
    return true;
}

void *refs_zarr__arena_take(refs_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (!refs_mul_size(count, size, &bytes) ||
        !refs_add_size(bytes, sizeof(max_align_t) - 1, &bytes))
        return NULL;
    bytes -= bytes % sizeof(max_align_t);
    if (arena->last == NULL || arena->last->capacity - arena->last->used < bytes) {
        if (!add_block(arena, bytes)) return NULL;
    }
    void *taken = (uint8_t *)arena->last->memory + arena->last->used;
    arena->last->used += bytes;
    return taken;
}

const char *refs_zarr__arena_printf(refs_arena *arena, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = size < 0 ? NULL : refs_zarr__arena_take(arena, (size_t)size + 1, 1);
    if (text != NULL) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}
