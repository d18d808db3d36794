/* cache.c -- decoded chunks by (owner, number), least recently used first to go. */
#include "array_object.h"
#include "slabs.h"

#include <time.h>

struct refs_chunk {
    _Atomic unsigned references;
    refs_chunk_id id;
    refs_slabs *slabs; /* its memory is a piece of, or NULL */
    size_t size;
    bool pending;          /* somebody brings it: it has no data and no age */
    bool unused;           /* it was read ahead */
    bool later;            /* it came along with what was read ahead: not in ahead_bytes */
    bool spent;            /* all of it was read: it is likely not read again soon */
    _Atomic bool *awaited; /* while it is pending: to be set when somebody waits for it */
    uint64_t left;         /* elements that were not yet read */
    refs_chunk *bucket_next;
    refs_chunk *newer, *older;
    uint8_t data[];
};

/* Chunks by age. */
typedef struct age_list {
    refs_chunk *newest, *oldest;
} age_list;

struct refs_cache {
    refs_forked forked;
    pthread_mutex_t lock; /* guards all that follows */
    size_t max_bytes;
    size_t bytes;
    size_t n_chunks;
    refs_slabs *slabs; /* safe by itself */
    refs_chunk **buckets;
    size_t n_buckets; /* a power of two */
    age_list used;    /* spent ones at the old end */
    age_list ahead;   /* read ahead and not used: they are not let go for others */
    uint64_t n_owners;
    size_t ahead_bytes;  /* of unused chunks, without those for later */
    size_t coming_bytes; /* of chunks that are decoded ahead just now */
    uint64_t n_wasted;
    pthread_cond_t settled; /* a claim was */
    pthread_cond_t moved;   /* a claim was awaited, a chunk that was read ahead was used, or
                               coming_bytes changed */
};

#define FIRST_BUCKETS 64

/* Chunks that are looked at for one whose memory can be used again. */
#define MAX_HELD 16

/* -- chunks ------------------------------------------------------------------------------------ */

/* A chunk in memory of `slabs`, unless NULL, if that suits them. */
static refs_chunk *new_chunk(refs_slabs *slabs, size_t size) {
    size_t total;
    if (!refs_add_size(sizeof(refs_chunk), size, &total)) return NULL;
    refs_chunk *chunk = slabs != NULL ? refs_slabs__take(slabs, total) : NULL;
    if (chunk == NULL) {
        slabs = NULL;
        chunk = refs_alloc(total);
    }
    if (chunk == NULL) return NULL;
    memset(chunk, 0, sizeof *chunk);
    atomic_init(&chunk->references, 1);
    chunk->slabs = slabs;
    chunk->size = size;
    return chunk;
}

refs_chunk *refs_chunk__new(size_t size) {
    return new_chunk(NULL, size);
}

void refs_chunk__release(refs_chunk *chunk) {
    if (chunk == NULL || atomic_fetch_sub(&chunk->references, 1) != 1) return;
    if (chunk->slabs != NULL)
        refs_slabs__give(chunk->slabs, chunk);
    else
        refs_free(chunk);
}

uint8_t *refs_chunk__data(refs_chunk *chunk) {
    return chunk->data;
}

static size_t cost_of(const refs_chunk *chunk) {
    return sizeof *chunk + chunk->size;
}

/* -- the cache --------------------------------------------------------------------------------- */

static void in_child(void *self);

refs_status refs_cache_open(size_t max_bytes, refs_cache **cache, refs_error *err) {
    refs_cache *opened = refs_calloc(1, sizeof *opened);
    refs_chunk **buckets = refs_calloc(FIRST_BUCKETS, sizeof *buckets);
    refs_slabs *slabs = refs_slabs__new();
    if (opened == NULL || buckets == NULL || slabs == NULL) {
        refs_free(opened);
        refs_free(buckets);
        refs_slabs__free(slabs);
        return refs_fail_nomem(err);
    }
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->settled, NULL);
    pthread_cond_init(&opened->moved, NULL);
    opened->max_bytes = max_bytes;
    opened->slabs = slabs;
    opened->buckets = buckets;
    opened->n_buckets = FIRST_BUCKETS;
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_enlist(&opened->forked);
    *cache = opened;
    return REFS_OK;
}

static void release_all(age_list *list) {
    for (refs_chunk *chunk = list->newest, *older; chunk != NULL; chunk = older) {
        older = chunk->older;
        refs_chunk__release(chunk);
    }
}

void refs_cache_free(refs_cache *cache) {
    if (cache == NULL) return;
    refs_fork_strike_off(&cache->forked);
    refs_slabs__free(cache->slabs);
    release_all(&cache->used);
    release_all(&cache->ahead);
    pthread_cond_destroy(&cache->settled);
    pthread_cond_destroy(&cache->moved);
    pthread_mutex_destroy(&cache->lock);
    refs_free(cache->buckets);
    refs_free(cache);
}

