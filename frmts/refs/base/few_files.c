/* few_files.c -- see few_files.h. */
#include "refs/few_files.h"

#include "refs/bytes.h"
#include "refs/fork.h"

typedef struct lent {
    struct lent *newer, *older; /* by use; local files alone */
    char *location;
    void *handle; /* below; NULL: closed meanwhile */
    unsigned n_readers;
    bool is_local, is_opening;
} lent;

struct refs_few_files {
    refs_vfs functions;
    const refs_vfs *below;
    size_t max;
    refs_forked forked;
    pthread_mutex_t lock; /* guards what follows, and all that is lent */
    pthread_cond_t changed;
    lent *newest, *oldest;
    size_t n_open; /* those that are being opened included */
};

/* -- what is lent, under the lock -------------------------------------------------------------- */

static void register_file(refs_few_files *few, lent *file) {
    file->older = few->newest;
    file->newer = NULL;
    if (few->newest != NULL) few->newest->newer = file;
    few->newest = file;
    if (few->oldest == NULL) few->oldest = file;
}

static void delist(refs_few_files *few, lent *file) {
    *(file->newer != NULL ? &file->newer->older : &few->newest) = file->older;
    *(file->older != NULL ? &file->older->newer : &few->oldest) = file->newer;
}

static void close_below(refs_few_files *few, lent *file) {
    if (file->handle == NULL) return;
    few->below->close(few->below->self, file->handle);
    file->handle = NULL;
    if (file->is_local) few->n_open--;
}

static void make_room(refs_few_files *few) {
    while (few->n_open >= few->max) {
        lent *file = few->oldest;
        while (file != NULL && (file->handle == NULL || file->n_readers > 0)) file = file->newer;
        if (file != NULL)
            close_below(few, file);
        else
            refs_wait(&few->changed, &few->lock);
    }
}

/* Leaves the lock while the file is opened. */
static refs_status open_below(refs_few_files *few, lent *file, refs_error *err) {
    void *handle = NULL;
    file->is_opening = true;
    if (file->is_local) {
        make_room(few);
        few->n_open++;
    }
    refs_unlock(&few->lock);
    refs_status status = few->below->open(few->below->self, file->location, &handle, err);
    refs_lock(&few->lock);
    file->is_opening = false;
    if (status == REFS_OK)
        file->handle = handle;
    else if (file->is_local)
        few->n_open--;
    pthread_cond_broadcast(&few->changed);
    return status;
}

static refs_status begin(refs_few_files *few, lent *file, refs_error *err) {
    refs_status status = REFS_OK;
    refs_lock(&few->lock);
    while (file->is_opening) refs_wait(&few->changed, &few->lock);
    if (file->handle == NULL) status = open_below(few, file, err);
    if (status == REFS_OK) {
        file->n_readers++;
        if (file->is_local) {
            delist(few, file);
            register_file(few, file);
        }
    }
    refs_unlock(&few->lock);
    return status;
}

static void end(refs_few_files *few, lent *file) {
    refs_lock(&few->lock);
    file->n_readers--;
    pthread_cond_broadcast(&few->changed);
    refs_unlock(&few->lock);
}

/* -- as a refs_vfs ----------------------------------------------------------------------------- */

static void close_lent(void *self, void *handle) {
    refs_few_files *few = self;
    lent *file = handle;
    refs_lock(&few->lock);
    close_below(few, file);
    if (file->is_local) delist(few, file);
    pthread_cond_broadcast(&few->changed);
    refs_unlock(&few->lock);
    refs_free(file->location);
    refs_free(file);
}

static refs_status open_lent(void *self, const char *location, void **handle, refs_error *err) {
    refs_few_files *few = self;
    const refs_vfs *below = few->below;
    lent *file = refs_calloc(1, sizeof *file);
    if (file == NULL) return refs_fail_nomem(err);
    file->location = refs_str_copy(refs_str_from(location));
    file->is_local = below->is_local != NULL && below->is_local(below->self, location);
    refs_lock(&few->lock);
    if (file->is_local) register_file(few, file);
    refs_unlock(&few->lock);
    refs_status status = file->location != NULL ? begin(few, file, err) : refs_fail_nomem(err);
    if (status != REFS_OK) {
        close_lent(self, file);
        return status;
    }
    end(few, file);
    *handle = file;
    return REFS_OK;
}

