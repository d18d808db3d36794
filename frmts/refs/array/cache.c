/* cache.c -- see cache.h. */
#include "cache.h"

#include <stdatomic.h>

#include "refs/fork.h"
#include "refs/pages.h"

/* A chunk that is loading has no bytes. */
typedef enum chunk_state { LOADING, STORED, DECODED } chunk_state;

struct refs_chunk {
    _Atomic unsigned references;
    chunk_state state;
    uint32_t filter_mask; /* of a stored chunk */
    refs_chunk_id id;
    size_t size;
    refs_span *span;       /* the span that owns its memory, or NULL */
    bool is_passed;        /* refs_cache__pass */
    bool is_used;          /* a reader has requested its elements */
    bool is_awaited;       /* while it is loading: another thread waits for it */
    refs_awaited *awaited; /* … and is set then; or NULL */
    refs_chunk *bucket_next;
    refs_chunk *newer, *older;
    uint8_t data[];
};

/* A list of chunks by last use. */
typedef struct ages {
    refs_chunk *newest, *oldest;
} ages;

struct refs_cache {
    refs_forked forked;
    _Atomic size_t n_streams; /* number of prefetching readers */
    pthread_mutex_t lock;     /* guards all that follows */
    size_t max_bytes;
    bool is_strict;    /* refs_cache_make_strict */
    size_t held_bytes; /* bytes that readers need */
    size_t bytes;
    size_t passed_bytes; /* bytes of passed chunks among the cached ones */
    size_t n_chunks;
    refs_chunk **buckets;
    size_t n_buckets;  /* a power of two */
    ages kept, passed; /* passed chunks are dropped first */
    refs_span *span;   /* provides memory for new chunks of one size, or NULL */
    uint64_t n_owners;
    pthread_cond_t settled; /* a chunk has stopped loading */
};

#define FIRST_BUCKETS 64

/* Limit of readers with a share of the prefetch budget. If there are more, most of them have
 * usually stopped reading; otherwise the least recently used chunks are dropped. */
#define MAX_SHARES 8

/* Limit of passed chunks: more are not reused soon enough. */
#define MAX_PASSED_BYTES (4 * REFS_MIB)

/* Chunks that are checked for reusable memory: the last ones may still be held by the thread that
 * read or decoded them. */
#define MAX_LOOKED_AT 16

/* Chunks from this size get memory from huge pages, once the cache has SPAN_FROM bytes: a reader of
 * a single small chunk does not need a huge page. */
#define MIN_SPAN_CHUNK (16 * REFS_KIB)
#define MAX_SPAN_CHUNK (8 * REFS_MIB)
#define SPAN_FROM      (256 * REFS_KIB)
#define MAX_SPAN       (64 * REFS_MIB)

/* -- chunks ------------------------------------------------------------------------------------ */

static void begin_chunk(refs_chunk *chunk, size_t size, refs_span *span) {
    memset(chunk, 0, sizeof *chunk);
    atomic_init(&chunk->references, 1);
    chunk->size = size;
    chunk->span = span;
}

refs_chunk *refs_chunk__new(size_t size) {
    size_t total;
    if (!refs_add_size(sizeof(refs_chunk), size, &total)) return NULL;
    refs_chunk *chunk = refs_alloc(total);
    if (chunk != NULL) begin_chunk(chunk, size, NULL);
    return chunk;
}

void refs_chunk__release(refs_chunk *chunk) {
    if (chunk == NULL || atomic_fetch_sub(&chunk->references, 1) != 1) return;
    if (chunk->span != NULL)
        refs_span_give(chunk->span, chunk);
    else
        refs_free(chunk);
}

uint8_t *refs_chunk__data(refs_chunk *chunk) {
    return chunk->data;
}

refs_stored refs_chunk__stored(refs_chunk *chunk) {
    return (refs_stored){refs_bytes_view(chunk->data, chunk->size), chunk->filter_mask};
}

_Static_assert(sizeof(refs_chunk) <= REFS_CHUNK_OVERHEAD,
               "a partly decoded chunk has more bytes than before");

