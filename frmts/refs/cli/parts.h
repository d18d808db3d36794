/* parts.h -- one part of a list of sources, and the name of its set. */
#ifndef REFS_CLI_PARTS_H
#define REFS_CLI_PARTS_H

#include "refs/combine_how.h"
#include "skipped.h"

/** Reads "3/10"; false after a message. */
bool tool_part_parse(const char *text, refs_job_part *part);

/** Drops the names of other parts; all parts together have each name once, in order. Describes the
 * complete list in *part. */
refs_status tool_part_keep(refs_job_part *part, tool_names *names, refs_error *err);

/** Checks that all sources that are parts (`parts`, one for each name) are of one job and complete
 * it: each part with sources is there once. A missing part may be skipped. */
refs_status tool_parts_check(const refs_job_part *parts, const tool_names *names,
                             tool_skipped *skipped, refs_error *err);

/** Appends the path where the set of a part is written, and a NUL; creates the folder. */
refs_status tool_part_path(const refs_job_part *part, const char *folder, refs_buf *path,
                           refs_error *err);

/** Renames the written set to its final name, and prints that. */
refs_status tool_part_name(const char *path, const char *folder, refs_error *err);

#endif
