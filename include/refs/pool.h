/* pool.h -- worker threads: one pool, many groups of tasks.
 *
 * A group is a set of tasks for which one caller waits. All groups share the pool's threads; a
 * caller that waits runs tasks of its group itself while the workers are busy, so a group completes
 * even if the pool has no threads.
 *
 * Safe from any thread. After fork(2) the child starts new workers; it must not use groups that
 * other threads of its parent opened.
 *
 * Read before this: error.h.
 */
#ifndef REFS_POOL_H
#define REFS_POOL_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct refs_pool refs_pool;

/** A pool of `n_threads` workers, 0 for none; they start when they are first needed. */
refs_status refs_pool_open(unsigned n_threads, refs_pool **pool, refs_error *err);

/** Ends the workers; all groups must have been freed. Tasks of refs_pool_run that have not begun
 * are dropped. */
void refs_pool_free(refs_pool *pool);

unsigned refs_pool_n_threads(const refs_pool *pool);

/** Passes thread-local state, such as options of a thread, from the thread that adds a task to the
 * one that runs it. All functions may be called from any thread. */
typedef struct refs_task_context {
    /** Called on the thread that adds a task; NULL: memory ran out, and the task is not added. */
    void *(*capture)(void);

    /** Called before and after the task, on the thread that runs it. `captured` is the result of
     * `capture`, `outer` that of `enter`; if `enter` returns NULL, memory ran out and the task is
     * not run (REFS_NOMEM). */
    void *(*enter)(void *captured);
    void (*leave)(void *outer);

    /** Frees a result of `capture`, once for each that is not NULL. */
    void (*release)(void *captured);
} refs_task_context;

/** Captures `context` for each task that is added from now on; NULL, the default: for no task.
 * `context` must outlive the pool. Call this before the first task is added. */
void refs_pool_set_context(refs_pool *pool, const refs_task_context *context);

/** Runs a background task, with lower priority than tasks of groups: `run(argument, NULL)` is
 * called once on a worker, or not at all if the pool has no threads, ends, or memory ran out;
 * `drop(argument)` is called after it in either case. */
void refs_pool_run(refs_pool *pool, refs_status (*run)(void *argument, refs_error *err),
                   void (*drop)(void *argument), void *argument);

/** Withdraws tasks that were added by refs_pool_run with this `drop` and have not begun: those
 * whose argument satisfies `matches(argument, user)`, which is called under a lock, are dropped
 * before this returns. Other tasks are not affected; running tasks are not waited for. */
void refs_pool_withdraw(refs_pool *pool, void (*drop)(void *argument),
                        bool (*matches)(const void *argument, const void *user), const void *user);

typedef struct refs_group refs_group;

/** A group of tasks in `pool` (NULL: refs_group_add runs each task itself). */
refs_status refs_group_open(refs_pool *pool, refs_group **group, refs_error *err);

/** Gives tasks of the group priority over other groups while `is_awaited(user)` returns true. It is
 * called from any thread until the group is freed, under a lock: it must only look something up.
 * Call this before the first task is added. */
void refs_group_prefer(refs_group *group, bool (*is_awaited)(const void *user), const void *user);

/** Waits for all tasks of the group and frees it. */
void refs_group_free(refs_group *group);

/** Adds a task: `run(argument, err)` is called once on some thread, or not at all if a task of the
 * group has failed before; `drop(argument)`, unless NULL, is called after it in either case. */
refs_status refs_group_add(refs_group *group, refs_status (*run)(void *argument, refs_error *err),
                           void (*drop)(void *argument), void *argument, refs_error *err);

/** Whether a task of the group has failed: tasks added later are not run. */
bool refs_group_failed(refs_group *group);

/** Waits for all tasks added so far; returns the first failure among them. */
refs_status refs_group_wait(refs_group *group, refs_error *err);

/** Items, numbered from 0, that are processed in parallel. */
typedef struct refs_each {
    refs_status (*run)(void *user, size_t number, refs_error *err); /**< on any thread */
    void *user;
    size_t n;
    unsigned n_threads;               /**< 0, 1: the calling thread alone */
    const refs_task_context *context; /**< passed on from the calling thread, or NULL */
} refs_each;

/** Runs each item once, on threads that end with the call; items begin in the order of their
 * numbers, and none after a failure. Returns the failure of the item with the least number, so that
 * it does not depend on timing. */
refs_status refs_each_run(const refs_each *each, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
