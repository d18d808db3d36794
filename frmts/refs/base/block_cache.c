/* block_cache.c -- see block_cache.h. */
#include "block_cache.h"

#include "cancel_wait.h"

#define N_BUCKETS 4096

/* A block that is loaded, being loaded, or failed to load. */
typedef struct entry {
    refs_block_id id;
    enum { LOADING, LOADED, FAILED } state;
    refs_loaded_block loaded; /* its block held */
    refs_error error;         /* FAILED: why */
    unsigned
        n_users; /* threads that use this entry; the last one frees it once it left the cache */
    pthread_t loader; /* LOADING: the loading thread */
    bool in_cache;
    struct entry *bucket_next;
    struct entry *newer, *older; /* LOADED and in the cache */
} entry;

struct refs_block_cache {
    refs_block_loader loader;
    void *user;
    size_t max_bytes;
    refs_forked forked;

    pthread_mutex_t lock;   /* guards what follows, entries included */
    pthread_cond_t settled; /* an entry is no longer LOADING */
    entry *buckets[N_BUCKETS];
    entry *newest, *oldest;
    size_t n_bytes; /* of LOADED entries */
};

static void in_child(void *self);

refs_status refs_block_cache_open(size_t max_bytes, refs_block_loader loader, void *user,
                                  refs_block_cache **cache, refs_error *err) {
    refs_block_cache *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->loader = loader;
    opened->user = user;
    opened->max_bytes = max_bytes;
    pthread_mutex_init(&opened->lock, NULL);
    refs_cond_init(&opened->settled);
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_register(&opened->forked);
    *cache = opened;
    return REFS_OK;
}

/* -- entries: all under the lock --------------------------------------------------------------- */

static entry **place_of(refs_block_cache *cache, refs_block_id id) {
    uint64_t hash = (id.number * UINT64_C(0x9E3779B97F4A7C15)) ^ id.group;
    entry **place = &cache->buckets[(hash ^ hash >> 32) % N_BUCKETS];
    while (*place != NULL && ((*place)->id.group != id.group || (*place)->id.number != id.number))
        place = &(*place)->bucket_next;
    return place;
}

static void free_if_unused(entry *e) {
    if (e->in_cache || e->n_users > 0) return;
    refs_block_release(e->loaded.block);
    refs_free(e);
}

static size_t cost_of(const entry *e) {
    return sizeof *e + e->loaded.n_bytes;
}

