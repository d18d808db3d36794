/* fork.h -- fork(2) while threads work: locks that no child inherits held, and what a child mends.
 *
 * A child of fork(2) has one thread, the one that forked. Work that its parent's other threads had
 * begun is never finished there: a lock that one of them held stays locked, and a wait for one of
 * them never ends. So
 *
 * - no fork happens while a thread is in a critical section, from refs_lock to
 *   refs_unlock or from refs_fork_hold_off to refs_fork_allow: fork(2) waits
 *   until all threads have left theirs, and threads that come to one wait
 *   until it is done. In the child all that locks guard is whole, and no lock
 *   is held. Calls into libraries with locks of their own are such critical sections;
 * - what waits for other threads is registered, and repaired in the child: nobody
 *   loads, runs or answers anything there any more.
 *
 * In a critical section a thread waits for no other one, but by refs_wait, which leaves
 * it meanwhile. Stretches are short, or as long as a library takes.
 *
 * Condition variables of what is registered, and the locks that guard them, are
 * made again in the child: a thread may wake and be about to give the lock back
 * when the fork happens.
 *
 * Safe from any thread.
 *
 * Read before this: error.h.
 */
#ifndef REFS_FORK_H
#define REFS_FORK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Begins and ends a critical section. They nest. */
void refs_fork_hold_off(void);
void refs_fork_allow(void);

/** Locks and unlocks; what lies between is a critical section. */
void refs_lock(pthread_mutex_t *lock);
void refs_unlock(pthread_mutex_t *lock);

/** Locks until its scope ends; once in a scope. What a function returns is computed before. */
#define REFS_LOCKED(lock)                                                                          \
    __attribute__((cleanup(refs_unlock_at), unused)) pthread_mutex_t *refs_locked_ =               \
        refs_lock_at(lock)
pthread_mutex_t *refs_lock_at(pthread_mutex_t *lock);
void refs_unlock_at(pthread_mutex_t *const *lock);

/** How many locks this thread holds by refs_lock. No file is read, no server is asked and no
 * function of the application is called under one: other threads that come to it would wait, and
 * what is called may come to it itself. */
unsigned refs_locks_held(void);

/** Ends the program where this thread holds one, in debug builds with -DREFS_ASSERT_LOCKS: those of
 * the preset asan. */
void refs_assert_unlocked(void);

/** Waits for `changed` with `lock` held, in no other critical section; may wake without cause. */
void refs_wait(pthread_cond_t *changed, pthread_mutex_t *lock);

/** Makes a condition variable for refs_wait_until and refs_wait_ms: it waits by the monotonic
 * clock, which nobody sets. */
void refs_cond_init(pthread_cond_t *changed);

/** The moment in `ms` milliseconds. */
struct timespec refs_deadline(unsigned ms);

/** Works like refs_wait, at most until a moment; false where it has come. */
bool refs_wait_until(pthread_cond_t *changed, pthread_mutex_t *lock, const struct timespec *until);

/** The same, at most for `ms` milliseconds. */
bool refs_wait_ms(pthread_cond_t *changed, pthread_mutex_t *lock, unsigned ms);

/** Works like pthread_create. Signals stay with the threads of the application: the new thread
 * takes none but those that its own instructions raise, and those of profilers. */
int refs_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/** Something that is to be mended in children. */
typedef struct refs_forked {
    void (*in_child)(void *self); /**< called in the child, in its only thread; neither takes
                                       memory nor gives it back */
    void *self;
    struct refs_forked *next, *previous;
} refs_forked;

/** Registers `entry`, of which the first two members are set, and unregisters it: before anything
 * ends that `in_child` uses. */
void refs_fork_register(refs_forked *entry);
void refs_fork_unregister(refs_forked *entry);

#ifdef __cplusplus
}
#endif
#endif
