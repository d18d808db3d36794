/* cancel_wait.h -- waits for other threads that cancel scopes end.
 *
 * Read before this: fork.h, refs/cancel.h.
 */
#ifndef REFS_CANCEL_WAIT_H
#define REFS_CANCEL_WAIT_H

#include "refs/cancel.h"
#include "refs/fork.h"

#ifdef __cplusplus
extern "C" {
#endif

/** As refs_wait, or, in a thread whose scopes have a check, for a moment: REFS_CANCELLED where one
 * says so. `changed` is made by refs_cond_init. `lock` is not held while a scope is asked. */
refs_status refs_cancel_scope_wait(pthread_cond_t *changed, pthread_mutex_t *lock, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
