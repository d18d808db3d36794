/* file_pool.c -- see file_pool.h. */
#include "refs/file_pool.h"

#include <sys/resource.h>

#include "refs/bytes.h"
#include "refs/fork.h"

enum { SHARE_OF_PROCESS = 4, LEAST_FILES = 8, MOST_FILES = 1024 };

typedef struct pooled_file {
    struct pooled_file *newer, *older; /* by last use, in all pools; local files only */
    refs_file_pool *pool;
    char *location;
    void *handle;           /* of the vfs below; NULL: closed */
    uint64_t device, inode; /* of the file when it was first opened; both 0: unknown */
    unsigned n_readers;
    bool is_local, is_opening;
    bool is_inherited; /* the handle is the parent's: both processes would move one file offset */
} pooled_file;

struct refs_file_pool {
    refs_file_pool *next, *previous;
    refs_vfs functions;
    const refs_vfs *below;
    size_t max;
    size_t n_open; /* including files that are being opened; under process.lock */
};

/* The state that all pools share, because file descriptors belong to the process. The lock guards
 * the members after it, and all local files. */
static struct {
    pthread_once_t once;
    size_t max;
    refs_forked forked;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    refs_file_pool *pools;
    pooled_file *newest, *oldest;
    size_t n_open;
} process = {.once = PTHREAD_ONCE_INIT,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};

/* Threads that read or opened files do not exist in the child. */
static void in_child(void *self) {
    (void)self;
    pthread_mutex_init(&process.lock, NULL);
    pthread_cond_init(&process.changed, NULL);
    process.n_open = 0;
    for (refs_file_pool *pool = process.pools; pool != NULL; pool = pool->next) pool->n_open = 0;
    for (pooled_file *file = process.oldest; file != NULL; file = file->newer) {
        file->n_readers = 0;
        file->is_opening = false;
        file->is_inherited = file->handle != NULL;
        file->pool->n_open += file->handle != NULL;
        process.n_open += file->handle != NULL;
    }
}

static void set_up(void) {
    struct rlimit limit;
    process.max = MOST_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / SHARE_OF_PROCESS < MOST_FILES)
        process.max = (size_t)limit.rlim_cur / SHARE_OF_PROCESS;
    if (process.max < LEAST_FILES) process.max = LEAST_FILES;
    process.forked = (refs_forked){.in_child = in_child};
    refs_fork_register(&process.forked);
}

size_t refs_file_pool_process_limit(void) {
    pthread_once(&process.once, set_up);
    return process.max;
}

/* -- files, under the lock --------------------------------------------------------------------- */

static void list_file(pooled_file *file) {
    file->older = process.newest;
    file->newer = NULL;
    if (process.newest != NULL) process.newest->newer = file;
    process.newest = file;
    if (process.oldest == NULL) process.oldest = file;
}

static void unlist_file(pooled_file *file) {
    *(file->newer != NULL ? &file->newer->older : &process.newest) = file->older;
    *(file->older != NULL ? &file->older->newer : &process.oldest) = file->newer;
}

static void uncount(refs_file_pool *pool) {
    pool->n_open--;
    process.n_open--;
    pthread_cond_broadcast(&process.changed);
}

static bool is_idle(const pooled_file *file) {
    return file->handle != NULL && file->n_readers == 0 && !file->is_opening;
}

/* Releases the lock while it closes the file; `is_opening` excludes other threads meanwhile. */
static void close_idle(pooled_file *file) {
    const refs_vfs *below = file->pool->below;
    void *handle = file->handle;
    file->handle = NULL;
    file->is_opening = true;
    file->is_inherited = false;
    refs_unlock(&process.lock);
    below->close(below->self, handle);
    refs_lock(&process.lock);
    file->is_opening = false;
    uncount(file->pool);
}

