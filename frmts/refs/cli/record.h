/* record.h -- how a set or a master was joined, as it says itself: append goes on that way.
 *
 * A set or a master has it as the member "joined" of what it records of its sources (refset.h):
 * {"along":["time"],"pattern":"t_{time:%Y}.nc"}, and "group", "variables", "inline".
 *
 * Read before this: tool.h.
 */
#ifndef REFS_CLI_RECORD_H
#define REFS_CLI_RECORD_H

#include "tool.h"

/** Zeroed says nothing. Strings are borrowed. */
typedef struct tool_record {
    tool_list along, variables;
    const char *pattern, *group; /**< or NULL */
    uint64_t inline_bytes;
    refs_json_doc *doc; /**< that it was read from, or NULL */
} tool_record;

/** Reads what was written; nothing of an empty text. REFS_CORRUPT: it is not as it is written. To
 * be cleared also on failure. */
refs_status tool_record_read(refs_str text, tool_record *record, refs_error *err);
void tool_record_clear(tool_record *record);

/** Sets `text` to it as JSON; to nothing where it says nothing. */
refs_status tool_record_write(const tool_record *record, refs_buf *text, refs_error *err);

/** Takes what arguments say; where they say nothing, what the record of `set` says. Fails with
 * REFS_INVALID where they say other dimensions. */
refs_status tool_record_choose(const char *set, const tool_record *record,
                               const tool_arguments *given, tool_record *chosen, refs_error *err);

#endif