static void link_newest(refs_block_cache *cache, entry *e) {
    e->newer = NULL;
    e->older = cache->newest;
    *(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = e;
    cache->newest = e;
}

static void unlink_from_ages(refs_block_cache *cache, entry *e) {
    *(e->newer != NULL ? &e->newer->older : &cache->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &cache->oldest) = e->newer;
}

static void remove_from_bucket(refs_block_cache *cache, entry *e) {
    *place_of(cache, e->id) = e->bucket_next;
    e->in_cache = false;
}

static void drop_oldest(refs_block_cache *cache) {
    entry *e = cache->oldest;
    cache->n_bytes -= cost_of(e);
    unlink_from_ages(cache, e);
    remove_from_bucket(cache, e);
    free_if_unused(e);
}

static entry *add_entry(entry **place, refs_block_id id) {
    entry *e = refs_calloc(1, sizeof *e);
    if (e == NULL) return NULL;
    e->id = id;
    e->in_cache = true;
    *place = e;
    return e;
}

/* Ends loading, with success or failure. A failed entry leaves the cache, so the next call tries
 * again. */
static void settle(refs_block_cache *cache, entry *e, refs_status status) {
    if (status == REFS_OK) {
        e->state = LOADED;
        link_newest(cache, e);
        cache->n_bytes += cost_of(e);
        while (cache->n_bytes > cache->max_bytes && cache->oldest != e) drop_oldest(cache);
    } else {
        e->state = FAILED;
        e->error.status = status;
        remove_from_bucket(cache, e);
    }
    pthread_cond_broadcast(&cache->settled);
}

/* -- asking ------------------------------------------------------------------------------------ */

/* Nested loads on this thread: a loader may call a progress callback, which may read. */
static _Thread_local unsigned n_loads;

/* Releases the lock while the loader reads. */
static refs_status call_loader(refs_block_cache *cache, refs_block_id id, refs_loaded_block *loaded,
                               refs_error *err) {
    n_loads++;
    refs_unlock(&cache->lock);
    const refs_status status = cache->loader(cache->user, id, loaded, err);
    refs_lock(&cache->lock);
    n_loads--;
    return status;
}

static void load(refs_block_cache *cache, entry *e) {
    refs_loaded_block loaded = {NULL, 0};
    refs_error error = REFS_ERROR_INIT;
    e->loader = pthread_self();
    const refs_status status = call_loader(cache, e->id, &loaded, &error);
    e->loaded = loaded;
    e->error = error;
    settle(cache, e, status);
}

/* A thread that is in a load must not wait for an entry: its loader may be this thread, or wait for
 * it. It loads the block without the cache. */
static refs_status load_alone(refs_block_cache *cache, refs_block_id id, refs_block **block,
                              refs_error *err) {
    refs_loaded_block loaded = {NULL, 0};
    const refs_status status = call_loader(cache, id, &loaded, err);
    *block = loaded.block;
    return status;
}

/* Sets *is_of_other if another thread was loading the block and was cancelled: the caller tries
 * again. */
static refs_status get(refs_block_cache *cache, refs_block_id id, refs_block **block,
                       bool *is_of_other, refs_error *err) {
    entry **place = place_of(cache, id), *e = *place;
    refs_status status = REFS_OK;
    const bool is_new = e == NULL;
    *is_of_other = false;
    if (!is_new && e->state == LOADING && n_loads > 0) return load_alone(cache, id, block, err);
    if (is_new && (e = add_entry(place, id)) == NULL) return refs_fail_nomem(err);
    e->n_users++;
    if (is_new) load(cache, e);
    while (e->state == LOADING && status == REFS_OK)
        status = refs_cancel_scope_wait(&cache->settled, &cache->lock, err);
    if (e->state == LOADED && e->in_cache) {
        unlink_from_ages(cache, e);
        link_newest(cache, e);
    }
    *is_of_other = status == REFS_OK && !is_new && e->error.status == REFS_CANCELLED;
    if (status == REFS_OK) *block = refs_block_hold(e->loaded.block);
    if (status == REFS_OK && !*is_of_other)
        status = refs_fail(err, e->error.status, "%s", e->error.message);
    e->n_users--;
    free_if_unused(e);
    return status;
}

refs_status refs_block_cache_get(refs_block_cache *cache, refs_block_id id, refs_block **block,
                                 refs_error *err) {
    bool is_of_other = true;
    *block = NULL;
    REFS_LOCKED(&cache->lock);
    while (is_of_other) REFS_TRY(get(cache, id, block, &is_of_other, err));
    return REFS_OK;
}

bool refs_block_cache_has(refs_block_cache *cache, refs_block_id id) {
    REFS_LOCKED(&cache->lock);
    const entry *e = *place_of(cache, id);
    return e != NULL && e->state == LOADED;
}

void refs_block_cache_free(refs_block_cache *cache) {
    if (cache == NULL) return;
    refs_fork_unregister(&cache->forked);
    while (cache->oldest != NULL) drop_oldest(cache);
    pthread_cond_destroy(&cache->settled);
    pthread_mutex_destroy(&cache->lock);
    refs_free(cache);
}

/* -- after fork(2) ----------------------------------------------------------------------------- */

/* Drops entries that other threads of the parent were loading. */
static void in_child(void *self) {
    refs_block_cache *cache = self;
    pthread_mutex_init(&cache->lock, NULL);
    refs_cond_init(&cache->settled);
    for (size_t i = 0; i < N_BUCKETS; i++) {
        for (entry **link = &cache->buckets[i]; *link != NULL;) {
            entry *e = *link;
            bool lost = e->state == LOADING && !pthread_equal(e->loader, pthread_self());
            if (lost)
                *link = e->bucket_next;
            else
                link = &e->bucket_next;
        }
    }
}
