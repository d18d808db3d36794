/* skipped.h -- sources that --skip-errors leaves out, and messages about them.
 *
 * Read before this: tool.h. */
#ifndef REFS_CLI_SKIPPED_H
#define REFS_CLI_SKIPPED_H

#include <pthread.h>

#include "refs/staged.h"
#include "tool.h"

typedef struct tool_skipped {
    const tool_arguments *arguments;
    pthread_mutex_t lock; /**< guards what follows while sources are read */
    tool_names messages;
    size_t n_known; /**< sources without a message: the output has them, and they are unchanged */
    size_t n_not_sources; /**< number of leading messages about names that never became a source */
} tool_skipped;

/** End with tool_skipped_finish or tool_skipped_drop. */
void tool_skipped_open(const tool_arguments *arguments, tool_skipped *skipped);

/** Works like tool_expand, for the names of a verb that leaves sources out if its options say so.
 * Only append may get none. */
refs_status tool_skipped_expand(tool_skipped *skipped, const tool_session *session,
                                const refs_name_list *arguments, tool_names *names,
                                refs_error *err);

/** Whether append has no sources (`n` is 0), which it then reports. */
bool tool_skipped_has_none(const tool_skipped *skipped, size_t n);

/** Whether a source that fails like this may be left out. */
bool tool_may_skip(const tool_skipped *skipped, refs_status status);

/** Returns REFS_OK if the source is left out, and keeps the message; else the failure.
 * Thread-safe. */
refs_status tool_skip(tool_skipped *skipped, refs_status status, const refs_error *problem,
                      refs_error *err);

/** Forgets the sources that were left out, because all are read again. */
void tool_skipped_forget(tool_skipped *skipped);

/** Fails if all of `n` sources are left out. */
refs_status tool_skipped_check(const tool_skipped *skipped, size_t n, refs_error *err);

/** Reports the sources that were left out, then the failure; returns the exit status of the verb.
 * TOOL_CONFLICT, without a report, if it failed and the guard does not hold: another program
 * changed the output meanwhile. */
tool_exit tool_skipped_finish(tool_skipped *skipped, const refs_staged_guard *guard,
                              refs_status status, const refs_error *err);

/** Reports nothing. */
void tool_skipped_drop(tool_skipped *skipped);

#endif
