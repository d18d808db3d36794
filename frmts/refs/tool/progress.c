/* progress.c -- items that are worked on several at a time, and how far a run is, on a terminal. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "refs/fork.h"
#include "refs/now.h"
#include "refs/pool.h"
#include "tool.h"

#define BETWEEN_MS 100

typedef struct progress {
    const tool_work *work;
    bool is_on;
    pthread_mutex_t lock; /* guards what follows */
    size_t done;
    int64_t begin_ms, shown_ms;
} progress;

static void show(progress *at) {
    const tool_work *work = at->work;
    const int64_t now = (int64_t)refs_now_ms(), elapsed = now - at->begin_ms;
    if (now - at->shown_ms < BETWEEN_MS && at->done < work->n) return;
    at->shown_ms = now;
    const double rate = elapsed > 0 ? (double)at->done * 1000 / (double)elapsed : 0;
    const size_t done = work->n_before + at->done, n = work->n_all > 0 ? work->n_all : work->n;
    const double left = rate > 0 && done < n ? (double)(n - done) / rate : 0;
    fprintf(stderr, "\r%zu of %zu %s, %.0f a second, %.0f s left   ", done, n, work->items, rate,
            left);
}

static refs_status run_item(void *user, size_t number, refs_error *err) {
    progress *at = user;
    REFS_TRY(tool_check_interrupted(err));
    const refs_status status = at->work->run(at->work->user, number, err);
    refs_lock(&at->lock);
    at->done++;
    if (at->is_on) show(at);
    refs_unlock(&at->lock);
    return status;
}

refs_status tool_work_run(const tool_work *work, refs_error *err) {
    uint64_t n_threads = work->n_threads;
    if (!tool_number(work->arguments->threads, "threads", n_threads, &n_threads))
        return refs_fail(err, REFS_INVALID, "--threads cannot be read");
    progress at = {.work = work,
                   .is_on = !work->arguments->quiet && work->n > 1 && isatty(STDERR_FILENO),
                   .begin_ms = (int64_t)refs_now_ms()};
    const refs_each each = {.run = run_item,
                            .user = &at,
                            .n = work->n,
                            .n_threads = n_threads < UINT_MAX ? (unsigned)n_threads : UINT_MAX};
    pthread_mutex_init(&at.lock, NULL);
    const refs_status status = refs_each_run(&each, err);
    pthread_mutex_destroy(&at.lock);
    if (at.is_on) fprintf(stderr, "\r\033[K");
    return status;
}
