/* master.h -- a master that is there, and is added to: what it is made of.
 *
 * Read before this: tool.h.
 */
#ifndef REFS_CLI_MASTER_H
#define REFS_CLI_MASTER_H

#include "arrays.h"
#include "refs/cfa/cfa.h"
#include "refs/combine_aggregate.h"
#include "refs/staged.h"
#include "tool.h"

/** Zeroed is none. */
typedef struct tool_master {
    refs_master_files listed; /**< its files … */
    tool_names files;         /**< … and those of its fragments, as a user calls them */
    refs_buf how;             /**< how they were combined (combine_how.h), or empty */
    bool is_indexed;          /**< by refs index: it says along which dimensions */
    refs_master_options options;
    bool is_edited; /**< it has all values itself, and another program changed some */
} tool_master;

/** A master that is written or added to, with what reads and sends it. */
typedef struct tool_target {
    const char *name; /**< as a user calls it */
    refs_buf shown;   /**< that name, of an object */
    tool_session session;
    tool_sending sending;
    tool_arrays before;             /**< what it is: read for what is added to */
    const refs_staged_guard *guard; /**< its state before it was read; or NULL */
    tool_master master;
} tool_target;

/** To be closed also after a failure; so is one that is read. */
refs_status tool_target_open(const tool_arguments *arguments, const char *name, tool_target *target,
                             refs_error *err);
void tool_target_close(tool_target *target);

/** The kind of a file that sources are added to. */
typedef enum tool_target_kind {
    TOOL_FRAGMENTS, /**< a master of fragments */
    TOOL_INDEXED,   /**< a master that was made by refs index */
    TOOL_SET        /**< a set, though its name ends in ".nc" */
} tool_target_kind;

/** Reads it; of a set, nothing more than what it is. */
refs_status tool_target_read(tool_target *target, tool_target_kind *kind, refs_error *err);

/** Lists the files of a master; its aggregations must be open. */
refs_status tool_list_files(const tool_session *session, const tool_set *master,
                            refs_master_files *files, refs_error *err);

/** Fails for a file of the master that could not be opened. */
refs_status tool_target_fail(const tool_target *target, refs_status status,
                             const refs_error *problem, refs_error *err);

/** Compares a file of the master, which is read again, with its recorded state: fails or warns if
 * it changed, as a read does (refs_fetcher_check). */
refs_status tool_target_check(const tool_target *target, size_t number,
                              const refs_vfs_validators *now, refs_error *err);

#endif
