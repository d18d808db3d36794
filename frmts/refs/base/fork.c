/* fork.c -- see fork.h. */
#include "refs/fork.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* The number of threads in a critical section, and whether a fork is pending or under way. A thread
 * increments n_inside before it checks forking, and a fork sets forking before it checks
 * n_inside, so at least one of them sees the other. */
static _Atomic unsigned n_inside;
static _Atomic bool forking;
static _Thread_local unsigned depth; /* of this thread's critical sections */
static _Thread_local unsigned n_locks;

/* For threads that wait until either changes. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* guards first */
static refs_forked *first;

/* -- critical sections ------------------------------------------------------------------------- */

static void step_out(void) {
    if (atomic_fetch_sub(&n_inside, 1) > 1 || !atomic_load(&forking)) return;
    pthread_mutex_lock(&gate);
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&gate);
}

static void await_end_of_fork(void) {
    pthread_mutex_lock(&gate);
    while (atomic_load(&forking)) pthread_cond_wait(&moved, &gate);
    pthread_mutex_unlock(&gate);
}

void refs_fork_hold_off(void) {
    if (depth++ > 0) return;
    atomic_fetch_add(&n_inside, 1);
    while (atomic_load(&forking)) {
        step_out();
        await_end_of_fork();
        atomic_fetch_add(&n_inside, 1);
    }
}

void refs_fork_allow(void) {
    if (--depth == 0) step_out();
}

void refs_lock(pthread_mutex_t *lock) {
    refs_fork_hold_off();
    pthread_mutex_lock(lock);
    n_locks++;
}

void refs_unlock(pthread_mutex_t *lock) {
    n_locks--;
    pthread_mutex_unlock(lock);
    refs_fork_allow();
}

pthread_mutex_t *refs_lock_at(pthread_mutex_t *lock) {
    refs_lock(lock);
    return lock;
}

void refs_unlock_at(pthread_mutex_t *const *lock) {
    refs_unlock(*lock);
}

unsigned refs_locks_held(void) {
    return n_locks;
}

void refs_assert_unlocked(void) {
#ifdef REFS_ASSERT_LOCKS
    assert(n_locks == 0);
#endif
}

/* A thread that wakes holds the lock, but is in no critical section until it has released the lock
 * and entered one. */
void refs_wait(pthread_cond_t *changed, pthread_mutex_t *lock) {
    refs_fork_allow();
    n_locks--;
    pthread_cond_wait(changed, lock);
    pthread_mutex_unlock(lock);
    refs_lock(lock);
}

void refs_cond_init(pthread_cond_t *changed) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec refs_deadline(unsigned ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

bool refs_wait_until(pthread_cond_t *changed, pthread_mutex_t *lock, const struct timespec *until) {
    refs_fork_allow();
    n_locks--;
    bool in_time = pthread_cond_timedwait(changed, lock, until) == 0;
    pthread_mutex_unlock(lock);
    refs_lock(lock);
    return in_time;
}

bool refs_wait_ms(pthread_cond_t *changed, pthread_mutex_t *lock, unsigned ms) {
    const struct timespec until = refs_deadline(ms);
    return refs_wait_until(changed, lock, &until);
}

/* -- the fork ---------------------------------------------------------------------------------- */

/* If the application forks in a callback of the core, its thread is in a critical section itself,
 * which must block neither this fork nor that of another thread. */
static void before_fork(void) {
    pthread_mutex_lock(&gate);
    if (depth > 0) atomic_fetch_sub(&n_inside, 1);
    pthread_cond_broadcast(&moved);
    while (atomic_load(&forking)) pthread_cond_wait(&moved, &gate);
    atomic_store(&forking, true);
    while (atomic_load(&n_inside) > 0) pthread_cond_wait(&moved, &gate);
    pthread_mutex_unlock(&gate);
}

static void after_fork_in_parent(void) {
    pthread_mutex_lock(&gate);
    if (depth > 0) atomic_fetch_add(&n_inside, 1);
    atomic_store(&forking, false);
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&gate);
}

static void after_fork_in_child(void) {
    pthread_mutex_init(&gate, NULL);
    pthread_cond_init(&moved, NULL);
    atomic_store(&n_inside, depth > 0 ? 1 : 0);
    atomic_store(&forking, false);
    for (const refs_forked *entry = first; entry != NULL; entry = entry->next)
        entry->in_child(entry->self);
}

/* -- threads ----------------------------------------------------------------------------------- */

int refs_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument) {
    static const int of_thread[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof of_thread / sizeof *of_thread; i++)
        sigdelset(&blocked, of_thread[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const int failure = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

/* -- registration ------------------------------------------------------------------------------ */

static void install(void) {
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void refs_fork_register(refs_forked *entry) {
    static pthread_once_t installed = PTHREAD_ONCE_INIT;
    (void)pthread_once(&installed, install);
    refs_lock(&list_lock);
    entry->previous = NULL;
    entry->next = first;
    if (first != NULL) first->previous = entry;
    first = entry;
    refs_unlock(&list_lock);
}

void refs_fork_unregister(refs_forked *entry) {
    refs_lock(&list_lock);
    *(entry->previous != NULL ? &entry->previous->next : &first) = entry->next;
    if (entry->next != NULL) entry->next->previous = entry->previous;
    refs_unlock(&list_lock);
}