static void make_room(const refs_file_pool *pool) {
    for (;;) {
        const bool is_full = pool->max > 0 && pool->n_open >= pool->max;
        if (!is_full && process.n_open < process.max) return;
        pooled_file *file = process.oldest;
        while (file != NULL && (!is_idle(file) || (is_full && file->pool != pool)))
            file = file->newer;
        if (file != NULL)
            close_idle(file);
        else
            refs_wait(&process.changed, &process.lock);
    }
}

/* The name must still belong to the file that was first opened, of which part may have been
 * read. */
static refs_status check_identity(pooled_file *file, void *handle, refs_error *err) {
    const refs_vfs *below = file->pool->below;
    refs_vfs_validators now;
    if (below->peek == NULL ||
        below->peek(below->self, file->location, handle, &now, NULL) != REFS_OK)
        return REFS_OK;
    const bool is_first = file->device == 0 && file->inode == 0;
    if (!is_first && (file->device != now.device || file->inode != now.inode))
        return refs_fail(err, REFS_IO,
                         "%s: the name now belongs to another file (expected inode %llu, found "
                         "%llu); open the set again",
                         file->location, (unsigned long long)file->inode,
                         (unsigned long long)now.inode);
    file->device = now.device;
    file->inode = now.inode;
    return REFS_OK;
}

static refs_status open_checked(pooled_file *file, void **handle, refs_error *err) {
    const refs_vfs *below = file->pool->below;
    REFS_TRY(below->open(below->self, file->location, handle, err));
    const refs_status status = check_identity(file, *handle, err);
    if (status != REFS_OK) below->close(below->self, *handle);
    return status;
}

/* Releases the lock while it opens the file. */
static refs_status open_below(pooled_file *file, refs_error *err) {
    refs_file_pool *pool = file->pool;
    void *handle = NULL;
    file->is_opening = true;
    make_room(pool);
    pool->n_open++;
    process.n_open++;
    refs_unlock(&process.lock);
    const refs_status status = open_checked(file, &handle, err);
    refs_lock(&process.lock);
    file->is_opening = false;
    if (status == REFS_OK)
        file->handle = handle;
    else
        uncount(pool);
    pthread_cond_broadcast(&process.changed);
    return status;
}

static refs_status begin(pooled_file *file, refs_error *err) {
    refs_status status = REFS_OK;
    if (!file->is_local) return REFS_OK;
    refs_lock(&process.lock);
    while (file->is_opening) refs_wait(&process.changed, &process.lock);
    if (file->is_inherited) close_idle(file);
    if (file->handle == NULL) status = open_below(file, err);
    if (status == REFS_OK) {
        file->n_readers++;
        unlist_file(file);
        list_file(file);
    }
    refs_unlock(&process.lock);
    return status;
}

static void end(pooled_file *file) {
    if (!file->is_local) return;
    REFS_LOCKED(&process.lock);
    if (--file->n_readers == 0) pthread_cond_broadcast(&process.changed);
}

/* -- as a refs_vfs ----------------------------------------------------------------------------- */

static void drop(pooled_file *file) {
    refs_free(file->location);
    refs_free(file);
}

static void close_pooled(void *self, void *handle) {
    pooled_file *file = handle;
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    if (file->is_local) {
        refs_lock(&process.lock);
        while (file->is_opening) refs_wait(&process.changed, &process.lock);
        unlist_file(file);
        refs_unlock(&process.lock);
    }
    if (file->handle != NULL) below->close(below->self, file->handle);
    if (file->is_local && file->handle != NULL) {
        refs_lock(&process.lock);
        uncount(file->pool);
        refs_unlock(&process.lock);
    }
    drop(file);
}

static refs_status open_listed(pooled_file *file, refs_error *err) {
    refs_lock(&process.lock);
    list_file(file);
    refs_unlock(&process.lock);
    REFS_TRY(begin(file, err));
    end(file);
    return REFS_OK;
}

