/* master.h -- a master that is there, and is added to: what it is made of.
 *
 * Read before this: tool.h.
 */
#ifndef REFS_CLI_MASTER_H
#define REFS_CLI_MASTER_H

#include "refs/cfa/cfa.h"
#include "tool.h"

/** Zeroed is none. */
typedef struct tool_master {
    tool_names files;   /**< of its fragments, each once, as a user calls them */
    tool_names fillers; /**< files that stand for fragments that are missing, in the same way */
    refs_buf how;       /**< how they were joined (record.h); empty: it does not say */
    refs_master_options options;
    bool has_relative; /**< it names some relative to itself */
    bool has_sources;  /**< it records what it is made of; of a joined one, these are `files` */
    bool has_inline;   /**< variables along dimensions whose values it has itself, that no other
                            variable needs */
    tool_names served; /**< paths of scalars, grid mappings and bounds whose values it has itself */
    refs_validator was; /**< of an object, before it was read */
    bool has_all_steps; /**< of each dimension of its aggregations, `files` have all */
} tool_master;

void tool_master_clear(tool_master *master);

/** Fails where a master in an object store would name a file of this machine. */
refs_status tool_check_named(const char *master, const char *name, refs_error *err);

#endif
