/* opened.c -- opens one set with the modules that read it; see session.h. */
#include <stdatomic.h>
#include <stdlib.h>

#include "refs/combine.h"
#include "refs/fork.h"
#include "refs/store.h"
#include "refs/watch.h"
#include "session_internal.h"

/* Members are opened from first to last, and freed in reverse order. */
struct refs_opened {
    refs_session *session;
    refs_open_options options;
    refs_watch *watch; /* detects files that are replaced while they are open */
    refs_file_pool *file_pool;
    refs_http_vfs *own_vfs;
    const refs_vfs *vfs;
    atomic_bool is_cancelled;
    refs_set *set;
    refs_fetcher *fetcher;
    _Atomic(refs_fetcher *) cancelled_too; /* the fetcher to cancel, once it exists */
    refs_store *store;
    refs_hierarchy *hierarchy;
    refs_aggregations *aggregations;
    refs_cache *cache;
    refs_fragments *fragments;
};

/* The default size of the chunk cache, without REFS_CACHE_MAX. */
#define CACHE_BYTES (256 * REFS_MIB)

static size_t cache_bytes(void) {
    const char *mebibytes = getenv("REFS_CACHE_MAX");
    uint64_t n = 0;
    if (mebibytes == NULL || !refs_str_to_u64(refs_str_from(mebibytes), &n) ||
        n > REFS_OPENED_MAX_CACHE_MIB)
        return CACHE_BYTES;
    return (size_t)n * REFS_MIB;
}

refs_changed refs_changed_default(void) {
    const char *word = getenv("REFS_CHANGED");
    refs_changed changed = REFS_CHANGED_DEFAULT;
    if (word != NULL) refs_changed_parse(word, &changed);
    return changed;
}

refs_open_options refs_open_options_init(void) {
    static const refs_set_options sets = REFS_SET_OPTIONS_INIT;
    return (refs_open_options){
        .sets = sets, .changed = refs_changed_default(), .cache_bytes = cache_bytes()};
}

void refs_opened_free(refs_opened *opened) {
    if (opened == NULL) return;
    refs_fragments_free(opened->fragments);
    refs_hierarchy_free(opened->hierarchy);
    refs_aggregations_free(opened->aggregations);
    refs_cache_free(opened->cache);
    refs_store_free(opened->store);
    refs_fetcher_free(opened->fetcher);
    refs_set_free(opened->set);
    refs_http_vfs_free(opened->own_vfs);
    refs_file_pool_free(opened->file_pool);
    refs_watch_free(opened->watch);
    refs_free(opened);
}

const refs_hierarchy *refs_opened_hierarchy(const refs_opened *opened) {
    return opened->hierarchy;
}

refs_fetch_stats refs_opened_stats(const refs_opened *opened) {
    refs_fetch_stats stats;
    refs_fetcher_stats(opened->fetcher, &stats);
    return stats;
}

/* -- sets -------------------------------------------------------------------------------------- */

static refs_status ignore_set(void *user, const refs_set_summary *summary, refs_error *err) {
    (void)user;
    (void)summary;
    (void)err;
    return REFS_OK;
}

static bool goes_on(void *user) {
    return !atomic_load((atomic_bool *)user);
}

/* Opens the set at a location, or the files that it stands for. */
static refs_status open_whole(refs_opened *opened, const char *location,
                              const refs_set_options *sets, refs_error *err) {
    const refs_references from = {
        .lister = {opened->session->cloud, opened->vfs, {goes_on, &opened->is_cancelled}, NULL},
        .http = opened->session->http,
        .watch = opened->watch,
        .sets = sets,
        .advice = {.moved = opened->options.moved},
        .notes = sets->notes,
        .along = opened->options.along,
        .how_along = opened->options.how_along,
        .pattern = opened->options.pattern};
    return refs_references_open(&from, location, &opened->set, err);
}

/* Opens a set, or the selected or only one of a list of sets. */
static refs_status open_set(refs_opened *opened, const char *location, refs_error *err) {
    const refs_set_visitor visitor = {ignore_set, NULL};
    refs_set_options sets = opened->options.sets;
    refs_error problem = REFS_ERROR_INIT;
    size_t n = 0;
    refs_status status = open_whole(opened, location, &sets, &problem);
    if (status == REFS_UNSUPPORTED && sets.set_index < 0 &&
        refs_set_each_of_list(opened->vfs, location, &visitor, &n, NULL) == REFS_OK && n == 1) {
        sets.set_index = 0;
        return refs_set_open(opened->vfs, location, &sets, &opened->set, err);
    }
    return refs_fail(err, status, "%s", problem.message);
}

static refs_array_context arrays_of(const refs_opened *opened) {
    return (refs_array_context){.store = opened->store,
                                .cache = opened->cache,
                                .pool = opened->session->pool,
                                .prefetch_pool = opened->session->prefetch_pool};
}

static refs_status open_fragments(refs_opened *opened, refs_error *err) {
    const refs_fragments_options options = {.struct_size = sizeof options,
                                            .hierarchy = opened->hierarchy,
                                            .location = refs_set_location(opened->set),
                                            .vfs = opened->vfs,
                                            .fetcher = opened->fetcher,
                                            .arrays = arrays_of(opened),
                                            .sets = &opened->options.sets,
                                            .missing = opened->options.missing,
                                            .ranges = opened->options.ranges,
                                            .changed = opened->options.changed,
                                            .advice = opened->options.advice,
                                            .notes = opened->options.sets.notes};
    return refs_fragments_open(&options, &opened->fragments, err);
}

static bool has_rewrites(const refs_opened *opened) {
    const char *const *rewrites = opened->options.sets.rewrites;
    return rewrites != NULL && *rewrites != NULL;
}

