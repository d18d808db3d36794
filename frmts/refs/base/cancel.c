/* cancel.c -- see cancel.h and cancel_wait.h. */
#include "cancel_wait.h"

refs_status refs_check_cancelled(const refs_cancel_check *check, refs_error *err) {
    refs_assert_unlocked();
    if (check == NULL || check->go_on == NULL || check->go_on(check->user)) return REFS_OK;
    return refs_fail(err, REFS_CANCELLED, "interrupted");
}

static _Thread_local const refs_cancel_scope *innermost;

void refs_cancel_scope_begin(refs_cancel_scope *scope, refs_cancel_check check) {
    *scope = (refs_cancel_scope){check, innermost};
    innermost = scope;
}

void refs_cancel_scope_end(const refs_cancel_scope *scope) {
    innermost = scope->outer;
}

bool refs_cancel_scope_is_any(void) {
    for (const refs_cancel_scope *scope = innermost; scope != NULL; scope = scope->outer)
        if (scope->check.go_on != NULL) return true;
    return false;
}

refs_status refs_cancel_scope_check(refs_error *err) {
    const refs_cancel_scope *const first = innermost;
    refs_status status = REFS_OK;
    innermost = NULL;
    for (const refs_cancel_scope *scope = first; scope != NULL && status == REFS_OK;
         scope = scope->outer)
        status = refs_check_cancelled(&scope->check, NULL);
    innermost = first;
    return status == REFS_OK ? REFS_OK : refs_fail(err, REFS_CANCELLED, "cancelled");
}

refs_status refs_cancel_scope_wait(pthread_cond_t *changed, pthread_mutex_t *lock,
                                   refs_error *err) {
    if (!refs_cancel_scope_is_any()) {
        refs_wait(changed, lock);
        return REFS_OK;
    }
    (void)refs_wait_ms(changed, lock, REFS_CANCEL_POLL_MS);
    refs_unlock(lock);
    const refs_status status = refs_cancel_scope_check(err);
    refs_lock(lock);
    return status;
}