static size_t cost_of(const refs_chunk *chunk) {
    return sizeof *chunk + chunk->size;
}

/* -- opening ----------------------------------------------------------------------------------- */

static void in_child(void *self);

static refs_status fill(refs_cache *cache, refs_error *err) {
    cache->buckets = refs_calloc(FIRST_BUCKETS, sizeof *cache->buckets);
    cache->n_buckets = FIRST_BUCKETS;
    return cache->buckets != NULL ? REFS_OK : refs_fail_nomem(err);
}

static void release_parts(refs_cache *cache) {
    refs_free(cache->buckets);
    refs_free(cache);
}

refs_status refs_cache_open(size_t max_bytes, refs_cache **cache, refs_error *err) {
    refs_cache *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->max_bytes = max_bytes;
    refs_status status = fill(opened, err);
    if (status != REFS_OK) {
        release_parts(opened);
        return status;
    }
    pthread_mutex_init(&opened->lock, NULL);
    refs_cond_init(&opened->settled);
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_register(&opened->forked);
    *cache = opened;
    return REFS_OK;
}

static void release_all(const ages *list) {
    for (refs_chunk *chunk = list->newest, *older; chunk != NULL; chunk = older) {
        older = chunk->older;
        refs_chunk__release(chunk);
    }
}

void refs_cache_free(refs_cache *cache) {
    if (cache == NULL) return;
    refs_fork_unregister(&cache->forked);
    release_all(&cache->passed);
    release_all(&cache->kept);
    refs_span_release(cache->span);
    pthread_cond_destroy(&cache->settled);
    pthread_mutex_destroy(&cache->lock);
    release_parts(cache);
}

uint64_t refs_cache__new_owner(refs_cache *cache) {
    REFS_LOCKED(&cache->lock);
    return ++cache->n_owners;
}

void refs_cache_make_strict(refs_cache *cache) {
    cache->is_strict = cache->max_bytes > 0;
}

size_t refs_cache__max_held(const refs_cache *cache) {
    return cache->is_strict || cache->max_bytes > REFS_MAX_HELD_BYTES ? cache->max_bytes
                                                                      : REFS_MAX_HELD_BYTES;
}

size_t refs_cache__max_bytes(const refs_cache *cache) {
    return cache->max_bytes;
}

void refs_cache__add_stream(refs_cache *cache) {
    atomic_fetch_add(&cache->n_streams, 1);
}

void refs_cache__remove_stream(refs_cache *cache) {
    atomic_fetch_sub(&cache->n_streams, 1);
}

size_t refs_cache__readahead_share(const refs_cache *cache) {
    const size_t n = atomic_load(&cache->n_streams);
    return cache->max_bytes / 2 / (n == 0 ? 1 : n < MAX_SHARES ? n : MAX_SHARES);
}

/* -- the table and the ages: under the lock ---------------------------------------------------- */

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

