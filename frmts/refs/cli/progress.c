/* progress.c -- runs items in parallel, and shows the progress of a run on a terminal. */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "refs/now.h"
#include "refs/pool.h"
#include "tool.h"

#define BETWEEN_MS 100

typedef struct progress {
    const tool_work *work;
    bool is_on;
    int64_t begin_ms;
    atomic_size_t n_done;
    _Atomic int64_t shown_ms;
} progress;

/* Shows progress on one thread at a time: another thread has nothing newer to show. */
static void show(progress *at, size_t n_done) {
    const tool_work *work = at->work;
    const int64_t now = (int64_t)refs_now_ms(), elapsed = now - at->begin_ms;
    int64_t shown = atomic_load(&at->shown_ms);
    if ((now - shown < BETWEEN_MS && n_done < work->n) ||
        !atomic_compare_exchange_strong(&at->shown_ms, &shown, now))
        return;
    const double rate = elapsed > 0 ? (double)n_done * 1000 / (double)elapsed : 0;
    const size_t done = work->n_before + n_done, n = work->n_all > 0 ? work->n_all : work->n;
    const double left = rate > 0 && done < n ? (double)(n - done) / rate : 0;
    fprintf(stderr, "\r%zu of %zu %s, %.0f a second, %.0f s left   ", done, n, work->items, rate,
            left);
}

static refs_status run_item(void *user, size_t number, refs_error *err) {
    progress *at = user;
    REFS_TRY(tool_check_interrupted(err));
    const refs_status status = at->work->run(at->work->user, number, err);
    const size_t n_done = atomic_fetch_add(&at->n_done, 1) + 1;
    if (at->is_on) show(at, n_done);
    return status;
}

refs_status tool_work_run(const tool_work *work, refs_error *err) {
    uint64_t n_threads = tool_number(work->arguments->threads, work->n_threads);
    if (work->n_max > 0 && n_threads > work->n_max) n_threads = work->n_max;
    progress shown = {.work = work,
                      .is_on = !work->arguments->quiet && work->n > 1 && isatty(STDERR_FILENO),
                      .begin_ms = (int64_t)refs_now_ms()};
    const refs_each each = {.run = run_item,
                            .user = &shown,
                            .n = work->n,
                            .n_threads = n_threads < UINT_MAX ? (unsigned)n_threads : UINT_MAX};
    const refs_status status = refs_each_run(&each, err);
    if (shown.is_on) fprintf(stderr, "\r\033[K");
    return status;
}
