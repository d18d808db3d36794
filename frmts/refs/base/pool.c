/* pool.c -- see pool.h. There is one queue, in which tasks of awaited groups overtake others. A
 * waiting thread runs tasks of its own group while all workers are busy. */
#include "refs/pool.h"

#include "refs/fork.h"

typedef struct task {
    refs_group *group; /* or NULL: a background task */
    refs_status (*run)(void *argument, refs_error *err);
    void (*drop)(void *argument);
    void *argument;
    void *captured; /* of the thread that added it, or NULL */
    struct task *next, *previous;
} task;

struct refs_pool {
    pthread_mutex_t lock; /* guards the following members, and those of groups */
    pthread_cond_t work;  /* a task was queued, or the pool ends */
    pthread_t *threads;
    unsigned n_threads, n_started, n_idle;
    task *first, *last;
    size_t n_queued;
    bool ending;
    refs_forked forked;
    const refs_task_context *context; /* or NULL; not guarded */
};

struct refs_group {
    refs_pool *pool;
    bool (*is_awaited)(const void *user); /* or NULL */
    const void *user;
    size_t n_unfinished;
    pthread_cond_t finished; /* all tasks of the group have finished */
    refs_error error;
};

static _Thread_local bool is_worker;

/* Most tasks that are checked for an awaited group. */
#define MAX_LOOKED_AT 64

/* -- the queue: under the lock ----------------------------------------------------------------- */

static void enqueue(refs_pool *pool, task *added) {
    added->next = NULL;
    added->previous = pool->last;
    if (pool->last != NULL)
        pool->last->next = added;
    else
        pool->first = added;
    pool->last = added;
    pool->n_queued++;
}

static void dequeue(refs_pool *pool, task *taken) {
    if (taken->previous != NULL)
        taken->previous->next = taken->next;
    else
        pool->first = taken->next;
    if (taken->next != NULL)
        taken->next->previous = taken->previous;
    else
        pool->last = taken->previous;
    pool->n_queued--;
}

/* The next task: the first one of an awaited group, else the first one. */
static task *most_wanted(const refs_pool *pool) {
    task *found = pool->first;
    for (unsigned i = 0; found != NULL && i < MAX_LOOKED_AT; i++, found = found->next)
        if (found->group != NULL && found->group->is_awaited != NULL &&
            found->group->is_awaited(found->group->user))
            return found;
    return pool->first;
}

/* The task that a thread that waits for `group` runs itself, or NULL. The next task is left to the
 * workers: more threads than cores are no faster, and take memory. */
static task *left_for(const refs_pool *pool, const refs_group *group) {
    task *found = most_wanted(pool);
    if (found != NULL && found->group == group && pool->n_started > 0 && !is_worker) return NULL;
    found = pool->first;
    while (found != NULL && found->group != group) found = found->next;
    return found;
}

static task *make_task(const refs_pool *pool, const task *like) {
    task *made = refs_alloc(sizeof *made);
    if (made == NULL) return NULL;
    *made = *like;
    if (pool->context == NULL || (made->captured = pool->context->capture()) != NULL) return made;
    refs_free(made);
    return NULL;
}

static void free_task(const refs_pool *pool, task *ended) {
    if (ended->captured != NULL) pool->context->release(ended->captured);
    refs_free(ended);
}

static refs_status run_as_added(const refs_pool *pool, const task *taken, refs_error *err) {
    if (taken->captured == NULL) return taken->run(taken->argument, err);
    void *outer = pool->context->enter(taken->captured);
    if (outer == NULL) return refs_fail_nomem(err);
    const refs_status status = taken->run(taken->argument, err);
    pool->context->leave(outer);
    return status;
}

/* Runs a task that was taken from the queue. Releases the lock while the task runs. */
static void perform(refs_pool *pool, task *taken) {
    refs_group *group = taken->group;
    bool wanted = group == NULL || group->error.status == REFS_OK;
    refs_unlock(&pool->lock);
    refs_error error = REFS_ERROR_INIT;
    refs_status status = wanted ? run_as_added(pool, taken, &error) : REFS_OK;
    (void)refs_fail(&error, status, "%s", refs_status_text(status));
    if (taken->drop != NULL) taken->drop(taken->argument);
    free_task(pool, taken);
    refs_lock(&pool->lock);
    if (group == NULL) return;
    if (group->error.status == REFS_OK) group->error = error;
    if (--group->n_unfinished == 0) pthread_cond_broadcast(&group->finished);
}

/* -- workers ----------------------------------------------------------------------------------- */

