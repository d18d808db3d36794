/* progress.c -- how far a run is, on a terminal. */
#include <stdio.h>
#include <unistd.h>

#include "refs/now.h"
#include "tool.h"

#define BETWEEN_MS 100

void tool_progress_begin(tool_progress *progress, size_t n, bool is_quiet) {
    *progress = (tool_progress){.is_on = !is_quiet && n > 1 && isatty(STDERR_FILENO), .n = n};
    progress->begin_ms = (int64_t)refs_now_ms();
}

void tool_progress_step(tool_progress *progress) {
    progress->done++;
    int64_t now = (int64_t)refs_now_ms(), elapsed = now - progress->begin_ms;
    if (!progress->is_on || (now - progress->shown_ms < BETWEEN_MS && progress->done < progress->n))
        return;
    progress->shown_ms = now;
    double rate = elapsed > 0 ? (double)progress->done * 1000 / (double)elapsed : 0;
    double left = rate > 0 ? (double)(progress->n - progress->done) / rate : 0;
    fprintf(stderr, "\r%zu of %zu sources, %.0f a second, %.0f s left   ", progress->done,
            progress->n, rate, left);
}

void tool_progress_end(tool_progress *progress) {
    if (progress->is_on) fprintf(stderr, "\r\033[K");
    progress->is_on = false;
}