static refs_status size_of(void *self, void *handle, uint64_t *size, refs_error *err) {
    refs_few_files *few = self;
    lent *file = handle;
    REFS_TRY(begin(few, file, err));
    refs_status status = few->below->size(few->below->self, file->handle, size, err);
    end(few, file);
    return status;
}

static refs_status read_lent(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                             refs_error *err) {
    refs_few_files *few = self;
    lent *file = handle;
    const refs_vfs *below = few->below;
    REFS_TRY(begin(few, file, err));
    refs_status status = below->read(below->self, file->handle, range, got, err);
    end(few, file);
    return status;
}

static refs_status read_many(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err) {
    refs_few_files *few = self;
    lent *file = handle;
    REFS_TRY(begin(few, file, err));
    refs_status status = few->below->read_many(few->below->self, file->handle, ranges, n, err);
    end(few, file);
    return status;
}

static refs_status peek(void *self, const char *location, void *handle,
                        refs_vfs_validators *validators, refs_error *err) {
    refs_few_files *few = self;
    const refs_vfs *below = few->below;
    lent *file = handle;
    if (file == NULL) return below->peek(below->self, location, NULL, validators, err);
    REFS_TRY(begin(few, file, err));
    refs_status status = below->peek(below->self, location, file->handle, validators, err);
    end(few, file);
    return status;
}

static refs_status validators_of(void *self, const char *location, refs_vfs_validators *validators,
                                 refs_error *err) {
    const refs_vfs *below = ((const refs_few_files *)self)->below;
    return below->validators(below->self, location, validators, err);
}

static bool is_local(void *self, const char *location) {
    const refs_vfs *below = ((const refs_few_files *)self)->below;
    return below->is_local(below->self, location);
}

static void forget(void *self, const char *location) {
    const refs_vfs *below = ((const refs_few_files *)self)->below;
    below->forget(below->self, location);
}

/* -- all of them ------------------------------------------------------------------------------- */

static bool is_silent(void *self, const char *location) {
    const refs_vfs *below = ((const refs_few_files *)self)->below;
    return below->is_silent(below->self, location);
}

/* Who read or opened is not in the child. */
static void in_child(void *self) {
    refs_few_files *few = self;
    pthread_mutex_init(&few->lock, NULL);
    refs_cond_init(&few->changed);
    few->n_open = 0;
    for (lent *file = few->oldest; file != NULL; file = file->newer) {
        file->n_readers = 0;
        file->is_opening = false;
        few->n_open += file->handle != NULL;
    }
}

refs_status refs_few_files_open(const refs_vfs *vfs, size_t max, refs_few_files **few,
                                refs_error *err) {
    refs_few_files *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    made->below = vfs;
    made->max = max > 0 ? max : 1;
    made->functions = (refs_vfs){.self = made,
                                 .open = open_lent,
                                 .size = size_of,
                                 .read = read_lent,
                                 .read_many = vfs->read_many != NULL ? read_many : NULL,
                                 .close = close_lent,
                                 .validators = vfs->validators != NULL ? validators_of : NULL,
                                 .is_local = vfs->is_local != NULL ? is_local : NULL,
                                 .peek = vfs->peek != NULL ? peek : NULL,
                                 .forget = vfs->forget != NULL ? forget : NULL,
                                 .is_silent = vfs->is_silent != NULL ? is_silent : NULL};
    pthread_mutex_init(&made->lock, NULL);
    refs_cond_init(&made->changed);
    made->forked = (refs_forked){.in_child = in_child, .self = made};
    refs_fork_register(&made->forked);
    *few = made;
    return REFS_OK;
}

void refs_few_files_free(refs_few_files *few) {
    if (few == NULL) return;
    refs_fork_unregister(&few->forked);
    pthread_cond_destroy(&few->changed);
    pthread_mutex_destroy(&few->lock);
    refs_free(few);
}

const refs_vfs *refs_few_files_functions(const refs_few_files *few) {
    return &few->functions;
}
