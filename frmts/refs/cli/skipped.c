/* skipped.c -- see skipped.h. */
#include "skipped.h"

#include <string.h>

#include "refs/fork.h"

void tool_skipped_open(const tool_arguments *arguments, tool_skipped *skipped) {
    *skipped = (tool_skipped){.arguments = arguments};
    pthread_mutex_init(&skipped->lock, NULL);
}

refs_status tool_skipped_expand(tool_skipped *skipped, const tool_session *session,
                                const refs_name_list *arguments, tool_names *names,
                                refs_error *err) {
    tool_names *messages = skipped->arguments->skip_errors ? &skipped->messages : NULL;
    const bool may_be_empty = strcmp(skipped->arguments->verb, "append") == 0;
    const size_t before = names->n;
    const refs_status status = tool_expand(session, arguments, names, messages, err);
    skipped->n_not_sources = skipped->messages.n;
    if (status != REFS_OK || names->n > before) return status;
    if (skipped->n_not_sources > 0)
        return refs_fail(err, REFS_INVALID, "expected at least one source: all %zu were left out",
                         skipped->n_not_sources);
    return may_be_empty ? REFS_OK : refs_fail(err, REFS_INVALID, "expected at least one source");
}

bool tool_skipped_has_none(const tool_skipped *skipped, size_t n) {
    const refs_notes notes = {tool_note, NULL};
    if (n == 0 && !skipped->arguments->quiet)
        refs_note(&notes, REFS_NOTE_WARNING, "no sources: nothing to add");
    return n == 0;
}

bool tool_may_skip(const tool_skipped *skipped, refs_status status) {
    return status != REFS_OK && status != REFS_NOMEM && status != REFS_CANCELLED &&
           tool_go_on(NULL) && skipped->arguments->skip_errors;
}

refs_status tool_skip(tool_skipped *skipped, refs_status status, const refs_error *problem,
                      refs_error *err) {
    if (!tool_may_skip(skipped, status)) return refs_fail(err, status, "%s", problem->message);
    REFS_LOCKED(&skipped->lock);
    status = tool_names_add(&skipped->messages, refs_str_from(problem->message), err);
    return status;
}

void tool_skipped_forget(tool_skipped *skipped) {
    tool_names *messages = &skipped->messages;
    while (messages->n > skipped->n_not_sources) refs_free(messages->items[--messages->n]);
}

refs_status tool_skipped_check(const tool_skipped *skipped, size_t n, refs_error *err) {
    const size_t first = skipped->n_not_sources;
    if (skipped->messages.n - first < n || skipped->messages.n == first) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "none of the sources could be read: %s",
                     skipped->messages.items[first]);
}

void tool_skipped_drop(tool_skipped *skipped) {
    tool_names_clear(&skipped->messages);
    pthread_mutex_destroy(&skipped->lock);
}

static void tell_known(const tool_skipped *skipped) {
    const refs_notes notes = {tool_note, NULL};
    const size_t n = skipped->n_known;
    if (n > 0 && !skipped->arguments->quiet)
        refs_note(&notes, REFS_NOTE_WARNING, "%zu source%s left out: %s has %s, unchanged", n,
                  n == 1 ? "" : "s", skipped->arguments->names.items[0], n == 1 ? "it" : "them");
}

tool_exit tool_skipped_finish(tool_skipped *skipped, const refs_staged_guard *guard,
                              refs_status status, const refs_error *err) {
    const bool are_all_added = status == REFS_OK && skipped->messages.n == 0;
    const bool is_to_end = status == REFS_OK || status == REFS_CANCELLED || !tool_go_on(NULL);
    if (!is_to_end && !refs_staged_guard_holds(guard)) {
        tool_skipped_drop(skipped);
        return TOOL_CONFLICT;
    }
    tell_known(skipped);
    for (size_t i = 0; i < skipped->messages.n; i++)
        tool_tell("left out: ", "SKIPPED", skipped->messages.items[i]);
    if (status != REFS_OK) tool_complain(err);
    tool_skipped_drop(skipped);
    return are_all_added ? TOOL_OK : TOOL_FAILED;
}
