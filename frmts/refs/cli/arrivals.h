/* arrivals.h -- a set that grows by what standard input names, as it comes. */
#ifndef REFS_CLI_ARRIVALS_H
#define REFS_CLI_ARRIVALS_H

#include "tool.h"

/** Calls `append` with the set and the names of some seconds, until the input ends. Sources
 * that cannot be read, or are there already, are left out. What fails is reported, and the exit
 * status is that of the worst. */
tool_exit tool_append_arrivals(const tool_arguments *arguments,
                               tool_exit (*append)(const tool_arguments *arguments));

#endif
