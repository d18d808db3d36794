/* kept.h -- values of small arrays of sources, in a file with the sets of an interrupted run
 * (--resume). */
#ifndef REFS_CLI_KEPT_H
#define REFS_CLI_KEPT_H

#include <stdatomic.h>

#include "refs/bytes.h"
#include "refs/vfs.h"

/** Identifies an array in one state of its source. */
typedef struct tool_kept_key {
    uint64_t source; /**< tool_kept_source; 0: unknown, nothing is kept or found */
    refs_str path;
} tool_kept_key;

/** Safe from any thread between open and close. Zeroed but for `file`, -1, is closed. */
typedef struct tool_kept {
    int file;                         /**< -1: none */
    atomic_bool is_full;              /**< nothing more is kept */
    struct tool_kept_record *records; /**< of earlier runs, sorted */
    size_t n, capacity;
} tool_kept;

/** A hash of the location and the validators of a source, never 0. */
uint64_t tool_kept_source(const char *location, const refs_vfs_validators *state);

/** Opens or creates the file. Links, files of other users and files of another kind are left alone:
 * nothing is kept then. */
void tool_kept_open(const char *path, tool_kept *kept);
void tool_kept_close(tool_kept *kept);

/** Appends the values that the latest earlier run has kept; false if there are none or they are
 * damaged. */
bool tool_kept_find(const tool_kept *kept, const tool_kept_key *key, refs_buf *values);

/** Keeps values for later runs. Values that cannot be written are not kept. */
void tool_kept_add(tool_kept *kept, const tool_kept_key *key, refs_bytes values);

#endif