static void *work(void *argument) {
    refs_pool *pool = argument;
    is_worker = true;
    refs_lock(&pool->lock);
    while (!pool->ending) {
        task *next = most_wanted(pool);
        if (next != NULL) {
            dequeue(pool, next);
            perform(pool, next);
        } else {
            pool->n_idle++;
            refs_wait(&pool->work, &pool->lock);
            pool->n_idle--;
        }
    }
    refs_unlock(&pool->lock);
    return NULL;
}

/* The child of a fork has no workers, and no thread that waits for queued tasks. */
static void in_child(void *self) {
    refs_pool *pool = self;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pool->n_started = pool->n_idle = 0;
    pool->first = pool->last = NULL;
    pool->n_queued = 0;
}

static void start_worker(refs_pool *pool) {
    if (pool->n_queued <= pool->n_idle || pool->n_started == pool->n_threads) return;
    if (refs_thread_start(&pool->threads[pool->n_started], work, pool) == 0) pool->n_started++;
}

refs_status refs_pool_open(unsigned n_threads, refs_pool **pool, refs_error *err) {
    refs_pool *opened = refs_calloc(1, sizeof *opened);
    pthread_t *threads = refs_calloc(n_threads, sizeof *threads);
    if (opened == NULL || threads == NULL) {
        refs_free(opened);
        refs_free(threads);
        return refs_fail_nomem(err);
    }
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->work, NULL);
    opened->threads = threads;
    opened->n_threads = n_threads;
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_register(&opened->forked);
    *pool = opened;
    return REFS_OK;
}

/* Drops tasks that were removed from the queue. */
static void drop_all(const refs_pool *pool, task *first) {
    for (task *left = first, *next; left != NULL; left = next) {
        next = left->next;
        left->drop(left->argument);
        free_task(pool, left);
    }
}

void refs_pool_free(refs_pool *pool) {
    if (pool == NULL) return;
    refs_fork_unregister(&pool->forked);
    refs_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    refs_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_started; i++) pthread_join(pool->threads[i], NULL);
    drop_all(pool, pool->first);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    refs_free(pool->threads);
    refs_free(pool);
}

unsigned refs_pool_n_threads(const refs_pool *pool) {
    return pool->n_threads;
}

void refs_pool_set_context(refs_pool *pool, const refs_task_context *context) {
    pool->context = context;
}

/* Called under the lock: returns whether there is a worker for the queued task. */
static bool start_worker_for(refs_pool *pool, task *added) {
    enqueue(pool, added);
    start_worker(pool);
    if (pool->n_started > 0) {
        pthread_cond_signal(&pool->work);
        return true;
    }
    dequeue(pool, added);
    return false;
}

void refs_pool_run(refs_pool *pool, refs_status (*run)(void *argument, refs_error *err),
                   void (*drop)(void *argument), void *argument) {
    task *added = make_task(pool, &(task){.run = run, .drop = drop, .argument = argument});
    bool queued = false;
    if (added != NULL) {
        refs_lock(&pool->lock);
        queued = start_worker_for(pool, added);
        refs_unlock(&pool->lock);
    }
    if (queued) return;
    if (added != NULL) free_task(pool, added);
    drop(argument);
}

/* Tasks are dropped after the lock was released, because `drop` may take other locks. */
void refs_pool_withdraw(refs_pool *pool, void (*drop)(void *argument),
                        bool (*matches)(const void *argument, const void *user), const void *user) {
    task *withdrawn = NULL;
    refs_lock(&pool->lock);
    for (task *at = pool->first, *next; at != NULL; at = next) {
        next = at->next;
        if (at->group != NULL || at->drop != drop || !matches(at->argument, user)) continue;
        dequeue(pool, at);
        at->next = withdrawn;
        withdrawn = at;
    }
    refs_unlock(&pool->lock);
    drop_all(pool, withdrawn);
}

/* -- groups ------------------------------------------------------------------------------------ */

refs_status refs_group_open(refs_pool *pool, refs_group **group, refs_error *err) {
    refs_group *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->pool = pool;
    pthread_cond_init(&opened->finished, NULL);
    *group = opened;
    return REFS_OK;
}

void refs_group_prefer(refs_group *group, bool (*is_awaited)(const void *user), const void *user) {
    group->is_awaited = is_awaited;
    group->user = user;
}

void refs_group_free(refs_group *group) {
    if (group == NULL) return;
    (void)refs_group_wait(group, NULL);
    pthread_cond_destroy(&group->finished);
    refs_free(group);
}