static void link_bucket(refs_cache *cache, refs_chunk *chunk) {
    grow_buckets(cache);
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

static void link_newest(ages *list, refs_chunk *chunk) {
    chunk->newer = NULL;
    chunk->older = list->newest;
    *(list->newest != NULL ? &list->newest->newer : &list->oldest) = chunk;
    list->newest = chunk;
}

static void link_oldest(ages *list, refs_chunk *chunk) {
    chunk->older = NULL;
    chunk->newer = list->oldest;
    *(list->oldest != NULL ? &list->oldest->older : &list->newest) = chunk;
    list->oldest = chunk;
}

/* Removes a chunk from its list. */
static void unlink_age(refs_cache *cache, refs_chunk *chunk) {
    ages *list = chunk->is_passed ? &cache->passed : &cache->kept;
    *(chunk->newer != NULL ? &chunk->newer->older : &list->newest) = chunk->older;
    *(chunk->older != NULL ? &chunk->older->newer : &list->oldest) = chunk->newer;
    if (chunk->is_passed) cache->passed_bytes -= cost_of(chunk);
    chunk->is_passed = false;
}

/* Removes a chunk from the cache, and returns the cache's reference. */
static void take_out(refs_cache *cache, refs_chunk *chunk) {
    unlink_bucket(cache, chunk);
    unlink_age(cache, chunk);
    cache->bytes -= cost_of(chunk);
}

static size_t limit_of(const refs_cache *cache) {
    size_t held = cache->held_bytes < REFS_MAX_HELD_BYTES ? cache->held_bytes : REFS_MAX_HELD_BYTES;
    size_t half = cache->max_bytes / 2;
    if (cache->max_bytes == 0 || cache->is_strict) return cache->max_bytes;
    return held > cache->max_bytes - half ? held + half : cache->max_bytes;
}

static void drop(refs_cache *cache, refs_chunk *chunk) {
    take_out(cache, chunk);
    refs_chunk__release(chunk);
}

/* Whether the oldest chunk is the only one of a strict cache, which keeps it whatever its size. */
static bool is_only(const refs_cache *cache, const refs_chunk *oldest) {
    return cache->is_strict && oldest->newer == NULL;
}

static void trim(refs_cache *cache) {
    while (cache->passed_bytes > MAX_PASSED_BYTES) drop(cache, cache->passed.oldest);
    while (cache->bytes > limit_of(cache) && cache->passed.oldest != NULL)
        drop(cache, cache->passed.oldest);
    while (cache->bytes > limit_of(cache) && cache->kept.oldest != NULL &&
           !is_only(cache, cache->kept.oldest))
        drop(cache, cache->kept.oldest);
}

/* A chunk of `size` bytes without a holder, among the oldest of a list; or NULL. */
static refs_chunk *oldest_of(const ages *list, size_t size) {
    refs_chunk *chunk = list->oldest;
    for (int i = 0; i < MAX_LOOKED_AT && chunk != NULL; i++, chunk = chunk->newer)
        if (chunk->size == size && atomic_load(&chunk->references) == 1) return chunk;
    return NULL;
}

/* Removes a chunk of `size` bytes that was passed, or that must be dropped for another one of that
 * size; returns the cache's reference. */
static refs_chunk *take_oldest(refs_cache *cache, size_t size) {
    refs_chunk *chunk = oldest_of(&cache->passed, size);
    if (chunk == NULL) {
        chunk = oldest_of(&cache->kept, size);
        if (chunk != NULL && cache->bytes + cost_of(chunk) <= limit_of(cache)) chunk = NULL;
    }
    if (chunk != NULL) take_out(cache, chunk);
    return chunk;
}

/* Allocates a new chunk in huge pages; or NULL. */
static refs_chunk *take_from_span(refs_cache *cache, size_t size) {
    const size_t span = cache->max_bytes < MAX_SPAN ? cache->max_bytes : MAX_SPAN;
    size_t total;
    if (size < MIN_SPAN_CHUNK || size > MAX_SPAN_CHUNK || cache->bytes + size < SPAN_FROM)
        return NULL;
    if (!refs_add_size(sizeof(refs_chunk), size, &total)) return NULL;
    if (cache->span == NULL) cache->span = refs_span_open(span, total);
    refs_chunk *chunk = refs_span_take(cache->span, total);
    if (chunk != NULL) begin_chunk(chunk, size, cache->span);
    return chunk;
}

refs_chunk *refs_chunk__new_for(refs_cache *cache, size_t size) {
    if (cache == NULL) return refs_chunk__new(size);
    refs_lock(&cache->lock);
    refs_chunk *chunk = take_oldest(cache, size);
    if (chunk == NULL) chunk = take_from_span(cache, size);
    refs_unlock(&cache->lock);
    return chunk != NULL ? chunk : refs_chunk__new(size);
}

/* -- claims ------------------------------------------------------------------------------------ */

/* Marks a chunk as loading. If memory runs out, several threads may load it. */
static refs_chunk *add_mark(refs_cache *cache, refs_chunk_id id, refs_want want,
                            refs_awaited *awaited) {
    refs_chunk *mark = refs_chunk__new(0);
    if (mark == NULL) return NULL;
    mark->id = id;
    mark->state = LOADING;
    mark->is_used = want == REFS_WANT_ELEMENTS;
    mark->awaited = awaited;
    link_bucket(cache, mark);
    return mark;
}

/* Removes a mark; returns whether a reader has requested the chunk's elements. */
static bool drop_mark(refs_cache *cache, refs_chunk_id id) {
    refs_chunk *mark = find(cache, id);
    if (mark == NULL || mark->state != LOADING) return false;
    bool is_used = mark->is_used || mark->is_awaited;
    unlink_bucket(cache, mark);
    refs_chunk__release(mark);
    pthread_cond_broadcast(&cache->settled);
    return is_used;
}

/* Passes stored bytes to the caller, who decodes them. */
static refs_claim hand_over(refs_cache *cache, refs_chunk *stored, refs_want want,
                            refs_awaited *awaited, refs_chunk **chunk) {
    take_out(cache, stored);
    (void)add_mark(cache, stored->id, want, awaited);
    *chunk = stored;
    return REFS_CLAIM_STORED;
}

static void note_awaited(refs_chunk *loading) {
    loading->is_awaited = true;
    for (refs_awaited *set = loading->awaited; set != NULL; set = set->all)
        atomic_store(&set->is, true);
}

static refs_claim claim_elements(refs_cache *cache, refs_chunk *found, refs_awaited *awaited,
                                 refs_chunk **chunk) {
    if (found->state == LOADING) {
        note_awaited(found);
        return REFS_CLAIM_BUSY;
    }
    if (found->state == STORED) return hand_over(cache, found, REFS_WANT_ELEMENTS, awaited, chunk);
    atomic_fetch_add(&found->references, 1);
    found->is_used = true;
    unlink_age(cache, found);
    link_newest(&cache->kept, found);
    *chunk = found;
    return REFS_CLAIM_DECODED;
}

refs_claim refs_cache__claim(refs_cache *cache, refs_chunk_id id, refs_want want,
                             refs_awaited *awaited, refs_chunk **chunk) {
    refs_claim claim = REFS_CLAIM_NOTHING;
    REFS_LOCKED(&cache->lock);
    refs_chunk *found = find(cache, id);
    if (found == NULL && (want == REFS_WANT_ELEMENTS || want == REFS_WANT_BYTES)) {
        (void)add_mark(cache, id, want, awaited);
        claim = REFS_CLAIM_MINE;
    } else if (found != NULL && (want == REFS_WANT_ELEMENTS || want == REFS_WANT_AT_HAND)) {
        claim = claim_elements(cache, found, awaited, chunk);
    } else if (found != NULL && want == REFS_WANT_DECODED && found->state == STORED) {
        claim = hand_over(cache, found, want, awaited, chunk);
    }
    return claim;
}

bool refs_cache__has(refs_cache *cache, refs_chunk_id id) {
    REFS_LOCKED(&cache->lock);
    return find(cache, id) != NULL;
}

bool refs_cache__is_awaited(refs_cache *cache, refs_chunk_id id) {
    REFS_LOCKED(&cache->lock);
    const refs_chunk *found = find(cache, id);
    return found != NULL && found->state == LOADING && found->is_awaited;
}

static void add(refs_cache *cache, refs_chunk_id id, refs_chunk *chunk, chunk_state state) {
    REFS_LOCKED(&cache->lock);
    bool is_used = drop_mark(cache, id);
    if (find(cache, id) == NULL && (cache->is_strict || cost_of(chunk) <= limit_of(cache))) {
        chunk->id = id;
        chunk->state = state;
        chunk->is_used = is_used;
        atomic_fetch_add(&chunk->references, 1);
        link_bucket(cache, chunk);
        link_newest(&cache->kept, chunk);
        cache->bytes += cost_of(chunk);
        trim(cache);
    }
}

void refs_cache__add_decoded(refs_cache *cache, refs_chunk_id id, refs_chunk *chunk) {
    add(cache, id, chunk, DECODED);
}

bool refs_cache__add_stored(refs_cache *cache, refs_chunk_id id, refs_stored stored) {
    refs_chunk *chunk = refs_chunk__new(stored.bytes.size);
    if (chunk == NULL) return false;
    memcpy(refs_chunk__data(chunk), stored.bytes.data, stored.bytes.size);
    chunk->filter_mask = stored.filter_mask;
    add(cache, id, chunk, STORED);
    refs_chunk__release(chunk);
    return true;
}

void refs_cache__pass(refs_cache *cache, refs_chunk_id id) {
    REFS_LOCKED(&cache->lock);
    refs_chunk *found = find(cache, id);
    if (found != NULL && found->state != LOADING && !found->is_passed) {
        unlink_age(cache, found);
        found->is_passed = true;
        cache->passed_bytes += cost_of(found);
        link_newest(&cache->passed, found);
        trim(cache);
    }
}

void refs_cache__leave(refs_cache *cache, refs_chunk_id id) {
    REFS_LOCKED(&cache->lock);
    refs_chunk *found = find(cache, id);
    if (found != NULL && found->state != LOADING && !found->is_passed && !found->is_used) {
        unlink_age(cache, found);
        link_oldest(&cache->kept, found);
    }
}

void refs_cache__abandon(refs_cache *cache, refs_chunk_id id) {
    REFS_LOCKED(&cache->lock);
    (void)drop_mark(cache, id);
}

bool refs_cache__await(refs_cache *cache, refs_chunk_id id, unsigned ms) {
    const struct timespec until = refs_deadline(ms);
    bool in_time = true, loading = true;
    refs_lock(&cache->lock);
    while (loading && in_time) {
        refs_chunk *found = find(cache, id);
        loading = found != NULL && found->state == LOADING;
        if (!loading) break;
        note_awaited(found);
        in_time = refs_wait_until(&cache->settled, &cache->lock, &until);
    }
    refs_unlock(&cache->lock);
    return !loading;
}

/* -- owners and readers ------------------------------------------------------------------------ */

static void drop_of_owner(refs_cache *cache, const ages *list, uint64_t owner) {
    for (refs_chunk *chunk = list->newest, *older; chunk != NULL; chunk = older) {
        older = chunk->older;
        if (chunk->id.owner == owner) drop(cache, chunk);
    }
}

static void drop_numbers(refs_cache *cache, uint64_t owner, uint64_t n) {
    for (uint64_t number = 0; number < n; number++) {
        refs_chunk *chunk = find(cache, (refs_chunk_id){.owner = owner, .number = number});
        if (chunk != NULL && chunk->state != LOADING) drop(cache, chunk);
    }
}

static void drop_all_of(refs_cache *cache, uint64_t owner, uint64_t n) {
    if (n < cache->n_chunks) {
        drop_numbers(cache, owner, n);
    } else {
        drop_of_owner(cache, &cache->passed, owner);
        drop_of_owner(cache, &cache->kept, owner);
    }
}

void refs_cache__drop_owner(refs_cache *cache, uint64_t owner, uint64_t n) {
    refs_span *unused = NULL;
    refs_lock(&cache->lock);
    drop_all_of(cache, owner, n);
    if (refs_span_is_unused(cache->span)) {
        unused = cache->span;
        cache->span = NULL;
    }
    refs_unlock(&cache->lock);
    refs_span_release(unused);
}

void refs_cache__hold(refs_cache *cache, size_t before, size_t now) {
    if (before == now) return;
    REFS_LOCKED(&cache->lock);
    cache->held_bytes = cache->held_bytes - before + now;
    trim(cache);
}

/* -- after fork(2) ----------------------------------------------------------------------------- */

static void forget_marks(refs_chunk **link, size_t *n_chunks) {
    while (*link != NULL) {
        refs_chunk *chunk = *link;
        if (chunk->state == LOADING) {
            *link = chunk->bucket_next;
            --*n_chunks;
        } else {
            link = &chunk->bucket_next;
        }
    }
}

/* The threads that were loading do not exist in the child: the next reader claims their chunks
 * again. Their claims are leaked, since some allocators cannot be called here. */
static void in_child(void *self) {
    refs_cache *cache = self;
    pthread_mutex_init(&cache->lock, NULL);
    refs_cond_init(&cache->settled);
    for (size_t i = 0; i < cache->n_buckets; i++)
        forget_marks(&cache->buckets[i], &cache->n_chunks);
}
