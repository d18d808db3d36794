/* watch.h -- whether what was read is still as it was: a refs_vfs that remembers.
 *
 * Everything that is opened through a watch is noted with its validators: its size, its times, its
 * number. A file that was replaced since, and is not held, is an error and not a mixture of old and
 * new; and a question, one validators for each, tells whether all is as it was.
 *
 * Relative names of local files mean what they meant when the watch was opened, wherever the
 * process goes.
 *
 * Only what the host knows without asking another machine is noted. Safe from any thread.
 *
 * Read before this: vfs.h.
 */
#ifndef REFS_WATCH_H
#define REFS_WATCH_H

#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The number of locations of which a watch remembers validators: further ones are not known to be
 * current. */
#define REFS_WATCH_MAX_LOCATIONS 16384

typedef struct refs_watch refs_watch;

/** A watch over `vfs`, which must outlive it. */
refs_status refs_watch_open(const refs_vfs *vfs, refs_watch **watch, refs_error *err);
void refs_watch_free(refs_watch *watch);

/** Those of the refs_vfs below, which note what is opened. Opening and reading fail with
 * REFS_CHANGED where a location has another size or time than when it was first opened. The cache
 * of an application for a location (refs_vfs.forget) is dropped before it is opened first. */
const refs_vfs *refs_watch_functions(const refs_watch *watch);

/** Holds on to a local file that was opened, as it was then: where another file gets its name, it
 * is read on, and no longer current. Takes a file descriptor; does nothing where the system cannot
 * open one again (/proc/self/fd), and where another location is held. Called before other threads
 * use the watch. For held files refs_vfs.peek gives as changed_* when the watch was opened, or the
 * one from which it was taken over: a file changes when it loses its name. */
void refs_watch_hold(refs_watch *watch, const char *location);

/** Has a watch, which has not seen `location`, expect it as `other` saw it first, and holds on to
 * it as that does. Does nothing where that has not seen it either. */
void refs_watch_expect(refs_watch *watch, refs_watch *other, const char *location);

/** The same of all locations that `other` has seen. */
void refs_watch_expect_all(refs_watch *watch, refs_watch *other);

/** Forgets what was seen of `location`, and of what is in that folder: they may be opened as they
 * are now, and do not count as changed before they change again. Files of them that are still open
 * fail when they are read on. */
void refs_watch_forget(refs_watch *watch, const char *location);

/** The states that a watch has seen. */
typedef struct refs_watch_sum {
    uint64_t locations; /**< that were opened, or were to be */
    uint64_t unknown;   /**< of them, those of which nothing is known */
} refs_watch_sum;

refs_watch_sum refs_watch_sum_of(refs_watch *watch);

/** Whether all locations of which something is known are as they were, those that were absent
 * still absent. False where one had changed within REFS_SETTLED_S (validators.h) before it was
 * opened: a later change may have left the same time. */
bool refs_watch_is_current(refs_watch *watch);

#ifdef __cplusplus
}
#endif
#endif
