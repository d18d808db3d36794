/* master.h -- a master that is there, and is added to: what it is made of.
 *
 * Read before this: tool.h.
 */
#ifndef REFS_CLI_MASTER_H
#define REFS_CLI_MASTER_H

#include "arrays.h"
#include "refs/cfa/cfa.h"
#include "refs/combine_aggregate.h"
#include "tool.h"

/** A file of fragments as the master has it. */
typedef struct tool_recorded {
    char *file; /**< its name there */
    refs_vfs_validators
        was;              /**< its recorded state, of a joined master; of size 0: there is none */
    bool has_other_names; /**< fragments in it name it in other ways, too */
} tool_recorded;

/** Zeroed is none. */
typedef struct tool_master {
    tool_names files;        /**< of its fragments, each once, as a user calls them */
    tool_recorded *recorded; /**< one for each of these */
    size_t recorded_capacity;
    tool_names fillers; /**< files that may stand for fragments that are missing, in the same way */
    refs_buf how;       /**< how they were combined (combine_how.h); empty: it does not say */
    refs_master_options options;
    bool has_relative; /**< it names some relative to itself */
} tool_master;

/** A master that is written or added to, with what reads and sends it. */
typedef struct tool_target {
    const char *name; /**< as a user calls it */
    refs_buf shown;   /**< that name, of an object */
    tool_session session;
    tool_sending sending;
    tool_arrays before; /**< what it is: read for what is added to */
    tool_master master;
} tool_target;

/** To be closed also after a failure; so is one that is read. */
refs_status tool_target_open(const tool_arguments *arguments, const char *name, tool_target *target,
                             refs_error *err);
void tool_target_close(tool_target *target);

/** What a file that is added to is. */
typedef enum tool_target_kind {
    TOOL_FRAGMENTS, /**< a master of fragments */
    TOOL_INDEXED,   /**< a master that was made by refs index */
    TOOL_SET        /**< a set, though its name ends in ".nc" */
} tool_target_kind;

/** Reads it; of a set, nothing more than what it is. */
refs_status tool_target_read(tool_target *target, tool_target_kind *kind, refs_error *err);

/** The names of files of a master in the one that is written, and which of them are parts. */
typedef struct tool_joined_files {
    const char **as; /**< or NULL: as they are called by users */
    bool *is_added;  /**< set for those that need not be opened */
} tool_joined_files;

/** Adds the master to what is combined, with those of its files that it records under one name:
 * their number there is that among the files. */
refs_status tool_master_join(const tool_master *master, const refs_combine_part *part,
                             refs_combine *combine, const tool_joined_files *joined,
                             refs_error *err);

/** Fails where a master in an object store would name a file of this machine. */
refs_status tool_check_named(const char *master, const char *name, refs_error *err);

#endif
