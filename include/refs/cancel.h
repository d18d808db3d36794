/* cancel.h -- whether work is still requested: one way to ask, wherever a thread waits.
 *
 * Read before this: error.h.
 */
#ifndef REFS_CANCEL_H
#define REFS_CANCEL_H

#include "refs/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Asks the caller whether work is still requested. Called regularly while something waits, on any
 * thread, also on several at once: it must only look something up. */
typedef struct refs_cancel_check {
    bool (*go_on)(void *user); /**< false: the work ends with REFS_CANCELLED; NULL: always true */
    void *user;
} refs_cancel_check;

/** Milliseconds between two calls of go_on while a thread waits. */
#define REFS_CANCEL_POLL_MS 50

/** REFS_CANCELLED once the work is no longer requested; `check` may be NULL. */
refs_status refs_check_cancelled(const refs_cancel_check *check, refs_error *err);

/** While a scope lasts, every wait of its thread (for servers, for memory, for another thread that
 * loads the same data) calls `check` on this thread, before it begins and every
 * REFS_CANCEL_POLL_MS, and ends with REFS_CANCELLED once that returns false. Scopes nest: the
 * checks of outer ones are called, too. During a check its thread has no scope, so the check itself
 * may read. */
typedef struct refs_cancel_scope {
    refs_cancel_check check;
    const struct refs_cancel_scope *outer;
} refs_cancel_scope;

/** Begins and ends a scope, on one thread and properly nested. `scope` stays where it is. */
void refs_cancel_scope_begin(refs_cancel_scope *scope, refs_cancel_check check);
void refs_cancel_scope_end(const refs_cancel_scope *scope);

/** Whether a scope of this thread has a check. */
bool refs_cancel_scope_is_any(void);

/** REFS_CANCELLED if the check of a scope of this thread returns false. */
refs_status refs_cancel_scope_check(refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
