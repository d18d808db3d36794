/* arrivals.h -- appends sources to a set as their names arrive on standard input. */
#ifndef REFS_CLI_ARRIVALS_H
#define REFS_CLI_ARRIVALS_H

#include "tool.h"

/** Calls `append` with the set and the names that arrived within a few seconds, until the input
 * ends. Skips sources that cannot be read or exist already. Reports failures, and returns the exit
 * status of the worst. */
tool_exit tool_append_arrivals(const tool_arguments *arguments,
                               tool_exit (*append)(const tool_arguments *arguments));

#endif
