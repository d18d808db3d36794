/* cancel_wait.h -- waits for other threads that cancel scopes can end.
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

/** Works like refs_wait, but in a thread whose scopes have a check, it waits at most
 * REFS_CANCEL_POLL_MS and returns REFS_CANCELLED if a check returns false. `changed` is made by
 * refs_cond_init. `lock` is not held during a check. */
refs_status refs_cancel_scope_wait(pthread_cond_t *changed, pthread_mutex_t *lock, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