static refs_status run_here(refs_group *group, refs_status (*run)(void *argument, refs_error *err),
                            void (*drop)(void *argument), void *argument) {
    if (group->error.status == REFS_OK) {
        refs_status status = run(argument, &group->error);
        (void)refs_fail(&group->error, status, "%s", refs_status_text(status));
    }
    if (drop != NULL) drop(argument);
    return REFS_OK;
}

refs_status refs_group_add(refs_group *group, refs_status (*run)(void *argument, refs_error *err),
                           void (*drop)(void *argument), void *argument, refs_error *err) {
    refs_pool *pool = group->pool;
    if (pool == NULL) return run_here(group, run, drop, argument);
    task *added =
        make_task(pool, &(task){.group = group, .run = run, .drop = drop, .argument = argument});
    if (added == NULL) {
        if (drop != NULL) drop(argument);
        return refs_fail_nomem(err);
    }
    REFS_LOCKED(&pool->lock);
    group->n_unfinished++;
    /* Without a worker, the task would never run, and the caller may wait for resources that it
     * holds. */
    if (!start_worker_for(pool, added)) perform(pool, added);
    return REFS_OK;
}

bool refs_group_failed(refs_group *group) {
    if (group->pool == NULL) return group->error.status != REFS_OK;
    REFS_LOCKED(&group->pool->lock);
    return group->error.status != REFS_OK;
}

refs_status refs_group_wait(refs_group *group, refs_error *err) {
    refs_pool *pool = group->pool;
    if (pool != NULL) {
        refs_lock(&pool->lock);
        while (group->n_unfinished > 0) {
            task *own = left_for(pool, group);
            if (own != NULL) {
                dequeue(pool, own);
                perform(pool, own);
            } else {
                refs_wait(&group->finished, &pool->lock);
            }
        }
        refs_unlock(&pool->lock);
    }
    return refs_fail(err, group->error.status, "%s", group->error.message);
}

/* -- numbered items ---------------------------------------------------------------------------- */

/* The known state of all items. */
typedef struct numbered_run {
    const refs_each *each;
    pthread_mutex_t lock;
    size_t n_failed;  /* 0: none; else the smallest number of an item that failed, plus one … */
    refs_error error; /* … and its failure */
} numbered_run;

typedef struct numbered {
    numbered_run *run;
    size_t number;
} numbered;

/* The item that fails first depends on timing: the failure with the smallest number is returned. */
static refs_status run_numbered(void *argument, refs_error *err) {
    const numbered *item = argument;
    numbered_run *run = item->run;
    refs_error error = REFS_ERROR_INIT;
    const refs_status status = run->each->run(run->each->user, item->number, &error);
    if (status == REFS_OK) return REFS_OK;
    (void)refs_fail(&error, status, "%s", refs_status_text(status));
    refs_lock(&run->lock);
    if (run->n_failed == 0 || item->number + 1 < run->n_failed) {
        run->n_failed = item->number + 1;
        run->error = error;
    }
    refs_unlock(&run->lock);
    return refs_fail(err, status, "%s", error.message);
}

static refs_status run_in(refs_pool *pool, numbered_run *run, numbered *items, refs_error *err) {
    refs_group *group = NULL;
    REFS_TRY(refs_group_open(pool, &group, err));
    refs_status added = REFS_OK;
    for (size_t i = 0; i < run->each->n && added == REFS_OK; i++) {
        items[i] = (numbered){run, i};
        added = refs_group_add(group, run_numbered, NULL, &items[i], err);
    }
    refs_error first = REFS_ERROR_INIT; /* also of an item that could not be run */
    (void)refs_group_wait(group, &first);
    refs_group_free(group);
    REFS_TRY(added);
    const refs_error *failure = run->n_failed > 0 ? &run->error : &first;
    return refs_fail(err, failure->status, "%s", failure->message);
}

refs_status refs_each_run(const refs_each *each, refs_error *err) {
    const size_t n = each->n_threads < each->n ? each->n_threads : each->n;
    refs_pool *pool = NULL;
    REFS_SCOPED numbered *items = refs_calloc(each->n + 1, sizeof *items);
    if (items == NULL) return refs_fail_nomem(err);
    numbered_run run = {.each = each, .error = REFS_ERROR_INIT};
    pthread_mutex_init(&run.lock, NULL);
    refs_status status = n > 1 ? refs_pool_open((unsigned)n, &pool, err) : REFS_OK;
    if (pool != NULL) refs_pool_set_context(pool, each->context);
    if (status == REFS_OK) status = run_in(pool, &run, items, err);
    refs_pool_free(pool);
    pthread_mutex_destroy(&run.lock);
    return status;
}
