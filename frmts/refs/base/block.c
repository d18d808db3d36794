/* block.c -- see block.h. */
#include "refs/block.h"

#include <stdatomic.h>

#include "pages.h"
#include "refs/fork.h"

/* The C library would keep the memory of such blocks, for each thread that let one go. */
#define PAGES_FROM REFS_MIB

/* In what parts a block is read. */
typedef struct block_parts {
    pthread_mutex_t lock; /* guards what follows */
    size_t *begins;       /* ascending */
    bool *done;
    size_t n;
    size_t n_first_done; /* so many from the first on are done without a gap */
} block_parts;

struct refs_block {
    _Atomic unsigned holders;
    size_t size;
    void (*freed)(void *user, size_t size);
    void *user;
    block_parts *parts; /* or NULL */
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
    block->parts = NULL;
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

static void free_parts(block_parts *parts) {
    if (parts == NULL) return;
    pthread_mutex_destroy(&parts->lock);
    refs_free(parts->begins);
    refs_free(parts->done);
    refs_free(parts);
}

void refs_block_release(refs_block *block) {
    if (block == NULL || atomic_fetch_sub(&block->holders, 1) != 1) return;
    void (*freed)(void *, size_t) = block->freed;
    void *user = block->user;
    size_t size = block->size;
    free_parts(block->parts);
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

/* -- parts ------------------------------------------------------------------------------------- */

/* Without memory for it, the block is just kept whole. */
void refs_block_split(refs_block *block, size_t *begins, size_t n) {
    block_parts *parts = block->size >= PAGES_FROM ? refs_calloc(1, sizeof *parts) : NULL;
    bool *done = parts != NULL ? refs_calloc(n, sizeof *done) : NULL;
    if (done == NULL) {
        refs_free(parts);
        refs_free(begins);
        return;
    }
    pthread_mutex_init(&parts->lock, NULL);
    parts->begins = begins;
    parts->done = done;
    parts->n = n;
    block->parts = parts;
}

/* The first part that begins at `begin` and is not done, or parts->n. */
static size_t find_part(const block_parts *parts, size_t begin) {
    size_t low = 0, high = parts->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (parts->begins[middle] < begin)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < parts->n && parts->begins[low] == begin && parts->done[low]) low++;
    return low < parts->n && parts->begins[low] == begin ? low : parts->n;
}

void refs_block_finish(refs_block *block, const uint8_t *part) {
    block_parts *parts = block != NULL ? block->parts : NULL;
    if (parts == NULL) return;
    refs_lock(&parts->lock);
    size_t found = find_part(parts, (size_t)(part - block->data));
    if (found < parts->n) parts->done[found] = true;
    size_t first = parts->n_first_done, last = first;
    while (last < parts->n && parts->done[last]) last++;
    parts->n_first_done = last;
    size_t begin = first < parts->n ? parts->begins[first] : block->size;
    size_t end = last < parts->n ? parts->begins[last] : block->size;
    refs_unlock(&parts->lock);
    size_t head = sizeof *block;
    if (begin < end) refs_pages_forget(block, head + begin, head + end);
}
