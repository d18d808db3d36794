/* progress.c -- progress of reads in parts; see array.h. */
#include "refs/array.h"

static bool report_part(void *user, double done) {
    refs_progress_parts *parts = user;
    const double now = parts->begin + parts->share * done;
    if (now > parts->reached) parts->reached = now;
    return parts->whole->report(parts->whole->user, parts->reached);
}

void refs_progress_parts_init(refs_progress_parts *parts, const refs_progress *whole) {
    *parts = (refs_progress_parts){.whole = whole};
    if (whole != NULL && whole->report != NULL)
        parts->progress = (refs_progress){report_part, parts};
}

void refs_progress_parts_next(refs_progress_parts *parts, double share) {
    parts->begin += parts->share;
    parts->share = share;
}
