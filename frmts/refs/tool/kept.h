/* kept.h -- values of small arrays of sources, in one file beside what an interrupted run has
 * indexed. */
#ifndef REFS_KEPT_H
#define REFS_KEPT_H

#include <pthread.h>

#include "refs/bytes.h"

/** Of which source and array values are. */
typedef struct tool_kept_key {
    const char *source;
    refs_str path;
} tool_kept_key;

/** Safe from any thread once it is open; before that, zeroed but for the first two. */
typedef struct tool_kept {
    int file;                         /**< -1: none */
    pthread_mutex_t lock;             /**< around writes */
    struct tool_kept_record *records; /**< of earlier runs, sorted */
    size_t n, capacity;
} tool_kept;

/** Opens the file, which is made where it is missing. Without it, nothing is kept. */
void tool_kept_open(const char *path, tool_kept *kept);
void tool_kept_close(tool_kept *kept);

/** Appends what the last of the earlier runs has kept; false: nothing, or it is damaged. */
bool tool_kept_find(const tool_kept *kept, const tool_kept_key *key, refs_buf *values);

/** Keeps values for later runs. What cannot be written is not kept. */
void tool_kept_add(tool_kept *kept, const tool_kept_key *key, refs_bytes values);

#endif
