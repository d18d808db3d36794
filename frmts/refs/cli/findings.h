/* findings.h -- problems that a verb finds in files and arrays: one line for each file or array. */
#ifndef REFS_CLI_FINDINGS_H
#define REFS_CLI_FINDINGS_H

#include "refs/intern.h"
#include "tool.h"

/** Zeroed is empty. Owned by one thread. */
typedef struct tool_findings {
    refs_intern names;
    struct tool_finding *items; /**< one for each name */
    size_t capacity;
} tool_findings;

typedef enum tool_finding_kind {
    TOOL_PROBLEM,
    TOOL_FAILED_READ, /**< a problem: the first one is reported with their number */
    TOOL_NOT_DECODED
} tool_finding_kind;

/** A finding: its kind, the status of the failure, and its message. */
typedef struct tool_found {
    tool_finding_kind kind;
    refs_status status;
    const char *text;
} tool_found;

refs_status tool_findings_add(tool_findings *findings, const char *name, tool_found found,
                              refs_error *err);

/** The numbers of names with problems, and of names that were not completely decoded. */
uint64_t tool_findings_n_problems(const tool_findings *findings);
uint64_t tool_findings_n_not_decoded(const tool_findings *findings);

/** Prints a line for each name, in the order of adding, without secrets; with --json, also the code
 * of the first failure. After a signal, prints only what the reader accepts without waiting. */
refs_status tool_findings_print(const tool_findings *findings, const tool_arguments *arguments,
                                refs_error *err);
void tool_findings_clear(tool_findings *findings);

#endif
