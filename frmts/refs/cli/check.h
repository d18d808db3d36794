/* check.h -- the parts of the verb check: targets and their states (check.c), reads
 * (check_reads.c), chunks (check_chunks.c), fragments of masters (check_fragments.c). */
#ifndef REFS_CLI_CHECK_H
#define REFS_CLI_CHECK_H

#include <stdatomic.h>

#include "arrays.h"
#include "findings.h"
#include "refs/array.h"
#include "refs/grib_messages.h"
#include "tool.h"

/** A file that the set refers to. */
typedef struct tool_referenced_file {
    uint64_t end; /**< end of the last range that is referred to */
    char array[128];
    bool is_filler;   /**< a filler: it replaces missing fragments of a master, and has no data */
    bool is_measured; /**< `now` and `problem` are known */
    refs_vfs_validators now;
    char *problem; /**< why it cannot be opened; or NULL */
    refs_status status;
} tool_referenced_file;

typedef struct tool_checking {
    const tool_session *session;
    const tool_arguments *arguments;
    tool_set set;
    tool_arrays arrays; /**< of a set with aggregations, as readers open them; else zeroed */
    refs_intern locations;
    tool_referenced_file *targets; /**< one for each */
    size_t capacity;
    uint32_t last;
    bool is_remote;    /**< any of them */
    uint64_t n_unused; /**< number of recorded sources without references */
    tool_findings findings;
} tool_checking;

/** Finds or adds the target at a location. */
refs_status tool_check_target(tool_checking *at, refs_str location, uint32_t *id, refs_error *err);

/** The number of threads: more than processors if targets are remote. */
unsigned tool_check_n_threads(const tool_checking *at);

/* -- check_reads.c --------------------------------------------------------------------------------
 *
 * Regions of arrays are read several at a time, and their values dropped. */

#define TOOL_NO_TARGET UINT32_MAX

typedef struct tool_read {
    const refs_array_meta *meta;
    refs_array *array;
    const uint64_t *start, *count; /**< copied */
    uint64_t encoded;              /**< bytes held in addition to the values; 0: unknown */
    uint32_t target; /**< the target that failures are reported for; TOOL_NO_TARGET: the array */
    const refs_grib_messages *messages; /**< metadata to compare the message with, or NULL … */
    uint64_t offset, length;            /**< … in these bytes of the target */
    atomic_bool *is_unsupported; /**< of the array, borrowed: set by the first read that finds no
                                      codec, which is reported as TOOL_NOT_DECODED; others are
                                      skipped. NULL: such reads fail like others */
} tool_read;

typedef struct tool_reads {
    tool_checking *at;
    const char *items; /**< plural for the progress bar */
    size_t n_all;      /**< expected number of items; 0: unknown */
    size_t n_before;   /**< number of completed items */
    size_t n, capacity;
    struct tool_queued_read *queued;
    uint64_t largest; /**< most bytes that a queued read holds */
} tool_reads;

/** Queues a read, and may perform queued ones; their failures become findings. */
refs_status tool_reads_add(tool_reads *reads, const tool_read *read, refs_error *err);

/** Performs all queued reads. */
refs_status tool_reads_finish(tool_reads *reads, refs_error *err);
void tool_reads_clear(tool_reads *reads);

/* -- the others -----------------------------------------------------------------------------------
 */

/** Decodes chunks: all, or a sample. */
refs_status tool_check_chunks(tool_checking *at, refs_error *err);

/** Opens `arrays`. */
refs_status tool_check_open_arrays(tool_checking *at, refs_error *err);

/** Opens the fragments of `arrays`, and reads one value of each, or all. */
refs_status tool_check_fragments(tool_checking *at, refs_error *err);

#endif
