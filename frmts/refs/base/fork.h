/* fork.h -- fork(2) in a process with threads: no child inherits a held lock, and state that refers
 * to threads of the parent is repaired in the child.
 *
 * A child of fork(2) has one thread, the one that forked. Work of its parent's other threads is
 * never finished there: a lock that one of them held would stay locked, and a wait for one of them
 * would never end. Therefore
 *
 * - no fork happens while a thread is in a critical section, from refs_lock to refs_unlock or from
 *   refs_fork_hold_off to refs_fork_allow: fork(2) waits until all threads have left theirs, and
 *   threads that enter one wait until the fork is done. In the child, no lock is held, and all that
 *   locks guard is consistent. Calls into libraries with locks of their own are critical sections,
 *   too;
 * - objects that wait for other threads are registered, and repaired in the child.
 *
 * In a critical section a thread must not wait for another one, except by refs_wait, which leaves
 * the section while it waits. Critical sections are short, except for calls into libraries.
 *
 * The child initialises the condition variables of registered objects, and their locks, again: at
 * the time of the fork, a thread of the parent may be waking up from a wait on one.
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

/** Lock and unlock; the code between is a critical section. */
void refs_lock(pthread_mutex_t *lock);
void refs_unlock(pthread_mutex_t *lock);

/** Locks until the end of the scope; at most once in a scope. A return expression is evaluated
 * before the lock is released. */
#define REFS_LOCKED(lock)                                                                          \
    __attribute__((cleanup(refs_unlock_at), unused)) pthread_mutex_t *refs_locked_ =               \
        refs_lock_at(lock)
pthread_mutex_t *refs_lock_at(pthread_mutex_t *lock);
void refs_unlock_at(pthread_mutex_t *const *lock);

/** The number of locks that this thread holds by refs_lock. Under a lock, no file is read, no
 * request is sent and no function of the application is called: other threads would wait for the
 * lock meanwhile, and the called code might need it itself. */
unsigned refs_locks_held(void);

/** Aborts if this thread holds a lock, in builds with -DREFS_ASSERT_LOCKS (preset asan). */
void refs_assert_unlocked(void);

/** Waits for `changed` with `lock` held, in no other critical section; may wake without cause. */
void refs_wait(pthread_cond_t *changed, pthread_mutex_t *lock);

/** Initialises a condition variable for refs_wait_until and refs_wait_ms, with the monotonic
 * clock. */
void refs_cond_init(pthread_cond_t *changed);

/** The moment in `ms` milliseconds. */
struct timespec refs_deadline(unsigned ms);

/** Works like refs_wait, at most until `until`; false after a timeout. */
bool refs_wait_until(pthread_cond_t *changed, pthread_mutex_t *lock, const struct timespec *until);

/** The same, for at most `ms` milliseconds. */
bool refs_wait_ms(pthread_cond_t *changed, pthread_mutex_t *lock, unsigned ms);

/** Works like pthread_create. Signals stay with the threads of the application: the new thread
 * takes none but those that its own instructions raise, and those of profilers. */
int refs_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/** An object that is repaired in children. */
typedef struct refs_forked {
    void (*in_child)(void *self); /**< called in the child, in its only thread; must neither
                                     allocate nor free memory */
    void *self;
    struct refs_forked *next, *previous;
} refs_forked;

/** Registers `entry`, whose first two members are set. Unregister it before anything is freed that
 * `in_child` uses. */
void refs_fork_register(refs_forked *entry);
void refs_fork_unregister(refs_forked *entry);

#ifdef __cplusplus
}
#endif
#endif
