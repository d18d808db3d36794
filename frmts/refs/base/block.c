/* block.c -- see block.h. */
#include "refs/block.h"

#include <stdatomic.h>

#include "refs/pages.h"

/* malloc would keep the memory of freed blocks of this size, in the arena of each thread. */
#define PAGES_FROM REFS_MIB

struct refs_block {
    _Atomic unsigned holders;
    size_t size;
    void (*freed)(void *user, size_t size);
    void *user;
    uint8_t data[];
};

refs_block *refs_block_new(size_t size, void (*freed)(void *user, size_t size), void *user) {
    size_t total;
    if (!refs_add_size(sizeof(refs_block), size, &total)) return NULL;
    refs_block *block = size >= PAGES_FROM ? refs_pages_alloc(total) : refs_alloc(total);
    if (block == NULL) return NULL;
    atomic_init(&block->holders, 1);
    block->size = size;
    block->freed = freed;
    block->user = user;
    return block;
}

void refs_block_on_free(refs_block *block, void (*freed)(void *user, size_t size), void *user) {
    block->freed = freed;
    block->user = user;
}

refs_block *refs_block_hold(refs_block *block) {
    if (block != NULL) atomic_fetch_add(&block->holders, 1);
    return block;
}

void refs_block_release(refs_block *block) {
    if (block == NULL || atomic_fetch_sub(&block->holders, 1) != 1) return;
    void (*freed)(void *, size_t) = block->freed;
    void *user = block->user;
    size_t size = block->size;
    if (size >= PAGES_FROM)
        refs_pages_free(block, sizeof *block + size);
    else
        refs_free(block);
    if (freed != NULL) freed(user, size);
}

uint8_t *refs_block_data(refs_block *block) {
    return block->data;
}

size_t refs_block_size(const refs_block *block) {
    return block->size;
}
