/* cache.c -- decoded chunks by (owner, number), least recently used first to go. */
#include "array_internal.h"

#include <pthread.h>
#include <stdatomic.h>

struct refs_chunk {
    _Atomic unsigned references;
    uint64_t owner;
    uint64_t number;
    size_t size;
    refs_chunk *bucket_next;
    refs_chunk *newer, *older;
    uint8_t data[];
};

struct refs_cache {
    pthread_mutex_t lock; /* guards all that follows */
    size_t max_bytes;
    size_t bytes;
    size_t n_chunks;
    refs_chunk **buckets;
    size_t n_buckets; /* a power of two */
    refs_chunk *newest, *oldest;
    uint64_t n_owners;
};

#define FIRST_BUCKETS 64

/* -- chunks ------------------------------------------------------------------------------------ */

refs_chunk *refs_chunk__new(size_t size) {
    size_t total;
    if (!refs_add_size(sizeof(refs_chunk), size, &total)) return NULL;
    refs_chunk *chunk = refs_alloc(total);
    if (chunk == NULL) return NULL;
    memset(chunk, 0, sizeof *chunk);
    atomic_init(&chunk->references, 1);
    chunk->size = size;
    return chunk;
}

void refs_chunk__release(refs_chunk *chunk) {
    if (chunk != NULL && atomic_fetch_sub(&chunk->references, 1) == 1) refs_free(chunk);
}

uint8_t *refs_chunk__data(refs_chunk *chunk) {
    return chunk->data;
}

static size_t cost_of(const refs_chunk *chunk) {
    return sizeof *chunk + chunk->size;
}

/* -- the cache --------------------------------------------------------------------------------- */

refs_status refs_cache_open(size_t max_bytes, refs_cache **cache, refs_error *err) {
    refs_cache *opened = refs_calloc(1, sizeof *opened);
    refs_chunk **buckets = refs_calloc(FIRST_BUCKETS, sizeof *buckets);
    if (opened == NULL || buckets == NULL) {
        refs_free(opened);
        refs_free(buckets);
        return refs_fail_nomem(err);
    }
    pthread_mutex_init(&opened->lock, NULL);
    opened->max_bytes = max_bytes;
    opened->buckets = buckets;
    opened->n_buckets = FIRST_BUCKETS;
    *cache = opened;
    return REFS_OK;
}

void refs_cache_free(refs_cache *cache) {
    if (cache == NULL) return;
    for (refs_chunk *chunk = cache->newest, *older; chunk != NULL; chunk = older) {
        older = chunk->older;
        refs_chunk__release(chunk);
    }
    pthread_mutex_destroy(&cache->lock);
    refs_free(cache->buckets);
    refs_free(cache);
}

uint64_t refs_cache__new_owner(refs_cache *cache) {
    pthread_mutex_lock(&cache->lock);
    uint64_t owner = ++cache->n_owners;
    pthread_mutex_unlock(&cache->lock);
    return owner;
}

static refs_chunk **bucket_of(const refs_cache *cache, uint64_t owner, uint64_t number) {
    uint64_t hash = (number ^ owner * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return &cache->buckets[(hash ^ hash >> 32) & (cache->n_buckets - 1)];
}

static refs_chunk *find(const refs_cache *cache, uint64_t owner, uint64_t number) {
    refs_chunk *chunk = *bucket_of(cache, owner, number);
    while (chunk != NULL && (chunk->owner != owner || chunk->number != number))
        chunk = chunk->bucket_next;
    return chunk;
}

static void unlink_age(refs_cache *cache, refs_chunk *chunk) {
    if (chunk->newer != NULL)
        chunk->newer->older = chunk->older;
    else
        cache->newest = chunk->older;
    if (chunk->older != NULL)
        chunk->older->newer = chunk->newer;
    else
        cache->oldest = chunk->newer;
}

static void link_newest(refs_cache *cache, refs_chunk *chunk) {
    chunk->newer = NULL;
    chunk->older = cache->newest;
    if (cache->newest != NULL)
        cache->newest->newer = chunk;
    else
        cache->oldest = chunk;
    cache->newest = chunk;
}

static void drop(refs_cache *cache, refs_chunk *chunk) {
    refs_chunk **link = bucket_of(cache, chunk->owner, chunk->number);
    while (*link != chunk) link = &(*link)->bucket_next;
    *link = chunk->bucket_next;
    unlink_age(cache, chunk);
    cache->bytes -= cost_of(chunk);
    cache->n_chunks--;
    refs_chunk__release(chunk);
}

/* More buckets keep chains short; without memory for them, chains just get longer. */
static void grow_buckets(refs_cache *cache) {
    if (cache->n_chunks < cache->n_buckets) return;
    refs_chunk **buckets = refs_calloc(cache->n_buckets * 2, sizeof *buckets);
    if (buckets == NULL) return;
    refs_free(cache->buckets);
    cache->buckets = buckets;
    cache->n_buckets *= 2;
    for (refs_chunk *chunk = cache->newest; chunk != NULL; chunk = chunk->older) {
        refs_chunk **bucket = bucket_of(cache, chunk->owner, chunk->number);
        chunk->bucket_next = *bucket;
        *bucket = chunk;
    }
}

refs_chunk *refs_cache__find(refs_cache *cache, uint64_t owner, uint64_t number) {
    pthread_mutex_lock(&cache->lock);
    refs_chunk *chunk = find(cache, owner, number);
    if (chunk != NULL) {
        atomic_fetch_add(&chunk->references, 1);
        unlink_age(cache, chunk);
        link_newest(cache, chunk);
    }
    pthread_mutex_unlock(&cache->lock);
    return chunk;
}

void refs_cache__add(refs_cache *cache, uint64_t owner, uint64_t number, refs_chunk *chunk) {
    pthread_mutex_lock(&cache->lock);
    if (find(cache, owner, number) == NULL) {
        chunk->owner = owner;
        chunk->number = number;
        grow_buckets(cache);
        refs_chunk **bucket = bucket_of(cache, owner, number);
        chunk->bucket_next = *bucket;
        *bucket = chunk;
        link_newest(cache, chunk);
        atomic_fetch_add(&chunk->references, 1);
        cache->bytes += cost_of(chunk);
        cache->n_chunks++;
        while (cache->bytes > cache->max_bytes && cache->oldest != cache->newest)
            drop(cache, cache->oldest);
    }
    pthread_mutex_unlock(&cache->lock);
}

void refs_cache__drop_owner(refs_cache *cache, uint64_t owner) {
    pthread_mutex_lock(&cache->lock);
    for (refs_chunk *chunk = cache->newest, *older; chunk != NULL; chunk = older) {
        older = chunk->older;
        if (chunk->owner == owner) drop(cache, chunk);
    }
    pthread_mutex_unlock(&cache->lock);
}
