/* watch.h -- a refs_vfs that records the validators of all files it opens, and detects changes.
 *
 * A watch records the validators of everything that is opened through it: size, times, inode. If a
 * file was replaced since, and is not held, reading it fails, so that old and new content are never
 * mixed. refs_watch_is_current compares the current validators of all files with the recorded ones.
 *
 * Relative names of local files are resolved against the working directory at the time when the
 * watch was opened.
 *
 * Only validators that are known without a request to another machine are recorded. Safe from any
 * thread.
 *
 * Read before this: vfs.h.
 */
#ifndef REFS_WATCH_H
#define REFS_WATCH_H

#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most locations whose validators a watch records: with more, refs_watch_is_current cannot be
 * certain. */
#define REFS_WATCH_MAX_LOCATIONS 16384

typedef struct refs_watch refs_watch;

/** A watch over `vfs`, which must outlive it. */
refs_status refs_watch_open(const refs_vfs *vfs, refs_watch **watch, refs_error *err);
void refs_watch_free(refs_watch *watch);

/** Declares that the process never changes its working directory: getcwd is not called again. */
void refs_watch_stay(refs_watch *watch);

/** The functions of the watched vfs. Opening and reading fail with REFS_CHANGED if a location has
 * another size or time than when it was first opened. Before a location is first opened,
 * refs_vfs.forget drops cached content of it. */
const refs_vfs *refs_watch_functions(const refs_watch *watch);

/** Holds a local file that was opened: if another file replaces it, reads continue in the held one,
 * which is no longer current. Takes a file descriptor; does nothing if the system cannot reopen one
 * (/proc/self/fd), or if another location is held. Call it before other threads use the watch. For
 * held files, refs_vfs.peek returns as changed_* the time when the watch, or the one from which it
 * was taken over, was opened, because the ctime changes when a file loses its name. */
void refs_watch_hold(refs_watch *watch, const char *location);

/** Copies the recorded validators of `location` from `other` to a watch that has not opened it, and
 * holds it if `other` does. Does nothing if `other` has not opened it either. */
void refs_watch_expect(refs_watch *watch, refs_watch *other, const char *location);

/** The same for all locations that `other` has opened. */
void refs_watch_expect_all(refs_watch *watch, refs_watch *other);

/** Drops the recorded validators of `location`, and of everything in it if it is a folder: they are
 * recorded again when it is next opened. Reads of files that are still open fail. */
void refs_watch_forget(refs_watch *watch, const char *location);

/** Counts of a watch. */
typedef struct refs_watch_sum {
    uint64_t locations; /**< locations that were opened, or failed to open */
    uint64_t unknown;   /**< of these, locations without validators */
} refs_watch_sum;

refs_watch_sum refs_watch_sum_of(refs_watch *watch);

/** Whether all locations with validators are unchanged, and absent ones are still absent. False if
 * one had changed within REFS_SETTLED_S (validators.h) before it was opened: a later change may
 * have the same time. */
bool refs_watch_is_current(refs_watch *watch);

#ifdef __cplusplus
}
#endif
#endif
