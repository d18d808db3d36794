/* parts.h -- one part of a list of sources, and the name of its set. */
#ifndef REFS_CLI_PARTS_H
#define REFS_CLI_PARTS_H

#include "tool.h"

/** Most parts of a list. */
#define TOOL_MAX_PARTS 1000000u

/** Part `number`, from 1, of `n`. */
typedef struct tool_part {
    uint64_t number, n;
} tool_part;

/** Reads "3/10"; false after a message. */
bool tool_part_parse(const char *text, tool_part *part);

/** Drops the names of other parts; all parts together have each name once, in order. */
void tool_part_keep(const tool_part *part, tool_names *names);

/** Appends the path where the set of a part is written, and a NUL; creates the folder. */
refs_status tool_part_path(const tool_part *part, const char *folder, refs_buf *path,
                           refs_error *err);

/** Renames the written set to its final name, and prints that. */
refs_status tool_part_name(const char *path, const char *folder, refs_error *err);

#endif
