/* tasks.c -- background tasks, see array_object.h. */
#include "array_object.h"

/* The child of fork(2) has none of its parent's tasks. */
static void in_child(void *self) {
    refs_tasks *tasks = self;
    pthread_mutex_init(&tasks->lock, NULL);
    pthread_cond_init(&tasks->ended, NULL);
    tasks->n = 0;
}

void refs_tasks__init(refs_tasks *tasks) {
    pthread_mutex_init(&tasks->lock, NULL);
    pthread_cond_init(&tasks->ended, NULL);
    tasks->forked = (refs_forked){in_child, tasks, NULL, NULL};
    refs_fork_register(&tasks->forked);
}

void refs_tasks__clear(refs_tasks *tasks) {
    refs_lock(&tasks->lock);
    while (tasks->n > 0) refs_wait(&tasks->ended, &tasks->lock);
    refs_unlock(&tasks->lock);
    refs_fork_unregister(&tasks->forked);
    pthread_cond_destroy(&tasks->ended);
    pthread_mutex_destroy(&tasks->lock);
}

void refs_tasks__begin(refs_tasks *tasks) {
    REFS_LOCKED(&tasks->lock);
    tasks->n++;
}

void refs_tasks__end(refs_tasks *tasks) {
    REFS_LOCKED(&tasks->lock);
    if (--tasks->n == 0) pthread_cond_broadcast(&tasks->ended);
}