uint64_t refs_cache__new_owner(refs_cache *cache) {
    refs_lock(&cache->lock);
    uint64_t owner = ++cache->n_owners;
    refs_unlock(&cache->lock);
    return owner;
}

static refs_chunk **bucket_of(const refs_cache *cache, refs_chunk_id id) {
    uint64_t hash = (id.number ^ id.owner * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return &cache->buckets[(hash ^ hash >> 32) & (cache->n_buckets - 1)];
}

static refs_chunk *find(const refs_cache *cache, refs_chunk_id id) {
    refs_chunk *chunk = *bucket_of(cache, id);
    while (chunk != NULL && (chunk->id.owner != id.owner || chunk->id.number != id.number))
        chunk = chunk->bucket_next;
    return chunk;
}

static age_list *list_of(refs_cache *cache, const refs_chunk *chunk) {
    return chunk->unused ? &cache->ahead : &cache->used;
}

static void unlink_age(refs_cache *cache, refs_chunk *chunk) {
    age_list *list = list_of(cache, chunk);
    *(chunk->newer != NULL ? &chunk->newer->older : &list->newest) = chunk->older;
    *(chunk->older != NULL ? &chunk->older->newer : &list->oldest) = chunk->newer;
}

static void link_newest(refs_cache *cache, refs_chunk *chunk) {
    age_list *list = list_of(cache, chunk);
    chunk->newer = NULL;
    chunk->older = list->newest;
    *(list->newest != NULL ? &list->newest->newer : &list->oldest) = chunk;
    list->newest = chunk;
}

static void link_oldest(refs_cache *cache, refs_chunk *chunk) {
    age_list *list = list_of(cache, chunk);
    chunk->older = NULL;
    chunk->newer = list->oldest;
    *(list->oldest != NULL ? &list->oldest->older : &list->newest) = chunk;
    list->oldest = chunk;
}

static void link_bucket(refs_cache *cache, refs_chunk *chunk) {
    refs_chunk **bucket = bucket_of(cache, chunk->id);
    chunk->bucket_next = *bucket;
    *bucket = chunk;
    cache->n_chunks++;
}

static void unlink_bucket(refs_cache *cache, refs_chunk *chunk) {
    refs_chunk **link = bucket_of(cache, chunk->id);
    while (*link != chunk) link = &(*link)->bucket_next;
    *link = chunk->bucket_next;
    cache->n_chunks--;
}

/* What was read ahead is asked for, or let go: it is in no list now. */
static void settle_ahead(refs_cache *cache, refs_chunk *chunk) {
    if (!chunk->unused) return;
    chunk->unused = false;
    if (!chunk->later) cache->ahead_bytes -= chunk->size;
    pthread_cond_broadcast(&cache->moved);
}

static void drop(refs_cache *cache, refs_chunk *chunk) {
    if (chunk->unused) cache->n_wasted++;
    unlink_bucket(cache, chunk);
    unlink_age(cache, chunk);
    settle_ahead(cache, chunk);
    cache->bytes -= cost_of(chunk);
    refs_chunk__release(chunk);
}

/* Whether there is more than the budget allows, and something beside `added` that can go. */
static refs_chunk *next_to_go(const refs_cache *cache, const refs_chunk *added) {
    if (cache->bytes <= cache->max_bytes) return NULL;
    if (cache->used.oldest != NULL && cache->used.oldest != added) return cache->used.oldest;
    return cache->ahead.oldest != added ? cache->ahead.oldest : NULL;
}

/* Whether a chunk's memory may be used again: nobody else holds it, and it would be let go, or it
 * was read to its end while others are read ahead. */
static bool may_reuse(const refs_cache *cache, const refs_chunk *chunk, size_t size,
                      refs_chunk_use wanted) {
    if (chunk->size != size || atomic_load(&chunk->references) > 1) return false;
    bool full = cache->bytes + cost_of(chunk) > cache->max_bytes;
    return full || (chunk->spent && wanted == REFS_USE_AHEAD);
}

/* Who has just read or decoded a chunk may still hold it: then it is one of the next. */
static refs_chunk *take_oldest(refs_cache *cache, size_t size, refs_chunk_use wanted) {
    refs_chunk *chunk = cache->used.oldest;
    for (int i = 0; i < MAX_HELD && chunk != NULL; i++, chunk = chunk->newer) {
        if (!may_reuse(cache, chunk, size, wanted)) continue;
        atomic_fetch_add(&chunk->references, 1);
        drop(cache, chunk);
        return chunk;
    }
    return NULL;
}

refs_chunk *refs_chunk__new_for(refs_cache *cache, size_t size, refs_chunk_use wanted) {
    if (cache == NULL) return refs_chunk__new(size);
    refs_lock(&cache->lock);
    refs_chunk *chunk = take_oldest(cache, size, wanted);
    refs_unlock(&cache->lock);
    return chunk != NULL ? chunk : new_chunk(cache->slabs, size);
}

static void move_bucket(refs_cache *to, refs_chunk *chunk) {
    for (refs_chunk *next; chunk != NULL; chunk = next) {
        next = chunk->bucket_next;
        refs_chunk **bucket = bucket_of(to, chunk->id);
        chunk->bucket_next = *bucket;
        *bucket = chunk;
    }
}

/* More buckets keep chains short; without memory for them, chains just get longer. */
static void grow_buckets(refs_cache *cache) {
    if (cache->n_chunks < cache->n_buckets) return;
    refs_chunk **old = cache->buckets, **grown = refs_calloc(cache->n_buckets * 2, sizeof *grown);
    size_t n_old = cache->n_buckets;
    if (grown == NULL) return;
    cache->buckets = grown;
    cache->n_buckets *= 2;
    for (size_t i = 0; i < n_old; i++) move_bucket(cache, old[i]);
    refs_free(old);
}

/* A chunk that is there, with a reference for the caller. */
static refs_chunk *use(refs_cache *cache, refs_chunk *chunk) {
    atomic_fetch_add(&chunk->references, 1);
    unlink_age(cache, chunk);
    settle_ahead(cache, chunk);
    link_newest(cache, chunk);
    return chunk;
}

/* Marks a chunk as being brought; without memory several may bring it. */
static void add_pending(refs_cache *cache, refs_chunk_id id, bool later, _Atomic bool *awaited) {
    refs_chunk *mark = refs_chunk__new(0);
    if (mark == NULL) return;
    mark->id = id;
    mark->later = later;
    mark->awaited = awaited;
    mark->pending = true;
    grow_buckets(cache);
    link_bucket(cache, mark);
}

/* Returns whether the chunk was to come for later. */
static bool drop_pending(refs_cache *cache, refs_chunk_id id) {
    refs_chunk *mark = find(cache, id);
    if (mark == NULL || !mark->pending) return false;
    bool later = mark->later;
    unlink_bucket(cache, mark);
    refs_chunk__release(mark);
    pthread_cond_broadcast(&cache->settled);
    return later;
}

/* What came for later is wanted ahead now, be it there or still pending. */
static void want_ahead(refs_cache *cache, refs_chunk *chunk) {
    if (!chunk->later) return;
    chunk->later = false;
    if (chunk->unused) cache->ahead_bytes += chunk->size;
}

refs_claim refs_cache__claim(refs_cache *cache, refs_chunk_id id, refs_chunk_use wanted,
                             _Atomic bool *awaited, refs_chunk **chunk) {
    refs_claim claim = REFS_CLAIM_MINE;
    refs_lock(&cache->lock);
    refs_chunk *found = find(cache, id);
    if (found != NULL && wanted == REFS_USE_AHEAD) want_ahead(cache, found);
    if (found == NULL) {
        add_pending(cache, id, wanted == REFS_USE_LATER, awaited);
    } else if (found->pending) {
        claim = REFS_CLAIM_BUSY;
    } else {
        claim = REFS_CLAIM_FOUND;
        if (wanted == REFS_USE_NOW)
            *chunk = use(cache, found);
        else
            atomic_fetch_add(&(*chunk = found)->references, 1);
    }
    refs_unlock(&cache->lock);
    return claim;
}

refs_chunk *refs_cache__await(refs_cache *cache, refs_chunk_id id) {
    refs_lock(&cache->lock);
    refs_chunk *chunk;
    while ((chunk = find(cache, id)) != NULL && chunk->pending) {
        if (!*chunk->awaited) pthread_cond_broadcast(&cache->moved);
        *chunk->awaited = true;
        refs_wait(&cache->settled, &cache->lock);
    }
    if (chunk != NULL) use(cache, chunk);
    refs_unlock(&cache->lock);
    return chunk;
}

void refs_cache__abandon(refs_cache *cache, refs_chunk_id id) {
    refs_lock(&cache->lock);
    (void)drop_pending(cache, id);
    refs_unlock(&cache->lock);
}

void refs_cache__add(refs_cache *cache, refs_chunk_id id, refs_chunk *chunk,
                     refs_chunk_use wanted) {
    refs_lock(&cache->lock);
    bool later = drop_pending(cache, id);
    if (find(cache, id) == NULL) {
        chunk->id = id;
        chunk->later = later;
        chunk->unused = wanted == REFS_USE_AHEAD;
        chunk->spent = false;
        chunk->left = UINT64_MAX;
        grow_buckets(cache);
        link_bucket(cache, chunk);
        link_newest(cache, chunk);
        atomic_fetch_add(&chunk->references, 1);
        cache->bytes += cost_of(chunk);
        if (chunk->unused && !later) cache->ahead_bytes += chunk->size;
        for (refs_chunk *gone; (gone = next_to_go(cache, chunk)) != NULL;) drop(cache, gone);
    }
    refs_unlock(&cache->lock);
}

void refs_cache__spend(refs_cache *cache, refs_chunk *chunk, uint64_t n, uint64_t n_all) {
    refs_lock(&cache->lock);
    if (chunk->left > n_all) chunk->left = n_all;
    chunk->left -= n < chunk->left ? n : chunk->left;
    if (chunk->left == 0 && !chunk->spent && find(cache, chunk->id) == chunk) {
        chunk->spent = true;
        unlink_age(cache, chunk);
        link_oldest(cache, chunk);
    }
    refs_unlock(&cache->lock);
}

static void drop_from(refs_cache *cache, const age_list *list, uint64_t owner) {
    for (refs_chunk *chunk = list->newest, *older; chunk != NULL; chunk = older) {
        older = chunk->older;
        if (chunk->id.owner == owner) drop(cache, chunk);
    }
}

void refs_cache__drop_owner(refs_cache *cache, uint64_t owner) {
    refs_slabs__pause(cache->slabs);
    refs_lock(&cache->lock);
    drop_from(cache, &cache->used, owner);
    drop_from(cache, &cache->ahead, owner);
    refs_unlock(&cache->lock);
    refs_slabs__resume(cache->slabs);
}

/* -- reading ahead -- */

void refs_cache__get_ahead(refs_cache *cache, refs_ahead *ahead) {
    refs_lock(&cache->lock);
    *ahead = (refs_ahead){cache->max_bytes, cache->ahead_bytes, cache->n_wasted};
    refs_unlock(&cache->lock);
}

/* A reader that has used nothing for so long has other things to do. */
#define PATIENCE_S 2

/* Waits for a use, at most until a reader's patience ends; false: it ended, or *stop was set. */
static bool await_move(refs_cache *cache, const struct timespec *until, const _Atomic bool *stop) {
    return !atomic_load(stop) && refs_wait_until(&cache->moved, &cache->lock, until);
}

static struct timespec end_of_patience(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    return until;
}

bool refs_cache__await_use(refs_cache *cache, size_t max_bytes, uint64_t n_wasted,
                           const _Atomic bool *stop) {
    struct timespec until = end_of_patience();
    refs_lock(&cache->lock);
    bool wanted = true;
    while (wanted && cache->ahead_bytes > max_bytes) wanted = await_move(cache, &until, stop);
    wanted = wanted && cache->n_wasted == n_wasted && !atomic_load(stop);
    refs_unlock(&cache->lock);
    return wanted;
}

bool refs_cache__await_room(refs_cache *cache, size_t size, size_t max_bytes,
                            const _Atomic bool *awaited, const _Atomic bool *stop) {
    struct timespec until = end_of_patience();
    refs_lock(&cache->lock);
    bool wanted = !atomic_load(stop);
    while (wanted && !*awaited && cache->ahead_bytes + cache->coming_bytes > max_bytes)
        wanted = await_move(cache, &until, stop);
    if (wanted) cache->coming_bytes += size;
    refs_unlock(&cache->lock);
    return wanted;
}

void refs_cache__give_room(refs_cache *cache, size_t size) {
    refs_lock(&cache->lock);
    cache->coming_bytes -= size;
    pthread_cond_broadcast(&cache->moved);
    refs_unlock(&cache->lock);
}

void refs_cache__wake(refs_cache *cache) {
    refs_lock(&cache->lock);
    pthread_cond_broadcast(&cache->moved);
    refs_unlock(&cache->lock);
}

/* -- after fork(2) ----------------------------------------------------------------------------- */

static void drop_all_pending(refs_chunk **link, size_t *n_chunks) {
    while (*link != NULL) {
        refs_chunk *chunk = *link;
        if (chunk->pending) {
            *link = chunk->bucket_next;
            --*n_chunks;
        } else {
            link = &chunk->bucket_next;
        }
    }
}

/* Nobody brings what was being brought: whoever wants it claims it anew. The marks are lost, for
 * there are allocators that a child cannot call here. */
static void in_child(void *self) {
    refs_cache *cache = self;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->settled, NULL);
    pthread_cond_init(&cache->moved, NULL);
    cache->coming_bytes = 0;
    for (size_t i = 0; i < cache->n_buckets; i++)
        drop_all_pending(&cache->buckets[i], &cache->n_chunks);
}