static refs_status open_all(refs_opened *opened, const char *location, refs_error *err) {
    const refs_notes *notes = &opened->options.sets.notes;
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    options.http = opened->session->http;
    options.changed = opened->options.changed;
    options.notes = *notes;
    options.advice.moved = opened->options.moved;
    options.advice.changed = opened->options.unchanged;
    REFS_TRY(open_set(opened, location, err));
    REFS_TRY(refs_fetcher_open(opened->vfs, &options, &opened->fetcher, err));
    atomic_store(&opened->cancelled_too, opened->fetcher);
    REFS_TRY(refs_store_open(opened->set, opened->fetcher, &opened->store, err));
    if (has_rewrites(opened)) refs_store_compare_sizes_only(opened->store);
    REFS_TRY(refs_cache_open(opened->options.cache_bytes, &opened->cache, err));
    REFS_TRY(refs_hierarchy_open(opened->store, notes, &opened->hierarchy, err));
    REFS_TRY(refs_aggregations_open(opened->hierarchy, notes, &opened->aggregations, err));
    if (opened->aggregations == NULL) return REFS_OK;
    /* Appending replaces a master: a program that has it open continues with the old file. */
    if (refs_set_is_file(opened->set))
        refs_watch_hold(opened->watch, refs_set_document(opened->set));
    return open_fragments(opened, err);
}

static refs_status open_named(refs_opened *opened, const char *name, refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(refs_session_locate(refs_str_from(name), &location, err));
    return open_all(opened, (const char *)location.data, err);
}

/* -- cancelling -------------------------------------------------------------------------------- */

/* A set that another thread opens, while the caller checks for cancellation. */
typedef struct opening {
    refs_opened *opened;
    const char *name;
    pthread_mutex_t lock; /* guards the following members */
    pthread_cond_t changed;
    bool has_ended;
    refs_status status;
    refs_error error;
} opening;

static void *run_opening(void *argument) {
    opening *job = argument;
    refs_error error = REFS_ERROR_INIT;
    const refs_status status = open_named(job->opened, job->name, &error);
    REFS_LOCKED(&job->lock);
    job->status = status;
    job->error = error;
    job->has_ended = true;
    pthread_cond_signal(&job->changed);
    return NULL;
}

static void cancel_requests(refs_opened *opened) {
    refs_fetcher *fetcher = atomic_load(&opened->cancelled_too);
    atomic_store(&opened->is_cancelled, true);
    refs_http_vfs_cancel(opened->own_vfs);
    if (fetcher != NULL) refs_fetcher_cancel(fetcher);
}

static bool has_ended(opening *job) {
    REFS_LOCKED(&job->lock);
    if (!job->has_ended) (void)refs_wait_ms(&job->changed, &job->lock, REFS_CANCEL_POLL_MS);
    return job->has_ended;
}

/* Waits until the set is open or, after a cancellation, until its requests have ended. */
static bool await_opening(opening *job) {
    const refs_cancel_check *cancel = &job->opened->options.cancel;
    bool goes_on = true;
    while (!has_ended(job)) {
        goes_on = goes_on && cancel->go_on(cancel->user);
        if (!goes_on) cancel_requests(job->opened);
    }
    return goes_on;
}

static refs_status open_watched(refs_opened *opened, const char *name, refs_error *err) {
    opening job = {.opened = opened, .name = name, .error = REFS_ERROR_INIT};
    pthread_t thread;
    pthread_mutex_init(&job.lock, NULL);
    refs_cond_init(&job.changed);
    const bool is_started = refs_thread_start(&thread, run_opening, &job) == 0;
    bool goes_on = true;
    if (is_started) {
        goes_on = await_opening(&job);
        pthread_join(thread, NULL);
    } else {
        (void)run_opening(&job);
    }
    pthread_cond_destroy(&job.changed);
    pthread_mutex_destroy(&job.lock);
    if (!goes_on) return refs_fail(err, REFS_CANCELLED, "cancelled");
    return job.status == REFS_OK ? REFS_OK : refs_fail(err, job.status, "%s", job.error.message);
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status open_vfs(refs_opened *opened, refs_error *err) {
    REFS_TRY(refs_watch_open(refs_vfs_posix(), &opened->watch, err));
    REFS_TRY(refs_file_pool_open(refs_watch_functions(opened->watch), 0, &opened->file_pool, err));
    const refs_vfs *files = refs_file_pool_functions(opened->file_pool);
    REFS_TRY(refs_session__open_vfs(opened->session, files, &opened->own_vfs, err));
    opened->vfs = refs_http_vfs_functions(opened->own_vfs);
    return REFS_OK;
}

refs_status refs_opened_open(refs_session *session, const char *name,
                             const refs_open_options *options, refs_opened **opened,
                             refs_error *err) {
    refs_opened *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    made->session = session;
    made->options = *options;
    made->options.sets.remote_to_local = refs_cloud_allows_remote_to_local(session->cloud);
    refs_status status = open_vfs(made, err);
    if (status == REFS_OK)
        status = options->cancel.go_on != NULL ? open_watched(made, name, err)
                                               : open_named(made, name, err);
    if (status == REFS_OK)
        *opened = made;
    else
        refs_opened_free(made);
    return status;
}

refs_status refs_opened_array(const refs_opened *opened, const refs_array_meta *meta,
                              refs_array **array, refs_error *err) {
    const refs_array_context context = arrays_of(opened);
    if (meta->aggregation != NULL)
        return refs_fragments_open_array(opened->fragments, meta, array, err);
    return refs_array_open(&context, meta, array, err);
}