static refs_status open_pooled(void *self, const char *location, void **handle, refs_error *err) {
    refs_file_pool *pool = self;
    const refs_vfs *below = pool->below;
    pooled_file *file = refs_calloc(1, sizeof *file);
    if (file == NULL) return refs_fail_nomem(err);
    file->pool = pool;
    file->location = refs_str_copy(refs_str_from(location));
    if (file->location == NULL) {
        drop(file);
        return refs_fail_nomem(err);
    }
    file->is_local = below->is_local != NULL && below->is_local(below->self, location);
    refs_status status = file->is_local ? open_listed(file, err)
                                        : below->open(below->self, location, &file->handle, err);
    if (status == REFS_OK)
        *handle = file;
    else if (file->is_local)
        close_pooled(self, file);
    else
        drop(file);
    return status;
}

static refs_status size_of(void *self, void *handle, uint64_t *size, refs_error *err) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    pooled_file *file = handle;
    REFS_TRY(begin(file, err));
    refs_status status = below->size(below->self, file->handle, size, err);
    end(file);
    return status;
}

static refs_status read_pooled(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                               refs_error *err) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    pooled_file *file = handle;
    REFS_TRY(begin(file, err));
    refs_status status = below->read(below->self, file->handle, range, got, err);
    end(file);
    return status;
}

static refs_status read_many(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    pooled_file *file = handle;
    REFS_TRY(begin(file, err));
    refs_status status = below->read_many(below->self, file->handle, ranges, n, err);
    end(file);
    return status;
}

static refs_status peek(void *self, const char *location, void *handle,
                        refs_vfs_validators *validators, refs_error *err) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    pooled_file *file = handle;
    if (file == NULL) return below->peek(below->self, location, NULL, validators, err);
    REFS_TRY(begin(file, err));
    refs_status status = below->peek(below->self, location, file->handle, validators, err);
    end(file);
    return status;
}

static refs_status validators_of(void *self, const char *location, refs_vfs_validators *validators,
                                 refs_error *err) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    return below->validators(below->self, location, validators, err);
}

static bool is_local(void *self, const char *location) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    return below->is_local(below->self, location);
}

static void forget(void *self, const char *location) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    below->forget(below->self, location);
}

static refs_status list(void *self, const char *location, const refs_vfs_listing *listing,
                        refs_error *err) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    return below->list(below->self, location, listing, err);
}

static bool is_silent(void *self, const char *location) {
    const refs_vfs *below = ((const refs_file_pool *)self)->below;
    return below->is_silent(below->self, location);
}

/* -- pools ------------------------------------------------------------------------------------- */

refs_status refs_file_pool_open(const refs_vfs *vfs, size_t max, refs_file_pool **pool,
                                refs_error *err) {
    refs_file_pool *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    pthread_once(&process.once, set_up);
    made->below = vfs;
    made->max = max;
    made->functions = (refs_vfs){.self = made,
                                 .open = open_pooled,
                                 .size = size_of,
                                 .read = read_pooled,
                                 .read_many = vfs->read_many != NULL ? read_many : NULL,
                                 .close = close_pooled,
                                 .validators = vfs->validators != NULL ? validators_of : NULL,
                                 .is_local = vfs->is_local != NULL ? is_local : NULL,
                                 .peek = vfs->peek != NULL ? peek : NULL,
                                 .forget = vfs->forget != NULL ? forget : NULL,
                                 .list = vfs->list != NULL ? list : NULL,
                                 .is_silent = vfs->is_silent != NULL ? is_silent : NULL};
    refs_lock(&process.lock);
    made->next = process.pools;
    if (made->next != NULL) made->next->previous = made;
    process.pools = made;
    refs_unlock(&process.lock);
    *pool = made;
    return REFS_OK;
}

void refs_file_pool_free(refs_file_pool *pool) {
    if (pool == NULL) return;
    refs_lock(&process.lock);
    *(pool->previous != NULL ? &pool->previous->next : &process.pools) = pool->next;
    if (pool->next != NULL) pool->next->previous = pool->previous;
    refs_unlock(&process.lock);
    refs_free(pool);
}

const refs_vfs *refs_file_pool_functions(const refs_file_pool *pool) {
    return &pool->functions;
}
